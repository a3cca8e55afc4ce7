/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests buffered output: all bytes are written once and in order, and the first error is reported. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"

#define LINES 200000u

static void everything_arrives_in_order(void **state)
{
	FILE *file = tmpfile();
	struct base_output out;
	char line[32];

	(void)state;
	assert_non_null(file);
	assert_int_equal(base_output_open(&out, fileno(file)), 0);
	for (unsigned n = 0; n < LINES; n++)
		base_output_format(&out, "line %u\n", n);
	assert_int_equal(base_output_close(&out), 0);
	rewind(file);
	for (unsigned n = 0; n < LINES; n++) {
		char expected[32];

		snprintf(expected, sizeof(expected), "line %u\n", n);
		assert_non_null(fgets(line, sizeof(line), file));
		assert_string_equal(expected, line);
	}
	assert_null(fgets(line, sizeof(line), file));
	fclose(file);
}

static void long_pieces_are_cut_into_lines(void **state)
{
	static char bytes[5 * BASE_OUTPUT_LINE + 7], back[sizeof(bytes)];
	FILE *file = tmpfile();
	struct base_output out;

	(void)state;
	assert_non_null(file);
	for (size_t n = 0; n < sizeof(bytes); n++)
		bytes[n] = (char)(n * 31);
	assert_int_equal(base_output_open(&out, fileno(file)), 0);
	base_output_bytes(&out, bytes, sizeof(bytes));
	assert_int_equal(base_output_close(&out), 0);
	rewind(file);
	assert_int_equal(fread(back, 1, sizeof(back), file), sizeof(back));
	assert_memory_equal(bytes, back, sizeof(bytes));
	fclose(file);
}

/* Bytes that fill the whole buffer are written directly, after the bytes that are in the buffer. */
static void large_pieces_keep_their_order(void **state)
{
	static char bytes[2 * BASE_OUTPUT_BUFFER + 7], back[sizeof(bytes)];
	FILE *file = tmpfile();
	struct base_output out;

	(void)state;
	assert_non_null(file);
	for (size_t n = 0; n < sizeof(bytes); n++)
		bytes[n] = (char)(n * 31 + (n >> 8));
	assert_int_equal(base_output_open(&out, fileno(file)), 0);
	base_output_bytes(&out, bytes, 5);
	base_output_bytes(&out, bytes + 5, sizeof(bytes) - 10);
	base_output_bytes(&out, bytes + sizeof(bytes) - 5, 5);
	assert_int_equal(base_output_close(&out), 0);
	rewind(file);
	assert_int_equal(fread(back, 1, sizeof(back), file), sizeof(back));
	assert_int_equal(fgetc(file), EOF);
	assert_memory_equal(bytes, back, sizeof(bytes));
	fclose(file);
}

/*
 * Writes two pieces of JSON to an output with the schema "ktrace-x/1", and checks that the output equals
 * `expected`.
 */
static void writes_schema(const char *first, const char *second, const char *expected)
{
	char back[256] = "";
	FILE *file = tmpfile();
	struct base_output out;

	assert_non_null(file);
	assert_int_equal(base_output_open(&out, fileno(file)), 0);
	base_output_schema(&out, "ktrace-x/1");
	base_output_text(&out, first);
	base_output_flush(&out);
	base_output_text(&out, second);
	assert_int_equal(base_output_close(&out), 0);
	rewind(file);
	back[fread(back, 1, sizeof(back) - 1, file)] = '\0';
	assert_string_equal(back, expected);
	fclose(file);
}

static void schema_is_named_in_the_first_object(void **state)
{
	(void)state;
	writes_schema("{\"a\":1}\n", "{\"b\":2}\n",
		      "{\"schema\":\"ktrace-x/1\",\"strings\":\"untrusted\",\"a\":1}\n{\"b\":2}\n");
	writes_schema("{}\n", "", "{\"schema\":\"ktrace-x/1\",\"strings\":\"untrusted\"}\n");
	writes_schema("", "{\"b\":2}\n", "{\"schema\":\"ktrace-x/1\",\"strings\":\"untrusted\",\"b\":2}\n");
	writes_schema("text", "", "text");
	writes_schema("", "", "");
}

static void full_disk_is_reported_as_the_error(void **state)
{
	int fd = open("/dev/full", O_WRONLY);
	struct base_output out;

	(void)state;
	if (fd < 0)
		skip();
	assert_int_equal(base_output_open(&out, fd), 0);
	for (unsigned n = 0; n < LINES; n++)
		base_output_text(&out, "more than a buffer in all\n");
	assert_int_equal(out.error, ENOSPC);
	assert_int_equal(base_output_close(&out), ENOSPC);
	close(fd);
}

static void closed_pipe_is_an_error(void **state)
{
	struct base_output out;
	int ends[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	assert_int_equal(base_output_open(&out, ends[1]), 0);
	base_output_text(&out, "this is not read");
	assert_int_equal(base_output_close(&out), EPIPE);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_arrives_in_order),
		cmocka_unit_test(long_pieces_are_cut_into_lines),
		cmocka_unit_test(large_pieces_keep_their_order),
		cmocka_unit_test(schema_is_named_in_the_first_object),
		cmocka_unit_test(full_disk_is_reported_as_the_error),
		cmocka_unit_test(closed_pipe_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
