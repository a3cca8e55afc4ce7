/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests that threads pause in exec and mmap until their owner wakes them, or until a time limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unit/support/hwt_support.h"

#define SECOND UINT64_C(1000000000)

static struct ktrace_hwt_owner owner;
static struct ktrace_hwt_context *context;
static struct hwt_process *target;
static struct hwt_thread *thread;

static void configure(uint32_t pauses, uint32_t timeout_ms)
{
	const struct ktrace_hwt_pausing pausing = { pauses, timeout_ms };
	const struct ktrace_hwt_config config = { 0 };
	uint32_t left_out;

	assert_int_equal(ktrace_hwt_configure(context, &config, &pausing, &left_out), KTRACE_OK);
	assert_int_equal(left_out, 0);
}

static void drain(void)
{
	struct proc_walk walk;

	hwt_take(context, &walk);
}

static int setup(void **state)
{
	hwt_reset(state);
	hwt_start();
	memset(&owner, 0, sizeof(owner));
	target = hwt_fork(7, 7);
	thread = &target->thread[0];
	context = hwt_trace(&owner, target);
	configure(KTRACE_HWT_PAUSE_EXEC | KTRACE_HWT_PAUSE_MMAP, 0);
	drain();
	return 0;
}

static int teardown(void **state)
{
	ktrace_hwt_owner_exit(&owner);
	ktrace_hwt_put(context);
	return hwt_check(state);
}

static void exec(void)
{
	ktrace_hwt_exec(&target->trace, &thread->trace, 0x1000, "/bin/true", 0);
}

static void map(struct hwt_thread *by)
{
	struct ktrx_hwt_image image = { 0x1000, 0x1000, 0, 5, 0 };

	ktrace_hwt_mmap(&target->trace, &by->trace, &image, "/lib/libm.so");
}

/* ---- Paused threads that are woken ------------------------------------------------------------- */

/*
 * Handles the n-th sleep of the paused thread: first tries to wake it too early, then reads the record of the
 * pause, then wakes the thread.
 */
static int listen(uint32_t n)
{
	hwt_kernel.now += 10;
	switch (n) {
	case 0:
		assert_int_equal(ktrace_hwt_wakeup(context), KTRACE_ERROR_STATE);
		return 0;
	case 1:
		drain();
		return 0;
	default:
		assert_int_equal(ktrace_hwt_wakeup(context), KTRACE_OK);
		assert_int_equal(ktrace_hwt_wakeup(context), KTRACE_ERROR_STATE);
		return 0;
	}
}

static void a_paused_thread_waits_for_its_release(void **state)
{
	(void)state;
	assert_int_equal(ktrace_hwt_wakeup(context), KTRACE_ERROR_STATE);
	hwt_kernel.in_sleep = listen;
	exec();
	assert_int_equal(hwt_kernel.sleeps, 3);
	assert_int_equal(hwt_kernel.now, 30);
	hwt_kernel.sleeps = 0;
	map(thread);
	assert_int_equal(hwt_kernel.sleeps, 3);
	assert_int_equal(ktrace_hwt_wakeup(context), KTRACE_ERROR_STATE);
}

/*
 * Does what hwt(8) does: reads the record of the pause, sets the filter, starts tracing, and wakes the
 * thread.
 */
static int look_set_and_start(uint32_t n)
{
	struct ktrace_hwt_config config = { .ranges = 1, .range = { { 0x1000, 0x2000 } } };
	uint32_t left_out;

	(void)n;
	drain();
	assert_int_equal(ktrace_hwt_configure(context, &config, NULL, &left_out), KTRACE_OK);
	assert_int_equal(ktrace_hwt_start(context), KTRACE_OK);
	assert_int_equal(ktrace_hwt_wakeup(context), KTRACE_OK);
	return 0;
}

static void a_trace_started_during_the_pause_has_the_first_instruction(void **state)
{
	struct ktrace_hwt_place place;

	(void)state;
	hwt_switch_in(thread, 1);
	hwt_kernel.cpu = 1;
	hwt_kernel.in_sleep = look_set_and_start;
	exec(); /* the thread is woken before it has slept, so there is no thread switch */
	assert_int_equal(hwt_kernel.sleeps, 1);
	assert_int_equal(ktrace_hwt_position(context, 0, &place), KTRACE_OK);
	assert_int_equal(place.enabled, 1);
	assert_int_equal(place.position, 64);
	hwt_switch_out(thread);
}

static struct hwt_thread *second;
static uint32_t depth;

/*
 * Pauses the second thread while the first one is paused. When the first thread is woken, the record of the
 * second thread has not been read yet.
 */
static int nested(uint32_t n)
{
	(void)n;
	if (depth++ == 0) {
		drain();
		map(second);
		return 0;
	}
	if (depth == 2) {
		assert_int_equal(ktrace_hwt_wakeup(context), KTRACE_OK);
		return 0;
	}
	drain();
	assert_int_equal(ktrace_hwt_wakeup(context), KTRACE_OK);
	return 0;
}

static void only_threads_whose_records_were_taken_are_released(void **state)
{
	(void)state;
	second = hwt_thread(target);
	drain();
	depth = 0;
	hwt_kernel.in_sleep = nested;
	map(thread);
	assert_int_equal(depth, 3);
	assert_int_equal(hwt_kernel.now, 0);
}

/* ---- Paused threads that nothing wakes --------------------------------------------------------- */

static void a_pause_times_out_without_a_reader(void **state)
{
	(void)state;
	exec();
	assert_int_equal(hwt_kernel.now, SECOND);
	map(thread);
	assert_int_equal(hwt_kernel.now, 2 * SECOND);
	configure(KTRACE_HWT_PAUSE_MMAP, 5);
	exec();
	assert_int_equal(hwt_kernel.now, 2 * SECOND);
	map(thread);
	assert_int_equal(hwt_kernel.now, 2 * SECOND + 5000000);
	configure(0, 5);
	map(thread);
	exec();
	assert_int_equal(hwt_kernel.now, 2 * SECOND + 5000000);
	ktrace_hwt_munmap(&target->trace, &thread->trace, 0, 1);
	ktrace_hwt_thread_name(&target->trace, &thread->trace, "name");
	assert_int_equal(hwt_kernel.now, 2 * SECOND + 5000000);
}

static int die(uint32_t n)
{
	(void)n;
	ktrace_hwt_owner_exit(&owner);
	assert_null(target->trace.context);
	return 0;
}

static void the_end_of_the_owner_ends_the_pause(void **state)
{
	(void)state;
	assert_int_equal(ktrace_hwt_start(context), KTRACE_OK);
	hwt_switch_in(thread, 0);
	hwt_kernel.in_sleep = die;
	exec();
	assert_int_equal(hwt_kernel.sleeps, 1);
	assert_int_equal(hwt_kernel.now, 0);
	assert_null(thread->trace.unit);
	hwt_switch_out(thread);
	exec();
	assert_int_equal(hwt_kernel.sleeps, 1);
	assert_int_equal(ktrace_hwt_wakeup(context), KTRACE_ERROR_STATE);
}

static int be_killed(uint32_t n)
{
	return n == 0;
}

static void a_kill_ends_the_pause(void **state)
{
	(void)state;
	hwt_kernel.in_sleep = be_killed;
	exec();
	assert_int_equal(hwt_kernel.sleeps, 1);
	assert_int_equal(hwt_kernel.now, 0);
	assert_int_equal(ktrace_hwt_wakeup(context), KTRACE_ERROR_STATE);
	hwt_exit(target);
}

/*
 * A thread waits for room in the queue of a context. During this wait, the owner of the context exits, and
 * the thread's record is dropped with the context.
 */
static void the_end_of_the_owner_ends_the_wait_for_room(void **state)
{
	(void)state;
	configure(0, 0);
	for (uint32_t i = 0; i < (KTRACE_HWT_QUEUE_MIN) / 56; i++)
		ktrace_hwt_munmap(&target->trace, &thread->trace, i, i);
	assert_int_equal(hwt_kernel.sleeps, 0);
	hwt_kernel.in_sleep = die;
	ktrace_hwt_munmap(&target->trace, &thread->trace, 1, 1);
	assert_int_equal(hwt_kernel.sleeps, 1);
	assert_int_equal(hwt_kernel.now, 0);
}

/* ---- Programs that gain privileges ------------------------------------------------------------- */

static void a_program_that_gains_rights_is_traced_only_by_the_superuser(void **state)
{
	struct hwt_process *user = hwt_fork(7, 7), *suid = hwt_fork(7, 7);
	struct ktrace_hwt_request request = hwt_request_thread(suid);
	struct ktrace_hwt_owner theirs = { 0 };
	struct ktrace_hwt_context *its = hwt_alloc(&theirs, user, &request);
	struct proc_walk walk;
	struct proc_seen seen;
	uint8_t bytes[256];
	uint32_t count;

	(void)state;
	assert_int_equal(ktrace_hwt_start(its), KTRACE_OK);
	hwt_switch_in(&suid->thread[0], 0);
	hwt_take(its, &walk);
	ktrace_hwt_exec(&suid->trace, &suid->thread[0].trace, 0, "/bin/su", 1);
	assert_null(suid->trace.context);
	assert_null(suid->thread[0].trace.unit);
	assert_int_equal(ktrace_hwt_records(its, bytes, sizeof(bytes), 9, 0, &count),
			 KTRACE_ERROR_NO_PROCESS);
	hwt_switch_out(&suid->thread[0]);
	assert_int_equal(ktrace_hwt_stop(its), KTRACE_OK);
	assert_int_equal(ktrace_hwt_start(its), KTRACE_ERROR_NO_PROCESS);
	ktrace_hwt_owner_exit(&theirs);
	ktrace_hwt_put(its);

	configure(0, 0); /* from here on, the context belongs to the superuser */
	ktrace_hwt_exec(&target->trace, &thread->trace, 0, "/bin/su", 1);
	hwt_take(context, &walk);
	proc_find(&walk, KTRX_HWT_EXECUTABLE, &seen);
	assert_non_null(target->trace.context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_paused_thread_waits_for_its_release, setup, teardown),
		cmocka_unit_test_setup_teardown(a_trace_started_during_the_pause_has_the_first_instruction,
						setup, teardown),
		cmocka_unit_test_setup_teardown(only_threads_whose_records_were_taken_are_released, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_pause_times_out_without_a_reader, setup, teardown),
		cmocka_unit_test_setup_teardown(the_end_of_the_owner_ends_the_pause, setup, teardown),
		cmocka_unit_test_setup_teardown(a_kill_ends_the_pause, setup, teardown),
		cmocka_unit_test_setup_teardown(the_end_of_the_owner_ends_the_wait_for_room, setup, teardown),
		cmocka_unit_test_setup_teardown(a_program_that_gains_rights_is_traced_only_by_the_superuser,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
