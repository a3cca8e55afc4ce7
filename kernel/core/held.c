/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Locks that are held or waited for. An entry of the table of holders lists the held locks in held[], in the
 * order in which they were taken, the oldest first. An element of held[] is called a place. If there are more
 * locks than places, the others are only counted: each empty place below the count, and each count above
 * KTRX_HELD, represents such a lock.
 */
#include "hook.h"

#if KTRACE_STATE

#define KTRACE_COUNT_MOST 255u

/* Begins a hook about a lock. Returns the entry of the holder; NULL if the hook has nothing to do. */
static inline volatile struct ktrx_holder *holder_enter(struct ktrace_hook *hook, uint32_t by)
{
	if (!ktrace_hook_enter(hook, KTRX_HOOK_LOCK))
		return KTRACE_NULL;
	return by == KTRACE_BY_CPU ? ktrace_holder_cpu(hook)
				   : ktrace_holder_claim(hook, ktrace_hook_thread());
}

static uint32_t places(uint32_t count)
{
	return count < KTRX_HELD ? count : KTRX_HELD;
}

/* Returns the index of the newest place with this lock, plus 1; 0 if there is none. */
static uint32_t place_find(const volatile struct ktrx_holder *row, uint64_t object)
{
	uint32_t at = places(row->held_count);

	while (at > 0 && row->held[at - 1].object != object)
		at--;
	return at;
}

/*
 * Adds a lock. Increments the count before it fills in the place: if an interrupt comes between the two
 * steps, the locks that the interrupt takes must use later places.
 */
static void place_add(volatile struct ktrx_holder *row, uint64_t object, uint64_t stamp, uint64_t pc)
{
	uint32_t count = row->held_count;

	if (count == KTRACE_COUNT_MOST) {
		/*
		 * there are too many locks to count: from now on, it is not known which locks the holder
		 * holds
		 */
		row->whole = 0;
		return;
	}
	row->held_count = (uint8_t)(count + 1);
	if (count >= KTRX_HELD)
		return;
	row->held[count].stamp = stamp;
	row->held[count].pc = pc;
	ktrace_arch_publish((uint64_t *)(uintptr_t)&row->held[count].object, object);
}

/*
 * Removes a lock. Moves later locks to lower places first, and decrements the count last: if an interrupt
 * comes between the two steps, the locks that the interrupt takes must use later places.
 */
static void place_remove(volatile struct ktrx_holder *row, uint32_t at)
{
	uint32_t count = row->held_count, last = places(count) - 1;

	for (; at < last; at++) {
		row->held[at].stamp = row->held[at + 1].stamp;
		row->held[at].pc = row->held[at + 1].pc;
		row->held[at].object = row->held[at + 1].object;
	}
	row->held[last].object = 0;
	row->held_count = (uint8_t)(count - 1);
}

/*
 * Returns nonzero if all locks that this holder has taken are known. A CPU holds no lock when it switches
 * threads, so its locks are known from its first switch on. A new thread holds no lock, so its locks are
 * known if its creation was reported.
 */
static int holder_is_whole(const volatile struct ktrx_cpu *cpu, const volatile struct ktrx_holder *row)
{
	return row->id & KTRX_HOLDER_CPU ? cpu->switches != 0 : row->whole;
}

/*
 * Releases a lock that is not the newest. If the lock has no place, it was only counted, or was never taken.
 */
KTRACE_OUT_OF_LINE void release_older(volatile struct ktrx_cpu *cpu, volatile struct ktrx_holder *row,
				      uint64_t object, uintptr_t pc)
{
	uint32_t at = place_find(row, object), empty = place_find(row, 0);

	if (at)
		place_remove(row, at - 1);
	else if (row->held_count > KTRX_HELD)
		row->held_count = (uint8_t)(row->held_count - 1);
	else if (empty)
		place_remove(row, empty - 1);
	else if (holder_is_whole(cpu, row))
		ktrace_hook_broken(cpu, ktrace_hook_thread(), KTRX_BROKEN_RELEASE, object, pc);
}

KTRACE_OUT_OF_LINE void acquire_check(volatile struct ktrx_cpu *cpu, const volatile struct ktrx_holder *row,
				      uint64_t object, uintptr_t pc)
{
	if (place_find(row, object))
		ktrace_hook_broken(cpu, ktrace_hook_thread(), KTRX_BROKEN_ACQUIRE, object, pc);
}

static int is_in_interrupt(const volatile struct ktrx_cpu *cpu)
{
	return cpu->nesting != 0 || KTRX_W1_CONTEXT(ktrace_hook_context()) != KTRX_CONTEXT_THREAD;
}

/*
 * Ends the wait for a lock. A thread that takes a lock does not wait for any other lock. But while a thread
 * or a CPU waits for a lock, the handler of an interrupt may take another lock. So in an interrupt, and for a
 * CPU, the wait ends only if it was a wait for this lock.
 */
KTRACE_OUT_OF_LINE void wait_end(const volatile struct ktrx_cpu *cpu, volatile struct ktrx_holder *row,
				 uint64_t object, uint32_t by)
{
	if (row->wait == by && (row->object == object || (by == KTRACE_BY_THREAD && !is_in_interrupt(cpu))))
		row->wait = KTRX_WAIT_NONE;
}

void ktrace_lock_acquire_at(const volatile void *lock, uint32_t by, uintptr_t pc)
{
	uint64_t object = (uintptr_t)lock;
	volatile struct ktrx_holder *row;
	struct ktrace_hook hook;

	row = holder_enter(&hook, by);
	if (!row)
		return;
	if (row->held_count != 0)
		acquire_check(hook.cpu, row, object, pc);
	place_add(row, object, hook.cpu->now, pc);
	if (row->wait != KTRX_WAIT_NONE)
		wait_end(hook.cpu, row, object, by);
}

void ktrace_lock_release_at(const volatile void *lock, uint32_t by, uintptr_t pc)
{
	uint64_t object = (uintptr_t)lock;
	volatile struct ktrx_holder *row;
	struct ktrace_hook hook;
	uint32_t newest;

	row = holder_enter(&hook, by);
	if (!row)
		return;
	/* if the holder has no locks, `newest` wraps around to a number above KTRX_HELD */
	newest = row->held_count - 1u;
	if (newest >= KTRX_HELD || row->held[newest].object != object) {
		release_older(hook.cpu, row, object, pc);
	} else {
		row->held[newest].object = 0;
		row->held_count = (uint8_t)newest;
	}
}

static uint32_t owner_id(uint32_t owner, uint32_t by)
{
	if (owner == KTRACE_NOBODY)
		return 0;
	return by == KTRACE_BY_CPU ? KTRX_HOLDER_CPU | owner : KTRX_W1_THREAD(owner) + 1;
}

/*
 * Marks the running thread as running if it was woken while it ran. That wakeup does not end the wait for a
 * lock that begins now. Does nothing if the CPU has already reported the switch to another thread.
 */
static void wakeup_forget(const volatile struct ktrx_cpu *cpu, volatile struct ktrx_holder *row)
{
	if (KTRACE_LIKELY(row->state != KTRX_THREAD_RUNNABLE) || row->id != cpu->thread + 1)
		return;
	row->cause = KTRX_CAUSE_UNKNOWN;
	row->state_stamp = cpu->now;
	row->state = KTRX_THREAD_RUNNING;
}

void ktrace_lock_wait_at(const volatile void *lock, const char *name, uint32_t by, uint32_t owner,
			 uintptr_t pc)
{
	volatile struct ktrx_holder *row;
	struct ktrace_hook hook;

	row = holder_enter(&hook, by);
	if (!row)
		return;
	wakeup_forget(hook.cpu, row);
	if (row->wait == by &&
	    /* the hook is called again during the same wait, which began with the first call */
	    row->object == (uintptr_t)lock)
		row->owner = owner_id(owner, by);
	else
		ktrace_holder_wait(row, (uintptr_t)lock, by, ktrace_hook_now(&hook), pc, owner_id(owner, by),
				   name);
}

void ktrace_lock_give_up(uint32_t by)
{
	volatile struct ktrx_holder *row;
	struct ktrace_hook hook;

	row = holder_enter(&hook, by);
	if (row)
		row->wait = KTRX_WAIT_NONE;
}

void ktrace_lock_wait(const volatile void *lock, const char *name, uint32_t by, uint32_t owner)
{
	ktrace_lock_wait_at(lock, name, by, owner, KTRACE_RETURN_ADDRESS);
}

void ktrace_lock_acquire(const volatile void *lock, uint32_t by)
{
	ktrace_lock_acquire_at(lock, by, KTRACE_RETURN_ADDRESS);
}

void ktrace_lock_release(const volatile void *lock, uint32_t by)
{
	ktrace_lock_release_at(lock, by, KTRACE_RETURN_ADDRESS);
}

#endif
