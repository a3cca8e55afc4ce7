/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Fuchsia traces (FXT), which Perfetto, Tracy and magic-trace read: threads, spans and other events. */
#include "export/fxt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "export/timeline.h"
#include "ktrx/v2.h"

/* ---- Threads and processes ---- */

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

/* Names the kernel as a process, once. */
static void fxt_describe_kernel(struct fxt *fxt)
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

static void fxt_take_name(void *context, const struct threads_thread *thread, const char *name, size_t length,
			  uint32_t process)
{
	describe_thread(context, thread, name, length, process);
}

static void fxt_take_program(void *context, const struct threads_thread *thread, uint32_t process,
			     const char *path, size_t length)
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

/* Returns the number of the FXT thread that shows this lane; 0 if out of memory. */
static unsigned fxt_lane(struct fxt *fxt, struct spans_owner owner, unsigned lane)
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
static void fxt_take_change(void *context, const struct threads_change *change)
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
static void fxt_take_unknown(void *context, const struct walk_unknown *unknown)
{
	struct fxt *fxt = context;
	const struct fxt_owner *owner = meet(fxt, unknown->thread);
	const uint32_t cpu = unknown->cpu < THREADS_CPUS_MAX ? unknown->cpu : walk_spare_cpu(&fxt->walk);

	if (owner)
		fxt_switch(&fxt->stream, unknown->from, cpu, unknown->thread->id, FXT_STATE_UNKNOWN,
			   owner->idle, 0, true);
}

/* ---- Spans and other events ---- */

static uint16_t text_of(struct fxt *fxt, uint16_t *number, const char *text)
{
	return *number ? *number : fxt_string(&fxt->stream, number, text, strlen(text));
}

static uint16_t group_of(struct fxt *fxt, const struct ktread_type *type)
{
	return text_of(fxt, &fxt->type[type->id % FXT_TYPES].group, *type->group ? type->group : "unknown");
}

static uint16_t name_of(struct fxt *fxt, const struct ktread_type *type)
{
	return text_of(fxt, &fxt->type[type->id % FXT_TYPES].name, type->name);
}

/* Writes the records for strings that the arguments of `event` use. */
static void intern_fields(struct fxt *fxt, const struct ktread_event *event)
{
	static const char *const callers[] = { "caller", "caller's caller" };
	struct fxt_type *type = &fxt->type[event->type->id % FXT_TYPES];

	for (uint32_t n = 0; n < event->type->fields && n < FXT_FIELDS; n++)
		text_of(fxt, &type->field[n], event->type->field[n].name);
	for (uint32_t n = 0; n < event->callers && n < 2; n++)
		text_of(fxt, &fxt->caller[n], callers[n]);
	if (event->site)
		text_of(fxt, &fxt->site, "site");
	if (fxt->walk.path.bytes)
		text_of(fxt, &fxt->path, "path");
	if (wellknown_of(&fxt->walk.known, event)->kind == WELLKNOWN_SYSCALL_ENTER)
		text_of(fxt, &fxt->types, "types");
	if (event->type->fields == 0 && event->payload_size > 0)
		text_of(fxt, &fxt->payload, "payload");
}

static void put_value(struct fxt *fxt, uint16_t name, const struct ktread_value *value)
{
	char character = (char)value->number;

	switch (value->type) {
	case KTRX_TYPE_STRING:
		fxt_arg_string(&fxt->stream, name, value->string, value->length);
		break;
	case KTRX_TYPE_CHAR:
		fxt_arg_string(&fxt->stream, name, &character, 1);
		break;
	case KTRX_TYPE_BOOL:
		fxt_arg_number(&fxt->stream, FXT_ARG_BOOL, name, value->number != 0);
		break;
	case KTRX_TYPE_POINTER:
		fxt_arg_number(&fxt->stream, FXT_ARG_POINTER, name, value->number);
		break;
	case KTRX_TYPE_I8:
	case KTRX_TYPE_I16:
	case KTRX_TYPE_I32:
		fxt_arg_number(&fxt->stream, FXT_ARG_I32, name, (uint32_t)value->number);
		break;
	case KTRX_TYPE_I64:
		fxt_arg_number(&fxt->stream, FXT_ARG_I64, name, value->number);
		break;
	case KTRX_TYPE_U64:
		fxt_arg_number(&fxt->stream, FXT_ARG_U64, name, value->number);
		break;
	default:
		fxt_arg_number(&fxt->stream, FXT_ARG_U32, name, (uint32_t)value->number);
	}
}

/* Returns the types of a system call's result and arguments; NULL if unknown. */
static const char *types_of(struct fxt *fxt, const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(&fxt->walk.known, event);
	uint64_t number;

	if (known->kind == WELLKNOWN_SYSCALL_ENTER &&
	    wellknown_number(known, event, WELLKNOWN_NUMBER, &number) && number <= UINT32_MAX)
		return ktread_syscall_types(fxt->walk.trace, (uint32_t)number);
	return NULL;
}

/* Writes the payload as bytes, for an event whose type is unknown. */
static void put_payload(struct fxt *fxt, const struct ktread_event *event)
{
	char text[2 * KTRX_RECORD_MAX_PAYLOAD + 1];
	uint32_t bytes =
		event->payload_size < KTRX_RECORD_MAX_PAYLOAD ? event->payload_size : KTRX_RECORD_MAX_PAYLOAD;

	for (uint32_t i = 0; i < bytes; i++)
		snprintf(text + 2 * i, 3, "%02x", event->payload[i]);
	fxt_arg_string(&fxt->stream, fxt->payload, text, 2 * bytes);
}

static void put_fields(struct fxt *fxt, const struct ktread_event *event)
{
	const struct fxt_type *type = &fxt->type[event->type->id % FXT_TYPES];
	const char *types = types_of(fxt, event);
	struct ktread_value value;

	if (event->type->fields == 0 && !ktread_type(fxt->walk.trace, event->id))
		put_payload(fxt, event);
	for (uint32_t n = 0; n < event->type->fields && ktread_value(event, n, &value) == 0; n++)
		if (!timeline_is_unknown(&event->type->field[n], &value))
			put_value(fxt, type->field[n], &value);
	if (types)
		fxt_arg_string(&fxt->stream, fxt->types, types, strnlen(types, WALK_NAME_MAX));
	if (fxt->walk.path.bytes)
		fxt_arg_string(&fxt->stream, fxt->path, fxt->walk.path.bytes, fxt->walk.path.length);
	for (uint32_t n = 0; n < event->callers && n < 2; n++)
		fxt_arg_number(&fxt->stream, FXT_ARG_POINTER, fxt->caller[n], event->caller[n]);
	if (event->site)
		fxt_arg_number(&fxt->stream, FXT_ARG_POINTER, fxt->site, event->site);
}

/* Writes a flow that begins or ends at the span that is open on `thread`. */
static void put_flow(struct fxt *fxt, unsigned thread, const struct ktread_event *event)
{
	const uint16_t category = group_of(fxt, event->type), name = name_of(fxt, event->type);

	fxt_event_begin(&fxt->stream, fxt->walk.flow.ends ? FXT_FLOW_END : FXT_FLOW_BEGIN, fxt->walk.time,
			thread, category, name);
	fxt_event_end_with(&fxt->stream, fxt->walk.flow.id);
}

static void begin_span(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		       const struct ktread_event *event)
{
	struct fxt *fxt = context;
	const unsigned thread = fxt_lane(fxt, owner, lane);
	const uint16_t category = group_of(fxt, event->type);
	uint16_t *number = NULL;
	struct walk_name name;

	walk_name_span(&fxt->walk, &name, span, event);
	if (name.kind != WALK_NAME_TEXT && name.number < FXT_NUMBERS)
		number = &(name.kind == WALK_NAME_CALL ? fxt->call : fxt->irq)[name.number];
	if (!number || *number == 0)
		walk_name_text(&fxt->walk, &name);
	if (number && *number == 0)
		fxt_string(&fxt->stream, number, name.text, name.length);
	intern_fields(fxt, event);
	if (number && *number != 0)
		fxt_event_begin(&fxt->stream, FXT_BEGIN, fxt->walk.time, thread, category, *number);
	else
		fxt_event_begin_named(&fxt->stream, FXT_BEGIN, fxt->walk.time, thread, category, name.text,
				      name.length);
	put_fields(fxt, event);
	fxt_event_end(&fxt->stream);
}

static void end_span(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		     const struct ktread_event *event, uint64_t time)
{
	struct fxt *fxt = context;
	const unsigned thread = fxt_lane(fxt, owner, lane);

	(void)span;
	if (event)
		intern_fields(fxt, event);
	fxt_event_begin(&fxt->stream, FXT_END, event ? fxt->walk.time : time, thread, 0, 0);
	if (event)
		put_fields(fxt, event);
	fxt_event_end(&fxt->stream);
}

/* a flow needs a span, so an instant with a flow is written as a span without duration */
static void put_instant(void *context, struct spans_owner owner, const struct ktread_event *event)
{
	struct fxt *fxt = context;
	const unsigned thread = fxt_lane(fxt, owner, 0);
	const uint16_t category = group_of(fxt, event->type), name = name_of(fxt, event->type);
	const bool flow = fxt->walk.flow.id != 0;

	intern_fields(fxt, event);
	fxt_event_begin(&fxt->stream, flow ? FXT_BEGIN : FXT_INSTANT, fxt->walk.time, thread, category, name);
	put_fields(fxt, event);
	fxt_event_end(&fxt->stream);
	if (!flow)
		return;
	put_flow(fxt, thread, event);
	fxt_event_begin(&fxt->stream, FXT_END, fxt->walk.time, thread, 0, 0);
	fxt_event_end(&fxt->stream);
}

static void put_counters(void *context, const struct ktread_event *event)
{
	struct fxt *fxt = context;
	const struct fxt_type *type = &fxt->type[event->type->id % FXT_TYPES];
	const unsigned thread = fxt_thread(&fxt->stream, (struct fxt_where){ WALK_KERNEL_PID, 0 });
	const uint16_t category = group_of(fxt, event->type), name = name_of(fxt, event->type);
	struct ktread_value value;

	fxt_describe_kernel(fxt);
	intern_fields(fxt, event);
	fxt_event_begin(&fxt->stream, FXT_COUNTER, fxt->walk.time, thread, category, name);
	for (uint32_t n = 0; n < event->type->fields && ktread_value(event, n, &value) == 0; n++)
		if (value.type != KTRX_TYPE_STRING)
			fxt_arg_number(&fxt->stream, FXT_ARG_I64, type->field[n], value.number);
	fxt_event_end_with(&fxt->stream, event->type->id);
}

static void put_missing(void *context, const struct walk_missing *missing)
{
	struct fxt *fxt = context;
	const struct walk_missing_words words = walk_missing_words[missing->kind];
	const unsigned thread = fxt_lane(fxt, (struct spans_owner){ .cpu = true, .number = missing->cpu }, 0);
	const uint64_t from = missing->from ? missing->from : missing->until;
	const uint16_t category = text_of(fxt, &fxt->missing, "ktrace");
	const uint16_t unit = text_of(fxt, &fxt->unit[missing->kind], words.unit);

	if (missing->kind == WALK_LOST || missing->kind == WALK_DROPPED)
		fxt_provider_lost(&fxt->stream);
	fxt_event_begin_named(&fxt->stream, missing->from ? FXT_BEGIN : FXT_INSTANT, from, thread, category,
			      words.name, strlen(words.name));
	fxt_arg_number(&fxt->stream, FXT_ARG_U64, unit, missing->count);
	fxt_event_end(&fxt->stream);
	if (!missing->from)
		return;
	fxt_event_begin(&fxt->stream, FXT_END, missing->until, thread, 0, 0);
	fxt_event_end(&fxt->stream);
}

/* ---- Functions of hardware traces ---- */

static uint64_t add_function_track(void *context, const char *name, uint64_t time)
{
	struct fxt *fxt = context;
	const uint64_t track = fxt->function_tracks++;

	(void)time;
	if (track == 0)
		fxt_object(&fxt->stream, FXT_PROCESS_OBJECT, FXT_PID_FUNCTION, "functions",
			   strlen("functions"), 0);
	fxt_object(&fxt->stream, FXT_THREAD_OBJECT, FXT_TID_FUNCTION + track, name, strlen(name),
		   FXT_PID_FUNCTION);
	return track;
}

static void put_function(void *context, uint64_t track, enum functions_mark mark,
			 const struct ktread_event *event, uint64_t time)
{
	static const enum fxt_event_type types[] = {
		[FUNCTIONS_BEGIN] = FXT_BEGIN, [FUNCTIONS_END] = FXT_END, [FUNCTIONS_INSTANT] = FXT_INSTANT
	};
	struct fxt *fxt = context;
	const unsigned thread =
		fxt_thread(&fxt->stream, (struct fxt_where){ FXT_PID_FUNCTION, FXT_TID_FUNCTION + track });
	const uint16_t category = event ? group_of(fxt, event->type) : 0;
	struct ktread_value value;

	if (!event || ktread_value(event, 0, &value) < 0 || value.type != KTRX_TYPE_STRING)
		value = (struct ktread_value){ .string = "", .length = 0 };
	fxt_event_begin_named(&fxt->stream, types[mark], time, thread, category, value.string, value.length);
	fxt_event_end(&fxt->stream);
}

static int fxt_write(struct ktread *trace, int fd, struct export_report *report)
{
	struct fxt *fxt = calloc(1, sizeof(*fxt));
	const struct walk_sink sink = {
		.context = fxt,
		.thread = fxt_take_change,
		.unknown = fxt_take_unknown,
		.named = fxt_take_name,
		.runs = fxt_take_program,
		.begin = begin_span,
		.end = end_span,
		.instant = put_instant,
		.counters = put_counters,
		.missing = put_missing,
		.function_track = add_function_track,
		.function = put_function,
	};
	int error;

	if (!fxt)
		return KTREAD_E_MEMORY;
	fxt->walk.output = &fxt->stream.out.error;
	error = fxt_stream_open(&fxt->stream, fd);
	if (!error)
		error = walk_open(&fxt->walk, trace, &sink);
	if (!error)
		error = walk_run(&fxt->walk);
	walk_close(&fxt->walk, report);
	report->output_error = fxt_stream_close(&fxt->stream);
	if (report->output_error)
		error = KTREAD_E_SYSTEM;
	free(fxt->thread);
	free(fxt->cpu);
	free(fxt);
	return error;
}

const struct export_format export_fxt = {
	.name = "fxt",
	.purpose = "Fuchsia trace: scheduling, spans (Tracy, Perfetto)",
	.write = fxt_write,
};
