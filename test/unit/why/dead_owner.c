/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests findings about threads that wait for a lock whose owner has ended. Also tests similar waits, for
 * which there must be no such finding.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/support/script.h"
#include "unit/support/why_support.h"

#define V(value) ((uint64_t)(value))

#define IDLE   1u
#define WAITER 5u
#define OWNER  6u
#define LATER  7u
#define LOCK   0x2000u
#define PLACE  0x77010u
#define TAKEN  (100 * MS)
#define WAITS  (110 * MS)
#define ENDED  (200 * MS)
#define END    (4000 * MS)

enum { OTHER = 1, SWITCH, EXIT, CREATE, CONTEND, ACQUIRE, RELEASE, PANIC };

static int begin(void **state)
{
	int error = why_setup(state);

	script_type(OTHER, "mine", "other", "");
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u32 state");
	script_type(EXIT, "sched", "exit", "u32 thread");
	script_type(CREATE, "sched", "create", "u32 thread");
	script_thread(IDLE, "idle");
	script_thread(OWNER, "owner");
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		why_cpu_row(cpu, KTRX_MODE_IDLE);
		script_cpu(cpu)->hooks |= KTRX_HOOK_EXIT;
		why_cpu_beats(cpu, 400, END);
		script_cpu(cpu)->thread = IDLE;
		script_event(OTHER, MS, cpu, IDLE);
		script_event(OTHER, END, cpu, IDLE);
	}
	return error;
}

static struct ktrx_holder *waits(uint32_t thread, uint64_t since, uint32_t owner)
{
	struct ktrx_holder *row = why_thread_row(thread, "waiter", KTRX_THREAD_WAITING, 0);

	why_waits(row, KTRX_WAIT_LOCK, LOCK, "cache", since);
	row->owner = owner + 1;
	return row;
}

/* The owner runs on CPU 1 from 50 ms on, and ends at `stamp`. */
static void owner_ends_at(uint64_t stamp)
{
	script_event(CREATE, 40 * MS, 1, IDLE, V(OWNER));
	script_event(SWITCH, 50 * MS, 1, IDLE, V(IDLE), V(OWNER), V(0));
	script_event(EXIT, stamp - 1000, 1, OWNER, V(OWNER));
	script_event(SWITCH, stamp, 1, OWNER, V(OWNER), V(IDLE), V(4));
}

static void declare_locks(void)
{
	script_type(CONTEND, "lock", "contend", "pointer lock");
	script_type(ACQUIRE, "lock", "acquire", "pointer lock,pointer place");
	script_type(RELEASE, "lock", "release", "pointer lock");
}

static void owner_takes(uint64_t stamp)
{
	declare_locks();
	script_event(ACQUIRE, stamp, 1, OWNER, V(LOCK), V(PLACE));
}

/*
 * The waiter runs on CPU 0 and waits for the lock. CPU 0 then switches to another thread. The switch records
 * this state of the waiter.
 */
static void waiter_contends(unsigned state)
{
	script_event(SWITCH, 60 * MS, 0, IDLE, V(IDLE), V(WAITER), V(0));
	script_event(CONTEND, WAITS, 0, WAITER, V(LOCK));
	script_event(SWITCH, WAITS + 1000, 0, WAITER, V(WAITER), V(IDLE), V(state));
}

static void is_found(enum finding_certainty certain)
{
	assert_int_equal(why_count(WHY_DEAD_OWNER), 1);
	if (certain == FINDING_POSSIBLE) {
		assert_int_equal(why_judge()->verdict, WHY_IDLE);
		why_says("not certain because of: dead-owner (possible), see below");
		return;
	}
	assert_int_equal(why_judge()->verdict, WHY_DEAD_OWNER);
	assert_int_equal(why_judge()->base.certain, certain);
}

static void is_silent(void)
{
	assert_int_equal(why_count(WHY_DEAD_OWNER), 0);
}

/* ---- The owner has ended ------------------------------------------------------------------------------- */

/*
 * The kernel stores the owner as a pointer to a thread. The owner ends, and thread 7 gets the memory of the
 * owner. So when thread 7 waits for the lock, the kernel reports thread 7 as the owner.
 */
static void owner_that_waits_itself_is_not_the_owner(void **state)
{
	(void)state;
	waits(WAITER, ENDED + 50 * MS, OWNER);
	waits(LATER, ENDED + 100 * MS, LATER);
	script_type(CONTEND, "lock", "contend", "pointer lock,string name");
	script_type(ACQUIRE, "lock", "acquire", "pointer lock,pointer place");
	script_type(RELEASE, "lock", "release", "pointer lock");
	script_event(CONTEND, 10 * MS, 0, IDLE, V(LOCK), "cache");
	script_event(ACQUIRE, 11 * MS, 0, IDLE, V(LOCK), V(PLACE));
	script_event(RELEASE, 12 * MS, 0, IDLE, V(LOCK));
	script_event(SWITCH, 50 * MS, 1, IDLE, V(IDLE), V(OWNER), V(0));
	script_event(EXIT, ENDED - 1000, 1, OWNER, V(OWNER));
	script_event(SWITCH, ENDED, 1, OWNER, V(OWNER), V(IDLE), V(4));
	assert_int_equal(why_count(WHY_SELF_DEADLOCK), 0);
	is_found(FINDING_LIKELY);
	why_says("whose owner, thread 6 (owner), has ended");
}

static void lock_that_events_show_unreleased_is_certain(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER);
	owner_takes(TAKEN);
	owner_ends_at(ENDED);
	is_found(FINDING_CERTAIN);
	assert_int_equal(why_judge()->actors, 2);
	assert_int_equal(why_judge()->actor[0].id, WAITER + 1);
	assert_int_equal(why_judge()->actor[1].id, OWNER + 1);
	assert_int_equal(why_judge()->actor[1].holds, LOCK);
	why_says("thread 5 (waiter) waits for lock cache (0x2000), whose owner, thread 6 (owner), has ended");
	why_says("thread 5 (waiter) has waited 3.89 s for lock cache (0x2000)");
	why_says("thread 6 (owner) took it 3.90 s ago, at 0x77010, and did not release it");
	why_says("thread 6 (owner) ended 3.80 s ago");
}

/* The kernel passes the same number for the states "asleep" and "ended". */
static void thread_that_ended_is_not_asleep(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER);
	owner_takes(TAKEN);
	script_event(CREATE, 40 * MS, 1, IDLE, V(OWNER));
	script_event(SWITCH, 50 * MS, 1, IDLE, V(IDLE), V(OWNER), V(0));
	script_event(EXIT, ENDED - 1000, 1, OWNER, V(OWNER));
	script_event(SWITCH, ENDED, 1, OWNER, V(OWNER), V(IDLE), V(1));
	is_found(FINDING_CERTAIN);
	why_says("thread 6 (owner) ended 3.80 s ago");
}

/* When the wait began, another thread held the lock. Events show that the owner took the lock later. */
static void events_show_later_owner_than_row(void **state)
{
	(void)state;
	waits(WAITER, TAKEN - MS, LATER);
	why_thread_row(LATER, "later", KTRX_THREAD_WAITING, 0)->deadline = END + MS;
	owner_takes(TAKEN);
	owner_ends_at(ENDED);
	is_found(FINDING_CERTAIN);
	why_says("whose owner, thread 6 (owner), has ended");
}

/* The kernel does not call ktrace_thread_end(), but records states in sched.switch. */
static void lock_in_row_of_ended_owner_is_certain(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER);
	why_holds(why_thread_row(OWNER, "owner", KTRX_THREAD_RUNNABLE, 1), LOCK, TAKEN);
	owner_ends_at(ENDED);
	is_found(FINDING_CERTAIN);
	why_says("ended 3.80 s ago");
}

static void owner_named_after_its_end_is_likely(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER);
	waits(LATER, ENDED + 100 * MS, OWNER);
	owner_ends_at(ENDED);
	is_found(FINDING_LIKELY);
	why_says("thread 7 (waiter) has waited 3.70 s for lock");
	why_says("the kernel named it as the owner after its end, and no holder of the lock is recorded");
}

static void owner_named_before_its_end_is_possible(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER);
	owner_ends_at(ENDED);
	is_found(FINDING_POSSIBLE);
	why_says("whose last known owner, thread 6 (owner), has ended");
	why_says("lock.acquire and lock.release, which show whether the owner released the lock");
}

/*
 * The wait began on CPU 0, 5 ms after the owner ended on CPU 1. If timestamps of different CPUs are so close,
 * they do not show which event occurred first.
 */
static void owner_named_at_its_end_is_possible(void **state)
{
	(void)state;
	waits(WAITER, ENDED + 5 * MS, OWNER);
	owner_ends_at(ENDED);
	is_found(FINDING_POSSIBLE);
}

static void owner_without_row_is_possible(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER);
	is_found(FINDING_POSSIBLE);
	why_says("the kernel's tables have no row for thread 6, so it has ended");
	why_says("to be more certain: record lock.acquire and lock.release");
}

/* Some lock events are lost, or no event shows that the owner was created. */
static void advice_depends_on_what_is_missing(void **state)
{
	for (uint32_t lost = 0; lost < 4; lost += 3) {
		why_teardown(state);
		begin(state);
		waits(WAITER, WAITS, OWNER), declare_locks();
		script_event(OTHER, ENDED, 1, IDLE)->lost = lost;
		is_found(FINDING_POSSIBLE);
		why_says(lost ? "certain: use rings with more slots" : "certain: record sched.create");
	}
}

static void busy_verdict_becomes_only_possible(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER);
	owner_ends_at(ENDED);
	script_cpu(1)->mode = KTRX_MODE_KERNEL;
	script_cpu(1)->thread = LATER;
	why_thread_row(LATER, "worker", KTRX_THREAD_RUNNING, 1)->state_stamp = END - 1500 * MS;
	script_event(SWITCH, END - 1500 * MS, 1, IDLE, V(IDLE), V(LATER), V(0));
	for (uint64_t stamp = END - 1400 * MS; stamp < END; stamp += 100 * MS)
		script_event(OTHER, stamp, 1, LATER);
	assert_int_equal(why_count(WHY_DEAD_OWNER), 1);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_int_equal(why_judge()->base.certain, FINDING_POSSIBLE);
}

static void forget_hooks(void)
{
	script_cpu(0)->hooks = script_cpu(1)->hooks = 0;
}

/* The kernel has no lock hooks: the waiter records lock.contend and sleeps. */
static void events_without_hooks_are_likely(void **state)
{
	(void)state;
	forget_hooks();
	owner_takes(TAKEN);
	waiter_contends(2);
	owner_ends_at(ENDED);
	is_found(FINDING_LIKELY);
	why_says("this was concluded from events");
}

static void waiters_for_one_lock_are_one_finding(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 8; n++)
		waits(10 + n, WAITS + n * MS, OWNER);
	owner_takes(TAKEN);
	owner_ends_at(ENDED);
	is_found(FINDING_CERTAIN);
	assert_int_equal(why_judge()->actors, 9);
	why_says("  and 4 more");
}

/* ---- The owner has not ended, or does not hold the lock ------------------------------------------------ */

static void living_owner_is_not_reported(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER);
	owner_takes(TAKEN);
	why_holds(why_thread_row(OWNER, "owner", KTRX_THREAD_WAITING, 1), LOCK, TAKEN);
	is_silent();
}

static void owner_that_released_lock_is_not_reported(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER);
	owner_takes(TAKEN);
	script_event(RELEASE, TAKEN + 20 * MS, 1, OWNER, V(LOCK));
	owner_ends_at(ENDED);
	is_silent();
}

static void lock_with_later_holder_is_not_reported(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER);
	why_holds(why_thread_row(LATER, "later", KTRX_THREAD_WAITING, 0), LOCK, ENDED + MS);
	owner_takes(TAKEN);
	owner_ends_at(ENDED);
	is_silent();
}

static void later_wait_with_other_owner_refutes_finding(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER);
	waits(LATER, ENDED + 100 * MS, 8);
	why_thread_row(8, "third", KTRX_THREAD_WAITING, 0)->deadline = END + MS;
	owner_ends_at(ENDED);
	is_silent();
}

/*
 * The waiter first tried to take the lock before the owner ended, and still tries. The owner in the waiter's
 * table row may be from an earlier attempt.
 */
static void polling_thread_with_other_owner_refutes_finding(void **state)
{
	(void)state;
	waits(WAITER, WAITS, 8)->state = KTRX_THREAD_RUNNABLE;
	waits(LATER, WAITS + MS, OWNER);
	why_thread_row(8, "third", KTRX_THREAD_WAITING, 0)->deadline = END + MS;
	owner_ends_at(ENDED);
	is_silent();
}

static void wait_with_timeout_is_not_reported(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER)->deadline = END + 100 * MS;
	owner_takes(TAKEN);
	owner_ends_at(ENDED);
	is_silent();
}

static void owner_that_just_ended_is_not_reported(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER);
	owner_takes(TAKEN);
	owner_ends_at(END - 500 * MS);
	is_silent();
}

static void new_wait_is_not_reported(void **state)
{
	(void)state;
	waits(WAITER, END - 500 * MS, OWNER);
	owner_takes(TAKEN);
	owner_ends_at(ENDED);
	is_silent();
}

/* The thread did not get the lock, and then did other work. No hook shows that it still waits. */
static void thread_with_later_events_does_not_wait(void **state)
{
	(void)state;
	forget_hooks();
	owner_takes(TAKEN);
	waiter_contends(0);
	owner_ends_at(ENDED);
	is_silent();
}

/*
 * The kernel's locks call hooks, so table rows show which threads wait. The waiter's row shows no wait, so
 * its events are not used.
 */
static void row_without_wait_overrides_events(void **state)
{
	(void)state;
	why_thread_row(WAITER, "waiter", KTRX_THREAD_WAITING, 0)->deadline = END + MS;
	owner_takes(TAKEN);
	waiter_contends(2);
	owner_ends_at(ENDED);
	is_silent();
}

/* The waiter has ended, but it still has a table row. */
static void ended_waiter_is_not_reported(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER);
	owner_takes(TAKEN);
	script_event(SWITCH, 120 * MS, 0, IDLE, V(IDLE), V(WAITER), V(0));
	script_event(SWITCH, 130 * MS, 0, WAITER, V(WAITER), V(IDLE), V(4));
	owner_ends_at(ENDED);
	is_silent();
}

/* Several CPUs may run code with thread id 0. */
static void thread_0_does_not_end(void **state)
{
	(void)state;
	waits(WAITER, WAITS, 0);
	is_silent();
}

/* The trace contains all lock events of the owner, and none of them is about this lock. */
static void owner_that_never_took_lock_is_not_reported(void **state)
{
	(void)state;
	declare_locks();
	waits(WAITER, ENDED + 100 * MS, OWNER);
	script_event(ACQUIRE, TAKEN, 1, OWNER, V(LOCK + 8), V(PLACE));
	owner_ends_at(ENDED);
	is_silent();
}

static void panicked_machine_is_not_reported(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER);
	owner_takes(TAKEN);
	owner_ends_at(ENDED);
	script_type(PANIC, "ktrace", "panic", "string message");
	script_event(PANIC, ENDED + 10 * MS, 0, IDLE, "out of pages");
	is_silent();
}

static void reset_machine_is_not_reported(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER);
	owner_takes(TAKEN);
	owner_ends_at(ENDED);
	script_info()->note = "ended: the guest reset (or triple-faulted)\nreset: yes\n";
	is_silent();
}

/* The file is truncated, so the newest events are missing. */
static void trace_without_newest_events_is_not_reported(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER);
	owner_takes(TAKEN);
	owner_ends_at(ENDED);
	script_ring(1)->cut = 3;
	is_silent();
}

static void wait_without_start_or_lock_is_not_reported(void **state)
{
	(void)state;
	waits(WAITER, 0, OWNER);
	waits(LATER, WAITS, OWNER)->object = 0;
	owner_ends_at(ENDED);
	is_silent();
}

/* A new thread has the id of the owner. */
static void reused_owner_id_is_not_reported(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER);
	owner_ends_at(ENDED);
	why_thread_row(OWNER, "another", KTRX_THREAD_WAITING, 1)->deadline = END + MS;
	script_event(CREATE, ENDED + MS, 0, IDLE, V(OWNER));
	is_silent();
}

/*
 * The table row that shows the lock as held may belong to a later thread with the owner's id, which was
 * created in a gap of the trace.
 */
static void holding_row_after_gap_is_not_reported(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER);
	why_holds(why_thread_row(OWNER, "owner", KTRX_THREAD_WAITING, 1), LOCK, ENDED + 5 * MS);
	owner_ends_at(ENDED);
	script_event(OTHER, ENDED + 10 * MS, 1, IDLE)->lost = 3;
	is_silent();
}

/* The lock was taken before slots were lost, and its release may be in one of these slots. */
static void lock_taken_before_gap_is_not_certain(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER);
	owner_takes(TAKEN);
	script_event(OTHER, ENDED - 20 * MS, 1, OWNER)->lost = 3;
	owner_ends_at(ENDED);
	is_found(FINDING_POSSIBLE);
}

static void kernel_without_ends_of_threads_is_not_reported(void **state)
{
	(void)state;
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		script_cpu(cpu)->hooks &= ~KTRX_HOOK_EXIT;
	waits(WAITER, WAITS, OWNER);
	is_silent();
}

static void unknown_owner_is_not_reported(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER)->owner = 0;
	owner_ends_at(ENDED);
	is_silent();
}

static void cpu_as_owner_is_not_reported(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER)->owner = KTRX_HOLDER_CPU | 1;
	is_silent();
}

/*
 * A thread holds one more lock than its table row can name. The waiter may wait for the lock without a name
 * in the row.
 */
static void full_row_may_hold_lock(void **state)
{
	struct ktrx_holder *row = why_thread_row(LATER, "later", KTRX_THREAD_WAITING, 0);

	(void)state;
	for (uint64_t n = 0; n < KTRX_HELD; n++)
		why_holds(row, 0x3000 + n, MS);
	row->held_count++;
	waits(WAITER, ENDED + 100 * MS, OWNER);
	owner_ends_at(ENDED);
	is_silent();
}

static void machine_that_ended_well_is_not_reported(void **state)
{
	(void)state;
	waits(WAITER, WAITS, OWNER);
	owner_takes(TAKEN);
	owner_ends_at(ENDED);
	script_info()->outcome = KTRX_OUTCOME_EXITED;
	is_silent();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)
	const struct CMUnitTest tests[] = {
		TEST(owner_that_waits_itself_is_not_the_owner),
		TEST(lock_that_events_show_unreleased_is_certain),
		TEST(thread_that_ended_is_not_asleep),
		TEST(events_show_later_owner_than_row),
		TEST(lock_in_row_of_ended_owner_is_certain),
		TEST(owner_named_after_its_end_is_likely),
		TEST(owner_named_before_its_end_is_possible),
		TEST(owner_named_at_its_end_is_possible),
		TEST(owner_without_row_is_possible),
		TEST(advice_depends_on_what_is_missing),
		TEST(busy_verdict_becomes_only_possible),
		TEST(events_without_hooks_are_likely),
		TEST(waiters_for_one_lock_are_one_finding),
		TEST(living_owner_is_not_reported),
		TEST(owner_that_released_lock_is_not_reported),
		TEST(lock_with_later_holder_is_not_reported),
		TEST(later_wait_with_other_owner_refutes_finding),
		TEST(polling_thread_with_other_owner_refutes_finding),
		TEST(wait_with_timeout_is_not_reported),
		TEST(owner_that_just_ended_is_not_reported),
		TEST(new_wait_is_not_reported),
		TEST(thread_with_later_events_does_not_wait),
		TEST(row_without_wait_overrides_events),
		TEST(ended_waiter_is_not_reported),
		TEST(thread_0_does_not_end),
		TEST(owner_that_never_took_lock_is_not_reported),
		TEST(panicked_machine_is_not_reported),
		TEST(reset_machine_is_not_reported),
		TEST(trace_without_newest_events_is_not_reported),
		TEST(wait_without_start_or_lock_is_not_reported),
		TEST(reused_owner_id_is_not_reported),
		TEST(holding_row_after_gap_is_not_reported),
		TEST(lock_taken_before_gap_is_not_certain),
		TEST(kernel_without_ends_of_threads_is_not_reported),
		TEST(unknown_owner_is_not_reported),
		TEST(cpu_as_owner_is_not_reported),
		TEST(full_row_may_hold_lock),
		TEST(machine_that_ended_well_is_not_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
