/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the bytes that hooks write in DragonFly's format, and its times. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "test/fake/machine.h"
#include "unit/support/proc_support.h"

static struct proc_sink sink;
static struct proc_process *self;

/* Traces the first process into the sink, with all facilities. */
static void trace_dragonfly(void)
{
	struct ktrace_proc_sink_config config = proc_config();

	config.format = KTRACE_PROC_FORMAT_DRAGONFLY;
	proc_start();
	self = proc_first();
	fake.thread = 7;
	fake.cpu = 2;
	assert_int_equal(proc_open(&sink, &config), KTRACE_OK);
	proc_trace(self, &sink, KTRACE_PROC_ALL);
}

static int teardown(void **state)
{
	if (self->trace.sink)
		proc_exit(self);
	proc_free(&sink);
	return proc_check(state);
}

static uint64_t wall_ns(uint64_t stamp)
{
	(void)stamp;
	return UINT64_C(1700000000123456789);
}

/* Compares a file with records of all types with the bytes that the format defines. */
static void dragonfly_records_have_the_documented_bytes(void **state)
{
	static const uint64_t mask[2] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };
	static uint8_t expected[1024];
	static const struct {
		uint16_t type;
		const char *payload;
		uint32_t size;
	} records[] = {
		{ 1,
		  "\x21\0\2\0\0\0\0\0"
		  "\1\0\0\0\0\0\0\0"
		  "\2\0\0\0\0\0\0\0",
		  24 },
		{ 3, "/bin/ls", 7 },
		{ 4,
		  "\4\0\0\0"
		  "\1\0\0\0"
		  "hey",
		  11 },
		{ 5,
		  "\x0b\0\0\0\0\0\0\0"
		  "\0\x10\x40\0\0\0\0\0"
		  "\xfa\xff\xff\xff"
		  "\0\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe\xf"
		  "\0\0\0\0",
		  40 },
		{ 6,
		  "\1\0\0\0"
		  "\0\0\0\0",
		  8 },
		{ 6,
		  "\0\0\0\0"
		  "\1\0\0\0",
		  8 },
		{ 7, "mine!", 5 },
		{ 9, "kern.ostype", 11 },
		{ 2,
		  "\x21\0\0\0"
		  "\2\0\0\0"
		  "\xff\xff\xff\xff\xff\xff\xff\xff",
		  16 },
	};
	uint32_t size = 0;

	(void)state;
	proc_kernel.wall_ns = wall_ns;
	trace_dragonfly();
	ktrace_proc_syscall(&self->trace, &self->thread, 33, 2, (const uint64_t[]){ 1, 2 });
	ktrace_proc_namei(&self->trace, &self->thread, "/bin/ls", 7);
	memcpy(proc_user, "hey", 3);
	ktrace_proc_genio(&self->trace, &self->thread, 4, 1, PROC_USER_BASE, 3);
	ktrace_proc_psig(&self->trace, &self->thread, 11, -6, 0x401000, mask);
	ktrace_proc_csw(&self->trace, &self->thread, 1, 1, "pipe");
	ktrace_proc_csw(&self->trace, &self->thread, 0, 0, NULL);
	memcpy(proc_user, "mine!", 5);
	assert_int_equal(ktrace_proc_user(&self->trace, &self->thread, PROC_USER_BASE, 5), KTRACE_OK);
	ktrace_proc_sysctl(&self->trace, &self->thread, "kern.ostype", 11);
	/* DragonFly's format has no records for these hooks. */
	ktrace_proc_fault(&self->trace, &self->thread, 1, 1, 1);
	ktrace_proc_fault_end(&self->trace, &self->thread, 0);
	ktrace_proc_struct(&self->trace, &self->thread, "stat", "", 1);
	ktrace_proc_denied(&self->trace, &self->thread, 1, 0, 0, NULL);
	ktrace_proc_sysret(&self->trace, &self->thread, 33, 2, -1);
	proc_exit(self);
	for (uint32_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		static const uint8_t times[] = { 0x00, 0xf1, 0x53, 0x65, 0, 0, 0, 0,
						 0x40, 0xe2, 0x01, 0,	 0, 0, 0, 0 };
		uint8_t *head = expected + size;

		head[0] = (uint8_t)records[i].size;
		head[4] = (uint8_t)records[i].type;
		head[6] = 1;
		head[7] = 2; /* number of the CPU */
		head[8] = 1;
		head[12] = 7;
		memcpy(head + 16, "first", 5);
		memcpy(head + 40, times, sizeof(times));
		memcpy(head + 64, records[i].payload, records[i].size);
		size += 64 + records[i].size;
	}
	assert_int_equal(sink.file.size, size);
	assert_memory_equal(sink.file.bytes, expected, size);
	assert_int_equal(sink.sink.records, sizeof(records) / sizeof(records[0]));
	assert_int_equal(sink.sink.lost, 0);
}

static void dragonfly_names_are_cut(void **state)
{
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	memcpy(proc_first()->name, "a-name-of-twenty-one!", 22);
	trace_dragonfly();
	ktrace_proc_syscall(&self->trace, &self->thread, 1, 0, NULL);
	ktrace_proc_flush(NULL);
	proc_walk(&walk, &sink);
	assert_true(proc_next(&walk, &seen));
	assert_string_equal(seen.name, "a-name-of-twenty");
	for (uint32_t i = 33; i < 40; i++)
		assert_int_equal(sink.file.bytes[i], 0);
}

/*
 * If the kernel has no callback for the time, times begin at the given wall time or, if none is given, at 0.
 * If the frequency of the clock is unknown, its ticks count as nanoseconds.
 */
static void dragonfly_times_come_from_the_clock(void **state)
{
	static const struct {
		uint64_t frequency, wall_stamp, wall_ns, sec, usec;
	} cases[] = {
		{ 0, 0, 0, 5, 250000 },
		{ 500000000, 0, 0, 10, 500000 },
		{ 1000000000, 4250000000, 1700000000000000000, 1700000001, 0 },
		{ 1000000000, 6000000000, 1700000000000000000, 1699999999, 250000 },
		{ 3000000000, 0, 0, 1, 750000 },
	};
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	trace_dragonfly();
	fake.step = 0;
	fake.clock = 5250000000;
	for (uint32_t i = 0; i < 5; i++) {
		ktrace_root.frequency = cases[i].frequency;
		ktrace_root.wall_stamp = cases[i].wall_stamp;
		ktrace_root.wall_ns = cases[i].wall_ns;
		ktrace_proc_syscall(&self->trace, &self->thread, 1, 0, NULL);
	}
	ktrace_proc_flush(NULL);
	proc_walk(&walk, &sink);
	for (uint32_t i = 0; i < 5; i++) {
		assert_true(proc_next(&walk, &seen));
		assert_int_equal(seen.sec, cases[i].sec);
		assert_int_equal(seen.usec, cases[i].usec);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, proc_reset, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(dragonfly_records_have_the_documented_bytes),
		TEST(dragonfly_names_are_cut),
		TEST(dragonfly_times_come_from_the_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
