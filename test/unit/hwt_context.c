/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A context's life in both modes, from the request to the last byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/hwt_support.h"

static uint32_t count(struct ktrace_hwt_context *context, uint32_t type)
{
	struct proc_walk walk;
	struct proc_seen seen;
	uint32_t found = 0;

	hwt_take(context, &walk);
	while (proc_next(&walk, &seen))
		found += seen.type == type;
	assert_false(walk.torn);
	return found;
}

static void a_process_is_traced_thread_by_thread(void **state)
{
	struct ktrace_hwt_owner owner = { 0 };
	struct hwt_process *target, *other;
	struct ktrace_hwt_context *context;
	struct ktrace_hwt_place place;
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	hwt_start();
	target = hwt_fork(7, 7);
	other = hwt_fork(7, 7);
	context = hwt_trace(&owner, target);
	hwt_run(&target->thread[0]); /* not started: nothing */
	assert_int_equal(ktrace_hwt_position(context, 0, &place), KTRACE_OK);
	assert_int_equal(place.position, 0);
	assert_int_equal(ktrace_hwt_start(context), KTRACE_OK);
	hwt_run(&target->thread[0]);
	hwt_switch_in(&target->thread[0], 2);
	assert_int_equal(ktrace_hwt_position(context, 0, &place), KTRACE_OK);
	assert_int_equal(place.position, 128);
	assert_int_equal(place.enabled, 1);
	hwt_switch_out(&target->thread[0]);
	hwt_run(&other->thread[0]);
	assert_int_equal(ktrace_hwt_stop(context), KTRACE_OK);
	hwt_run(&target->thread[0]);
	assert_int_equal(ktrace_hwt_position(context, 0, &place), KTRACE_OK);
	assert_int_equal(place.position, 128);
	assert_int_equal(place.tid, target->thread[0].trace.tid);
	assert_int_equal(place.enabled, 0);
	assert_int_equal(((uint64_t *)ktrace_hwt_unit_buffer(context, 0)->base)[15], 120);

	hwt_take(context, &walk);
	proc_find(&walk, KTRX_HWT_THREAD_CREATE, &seen);
	assert_int_equal(walk.heads, 1);
	assert_int_equal(seen.pid, target->id.pid);
	assert_int_equal(seen.tid, target->thread[0].trace.tid);
	proc_find(&walk, KTRX_HWT_CONTEXT, &seen);
	assert_int_equal(proc_bits(seen.payload + 4, 1), KTRX_HWT_MODE_THREAD);
	assert_int_equal(proc_bits(seen.payload + 7, 1), KTRX_HWT_USER);
	assert_int_equal(proc_bits(seen.payload + 8, 4), target->id.pid);
	proc_find(&walk, KTRX_HWT_BUFFER, &seen);
	assert_int_equal(proc_bits(seen.payload, 8), 128);
	assert_false(proc_next(&walk, &seen));
	ktrace_hwt_release(context);
	ktrace_hwt_put(context);
}

static void cpus_are_traced_from_start_to_stop(void **state)
{
	struct ktrace_hwt_request request = hwt_request_cpus(0xa);
	struct ktrace_hwt_owner owner = { 0 };
	struct ktrace_hwt_context *context;
	struct ktrace_hwt_place place;

	(void)state;
	hwt_start();
	hwt_kernel.image[0] = (struct hwt_image){ KTRX_HWT_KERNEL, { .address = 0 }, "/boot/kernel" };
	context = hwt_alloc(&owner, hwt_first(), &request);
	assert_int_equal(count(context, KTRX_HWT_KERNEL), 1);
	assert_int_equal(ktrace_hwt_stop(context), KTRACE_ERROR_STATE);
	assert_int_equal(ktrace_hwt_start(context), KTRACE_OK);
	assert_int_equal(ktrace_hwt_start(context), KTRACE_ERROR_STATE);
	assert_int_equal(ktrace_hwt_position(context, 0, &place), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(ktrace_hwt_position(context, 3, &place), KTRACE_OK);
	assert_int_equal(place.enabled, 1);
	assert_int_equal(ktrace_hwt_stop(context), KTRACE_OK);
	assert_int_equal(ktrace_hwt_position(context, 1, &place), KTRACE_OK);
	assert_int_equal(place.enabled, 0);
	assert_int_equal(place.position, 64);
	assert_int_equal(count(context, KTRX_HWT_BUFFER), 2);
	ktrace_hwt_owner_exit(&owner);
	assert_int_equal(ktrace_hwt_start(context), KTRACE_ERROR_STATE);
	ktrace_hwt_put(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_process_is_traced_thread_by_thread, hwt_reset, hwt_check),
		cmocka_unit_test_setup_teardown(cpus_are_traced_from_start_to_stop, hwt_reset, hwt_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
