/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the text that kdump prints for the contents of memory: lists, sets, names of signals, and malformed
 * contents.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <string.h>

#include "kdump/context.h"
#include "unit/support/random.h"

#define LIMIT 400u

static struct calls_table *table;
static struct kdump_options options = { .data_most = KDUMP_DATA_USUAL };
static struct kdump_context context = { .options = &options };
static char shown[LIMIT + KDUMP_MEMORY_MOST], line[1 << 16];

static int setup(void **state)
{
	(void)state;
	context.words.style = KDUMP_STYLE_PLAIN;
	if (calls_table_create(&table,
			       "signal 2 SIGINT\nsignal 17 SIGCHLD\nstruct pair 8, int a 0, int b 4\n"
			       "1 all int, <strings a, <sigset b, <fdset c, <cpuset d, <wstatus e, <dirents "
			       "f, <text g, <pair h\n"
			       "2 more int, <sockopt a, <uint b, <fd c, sockaddr d, <control e\n"
			       "enum sol 1 SOL_SOCKET\nenum scm 1 SCM_RIGHTS\n",
			       EM_NONE, 8) != 0)
		return -1;
	context.words.table = table;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	calls_table_destroy(table);
	return 0;
}

static const char *show(const char *type, const void *first, size_t size, size_t element, bool cut)
{
	const struct kdump_bytes bytes = { .first = first, .size = size, .element = element, .cut = cut };

	*kdump_put_memory(shown, LIMIT, &context, calls_table_type(table, type), &bytes) = '\0';
	return shown;
}

static void lists_are_shown(void **state)
{
	const uint32_t numbers[] = { 3, 4 };

	(void)state;
	assert_string_equal(show("fd", numbers, 8, 4, false), "[3, 4]");
	assert_string_equal(show("fd", numbers, 8, 4, true), "[3, 4, ...]");
	assert_string_equal(show("fd", numbers, 0, 4, false), "[]");
	assert_string_equal(show("pair", numbers, 8, 8, false), "[{a=3, b=4}]");
	assert_string_equal(show("uint", numbers, 4, 4, false), "[3]");
	assert_string_equal(show("sockopt", numbers, 4, 4, false), "[3]");
	assert_string_equal(show("sockopt", "cubic", 5, 5, false), "\"cubic\"");
	assert_string_equal(show("text", "a\n", 2, 2, true), "\"a\\n\"...");
}

static void strings_are_shown(void **state)
{
	(void)state;
	assert_string_equal(show("strings", "ls\0-l", 6, 6, false), "[\"ls\", \"-l\"]");
	assert_string_equal(show("strings", "ls\0-l", 5, 5, true), "[\"ls\", \"-l\", ...]");
	assert_string_equal(show("strings", "", 1, 1, false), "[\"\"]");
}

static void sets_are_shown(void **state)
{
	const uint64_t few = 1u << 1 | 1u << 16, most = ~few, bits[2] = { 9, 2 };

	(void)state;
	assert_string_equal(show("sigset", &few, 8, 8, false), "[INT, CHLD]");
	assert_string_equal(show("sigset", &most, 8, 8, false), "~[INT, CHLD]");
	assert_string_equal(show("fdset", bits, 16, 16, false), "[0, 3, 65]");
	assert_string_equal(show("cpuset", bits, 8, 8, false), "[0, 3]");
}

static void wait_statuses_are_shown(void **state)
{
	const uint32_t status[] = { 3 << 8, 2, 0x80 | 2, 17 << 8 | 0x7f, 0xffff };

	(void)state;
	assert_string_equal(show("wstatus", &status[0], 4, 4, false),
			    "[{WIFEXITED(s) && WEXITSTATUS(s) == 3}]");
	assert_string_equal(show("wstatus", &status[1], 4, 4, false),
			    "[{WIFSIGNALED(s) && WTERMSIG(s) == SIGINT}]");
	assert_string_equal(show("wstatus", &status[2], 4, 4, false),
			    "[{WIFSIGNALED(s) && WTERMSIG(s) == SIGINT && WCOREDUMP(s)}]");
	assert_string_equal(show("wstatus", &status[3], 4, 4, false),
			    "[{WIFSTOPPED(s) && WSTOPSIG(s) == SIGCHLD}]");
	assert_string_equal(show("wstatus", &status[4], 4, 4, false), "[{WIFCONTINUED(s)}]");
	assert_string_equal(show("wstatus", &status[0], 2, 2, false), "[]");
}

static void directory_entries_are_shown(void **state)
{
	unsigned char bytes[48] = {
		[0] = 7, [8] = 1, [16] = 24, [18] = 4, [19] = 'a', [24] = 8, [40] = 24, [42] = 8, [43] = 'b'
	};

	(void)state;
	assert_string_equal(show("dirents", bytes, 48, 1, false),
			    "[{ino=7, off=1, reclen=24, type=4, name=\"a\"}, {ino=8, off=0, reclen=24, "
			    "type=8, name=\"b\"}]");
	bytes[16] = 3; /* now this offset is that of the entry itself */
	assert_string_equal(show("dirents", bytes, 48, 1, false),
			    "[{ino=7, off=1, reclen=48, type=4, name=\"a\"}]");
	bytes[16] = 200;
	assert_string_equal(show("dirents", bytes, 24, 1, false),
			    "[{ino=7, off=1, reclen=24, type=4, name=\"a\"}]");
	assert_string_equal(show("dirents", bytes, 19, 1, false), "[]");
}

static void random_memory_fits(void **state)
{
	static const char *const types[] = { "strings", "sigset", "fdset", "cpuset", "wstatus",
					     "dirents", "text",	  "pair",  "control" };
	unsigned char bytes[4096];
	uint64_t seed = 1;

	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		const char *type = types[round % 9];
		size_t size = random_below(&seed, sizeof(bytes)), length;

		for (size_t n = 0; n < size; n++)
			bytes[n] = (unsigned char)random_below(&seed, round % 3 ? 256 : 3);
		length = strlen(show(type, bytes, size, 1 + random_below(&seed, 16), round & 1));
		assert_true(length <= LIMIT || strcmp(type, "text") == 0);
	}
}

/* The last entry begins just before the maximum size of the output, and its name has the maximum length. */
static void a_long_name_at_the_limit_fits(void **state)
{
	unsigned char bytes[4096];

	(void)state;
	options.data_most = 0;
	for (unsigned shift = 0; shift < 64; shift++) {
		uint64_t place = UINT64_C(1) << shift;

		memset(bytes, 0xff, sizeof(bytes));
		for (size_t n = 0; n < 6 * 24; n += 24) {
			memset(bytes + n, 0, 24);
			memcpy(bytes + n, &place, sizeof(place));
			memcpy(bytes + n + 8, n < 48 ? &place : &(uint64_t){ 1 }, sizeof(place));
			bytes[n + 16] = 24;
			bytes[n + 19] = 'x';
		}
		assert_true(strlen(show("dirents", bytes, sizeof(bytes), 1, false)) <= LIMIT);
	}
	options.data_most = KDUMP_DATA_USUAL;
}

static void control_messages_are_shown(void **state)
{
	static const struct {
		uint64_t size;
		int32_t level, type, data[4];
	} messages[] = { { 24, 1, 1, { 3, 4, 0, 0 } }, { 100, 0, 7, { 0x6968, 0, 0, 0 } } };

	(void)state;
	assert_string_equal(show("control", &messages[0], 24, 1, false),
			    "[{len=24, level=SOL_SOCKET, type=SCM_RIGHTS, data=[3, 4]}]");
	assert_string_equal(show("control", &messages[0], 20, 1, true),
			    "[{len=20, level=SOL_SOCKET, type=SCM_RIGHTS, data=[3]}, ...]");
	assert_string_equal(show("control", &messages[1], 18, 1, false),
			    "[{len=18, level=0, type=7, data=\"hi\"}]");
	assert_string_equal(show("control", &messages[0], 15, 1, false), "[]");
}

/* The table of system calls declares struct sockaddr without fields, so its bytes are shown. */
static void a_struct_without_fields_is_bytes(void **state)
{
	(void)state;
	*kdump_put_structure(shown, &context, "sockaddr", (const uint8_t *)"ab", 2) = '\0';
	assert_string_equal(shown, "{6162}");
}

/* An escaped string takes 8 KiB of the 16 KiB that a line of output can hold. */
static void a_string_of_json_fits_a_line(void **state)
{
	unsigned char bytes[4096];
	const char *end;

	(void)state;
	memset(bytes, '\\', sizeof(bytes));
	context.words.style = KDUMP_STYLE_JSON;
	options.data_most = 0;
	end = kdump_put_structure(line, &context, "text", bytes, sizeof(bytes));
	assert_true(end - line > 1000 && end - line < 15500);
	options.data_most = KDUMP_DATA_USUAL;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(lists_are_shown),
		TEST(strings_are_shown),
		TEST(sets_are_shown),
		TEST(wait_statuses_are_shown),
		TEST(directory_entries_are_shown),
		TEST(random_memory_fits),
		TEST(a_long_name_at_the_limit_fits),
		TEST(control_messages_are_shown),
		TEST(a_struct_without_fields_is_bytes),
		TEST(a_string_of_json_fits_a_line),
	};

	return cmocka_run_group_tests_name("kdump memory", tests, NULL, NULL);
}
