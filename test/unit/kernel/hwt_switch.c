/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests that a thread switch enables and disables units, on any CPU, and only for the traced target. Also
 * tests threads that are made and exit, hardware that reports errors, and full buffers. The fake kernel
 * checks that the switch neither sleeps nor wakes a thread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/hwt/hwt.h"
#include "test/fake/machine.h"
#include "unit/support/hwt_support.h"

static struct ktrace_hwt_backend_operations operations;
static struct ktrace_hwt_owner owner;
static struct ktrace_hwt_context *context;
static struct hwt_process *target;
static struct hwt_thread *thread;

static int setup(void **state)
{
	hwt_reset(state);
	hwt_start();
	operations = *hwt_mock.operations;
	hwt_mock.operations = &operations;
	memset(&owner, 0, sizeof(owner));
	target = hwt_fork(7, 7);
	thread = &target->thread[0];
	context = hwt_trace(&owner, target);
	assert_int_equal(ktrace_hwt_start(context), KTRACE_OK);
	return 0;
}

static int teardown(void **state)
{
	ktrace_hwt_owner_exit(&owner);
	ktrace_hwt_put(context);
	return hwt_check(state);
}

static struct ktrace_hwt_place place_of(uint32_t unit)
{
	struct ktrace_hwt_place place;

	assert_int_equal(ktrace_hwt_position(context, unit, &place), KTRACE_OK);
	return place;
}

static uint32_t count(uint32_t type)
{
	struct proc_walk walk;
	struct proc_seen seen;
	uint32_t found = 0;

	hwt_take(context, &walk);
	while (proc_next(&walk, &seen))
		found += seen.type == type;
	return found;
}

/* ---- Threads ----------------------------------------------------------------------------------- */

static void two_threads_run_at_once(void **state)
{
	struct hwt_thread *other = hwt_thread(target);

	(void)state;
	hwt_switch_in(thread, 1);
	hwt_switch_in(other, 3);
	assert_int_equal(place_of(0).enabled, 1);
	assert_int_equal(place_of(1).enabled, 1);
	assert_int_equal(place_of(1).tid, other->trace.tid);
	hwt_switch_out(thread);
	hwt_switch_in(thread, 2);
	assert_int_equal(ktrace_hwt_stop(context), KTRACE_OK);
	assert_int_equal(place_of(0).position, 128);
	assert_int_equal(place_of(1).position, 64);
	hwt_switch_out(thread);
	hwt_switch_out(other);
	assert_int_equal(place_of(0).position, 128);
}

static void another_process_is_not_traced(void **state)
{
	struct hwt_process *other = hwt_fork(7, 7);

	(void)state;
	operations.enable = NULL; /* from here on, a call of enable() crashes the test */
	hwt_run(&other->thread[0]);
	hwt_thread(other);
	hwt_exit(other);
	assert_int_equal(place_of(0).position, 0);
}

static void a_thread_may_end_at_any_time(void **state)
{
	struct hwt_thread *other = hwt_thread(target);
	uint32_t before;

	(void)state;
	hwt_switch_in(other, 2);
	count(0);
	hwt_thread_exit(target, other);
	assert_int_equal(place_of(1).enabled, 0);
	assert_int_equal(place_of(1).position, 64);
	assert_int_equal(count(KTRX_HWT_BUFFER), 1);
	before = context->units;
	other = hwt_thread(target);
	assert_int_equal(other->trace.unit->index, before);
	assert_int_equal(count(KTRX_HWT_THREAD_CREATE), 1);
	hwt_exit(target);
	assert_int_equal(ktrace_hwt_stop(context), KTRACE_OK);
	assert_int_equal(ktrace_hwt_start(context), KTRACE_ERROR_NO_PROCESS);
	assert_non_null(ktrace_hwt_unit_buffer(context, 1));
}

static void preempt(void)
{
	static bool preempted;

	preempted = !preempted; /* if hwt_switch_in() below calls this function again, it does nothing */
	if (!preempted || !thread->on)
		return;
	hwt_switch_out(thread);
	hwt_switch_in(thread, 3);
}

/*
 * While a thread exits, it is preempted after its unit was disabled. It runs again before its exit is
 * complete.
 */
static void a_thread_that_ends_is_not_enabled_again(void **state)
{
	(void)state;
	hwt_switch_in(thread, 2);
	hwt_kernel.after_on_cpu = preempt;
	hwt_thread_exit(target, thread);
	hwt_kernel.after_on_cpu = NULL;
	assert_int_equal(place_of(0).enabled, 0);
	assert_int_equal(place_of(0).position, 64);
}

static void a_thread_without_a_buffer_is_reported(void **state)
{
	struct proc_walk walk;
	struct proc_seen seen;
	struct hwt_thread *poor;

	(void)state;
	count(0);
	hwt_kernel.buffers_left = 0;
	poor = hwt_thread(target);
	hwt_run(poor);
	hwt_take(context, &walk);
	proc_find(&walk, KTRX_HWT_THREAD_CREATE, &seen);
	assert_int_equal(seen.tid, poor->trace.tid);
	assert_int_equal(proc_bits(seen.payload, 4), KTRX_HWT_NO_UNIT);
	assert_int_equal(ktrace_hwt_stop(context), KTRACE_OK);
	assert_int_equal(ktrace_hwt_start(context), KTRACE_ERROR_MEMORY);
	hwt_kernel.buffers_left = -1;
	/* there is memory again, so the thread gets a unit */
	assert_int_equal(ktrace_hwt_start(context), KTRACE_OK);
	hwt_run(poor);
	assert_int_equal(place_of(1).position, 64);
}

/* ---- Address spaces ---------------------------------------------------------------------------- */

static uint64_t configured_space;

static int configure_and_note(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit,
			      const struct ktrace_hwt_config *config)
{
	(void)backend;
	assert_int_equal(unit->enabled, 0);
	configured_space = config->space;
	return KTRACE_OK;
}

static void the_filter_follows_into_another_address_space(void **state)
{
	(void)state;
	operations.configure = configure_and_note;
	hwt_switch_in(thread, 2);
	hwt_kernel.cpu = 2;
	target->space = 0xabc000;
	ktrace_hwt_exec(&target->trace, &thread->trace, 0, "/bin/true", 0);
	assert_int_equal(configured_space, 0xabc000);
	assert_int_equal(place_of(0).enabled, 1); /* exec disabled the unit and enabled it again */
	assert_int_equal(place_of(0).position, 128);
	hwt_switch_out(thread);
}

/* The owner can filter by address space without knowing the address space of the process. */
static void the_filter_has_the_address_space_from_the_start(void **state)
{
	const struct ktrace_hwt_config config = { .flags = KTRACE_HWT_SPACE };
	uint32_t left_out;

	(void)state;
	assert_int_equal(ktrace_hwt_stop(context), KTRACE_OK);
	operations.configure = configure_and_note;
	assert_int_equal(ktrace_hwt_configure(context, &config, NULL, &left_out), KTRACE_OK);
	assert_int_equal(configured_space, target->space);
}

static int refuse_that_space(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit,
			     const struct ktrace_hwt_config *config)
{
	(void)backend;
	(void)unit;
	return config->space == 0xbad000 ? KTRACE_ERROR_ARGUMENT : KTRACE_OK;
}

static void a_rejected_address_space_is_a_temporary_loss(void **state)
{
	(void)state;
	operations.configure = refuse_that_space;
	target->space = 0xbad000;
	ktrace_hwt_exec(&target->trace, &thread->trace, 0, "/bin/true", 0);
	hwt_run(thread);
	assert_int_equal(place_of(0).position, 0);
	assert_int_equal(place_of(0).lost, 1);
	target->space = 0xabc000;
	assert_int_equal(ktrace_hwt_stop(context), KTRACE_OK);
	assert_int_equal(ktrace_hwt_start(context), KTRACE_OK);
	hwt_run(thread);
	assert_int_equal(place_of(0).position, 64);
}

/* ---- The hardware ------------------------------------------------------------------------------ */

static int refuse(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	(void)backend;
	(void)unit;
	return cpu == 1 ? KTRACE_ERROR_DEVICE : KTRACE_OK;
}

static int refuse_always(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	(void)backend;
	(void)unit;
	(void)cpu;
	return KTRACE_ERROR_DEVICE;
}

static int refuse_cpu(struct ktrace_hwt_backend *backend, uint32_t cpu)
{
	(void)backend;
	return cpu == 1 ? KTRACE_ERROR_DEVICE : KTRACE_OK;
}

static void failures_to_enable_or_disable_count_as_losses(void **state)
{
	(void)state;
	operations.enable = refuse;
	hwt_switch_in(thread, 1);
	assert_int_equal(place_of(0).enabled, 0);
	assert_int_equal(place_of(0).lost, 1);
	hwt_switch_out(thread);
	hwt_switch_in(thread, 2);
	assert_int_equal(place_of(0).lost, 1);
	hwt_switch_out(thread);
	operations.cpu_init = refuse_cpu;
	memset(hwt_mock.cpu_ready, 0, sizeof(hwt_mock.cpu_ready));
	hwt_switch_in(thread, 1);
	assert_int_equal(place_of(0).lost, 2);
	hwt_switch_out(thread);
	operations.disable = refuse_always;
	hwt_switch_in(thread, 3);
	hwt_switch_out(thread);
	assert_int_equal(place_of(0).lost, 3);
	assert_int_equal(place_of(0).enabled, 0);
}

static uint32_t abandoned;

static void note_abandoned(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	(void)backend;
	assert_int_equal(unit->enabled, cpu + 1);
	abandoned++;
}

static void a_unit_of_an_absent_cpu_is_abandoned(void **state)
{
	(void)state;
	abandoned = 0;
	operations.abandon = note_abandoned;
	hwt_switch_in(thread, 2);
	hwt_kernel.absent = 4;
	assert_int_equal(ktrace_hwt_stop(context), KTRACE_OK);
	assert_int_equal(place_of(0).enabled, 0);
	assert_int_equal(place_of(0).lost, 1);
	assert_int_equal(abandoned, 1);
	assert_int_equal(hwt_mock.cpu_ready[2], 0); /* before the CPU comes online again, it is reset */
	thread->on = 0;
}

static void a_cpu_that_fails_to_enable_stops_the_start(void **state)
{
	struct ktrace_hwt_request request = hwt_request_cpus(3);
	struct ktrace_hwt_owner another = { 0 };
	struct ktrace_hwt_context *cpus;
	struct ktrace_hwt_place place;

	(void)state;
	ktrace_hwt_release(context);
	cpus = hwt_alloc(&another, hwt_first(), &request);
	operations.enable = refuse;
	assert_int_equal(ktrace_hwt_start(cpus), KTRACE_ERROR_DEVICE);
	assert_int_equal(ktrace_hwt_position(cpus, 0, &place), KTRACE_OK);
	assert_int_equal(place.enabled, 0);
	assert_int_equal(ktrace_hwt_stop(cpus), KTRACE_ERROR_STATE);
	ktrace_hwt_owner_exit(&another);
	ktrace_hwt_put(cpus);
}

/* ---- Full buffers and interrupts --------------------------------------------------------------- */

static void restart_stopping(void)
{
	const struct ktrace_hwt_config config = { .flags = KTRACE_HWT_STOP };
	uint32_t left_out;

	assert_int_equal(ktrace_hwt_stop(context), KTRACE_OK);
	assert_int_equal(ktrace_hwt_configure(context, &config, NULL, &left_out), KTRACE_OK);
	assert_int_equal(ktrace_hwt_start(context), KTRACE_OK);
	count(0);
}

static void a_full_buffer_waits_for_service(void **state)
{
	(void)state;
	restart_stopping();
	for (uint32_t i = 0; i < 70; i++)
		hwt_run(thread);
	assert_int_equal(place_of(0).position, 4096);
	assert_int_equal(place_of(0).full, 1);
	assert_true(place_of(0).lost > 0);
	/* the thread switch cannot make this record, so ktrace_hwt_records() makes it */
	assert_int_equal(count(KTRX_HWT_BUFFER), 1);
	assert_int_equal(count(KTRX_HWT_BUFFER), 0);
	assert_int_equal(ktrace_hwt_service(context, 0, 4097), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(ktrace_hwt_service(context, 7, 0), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(ktrace_hwt_service(context, 0, 4096), KTRACE_OK);
	assert_int_equal(place_of(0).full, 0);
	hwt_run(thread);
	assert_int_equal(place_of(0).position, 4096 + 64);
}

static void a_unit_is_served_where_it_runs(void **state)
{
	(void)state;
	restart_stopping();
	for (uint32_t i = 0; i < 63; i++)
		hwt_run(thread);
	hwt_switch_in(thread, 3);
	hwt_mock_run(thread->trace.unit, 128); /* makes more bytes than fit into the buffer */
	assert_int_equal(place_of(0).full, 1);
	assert_int_equal(ktrace_hwt_service(context, 0, 4096), KTRACE_OK);
	assert_int_equal(place_of(0).full, 0);
	assert_int_equal(place_of(0).enabled, 1);
	hwt_switch_out(thread);
	assert_int_equal(place_of(0).position, 4096 + 64);
}

static int finish_configuring(uint32_t n)
{
	assert_int_equal(n, 0);
	assert_int_equal(place_of(0).full, 1);
	ktrace_hwt_control_unlock(context);
	return 0;
}

/* Two operations of a backend on the same unit never run at the same time. */
static void service_waits_for_a_configuration(void **state)
{
	(void)state;
	restart_stopping();
	for (uint32_t i = 0; i < 70; i++)
		hwt_run(thread);
	assert_int_equal(ktrace_hwt_control_lock(context), KTRACE_OK);
	hwt_kernel.in_sleep = finish_configuring;
	assert_int_equal(ktrace_hwt_service(context, 0, 4096), KTRACE_OK);
	assert_int_equal(hwt_kernel.sleeps, 1);
	hwt_kernel.in_sleep = NULL;
	ktrace_hwt_release(context);
	assert_int_equal(ktrace_hwt_service(context, 0, 4096), KTRACE_ERROR_STATE);
}

static int always(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	(void)backend;
	assert_int_equal(unit->enabled, cpu + 1);
	unit->position += 8;
	return 1;
}

static int interrupt(uint32_t cpu)
{
	uint32_t before = hwt_kernel.cpu;
	int any;

	hwt_kernel.cpu = cpu;
	hwt_kernel.interrupts_off = true;
	any = ktrace_hwt_interrupt();
	hwt_kernel.interrupts_off = false;
	hwt_kernel.cpu = before;
	return any;
}

static void an_interrupt_wakes_a_waiting_reader(void **state)
{
	uint32_t wakes;

	(void)state;
	operations.interrupt = always;
	count(0);
	assert_int_equal(interrupt(1), 0);
	hwt_switch_in(thread, 1);
	assert_int_equal(interrupt(0), 0);
	wakes = hwt_kernel.wakes;
	assert_int_equal(interrupt(1), 1);
	assert_true(hwt_kernel.wakes > wakes);
	assert_int_equal(count(KTRX_HWT_BUFFER), 1);
	hwt_switch_out(thread);
	assert_int_equal(interrupt(1), 0);
}

static uint64_t renewed;

static void renew(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	assert_ptr_equal(backend, &hwt_mock);
	assert_int_equal(unit->enabled, 2);
	assert_int_equal(renewed, 0);
	renewed = fake.clock;
}

static void the_time_is_renewed_after_a_record_of_other_code(void **state)
{
	struct ktrx_hwt_image image = { 0x5000, 0x2000, 0, 5, 0 };
	struct proc_walk walk;
	struct proc_seen seen;
	uint32_t found = 0;

	(void)state;
	operations.renew = renew;
	fake.step = 1;
	renewed = 0;
	hwt_switch_in(thread, 1);
	assert_int_equal(renewed, 0);
	hwt_kernel.cpu = 1;
	ktrace_hwt_mmap(&target->trace, &thread->trace, &image, "/lib/libc.so");
	assert_int_not_equal(renewed, 0);
	hwt_take(context, &walk);
	while (proc_next(&walk, &seen)) {
		if (seen.type != KTRX_HWT_MMAP)
			continue;
		assert_true(seen.stamp <= renewed);
		found++;
	}
	assert_int_equal(found, 1);
	hwt_switch_out(thread);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(two_threads_run_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(another_process_is_not_traced, setup, teardown),
		cmocka_unit_test_setup_teardown(a_thread_may_end_at_any_time, setup, teardown),
		cmocka_unit_test_setup_teardown(a_thread_that_ends_is_not_enabled_again, setup, teardown),
		cmocka_unit_test_setup_teardown(a_thread_without_a_buffer_is_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(the_filter_follows_into_another_address_space, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_filter_has_the_address_space_from_the_start, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_rejected_address_space_is_a_temporary_loss, setup,
						teardown),
		cmocka_unit_test_setup_teardown(failures_to_enable_or_disable_count_as_losses, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_unit_of_an_absent_cpu_is_abandoned, setup, teardown),
		cmocka_unit_test_setup_teardown(a_cpu_that_fails_to_enable_stops_the_start, setup, teardown),
		cmocka_unit_test_setup_teardown(a_full_buffer_waits_for_service, setup, teardown),
		cmocka_unit_test_setup_teardown(a_unit_is_served_where_it_runs, setup, teardown),
		cmocka_unit_test_setup_teardown(service_waits_for_a_configuration, setup, teardown),
		cmocka_unit_test_setup_teardown(the_time_is_renewed_after_a_record_of_other_code, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_interrupt_wakes_a_waiting_reader, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
