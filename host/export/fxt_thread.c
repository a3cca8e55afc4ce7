/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Threads, processes and scheduling of Fuchsia traces. */
#include "export/fxt.h"

#include <stdio.h>
#include <string.h>

#include "base/grow.h"

static struct fxt_owner *owner_at(struct fxt *fxt, struct fxt_owner **table, uint32_t *count, uint32_t n)
{
	struct fxt_owner *bigger = base_grow(*table, count, (size_t)n + 1, sizeof(*bigger));

	if (!bigger) {
		fxt->walk.error = KTREAD_E_MEMORY;
		return NULL;
	}
	*table = bigger;
	return &bigger[n];
}

void fxt_describe_kernel(struct fxt *fxt)
{
	if (!fxt->kernel_described)
		fxt_object(&fxt->stream, FXT_PROCESS_OBJECT, WALK_KERNEL_PID, "kernel", strlen("kernel"), 0);
	fxt->kernel_described = true;
}

static void describe_process(struct fxt *fxt, uint32_t id)
{
	const struct processes_process *process = processes_find(fxt->walk.processes, id);
	const char *command = process ? process->command : "";

	if (id == WALK_KERNEL_PID)
		fxt_describe_kernel(fxt);
	if (process && *command == '\0')
		command = ktread_thread_name(fxt->walk.trace, id);
	if (process && command && *command)
		fxt_object(&fxt->stream, FXT_PROCESS_OBJECT, id, command, strlen(command), 0);
}

/*
 * Describes a thread that is new or has a new name. `process` is as in struct walk_sink. Returns NULL if out
 * of memory.
 */
static struct fxt_owner *describe_thread(struct fxt *fxt, const struct threads_thread *thread,
					 const char *name, size_t length, uint32_t process)
{
	struct fxt_owner *owner = owner_at(fxt, &fxt->thread, &fxt->threads, thread->index);

	if (!owner)
		return NULL;
	if (owner->process == 0 || owner->life != thread->life) {
		*owner = (struct fxt_owner){ .life = thread->life,
					     .process = process,
					     .idle = thread->id == 0 };
		if (process == 0)
			owner->process = walk_process_of(&fxt->walk, thread->id);
		describe_process(fxt, owner->process);
	}
	if (length > 0)
		owner->idle |= threads_name_is_idle(name, length);
	if (thread->id != 0)
		fxt_object(&fxt->stream, FXT_THREAD_OBJECT, thread->id, name, length, owner->process);
	return owner;
}

static struct fxt_owner *meet(struct fxt *fxt, const struct threads_thread *thread)
{
	const char *name;

	if (thread->index < fxt->threads && fxt->thread[thread->index].process != 0 &&
	    fxt->thread[thread->index].life == thread->life)
		return &fxt->thread[thread->index];
	name = ktread_thread_name(fxt->walk.trace, thread->id);
	return describe_thread(fxt, thread, name ? name : "", name ? strlen(name) : 0, 0);
}

void fxt_take_name(void *context, const struct threads_thread *thread, const char *name, size_t length,
		   uint32_t process)
{
	describe_thread(context, thread, name, length, process);
}

void fxt_take_program(void *context, const struct threads_thread *thread, uint32_t process, const char *path,
		      size_t length)
{
	struct fxt *fxt = context;
	const char *slash = memrchr(path, '/', length);
	const char *name = slash ? slash + 1 : path;

	fxt_object(&fxt->stream, FXT_PROCESS_OBJECT, process, path, length, 0);
	describe_thread(fxt, thread, name, (size_t)(path + length - name), process);
}

static void describe_lane(struct fxt *fxt, struct fxt_where where, struct spans_owner owner, unsigned lane)
{
	const char *kind = lane > 0 ? " locks" : "";
	char name[48];

	if (owner.cpu && !fxt->cpus_described) {
		fxt_object(&fxt->stream, FXT_PROCESS_OBJECT, FXT_PID_CPUS, "CPUs", strlen("CPUs"), 0);
		fxt->cpus_described = true;
	}
	if (!owner.cpu)
		snprintf(name, sizeof(name), "%u%s", threads_at(fxt->walk.threads, owner.number)->id, kind);
	else if (owner.number < THREADS_CPUS_MAX)
		snprintf(name, sizeof(name), "CPU %u%s", owner.number, kind);
	else
		snprintf(name, sizeof(name), "CPU unknown%s", kind);
	fxt_object(&fxt->stream, FXT_THREAD_OBJECT, where.thread, name, strlen(name), where.process);
}

unsigned fxt_lane(struct fxt *fxt, struct spans_owner owner, unsigned lane)
{
	struct fxt_where where = { FXT_PID_CPUS, owner.number };
	struct fxt_owner *known;

	if (owner.cpu) {
		known = owner_at(fxt, &fxt->cpu, &fxt->cpus, owner.number);
	} else {
		const struct threads_thread *thread = threads_at(fxt->walk.threads, owner.number);

		known = meet(fxt, thread);
		where.thread = thread->id;
	}
	if (!known)
		return 0;
	if (!owner.cpu)
		where.process = known->process;
	if (owner.cpu || lane > 0) {
		where.thread += FXT_TID_LANE * (lane + 1) + (owner.cpu ? FXT_TID_CPU : 0);
		if (!(known->described >> lane & 1))
			describe_lane(fxt, where, owner, lane);
		known->described |= (uint8_t)(1u << lane);
	}
	return fxt_thread(&fxt->stream, where);
}

/* ---- Scheduling ---- */

static enum fxt_state state_of(const struct threads_thread *thread)
{
	switch (thread->state) {
	case THREADS_RUNNING:
	case THREADS_RUNNABLE:
		return FXT_STATE_RUNNABLE;
	case THREADS_SLEEPING:
	case THREADS_WAITING:
		return FXT_STATE_BLOCKED;
	case THREADS_STOPPED:
		return FXT_STATE_SUSPENDED;
	case THREADS_DEAD:
		return FXT_STATE_DEAD;
	default:
		return FXT_STATE_UNKNOWN;
	}
}

/* A CPU on which no thread runs is written as running thread 0, the idle thread. */
void fxt_take_change(void *context, const struct threads_change *change)
{
	static const struct fxt_leaving idle = { .thread = 0, .state = FXT_STATE_RUNNABLE, .idle = true };
	struct fxt *fxt = context;
	const struct threads_thread *thread = change->thread;
	const struct fxt_owner *owner = meet(fxt, thread);
	struct fxt_owner *cpu =
		change->cpu < THREADS_CPUS_MAX ? owner_at(fxt, &fxt->cpu, &fxt->cpus, change->cpu) : NULL;
	struct fxt_leaving from;

	if (!owner || !cpu)
		return;
	if (thread->state == THREADS_RUNNING) {
		from = cpu->leaving.waits ? cpu->leaving : idle;
		cpu->leaving.waits = false;
		fxt_switch(&fxt->stream, change->time, change->cpu, from.thread, from.state, from.idle,
			   thread->id, owner->idle);
	} else if (change->from == THREADS_RUNNING) {
		from = (struct fxt_leaving){ thread->id, state_of(thread), owner->idle, change->followed };
		cpu->leaving = from;
		if (!change->followed)
			fxt_switch(&fxt->stream, change->time, change->cpu, from.thread, from.state,
				   from.idle, 0, true);
	} else if (change->woken) {
		fxt_wakeup(&fxt->stream, change->time, change->cpu, thread->id);
	}
}

/*
 * The unknown state is written as a switch away from the thread, on a CPU of which nothing is known at that
 * time, or else on a CPU that the machine does not have.
 */
void fxt_take_unknown(void *context, const struct walk_unknown *unknown)
{
	struct fxt *fxt = context;
	const struct fxt_owner *owner = meet(fxt, unknown->thread);
	const uint32_t cpu = unknown->cpu < THREADS_CPUS_MAX ? unknown->cpu : walk_spare_cpu(&fxt->walk);

	if (owner)
		fxt_switch(&fxt->stream, unknown->from, cpu, unknown->thread->id, FXT_STATE_UNKNOWN,
			   owner->idle, 0, true);
}
