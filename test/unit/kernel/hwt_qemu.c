/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Runs the backend `qemu` on a fake unit. Checks what it writes into the unit's page, and how it handles the
 * unit's answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ktrace/hwt_qemu.h"
#include "test/fake/hwt_unit.h"
#include "test/fake/machine.h"

#define CPUS   2u
#define PIECES 4u
#define PAGE   4096u

static struct {
	_Alignas(PAGE) struct ktrx_hwt_unit page[CPUS];
	_Alignas(PAGE) uint8_t memory[16][PAGE];
	_Alignas(PAGE) uint8_t table[PAGE];
	struct ktrace_hwt_piece piece[PIECES];
	struct ktrace_hwt_qemu qemu;
	struct ktrace_hwt_backend backend;
	struct ktrace_hwt_unit unit;
	struct ktrace_hwt_config config;
} test;

static const struct ktrace_hwt_backend_operations *op(void)
{
	return test.backend.operations;
}

static int set_up(void **state)
{
	(void)state;
	memset(&test, 0, sizeof(test));
	fake_unit_reset();
	test.qemu = (struct ktrace_hwt_qemu){ .page = test.page,
					      .cpus = CPUS,
					      .user_start = 0x1000,
					      .user_end = 0x2000,
					      .ring = fake_unit_ring };
	ktrace_hwt_qemu_make(&test.backend, &test.qemu);
	return 0;
}

/* Makes a buffer of `pieces` pages that are not adjacent. */
static void lend(uint32_t pieces)
{
	for (uint32_t i = 0; i < pieces; i++)
		test.piece[i] = (struct ktrace_hwt_piece){ (uintptr_t)test.memory[2 * i], PAGE };
	test.unit.buffer = (struct ktrace_hwt_buffer){ .piece = test.piece,
						       .pieces = pieces,
						       .size = (uint64_t)pieces * PAGE,
						       .table = test.table,
						       .table_physical = (uintptr_t)test.table,
						       .table_size = sizeof(test.table) };
}

/* Makes a unit for thread 7 with these flags. The unit can be enabled afterwards. */
static void make_unit(uint32_t pieces, uint32_t flags)
{
	assert_int_equal(op()->init(&test.backend), KTRACE_OK);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		assert_int_equal(op()->cpu_init(&test.backend, cpu), KTRACE_OK);
	lend(pieces);
	test.unit.mode = KTRX_HWT_MODE_THREAD;
	test.unit.tid = 7;
	test.config.flags = flags;
	assert_int_equal(op()->unit_init(&test.backend, &test.unit), KTRACE_OK);
	assert_int_equal(op()->configure(&test.backend, &test.unit, &test.config), KTRACE_OK);
}

static void switch_in(uint32_t cpu)
{
	assert_int_equal(op()->enable(&test.backend, &test.unit, cpu), KTRACE_OK);
	test.unit.enabled = cpu + 1;
}

static void switch_out(void)
{
	assert_int_equal(op()->disable(&test.backend, &test.unit, test.unit.enabled - 1), KTRACE_OK);
	test.unit.enabled = 0;
}

/* Checks that the bytes [from, to) of the trace are at the right offsets in the buffer. */
static void assert_bytes(uint64_t from, uint64_t to)
{
	for (uint64_t at = from; at < to; at++) {
		uint64_t in = at % test.unit.buffer.size;

		assert_int_equal(test.memory[2 * (in / PAGE)][in % PAGE],
				 fake_unit_byte((uintptr_t)test.table, at));
	}
}

/* ---- Probing ----------------------------------------------------------------------------------- */

static void absent_without_the_plugin(void **state)
{
	(void)state;
	fake_unit_unplug();
	assert_int_equal(op()->init(&test.backend), KTRACE_ERROR_DEVICE);
	assert_non_null(strstr(test.backend.why, "plugin"));
	assert_int_equal(test.page[0].unit, 0);
}

/* The page still contains an answer from an earlier boot. The backend must not use it as a new answer. */
static void absent_although_the_page_has_an_old_answer(void **state)
{
	(void)state;
	assert_int_equal(op()->init(&test.backend), KTRACE_OK);
	fake_unit_unplug();
	assert_int_equal(op()->init(&test.backend), KTRACE_ERROR_DEVICE);
	assert_int_equal(op()->cpu_init(&test.backend, 0), KTRACE_ERROR_DEVICE);
	assert_int_equal(op()->enable(&test.backend, &test.unit, 0), KTRACE_ERROR_DEVICE);
}

/* This file is built for the generic architecture, which has no marker instruction. */
static void absent_on_an_architecture_without_a_marker(void **state)
{
	(void)state;
	test.qemu.ring = NULL;
	assert_int_equal(op()->init(&test.backend), KTRACE_ERROR_DEVICE);
	assert_non_null(strstr(test.backend.why, "architecture"));
}

static void pages_must_be_aligned(void **state)
{
	(void)state;
	test.qemu.page = (struct ktrx_hwt_unit *)(void *)&test.memory[0][8];
	assert_int_equal(op()->init(&test.backend), KTRACE_ERROR_DEVICE);
	test.qemu.cpus = 0;
	test.qemu.page = test.page;
	assert_int_equal(op()->init(&test.backend), KTRACE_ERROR_DEVICE);
}

static void describe_returns_the_parameters_of_the_unit(void **state)
{
	struct ktrx_hwt_pt pt;

	(void)state;
	assert_int_equal(op()->init(&test.backend), KTRACE_OK);
	assert_int_equal(test.backend.encoding, KTRX_HWT_ENCODING_PT);
	assert_int_equal(test.backend.ranges, 4);
	assert_int_equal(op()->describe(&test.backend, &test.config, &pt, sizeof(pt)), sizeof(pt));
	assert_int_equal(pt.flags, KTRX_HWT_PT_SOFTWARE);
	assert_int_equal(op()->describe(&test.backend, &test.config, &pt, sizeof(pt) - 1), 0);
	assert_null(fake_unit_broken());
}

/* ---- Values that the backend writes into the page ---------------------------------------------- */

static void adjacent_pieces_are_one_extent(void **state)
{
	const struct ktrx_hwt_extent *extent = (const void *)test.table;

	(void)state;
	lend(3);
	test.piece[1].physical = test.piece[0].physical + PAGE;
	assert_int_equal(op()->unit_init(&test.backend, &test.unit), KTRACE_OK);
	assert_int_equal(extent[0].size, 2 * PAGE);
	assert_int_equal(extent[1].physical, test.piece[2].physical);
	assert_int_equal(extent[1].size, PAGE);
	test.unit.buffer.table_size = sizeof(*extent);
	assert_int_equal(op()->unit_init(&test.backend, &test.unit), KTRACE_ERROR_MEMORY);
	test.unit.buffer.size += PAGE;
	test.unit.buffer.table_size = sizeof(test.table);
	assert_int_equal(op()->unit_init(&test.backend, &test.unit), KTRACE_ERROR_ARGUMENT);
	test.unit.buffer.table = NULL;
	assert_int_equal(op()->unit_init(&test.backend, &test.unit), KTRACE_ERROR_MEMORY);
}

static void configuration_reaches_the_page(void **state)
{
	(void)state;
	test.config.ranges = 1;
	test.config.range[0].start = 0x1100;
	test.config.range[0].end = 0x1200;
	test.config.space = 0x5000;
	make_unit(2, KTRACE_HWT_TIME);
	fake.clock = 99;
	switch_in(1);
	assert_int_equal(test.page[1].control, KTRX_HWT_UNIT_CONTROL_USER | KTRX_HWT_UNIT_CONTROL_TIME |
						       KTRX_HWT_UNIT_CONTROL_RETURN);
	assert_int_equal(test.page[1].thread, 7);
	assert_int_equal(test.page[1].space, 0x5000);
	assert_int_equal(test.page[1].ranges, 1);
	assert_int_equal(test.page[1].range[0].end, 0x1200);
	assert_int_equal(test.page[1].user_end, 0x2000);
	assert_true(test.page[1].stamp >= 99);
	switch_out();
	assert_int_equal(fake_unit_rung(KTRX_HWT_UNIT_ENABLE), 1);
	assert_int_equal(fake_unit_rung(KTRX_HWT_UNIT_DISABLE), 1);
	assert_null(fake_unit_broken());
}

static void kernel_code_in_cpu_mode(void **state)
{
	(void)state;
	make_unit(1, KTRACE_HWT_RETURNS);
	test.unit.mode = KTRX_HWT_MODE_CPU;
	test.unit.tid = 0;
	assert_int_equal(op()->configure(&test.backend, &test.unit, &test.config), KTRACE_OK);
	ktrace_hwt_qemu_space(&test.qemu, 0, 0x7000, 3);
	switch_in(0);
	assert_int_equal(test.page[0].control, KTRX_HWT_UNIT_CONTROL_KERNEL);
	assert_int_equal(test.page[0].space, 0x7000);
	assert_int_equal(test.page[0].thread, 3);
	switch_out();
	assert_null(fake_unit_broken());
}

static void unsupported_configurations_are_rejected(void **state)
{
	const struct ktrace_hwt_config wrong[] = {
		{ .flags = KTRACE_HWT_CYCLES },
		{ .flags = KTRACE_HWT_JITTER },
		{ .interval = 100 },
		{ .interrupt_every = PAGE },
		{ .ranges = 5 },
		{ .ranges = 1, .range = { { 2, 2 } } },
		{ .level = 4 },
	};

	(void)state;
	make_unit(1, 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(op()->configure(&test.backend, &test.unit, &wrong[i]),
				 KTRACE_ERROR_ARGUMENT);
	test.config.flags = KTRACE_HWT_SPACE;
	assert_int_equal(op()->configure(&test.backend, &test.unit, &test.config), KTRACE_OK);
	test.unit.tid = 0; /* 0 means that the unit's thread is not known yet */
	assert_int_equal(op()->configure(&test.backend, &test.unit, &test.config), KTRACE_OK);
	test.unit.mode = KTRX_HWT_MODE_CPU;
	assert_int_equal(op()->configure(&test.backend, &test.unit, &test.config), KTRACE_ERROR_ARGUMENT);
}

/* ---- Answers of the unit ----------------------------------------------------------------------- */

static void enable_continues_on_another_cpu(void **state)
{
	(void)state;
	make_unit(2, 0);
	switch_in(0);
	fake_unit_run(&test.page[0], 160);
	switch_out();
	fake_unit_run(&test.page[0], 160);
	switch_in(1);
	fake_unit_run(&test.page[1], 320);
	assert_int_equal(test.unit.position, 160);
	assert_int_equal(op()->read(&test.backend, &test.unit), KTRACE_OK);
	assert_int_equal(test.unit.position, 480);
	switch_out();
	assert_int_equal(test.unit.position, 480);
	assert_int_equal(op()->read(&test.backend, &test.unit), KTRACE_OK);
	assert_bytes(0, 480);
	assert_null(fake_unit_broken());
}

static void wraps_are_counted(void **state)
{
	(void)state;
	make_unit(3, 0);
	switch_in(0);
	fake_unit_run(&test.page[0], 3 * PAGE);
	switch_out();
	assert_int_equal(test.unit.wraps, 1);
	switch_in(0);
	fake_unit_run(&test.page[0], 4 * PAGE + 16);
	switch_out();
	assert_int_equal(test.unit.wraps, 2);
	assert_int_equal(test.unit.full, 0);
	assert_bytes(4 * PAGE + 16, 7 * PAGE + 16);
	assert_null(fake_unit_broken());
}

static void stops_when_full_until_it_is_served(void **state)
{
	(void)state;
	make_unit(2, KTRACE_HWT_STOP);
	switch_in(0);
	fake_unit_run(&test.page[0], 2 * PAGE + 48);
	switch_out();
	assert_int_equal(test.unit.position, 2 * PAGE);
	assert_int_equal(test.unit.full, 1);
	assert_int_equal(test.unit.lost, 3);
	assert_int_equal(op()->service(&test.backend, &test.unit), KTRACE_OK);
	assert_int_equal(test.unit.full, 1);
	test.unit.served = PAGE;
	assert_int_equal(op()->service(&test.backend, &test.unit), KTRACE_OK);
	assert_int_equal(test.unit.full, 0);
	switch_in(0);
	fake_unit_run(&test.page[0], 64);
	switch_out();
	assert_int_equal(test.unit.position, 2 * PAGE + 64);
	assert_int_equal(test.unit.wraps, 1);
	assert_int_equal(test.unit.lost, 3);
	assert_int_equal(test.unit.full, 0);
	assert_bytes(PAGE, 2 * PAGE + 64);
	assert_null(fake_unit_broken());
}

static void an_error_of_the_unit_is_reported(void **state)
{
	(void)state;
	make_unit(1, 0);
	fake_unit_fail(KTRX_HWT_UNIT_ERROR_OUTPUT);
	assert_int_equal(op()->enable(&test.backend, &test.unit, 0), KTRACE_ERROR_DEVICE);
	switch_in(0);
	switch_out();
	assert_int_equal(op()->enable(&test.backend, &test.unit, CPUS), KTRACE_ERROR_DEVICE);
	assert_null(fake_unit_broken());
}

/* ---- The clock --------------------------------------------------------------------------------- */

#define STANDSTILL UINT64_C(1000000000)

/*
 * For this number of commands, the host pauses the virtual CPU after it has read its clock, and before it
 * gives the command.
 */
static unsigned standstills;
static uint64_t unit_behind; /* number of ticks by which the unit's clock shows less than the guest's clock */

static void ring_late(uint8_t *doorbell)
{
	const struct ktrx_hwt_unit *page = &test.page[0];
	const int enables = doorbell == &page->doorbell[KTRX_HWT_UNIT_ENABLE];

	if (standstills > 0) {
		standstills--;
		fake.clock += STANDSTILL;
	}
	fake_unit_ring(doorbell);
	if (enables ||
	    (doorbell == &page->doorbell[KTRX_HWT_UNIT_CLOCK] && fake.clock - page->stamp < unit_behind))
		unit_behind = fake.clock - page->stamp;
}

static void a_stopped_cpu_does_not_make_the_clock_late(void **state)
{
	(void)state;
	test.qemu.ring = ring_late;
	make_unit(1, 0);
	for (unsigned i = 0; i < 4; i++) {
		standstills = i;
		switch_in(0);
		assert_int_equal(standstills, 0);
		assert_true(unit_behind < STANDSTILL);
		switch_out();
	}
	assert_int_equal(fake_unit_rung(KTRX_HWT_UNIT_CLOCK), 1 + 2 + 3);
	/*
	 * If the host pauses the virtual CPU at each attempt, the backend gives up after a limited number of
	 * attempts.
	 */
	standstills = 1000;
	switch_in(0);
	assert_true(standstills > 900);
	standstills = 0;
	op()->renew(&test.backend, &test.unit);
	assert_true(unit_behind < STANDSTILL);
	switch_out();
	assert_null(fake_unit_broken());
}

/* ---- Kernels without the backend --------------------------------------------------------------- */

static void clock_and_space_are_sent_from_boot_on(void **state)
{
	(void)state;
	fake.clock = 1234;
	ktrace_root.nonce = 77;
	ktrace_hwt_qemu_clock(&test.qemu, 1);
	assert_int_equal(test.page[1].nonce, 77);
	ktrace_hwt_qemu_space(&test.qemu, 1, 0x9000, 5);
	assert_true(test.page[1].stamp >= 1234);
	assert_int_equal(fake_unit_rung(KTRX_HWT_UNIT_CLOCK), 1);
	assert_int_equal(fake_unit_rung(KTRX_HWT_UNIT_SPACE), 1);
	ktrace_hwt_qemu_clock(&test.qemu, CPUS);
	ktrace_hwt_qemu_space(&test.qemu, CPUS, 1, 1);
	assert_int_equal(fake_unit_rung(KTRX_HWT_UNIT_CLOCK), 1);
	assert_int_equal(fake_unit_rung(KTRX_HWT_UNIT_SPACE), 1);
	assert_null(fake_unit_broken());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(absent_without_the_plugin, set_up),
		cmocka_unit_test_setup(absent_although_the_page_has_an_old_answer, set_up),
		cmocka_unit_test_setup(absent_on_an_architecture_without_a_marker, set_up),
		cmocka_unit_test_setup(pages_must_be_aligned, set_up),
		cmocka_unit_test_setup(describe_returns_the_parameters_of_the_unit, set_up),
		cmocka_unit_test_setup(adjacent_pieces_are_one_extent, set_up),
		cmocka_unit_test_setup(configuration_reaches_the_page, set_up),
		cmocka_unit_test_setup(kernel_code_in_cpu_mode, set_up),
		cmocka_unit_test_setup(unsupported_configurations_are_rejected, set_up),
		cmocka_unit_test_setup(enable_continues_on_another_cpu, set_up),
		cmocka_unit_test_setup(wraps_are_counted, set_up),
		cmocka_unit_test_setup(stops_when_full_until_it_is_served, set_up),
		cmocka_unit_test_setup(an_error_of_the_unit_is_reported, set_up),
		cmocka_unit_test_setup(a_stopped_cpu_does_not_make_the_clock_late, set_up),
		cmocka_unit_test_setup(clock_and_space_are_sent_from_boot_on, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
