/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests findings about locks of threads that have ended, in a kernel that gives the number of such a thread to
 * a new thread at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "unit/support/script.h"
#include "unit/support/why_support.h"

#define V(value) ((uint64_t)(value))

#define IDLE	   1u
#define WORKER	   6u /* the number of the thread that ends, and of the thread that is created after that */
#define OTHERS	   7u
#define LOCK	   0x2000u
#define OTHER_LOCK 0x3000u
#define PLACE	   0x77010u
#define TAKEN	   (100 * MS)
#define ENDED	   (200 * MS)
#define WAITS	   (300 * MS)
#define END	   (4000 * MS)

enum { OTHER = 1, SWITCH, EXIT, CONTEND, ACQUIRE, RELEASE };

static int begin(void **state)
{
	int error = why_setup(state);

	script_type(OTHER, "mine", "other", "");
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u32 state");
	script_type(EXIT, "sched", "exit", "u32 thread");
	script_type(CONTEND, "lock", "contend", "pointer lock,string name,string kind,u32 holder");
	script_type(ACQUIRE, "lock", "acquire", "pointer lock,pointer place");
	script_type(RELEASE, "lock", "release", "pointer lock");
	script_thread(IDLE, "idle");
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

static void runs(uint32_t cpu, uint32_t thread, uint64_t from, uint64_t to, unsigned state)
{
	script_event(SWITCH, from, cpu, IDLE, V(IDLE), V(thread), V(0));
	script_event(SWITCH, to, cpu, thread, V(thread), V(IDLE), V(state));
}

/*
 * A thread takes the lock and ends. A new thread with the same number waits for the lock, which has this name
 * in the events, or none.
 */
static struct ktrx_holder *lock_is_left_behind(const char *name)
{
	struct ktrx_holder *row = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 0);

	why_waits(row, KTRX_WAIT_LOCK, LOCK, name, WAITS);
	row->owner = WORKER + 1;
	runs(1, WORKER, TAKEN - MS, ENDED, 4);
	script_event(ACQUIRE, TAKEN, 1, WORKER, V(LOCK), V(PLACE));
	script_event(EXIT, ENDED - 1000, 1, WORKER, V(WORKER));
	runs(0, WORKER, WAITS - MS, WAITS + 1000, 1);
	script_event(CONTEND, WAITS, 0, WORKER, V(LOCK), name, "thread", V(WORKER));
	return row;
}

static void owner_is_an_earlier_thread(void)
{
	assert_int_equal(why_count(WHY_SELF_DEADLOCK), 0);
	assert_int_equal(why_judge()->verdict, WHY_DEAD_OWNER);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
}

static void lock_of_an_earlier_thread_is_not_a_self_deadlock(void **state)
{
	(void)state;
	lock_is_left_behind("cache");
	owner_is_an_earlier_thread();
	why_says(
		"thread 6 (worker) waits for lock cache (0x2000), whose owner, an earlier thread 6, has ended");
	why_says("thread 6 (worker) has waited 3.70 s for lock cache (0x2000)");
	why_says("an earlier thread 6 took it 3.90 s ago, at 0x77010, and did not release it");
	why_says("an earlier thread 6 ended 3.80 s ago");
}

static void lock_without_a_name_is_not_a_self_deadlock(void **state)
{
	(void)state;
	lock_is_left_behind("");
	owner_is_an_earlier_thread();
}

/* No event is left. The owner may be the thread itself, or an earlier thread with its number. */
static void owner_without_the_lock_in_its_row_is_only_likely(void **state)
{
	struct ktrx_holder *row = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_waits(row, KTRX_WAIT_LOCK, LOCK, "cache", WAITS);
	row->owner = WORKER + 1;
	assert_int_equal(why_judge()->verdict, WHY_SELF_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("neither the kernel's table nor an event shows that it took the lock; "
		 "an earlier owner with the same number may have ended");
}

/*
 * The thread holds more locks than its row has room for, so the row does not show whether it holds this lock.
 * An event shows that the thread took it.
 */
static void lock_beyond_the_room_of_the_row_is_a_self_deadlock(void **state)
{
	struct ktrx_holder *row = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 0);

	(void)state;
	for (uint64_t n = 0; n < KTRX_HELD; n++)
		why_holds(row, OTHER_LOCK + n * 64, WAITS - 2000);
	row->held_count++;
	why_waits(row, KTRX_WAIT_LOCK, LOCK, "cache", WAITS);
	row->owner = WORKER + 1;
	runs(0, WORKER, WAITS - MS, WAITS + 1000, 1);
	script_event(ACQUIRE, WAITS - 1000, 0, WORKER, V(LOCK), V(PLACE));
	assert_int_equal(why_judge()->verdict, WHY_SELF_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	assert_null(strstr(why_text(), "an earlier owner"));
}

/* A CPU does not end, so the owner is no earlier CPU with this number. */
static void cpu_that_is_named_as_the_owner_is_a_self_deadlock(void **state)
{
	struct ktrx_holder *row = why_cpu_row(0, KTRX_MODE_KERNEL);

	(void)state;
	why_waits(row, KTRX_WAIT_SPIN, LOCK, "cache", WAITS);
	row->owner = KTRX_HOLDER_CPU | 0;
	assert_int_equal(why_judge()->verdict, WHY_SELF_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	assert_null(strstr(why_text(), "an earlier owner"));
}

/* Another thread released the lock after the end of the thread that took it. */
static void lock_that_another_thread_released_has_no_dead_owner(void **state)
{
	(void)state;
	lock_is_left_behind("cache");
	runs(1, OTHERS, ENDED + 10 * MS, ENDED + 20 * MS, 1);
	script_event(RELEASE, ENDED + 15 * MS, 1, OTHERS, V(LOCK));
	assert_int_equal(why_count(WHY_DEAD_OWNER), 0);
}

/*
 * The kernel has a state 4 of its own, which does not mean that a thread has ended. Its table shows that the
 * thread still holds the lock.
 */
static void owner_whose_row_has_the_lock_has_not_ended(void **state)
{
	struct ktrx_holder *row = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_holds(row, LOCK, TAKEN);
	why_waits(row, KTRX_WAIT_EVENT, 0x9000, "disk", WAITS);
	runs(1, WORKER, TAKEN - MS, ENDED, 4);
	script_event(ACQUIRE, TAKEN, 1, WORKER, V(LOCK), V(PLACE));
	runs(0, WORKER, WAITS - MS, WAITS, 1);
	row = why_thread_row(OTHERS, "others", KTRX_THREAD_WAITING, 1);
	why_waits(row, KTRX_WAIT_LOCK, LOCK, "cache", WAITS);
	row->owner = WORKER + 1;
	runs(1, OTHERS, WAITS - MS, WAITS, 1);
	if (why_count(WHY_DEAD_OWNER))
		fail_msg("%s", why_text());
}

/* The new thread holds the lock: it took the lock itself, and waits for it now. */
static void lock_that_the_new_thread_took_is_a_self_deadlock(void **state)
{
	struct ktrx_holder *row = lock_is_left_behind("cache");

	(void)state;
	script_event(RELEASE, ENDED - 2000, 1, WORKER, V(LOCK));
	script_event(ACQUIRE, WAITS - 1000, 0, WORKER, V(LOCK), V(PLACE));
	why_holds(row, LOCK, WAITS - 1000);
	assert_int_equal(why_count(WHY_DEAD_OWNER), 0);
	assert_int_equal(why_judge()->verdict, WHY_SELF_DEADLOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lock_of_an_earlier_thread_is_not_a_self_deadlock, begin,
						why_teardown),
		cmocka_unit_test_setup_teardown(lock_without_a_name_is_not_a_self_deadlock, begin,
						why_teardown),
		cmocka_unit_test_setup_teardown(owner_without_the_lock_in_its_row_is_only_likely, begin,
						why_teardown),
		cmocka_unit_test_setup_teardown(lock_beyond_the_room_of_the_row_is_a_self_deadlock, begin,
						why_teardown),
		cmocka_unit_test_setup_teardown(cpu_that_is_named_as_the_owner_is_a_self_deadlock, begin,
						why_teardown),
		cmocka_unit_test_setup_teardown(lock_that_another_thread_released_has_no_dead_owner, begin,
						why_teardown),
		cmocka_unit_test_setup_teardown(owner_whose_row_has_the_lock_has_not_ended, begin,
						why_teardown),
		cmocka_unit_test_setup_teardown(lock_that_the_new_thread_took_is_a_self_deadlock, begin,
						why_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
