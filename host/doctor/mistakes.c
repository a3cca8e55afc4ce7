/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "doctor/mistakes_state.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/order.h"
#include "analyze/threads.h"
#include "analyze/wellknown.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

/*
 * limit in seconds: if a thread seems to run on two CPUs for less time, the reason may be that the clocks
 * differ
 */
#define OVERLAP 0.010
/* maximum time, in seconds, by which a row of the table may be older than an event */
#define LATE	     0.1
#define NOBODY	     UINT64_MAX
#define THREAD_ALIVE 1u

static void forget_cpu(struct mistakes_cpu *cpu)
{
	cpu->running = cpu->left = cpu->turn[0] = cpu->turn[1] = NOBODY;
	cpu->depth = 0;
	cpu->settled = false;
}

static void free_balances(struct mistakes_reading *r)
{
	for (int mistake = 0; mistake < MISTAKES; mistake++) {
		keyed_free(&r->balance[mistake].open);
		r->balance[mistake].full = false;
	}
}

/* Discards what events of several CPUs have shown. */
static void forget_shared(struct mistakes_reading *r)
{
	keyed_free(&r->running);
	keyed_free(&r->made);
	keyed_free(&r->locks);
	keyed_free(&r->waits);
	free_balances(r);
	keyed_free(&r->stays);
	if (r->whole)
		r->stayed = 0; /* an event of another CPU that is lost may belong to an earlier time */
	r->whole = false;
}

static void forget_all(struct mistakes_reading *r)
{
	for (uint32_t n = 0; n < MISTAKES_CPUS; n++)
		forget_cpu(&r->cpu[n]);
	forget_shared(r);
}

/*
 * Reads the thread id in the field with the given role, cut to 22 bits. Returns false if the event has no
 * such field.
 */
static bool id_of(struct mistakes_reading *r, const struct wellknown *known, const struct ktread_event *event,
		  enum wellknown_role role, uint64_t *id)
{
	if (!wellknown_number(known, event, role, id))
		return false;
	if (*id > KTRX_THREAD_MAX)
		mistakes_note(r, MISTAKE_ID_WIDE, event, *id);
	*id &= KTRX_THREAD_MAX;
	return true;
}

static bool may_run_anywhere(const struct mistakes_reading *r, uint64_t id)
{
	const char *name = ktread_thread_name(r->trace, (uint32_t)id);

	return id == 0 || (name && threads_name_is_idle(name, strlen(name)));
}

/* Returns the number of another CPU that runs the thread; MISTAKES_CPUS if there is none. */
static uint32_t other_cpu(const struct mistakes_reading *r, uint32_t cpu, uint64_t id)
{
	uint32_t other = 0;

	while (other < MISTAKES_CPUS && (other == cpu || r->cpu[other].running != id))
		other++;
	return other;
}

/*
 * Called when a thread stops running on this CPU. Counts a mistake if the thread has, until now, also run on
 * another CPU for too long.
 */
static void end_run(struct mistakes_reading *r, const struct ktread_event *event, uint64_t id)
{
	struct keyed_entry *entry = mistakes_find(&r->running, id);
	uint32_t other;

	if (!entry)
		return;
	if (entry->count && event->stamp > entry->count && event->stamp - entry->count > r->ticks) {
		mistakes_note(r, MISTAKE_TWO_CPUS, event, id);
		r->mistakes->of[MISTAKE_TWO_CPUS].sure += !r->mistakes->unmeasured;
	}
	other = entry->count || entry->cpu != event->cpu ? other_cpu(r, event->cpu, id) : MISTAKES_CPUS;
	if (other == MISTAKES_CPUS) {
		keyed_remove(&r->running, entry);
	} else {
		entry->cpu = other;
		entry->count = 0;
	}
}

static void begin_run(struct mistakes_reading *r, const struct ktread_event *event, uint64_t id)
{
	struct keyed_entry *entry;

	r->cpu[event->cpu].running = id;
	if (may_run_anywhere(r, id))
		return;
	entry = mistakes_find(&r->running, id);
	if (entry && entry->cpu != event->cpu) {
		entry->count = event->stamp;
		return;
	}
	entry = mistakes_put(r, &r->running, id);
	if (entry) {
		entry->cpu = event->cpu;
		entry->count = 0;
	}
}

static void take_switch(struct mistakes_reading *r, const struct ktread_event *event,
			const struct wellknown *known)
{
	struct mistakes_cpu *cpu = &r->cpu[event->cpu];
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
		mistakes_note(r, MISTAKE_SAME, event, next);
	else if (ran != NOBODY && prev != ran && prev != 0 && ran != 0)
		mistakes_note(r, MISTAKE_PREVIOUS, event, prev);
	if (ran != NOBODY && prev != ran && prev != next && next == cpu->left)
		mistakes_note(r, MISTAKE_SWAPPED, event, next);
	if (wellknown_number(known, event, WELLKNOWN_STATE, &state) && state == WELLKNOWN_STATE_DEAD)
		mistakes_balance_forget(r, MISTAKE_SYSCALL_EXIT, prev);
	cpu->left = prev;
	if (ran != NOBODY)
		end_run(r, event, ran);
	begin_run(r, event, next);
}

static void take_block(struct mistakes_reading *r, const struct ktread_event *event,
		       const struct wellknown *known)
{
	const uint64_t ran = r->cpu[event->cpu].running;
	uint64_t id;

	r->mistakes->blocks++;
	if (!id_of(r, known, event, WELLKNOWN_THREAD, &id))
		return;
	if (id == 0)
		mistakes_note(r, MISTAKE_ID_ZERO, event, 0);
	else if (ran != NOBODY && id != ran)
		mistakes_note(r, MISTAKE_BLOCK_ELSEWHERE, event, id);
}

static void take_wake(struct mistakes_reading *r, const struct ktread_event *event,
		      const struct wellknown *known)
{
	uint64_t id;

	if (!id_of(r, known, event, WELLKNOWN_THREAD, &id))
		return;
	r->mistakes->wakes++;
	if (id == 0)
		mistakes_note(r, MISTAKE_ID_ZERO, event, 0);
	else if (r->cpu[event->cpu].running == id && event->context == KTRX_CONTEXT_THREAD)
		mistakes_note(r, MISTAKE_WAKE_RUNNING, event, id);
}

static void take_create(struct mistakes_reading *r, const struct ktread_event *event,
			const struct wellknown *known)
{
	struct keyed_entry *entry;
	uint64_t id;

	if (!id_of(r, known, event, WELLKNOWN_THREAD, &id))
		return;
	mistakes_balance_forget(r, MISTAKE_SYSCALL_EXIT, id);
	if (!r->whole || r->mistakes->ends_off)
		return;
	mistakes_balance(r, MISTAKE_ID_REUSED, id, 0, true);
	entry = mistakes_put(r, &r->made, id);
	if (entry && entry->count == THREAD_ALIVE)
		mistakes_note(r, MISTAKE_ID_REUSED, event, id);
	if (entry)
		entry->count = THREAD_ALIVE;
}

static void take_exit(struct mistakes_reading *r, const struct ktread_event *event,
		      const struct wellknown *known)
{
	uint64_t id;

	if (!id_of(r, known, event, WELLKNOWN_THREAD, &id))
		id = event->thread;
	mistakes_balance(r, MISTAKE_ID_REUSED, id, 0, false);
	mistakes_balance_forget(r, MISTAKE_SYSCALL_EXIT, id);
	mistakes_drop(&r->made, id);
}

static void take_kind(struct mistakes_reading *r, const struct ktread_event *event,
		      const struct wellknown *known)
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
		mistakes_take_irq(r, event, known);
		break;
	case WELLKNOWN_SYSCALL_ENTER:
		r->mistakes->calls++;
		if (mistakes_balance(r, MISTAKE_SYSCALL_EXIT, event->thread, 0, true))
			mistakes_note(r, MISTAKE_SYSCALL_EXIT, event, event->thread);
		break;
	case WELLKNOWN_SYSCALL_EXIT:
		r->mistakes->returns++;
		mistakes_balance(r, MISTAKE_SYSCALL_EXIT, event->thread, 0, false);
		break;
	case WELLKNOWN_LOCK_CONTEND:
	case WELLKNOWN_LOCK_ACQUIRE:
	case WELLKNOWN_LOCK_RELEASE:
	case WELLKNOWN_LOCK_FAIL:
		mistakes_take_lock(r, event, known);
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
static void take_turn(struct mistakes_reading *r, const struct ktread_event *event,
		      const struct wellknown *known)
{
	uint64_t *turn = r->cpu[event->cpu].turn;

	if (known->kind == WELLKNOWN_SWITCH) {
		r->cpu[event->cpu].switched++;
		turn[0] = turn[1] = NOBODY;
		return;
	}
	if (event->context != KTRX_CONTEXT_THREAD || event->thread == turn[0])
		return;
	if (event->thread == turn[1])
		mistakes_note(r, MISTAKE_CPU_SHARED, event, event->thread);
	turn[1] = turn[0];
	turn[0] = event->thread;
}

/*
 * Records the newest entry or exit of a system call of a thread. At that moment the thread waits for no lock.
 */
static void take_syscall(struct mistakes_reading *r, const struct ktread_event *event,
			 const struct wellknown *known)
{
	const uint64_t key[KEYED_WORDS] = { event->thread };
	struct keyed_entry *entry = NULL;

	if (event->context != KTRX_CONTEXT_THREAD || event->thread == 0 ||
	    (known->kind != WELLKNOWN_SYSCALL_ENTER && known->kind != WELLKNOWN_SYSCALL_EXIT))
		return;
	if (keyed_put(&r->syscalls, key, &entry) < 0)
		r->error = KTREAD_E_MEMORY;
	if (entry) {
		entry->stamp = event->stamp;
		entry->cpu = event->cpu;
	}
}

/*
 * While slots of any CPU are missing, that CPU may have done anything to threads and locks. So nothing is
 * stored about them, and nothing that was stored before is used after that time.
 */
static void look_for_gap(struct mistakes_reading *r, const struct ktread_event *event)
{
	const uint64_t to = event->stamp > r->seen ? event->stamp : r->seen;
	const bool gap = gaps_between(r->gaps, GAPS_ANYWHERE, r->seen, to);

	if (gap && !r->blind)
		forget_shared(r);
	r->blind = gap;
	r->seen = to;
}

/* Returns whether sched.switch was recorded at the time of the event. */
static bool has_switches(const struct mistakes_reading *r, const struct ktread_event *event)
{
	return !r->mistakes->switches_off ||
	       !scheduling_off(gaps_scheduling(r->gaps), WELLKNOWN_SWITCH, event->stamp, event->stamp);
}

/* Processes ktrace.repeat: some repetitions of an event have no record. */
static void take_repeat(struct mistakes_reading *r, const struct ktread_event *event)
{
	const struct ktread_type *type = event->type;
	struct ktread_value id;

	if (type->group[0] == 'k' && strcmp(type->group, "ktrace") == 0 &&
	    strcmp(type->name, "repeat") == 0 && type->fields && ktread_value(event, 0, &id) == 0 &&
	    id.number <= KTRX_EVENT_MAX)
		r->folds[id.number / 8] |= (uint8_t)(1u << (id.number % 8));
}

static void take(struct mistakes_reading *r, const struct ktread_event *event)
{
	struct switched_change change;
	const struct wellknown *known = wellknown_of(&r->known, event);

	if (event->cpu >= MISTAKES_CPUS)
		return;
	if (event->lost || switched_change_of(event, &change))
		forget_all(r);
	look_for_gap(r, event);
	if (!has_switches(r, event))
		forget_cpu(&r->cpu[event->cpu]);
	if (event->thread == KTRX_THREAD_MAX)
		mistakes_note(r, MISTAKE_ID_ONES, event, event->thread);
	take_repeat(r, event);
	take_turn(r, event, known);
	take_syscall(r, event, known);
	take_kind(r, event, known);
	switch_states_event(r->states, event, known);
}

/* Finds the events that fold, or that have repetitions without a record. Marks them in a bit map. */
static int find_folds(struct mistakes_reading *r)
{
	struct ktread_fold fold;
	uint32_t row = 0;
	int status;

	for (uint32_t id = 0; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(r->trace, id);

		if (type && type->flags & KTRX_EVENT_FOLD)
			r->folds[id / 8] |= (uint8_t)(1u << (id % 8));
	}
	while ((status = ktread_fold(r->trace, &row, &fold)) > 0)
		r->folds[fold.event.id / 8] |= (uint8_t)(1u << (fold.event.id % 8));
	return status;
}

/*
 * Returns whether the kernel declares an event of one of these kinds that was off at some time, or of which
 * some repetitions may have no record because the event folds.
 */
static bool is_off(struct mistakes_reading *r, const enum wellknown_kind kind[], size_t kinds)
{
	const struct scheduling *scheduling = gaps_scheduling(r->gaps);
	uint8_t map[FOLDS_MAP] = { 0 };

	for (size_t n = 0; n < kinds; n++) {
		wellknown_mark(r->trace, &r->known, kind[n], map);
		if (scheduling_off(scheduling, kind[n], 0, UINT64_MAX))
			return true;
	}
	for (size_t n = 0; n < FOLDS_MAP; n++)
		if (map[n] & r->folds[n])
			return true;
	return false;
}

/* Called before the events are read, and again after that, when all events that fold are known. */
static void note_off(struct mistakes_reading *r)
{
	static const enum wellknown_kind irqs[] = { WELLKNOWN_IRQ_ENTER, WELLKNOWN_IRQ_EXIT },
					 calls[] = { WELLKNOWN_SYSCALL_ENTER, WELLKNOWN_SYSCALL_EXIT },
					 locks[] = { WELLKNOWN_LOCK_CONTEND, WELLKNOWN_LOCK_ACQUIRE,
						     WELLKNOWN_LOCK_RELEASE, WELLKNOWN_LOCK_FAIL },
					 ends[] = { WELLKNOWN_EXIT }, switches[] = { WELLKNOWN_SWITCH };

	r->mistakes->irqs_off = is_off(r, irqs, 2);
	r->mistakes->calls_off = is_off(r, calls, 2);
	r->mistakes->locks_off = is_off(r, locks, 4);
	r->mistakes->ends_off = is_off(r, ends, 1);
	r->mistakes->switches_off = is_off(r, switches, 1);
}

static void note_states(struct mistakes_reading *r)
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
				(struct mistake_count){ found.count, 0, found.stamp, found.cpu, found.state };
}

/* Finds out whether the clocks of the CPUs show the order of events on different CPUs. */
static void note_order(struct mistakes_reading *r)
{
	const struct order order = order_between_cpus(r->trace);

	r->mistakes->unordered = order.state != ORDER_CERTAIN;
	r->mistakes->unmeasured = order.state != ORDER_CERTAIN && order.doubt == 0;
	r->ticks += order.doubt;
}

static int read_all(struct mistakes_reading *r)
{
	const struct ktread_info *info = ktread_info(r->trace);
	const struct ktread_event *event;
	int status = gaps_read(&r->gaps, r->trace);

	if (status == 0)
		status = find_folds(r);
	if (status < 0)
		return status;
	note_off(r);
	r->ticks = (uint64_t)(OVERLAP * (double)(info->frequency ? info->frequency : 1000000000u));
	r->ticks += 2 * info->clock_largest;
	note_order(r);
	r->late = (uint64_t)(LATE * (double)(info->frequency ? info->frequency : 1000000000u)) + r->ticks;
	forget_all(r);
	r->whole = true;
	for (uint32_t n = 0; n < info->rings; n++) {
		const struct ktread_ring *ring = ktread_ring(r->trace, n);

		r->whole &= !ring->overwritten && !ring->dropped && !ring->cleared && !ring->cut;
	}
	while (!r->error && (status = ktread_next(r->trace, &event)) > 0)
		take(r, event);
	note_states(r);
	note_off(r);
	if (r->stayed > r->mistakes->of[MISTAKE_CONTEND].sure)
		r->mistakes->of[MISTAKE_CONTEND].sure = r->stayed;
	if (!r->error && status == 0)
		status = mistakes_waits(r->mistakes, r->trace, &r->syscalls, r->late);
	return r->error ? r->error : status < 0 ? status : ktread_rewind(r->trace);
}

int mistakes_read(struct mistakes *mistakes, struct ktread *trace)
{
	struct mistakes_reading *r = calloc(1, sizeof(*r));
	int status = KTREAD_E_MEMORY;

	memset(mistakes, 0, sizeof(*mistakes));
	if (r) {
		r->mistakes = mistakes;
		r->trace = trace;
		r->cpu = calloc(MISTAKES_CPUS, sizeof(*r->cpu));
		status = r->cpu ? switch_states_open(&r->states, trace) : KTREAD_E_MEMORY;
		if (status == 0)
			status = read_all(r);
		switch_states_free(r->states);
		gaps_free(r->gaps);
		keyed_free(&r->running);
		keyed_free(&r->made);
		keyed_free(&r->locks);
		keyed_free(&r->waits);
		free_balances(r);
		keyed_free(&r->syscalls);
		keyed_free(&r->irqs);
		keyed_free(&r->stays);
		free(r->cpu);
		free(r);
	}
	return status;
}
