/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests how contexts of hardware trace work in both modes, from the request to the last byte of trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unit/support/hwt_support.h"

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
	hwt_run(&target->thread[0]); /* tracing has not started yet, so nothing is traced */
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

/* ---- A target can have only one context -------------------------------------------------------- */

static int try(struct ktrace_hwt_owner *owner, const struct ktrace_hwt_request *request)
{
	uint32_t ident;

	return ktrace_hwt_alloc(owner, &hwt_first()->trace, request, &ident);
}

static void a_process_has_one_context(void **state)
{
	struct ktrace_hwt_owner one = { 0 }, two = { 0 };
	struct ktrace_hwt_request request;
	struct ktrace_hwt_context *context;

	(void)state;
	hwt_start();
	request = hwt_request_thread(hwt_fork(7, 7));
	context = hwt_alloc(&one, hwt_first(), &request);
	assert_int_equal(try(&two, &request), KTRACE_ERROR_EXIST);
	assert_int_equal(try(&one, &request), KTRACE_ERROR_EXIST);
	ktrace_hwt_release(context);
	assert_int_equal(try(&two, &request), KTRACE_OK);
	ktrace_hwt_owner_exit(&one);
	ktrace_hwt_owner_exit(&two);
	ktrace_hwt_put(context);
}

static void a_cpu_has_one_context_of_each_backend(void **state)
{
	static struct ktrace_hwt_backend second;
	struct ktrace_hwt_request low = hwt_request_cpus(3), high = hwt_request_cpus(12),
				  across = hwt_request_cpus(6);
	struct ktrace_hwt_request thread = hwt_request_thread(hwt_first());
	struct ktrace_hwt_owner owner = { 0 };

	(void)state;
	hwt_start();
	hwt_mock_make(&second, 64);
	second.name = "second";
	assert_int_equal(ktrace_hwt_add(&second), KTRACE_OK);
	assert_int_equal(try(&owner, &low), KTRACE_OK);
	assert_int_equal(try(&owner, &high), KTRACE_OK);
	assert_int_equal(try(&owner, &across), KTRACE_ERROR_EXIST);
	/* refused: another context traces a CPU on which the thread may run */
	assert_int_equal(try(&owner, &thread), KTRACE_ERROR_EXIST);
	memcpy(thread.backend, "second", 7);
	assert_int_equal(try(&owner, &thread), KTRACE_OK);
	memcpy(across.backend, "second", 7);
	assert_int_equal(try(&owner, &across), KTRACE_ERROR_EXIST);
	ktrace_hwt_owner_exit(&owner);
	assert_int_equal(try(&owner, &across), KTRACE_OK);
	ktrace_hwt_owner_exit(&owner);
}

/* ---- The end of a context ---------------------------------------------------------------------- */

static int error_meanwhile;

static void try_to_have_cpus(void)
{
	const struct ktrace_hwt_request cpus = hwt_request_cpus(4);
	struct ktrace_hwt_owner owner = { 0 };

	hwt_kernel.after_on_cpu = NULL;
	error_meanwhile = try(&owner, &cpus);
	ktrace_hwt_owner_exit(&owner);
}

/* At this time, one unit of the context is disabled, and the other one is still enabled. */
static void cpus_are_free_when_all_units_are_off(void **state)
{
	struct ktrace_hwt_owner owner = { 0 };
	struct hwt_process *process;
	struct ktrace_hwt_context *context;

	(void)state;
	hwt_start();
	process = hwt_fork(7, 7);
	hwt_thread(process);
	context = hwt_trace(&owner, process);
	assert_int_equal(ktrace_hwt_start(context), KTRACE_OK);
	hwt_switch_in(&process->thread[0], 0);
	hwt_switch_in(&process->thread[1], 1);
	hwt_kernel.after_on_cpu = try_to_have_cpus;
	ktrace_hwt_release(context);
	assert_null(hwt_kernel.after_on_cpu);
	assert_int_equal(error_meanwhile, KTRACE_ERROR_EXIST);
	try_to_have_cpus();
	assert_int_equal(error_meanwhile, KTRACE_OK);
	hwt_switch_out(&process->thread[0]);
	hwt_switch_out(&process->thread[1]);
	ktrace_hwt_put(context);
}

static void a_reference_keeps_only_the_buffers(void **state)
{
	const struct ktrace_hwt_config config = { 0 };
	struct ktrace_hwt_owner owner = { 0 };
	struct hwt_process *target;
	struct ktrace_hwt_context *context;
	struct ktrace_hwt_place place;
	uint32_t ident, left_out;

	(void)state;
	hwt_start();
	target = hwt_fork(7, 7);
	context = hwt_trace(&owner, target);
	ident = 1;
	assert_int_equal(ktrace_hwt_start(context), KTRACE_OK);
	hwt_switch_in(&target->thread[0], 1);
	ktrace_hwt_owner_exit(&owner);
	assert_null(owner.first);
	assert_null(ktrace_hwt_get(ident));
	assert_null(target->trace.context);
	hwt_switch_out(&target->thread[0]);
	assert_int_equal(ktrace_hwt_position(context, 0, &place), KTRACE_OK);
	assert_int_equal(place.position, 64);
	assert_int_equal(((uint64_t *)ktrace_hwt_unit_buffer(context, 0)->base)[7], 56);
	assert_int_equal(ktrace_hwt_start(context), KTRACE_ERROR_STATE);
	assert_int_equal(ktrace_hwt_stop(context), KTRACE_ERROR_STATE);
	assert_int_equal(ktrace_hwt_configure(context, &config, NULL, &left_out), KTRACE_ERROR_STATE);
	ktrace_hwt_release(context); /* releasing a context twice is no error */
	ktrace_hwt_put(context);
}

static void an_owner_may_have_many_contexts(void **state)
{
	struct ktrace_hwt_owner owner = { 0 };
	struct ktrace_hwt_context *context[HWT_PROCESSES - 1];

	(void)state;
	hwt_start();
	for (uint32_t i = 0; i < HWT_PROCESSES - 1; i++) {
		context[i] = hwt_trace(&owner, hwt_fork(7, 7));
		assert_int_equal(ktrace_hwt_start(context[i]), KTRACE_OK);
	}
	ktrace_hwt_release(context[3]); /* this context is in the middle of the owner's list */
	hwt_run(&hwt_kernel.process[3].thread[0]);
	ktrace_hwt_owner_exit(&owner);
	for (uint32_t i = 0; i < HWT_PROCESSES - 1; i++)
		ktrace_hwt_put(context[i]);
}

/* Makes each allocation fail in turn. Everything must be freed, and the next request must succeed. */
static void a_failed_allocation_leaks_nothing(void **state)
{
	struct ktrace_hwt_owner owner = { 0 };
	struct ktrace_hwt_request requests[2];
	struct hwt_process *target;

	(void)state;
	hwt_start();
	target = hwt_fork(7, 7);
	hwt_thread(target);
	requests[0] = hwt_request_thread(target);
	requests[1] = hwt_request_cpus(7);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t n;

		for (n = 0; hwt_kernel.allocations_left = n, try(&owner, &requests[i]) != KTRACE_OK; n++) {
			assert_null(owner.first);
			assert_null(target->trace.context);
			hwt_kernel.allocations_left = -1;
			assert_int_equal(hwt_check(state), 0);
		}
		/* a request needs this many allocations: for the context, its queue and its units */
		assert_int_equal(n, i == 0 ? 4 : 5);
		ktrace_hwt_owner_exit(&owner);
		hwt_kernel.allocations_left = -1;
		for (n = 0; hwt_kernel.buffers_left = n, try(&owner, &requests[i]) != KTRACE_OK; n++) {
			assert_null(owner.first);
			assert_int_equal(hwt_check(state), 0);
		}
		assert_int_equal(n, i == 0 ? 2 : 3);
		ktrace_hwt_owner_exit(&owner);
		hwt_kernel.buffers_left = -1;
	}
}

/* ---- Configuration of a context ---------------------------------------------------------------- */

static int configure(struct ktrace_hwt_context *context, struct ktrace_hwt_config config, uint32_t *left_out)
{
	return ktrace_hwt_configure(context, &config, NULL, left_out);
}

static void configure_accepts_what_the_backend_supports(void **state)
{
	struct ktrace_hwt_request request = hwt_request_cpus(1);
	struct ktrace_hwt_config good = { 0 }, bad;
	struct ktrace_hwt_pausing pausing = { 4, 0 };
	struct ktrace_hwt_owner owner = { 0 };
	struct ktrace_hwt_context *process, *cpu;
	uint32_t left_out = 77;

	(void)state;
	hwt_start();
	process = hwt_trace(&owner, hwt_fork(7, 7));
	assert_int_equal(configure(process, good, &left_out), KTRACE_OK);
	assert_int_equal(left_out, 0);
	/* refused even for the superuser: kernel code is only traced in CPU mode */
	bad = good, bad.level = KTRX_HWT_KERNEL_LEVEL;
	assert_int_equal(configure(process, bad, &left_out), KTRACE_ERROR_ARGUMENT);
	bad = good, bad.flags = 1u << 10;
	assert_int_equal(configure(process, bad, &left_out), KTRACE_ERROR_ARGUMENT);
	bad = good, bad.ranges = 5;
	assert_int_equal(configure(process, bad, &left_out), KTRACE_ERROR_ARGUMENT);
	bad = good, bad.ranges = 1;
	assert_int_equal(configure(process, bad, &left_out), KTRACE_ERROR_ARGUMENT); /* the range is empty */
	assert_int_equal(ktrace_hwt_configure(process, &good, &pausing, &left_out), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(ktrace_hwt_start(process), KTRACE_OK);
	assert_int_equal(configure(process, good, &left_out), KTRACE_ERROR_STATE);
	ktrace_hwt_release(process);
	cpu = hwt_alloc(&owner, hwt_first(), &request);
	good.level = KTRX_HWT_USER | KTRX_HWT_KERNEL_LEVEL;
	assert_int_equal(configure(cpu, good, &left_out), KTRACE_OK);
	good.level = 4;
	assert_int_equal(configure(cpu, good, &left_out), KTRACE_ERROR_ARGUMENT);
	hwt_mock.levels = KTRX_HWT_USER; /* this backend cannot distinguish exception levels */
	good.level = 0;
	assert_int_equal(configure(cpu, good, &left_out), KTRACE_ERROR_ARGUMENT);
	ktrace_hwt_owner_exit(&owner);
	ktrace_hwt_put(process);
	ktrace_hwt_put(cpu);
}

/*
 * A range without mapped code is accepted, because code may be mapped there later. Ranges beyond the number
 * that the hardware supports are left out.
 */
static void ranges_beyond_the_hardware_are_left_out(void **state)
{
	struct ktrace_hwt_config config = {
		.ranges = 3,
		.range = { { 0x1000, 0x1001 }, { UINT64_MAX - 1, UINT64_MAX }, { 0x5000, 0x6000 } }
	};
	struct ktrace_hwt_owner owner = { 0 };
	struct ktrace_hwt_context *context;
	struct proc_walk walk;
	struct proc_seen seen;
	uint32_t left_out;

	(void)state;
	hwt_start();
	context = hwt_trace(&owner, hwt_fork(7, 7));
	assert_int_equal(configure(context, config, &left_out), KTRACE_OK);
	assert_int_equal(left_out, 1);
	assert_int_equal(ktrace_hwt_start(context), KTRACE_OK);
	hwt_take(context, &walk);
	proc_find(&walk, KTRX_HWT_CONTEXT, &seen);
	assert_int_equal(seen.size, 80);
	assert_int_equal(proc_bits(seen.payload + 12, 4), 2);
	assert_int_equal(proc_bits(seen.payload + 16, 8), 0x1000);
	assert_int_equal(proc_bits(seen.payload + 40, 8), UINT64_MAX);
	assert_int_equal(proc_bits(seen.payload + 48, 8), 0); /* the third range is not in the record */
	ktrace_hwt_owner_exit(&owner);
	ktrace_hwt_put(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_process_is_traced_thread_by_thread, hwt_reset, hwt_check),
		cmocka_unit_test_setup_teardown(cpus_are_traced_from_start_to_stop, hwt_reset, hwt_check),
		cmocka_unit_test_setup_teardown(a_process_has_one_context, hwt_reset, hwt_check),
		cmocka_unit_test_setup_teardown(a_cpu_has_one_context_of_each_backend, hwt_reset, hwt_check),
		cmocka_unit_test_setup_teardown(cpus_are_free_when_all_units_are_off, hwt_reset, hwt_check),
		cmocka_unit_test_setup_teardown(a_reference_keeps_only_the_buffers, hwt_reset, hwt_check),
		cmocka_unit_test_setup_teardown(an_owner_may_have_many_contexts, hwt_reset, hwt_check),
		cmocka_unit_test_setup_teardown(a_failed_allocation_leaks_nothing, hwt_reset, hwt_check),
		cmocka_unit_test_setup_teardown(configure_accepts_what_the_backend_supports, hwt_reset,
						hwt_check),
		cmocka_unit_test_setup_teardown(ranges_beyond_the_hardware_are_left_out, hwt_reset,
						hwt_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
