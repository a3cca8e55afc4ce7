/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests process traces of all formats. The reader must return the same result for the same record in each
 * format.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit/support/ktread_proc_support.h"

static const uint64_t arg[40] = { 0x11111111, 2, 3, 4, 5, 6, 7, 8 };

static uint32_t format_of(void **state)
{
	return *(const uint32_t *)*state;
}

static bool is_ktrx(void **state)
{
	return format_of(state) == PUT_KTRX;
}

static void calls_and_returns_are_decoded(void **state)
{
	struct put put = put_trace(format_of(state));
	const struct ktread_proc_record *record;
	struct ktread_proc *trace;

	put_call(&put, 5, 0, arg);
	put_call(&put, 6, 8, arg);
	put_call(&put, 7, 40, arg);
	put_ret(&put, 6, 2, -1);
	put_ret(&put, 7, -1, INT32_MIN);
	trace = proc_open_put(&put);

	record = proc_next(trace);
	assert_int_equal(record->type, KTRX_PROC_SYSCALL);
	assert_int_equal(record->syscall.number, 5);
	assert_int_equal(record->syscall.args, 0);
	assert_int_equal(record->syscall.abi, 0);
	record = proc_next(trace);
	assert_int_equal(record->syscall.number, 6);
	assert_int_equal(record->syscall.args, 8);
	assert_memory_equal(record->syscall.arg, arg, 64);
	assert_int_equal(record->flags, 0);
	record = proc_next(trace);
	assert_int_equal(record->syscall.args, KTREAD_PROC_ARGS_MOST);
	assert_int_equal(record->flags, KTRX_PROC_CUT);
	record = proc_next(trace);
	assert_int_equal(record->type, KTRX_PROC_SYSRET);
	assert_int_equal(record->sysret.number, 6);
	assert_int_equal(record->sysret.error, 2);
	assert_int_equal(record->sysret.result, -1);
	record = proc_next(trace);
	assert_int_equal(record->sysret.error, -1);
	assert_int_equal(record->sysret.result, INT32_MIN);
	proc_ends(trace);
}

static void data_and_texts_are_decoded(void **state)
{
	struct put put = put_trace(format_of(state));
	const struct ktread_proc_record *record;
	struct ktread_proc *trace;

	put_io(&put, 3, 1, "a\0b", 3);
	put_io(&put, -1, 0, "", 0);
	put_line(&put, 3, "/a path");
	put_line(&put, 7, "said");
	put_line(&put, 9, "kern.ostype");
	trace = proc_open_put(&put);

	record = proc_next(trace);
	assert_int_equal(record->type, KTRX_PROC_GENIO);
	assert_int_equal(record->genio.fd, 3);
	assert_int_equal(record->genio.write, 1);
	assert_int_equal(record->genio.size, 3);
	assert_int_equal(record->data_size, 3);
	assert_memory_equal(record->data, "a\0b", 3);
	record = proc_next(trace);
	assert_int_equal(record->genio.fd, -1);
	assert_int_equal(record->genio.size, 0);
	assert_int_equal(record->data_size, 0);
	record = proc_next(trace);
	assert_int_equal(record->type, KTRX_PROC_NAMEI);
	assert_int_equal(record->data_size, 7);
	assert_memory_equal(record->data, "/a path", 7);
	assert_int_equal(proc_next(trace)->type, KTRX_PROC_USER);
	record = proc_next(trace);
	assert_int_equal(record->type, KTRX_PROC_SYSCTL);
	assert_int_equal(record->data_size, 11);
	proc_ends(trace);
}

static void signals_and_switches_are_decoded(void **state)
{
	struct put put = put_trace(format_of(state));
	const struct ktread_proc_record *record;
	struct ktread_proc *trace;

	put_sig(&put, 11, 0xfeed0, -6, 0x8000000000000002);
	put_switch(&put, 1, 1, "pipe");
	put_switch(&put, 0, 0, NULL);
	trace = proc_open_put(&put);

	record = proc_next(trace);
	assert_int_equal(record->type, KTRX_PROC_PSIG);
	assert_int_equal(record->psig.signal, 11);
	assert_int_equal(record->psig.code, -6);
	assert_int_equal(record->psig.handler, 0xfeed0);
	assert_int_equal(record->psig.mask[0], 0x8000000000000002);
	assert_int_equal(record->psig.mask[1], 0);
	record = proc_next(trace);
	assert_int_equal(record->type, KTRX_PROC_CSW);
	assert_int_equal(record->csw.out, 1);
	assert_int_equal(record->csw.voluntary, 1);
	assert_int_equal(record->csw.user, 0);
	assert_int_equal(record->data_size, 4);
	assert_memory_equal(record->data, "pipe", 4);
	record = proc_next(trace);
	assert_int_equal(record->csw.out, 0);
	assert_int_equal(record->csw.voluntary, 0);
	assert_int_equal(record->csw.user, 1);
	assert_int_equal(record->data_size, 0);
	proc_ends(trace);
}

/* DragonFly's format has none of the records that this test uses. */
static void structures_and_faults_are_decoded(void **state)
{
	struct put put = put_trace(format_of(state));
	const struct ktread_proc_record *record;
	struct ktread_proc *trace;

	put_struct(&put, "stat", "123456", 6);
	put_array(&put, "pollfd", 2, "12345", 5);
	put_fault(&put, 0x8049000, 2);
	put_fault_end(&put, 5);
	trace = proc_open_put(&put);

	record = proc_next(trace);
	if (format_of(state) == PUT_DRAGONFLY) {
		assert_int_equal(record->type, KTREAD_PROC_UNKNOWN);
		assert_int_equal(record->raw, 8);
		assert_int_equal(record->data_size, 11);
		ktread_proc_close(trace);
		return;
	}
	assert_int_equal(record->type, KTRX_PROC_STRUCT);
	assert_string_equal(record->structure.name, "stat");
	assert_int_equal(record->structure.count, 1);
	assert_int_equal(record->structure.element_size, 6);
	assert_memory_equal(record->data, "123456", 6);
	record = proc_next(trace);
	assert_int_equal(record->type, KTRX_PROC_STRUCT_ARRAY);
	assert_string_equal(record->structure.name, "pollfd");
	assert_int_equal(record->structure.count, 2);
	assert_int_equal(record->structure.element_size, 2);
	record = proc_next(trace);
	assert_int_equal(record->type, KTRX_PROC_FAULT);
	assert_int_equal(record->fault.address, 0x8049000);
	assert_int_equal(record->fault.access, 2);
	assert_int_equal(record->fault.user, is_ktrx(state) ? 1 : 0xff);
	record = proc_next(trace);
	assert_int_equal(record->type, KTRX_PROC_FAULTEND);
	assert_int_equal(record->faultend.result, 5);
	proc_ends(trace);
}

static void heads_are_decoded(void **state)
{
	const uint32_t format = format_of(state);
	struct put put = put_trace(format);
	const struct ktread_proc_record *record;
	struct ktread_proc *trace;

	put_name(&put, "a name longer than any field is");
	put.cpu = 7;
	put.lost = 3;
	put_line(&put, 3, "/");
	put_begin(&put, 50);
	put_end(&put);
	trace = proc_open_put(&put);

	record = proc_next(trace);
	if (format == PUT_KTRX)
		record = proc_next(trace);
	assert_int_equal(record->pid, 42);
	assert_int_equal(record->tid, 100042);
	assert_int_equal(record->cpu,
			 format == PUT_FREEBSD0 || format == PUT_FREEBSD0_I386 ? KTREAD_PROC_NOBODY : 7);
	assert_int_equal(record->lost, format == PUT_KTRX ? 3 : format == PUT_DRAGONFLY ? 0 : 1);
	if (format == PUT_KTRX)
		assert_int_equal(record->stamp, 1000000000 + 12500);
	else
		assert_int_equal(record->stamp, UINT64_C(1700000000000000000));
	assert_string_equal(record->name, format == PUT_KTRX	    ? "a name longer than any field is"
					  : format == PUT_DRAGONFLY ? "a name longer tha"
								    : "a name longer than a");
	record = proc_next(trace);
	assert_int_equal(record->type, KTREAD_PROC_UNKNOWN);
	assert_int_equal(record->raw, 50);
	assert_int_equal(record->payload_size, 0);
	assert_int_equal(ktread_proc_info(trace)->unknown, 1);
	assert_int_equal(ktread_proc_info(trace)->lost, format == PUT_KTRX	  ? 3
							: format == PUT_DRAGONFLY ? 0
										  : 1);
	assert_int_equal(ktread_proc_info(trace)->address_size, format == PUT_FREEBSD0_I386 ? 4 : 8);
	proc_ends(trace);
}

/*
 * The format of each golden trace is detected from its content. All records are read twice, with the same
 * results.
 */
static void golden_traces_are_detected_and_read_twice(void **state)
{
	static const unsigned records[] = { 47, 34, 41, 41, 46 };
	const uint32_t format = format_of(state);
	struct ktread_proc *trace = proc_open(proc_golden[format], KTREAD_PROC_AUTO);
	const struct ktread_proc_info *info = ktread_proc_info(trace);
	struct proc_outline first, again;

	assert_int_equal(info->format, proc_format[format]);
	assert_int_equal(ktread_proc_format_named(info->format_name), proc_format[format]);
	proc_read_outline(trace, &first);
	assert_int_equal(first.records, records[format]);
	assert_int_equal(first.errors, 0);
	assert_int_equal(info->broken, 0);
	assert_int_equal(info->unknown, 1);
	assert_int_equal(info->heads, 1);
	assert_int_equal(ktread_proc_rewind(trace), 0);
	proc_read_outline(trace, &again);
	assert_memory_equal(&first, &again, sizeof(first));
	ktread_proc_close(trace);
	trace = proc_open(proc_golden[format], proc_format[format]);
	proc_read_outline(trace, &again);
	assert_memory_equal(&first, &again, sizeof(first));
	ktread_proc_close(trace);
}

/*
 * A record whose payload is too short or has wrong numbers is returned as KTREAD_PROC_BROKEN. The records
 * before and after it are not affected.
 */
static void impossible_payloads_are_broken_records(void **state)
{
	static const char *const bad[] = { "fields-ktrx", "fields-dragonfly", NULL, "fields-i386",
					   "fields-freebsd1" };
	const struct ktread_proc_record *record;
	struct ktread_proc *trace;
	unsigned type = 0, broken = 0;
	char path[128];

	if (!bad[format_of(state)])
		return;
	snprintf(path, sizeof(path), PROC_FOLDER "bad/%s.ktrace", bad[format_of(state)]);
	trace = proc_open(path, KTREAD_PROC_AUTO);
	assert_int_equal(ktread_proc_info(trace)->format, proc_format[format_of(state)]);
	while (ktread_proc_next(trace, &record) > 0) {
		type = record->type;
		broken += type == KTREAD_PROC_BROKEN;
		if (type == KTREAD_PROC_BROKEN || type == KTREAD_PROC_UNKNOWN)
			assert_ptr_equal(record->data, record->payload);
		assert_true(record->data_size <= record->payload_size);
	}
	assert_int_equal(type, KTRX_PROC_SYSRET);
	assert_true(broken > 10);
	assert_int_equal(ktread_proc_info(trace)->broken, broken);
	assert_int_equal(ktread_proc_message(trace)[0], '\0');
	ktread_proc_close(trace);
}

/* Opens a trace with these bytes. Returns the error, and the message of ktread_proc_message(). */
static int open_bytes(const uint8_t *bytes, size_t size, enum ktread_proc_format format)
{
	const struct ktread_proc_options options = { .size = sizeof(options), .format = format };
	const int file = memfd_create("trace", 0);
	struct ktread_proc *trace;
	char path[32];
	int error;

	assert_int_equal(write(file, bytes, size), size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	error = ktread_proc_open(&trace, path, &options);
	ktread_proc_close(trace);
	close(file);
	return error;
}

/*
 * Heads of NetBSD have the sizes of FreeBSD's, but their times and payloads have other meanings. They have a
 * version (16 bits at offset 6), and the nanoseconds at offset 36 or 40.
 */
static void trace_of_netbsd_is_refused(void **state)
{
	static const struct {
		uint8_t head, version, nanoseconds, thread;
	} kinds[] = { { 56, 2, 40, 48 }, { 48, 2, 40, 44 }, { 56, 1, 40, 48 }, { 44, 1, 36, 40 } };

	(void)state;
	for (size_t kind = 0; kind < 4; kind++) {
		const size_t one = kinds[kind].head + 16u;
		uint8_t bytes[4 * (56 + 16)] = { 0 };

		for (uint8_t *head = bytes; head < bytes + 4 * one; head += one) {
			head[0] = 16;
			head[4] = 1;
			head[6] = kinds[kind].version;
			head[8] = 100;
			memcpy(head + 12, "ls", 2);
			memcpy(head + 32, "\0\xf1\x53\x65", 4);
			memcpy(head + kinds[kind].nanoseconds, "\x94\x35\x07", 3);
			head[kinds[kind].thread] = 1;
		}
		for (size_t size = one; size <= 4 * one; size += one) {
			assert_int_equal(open_bytes(bytes, size, KTREAD_PROC_AUTO), KTREAD_E_UNSUPPORTED);
			assert_non_null(strstr(ktread_proc_message(NULL), "a process trace of NetBSD"));
			assert_non_null(strstr(ktread_proc_message(NULL), "--format"));
		}
		assert_int_equal(open_bytes(bytes, 4 * one, KTREAD_PROC_FREEBSD0), 0);
	}
}

/* DragonFly's flags at offset 6 may look like a version of NetBSD, and a thread number like a name. */
static void trace_of_dragonfly_is_not_netbsd(void **state)
{
	uint8_t bytes[2 * (64 + 8)] = { 0 };

	(void)state;
	for (uint8_t *head = bytes; head < bytes + sizeof(bytes); head += 64 + 8) {
		head[0] = 8;
		head[4] = KTRX_PROC_CSW;
		head[6] = 1;
		head[8] = 100;
		head[12] = 'A';
		memcpy(head + 40, "\0\xf1\x53\x65", 4);
	}
	assert_int_equal(open_bytes(bytes, sizeof(bytes), KTREAD_PROC_AUTO), 0);
}

/* OpenBSD's head begins with the type and has no size there: it fits no known format. */
static void trace_of_openbsd_is_refused(void **state)
{
	uint8_t bytes[2 * (64 + 8)] = { 0 };

	(void)state;
	for (uint8_t *head = bytes; head < bytes + sizeof(bytes); head += 64 + 8) {
		head[0] = 1;
		head[4] = 100;
		head[8] = 7;
		memcpy(head + 16, "\0\xf1\x53\x65", 4);
		memcpy(head + 24, "\x94\x35\x07", 3);
		memcpy(head + 32, "ls", 2);
		head[56] = 8;
	}
	assert_int_equal(open_bytes(bytes, sizeof(bytes), KTREAD_PROC_AUTO), KTREAD_E_FORMAT);
	assert_non_null(strstr(ktread_proc_message(NULL), "fit no known format"));
}

#define EACH(test, number)                                                              \
	{                                                                               \
#test " of format " #number, test, NULL, NULL, (void *)&formats[number] \
	}
#define ALL(test) EACH(test, 0), EACH(test, 1), EACH(test, 2), EACH(test, 3), EACH(test, 4)

int main(void)
{
	static const uint32_t formats[] = { PUT_KTRX, PUT_DRAGONFLY, PUT_FREEBSD0, PUT_FREEBSD0_I386,
					    PUT_FREEBSD1 };
	const struct CMUnitTest tests[] = {
		ALL(calls_and_returns_are_decoded),
		ALL(data_and_texts_are_decoded),
		ALL(signals_and_switches_are_decoded),
		ALL(structures_and_faults_are_decoded),
		ALL(heads_are_decoded),
		ALL(golden_traces_are_detected_and_read_twice),
		ALL(impossible_payloads_are_broken_records),
		cmocka_unit_test(trace_of_netbsd_is_refused),
		cmocka_unit_test(trace_of_dragonfly_is_not_netbsd),
		cmocka_unit_test(trace_of_openbsd_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
