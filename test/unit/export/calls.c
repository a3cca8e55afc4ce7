/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the texts of system calls: texts that are made with the types from the trace's table, and texts that
 * the kernel itself has declared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "export/timeline.h"
#include "ktrx/v2.h"

/* System calls of a trace. Functions below replace functions of the reader and return these data. */
static const struct call {
	const char *name, *types;
} table[] = {
	{ "nop", NULL },
	{ "write", "size, fd, ptr, size" },
	{ "open", "fd, path, flags, mode" },
	{ "getpid", "pid" },
	{ "exit", "void, int" },
	{ "lseek", "off,fd,off,int" },
	{ "map", "ptr, ptr, size, what" },
	{ "seven", "int, uid, sig, ms, pid, int, int, int" },
	{ "nine", "int, int, int, int, int, int, int, int, int, int" },
	{ "odd\x1b[m", " ,, , int ,, fd ,," },
	{ "chosen", "gid, str name, open_flags how, uint count, ulong all, long some, hex rest" },
	{ "a_name_that_is_much_too_long_for_being_kept_here", "int, int" },
};

const char *ktread_syscall_name(const struct ktread *trace, uint32_t number)
{
	(void)trace;
	number %= 2000;
	return number < sizeof(table) / sizeof(table[0]) ? table[number].name : NULL;
}

const char *ktread_syscall_types(const struct ktread *trace, uint32_t number)
{
	(void)trace;
	number %= 2000;
	return number < sizeof(table) / sizeof(table[0]) ? table[number].types : NULL;
}

const char *ktread_error_name(const struct ktread *trace, uint32_t number)
{
	(void)trace;
	return number == 2 ? "ENOENT" : number == 11 ? "E\nAGAIN" : NULL;
}

static struct calls *calls;

static int begin(void **state)
{
	(void)state;
	calls = calloc(1, sizeof(*calls));
	if (calls)
		calls_init(calls, NULL);
	return calls ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	free(calls);
	return 0;
}

#define FIELDS 8

/*
 * Returns the text of an event, "-" if it has none. The payload has a 16-bit number, then fields of one type.
 */
static const char *put(uint8_t kind, uint32_t number, uint8_t type, uint32_t width, uint32_t count,
		       const uint64_t *values)
{
	static struct ktread_field field[1 + FIELDS] = { { "nr", "", KTRX_TYPE_U16 } };
	static unsigned char payload[2 + 8 * FIELDS];
	static char line[512];
	static uint16_t ids;
	struct ktread_type described = { .id = ++ids, .fields = (uint8_t)(1 + count), .field = field };
	struct ktread_event event = {
		.id = ids, .type = &described, .payload = payload, .payload_size = 2 + width * count
	};
	struct wellknown known = { .kind = kind };
	char *text_end;

	known.field[WELLKNOWN_NUMBER] = 0;
	known.field[WELLKNOWN_RESULT] = count ? 1 : -1;
	for (uint32_t n = 0; n < count; n++) {
		field[1 + n] = (struct ktread_field){ "a", "", type };
		memcpy(payload + 2 + n * width, &values[n], width);
	}
	text_end = calls_put(calls, line, number, &known, &event);
	if (!text_end)
		return "-";
	*text_end = '\0';
	return line;
}

static const char *enter(uint32_t number, const uint64_t *values)
{
	return put(WELLKNOWN_SYSCALL_ENTER, number, KTRX_TYPE_U64, 8, 6, values);
}

static const char *leave(uint32_t number, int64_t result)
{
	uint64_t value = (uint64_t)result;

	return put(WELLKNOWN_SYSCALL_EXIT, number, KTRX_TYPE_I64, 8, 1, &value);
}

static void arguments_are_shown_by_type(void **state)
{
	const uint64_t some[] = { 4, 0x1fffefe740, 3000, 0, 0, 0 };
	const uint64_t path[] = { 0x10000031af, 0x241, 0644, 9, 9, 9 };
	const uint64_t zero[6] = { 0 };
	const uint64_t wide[] = { UINT64_C(0xffffffff), UINT64_MAX, UINT64_MAX, UINT64_MAX, 0, 0 };

	(void)state;
	assert_string_equal(enter(1, some), "write(4, 0x1fffefe740, 3000)");
	assert_string_equal(enter(1, some), "write(4, 0x1fffefe740, 3000)");
	assert_string_equal(enter(2, path), "open(0x10000031af, 0x241, 0644)");
	assert_string_equal(enter(2, zero), "open(0x0, 0, 0)");
	assert_string_equal(enter(3, some), "getpid()");
	assert_string_equal(enter(4, some), "exit(4)");
	assert_string_equal(enter(5, wide), "lseek(-1, -1, -1)");
	assert_string_equal(enter(6, some), "map(0x4, 137437898560, 0xbb8)");
	assert_string_equal(enter(1, wide), "write(-1, 0xffffffffffffffff, 18446744073709551615)");
	assert_string_equal(enter(9, some), "odd\\x1b[m(4, -1054912)");
	assert_string_equal(enter(10, some), "chosen(0x4, 0x1fffefe740, 3000, 0, 0, 0x0)");
	assert_string_equal(
		enter(10, wide),
		"chosen(0xffffffff, 0xffffffffffffffff, 4294967295, 18446744073709551615, 0, 0x0)");
	assert_string_equal(enter(10, zero), "chosen(0x0, 0, 0, 0, 0, 0x0)");
	assert_string_equal(enter(2001, some), "write(4, 0x1fffefe740, 3000)");
}

static void narrow_fields_are_read(void **state)
{
	const uint64_t values[] = { UINT32_MAX, UINT32_MAX, UINT32_MAX, 7, 8, 9, 10 };

	(void)state;
	assert_string_equal(put(WELLKNOWN_SYSCALL_ENTER, 1, KTRX_TYPE_U32, 4, 6, values),
			    "write(-1, 0xffffffff, 4294967295)");
	assert_string_equal(put(WELLKNOWN_SYSCALL_ENTER, 1, KTRX_TYPE_I32, 4, 3, values),
			    "write(-1, 0xffffffff, 4294967295)");
	assert_string_equal(put(WELLKNOWN_SYSCALL_ENTER, 7, KTRX_TYPE_U32, 4, 7, values),
			    "seven(4294967295, -1, -1, 7, 8, 9, 10)");
	assert_string_equal(put(WELLKNOWN_SYSCALL_EXIT, 1, KTRX_TYPE_U32, 4, 1, (uint64_t[]){ 0xfffffffe }),
			    "write = -2 ENOENT");
}

static void results_are_shown_by_type(void **state)
{
	(void)state;
	assert_string_equal(leave(1, 3000), "write = 3000");
	assert_string_equal(leave(1, -5), "write = -5");
	assert_string_equal(leave(1, -2), "write = -2 ENOENT");
	assert_string_equal(leave(1, -11), "write = -11 E\\x0aAGAIN");
	assert_string_equal(leave(6, 0x1000), "map = 0x1000");
	assert_string_equal(leave(6, -2), "map = -2 ENOENT");
	assert_string_equal(leave(6, -12), "map = 0xfffffffffffffff4");
	assert_string_equal(leave(3, 12), "getpid = 12");
	assert_string_equal(leave(4, 0), "exit");
	assert_string_equal(leave(10, 7), "chosen = 7");
	assert_string_equal(leave(5, INT64_MIN), "lseek = -9223372036854775808");
}

static void mismatched_types_are_left_to_the_kernel_text(void **state)
{
	const uint64_t values[FIELDS] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	char line[64], *at;

	(void)state;
	assert_string_equal(enter(0, values), "-");
	assert_string_equal(enter(77, values), "-");
	assert_string_equal(enter(UINT32_MAX, values), "-");
	/* this call has more arguments than the event has values */
	assert_string_equal(enter(7, values), "-");
	assert_string_equal(enter(8, values), "-");
	assert_string_equal(enter(11, values), "-");
	assert_string_equal(put(WELLKNOWN_SYSCALL_ENTER, 1, KTRX_TYPE_U64, 8, 2, values), "-");
	assert_string_equal(put(WELLKNOWN_SYSCALL_ENTER, 4, KTRX_TYPE_STRING, 8, 1, values), "-");
	assert_string_equal(put(WELLKNOWN_SYSCALL_ENTER, 4, 200, 8, 1, values), "-");
	assert_string_equal(put(WELLKNOWN_SYSCALL_EXIT, 1, KTRX_TYPE_U64, 8, 0, values), "-");
	assert_string_equal(put(WELLKNOWN_SYSCALL_ENTER, 3, KTRX_TYPE_U64, 8, 0, values), "getpid()");
	at = calls_put_name(calls, line, 0);
	assert_memory_equal(line, "nop ", at - line);
	at = calls_put_name(calls, line, 11);
	assert_memory_equal(line, "a_name_that_is_much_too_long_for_being_kept_here ", at - line);
	assert_ptr_equal(calls_put_name(calls, line, 77), line);
}

/* The payload of an event is truncated. The previous event had the same type and a complete payload. */
static void short_payloads_are_left_to_the_kernel_text(void **state)
{
	const struct ktread_field field[] = { { "nr", "", KTRX_TYPE_U16 }, { "a", "", KTRX_TYPE_U32 } };
	const struct ktread_type type = { .id = 5, .fields = 2, .field = field };
	unsigned char payload[6] = { 4, 0, 9, 0, 0, 0 };
	struct ktread_event event = { .id = 5, .type = &type, .payload = payload, .payload_size = 6 };
	struct wellknown known = { .kind = WELLKNOWN_SYSCALL_ENTER };
	char line[64], *at;

	(void)state;
	at = calls_put(calls, line, 4, &known, &event);
	assert_memory_equal(line, "exit(9)", at - line);
	for (event.payload_size = 0; event.payload_size < 6; event.payload_size++)
		assert_null(calls_put(calls, line, 4, &known, &event));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(arguments_are_shown_by_type, begin, end),
		cmocka_unit_test_setup_teardown(narrow_fields_are_read, begin, end),
		cmocka_unit_test_setup_teardown(results_are_shown_by_type, begin, end),
		cmocka_unit_test_setup_teardown(mismatched_types_are_left_to_the_kernel_text, begin, end),
		cmocka_unit_test_setup_teardown(short_payloads_are_left_to_the_kernel_text, begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
