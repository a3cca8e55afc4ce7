/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests findings about thread switches in atomic context: how certain the findings are, and whether a switch
 * explains why threads wait for a lock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ktrx/slot.h"
#include "unit/support/script.h"
#include "unit/support/why_support.h"

#define V(value) ((uint64_t)(value))

#define IDLE0  1u
#define IDLE1  2u
#define WORKER 5u
#define LOCK   0xa000u
#define BROKEN (500 * MS)
#define LAST   (5000 * MS)

enum { OTHER = 1, ACQUIRE };

static struct ktrx_cpu *row;
static struct ktrx_holder *worker, *cpu0, *cpu1;

/*
 * CPU 1 holds a lock while it switches away from the worker, and still holds it at the end. Both CPUs have
 * heartbeats.
 */
static int begin(void **state)
{
	int error = why_setup(state);

	script_type(OTHER, "mine", "other", "");
	script_type(ACQUIRE, "lock", "acquire", "u64 lock");
	script_type(ACQUIRE + 1, "lock", "release", "u64 lock");
	script_thread(IDLE0, "idle/0");
	script_thread(IDLE1, "idle/1");
	script_info()->cpus = 2;
	cpu0 = why_cpu_row(0, KTRX_MODE_IDLE);
	cpu1 = why_cpu_row(1, KTRX_MODE_IDLE);
	for (uint32_t n = 0; n < 2; n++) {
		why_cpu_beats(n, 500, LAST);
		script_event(OTHER, LAST, n, IDLE0 + n);
	}
	row = script_cpu(1);
	row->broken = KTRX_BROKEN_SWITCH_LOCKED;
	row->broken_thread = WORKER;
	row->broken_object = LOCK;
	row->broken_stamp = row->switch_stamp = BROKEN;
	worker = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);
	why_waits(worker, KTRX_WAIT_EVENT, 0xb000, "work", BROKEN);
	why_holds(cpu1, LOCK, 400 * MS);
	return error;
}

static void cpu_0_spins(void)
{
	script_cpu(0)->mode = KTRX_MODE_KERNEL;
	script_cpu(0)->heartbeat_stamp = 1000 * MS;
	why_waits(cpu0, KTRX_WAIT_SPIN, LOCK, "aye", 1000 * MS);
}

static void expect(enum finding_certainty certain)
{
	assert_int_equal(why_count(WHY_SLEEP_IN_ATOMIC), 1);
	if (certain == FINDING_POSSIBLE) {
		why_says("sleep-in-atomic (possible)");
		return;
	}
	assert_int_equal(why_judge()->verdict, WHY_SLEEP_IN_ATOMIC);
	assert_int_equal(why_judge()->base.certain, certain);
}

static void sleep_with_lock_is_certain_if_cpu_spins_for_it(void **state)
{
	(void)state;
	cpu_0_spins();
	expect(FINDING_CERTAIN);
	why_says("thread 5 (worker) went to sleep on CPU 1 while it held spinlock aye");
	why_says("CPU 1 still holds that lock");
}

/* The CPU has released the lock since, so the CPU that spins may wait for another holder. */
static void sleep_with_lock_is_likely_if_the_lock_was_released(void **state)
{
	(void)state;
	cpu1->held_count = 0;
	cpu1->held[0].object = 0;
	cpu_0_spins();
	expect(FINDING_LIKELY);
}

/* The worker ended, and was switched out for the last time, at `stamp`. */
static void end_at(uint64_t stamp)
{
	script_type(ACQUIRE + 2, "sched", "switch", "u32 prev,u32 next,u8 state");
	script_event(ACQUIRE + 2, stamp, 1, WORKER, V(WORKER), V(IDLE1), V(4));
	worker->id = 0;
}

/* The recorded switch was the thread's last one. */
static void end_with_lock_is_called_an_end(void **state)
{
	(void)state;
	cpu_0_spins();
	end_at(BROKEN);
	expect(FINDING_CERTAIN);
	why_says("thread 5 (worker) ended on CPU 1 while it held spinlock aye");
}

/* After the recorded switch, the thread ran again. */
static void later_end_is_not_called_an_end(void **state)
{
	(void)state;
	cpu_0_spins();
	end_at(BROKEN + 1000 * MS);
	expect(FINDING_CERTAIN);
	why_says("thread 5 (worker) was switched out on CPU 1 while it held spinlock aye");
}

static void sleep_with_lock_is_likely_without_waiters(void **state)
{
	(void)state;
	expect(FINDING_LIKELY);
}

/* The memory of the lock was freed and reused for another lock. */
static void lock_held_by_thread_at_same_address_makes_finding_possible(void **state)
{
	(void)state;
	cpu_0_spins();
	why_holds(worker, LOCK, 3000 * MS);
	expect(FINDING_POSSIBLE);
	why_says("a lock at that address has been taken since");
}

static void lock_held_by_other_cpu_makes_finding_possible(void **state)
{
	(void)state;
	why_holds(cpu0, LOCK, 3000 * MS);
	expect(FINDING_POSSIBLE);
}

/*
 * After the recorded switch, the CPU released the lock and took it again. Since then, it may have switched
 * threads once more while it held the lock.
 */
static void lock_taken_again_makes_finding_likely(void **state)
{
	(void)state;
	cpu1->held[0].stamp = 3000 * MS;
	cpu_0_spins();
	expect(FINDING_LIKELY);
	why_says("CPU 1 has taken that lock again since");
}

static void events_show_later_holder_of_lock(void **state)
{
	(void)state;
	cpu1->held_count = 0;
	cpu1->held[0].object = 0;
	script_event(ACQUIRE, 3000 * MS, 0, IDLE0, V(LOCK));
	expect(FINDING_POSSIBLE);
}

/* Since CPU 1 took the lock, CPU 0 has taken and released a lock at the same address. */
static void events_show_that_lock_was_held_elsewhere_since(void **state)
{
	(void)state;
	script_event(ACQUIRE, 1000 * MS, 0, IDLE0, V(LOCK));
	script_event(ACQUIRE + 1, 1100 * MS, 0, IDLE0, V(LOCK));
	expect(FINDING_POSSIBLE);
	why_says("a lock at that address has been taken since");
}

/* CPU 1 has taken the lock again after CPU 0 released it. */
static void lock_held_elsewhere_before_it_was_taken_again_is_held(void **state)
{
	(void)state;
	cpu1->held[0].stamp = 3000 * MS;
	cpu_0_spins();
	script_event(ACQUIRE, 900 * MS, 0, IDLE0, V(LOCK));
	script_event(ACQUIRE + 1, 950 * MS, 0, IDLE0, V(LOCK));
	expect(FINDING_LIKELY);
	why_says("CPU 1 has taken that lock again since");
}

/*
 * The CPU made thousands of switches while it held a lock, according to its table row. No CPU waits for the
 * lock, so the lock is not really held.
 */
static void cpu_that_keeps_switching_misses_a_hook(void **state)
{
	(void)state;
	row->switch_stamp = 4000 * MS;
	expect(FINDING_POSSIBLE);
	why_says("a hook may be missing where the state ends");
}

static void preemption_count_that_never_drops_misses_a_hook(void **state)
{
	(void)state;
	row->broken = KTRX_BROKEN_SWITCH_PREEMPT;
	row->broken_object = 0;
	row->preempt = 1;
	expect(FINDING_LIKELY);
	why_teardown(NULL);
	begin(NULL);
	row->broken = KTRX_BROKEN_SWITCH_PREEMPT;
	row->broken_object = 0;
	row->preempt = 1;
	row->switch_stamp = 4000 * MS;
	expect(FINDING_POSSIBLE);
}

/* Two threads wait for each other. One of them went to sleep with preemption disabled, which some kernels allow. */
static void preemption_is_not_the_cause_of_a_deadlock(void **state)
{
	struct ktrx_holder *other = why_thread_row(6, "other", KTRX_THREAD_WAITING, 1);

	(void)state;
	row->broken = KTRX_BROKEN_SWITCH_PREEMPT;
	row->broken_object = 0;
	why_holds(worker, 0x5000, 20 * MS);
	why_waits(worker, KTRX_WAIT_LOCK, 0x6000, "bee", 30 * MS);
	why_holds(other, 0x6000, 20 * MS);
	why_waits(other, KTRX_WAIT_LOCK, 0x5000, "aye", 30 * MS);
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	assert_int_equal(why_count(WHY_SLEEP_IN_ATOMIC), 1);
}

static void preempted_thread_is_not_said_to_sleep(void **state)
{
	(void)state;
	worker->state = KTRX_THREAD_RUNNING;
	worker->wait = KTRX_WAIT_NONE;
	why_says("thread 5 (worker) was switched out on CPU 1 while it held spinlock");
}

/* A machine in which a lock was released twice may look healthy for long. */
static void mistake_with_a_lock_is_mentioned(void **state)
{
	(void)state;
	row->broken = KTRX_BROKEN_RELEASE;
	row->broken_pc = 0x77020;
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	why_says("thread 5 (worker) released lock 0xa000, which it did not hold, 4.50 s ago, at 0x77020: "
		 "ktrace check shows the events before it");
	why_teardown(NULL);
	begin(NULL);
	row->broken = KTRX_BROKEN_ACQUIRE;
	why_says("thread 5 (worker) took lock 0xa000, which it already held, 4.50 s ago");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)
	const struct CMUnitTest tests[] = {
		TEST(sleep_with_lock_is_certain_if_cpu_spins_for_it),
		TEST(sleep_with_lock_is_likely_if_the_lock_was_released),
		TEST(end_with_lock_is_called_an_end),
		TEST(later_end_is_not_called_an_end),
		TEST(sleep_with_lock_is_likely_without_waiters),
		TEST(lock_held_by_thread_at_same_address_makes_finding_possible),
		TEST(lock_held_by_other_cpu_makes_finding_possible),
		TEST(lock_taken_again_makes_finding_likely),
		TEST(events_show_later_holder_of_lock),
		TEST(events_show_that_lock_was_held_elsewhere_since),
		TEST(lock_held_elsewhere_before_it_was_taken_again_is_held),
		TEST(cpu_that_keeps_switching_misses_a_hook),
		TEST(preemption_count_that_never_drops_misses_a_hook),
		TEST(preemption_is_not_the_cause_of_a_deadlock),
		TEST(preempted_thread_is_not_said_to_sleep),
		TEST(mistake_with_a_lock_is_mentioned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
