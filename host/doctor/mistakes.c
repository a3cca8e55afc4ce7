/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "doctor/examine.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/keyed.h"
#include "analyze/scheduling.h"
#include "analyze/threads.h"
#include "analyze/wellknown.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

#define CPUS   4096u
#define NESTED 16u /* maximum number of nested interrupts that are tracked on a CPU */
/*
 * limit in seconds: if a thread seems to run on two CPUs for less time, the reason may be that the clocks
 * differ
 */
#define OVERLAP 0.010
/* maximum time, in seconds, by which a row of the table may be older than an event */
#define LATE	     0.1
#define NOBODY	     UINT64_MAX
#define CPU_OWNER    (UINT64_C(1) << 32)
#define THREAD_ALIVE 1u

struct cpu {
	uint64_t running; /* id of the thread that runs on the CPU; NOBODY if unknown */
	uint64_t left;	  /* field `prev` of the CPU's last switch; NOBODY if unknown */
	uint64_t irq[NESTED];
	uint32_t depth;
	bool settled; /* true if `depth` is certain, because the CPU was outside of interrupts at some time */
	/*
	 * turn[0]: the thread that recorded the newest event since the CPU's last switch; turn[1]: the thread
	 * that recorded events before turn[0]. NOBODY if there was no such thread
	 */
	uint64_t turn[2];
};

struct reading {
	struct mistakes *mistakes;
	struct ktread *trace;
	struct cpu *cpu;
	/*
	 * indexed by running thread: `cpu` is the thread's CPU; `count` is the timestamp since which the
	 * thread also runs on a second CPU, or 0
	 */
	struct keyed running;
	struct keyed made;  /* indexed by thread: threads that were created and have not ended */
	struct keyed locks; /* indexed by lock: held locks; `count` is the owner */
	struct keyed waits; /* indexed by thread: threads that wait for a lock; `count` is the lock */
	/*
	 * indexed by thread: threads that made system calls; `stamp` is the timestamp of the newest entry or
	 * exit
	 */
	struct keyed syscalls;
	struct switch_states *states;
	struct wellknown_table known;
	/* limit in ticks: it is a mistake if a thread seems to run on two CPUs for more time than this */
	uint64_t ticks;
	uint64_t late; /* maximum number of ticks by which a row of the table may be older than an event */
	bool whole;    /* true if no slot has been lost so far */
	int error;
};

static void note(struct reading *r, enum mistake mistake, const struct ktread_event *event, uint64_t value)
{
	struct mistake_count *row = &r->mistakes->of[mistake];

	if (row->count++ == 0) {
		row->stamp = event->stamp;
		row->cpu = event->cpu;
		row->value = value;
	}
}

static struct keyed_entry *find(const struct keyed *table, uint64_t value)
{
	const uint64_t key[KEYED_WORDS] = { value };

	return keyed_find(table, key);
}

/*
 * Finds or adds an entry. Returns NULL if the limit of the table is reached. Also returns NULL if out of
 * memory, and then sets r->error.
 */
static struct keyed_entry *put(struct reading *r, struct keyed *table, uint64_t value)
{
	const uint64_t key[KEYED_WORDS] = { value };
	struct keyed_entry *entry = NULL;

	if (keyed_put(table, key, &entry) < 0)
		r->error = KTREAD_E_MEMORY;
	return entry;
}

static void drop(struct keyed *table, uint64_t value)
{
	struct keyed_entry *entry = find(table, value);

	if (entry)
		keyed_remove(table, entry);
}

static void forget_cpu(struct cpu *cpu)
{
	cpu->running = cpu->left = cpu->turn[0] = cpu->turn[1] = NOBODY;
	cpu->depth = 0;
	cpu->settled = false;
}

static void forget_all(struct reading *r)
{
	for (uint32_t n = 0; n < CPUS; n++)
		forget_cpu(&r->cpu[n]);
	keyed_free(&r->running);
	keyed_free(&r->made);
	keyed_free(&r->locks);
	keyed_free(&r->waits);
	r->whole = false;
}

/*
 * Reads the thread id in the field with the given role, cut to 22 bits. Returns false if the event has no
 * such field.
 */
static bool id_of(struct reading *r, const struct wellknown *known, const struct ktread_event *event,
		  enum wellknown_role role, uint64_t *id)
{
	if (!wellknown_number(known, event, role, id))
		return false;
	if (*id > KTRX_THREAD_MAX)
		note(r, MISTAKE_ID_WIDE, event, *id);
	*id &= KTRX_THREAD_MAX;
	return true;
}

static bool may_run_anywhere(const struct reading *r, uint64_t id)
{
	const char *name = ktread_thread_name(r->trace, (uint32_t)id);

	return id == 0 || (name && threads_name_is_idle(name, strlen(name)));
}

/* Returns the number of another CPU that runs the thread; CPUS if there is none. */
static uint32_t other_cpu(const struct reading *r, uint32_t cpu, uint64_t id)
{
	uint32_t other = 0;

	while (other < CPUS && (other == cpu || r->cpu[other].running != id))
		other++;
	return other;
}

/*
 * Called when a thread stops running on this CPU. Counts a mistake if the thread has, until now, also run on
 * another CPU for too long.
 */
static void end_run(struct reading *r, const struct ktread_event *event, uint64_t id)
{
	struct keyed_entry *entry = find(&r->running, id);
	uint32_t other;

	if (!entry)
		return;
	if (entry->count && event->stamp > entry->count && event->stamp - entry->count > r->ticks)
		note(r, MISTAKE_TWO_CPUS, event, id);
	other = entry->count || entry->cpu != event->cpu ? other_cpu(r, event->cpu, id) : CPUS;
	if (other == CPUS) {
		keyed_remove(&r->running, entry);
	} else {
		entry->cpu = other;
		entry->count = 0;
	}
}

static void begin_run(struct reading *r, const struct ktread_event *event, uint64_t id)
{
	struct keyed_entry *entry;

	r->cpu[event->cpu].running = id;
	if (may_run_anywhere(r, id))
		return;
	entry = find(&r->running, id);
	if (entry && entry->cpu != event->cpu) {
		entry->count = event->stamp;
		return;
	}
	entry = put(r, &r->running, id);
	if (entry) {
		entry->cpu = event->cpu;
		entry->count = 0;
	}
}

static void take_switch(struct reading *r, const struct ktread_event *event, const struct wellknown *known)
{
	struct cpu *cpu = &r->cpu[event->cpu];
	const uint64_t ran = cpu->running;
	uint64_t prev, next, state;

	if (!id_of(r, known, event, WELLKNOWN_PREV, &prev) || !id_of(r, known, event, WELLKNOWN_NEXT, &next))
		return;
	r->mistakes->switches++;
	if (wellknown_number(known, event, WELLKNOWN_STATE, &state)) {
		r->mistakes->has_state = true;
		r->mistakes->states += state != 0;
	}
	if (prev == next)
		note(r, MISTAKE_SAME, event, next);
	else if (ran != NOBODY && prev != ran && prev != 0 && ran != 0)
		note(r, MISTAKE_PREVIOUS, event, prev);
	if (ran != NOBODY && prev != ran && prev != next && next == cpu->left)
		note(r, MISTAKE_SWAPPED, event, next);
	cpu->left = prev;
	if (ran != NOBODY)
		end_run(r, event, ran);
	begin_run(r, event, next);
}

static void take_block(struct reading *r, const struct ktread_event *event, const struct wellknown *known)
{
	const uint64_t ran = r->cpu[event->cpu].running;
	uint64_t id;

	r->mistakes->blocks++;
	if (!id_of(r, known, event, WELLKNOWN_THREAD, &id))
		return;
	if (id == 0)
		note(r, MISTAKE_ID_ZERO, event, 0);
	else if (ran != NOBODY && id != ran)
		note(r, MISTAKE_BLOCK_ELSEWHERE, event, id);
}

static void take_wake(struct reading *r, const struct ktread_event *event, const struct wellknown *known)
{
	uint64_t id;

	if (!id_of(r, known, event, WELLKNOWN_THREAD, &id))
		return;
	r->mistakes->wakes++;
	if (id == 0)
		note(r, MISTAKE_ID_ZERO, event, 0);
	else if (r->cpu[event->cpu].running == id && event->context == KTRX_CONTEXT_THREAD)
		note(r, MISTAKE_WAKE_RUNNING, event, id);
}

static void take_create(struct reading *r, const struct ktread_event *event, const struct wellknown *known)
{
	struct keyed_entry *entry;
	uint64_t id;

	if (!id_of(r, known, event, WELLKNOWN_THREAD, &id) || !r->whole)
		return;
	entry = put(r, &r->made, id);
	if (entry && entry->count == THREAD_ALIVE)
		note(r, MISTAKE_ID_REUSED, event, id);
	if (entry)
		entry->count = THREAD_ALIVE;
}

static void take_exit(struct reading *r, const struct ktread_event *event, const struct wellknown *known)
{
	uint64_t id;

	if (!id_of(r, known, event, WELLKNOWN_THREAD, &id))
		id = event->thread;
	drop(&r->made, id);
}

static void enter(struct reading *r, const struct ktread_event *event, uint64_t irq)
{
	struct cpu *cpu = &r->cpu[event->cpu];
	uint32_t at = 0;

	r->mistakes->enters++;
	while (at < cpu->depth && cpu->irq[at] != irq)
		at++;
	if (at < cpu->depth) {
		note(r, MISTAKE_IRQ_EXIT, event, irq);
		cpu->depth = at; /* this interrupt and all interrupts nested in it have ended */
	}
	if (cpu->depth < NESTED)
		cpu->irq[cpu->depth++] = irq;
}

static void leave(struct reading *r, const struct ktread_event *event, bool has_irq, uint64_t irq)
{
	struct cpu *cpu = &r->cpu[event->cpu];
	uint32_t at = cpu->depth;

	while (at > 0 && has_irq && cpu->irq[at - 1] != irq)
		at--;
	if (at == 0 && cpu->settled)
		note(r, MISTAKE_IRQ_ENTER, event, irq);
	cpu->depth = at ? at - 1 : 0;
	cpu->settled |= cpu->depth == 0;
}

static void take_irq(struct reading *r, const struct ktread_event *event, const struct wellknown *known)
{
	uint64_t irq = 0;
	const bool has = wellknown_number(known, event, WELLKNOWN_NUMBER, &irq);

	if (event->context == KTRX_CONTEXT_NMI)
		return;
	if (known->kind == WELLKNOWN_IRQ_EXIT)
		leave(r, event, has, irq);
	else if (has)
		enter(r, event, irq);
}

/*
 * Returns the owner of a lock that this event takes or releases: the CPU if the event comes from an
 * interrupt handler, otherwise the thread that recorded it.
 */
static uint64_t owner_of(const struct ktread_event *event)
{
	return event->context == KTRX_CONTEXT_THREAD && event->thread ? event->thread
								      : CPU_OWNER | event->cpu;
}

static void take_lock(struct reading *r, const struct ktread_event *event, const struct wellknown *known)
{
	const uint64_t owner = owner_of(event);
	struct keyed_entry *entry;
	uint64_t lock;

	if (!wellknown_number(known, event, WELLKNOWN_OBJECT, &lock))
		return;
	if (known->kind == WELLKNOWN_LOCK_CONTEND) {
		r->mistakes->contends++;
		entry = put(r, &r->waits, owner);
		if (entry && entry->count && entry->count != lock)
			note(r, MISTAKE_CONTEND, event, entry->count);
		if (entry)
			entry->count = lock;
		return;
	}
	entry = find(&r->waits, owner);
	if (entry && entry->count == lock && known->kind != WELLKNOWN_LOCK_RELEASE)
		keyed_remove(&r->waits, entry);
	if (known->kind == WELLKNOWN_LOCK_ACQUIRE) {
		entry = put(r, &r->locks, lock);
		if (entry)
			entry->count = owner;
	} else if (known->kind == WELLKNOWN_LOCK_RELEASE) {
		r->mistakes->releases++;
		entry = find(&r->locks, lock);
		if (entry && entry->count != owner && !(entry->count & CPU_OWNER) && !(owner & CPU_OWNER))
			note(r, MISTAKE_RELEASE, event, lock);
		drop(&r->locks, lock);
	}
}

static void take_kind(struct reading *r, const struct ktread_event *event, const struct wellknown *known)
{
	switch (known->kind) {
	case WELLKNOWN_SWITCH:
		take_switch(r, event, known);
		break;
	case WELLKNOWN_BLOCK:
		take_block(r, event, known);
		break;
	case WELLKNOWN_WAKE:
		take_wake(r, event, known);
		break;
	case WELLKNOWN_CREATE:
		take_create(r, event, known);
		break;
	case WELLKNOWN_EXIT:
		take_exit(r, event, known);
		break;
	case WELLKNOWN_IRQ_ENTER:
	case WELLKNOWN_IRQ_EXIT:
		take_irq(r, event, known);
		break;
	case WELLKNOWN_SYSCALL_ENTER:
		note(r, MISTAKE_SYSCALL_EXIT, event, event->thread);
		r->mistakes->calls++;
		break;
	case WELLKNOWN_SYSCALL_EXIT:
		r->mistakes->returns++;
		break;
	case WELLKNOWN_LOCK_CONTEND:
	case WELLKNOWN_LOCK_ACQUIRE:
	case WELLKNOWN_LOCK_RELEASE:
	case WELLKNOWN_LOCK_FAIL:
		take_lock(r, event, known);
		break;
	default:
		break;
	}
}

/*
 * Detects two CPUs that record with the same CPU number. Between two switches, a CPU runs one thread, but the
 * thread id in records may change a moment before or after sched.switch. So threads that alternate without a
 * switch run on two CPUs.
 */
static void take_turn(struct reading *r, const struct ktread_event *event, const struct wellknown *known)
{
	uint64_t *turn = r->cpu[event->cpu].turn;

	if (known->kind == WELLKNOWN_SWITCH) {
		turn[0] = turn[1] = NOBODY;
		return;
	}
	if (event->context != KTRX_CONTEXT_THREAD || event->thread == turn[0])
		return;
	if (event->thread == turn[1])
		note(r, MISTAKE_CPU_SHARED, event, event->thread);
	turn[1] = turn[0];
	turn[0] = event->thread;
}

/*
 * Records the newest entry or exit of a system call of a thread. At that moment the thread waits for no lock.
 */
static void take_syscall(struct reading *r, const struct ktread_event *event, const struct wellknown *known)
{
	struct keyed_entry *entry;

	if (event->context != KTRX_CONTEXT_THREAD || event->thread == 0 ||
	    (known->kind != WELLKNOWN_SYSCALL_ENTER && known->kind != WELLKNOWN_SYSCALL_EXIT))
		return;
	entry = put(r, &r->syscalls, event->thread);
	if (entry)
		entry->stamp = event->stamp;
}

static void take(struct reading *r, const struct ktread_event *event)
{
	struct switched_change change;
	const struct wellknown *known = wellknown_of(&r->known, event);

	if (event->cpu >= CPUS)
		return;
	if (event->lost || switched_change_of(event, &change))
		forget_all(r);
	if (event->thread == KTRX_THREAD_MAX)
		note(r, MISTAKE_ID_ONES, event, event->thread);
	take_turn(r, event, known);
	take_syscall(r, event, known);
	take_kind(r, event, known);
	switch_states_event(r->states, event, known);
}

/* Returns whether the kernel declares an event of one of these kinds that was off at some time. */
static bool is_off(const struct reading *r, const struct scheduling *scheduling,
		   const enum wellknown_kind kind[], size_t kinds)
{
	for (size_t n = 0; n < kinds; n++)
		if (wellknown_declared(r->trace, kind[n]) &&
		    !scheduling_covers(scheduling, kind[n], 0, UINT64_MAX))
			return true;
	return false;
}

static int note_off(struct reading *r)
{
	static const enum wellknown_kind irqs[] = { WELLKNOWN_IRQ_ENTER, WELLKNOWN_IRQ_EXIT },
					 calls[] = { WELLKNOWN_SYSCALL_ENTER, WELLKNOWN_SYSCALL_EXIT },
					 locks[] = { WELLKNOWN_LOCK_CONTEND, WELLKNOWN_LOCK_ACQUIRE,
						     WELLKNOWN_LOCK_RELEASE, WELLKNOWN_LOCK_FAIL };
	struct scheduling *scheduling;
	int error = scheduling_read(&scheduling, r->trace);

	if (!error) {
		r->mistakes->irqs_off = is_off(r, scheduling, irqs, 2);
		r->mistakes->calls_off = is_off(r, scheduling, calls, 2);
		r->mistakes->locks_off = is_off(r, scheduling, locks, 4);
	}
	scheduling_free(scheduling);
	return error;
}

static void note_states(struct reading *r)
{
	static const enum mistake mistakes[SWITCH_STATES_FAULTS] = {
		[SWITCH_STATES_RANGE] = MISTAKE_STATE_RANGE,
		[SWITCH_STATES_DEAD] = MISTAKE_STATE_DEAD,
		[SWITCH_STATES_STOPPED] = MISTAKE_STATE_STOPPED,
		[SWITCH_STATES_SAME] = MISTAKE_STATE_SAME,
	};
	struct switch_states_found found;

	for (int fault = 0; fault < SWITCH_STATES_FAULTS; fault++)
		if (switch_states_have(r->states, (enum switch_states_fault)fault, &found))
			r->mistakes->of[mistakes[fault]] =
				(struct mistake_count){ found.count, found.stamp, found.cpu, found.state };
}

static int read_all(struct reading *r)
{
	const struct ktread_info *info = ktread_info(r->trace);
	const struct ktread_event *event;
	int status = note_off(r);

	if (status < 0)
		return status;
	r->ticks = (uint64_t)(OVERLAP * (double)(info->frequency ? info->frequency : 1000000000u));
	r->ticks += 2 * info->clock_largest;
	r->late = (uint64_t)(LATE * (double)(info->frequency ? info->frequency : 1000000000u)) + r->ticks;
	forget_all(r);
	r->whole = true;
	for (uint32_t n = 0; n < info->rings; n++)
		r->whole &= ktread_ring(r->trace, n)->overwritten == 0 &&
			    ktread_ring(r->trace, n)->dropped == 0 && ktread_ring(r->trace, n)->cleared == 0;
	while (!r->error && (status = ktread_next(r->trace, &event)) > 0)
		take(r, event);
	note_states(r);
	if (!r->error && status == 0)
		status = mistakes_waits(r->mistakes, r->trace, &r->syscalls, r->late);
	return r->error ? r->error : status < 0 ? status : ktread_rewind(r->trace);
}

int mistakes_read(struct mistakes *mistakes, struct ktread *trace)
{
	struct reading *r = calloc(1, sizeof(*r));
	int status = KTREAD_E_MEMORY;

	memset(mistakes, 0, sizeof(*mistakes));
	if (r) {
		r->mistakes = mistakes;
		r->trace = trace;
		r->cpu = calloc(CPUS, sizeof(*r->cpu));
		status = r->cpu ? switch_states_open(&r->states, trace) : KTREAD_E_MEMORY;
		if (status == 0)
			status = read_all(r);
		switch_states_free(r->states);
		keyed_free(&r->running);
		keyed_free(&r->made);
		keyed_free(&r->locks);
		keyed_free(&r->waits);
		keyed_free(&r->syscalls);
		free(r->cpu);
		free(r);
	}
	return status;
}
