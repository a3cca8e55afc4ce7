/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the page of the trace unit: its commands, and pages with random contents. Also tests messages about
 * wrong arguments.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "ktrx/hwt.h"
#include "ktrx/hwt_unit.h"
#include "plugin/flow.h"
#include "plugin/trace.h"
#include "unit/support/plugin_support.h"

#define MEMORY_SIZE (1u << 20)
#define BASE	    UINT64_C(0x40000000)
#define PAGE	    (BASE + 0x1000)
#define TABLE	    (BASE + 0x2000)
#define OUTPUT	    (BASE + 0x10000)

/* The time of the clock that the plugin reads, in nanoseconds. It advances only if a test changes it. */
static uint64_t test_time;

static uint64_t read_test_clock(void)
{
	return test_time;
}

static void *at(uint64_t physical, uint64_t size)
{
	void *bytes = memory_at(physical, size);

	assert_non_null(bytes);
	return bytes;
}

static struct ktrx_hwt_unit *page(void)
{
	return at(PAGE, sizeof(struct ktrx_hwt_unit));
}

static void ring(uint32_t command)
{
	unit_ring(0, PAGE + offsetof(struct ktrx_hwt_unit, doorbell) + command, 0x1000);
}

static void fill_in(uint64_t size)
{
	struct ktrx_hwt_extent *table = at(TABLE, 2 * sizeof(*table));
	struct ktrx_hwt_unit *unit = page();

	memset(unit, 0, sizeof(*unit));
	unit->magic = KTRX_HWT_UNIT_MAGIC;
	unit->version = KTRX_HWT_UNIT_VERSION;
	unit->control = KTRX_HWT_UNIT_CONTROL_USER | KTRX_HWT_UNIT_CONTROL_KERNEL;
	unit->extents = 2;
	unit->table = TABLE;
	table[0] = (struct ktrx_hwt_extent){ .physical = OUTPUT + 0x8000, .size = size };
	table[1] = (struct ktrx_hwt_extent){ .physical = OUTPUT, .size = size };
}

static int open_memory(void **state)
{
	static char path[] = "/tmp/ktrace-unit.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	/*
	 * The file is larger than this memory. The rest of the file is at other physical addresses, and the
	 * unit must not access it.
	 */
	if (fd < 0 || ftruncate(fd, 2 * MEMORY_SIZE) != 0)
		return -1;
	close(fd);
	memory_use(path, BASE, MEMORY_SIZE);
	clock_use(read_test_clock);
	machine_begin();
	flow_end(machine_trace(), 0);
	return memory_at(BASE, 1) != NULL && unlink(path) == 0 ? 0 : -1;
}

static void memory_outside_bounds_is_refused(void **state)
{
	(void)state;
	assert_non_null(memory_at(BASE, MEMORY_SIZE));
	assert_non_null(memory_at(BASE + MEMORY_SIZE, 0));
	assert_null(memory_at(BASE, MEMORY_SIZE + 1));
	assert_null(memory_at(BASE - 1, 1));
	assert_null(memory_at(BASE + MEMORY_SIZE - 1, 2));
	assert_null(memory_at(UINT64_MAX, 1));
	assert_null(memory_at(BASE + 1, UINT64_MAX));
}

static void probe_identifies_the_unit(void **state)
{
	const struct ktrx_hwt_pt *pt = (const struct ktrx_hwt_pt *)page()->parameters;

	(void)state;
	fill_in(4096);
	ring(KTRX_HWT_UNIT_PROBE);
	assert_int_equal(page()->unit, KTRX_HWT_UNIT_MAGIC);
	assert_int_equal(page()->encoding, KTRX_HWT_ENCODING_PT);
	assert_int_equal(page()->range_most, 4);
	assert_int_equal(pt->mtc_frequency, KTRX_HWT_UNIT_MTC_FREQUENCY);
	fill_in(4096);
	page()->magic++;
	ring(KTRX_HWT_UNIT_PROBE);
	assert_int_equal(page()->unit, 0);
	assert_int_equal(page()->error, KTRX_HWT_UNIT_ERROR_PAGE);
}

static void output_continues_after_disable(void **state)
{
	struct block *loop = machine_block(0x1000, "\x01\x90\x02\xff\xe0");
	uint64_t position;

	(void)state;
	fill_in(4096);
	ring(KTRX_HWT_UNIT_ENABLE);
	assert_int_equal(page()->error, 0);
	for (unsigned i = 0; i < 3000; i++)
		machine_run(loop);
	ring(KTRX_HWT_UNIT_FLUSH);
	position = page()->position;
	assert_true(position > 8192);
	ring(KTRX_HWT_UNIT_DISABLE);
	assert_true(page()->position > position);
	assert_int_equal(page()->wraps, (page()->position - 1) / 8192);
	assert_int_equal(flow_enabled(), 0);
	/* The pages before and after the pieces of the buffer are unchanged. */
	for (unsigned i = 0; i < 4096; i++) {
		assert_int_equal(((unsigned char *)at(OUTPUT + 0x1000, 4096))[i], 0);
		assert_int_equal(((unsigned char *)at(OUTPUT + 0x9000, 4096))[i], 0);
	}
	/* Tracing continues at the position at which it stopped. */
	position = page()->start = page()->position;
	ring(KTRX_HWT_UNIT_ENABLE);
	assert_true(page()->position > position && page()->position < position + 100);
	ring(KTRX_HWT_UNIT_DISABLE);
}

static void enable_takes_the_thread_of_the_page(void **state)
{
	(void)state;
	fill_in(4096);
	page()->space = 0x5000;
	page()->thread = 7;
	page()->user_start = 0x1000;
	page()->user_end = 0x2000;
	ring(KTRX_HWT_UNIT_SPACE);
	page()->thread = 8;
	ring(KTRX_HWT_UNIT_ENABLE);
	assert_int_equal(flow_guest_trace(0)->thread, 8);
	ring(KTRX_HWT_UNIT_DISABLE);
}

/*
 * The virtual CPU may have been stopped before the unit received a timestamp. The next timestamp corrects the
 * time, which never goes back.
 */
static void clock_never_goes_back(void **state)
{
	const uint64_t second = UINT64_C(1000000000);
	struct block *loop = machine_block(0x1000, "\x01\x90\x02\xff\xe0");
	const struct trace *trace = flow_guest_trace(0);

	(void)state;
	fill_in(4096);
	page()->control |= KTRX_HWT_UNIT_CONTROL_TIME;
	page()->stamp = 5000 * second;
	page()->frequency = second;
	ring(KTRX_HWT_UNIT_ENABLE);
	machine_run(loop);
	assert_in_range(trace->time, 5000 * second, 5999 * second);
	page()->stamp = 7000 * second;
	ring(KTRX_HWT_UNIT_CLOCK);
	for (unsigned i = 0; i < 2; i++)
		machine_run(loop);
	assert_in_range(trace->time, 7000 * second, 7999 * second);
	page()->stamp = 6000 * second;
	ring(KTRX_HWT_UNIT_CLOCK);
	for (unsigned i = 0; i < 2; i++)
		machine_run(loop);
	assert_in_range(trace->time, 7000 * second, 7999 * second);
	ring(KTRX_HWT_UNIT_DISABLE);
}

/*
 * For code that runs slowly, the time is written although there are few other packets. For other code, it is
 * written as soon as it is requested.
 */
static void time_of_slow_code_is_written(void **state)
{
	struct block *loop = machine_block(0x7000, "\x02\x75\xfe");
	const struct trace *trace = flow_guest_trace(0);

	(void)state;
	fill_in(4096);
	page()->control |= KTRX_HWT_UNIT_CONTROL_TIME;
	page()->stamp = 1;
	page()->frequency = UINT64_C(1000000000);
	ring(KTRX_HWT_UNIT_ENABLE);
	for (unsigned i = 0; i < 20; i++) {
		uint64_t before = trace->time;

		test_time += 20000;
		for (unsigned k = 0; k < 2 * 47; k++) /* two packets of 8 bytes, with 47 branches each */
			machine_run(loop);
		assert_true(trace->time >= before + 20000);
		before = trace->time;
		test_time += 20000;
		machine_run(loop);
		assert_int_equal(trace->time, before);
		flow_look_at_clocks();
		machine_run(loop);
		assert_true(trace->time >= before + 20000);
	}
	ring(KTRX_HWT_UNIT_DISABLE);
}

/* If tracing is often disabled and enabled, each time only the low bits of the time are written. */
static void range_entries_write_only_low_bits_of_time(void **state)
{
	struct block *inside = machine_block(0x1000, "\x01\x90\x02\xff\xe0");
	struct block *outside = machine_block(0x3000, "\x01\x90\x02\xff\xe0");

	(void)state;
	fill_in(4096);
	page()->control |= KTRX_HWT_UNIT_CONTROL_TIME;
	page()->stamp = 1;
	page()->frequency = UINT64_C(1000000000);
	page()->ranges = 1;
	page()->range[0].start = 0x1000;
	page()->range[0].end = 0x2000;
	ring(KTRX_HWT_UNIT_ENABLE);
	for (unsigned i = 0; i < 1000; i++) {
		test_time += 2500;
		machine_run(outside);
		machine_run(inside);
	}
	ring(KTRX_HWT_UNIT_DISABLE);
	assert_in_range(page()->position, 5 * 1000, 12 * 1000);
}

static void invalid_output_is_refused(void **state)
{
	struct ktrx_hwt_extent *table = at(TABLE, 2 * sizeof(*table));

	(void)state;
	fill_in(0);
	ring(KTRX_HWT_UNIT_ENABLE);
	assert_int_equal(page()->error, KTRX_HWT_UNIT_ERROR_OUTPUT);
	fill_in(4096);
	table[1].size = UINT64_MAX;
	ring(KTRX_HWT_UNIT_ENABLE);
	assert_int_equal(page()->error, KTRX_HWT_UNIT_ERROR_OUTPUT);
	fill_in(4096);
	page()->extents = 4096;
	ring(KTRX_HWT_UNIT_ENABLE);
	assert_int_equal(page()->error, KTRX_HWT_UNIT_ERROR_OUTPUT);
	fill_in(4096);
	page()->table = BASE + MEMORY_SIZE - 16;
	ring(KTRX_HWT_UNIT_ENABLE);
	assert_int_equal(page()->error, KTRX_HWT_UNIT_ERROR_OUTPUT);
	assert_int_equal(flow_enabled(), 0);
	unit_ring(0, 0, 0);
	unit_ring(0, UINT64_MAX, 0);
	unit_ring(2, PAGE + offsetof(struct ktrx_hwt_unit, doorbell), 0);
}

/* Writes random pages, tables and doorbells. Most of them are valid enough that the unit accepts them. */
static void random_pages_do_not_crash_the_unit(void **state)
{
	struct block *block[3] = { machine_block(0x1000, "\x01\x90\x02\xff\xe0"),
				   machine_block(0x7000, "\x02\x75\xfe"),
				   machine_block(0x51000, "\x01\xc3") };
	uint64_t *words = (uint64_t *)(void *)page();

	(void)state;
	srandom(4);
	for (unsigned i = 0; i < 20000; i++) {
		fill_in(1u << random() % 16);
		for (unsigned k = 0; k < 4; k++) {
			unsigned word = (unsigned)random() % 40;

			if (word > 1)
				words[word] = random() % 2 ? (uint64_t)random() << random() % 40
							   : UINT64_MAX - (uint64_t)random() % 99;
		}
		if (random() % 4 == 0)
			((uint64_t *)at(TABLE, 32))[random() % 4] = BASE + (uint64_t)random();
		ring((uint32_t)random() % 4 == 0 ? (uint32_t)random() % 256 : KTRX_HWT_UNIT_ENABLE);
		for (unsigned k = 0; k < 50; k++)
			machine_run(block[random() % 3]);
		ring((uint32_t)random() % 9);
	}
	fill_in(4096);
	ring(KTRX_HWT_UNIT_DISABLE);
	assert_int_equal(flow_enabled(), 0);
}

static void arguments_are_checked(void **state)
{
	char *good[] = { "ram=/m",     "base=0x40000000", "out=/o",	  "size=1M",
			 "code=2G",    "exact=on",	  "time=off",	  "returns=0",
			 "level=user", "user=0x1000-2M",  "range=08-010", "range=0x10-0x20" };
	char *bad[] = { "x=1",	       "ram",
			"ram=",	       "base=1",
			"size=65535",  "size=32K",
			"size=1.5M",   "code=-1",
			"exact=maybe", "level=both",
			"user=5-5",    "range=7",
			"range=1-2x",  "size=99999999999999999999",
			"level=user" };
	struct arguments arguments;
	const char *message;

	(void)state;
	assert_int_equal(arguments_read(&arguments, sizeof(good) / sizeof(good[0]), good, &message), 0);
	assert_int_equal(arguments.ring_size, 1 << 20);
	assert_int_equal(arguments.user_end, 2 << 20);
	assert_int_equal(arguments.ranges, 2);
	assert_int_equal(arguments.range[0].start, 8);
	assert_int_equal(arguments.range[0].end, 10);
	assert_true(arguments.exact && !arguments.time && !arguments.returns && arguments.user &&
		    !arguments.kernel);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(arguments_read(&arguments, 1, &bad[i], &message), -1);
		assert_non_null(strstr(message, bad[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_outside_bounds_is_refused),
		cmocka_unit_test(probe_identifies_the_unit),
		cmocka_unit_test(output_continues_after_disable),
		cmocka_unit_test(invalid_output_is_refused),
		cmocka_unit_test(range_entries_write_only_low_bits_of_time),
		cmocka_unit_test(clock_never_goes_back),
		cmocka_unit_test(time_of_slow_code_is_written),
		cmocka_unit_test(random_pages_do_not_crash_the_unit),
		cmocka_unit_test(arguments_are_checked),
		cmocka_unit_test(enable_takes_the_thread_of_the_page),
	};

	return cmocka_run_group_tests(tests, open_memory, NULL);
}
