/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/hwt_conform.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/support/hwt_support.h"

#define PAGE   UINT64_C(4096)
#define BUFFER (16 * PAGE)
#define PIECES 16u

/*
 * If a backend does not support what a test needs, the test returns immediately. The test does not call
 * skip(), because cmocka's TAP output reports a skipped test as failed.
 */

static const struct hwt_conform *conform;
static struct ktrace_hwt_backend *backend;

/* ---- Operations on a unit, without the library ------------------------------------------------- */

struct fixture {
	struct ktrace_hwt_unit unit;
	struct ktrace_hwt_piece piece[PIECES];
	uint8_t *host; /* memory that contains the pieces of the buffer */
	uint64_t sum;  /* number of bytes written so far */
};

static void lend(uint64_t physical, void *host, uint64_t size)
{
	if (conform->memory)
		conform->memory(physical, host, size);
}

/* Makes a buffer of several pieces. The last piece has the lowest address. */
static void fixture_lend(struct fixture *fixture, uint64_t size, uint32_t pieces)
{
	struct ktrace_hwt_buffer *buffer = &fixture->unit.buffer;

	memset(fixture, 0, sizeof(*fixture));
	fixture->host = aligned_alloc(PAGE, size);
	assert_non_null(fixture->host);
	memset(fixture->host, 0, size);
	for (uint32_t i = 0; i < pieces; i++) {
		uint8_t *host = fixture->host + (pieces - 1 - i) * (size / pieces);

		fixture->piece[i].physical = (uintptr_t)host;
		fixture->piece[i].size = size / pieces;
		lend((uintptr_t)host, host, size / pieces);
	}
	buffer->piece = fixture->piece;
	buffer->pieces = pieces;
	buffer->size = size;
	buffer->base = pieces == 1 ? fixture->host : NULL;
	buffer->table_size = (KTRACE_HWT_TABLE_SIZE(size) + PAGE - 1) / PAGE * PAGE;
	buffer->table = aligned_alloc(PAGE, buffer->table_size);
	assert_non_null(buffer->table);
	memset(buffer->table, 0, buffer->table_size);
	buffer->table_physical = (uintptr_t)buffer->table;
	lend(buffer->table_physical, buffer->table, buffer->table_size);
}

static void fixture_make(struct fixture *fixture, uint64_t size, uint32_t pieces, uint32_t flags)
{
	struct ktrace_hwt_config config = { .level = backend->levels & -backend->levels, .flags = flags };

	fixture_lend(fixture, size, pieces);
	assert_int_equal(backend->operations->unit_init(backend, &fixture->unit), KTRACE_OK);
	assert_int_equal(backend->operations->configure(backend, &fixture->unit, &config), KTRACE_OK);
}

static void fixture_free(struct fixture *fixture)
{
	backend->operations->unit_free(backend, &fixture->unit);
	free(fixture->unit.buffer.table);
	free(fixture->host);
}

static void on(struct fixture *fixture)
{
	hwt_kernel.interrupts_off = true;
	fixture->unit.enabled = hwt_kernel.cpu + 1;
	assert_int_equal(backend->operations->enable(backend, &fixture->unit, hwt_kernel.cpu), KTRACE_OK);
	hwt_kernel.interrupts_off = false;
}

static void off(struct fixture *fixture)
{
	hwt_kernel.interrupts_off = true;
	assert_int_equal(backend->operations->disable(backend, &fixture->unit, hwt_kernel.cpu), KTRACE_OK);
	fixture->unit.enabled = 0;
	hwt_kernel.interrupts_off = false;
}

/* Runs the CPU, and handles the interrupts that occur. */
static void run(struct fixture *fixture, uint64_t bytes)
{
	while (bytes > 0) {
		uint64_t some = bytes < 1024 ? bytes : 1024;

		fixture->sum += conform->run(&fixture->unit, some);
		bytes -= some;
		hwt_kernel.interrupts_off = true;
		if (backend->operations->interrupt)
			backend->operations->interrupt(backend, &fixture->unit, hwt_kernel.cpu);
		hwt_kernel.interrupts_off = false;
	}
}

static uint8_t byte_at(const struct fixture *fixture, uint64_t position)
{
	const struct ktrace_hwt_buffer *buffer = &fixture->unit.buffer;
	uint64_t at = position % buffer->size;
	uint64_t each = buffer->size / buffer->pieces;

	return ((const uint8_t *)(uintptr_t)buffer->piece[at / each].physical)[at % each];
}

/* Checks that the buffer contains all bytes that it must contain, and that no byte after them was written. */
static void check(const struct fixture *fixture)
{
	const struct ktrace_hwt_unit *unit = &fixture->unit;
	uint64_t size = unit->buffer.size, from = fixture->sum > size ? fixture->sum - size : 0;

	assert_int_equal(unit->position, fixture->sum);
	assert_int_equal(unit->wraps, fixture->sum / size);
	for (uint64_t at = from; at < fixture->sum; at++)
		if (byte_at(fixture, at) != conform->byte(unit, at))
			fail_msg("byte %llu of %llu differs", (unsigned long long)at,
				 (unsigned long long)fixture->sum);
	for (uint64_t at = fixture->sum; at < size; at++)
		assert_int_equal(byte_at(fixture, at), 0);
}

/* ---- Features that the backend reports --------------------------------------------------------- */

static int setup(void **state)
{
	hwt_reset(state);
	backend = conform->make();
	hwt_start_with(backend);
	hwt_kernel.lend = conform->memory;
	if (backend->operations->cpu_init)
		assert_int_equal(backend->operations->cpu_init(backend, hwt_kernel.cpu), KTRACE_OK);
	return 0;
}

static int teardown(void **state)
{
	int error = hwt_check(state);

	if (conform->broken()) {
		print_error("%s\n", conform->broken());
		return 1;
	}
	return error;
}

static void backend_reports_modes_levels_and_ranges(void **state)
{
	(void)state;
	assert_int_equal(backend->ready, 1);
	assert_string_equal(backend->name, conform->name);
	assert_true(backend->modes == 1 << KTRX_HWT_MODE_THREAD || backend->modes == 1 << KTRX_HWT_MODE_CPU ||
		    backend->modes == (1 << KTRX_HWT_MODE_THREAD | 1 << KTRX_HWT_MODE_CPU));
	assert_in_range(backend->levels, 1, 3);
	assert_in_range(backend->ranges, 0, KTRACE_HWT_RANGES_MAX);
	assert_ptr_equal(ktrace_hwt_next_backend(NULL), backend);
}

static void absent_hardware_is_refused_with_a_reason(void **state)
{
	(void)state;
	if (!conform->make_absent)
		return;
	assert_int_equal(ktrace_hwt_remove(backend), KTRACE_OK);
	backend = conform->make_absent();
	assert_int_equal(ktrace_hwt_add(backend), KTRACE_ERROR_DEVICE);
	assert_non_null(backend->why);
	assert_true(strlen(backend->why) > 0);
	assert_null(ktrace_hwt_next_backend(NULL));
}

static void description_has_the_size_of_its_encoding(void **state)
{
	static const size_t expected[] = { 0, sizeof(struct ktrx_hwt_pt), sizeof(struct ktrx_hwt_etm4), 0 };
	struct ktrace_hwt_config config = { .level = KTRX_HWT_USER };
	uint8_t bytes[128];
	size_t size = 0;

	(void)state;
	memset(bytes, 0xaa, sizeof(bytes));
	assert_in_range(backend->encoding, 0, KTRX_HWT_ENCODING_SPE);
	if (backend->operations->describe)
		size = backend->operations->describe(backend, &config, bytes, sizeof(bytes));
	assert_int_equal(size, expected[backend->encoding]);
	for (size_t i = size; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], 0xaa);
}

static void too_many_ranges_are_refused(void **state)
{
	struct ktrace_hwt_config config = { .level = backend->levels & -backend->levels };
	struct fixture fixture;

	(void)state;
	fixture_make(&fixture, BUFFER, 1, 0);
	for (uint32_t i = 0; i < KTRACE_HWT_RANGES_MAX; i++) {
		config.range[i].start = 0x1000 * (i + 1);
		config.range[i].end = 0x1000 * (i + 1) + 0x100;
	}
	for (config.ranges = 0; config.ranges <= KTRACE_HWT_RANGES_MAX; config.ranges++)
		assert_int_equal(backend->operations->configure(backend, &fixture.unit, &config),
				 config.ranges <= backend->ranges ? KTRACE_OK : KTRACE_ERROR_ARGUMENT);
	fixture_free(&fixture);
}

/* ---- Trace bytes ------------------------------------------------------------------------------- */

static void trace_of_a_run_is_in_the_buffer(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_make(&fixture, BUFFER, 1, 0);
	on(&fixture);
	run(&fixture, 1024);
	off(&fixture);
	assert_int_equal(fixture.sum, 1024);
	check(&fixture);
	fixture_free(&fixture);
}

static void nothing_is_traced_while_off(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_make(&fixture, BUFFER, 1, 0);
	assert_int_equal(conform->run(&fixture.unit, 1024), 0);
	on(&fixture);
	off(&fixture);
	assert_int_equal(conform->run(&fixture.unit, 1024), 0);
	check(&fixture);
	fixture_free(&fixture);
}

static void trace_continues_after_off_and_on(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_make(&fixture, BUFFER, 1, 0);
	for (uint32_t i = 0; i < 20; i++) {
		on(&fixture);
		run(&fixture, i % 5 * conform->granule);
		off(&fixture);
		check(&fixture);
	}
	fixture_free(&fixture);
}

static void units_that_take_turns_stay_apart(void **state)
{
	struct fixture fixture[2];

	(void)state;
	fixture_make(&fixture[0], BUFFER, 1, 0);
	fixture_make(&fixture[1], BUFFER / 2, 1, 0);
	for (uint32_t i = 0; i < 20; i++) {
		on(&fixture[i % 2]);
		run(&fixture[i % 2], (i + 1) * conform->granule);
		off(&fixture[i % 2]);
		assert_int_equal(conform->run(&fixture[i % 2].unit, conform->granule), 0);
	}
	check(&fixture[0]);
	check(&fixture[1]);
	fixture_free(&fixture[0]);
	fixture_free(&fixture[1]);
}

static void position_is_read_while_on(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_make(&fixture, BUFFER, 1, 0);
	on(&fixture);
	for (uint32_t i = 0; i < 4; i++) {
		run(&fixture, 1024);
		hwt_kernel.interrupts_off = true;
		assert_int_equal(backend->operations->read(backend, &fixture.unit), KTRACE_OK);
		hwt_kernel.interrupts_off = false;
		assert_true(fixture.unit.position <= fixture.sum);
	}
	off(&fixture);
	check(&fixture);
	fixture_free(&fixture);
}

static void pieces_are_filled_in_order(void **state)
{
	struct fixture fixture;

	(void)state;
	if (!(conform->can & HWT_CONFORM_SCATTER))
		return;
	fixture_make(&fixture, BUFFER, PIECES, 0);
	for (uint32_t i = 0; i < 3; i++) {
		on(&fixture);
		run(&fixture, 4096 + 1024);
		off(&fixture);
		check(&fixture);
	}
	fixture_free(&fixture);
}

static void wraparounds_are_counted(void **state)
{
	struct fixture fixture;

	(void)state;
	if (!(conform->can & HWT_CONFORM_WRAPS))
		return;
	fixture_make(&fixture, BUFFER, 1, 0);
	for (uint32_t i = 0; i < 7; i++) {
		on(&fixture);
		run(&fixture, BUFFER / 2 - 1024);
		off(&fixture);
		check(&fixture);
	}
	on(&fixture);
	run(&fixture, 3 * BUFFER);
	off(&fixture);
	check(&fixture);
	assert_true(fixture.unit.wraps >= 6);
	assert_int_equal(fixture.unit.full, 0);
	fixture_free(&fixture);
}

static void full_buffer_stops_tracing_until_service(void **state)
{
	struct fixture fixture;
	struct ktrace_hwt_unit *unit = &fixture.unit;

	(void)state;
	if (!(conform->can & HWT_CONFORM_STOPS))
		return;
	fixture_make(&fixture, BUFFER, 1, KTRACE_HWT_STOP);
	for (uint32_t i = 0; i < 3; i++) {
		on(&fixture);
		run(&fixture, 2 * BUFFER);
		off(&fixture);
		assert_int_equal(unit->position, fixture.sum);
		assert_true(unit->position - unit->served <= BUFFER);
		assert_true(unit->position - unit->served > 0);
		for (uint64_t at = unit->served; at < unit->position; at++)
			assert_int_equal(byte_at(&fixture, at), conform->byte(unit, at));
		assert_int_equal(unit->full, 1);
		unit->served = unit->position;
		hwt_kernel.interrupts_off = true;
		assert_int_equal(backend->operations->service(backend, unit), KTRACE_OK);
		hwt_kernel.interrupts_off = false;
		assert_int_equal(unit->full, 0);
	}
	fixture_free(&fixture);
}

static void smallest_buffer_works(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_make(&fixture, PAGE, 1, 0);
	on(&fixture);
	run(&fixture, 1024);
	off(&fixture);
	check(&fixture);
	fixture_free(&fixture);
}

/* ---- Tests through the library ----------------------------------------------------------------- */

static uint64_t run_library(const struct ktrace_hwt_context *context, uint32_t cpu, uint64_t bytes)
{
	uint32_t before = hwt_kernel.cpu;
	uint64_t written;

	hwt_kernel.cpu = cpu;
	written = conform->run(hwt_unit(context, cpu), bytes);
	hwt_kernel.cpu = before;
	return written;
}

static void threads_are_traced(void **state)
{
	struct ktrace_hwt_owner owner = { 0 };
	struct ktrace_hwt_context *context;
	struct ktrace_hwt_request request;
	struct ktrace_hwt_place place;
	struct hwt_process *target;
	struct hwt_thread *second;
	uint64_t sums[2] = { 0 };

	(void)state;
	if (!(backend->modes >> KTRX_HWT_MODE_THREAD & 1))
		return;
	target = hwt_fork(7, 7);
	request = hwt_request_thread(target);
	request.buffer_size = BUFFER;
	context = hwt_alloc(&owner, hwt_first(), &request);
	assert_int_equal(ktrace_hwt_start(context), KTRACE_OK);
	second = hwt_thread(target);
	for (uint32_t i = 0; i < 6; i++) {
		struct hwt_thread *thread = i % 2 ? second : &target->thread[0];

		hwt_switch_in(thread, 0);
		sums[i % 2] += conform->run(thread->trace.unit, 8 * conform->granule);
		hwt_switch_out(thread);
	}
	assert_int_equal(ktrace_hwt_stop(context), KTRACE_OK);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(ktrace_hwt_position(context, i, &place), KTRACE_OK);
		assert_int_equal(place.position, sums[i]);
		assert_int_equal(sums[i], 24 * conform->granule);
		assert_int_equal(place.lost, 0);
	}
	hwt_exit(target);
	ktrace_hwt_owner_exit(&owner);
	ktrace_hwt_put(context);
}

static void cpu_is_traced(void **state)
{
	struct ktrace_hwt_request request = hwt_request_cpus(1);
	struct ktrace_hwt_owner owner = { 0 };
	struct ktrace_hwt_context *context;
	struct ktrace_hwt_place place;

	(void)state;
	if (!(backend->modes >> KTRX_HWT_MODE_CPU & 1) || !(backend->levels & KTRX_HWT_KERNEL_LEVEL))
		return;
	request.buffer_size = BUFFER;
	context = hwt_alloc(&owner, hwt_first(), &request);
	for (uint32_t i = 1; i <= 2; i++) {
		assert_int_equal(ktrace_hwt_start(context), KTRACE_OK);
		assert_int_equal(run_library(context, 0, 1024), 1024);
		assert_int_equal(ktrace_hwt_stop(context), KTRACE_OK);
		assert_int_equal(run_library(context, 0, 1024), 0);
		assert_int_equal(ktrace_hwt_position(context, 0, &place), KTRACE_OK);
		assert_int_equal(place.position, i * 1024);
		assert_int_equal(place.lost, 0);
	}
	ktrace_hwt_owner_exit(&owner);
	ktrace_hwt_put(context);
}

int hwt_conform_run(const struct hwt_conform *wanted)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(backend_reports_modes_levels_and_ranges),
		TEST(absent_hardware_is_refused_with_a_reason),
		TEST(description_has_the_size_of_its_encoding),
		TEST(too_many_ranges_are_refused),
		TEST(trace_of_a_run_is_in_the_buffer),
		TEST(nothing_is_traced_while_off),
		TEST(trace_continues_after_off_and_on),
		TEST(units_that_take_turns_stay_apart),
		TEST(position_is_read_while_on),
		TEST(pieces_are_filled_in_order),
		TEST(wraparounds_are_counted),
		TEST(full_buffer_stops_tracing_until_service),
		TEST(smallest_buffer_works),
		TEST(threads_are_traced),
		TEST(cpu_is_traced),
	};

	conform = wanted;
	return cmocka_run_group_tests_name(wanted->name, tests, NULL, NULL);
}
