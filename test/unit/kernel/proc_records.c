/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the bytes that hooks write in the format KTRX, and that some hooks write nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "test/fake/machine.h"
#include "unit/support/proc_support.h"

static struct proc_sink sink;
static struct proc_process *self;

/* Traces the first process into the sink, with all facilities. */
static void trace(const struct ktrace_proc_sink_config *config)
{
	proc_start();
	self = proc_first();
	fake.thread = 7;
	fake.cpu = 2;
	assert_int_equal(proc_open(&sink, config), KTRACE_OK);
	proc_trace(self, &sink, KTRACE_PROC_ALL);
}

static void trace_ktrx(void)
{
	const struct ktrace_proc_sink_config config = proc_config();

	trace(&config);
}

/*
 * Writes the buffered records to the file, and finds the next record of this type in the file. It must be of
 * the first process.
 */
static void find(uint32_t type, struct proc_seen *seen)
{
	struct proc_walk walk;

	ktrace_proc_flush(&self->thread);
	proc_walk(&walk, &sink);
	proc_find(&walk, type, seen);
	assert_int_equal(seen->pid, 1);
	assert_int_equal(seen->tid, 7);
	assert_int_equal(seen->cpu, 2);
	assert_int_equal(seen->lost, 0);
}

static int teardown(void **state)
{
	if (self->trace.sink)
		proc_exit(self);
	proc_free(&sink);
	return proc_check(state);
}

static void words_equal(const uint8_t *payload, const uint64_t *words, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(proc_bits(payload + 8 * i, 8), words[i]);
}

static const uint64_t arguments[9] = { 1, 2, UINT64_MAX, 4, 5, 6, 7, 8, 9 };

/* ---- The format KTRX --------------------------------------------------------------------------- */

static void a_session_starts_with_head_and_table(void **state)
{
	struct proc_walk walk;
	struct proc_seen seen;
	static char table[10000];
	uint32_t length = 0;

	(void)state;
	memset(table, 'x', sizeof(table) - 1);
	proc_kernel.table = table;
	ktrace_root.frequency = 1000000000;
	ktrace_root.nonce = 0x1122334455667788;
	trace_ktrx();
	assert_int_equal(proc_bits(sink.file.bytes + 8, 8), 1000000000);
	assert_int_equal(proc_bits(sink.file.bytes + 16, 8), 0x1122334455667788);
	proc_walk(&walk, &sink);
	while (length < sizeof(table) - 1) {
		assert_true(proc_next(&walk, &seen));
		assert_int_equal(seen.type, KTRX_PROC_TABLE);
		assert_int_equal(seen.pid, 0);
		assert_memory_equal(seen.payload, table + length, seen.size);
		length += seen.size;
	}
	assert_int_equal(length, sizeof(table) - 1);
	assert_int_equal(walk.heads, 1);
	ktrace_root.frequency = 0;
}

static void name_and_start_precede_other_records(void **state)
{
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	trace_ktrx();
	ktrace_proc_flush(NULL);
	proc_walk(&walk, &sink);
	assert_true(proc_next(&walk, &seen));
	assert_int_equal(seen.type, KTRX_PROC_NAME);
	assert_int_equal(seen.size, 5);
	assert_memory_equal(seen.payload, "first", 5);
	assert_true(proc_next(&walk, &seen));
	assert_int_equal(seen.type, KTRX_PROC_PROCCTOR);
	assert_int_equal(seen.flags, KTRX_PROC_QUEUED);
	assert_int_equal(seen.pid, 1);
	assert_int_equal(seen.tid, 0);
	words_equal(seen.payload, (const uint64_t[]){ (uint64_t)KTRX_PROC_CTOR_SET << 32 }, 1);
	assert_memory_equal(seen.payload + 8, "first", seen.size - 8);
	assert_false(proc_next(&walk, &seen));
	assert_false(walk.torn);
}

static void a_call_and_its_return_are_recorded(void **state)
{
	struct proc_seen enter, leave;

	(void)state;
	trace_ktrx();
	self->trace.abi = 3;
	ktrace_proc_syscall(&self->trace, &self->thread, 33, 6, arguments);
	ktrace_proc_sysret(&self->trace, &self->thread, 33, 2, -1);
	find(KTRX_PROC_SYSCALL, &enter);
	assert_int_equal(enter.size, 8 + 48);
	assert_int_equal(enter.flags, 0);
	words_equal(enter.payload, (const uint64_t[]){ 33 | UINT64_C(6) << 32 | UINT64_C(3) << 48 }, 1);
	words_equal(enter.payload + 8, arguments, 6);
	find(KTRX_PROC_SYSRET, &leave);
	assert_int_equal(leave.size, 16);
	words_equal(leave.payload, (const uint64_t[]){ 33 | UINT64_C(2) << 32, UINT64_MAX }, 2);
	assert_true(enter.stamp < leave.stamp);
	assert_true(enter.stamp > UINT64_C(0x123456789a));
}

static void excess_arguments_are_left_out(void **state)
{
	struct proc_seen seen;

	(void)state;
	trace_ktrx();
	ktrace_proc_syscall(&self->trace, &self->thread, 1, 9, arguments);
	find(KTRX_PROC_SYSCALL, &seen);
	assert_int_equal(seen.flags, KTRX_PROC_CUT);
	assert_int_equal(seen.size, 8 + 64);
	words_equal(seen.payload + 8, arguments, 8);
}

static void a_call_without_arguments_is_recorded(void **state)
{
	struct proc_seen seen;

	(void)state;
	trace_ktrx();
	ktrace_proc_syscall(&self->trace, &self->thread, UINT32_MAX, 0, NULL);
	find(KTRX_PROC_SYSCALL, &seen);
	assert_int_equal(seen.size, 8);
	words_equal(seen.payload, (const uint64_t[]){ UINT32_MAX }, 1);
}

static void paths_of_every_length_are_recorded(void **state)
{
	static char path[KTRACE_PROC_DATA_MAX + 20];
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	trace_ktrx();
	for (uint32_t i = 0; i < sizeof(path); i++)
		path[i] = (char)('a' + i % 26);
	/* Strings need not be aligned. */
	for (uint32_t length = 0; length < 40; length++)
		ktrace_proc_namei(&self->trace, &self->thread, path + length % 8, length);
	ktrace_proc_sysctl(&self->trace, &self->thread, path, sizeof(path));
	ktrace_proc_flush(NULL);
	proc_walk(&walk, &sink);
	for (uint32_t length = 0; length < 40; length++) {
		proc_find(&walk, KTRX_PROC_NAMEI, &seen);
		assert_int_equal(seen.size, length);
		assert_int_equal(seen.flags, 0);
		assert_memory_equal(seen.payload, path + length % 8, length);
	}
	proc_find(&walk, KTRX_PROC_SYSCTL, &seen);
	assert_int_equal(seen.size, KTRACE_PROC_DATA_MAX);
	assert_int_equal(seen.flags, KTRX_PROC_CUT);
	assert_memory_equal(seen.payload, path, KTRACE_PROC_DATA_MAX);
}

static void data_is_taken_once_and_cut(void **state)
{
	struct ktrace_proc_sink_config config = proc_config();
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	config.data_max = 100;
	trace(&config);
	memcpy(proc_user, "hello", 5);
	ktrace_proc_genio(&self->trace, &self->thread, 4, 1, PROC_USER_BASE, 5);
	ktrace_proc_genio(&self->trace, &self->thread, -1, 0, PROC_USER_BASE, 5000);
	ktrace_proc_genio(&self->trace, &self->thread, 0, 0, PROC_USER_BASE, 0);
	assert_int_equal(proc_kernel.copies, 2);
	ktrace_proc_flush(NULL);
	proc_walk(&walk, &sink);
	proc_find(&walk, KTRX_PROC_GENIO, &seen);
	assert_int_equal(seen.size, 16 + 5);
	assert_int_equal(seen.flags, 0);
	words_equal(seen.payload, (const uint64_t[]){ 4 | UINT64_C(1) << 32, 5 }, 2);
	assert_memory_equal(seen.payload + 16, "hello", 5);
	proc_find(&walk, KTRX_PROC_GENIO, &seen);
	assert_int_equal(seen.size, 16 + 100);
	assert_int_equal(seen.flags, KTRX_PROC_CUT);
	words_equal(seen.payload, (const uint64_t[]){ UINT32_MAX, 5000 }, 2);
	assert_memory_equal(seen.payload + 16, proc_user, 100);
	proc_find(&walk, KTRX_PROC_GENIO, &seen);
	assert_int_equal(seen.size, 16);
	assert_int_equal(seen.flags, 0);
}

static void unreadable_data_is_left_out(void **state)
{
	static const uintptr_t bad[] = { 0, PROC_USER_BASE - 1, PROC_USER_BASE + PROC_USER_SIZE - 9,
					 UINTPTR_MAX };
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	trace_ktrx();
	for (uint32_t i = 0; i < 4; i++) {
		ktrace_proc_genio(&self->trace, &self->thread, 3, 0, bad[i], 10);
		assert_int_equal(ktrace_proc_user(&self->trace, &self->thread, bad[i], 10),
				 KTRACE_ERROR_FAULT);
	}
	ktrace_proc_flush(NULL);
	proc_walk(&walk, &sink);
	for (uint32_t i = 0; i < 4; i++) {
		proc_find(&walk, KTRX_PROC_GENIO, &seen);
		assert_int_equal(seen.size, 16);
		assert_int_equal(seen.flags, KTRX_PROC_CUT);
		words_equal(seen.payload, (const uint64_t[]){ 3, 10 }, 2);
	}
	assert_int_equal(proc_count(&sink, KTRX_PROC_USER), 0);
}

static void data_of_utrace_is_recorded(void **state)
{
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	trace_ktrx();
	for (uint32_t i = 0; i < KTRX_PROC_USER_MAX; i++)
		proc_user[i] = (uint8_t)(i * 7);
	assert_int_equal(ktrace_proc_user(&self->trace, &self->thread, PROC_USER_BASE, 0), KTRACE_OK);
	assert_int_equal(ktrace_proc_user(&self->trace, &self->thread, PROC_USER_BASE, KTRX_PROC_USER_MAX),
			 KTRACE_OK);
	assert_int_equal(
		ktrace_proc_user(&self->trace, &self->thread, PROC_USER_BASE, KTRX_PROC_USER_MAX + 1),
		KTRACE_ERROR_ARGUMENT);
	assert_int_equal(ktrace_proc_user(&self->trace, &self->thread, PROC_USER_BASE, SIZE_MAX),
			 KTRACE_ERROR_ARGUMENT);
	ktrace_proc_flush(NULL);
	proc_walk(&walk, &sink);
	proc_find(&walk, KTRX_PROC_USER, &seen);
	assert_int_equal(seen.size, 0);
	proc_find(&walk, KTRX_PROC_USER, &seen);
	assert_int_equal(seen.size, KTRX_PROC_USER_MAX);
	assert_int_equal(seen.flags, 0);
	assert_memory_equal(seen.payload, proc_user, KTRX_PROC_USER_MAX);
	assert_int_equal(proc_count(&sink, KTRX_PROC_USER), 2);
}

static void utrace_of_an_untraced_program_has_no_effect(void **state)
{
	(void)state;
	proc_start();
	self = proc_first();
	assert_int_equal(ktrace_proc_user(&self->trace, &self->thread, 0, KTRX_PROC_USER_MAX), KTRACE_OK);
	assert_int_equal(ktrace_proc_user(&self->trace, &self->thread, 0, KTRX_PROC_USER_MAX + 1),
			 KTRACE_ERROR_ARGUMENT);
	assert_int_equal(proc_kernel.copies, 0);
}

static void signals_are_recorded(void **state)
{
	static const uint64_t mask[2] = { 0x8000000000000001, 0x4000000000000002 };
	struct proc_seen seen;

	(void)state;
	trace_ktrx();
	ktrace_proc_psig(&self->trace, &self->thread, 11, -6, 0x401000, mask);
	find(KTRX_PROC_PSIG, &seen);
	assert_int_equal(seen.size, 32);
	words_equal(seen.payload,
		    (const uint64_t[]){ 11 | UINT64_C(0xfffffffa) << 32, 0x401000, mask[0], mask[1] }, 4);
}

static void switches_are_recorded(void **state)
{
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	trace_ktrx();
	ktrace_proc_csw(&self->trace, &self->thread, 5, 9, "pipe read");
	ktrace_proc_csw(&self->trace, &self->thread, 0, 0, NULL);
	ktrace_proc_flush(NULL);
	proc_walk(&walk, &sink);
	proc_find(&walk, KTRX_PROC_CSW, &seen);
	assert_int_equal(seen.size, 16 + 9);
	assert_int_equal(seen.flags, KTRX_PROC_QUEUED);
	words_equal(seen.payload, (const uint64_t[]){ 1 | UINT64_C(1) << 32, 0 }, 2);
	assert_memory_equal(seen.payload + 16, "pipe read", 9);
	proc_find(&walk, KTRX_PROC_CSW, &seen);
	assert_int_equal(seen.size, 16);
	words_equal(seen.payload, (const uint64_t[]){ 0, 0 }, 2);
}

static void structures_are_recorded(void **state)
{
	static const uint8_t data[2 * KTRACE_PROC_DATA_MAX] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	trace_ktrx();
	ktrace_proc_struct(&self->trace, &self->thread, "stat", data, 12);
	ktrace_proc_struct(&self->trace, &self->thread, "a name of more than thirty-one letters", data,
			   sizeof(data));
	ktrace_proc_struct_array(&self->trace, &self->thread, "pollfd", data, 4, 3);
	ktrace_proc_struct_array(&self->trace, &self->thread, "x", data, 3000, 2);
	ktrace_proc_struct_array(&self->trace, &self->thread, "x", data, UINT32_MAX, UINT32_MAX);
	ktrace_proc_struct_array(&self->trace, &self->thread, "x", data, 0, UINT32_MAX);
	ktrace_proc_flush(NULL);
	proc_walk(&walk, &sink);
	proc_find(&walk, KTRX_PROC_STRUCT, &seen);
	assert_int_equal(seen.size, 5 + 12);
	assert_memory_equal(seen.payload, "stat\0\1\2\3\4\5\6\7\10\11\12\13\14", 17);
	proc_find(&walk, KTRX_PROC_STRUCT, &seen);
	assert_int_equal(seen.size, 32 + KTRACE_PROC_DATA_MAX);
	assert_int_equal(seen.flags, KTRX_PROC_CUT);
	assert_string_equal((const char *)seen.payload, "a name of more than thirty-one ");
	proc_find(&walk, KTRX_PROC_STRUCT_ARRAY, &seen);
	assert_int_equal(seen.size, 8 + 7 + 12);
	assert_int_equal(seen.flags, 0);
	words_equal(seen.payload, (const uint64_t[]){ 4 | UINT64_C(3) << 32 }, 1);
	assert_memory_equal(seen.payload + 8, "pollfd\0\1\2\3", 10);
	proc_find(&walk, KTRX_PROC_STRUCT_ARRAY, &seen);
	assert_int_equal(seen.size, 8 + 2 + 3000);
	assert_int_equal(seen.flags, KTRX_PROC_CUT);
	words_equal(seen.payload, (const uint64_t[]){ 3000 | UINT64_C(1) << 32 }, 1);
	proc_find(&walk, KTRX_PROC_STRUCT_ARRAY, &seen);
	assert_int_equal(seen.size, 8 + 2);
	assert_int_equal(seen.flags, KTRX_PROC_CUT);
	proc_find(&walk, KTRX_PROC_STRUCT_ARRAY, &seen);
	assert_int_equal(seen.size, 8 + 2);
}

static void denials_are_recorded(void **state)
{
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	trace_ktrx();
	ktrace_proc_denied(&self->trace, &self->thread, KTRX_PROC_DENIED_OWNER, 1, 2, NULL);
	ktrace_proc_syscall(&self->trace, &self->thread, 30, 0, NULL);
	ktrace_proc_denied(&self->trace, &self->thread, KTRX_PROC_DENIED_RIGHTS, 6, 4, "/etc/shadow");
	ktrace_proc_sysret(&self->trace, &self->thread, 30, 13, -1);
	ktrace_proc_flush(NULL);
	proc_walk(&walk, &sink);
	proc_find(&walk, KTRX_PROC_CAPFAIL, &seen);
	assert_int_equal(seen.size, 24);
	words_equal(seen.payload, (const uint64_t[]){ 2 | UINT64_C(0xffffffff) << 32, 1, 2 }, 3);
	proc_find(&walk, KTRX_PROC_CAPFAIL, &seen);
	assert_int_equal(seen.size, 24 + 11);
	words_equal(seen.payload, (const uint64_t[]){ 1 | UINT64_C(30) << 32, 6, 4 }, 3);
	assert_memory_equal(seen.payload + 24, "/etc/shadow", 11);
}

static void faults_are_recorded(void **state)
{
	struct proc_seen seen;

	(void)state;
	trace_ktrx();
	ktrace_proc_fault(&self->trace, &self->thread, 0xdeadbeef000, 2, 1);
	ktrace_proc_fault_end(&self->trace, &self->thread, 14);
	find(KTRX_PROC_FAULT, &seen);
	assert_int_equal(seen.size, 16);
	words_equal(seen.payload, (const uint64_t[]){ 0xdeadbeef000, 2 | UINT64_C(1) << 32 }, 2);
	find(KTRX_PROC_FAULTEND, &seen);
	assert_int_equal(seen.size, 8);
	words_equal(seen.payload, (const uint64_t[]){ 14 }, 1);
}

static void only_requested_facilities_are_recorded(void **state)
{
	const struct ktrace_proc_sink_config config = proc_config();
	static const uint64_t mask[2];

	(void)state;
	proc_start();
	self = proc_first();
	assert_int_equal(proc_open(&sink, &config), KTRACE_OK);
	proc_trace(self, &sink, KTRACE_PROC_FACILITY(KTRX_PROC_NAMEI));
	ktrace_proc_syscall(&self->trace, &self->thread, 1, 0, NULL);
	ktrace_proc_namei(&self->trace, &self->thread, "/", 1);
	ktrace_proc_genio(&self->trace, &self->thread, 1, 1, PROC_USER_BASE, 1);
	ktrace_proc_psig(&self->trace, &self->thread, 1, 0, 0, mask);
	ktrace_proc_csw(&self->trace, &self->thread, 1, 1, NULL);
	assert_int_equal(ktrace_proc_user(&self->trace, &self->thread, 0, 1), KTRACE_OK);
	ktrace_proc_sysret(&self->trace, &self->thread, 1, 0, 0);
	proc_exit(self);
	/* The file has the records NAME, NAMEI and END. */
	assert_int_equal(proc_count(&sink, 0), 3);
	assert_int_equal(proc_count(&sink, KTRX_PROC_NAMEI), 1);
}

/* ---- Hooks that are called by callbacks -------------------------------------------------------- */

/*
 * Here the callbacks write and copy_in of the simulated kernel call hooks, as if a write or a copy were a
 * system call.
 */
static void hooks_of_a_writer(struct proc_file *file)
{
	static const uint64_t mask[2];

	(void)file;
	ktrace_proc_syscall(&self->trace, &self->thread, 99, 0, NULL);
	ktrace_proc_namei(&self->trace, &self->thread, "/trace", 6);
	ktrace_proc_genio(&self->trace, &self->thread, 1, 1, PROC_USER_BASE, 1);
	ktrace_proc_psig(&self->trace, &self->thread, 1, 0, 0, mask);
	ktrace_proc_csw(&self->trace, &self->thread, 1, 1, "disk");
	ktrace_proc_struct(&self->trace, &self->thread, "stat", "", 1);
	ktrace_proc_struct_array(&self->trace, &self->thread, "stat", "", 1, 1);
	ktrace_proc_denied(&self->trace, &self->thread, 1, 0, 0, NULL);
	ktrace_proc_fault(&self->trace, &self->thread, 1, 1, 1);
	ktrace_proc_fault_end(&self->trace, &self->thread, 0);
	assert_int_equal(ktrace_proc_user(&self->trace, &self->thread, PROC_USER_BASE, 1), KTRACE_OK);
	ktrace_proc_sysret(&self->trace, &self->thread, 99, 0, 0);
}

static void hooks_of_a_copy(void)
{
	hooks_of_a_writer(NULL);
}

static void tracing_the_writer_never_loops(void **state)
{
	(void)state;
	trace_ktrx();
	sink.file.in_write = hooks_of_a_writer;
	proc_kernel.in_copy = hooks_of_a_copy;
	for (uint32_t i = 0; i < 1000; i++) {
		ktrace_proc_syscall(&self->trace, &self->thread, 1, 0, NULL);
		ktrace_proc_genio(&self->trace, &self->thread, 1, 1, PROC_USER_BASE, 100);
		ktrace_proc_sysret(&self->trace, &self->thread, 1, 0, 0);
	}
	proc_exit(self);
	assert_int_equal(self->thread.busy, 0);
	/* the records are NAME, PROCCTOR, three for each round, PROCDTOR, END */
	assert_int_equal(proc_count(&sink, 0), 2 + 3000 + 2);
	assert_int_equal(sink.sink.records, 2 + 3000 + 1);
	assert_int_equal(sink.sink.lost, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, proc_reset, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_session_starts_with_head_and_table),
		TEST(name_and_start_precede_other_records),
		TEST(a_call_and_its_return_are_recorded),
		TEST(excess_arguments_are_left_out),
		TEST(a_call_without_arguments_is_recorded),
		TEST(paths_of_every_length_are_recorded),
		TEST(data_is_taken_once_and_cut),
		TEST(unreadable_data_is_left_out),
		TEST(data_of_utrace_is_recorded),
		TEST(utrace_of_an_untraced_program_has_no_effect),
		TEST(signals_are_recorded),
		TEST(switches_are_recorded),
		TEST(structures_are_recorded),
		TEST(denials_are_recorded),
		TEST(faults_are_recorded),
		TEST(only_requested_facilities_are_recorded),
		TEST(tracing_the_writer_never_loops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
