/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests full disks, limits of the file size, and full buffers. The file must be readable, missing records
 * must be counted, and other sinks must not be affected.
 */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <ktread/ktread.h>
#include <ktread/proc.h>

#include "test/fake/machine.h"
#include "unit/support/proc_support.h"

#define CALLS KTRACE_PROC_FACILITY(KTRX_PROC_SYSCALL)

static struct proc_sink sink, other;
/* The file that the host's reader opens. */
static char path[] = "/tmp/ktrace-proc-full-XXXXXX";
static int file;

static int setup(void **state)
{
	proc_reset(state);
	proc_start();
	return 0;
}

static int teardown(void **state)
{
	proc_free(&sink);
	proc_free(&other);
	return proc_check(state);
}

/* ---- A sequence of records of all types -------------------------------------------------------- */

static void record_all_types(struct proc_process *self)
{
	static const uint64_t words[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	for (uint32_t i = 0; i < sizeof(words); i++)
		proc_user[i] = (uint8_t)i;
	ktrace_proc_syscall(&self->trace, &self->thread, 1, 6, words);
	ktrace_proc_namei(&self->trace, &self->thread, "/usr/lib/libc.so", 16);
	ktrace_proc_genio(&self->trace, &self->thread, 3, 0, PROC_USER_BASE, 13);
	ktrace_proc_sysret(&self->trace, &self->thread, 1, 0, 13);
	ktrace_proc_psig(&self->trace, &self->thread, 9, 0, 0, words);
	ktrace_proc_csw(&self->trace, &self->thread, 1, 1, "tty");
	ktrace_proc_csw(&self->trace, &self->thread, 0, 1, NULL);
	ktrace_proc_user(&self->trace, &self->thread, PROC_USER_BASE, 57);
	ktrace_proc_struct(&self->trace, &self->thread, "pair", words, 16);
	ktrace_proc_sysctl(&self->trace, &self->thread, "kern.osrelease", 14);
	ktrace_proc_fault(&self->trace, &self->thread, 0x1000, 1, 1);
	ktrace_proc_fault_end(&self->trace, &self->thread, 0);
	ktrace_proc_denied(&self->trace, &self->thread, 1, 6, 4, "/etc/shadow");
	ktrace_proc_struct_array(&self->trace, &self->thread, "x", words, 8, 3);
	ktrace_proc_renamed(&self->trace);
	ktrace_proc_syscall(&self->trace, &self->thread, 2, 0, NULL);
	ktrace_proc_sysret(&self->trace, &self->thread, 2, 5, -1);
}

/* Parameters of a test run. */
struct way {
	uint32_t format;
	const struct ktrace_proc_sink_operations *operations;
	size_t drain_at;
	size_t most; /* maximum number of bytes per write to the file */
	bool silent;
	bool reader; /* true if the test also reads the file with the host's reader, which takes long */
};

/* Resets the first process, which may have ended, and returns it: it is alive and not traced. */
static struct proc_process *reset_process(void)
{
	struct proc_process *self = proc_first();

	memset(&self->trace, 0, sizeof(self->trace));
	memset(&self->thread, 0, sizeof(self->thread));
	return self;
}

/* Runs a whole process with a sink on a disk of this capacity. Returns the result of opening the sink. */
static int run(const struct way *way, size_t capacity)
{
	struct ktrace_proc_sink_config config = proc_config();
	struct proc_process *self;
	int error;

	sink.file.size = 0;
	sink.file.capacity = capacity;
	sink.file.most = way->most;
	sink.file.silent = way->silent;
	sink.closed = 0;
	fake.clock = 1000;
	config.format = way->format;
	config.operations = way->operations;
	config.drain_at = way->drain_at;
	error = proc_open(&sink, &config);
	if (error)
		return error;
	self = reset_process();
	proc_trace(self, &sink, KTRACE_PROC_ALL);
	record_all_types(self);
	ktrace_proc_exit(&self->trace, &self->thread, 0, 0);
	assert_int_equal(sink.sink.state, KTRACE_PROC_SINK_CLOSED);
	return KTRACE_OK;
}

/*
 * Checks with the host's reader that the file has this number of records. After these records, the file must
 * end or, if `torn` is set, be damaged.
 */
static void read_back(uint32_t format, uint32_t records, bool torn)
{
	struct ktread_proc_options options = { .size = sizeof(options),
					       .format = format == KTRACE_PROC_FORMAT_KTRX
								 ? KTREAD_PROC_KTRX
								 : KTREAD_PROC_DRAGONFLY };
	const struct ktread_proc_record *record;
	struct ktread_proc *trace;
	uint32_t count = 0;
	int got;

	assert_int_equal(pwrite(file, sink.file.bytes, sink.file.size, 0), sink.file.size);
	assert_int_equal(ftruncate(file, (off_t)sink.file.size), 0);
	got = ktread_proc_open(&trace, path, &options);
	if (got < 0) { /* the file is empty, or ends within its head */
		assert_int_equal(records, 0);
		return;
	}
	while ((got = ktread_proc_next(trace, &record)) > 0)
		count++;
	if (got < 0 && !torn)
		fail_msg("%s", ktread_proc_message(trace));
	assert_int_equal(got < 0, torn);
	assert_int_equal(count, records);
	ktread_proc_close(trace);
}

/* Checks that all records of the file except END are the same as at the beginning of `whole`. */
static void same_records(const uint8_t *whole)
{
	struct proc_walk walk;
	struct proc_seen seen;
	size_t end = 0;

	proc_walk(&walk, &sink);
	while (proc_next(&walk, &seen) && seen.type != KTRX_PROC_END)
		end = seen.end;
	assert_memory_equal(sink.file.bytes, whole, end);
}

/* The complete file, as written to a disk that is large enough. */
struct whole {
	uint8_t *bytes;
	size_t size;
	uint64_t records;
};

static void full_at(const struct way *way, const struct whole *whole, size_t capacity)
{
	bool can_truncate = way->operations->truncate != NULL;
	uint32_t count = 0, ends = 0;
	int error = run(way, capacity);
	struct proc_walk walk;
	struct proc_seen seen;

	proc_walk(&walk, &sink);
	for (; proc_next(&walk, &seen); count++)
		if (way->format == KTRACE_PROC_FORMAT_KTRX && seen.type == KTRX_PROC_END)
			ends++;
	same_records(whole->bytes);
	assert_true(sink.file.size <= capacity);
	assert_false(walk.torn && can_truncate);
	if (way->reader)
		read_back(way->format, count, walk.torn);
	if (error) {
		assert_int_equal(error, KTRACE_ERROR_DEVICE);
		assert_int_equal(sink.file.size, can_truncate ? 0 : capacity);
		return;
	}
	assert_int_equal(sink.sink.records, count - ends);
	assert_int_equal(sink.sink.bytes, sink.file.size);
	assert_int_equal(sink.sink.error, capacity < whole->size && !way->silent ? PROC_ENOSPC : 0);
	if (sink.sink.records == whole->records)
		return; /* only END can be missing */
	assert_int_equal(sink.sink.reason, KTRX_PROC_ENDED_ERROR);
	assert_true(sink.sink.lost > 0);
	if (way->drain_at > whole->size)
		assert_int_equal(sink.sink.records + sink.sink.lost, whole->records);
}

static void full_at_every_byte(const struct way *way)
{
	struct whole whole;

	/* the first run makes the nonce of this boot, which all runs that are compared must have */
	run(way, PROC_FILE_MAX);
	assert_int_equal(run(way, PROC_FILE_MAX), KTRACE_OK);
	assert_int_equal(sink.sink.lost, 0);
	assert_int_equal(sink.sink.reason, KTRX_PROC_ENDED_CLOSED);
	whole.records = sink.sink.records;
	whole.size = sink.file.size;
	whole.bytes = malloc(whole.size);
	assert_non_null(whole.bytes);
	memcpy(whole.bytes, sink.file.bytes, whole.size);
	for (size_t capacity = 0; capacity <= whole.size; capacity++)
		full_at(way, &whole, capacity);
	free(whole.bytes);
}

#define AT_THE_END PROC_BUFFER

static void a_ktrx_file_is_readable_if_the_disk_fills_at_any_byte(void **state)
{
	static const struct way ways[] = {
		{ KTRACE_PROC_FORMAT_KTRX, &proc_operations, 0, 0, false, true },
		{ KTRACE_PROC_FORMAT_KTRX, &proc_operations, AT_THE_END, 0, false, false },
		{ KTRACE_PROC_FORMAT_KTRX, &proc_operations_bare, 0, 0, false, true },
		{ KTRACE_PROC_FORMAT_KTRX, &proc_operations_bare, AT_THE_END, 0, true, false },
		{ KTRACE_PROC_FORMAT_KTRX, &proc_operations, AT_THE_END, 7, true, false },
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		full_at_every_byte(&ways[i]);
}

static void a_dragonfly_file_is_readable_if_the_disk_fills_at_any_byte(void **state)
{
	static const struct way ways[] = {
		{ KTRACE_PROC_FORMAT_DRAGONFLY, &proc_operations, 0, 0, false, false },
		{ KTRACE_PROC_FORMAT_DRAGONFLY, &proc_operations, AT_THE_END, 0, true, false },
		{ KTRACE_PROC_FORMAT_DRAGONFLY, &proc_operations_bare, 0, 0, false, true },
		{ KTRACE_PROC_FORMAT_DRAGONFLY, &proc_operations_bare, AT_THE_END, 5, false, false },
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		full_at_every_byte(&ways[i]);
}

/* ---- Full disks -------------------------------------------------------------------------------- */

static void only_the_affected_sink_stops(void **state)
{
	struct proc_process *one = proc_fork(proc_first()), *two = proc_fork(proc_first());

	(void)state;
	sink.file.capacity = 1000;
	proc_open_default(&sink);
	proc_open_default(&other);
	proc_trace(one, &sink, CALLS | KTRACE_PROC_INHERIT);
	proc_trace(two, &other, CALLS);
	for (uint32_t i = 0; i < 100; i++) {
		ktrace_proc_syscall(&one->trace, &one->thread, i, 0, NULL);
		ktrace_proc_syscall(&two->trace, &two->thread, i, 0, NULL);
		ktrace_proc_sysret(&two->trace, &two->thread, i, 0, 0);
		if (i == 20)
			proc_fork(one);
		ktrace_proc_sysret(&one->trace, &one->thread, i, 0, 0);
	}
	/* No process is traced into the sink any more, so the sink was closed. */
	assert_int_equal(sink.closed, 1);
	assert_null(one->trace.sink);
	assert_int_equal(one->trace.facilities, 0);
	assert_null(proc_process[3].trace.sink);
	assert_int_equal(sink.sink.reason, KTRX_PROC_ENDED_ERROR);
	assert_int_equal(sink.sink.error, PROC_ENOSPC);
	assert_true(sink.file.truncations > 0);
	assert_ptr_equal(two->trace.sink, &other.sink);
	proc_exit(two);
	assert_int_equal(proc_count(&other, KTRX_PROC_SYSCALL), 100);
	assert_int_equal(other.sink.reason, KTRX_PROC_ENDED_CLOSED);
	assert_int_equal(other.sink.error, 0);
	assert_int_equal(proc_count(&sink, 0),
			 sink.sink.records + (1000 - 64 - 40 * sink.sink.records >= 64));
}

/* A sink that cannot be opened leaves the file unchanged. */
static void open_without_room_is_an_error(void **state)
{
	const struct ktrace_proc_sink_config config = proc_config();

	(void)state;
	proc_open_default(&sink);
	proc_release(&sink);
	sink.file.capacity = sink.file.size + 63;
	assert_int_equal(proc_open(&sink, &config), KTRACE_ERROR_DEVICE);
	assert_int_equal(sink.sink.error, PROC_ENOSPC);
	assert_int_equal(sink.file.size, sink.file.capacity - 63);
	assert_int_equal(proc_count(&sink, 0), 1); /* only one record, the END of the first session */
	assert_null(ktrace_proc_sink_find(&sink));
}

static void write_all_that_waits(struct proc_file *written)
{
	(void)written;
	ktrace_proc_flush(NULL);
}

/*
 * A sink that is being opened will fail, and its memory will be freed. A flush of all sinks in this time must
 * not use it.
 */
static void a_sink_being_opened_is_not_used(void **state)
{
	const struct ktrace_proc_sink_config config = proc_config();

	proc_reset(state);
	proc_kernel.table = "0 exit void, int status, and what else there is of calls";
	proc_start();
	sink.file.in_write = write_all_that_waits;
	sink.file.capacity = 64 + 64; /* END fits, the table does not */
	assert_int_equal(proc_open(&sink, &config), KTRACE_ERROR_DEVICE);
	assert_int_equal(sink.sink.reason, KTRX_PROC_ENDED_ERROR);
	assert_int_equal(sink.file.size, 0);
}

/* ---- Limits of the file size ------------------------------------------------------------------- */

static void limited_to(uint32_t format, uint64_t limit)
{
	struct ktrace_proc_sink_config config = proc_config();
	struct proc_process *self = reset_process();
	struct proc_walk walk;
	struct proc_seen seen;
	uint32_t count = 0;

	sink.file.size = 0;
	config.format = format;
	config.limit = limit;
	assert_int_equal(proc_open(&sink, &config), KTRACE_OK);
	proc_trace(self, &sink, KTRACE_PROC_ALL);
	for (uint32_t i = 0; i < 3; i++)
		record_all_types(self);
	/* After the limit is reached, the trace ends at the return of the next system call or earlier. */
	assert_null(self->trace.sink);
	assert_int_equal(sink.sink.state, KTRACE_PROC_SINK_CLOSED);
	assert_int_equal(sink.sink.reason, KTRX_PROC_ENDED_LIMIT);
	assert_int_equal(sink.sink.error, 0);
	assert_int_equal(sink.sink.lost, 0);
	assert_true(sink.file.size <= limit);
	proc_walk(&walk, &sink);
	while (proc_next(&walk, &seen))
		count++;
	assert_false(walk.torn);
	if (limit % 16 == 0)
		read_back(format, count, false);
	if (format == KTRACE_PROC_FORMAT_KTRX)
		assert_int_equal(proc_bits(sink.file.bytes + sink.file.size - 32, 4), KTRX_PROC_ENDED_LIMIT);
	assert_int_equal(sink.sink.records, count - (format == KTRACE_PROC_FORMAT_KTRX));
}

/* The limit is reached before all requested processes are traced. Then none of them is traced. */
static void a_limit_reached_while_setting_several_traces_none(void **state)
{
	struct ktrace_proc_sink_config config = proc_config();
	struct proc_process *self = proc_first();

	(void)state;
	proc_fork(self), proc_fork(self);
	/* room for a head, the records NAME and PROCCTOR of one process, and END */
	config.limit = 64 + 64 + 40 + 48;
	assert_int_equal(proc_open(&sink, &config), KTRACE_OK);
	assert_int_equal(proc_control(self, KTRACE_PROC_SET | KTRACE_PROC_DESCEND, KTRACE_PROC_ALL, 1, &sink),
			 KTRACE_ERROR_DEVICE);
	for (uint32_t i = 0; i < 3; i++)
		assert_null(proc_process[i].trace.sink);
	assert_int_equal(proc_count(&sink, KTRX_PROC_PROCCTOR), 1);
	assert_int_equal(proc_count(&sink, KTRX_PROC_END), 1);
	proc_release(&sink);
}

static void every_limit_is_kept(void **state)
{
	(void)state;
	for (uint64_t limit = 129; limit < 2000; limit++)
		limited_to(KTRACE_PROC_FORMAT_KTRX, limit);
	for (uint64_t limit = 1; limit < 2000; limit++)
		limited_to(KTRACE_PROC_FORMAT_DRAGONFLY, limit);
}

/* ---- Lost records ------------------------------------------------------------------------------ */

/* Returns the sum of `lost` of all records in the file. */
static uint64_t lost_in_file(void)
{
	struct proc_walk walk;
	struct proc_seen seen;
	uint64_t lost = 0;

	proc_walk(&walk, &sink);
	while (proc_next(&walk, &seen))
		lost += seen.lost;
	assert_false(walk.torn);
	return lost;
}

/*
 * If no hook may sleep, a full buffer is not written to the file. The number of records that do not fit is
 * counted exactly.
 */
static void lost_records_are_counted_exactly(void **state)
{
	struct proc_process *self = proc_first();
	uint64_t fired = 0;

	(void)state;
	proc_open_default(&sink);
	proc_trace(self, &sink, KTRACE_PROC_ALL & ~KTRACE_PROC_FACILITY(KTRX_PROC_PROCCTOR));
	for (uint32_t round = 1; round < 60; round++) {
		/* Makes records of many sizes, so that records cross the buffer's end at many offsets. */
		for (uint32_t i = 0; i < 40 * round; i++, fired++)
			ktrace_proc_denied(&self->trace, &self->thread, 1, 0, 0,
					   "/a/path/that/is/quite/long" + (fired + round) % 27);
		ktrace_proc_sysret(&self->trace, &self->thread, 1, 0, 0);
		fired++;
	}
	assert_true(sink.sink.lost > 1000);
	proc_exit(self);
	fired += 2; /* the records NAME and PROCDTOR */
	assert_int_equal(sink.sink.records + sink.sink.lost, fired);
	assert_int_equal(proc_count(&sink, 0), sink.sink.records + 1);
	assert_int_equal(lost_in_file(), sink.sink.lost);
}

/* Hooks that may sleep write the buffer to the file. Nothing is lost with a buffer of any size. */
static void hooks_that_may_sleep_lose_nothing(void **state)
{
	struct ktrace_proc_sink_config config = proc_config();
	struct proc_process *self = proc_first();
	static char name[3000];

	(void)state;
	config.buffer_size = KTRACE_PROC_BUFFER_MIN;
	config.drain_at = SIZE_MAX;
	assert_int_equal(proc_open(&sink, &config), KTRACE_OK);
	proc_trace(self, &sink, KTRACE_PROC_ALL);
	for (uint32_t i = 0; i < 1000; i++)
		ktrace_proc_namei(&self->trace, &self->thread, name, i * 3);
	for (uint32_t i = 0; i < 100; i++)
		ktrace_proc_genio(&self->trace, &self->thread, 1, 1, PROC_USER_BASE, 4096);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(ktrace_proc_user(&self->trace, &self->thread, PROC_USER_BASE, 2048),
				 KTRACE_OK);
	proc_exit(self);
	assert_int_equal(sink.sink.lost, 0);
	assert_int_equal(proc_count(&sink, KTRX_PROC_NAMEI), 1000);
	assert_int_equal(proc_count(&sink, KTRX_PROC_GENIO), 100);
	assert_int_equal(proc_count(&sink, KTRX_PROC_USER), 100);
}

/*
 * The disk becomes full in the middle of a record. When it has space again, the file continues at the same
 * byte.
 */
static void retry_continues_when_there_is_room_again(void **state)
{
	struct ktrace_proc_sink_config config = proc_config();
	struct proc_process *self = proc_first();
	uint64_t fired = 0;

	(void)state;
	config.on_error = KTRACE_PROC_RETRY;
	sink.file.capacity = 64 + 32;
	assert_int_equal(proc_open(&sink, &config), KTRACE_OK);
	proc_trace(self, &sink, CALLS);
	for (uint32_t i = 0; i < 5000; i++) {
		ktrace_proc_syscall(&self->trace, &self->thread, i, 0, NULL);
		ktrace_proc_sysret(&self->trace, &self->thread, i, 0, 0);
		fired++;
		/* the buffer is full; now the disk gets more space */
		if (i % 1700 == 1699)
			sink.file.capacity += 30011;
	}
	assert_int_equal(sink.sink.state, KTRACE_PROC_SINK_OPEN);
	assert_int_equal(sink.sink.error, PROC_ENOSPC);
	/* the process is not traced */
	assert_int_equal(ktrace_proc_user(&self->trace, &self->thread, 0, 1), KTRACE_OK);
	assert_int_equal(proc_control(self, KTRACE_PROC_SET, KTRACE_PROC_FACILITY(KTRX_PROC_USER), 1, &sink),
			 KTRACE_OK);
	assert_int_equal(ktrace_proc_user(&self->trace, &self->thread, PROC_USER_BASE, 2048),
			 KTRACE_ERROR_LOST);
	fired++;
	sink.file.capacity = PROC_FILE_MAX;
	proc_exit(self);
	assert_int_equal(sink.sink.reason, KTRX_PROC_ENDED_CLOSED);
	assert_true(sink.sink.lost > 500);
	assert_int_equal(sink.sink.records + sink.sink.lost, fired + 1);
	assert_int_equal(proc_count(&sink, 0), sink.sink.records + 1);
	assert_int_equal(lost_in_file(), sink.sink.lost);
	assert_int_equal(sink.file.truncations, 0);
}

/* If the disk stays full, the records that were never written are counted as lost at the end. */
static void retry_counts_losses_while_the_disk_is_full(void **state)
{
	struct ktrace_proc_sink_config config = proc_config();
	struct proc_process *self = proc_first();

	(void)state;
	config.on_error = KTRACE_PROC_RETRY;
	sink.file.capacity = 64 + 40 * 3 + 39;
	assert_int_equal(proc_open(&sink, &config), KTRACE_OK);
	proc_trace(self, &sink, CALLS);
	for (uint32_t i = 0; i < 100; i++) {
		ktrace_proc_syscall(&self->trace, &self->thread, i, 0, NULL);
		ktrace_proc_sysret(&self->trace, &self->thread, i, 0, 0);
	}
	assert_int_equal(sink.sink.state, KTRACE_PROC_SINK_OPEN);
	assert_int_equal(sink.sink.lost, 0);
	proc_exit(self);
	assert_int_equal(sink.sink.reason, KTRX_PROC_ENDED_CLOSED);
	assert_int_equal(sink.sink.records, 3);
	assert_int_equal(sink.sink.lost, 101 - 3);
	assert_int_equal(proc_count(&sink, 0), 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_ktrx_file_is_readable_if_the_disk_fills_at_any_byte),
		TEST(a_dragonfly_file_is_readable_if_the_disk_fills_at_any_byte),
		TEST(only_the_affected_sink_stops),
		TEST(open_without_room_is_an_error),
		TEST(a_sink_being_opened_is_not_used),
		TEST(every_limit_is_kept),
		TEST(a_limit_reached_while_setting_several_traces_none),
		TEST(lost_records_are_counted_exactly),
		TEST(hooks_that_may_sleep_lose_nothing),
		TEST(retry_continues_when_there_is_room_again),
		TEST(retry_counts_losses_while_the_disk_is_full),
	};
	int failed;

	file = mkstemp(path);
	if (file < 0)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	close(file);
	unlink(path);
	return failed;
}
