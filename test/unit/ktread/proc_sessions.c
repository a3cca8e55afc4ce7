/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests those records of process traces that affect later records: names, tables, heads, ABIs. Also tests the
 * detection of the format.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/support/ktread_proc_support.h"

static void names_are_known_after_their_record(void **state)
{
	struct put put = put_trace(PUT_KTRX);
	struct ktread_proc *trace;

	(void)state;
	put_line(&put, 3, "unknown yet");
	put_name(&put, "sh");
	put.pid = 43;
	put_name(&put, "cat");
	put_line(&put, 3, "cat's");
	put.pid = 42;
	put_line(&put, 3, "sh's");
	put_begin(&put, 10);
	put32(&put, 1);
	put32(&put, 1);
	put_text(&put, "ls");
	put_end(&put);
	put_line(&put, 3, "ls's");
	put_begin(&put, 10);
	put_zeroes(&put, 8);
	put_end(&put);
	put_head(&put);
	put_line(&put, 3, "unknown again");
	trace = proc_open_put(&put);

	assert_string_equal(proc_next(trace)->name, "");
	assert_string_equal(proc_next(trace)->name, "sh");
	assert_string_equal(proc_next(trace)->name, "cat");
	assert_string_equal(proc_next(trace)->name, "cat");
	assert_string_equal(proc_next(trace)->name, "sh");
	assert_string_equal(proc_next(trace)->name, "ls");
	assert_string_equal(proc_next(trace)->name, "ls");
	assert_string_equal(proc_next(trace)->name, "ls");
	assert_string_equal(proc_next(trace)->name, "");
	proc_ends(trace);
}

/*
 * The reader stores the names of 16000 processes. If there are more processes, some names are dropped, but no
 * process gets the name of another process.
 */
static void many_processes_keep_their_own_names(void **state)
{
	const uint32_t processes = 50000;
	struct put put = put_trace(PUT_KTRX);
	const struct ktread_proc_record *record;
	struct ktread_proc *trace;
	char name[16];
	uint32_t known = 0;

	(void)state;
	for (uint32_t n = 0; n < processes; n++) {
		put.pid = n;
		snprintf(name, sizeof(name), "%u", n);
		put_name(&put, name);
	}
	for (uint32_t n = 0; n < processes; n++) {
		put.pid = n;
		put_line(&put, 3, "/");
	}
	trace = proc_open_put(&put);
	while (ktread_proc_next(trace, &record) > 0) {
		snprintf(name, sizeof(name), "%u", record->pid);
		if (record->type == KTRX_PROC_NAME || record->name[0])
			assert_string_equal(record->name, name);
		known += record->type == KTRX_PROC_NAMEI && record->name[0];
	}
	assert_true(known > 16000);
	ktread_proc_close(trace);
}

static void tables_are_concatenated_within_a_session(void **state)
{
	struct put put = put_trace(PUT_KTRX);
	const struct ktread_proc_info *info;
	struct ktread_proc *trace;
	uint64_t tables;

	(void)state;
	put_line(&put, 33, "1 one\n2 ");
	put_line(&put, 33, "two\n");
	put_line(&put, 3, "/");
	put_line(&put, 33, "3 three\n");
	put_head(&put);
	put_line(&put, 3, "/");
	put_head(&put);
	put_line(&put, 33, "1 un\n");
	trace = proc_open_put(&put);
	info = ktread_proc_info(trace);

	assert_string_equal(ktread_proc_table(trace), "1 one\n2 two\n");
	tables = info->tables;
	assert_int_equal(proc_next(trace)->type, KTRX_PROC_TABLE);
	assert_int_equal(proc_next(trace)->type, KTRX_PROC_TABLE);
	proc_next(trace);
	assert_string_equal(ktread_proc_table(trace), "1 one\n2 two\n");
	assert_int_equal(info->tables, tables);
	assert_int_equal(proc_next(trace)->type, KTRX_PROC_TABLE);
	assert_string_equal(ktread_proc_table(trace), "1 one\n2 two\n3 three\n");
	assert_true(info->tables > tables);
	tables = info->tables;
	assert_int_equal(proc_next(trace)->type, KTRX_PROC_NAMEI);
	assert_string_equal(ktread_proc_table(trace), "");
	assert_true(info->tables > tables);
	assert_int_equal(proc_next(trace)->type, KTRX_PROC_TABLE);
	assert_string_equal(ktread_proc_table(trace), "1 un\n");
	assert_int_equal(info->heads, 3);
	proc_ends(trace);
}

/* A table in the trace is very long. The reader keeps only a limited part of it. */
static void tables_are_bounded(void **state)
{
	struct put put = put_trace(PUT_KTRX);
	struct ktread_proc *trace;
	char *line = calloc(1, 1000001);

	(void)state;
	memset(line, '#', 1000000);
	for (int i = 0; i < 12; i++)
		put_line(&put, 33, line);
	free(line);
	trace = proc_open_put(&put);
	assert_int_equal(strlen(ktread_proc_table(trace)), 2000000);
	for (int i = 0; i < 12; i++)
		assert_int_equal(proc_next(trace)->data_size, 1000000);
	assert_int_equal(strlen(ktread_proc_table(trace)), 4000000);
	proc_ends(trace);
}

static void head_sets_the_info(void **state)
{
	struct put put = put_trace(PUT_KTRX);
	const struct ktread_proc_info *info;
	struct ktread_proc *trace;

	(void)state;
	trace = proc_open_put(&put);
	info = ktread_proc_info(trace);
	assert_int_equal(info->frequency, 100000000);
	assert_int_equal(info->nonce, 0x0123456789abcdef);
	assert_int_equal(info->wall_stamp, 1000000000);
	assert_int_equal(info->wall_ns, 1700000000u * UINT64_C(1000000000));
	assert_int_equal(info->machine, 62);
	proc_ends(trace);
}

/*
 * Writes a session's head with a valid checksum and one unusual value: the `bytes` bytes of `value` at offset
 * `at`.
 */
static void put_odd_head(struct put *put, size_t at, uint64_t value, unsigned bytes)
{
	uint32_t check = 2166136261u;

	put->record = put->bytes.size;
	put_head(put);
	put_over(put, at, value, bytes);
	for (size_t i = 0; i < 60; i++)
		check = (check ^ put->bytes.data[put->record + i]) * 16777619u;
	put_over(put, 60, check, 4);
}

static void later_version_is_refused_and_longer_heads_are_read(void **state)
{
	struct put put = { .format = PUT_KTRX };
	const struct ktread_proc_options options = { .size = sizeof(options) };
	struct ktread_proc *trace;

	(void)state;
	put_odd_head(&put, 4, 2, 4);
	assert_int_equal(ktread_proc_open(&trace, temporary_bytes(&put.bytes), &options),
			 KTREAD_E_UNSUPPORTED);
	assert_non_null(strstr(ktread_proc_message(NULL), "version 2"));
	bytes_free(&put.bytes);

	/* A future writer of this version of the format may write longer heads of sessions and records. */
	put_odd_head(&put, 42, 80, 2);
	put_over(&put, 44, 40, 2);
	put.bytes.size = 0;
	put_odd_head(&put, 42, 80 | 40 << 16, 4);
	put_zeroes(&put, 16);
	put_begin(&put, 3);
	put_zeroes(&put, 8);
	put_text(&put, "/etc/motd");
	put_end(&put);
	put_over(&put, 0, 9, 4);
	trace = proc_open_put(&put);
	assert_memory_equal(proc_next(trace)->data, "/etc/motd", 9);
	proc_ends(trace);
}

static void put_capfail(struct put *put, unsigned reason, unsigned call, const void *what, size_t size)
{
	put_begin(put, 12);
	put32(put, reason);
	put16(put, call);
	put16(put, 0);
	put32(put, 0x10009);
	put32(put, 0);
	put_bytes(put, what, size);
	put_zeroes(put, 1024 - size);
	put_end(put);
}

static void freebsd_denials_are_decoded(void **state)
{
	struct put put = put_trace(PUT_FREEBSD1);
	const struct ktread_proc_record *record;
	struct ktread_proc *trace;

	(void)state;
	put_capfail(&put, KTREAD_PROC_DENIED_SIGNAL, 37, "\17\0\0\0", 4);
	put_capfail(&put, KTREAD_PROC_DENIED_SOCKADDR, 98, "\4\2ab more", 9);
	put_capfail(&put, KTREAD_PROC_DENIED_NAMEI, 5, "/etc", 4);
	put_capfail(&put, 99, 5, "", 0);
	trace = proc_open_put(&put);
	record = proc_next(trace);
	assert_int_equal(record->type, KTRX_PROC_CAPFAIL);
	assert_int_equal(record->capfail.reason, KTRX_PROC_DENIED_OWNER);
	assert_int_equal(record->capfail.number, 37);
	assert_int_equal(record->capfail.value, 15);
	record = proc_next(trace);
	assert_int_equal(record->data_size, 4);
	record = proc_next(trace);
	assert_int_equal(record->data_size, 4);
	assert_memory_equal(record->data, "/etc", 4);
	assert_int_equal(proc_next(trace)->capfail.reason, KTRX_PROC_DENIED_OTHER);
	proc_ends(trace);
}

/*
 * In records of FreeBSD before version 14, reason 3 means a path lookup, and the record contains only rights.
 */
static void freebsd_denials_before_14_are_decoded(void **state)
{
	struct put put = put_trace(PUT_FREEBSD0);
	const struct ktread_proc_record *record;
	struct ktread_proc *trace;

	(void)state;
	put_begin(&put, 12);
	put32(&put, 3);
	put32(&put, 0);
	for (uint64_t i = 1; i <= 4; i++)
		put64(&put, i);
	put_end(&put);
	trace = proc_open_put(&put);
	record = proc_next(trace);
	assert_int_equal(record->capfail.raw_reason, KTREAD_PROC_DENIED_NAMEI);
	assert_int_equal(record->capfail.number, KTREAD_PROC_NOBODY);
	assert_int_equal(record->capfail.needed[0], 1);
	assert_int_equal(record->capfail.needed[1], 2);
	assert_int_equal(record->capfail.held[0], 3);
	assert_int_equal(record->capfail.held[1], 4);
	proc_ends(trace);
}

static void freebsd_abi_is_known_after_its_record(void **state)
{
	struct put put = put_trace(PUT_FREEBSD1);
	struct ktread_proc *trace;

	(void)state;
	put_call(&put, 3, 0, NULL);
	put_begin(&put, 10);
	put32(&put, 0x20103);
	put_end(&put);
	put_call(&put, 3, 0, NULL);
	put.pid = 43;
	put_call(&put, 3, 0, NULL);
	trace = proc_open_put(&put);
	assert_int_equal(proc_next(trace)->syscall.abi, 0);
	assert_int_equal(proc_next(trace)->ctor.flags, 0x20103);
	assert_int_equal(proc_next(trace)->syscall.abi, 0x20103);
	assert_int_equal(proc_next(trace)->syscall.abi, 0);
	proc_ends(trace);
}

/* The file is truncated at each length. The reader must detect the right format or none. */
static void beginning_of_a_file_gives_the_right_format_or_none(void **state)
{
	(void)state;
	for (unsigned format = 0; format < PROC_FORMATS; format++) {
		struct bytes bytes = { 0 };
		struct ktread_proc *trace;
		unsigned detected = 0;

		proc_load(proc_golden[format], &bytes);
		for (size_t size = 1; size < bytes.size; size += 7) {
			if (ktread_proc_open(&trace, temporary(bytes.data, size), NULL) < 0) {
				assert_true(size < 100);
				continue;
			}
			detected++;
			assert_int_equal(ktread_proc_info(trace)->format, proc_format[format]);
			ktread_proc_close(trace);
		}
		assert_true(detected > bytes.size / 7 - 14);
		bytes_free(&bytes);
	}
}

/*
 * A kernel without a real-time clock counts time from its boot. A process may have no name, or a name that
 * fills the field.
 */
static void odd_times_and_names_do_not_hide_the_format(void **state)
{
	static const char *const names[] = { "init", "", "a name that fills its field" };

	(void)state;
	for (unsigned format = PUT_DRAGONFLY; format < PROC_FORMATS; format++)
		for (unsigned n = 0; n < 3; n++) {
			const uint64_t arg[] = { 3, 0x7fff0000, 100 };
			struct put put = put_trace(format);
			struct ktread_proc *trace;

			put.ns = 0;
			put.pid = put.tid = 1;
			put_name(&put, names[n]);
			put_call(&put, 3, 3, arg);
			put_io(&put, 3, 0, "", 0);
			put_ret(&put, 3, 0, 0);
			trace = proc_open(temporary_bytes(&put.bytes), KTREAD_PROC_AUTO);
			assert_int_equal(ktread_proc_info(trace)->format, proc_format[format]);
			ktread_proc_close(trace);
			bytes_free(&put.bytes);
		}
}

static void refuse(const char *name, const char *words)
{
	struct ktread_proc *trace;

	assert_int_equal(ktread_proc_open(&trace, name, NULL), KTREAD_E_FORMAT);
	assert_null(trace);
	if (!strstr(ktread_proc_message(NULL), words) || !strstr(ktread_proc_message(NULL), name))
		fail_msg("said was: %s", ktread_proc_message(NULL));
}

static void other_files_are_refused(void **state)
{
	struct ktread_proc_options options = { .size = sizeof(options) + 1 };
	struct ktread_proc *trace;

	(void)state;
	refuse(PROC_FOLDER "bad/text.ktrace", "not a process trace");
	refuse(PROC_FOLDER "bad/zeroes.ktrace", "not a process trace");
	refuse(PROC_FOLDER "bad/undecided.ktrace", "dragonfly or freebsd0");
	refuse("test/golden/ktread/v2.ktrx", "events");
	refuse(PROC_FOLDER, "directory");
	assert_int_equal(ktread_proc_open(&trace, "/nonexistent", NULL), KTREAD_E_SYSTEM);
	assert_int_equal(ktread_proc_open(&trace, proc_golden[0], &options), KTREAD_E_ARGUMENT);
	options.size--;
	options.format = 77;
	assert_int_equal(ktread_proc_open(&trace, proc_golden[0], &options), KTREAD_E_ARGUMENT);
	assert_int_equal(ktread_proc_format_named("openbsd"), KTREAD_PROC_AUTO);
	trace = proc_open(PROC_FOLDER "bad/undecided.ktrace", KTREAD_PROC_DRAGONFLY);
	proc_fails(trace, "offset 0: cut short");
	proc_ends(proc_open(PROC_FOLDER "bad/empty.ktrace", KTREAD_PROC_AUTO));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_known_after_their_record),
		cmocka_unit_test(many_processes_keep_their_own_names),
		cmocka_unit_test(tables_are_concatenated_within_a_session),
		cmocka_unit_test(tables_are_bounded),
		cmocka_unit_test(head_sets_the_info),
		cmocka_unit_test(later_version_is_refused_and_longer_heads_are_read),
		cmocka_unit_test(freebsd_denials_are_decoded),
		cmocka_unit_test(freebsd_denials_before_14_are_decoded),
		cmocka_unit_test(freebsd_abi_is_known_after_its_record),
		cmocka_unit_test(beginning_of_a_file_gives_the_right_format_or_none),
		cmocka_unit_test(odd_times_and_names_do_not_hide_the_format),
		cmocka_unit_test(other_files_are_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
