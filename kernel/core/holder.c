/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * State of threads: a thread runs, waits to run, or waits for something. The table of holders has an entry
 * for each thread.
 */
#include "hook.h"

#if KTRACE_STATE

/* ---- the table of holders --------------------------------------------------------------------- */

/*
 * The table of holders is a hash table with open addressing and linear probing, keyed by thread id. A single
 * compare-and-swap from 0 reserves an entry. If an entry is freed while two CPUs reserve entries for the same
 * thread, they may reserve different entries. Then the entry that is first in the order of probing is used,
 * and a CPU that sees the other entry frees it.
 *
 * The table uses only those bits of a thread id that fit into a record. So the id of a thread's entry never
 * equals the id of a CPU's entry.
 */
/*
 * maximum number of entries that are examined for a thread; a limit is needed because hooks run with
 * interrupts disabled
 */
#define KTRACE_PROBES 64u
#define KTRACE_SPREAD KTRX_U32(0x9e3779b1) /* 2^32 divided by the golden ratio */

/*
 * Returns the index of the first entry to probe for a thread id, by Fibonacci hashing. For later indices,
 * row_at() wraps around at the end of the table.
 */
static uint32_t first_of(uint32_t thread)
{
	return (uint32_t)((uint64_t)(uint32_t)(thread * KTRACE_SPREAD) * ktrace_state.holders >> 32);
}

static uint32_t probes(void)
{
	return ktrace_state.holders < KTRACE_PROBES ? ktrace_state.holders : KTRACE_PROBES;
}

static volatile struct ktrx_holder *row_at(uint32_t at)
{
	uint32_t rows = ktrace_state.holders;

	return &ktrace_state.holder[ktrace_state.cpus + (at < rows ? at : at - rows)];
}

/* Returns the word that contains the id; an id of 0 means that the entry is free. */
static uint64_t *head_of(volatile struct ktrx_holder *row)
{
	return (uint64_t *)(uintptr_t)row;
}

static void row_free(volatile struct ktrx_holder *row)
{
	volatile uint64_t *word = head_of(row);

	for (uint32_t i = 1; i < sizeof(*row) / sizeof(*word); i++)
		word[i] = 0;
	ktrace_arch_store_barrier();
	word[0] = 0;
}

static int row_claim(volatile struct ktrx_holder *row, uint32_t thread)
{
	uint64_t head = *(volatile uint64_t *)head_of(row);

	return (uint32_t)head == 0 && ktrace_arch_compare_swap(head_of(row), head, (uint64_t)thread + 1);
}

/* Searches all entries that may contain the thread, except the first entry. */
KTRACE_OUT_OF_LINE volatile struct ktrx_holder *find_further(uint32_t thread)
{
	uint32_t first = first_of(thread), end = first + probes();

	for (uint32_t at = first + 1; at < end; at++) {
		volatile struct ktrx_holder *row = row_at(at);

		if (row->id == thread + 1)
			return row;
	}
	return KTRACE_NULL;
}

volatile struct ktrx_holder *ktrace_holder_find(uint32_t thread)
{
	volatile struct ktrx_holder *row;

	if (!ktrace_state.holder)
		return KTRACE_NULL;
	thread = KTRX_W1_THREAD(thread);
	row = row_at(first_of(thread));
	return KTRACE_LIKELY(row->id == thread + 1) ? row : find_further(thread);
}

/*
 * Returns the thread's first entry and frees the thread's later entries. If two CPUs reserve entries for the
 * thread at the same time, at least one of the CPUs sees both entries.
 */
static volatile struct ktrx_holder *settle(uint32_t thread)
{
	volatile struct ktrx_holder *first = KTRACE_NULL;
	uint32_t at = first_of(thread), end = at + probes();

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (; at < end; at++) {
		volatile struct ktrx_holder *row = row_at(at);

		if (row->id != thread + 1)
			continue;
		if (first)
			row_free(row);
		else
			first = row;
	}
	return first;
}

/*
 * Reserves an entry for the thread and returns it. If none of the examined entries is free, adds 1 to the
 * CPU's `refused` and returns NULL. The addition is atomic, because a nested interrupt may count in the same
 * word.
 */
KTRACE_OUT_OF_LINE volatile struct ktrx_holder *claim_new(volatile struct ktrx_cpu *cpu, uint32_t thread)
{
	uint32_t first = first_of(thread), end = first + probes();

	if (!ktrace_state.holder)
		return KTRACE_NULL;
	for (uint32_t at = first; at < end; at++)
		if (row_claim(row_at(at), thread))
			return settle(thread);
	ktrace_arch_fetch_add((uint64_t *)(uintptr_t)&cpu->refused, 1);
	return KTRACE_NULL;
}

volatile struct ktrx_holder *ktrace_holder_claim(const struct ktrace_hook *hook, uint32_t thread)
{
	volatile struct ktrx_holder *row = ktrace_holder_find(thread);

	return KTRACE_LIKELY(row) ? row : claim_new(hook->cpu, KTRX_W1_THREAD(thread));
}

void ktrace_holder_free(uint32_t thread)
{
	uint32_t number = KTRX_W1_THREAD(thread), first = first_of(number), end = first + probes();

	for (uint32_t at = first; at < end; at++) {
		volatile struct ktrx_holder *row = row_at(at);

		if (row->id == number + 1)
			row_free(row);
	}
}

void ktrace_holder_wait(volatile struct ktrx_holder *row, uint64_t object, uint32_t kind, uint64_t now,
			uint64_t pc, uint32_t owner, const char *name)
{
	uint32_t length = 0;

	row->wait = KTRX_WAIT_NONE;
	ktrace_arch_store_barrier();
	row->object = object;
	row->wait_stamp = now;
	row->wait_pc = pc;
	row->owner = owner;
	for (; name && name[length] && length + 1 < sizeof(row->object_name); length++)
		row->object_name[length] = name[length];
	row->object_name[length] = '\0';
	ktrace_arch_store_barrier();
	row->wait = (uint8_t)kind;
}

/* ---- hooks of threads ------------------------------------------------------------------------- */

static void thread_state_set(volatile struct ktrx_holder *row, uint8_t state, uint64_t stamp)
{
	row->cause = KTRX_CAUSE_UNKNOWN;
	row->state_stamp = stamp;
	row->state = state;
}

static void runnable_set(volatile struct ktrx_holder *row, uint8_t cause, uint64_t stamp)
{
	thread_state_set(row, KTRX_THREAD_RUNNABLE, stamp);
	row->cause = cause;
}

static uint8_t wake_cause(const volatile struct ktrx_holder *row)
{
	return row->state == KTRX_THREAD_UNKNOWN || row->cause == KTRX_CAUSE_START ? KTRX_CAUSE_START
										   : KTRX_CAUSE_WAKE;
}

/*
 * Ends the wait of a thread that is awake. Exception: a wait for a lock lasts until the thread has the lock.
 */
static void thread_wait_end(volatile struct ktrx_holder *row)
{
	row->deadline = 0;
	if (row->wait != KTRX_WAIT_LOCK)
		row->wait = KTRX_WAIT_NONE;
}

void ktrace_thread_block_at(const volatile void *object, const char *name, uint32_t kind, uint64_t deadline,
			    uintptr_t pc)
{
	volatile struct ktrx_holder *row;
	struct ktrace_hook hook;
	uint64_t now;

	if (!ktrace_hook_enter(&hook, KTRX_HOOK_THREAD))
		return;
	row = ktrace_holder_claim(&hook, ktrace_hook_thread());
	now = ktrace_hook_now(&hook);
	if (!row)
		return;
	if (row->wait != KTRX_WAIT_LOCK)
		ktrace_holder_wait(row, (uintptr_t)object, kind, now, pc, 0, name);
	row->deadline = deadline;
	thread_state_set(row, KTRX_THREAD_WAITING, now);
}

void ktrace_thread_block(const volatile void *object, const char *name, uint32_t kind, uint64_t deadline)
{
	ktrace_thread_block_at(object, name, kind, deadline, KTRACE_RETURN_ADDRESS);
}

static void habit_begin(volatile struct ktrx_holder *row, uint64_t stamp)
{
	row->habit_wakes = 0; /* marks the entry as incomplete while the rest changes */
	ktrace_arch_store_barrier();
	row->habit_object = row->object;
	row->habit_first = stamp;
	row->habit_last = stamp;
	row->habit_longest = 0;
	row->habit_usual = 0;
	row->habit_alike = 0;
	ktrace_arch_store_barrier();
	row->habit_wakes = 1;
}

/*
 * Moves the mean by an eighth of the difference between the new interval and the mean. If the timestamp is
 * lower than the previous timestamp (because it is from another CPU's clock), the interval counts as 0 ticks.
 */
static void habit_go_on(volatile struct ktrx_holder *row, uint64_t stamp)
{
	uint64_t ticks = stamp > row->habit_last ? stamp - row->habit_last : 0;
	uint64_t usual = row->habit_wakes == 1 ? ticks : row->habit_usual;

	if (ticks >= usual / 2 && ticks / 2 <= usual)
		row->habit_alike = row->habit_alike + 1;
	row->habit_usual = ticks > usual ? usual + (ticks - usual) / 8 : usual - (usual - ticks) / 8;
	if (ticks > row->habit_longest)
		row->habit_longest = ticks;
	row->habit_last = stamp;
	row->habit_wakes = row->habit_wakes + 1;
}

/*
 * Returns nonzero if the deadline of the wait has passed or is near. A deadline that is near counts as well,
 * because `stamp` may be as old as the last tick.
 */
static int ends_by_itself(const volatile struct ktrx_holder *row, uint64_t stamp)
{
	uint64_t most = row->deadline > row->wait_stamp ? row->deadline - row->wait_stamp : 0;

	return row->deadline && (stamp >= row->deadline || row->deadline - stamp <= most / 4);
}

/*
 * Counts a wakeup that ended a wait for an event or a device. Such a wait may last without limit, and its
 * record in the ring may be overwritten before the wait ends. The members habit_* show how often such waits
 * have ended before.
 */
static void habit_note(volatile struct ktrx_holder *row, uint32_t waker, uint64_t stamp)
{
	if (row->state != KTRX_THREAD_WAITING || ends_by_itself(row, stamp) ||
	    (row->wait != KTRX_WAIT_EVENT && row->wait != KTRX_WAIT_DEVICE))
		return;
	if (row->habit_wakes == 0 || row->habit_object != row->object)
		habit_begin(row, stamp);
	else
		habit_go_on(row, stamp);
	row->habit_waker = waker;
}

void ktrace_thread_wake(uint32_t thread)
{
	volatile struct ktrx_holder *row;
	struct ktrace_hook hook;
	uint32_t context, waker;

	if (!ktrace_hook_enter(&hook, KTRX_HOOK_THREAD))
		return;
	context = ktrace_hook_context();
	row = ktrace_holder_claim(&hook, thread);
	if (!row)
		return;
	/* the port may not add the context to the id */
	waker = KTRX_W1_CONTEXT(context) == KTRX_CONTEXT_THREAD && hook.cpu->nesting == 0
			? KTRX_W1_THREAD(context) + 1
			: 0;
	habit_note(row, waker, hook.cpu->now);
	thread_wait_end(row);
	row->waker = waker;
	row->wakes = row->wakes + 1;
	runnable_set(row, wake_cause(row), hook.cpu->now);
}

/* States of a thread in sched.switch: see doc/events.md. */
#define KTRACE_LEFT_ASLEEP  1u
#define KTRACE_LEFT_STOPPED 3u
#define KTRACE_LEFT_ENDED   4u

/*
 * Checks the rules for a context switch. `previous` is the thread that left the CPU (some kernels call this
 * hook when the next thread is already the current one), and `row` is its entry. If the thread went to sleep,
 * a broken rule is recorded with the place where it began to wait, otherwise with the place of the switch.
 * A thread that has ended may switch with preemption disabled, so that nothing interrupts its last switch.
 */
static void switch_check(const struct ktrace_hook *hook, uint32_t previous, uint32_t state,
			 const volatile struct ktrx_holder *row, uintptr_t pc)
{
	const volatile struct ktrx_holder *here = ktrace_holder_cpu(hook);
	uint64_t place = row && row->state == KTRX_THREAD_WAITING ? row->wait_pc : pc;

	if (here && here->held_count != 0)
		ktrace_hook_broken(hook->cpu, previous, KTRX_BROKEN_SWITCH_LOCKED, here->held[0].object,
				   place);
	if (hook->cpu->preempt != 0 && state != KTRACE_LEFT_ENDED)
		ktrace_hook_broken(hook->cpu, previous, KTRX_BROKEN_SWITCH_PREEMPT, 0, place);
	if (hook->cpu->nesting != 0)
		ktrace_hook_broken(hook->cpu, previous, KTRX_BROKEN_SWITCH_INTERRUPT, 0, place);
}

/*
 * The thread has left the CPU. If it did not report what it waits for, `state` decides whether it can run
 * again, waits for something unknown, or has ended. If it was woken before it left, it can run again from now
 * on.
 */
static void thread_left(volatile struct ktrx_holder *row, uint32_t state, uintptr_t pc, uint64_t now)
{
	if (state == KTRACE_LEFT_ENDED && row->state != KTRX_THREAD_WAITING) {
		thread_state_set(row, KTRX_THREAD_UNKNOWN, now);
		return;
	}
	if (row->state == KTRX_THREAD_RUNNABLE)
		row->state_stamp = now;
	if (row->state != KTRX_THREAD_RUNNING)
		return;
	if (state < KTRACE_LEFT_ASLEEP || state > KTRACE_LEFT_STOPPED) {
		runnable_set(row, KTRX_CAUSE_SWITCH, now);
		return;
	}
	if (row->wait == KTRX_WAIT_NONE)
		ktrace_holder_wait(row, 0, KTRX_WAIT_EVENT, now, pc, 0, KTRACE_NULL);
	row->deadline = 0;
	thread_state_set(row, KTRX_THREAD_WAITING, now);
}

static void thread_runs(volatile struct ktrx_holder *row, const struct ktrace_hook *hook, uint64_t now)
{
	thread_wait_end(row);
	row->cpu = (uint16_t)hook->number;
	thread_state_set(row, KTRX_THREAD_RUNNING, now);
}

/*
 * Ends idle mode if another thread runs. A kernel may leave its idle thread from an interrupt, without a call
 * of ktrace_mode().
 */
static void idle_end(volatile struct ktrx_cpu *cpu, uint64_t now)
{
	if (cpu->mode != KTRX_MODE_IDLE)
		return;
	cpu->mode_stamp = now;
	cpu->mode = KTRX_MODE_KERNEL;
}

void ktrace_state_switch(uint32_t previous, uint32_t next, uint32_t state, uintptr_t pc, uint64_t now)
{
	volatile struct ktrx_holder *from, *to;
	struct ktrace_hook hook;

	if (!ktrace_hook_enter(&hook, KTRX_HOOK_THREAD))
		return;
	now = ktrace_hook_at(&hook, now);
	from = ktrace_holder_find(previous);
	to = ktrace_holder_claim(&hook, next);
	if (previous != next) {
		switch_check(&hook, previous, state, from, pc);
		hook.cpu->switch_stamp = now;
		hook.cpu->switches = hook.cpu->switches + 1;
		hook.cpu->thread = KTRX_W1_THREAD(next);
		idle_end(hook.cpu, now);
		if (from)
			thread_left(from, state, pc, now);
	}
	if (to)
		thread_runs(to, &hook, now);
}

void ktrace_thread_switch(uint32_t previous, uint32_t next)
{
	ktrace_state_switch(previous, next, 0, KTRACE_RETURN_ADDRESS, 0);
}

void ktrace_thread_exit(uint32_t thread)
{
	const int by_itself = KTRX_W1_THREAD(thread) == ktrace_hook_thread();
	struct ktrace_hook hook;

	if (ktrace_hook_enter(&hook, by_itself ? KTRX_HOOK_THREAD | KTRX_HOOK_EXIT : KTRX_HOOK_THREAD))
		ktrace_holder_free(thread);
}

void ktrace_thread_stack(uint32_t thread, const volatile void *low, const volatile void *high)
{
	volatile struct ktrx_holder *row;
	struct ktrace_hook hook;
	int is_new;

	if (!ktrace_hook_enter(&hook, 0))
		return;
	is_new = !ktrace_holder_find(thread) && KTRX_W1_THREAD(thread) != ktrace_hook_thread();
	row = ktrace_holder_claim(&hook, thread);
	if (!row)
		return;
	row->stack_low = (uintptr_t)low;
	row->stack_high = (uintptr_t)high;
	if (is_new)
		row->whole = 1;
}

void ktrace_thread_priority(uint32_t thread, uint8_t priority)
{
	volatile struct ktrx_holder *row;
	struct ktrace_hook hook;

	if (!ktrace_hook_enter(&hook, 0))
		return;
	row = ktrace_holder_claim(&hook, thread);
	if (row)
		row->priority = priority;
}

#endif
