/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests which parts of a text get colours, and that the text itself does not change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/output.h"

static char painted[4096];
static size_t length;

static void put(void *context, const char *bytes, size_t count)
{
	(void)context;
	assert_true(length + count < sizeof(painted));
	memcpy(painted + length, bytes, count);
	length += count;
	painted[length] = '\0';
}

/* Paints a text. Writes "<31:text>" for a part with the colour 31. */
static const char *paint(const char *text)
{
	static char readable[4096];
	char *to = readable;

	length = 0;
	painted[0] = '\0';
	base_paint(text, text + strlen(text), put, NULL);
	for (const char *at = painted; *at; at++) {
		if (strncmp(at, "\033[0m", 4) == 0) {
			*to++ = '>';
			at += 3;
		} else if (strncmp(at, "\033[", 2) == 0) {
			*to++ = '<';
			for (at += 2; *at != 'm'; at++)
				*to++ = *at;
			*to++ = ':';
		} else {
			*to++ = *at;
		}
	}
	*to = '\0';
	return readable;
}

static void cpus_keep_their_colour(void **state)
{
	(void)state;
	assert_string_equal("<35:CPU1> and <35:CPU 1>, <36:CPU0>\n", paint("CPU1 and CPU 1, CPU0\n"));
	assert_string_equal("[  0.1] <36:CPU8> x", paint("[  0.1] CPU8 x"));
	assert_string_equal("CPU, CPUs 1, xCPU1, CPU1x, CPU999999",
			    paint("CPU, CPUs 1, xCPU1, CPU1x, CPU999999"));
}

static void verdicts_have_the_colour_of_their_certainty(void **state)
{
	(void)state;
	assert_string_equal("<1;31:deadlock (certain)>: a", paint("deadlock (certain): a"));
	assert_string_equal("<31:lost wakeup (likely, partial)>: a",
			    paint("lost wakeup (likely, partial): a"));
	assert_string_equal("<33:spin (possible)>: a", paint("spin (possible): a"));
	assert_string_equal("<32:idle (certain)>: a", paint("idle (certain): a"));
	assert_string_equal("  a (certain): a", paint("  a (certain): a"));
	assert_string_equal("it is a (certain) thing", paint("it is a (certain) thing"));
}

static void long_durations_stand_out(void **state)
{
	(void)state;
	assert_string_equal("999 us <33:1 ms> <33:99.9 ms> <31:100 ms> <31:2.5 s>",
			    paint("999 us 1 ms 99.9 ms 100 ms 2.5 s"));
	assert_string_equal("2 s ago, -2 s, 4 in 2 s, 2 sets, 0x2 s, a.2 s",
			    paint("2 s ago, -2 s, 4 in 2 s, 2 sets, 0x2 s, a.2 s"));
}

static void losses_and_failures_are_red(void **state)
{
	(void)state;
	assert_string_equal("<1;31:--- CPU2: 5 slots overwritten --->\nx",
			    paint("--- CPU2: 5 slots overwritten ---\nx"));
	assert_string_equal("<1;31:loss      5 slots>", paint("loss      5 slots"));
	assert_string_equal("<32:loss      none>", paint("loss      none"));
	assert_string_equal("open = <31:-2 ENOENT>", paint("open = -2 ENOENT"));
	assert_string_equal("RET open <31:-1 errno 2> No such", paint("RET open -1 errno 2 No such"));
	assert_string_equal("lseek = -2, 1-2 ENOENT", paint("lseek = -2, 1-2 ENOENT"));
	assert_string_equal("<1:EVENT      RECORDS>", paint("EVENT      RECORDS"));
	assert_string_equal("<32:ok   >  a", paint("ok     a"));
	assert_string_equal("a: <32:holds>, she holds", paint("a: holds, she holds"));
}

static void any_text_stays_the_same(void **state)
{
	static const char words[] = "CPU1 ms(certain): loss -1 E--- \n0.5 s";
	char text[64], *to;
	uint32_t random = 1;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		size_t count = 0, from = 0;

		for (; count < round % sizeof(text); count++) {
			random = random * 1664525 + 1013904223;
			text[count] = words[(random >> 16) % (sizeof(words) - 1)];
		}
		length = 0;
		painted[0] = '\0';
		base_paint(text, text + count, put, NULL);
		/* removes the control sequences again */
		to = painted;
		for (; from < length; from++) {
			if (painted[from] != '\033')
				*to++ = painted[from];
			else
				while (painted[from] != 'm')
					from++;
		}
		assert_int_equal(count, to - painted);
		assert_memory_equal(text, painted, count);
	}
}

static void output_paints_whole_lines(void **state)
{
	struct base_output out;
	char read_back[128];
	ssize_t count;
	int ends[2];

	(void)state;
	assert_int_equal(0, pipe(ends));
	assert_int_equal(0, base_output_open(&out, ends[1]));
	base_output_paint(&out);
	base_output_text(&out, "a\nCP");
	base_output_flush(&out);
	base_output_text(&out, "U1");
	base_output_flush(&out);
	assert_int_equal(0, base_output_close(&out));
	count = read(ends[0], read_back, sizeof(read_back));
	assert_int_equal(15, count);
	assert_memory_equal("a\n\033[35mCPU1\033[0m", read_back, 15);
	close(ends[0]);
	close(ends[1]);
}

static void output_of_a_very_long_line_is_bounded(void **state)
{
	struct base_output out;
	FILE *file = tmpfile();

	(void)state;
	assert_non_null(file);
	assert_int_equal(0, base_output_open(&out, fileno(file)));
	base_output_paint(&out);
	for (unsigned n = 0; n < 400000; n++) {
		base_output_text(&out, "12345");
		assert_true(out.at <= out.buffer + BASE_OUTPUT_BUFFER + BASE_OUTPUT_LINE);
	}
	assert_int_equal(0, base_output_close(&out));
	assert_int_equal(2000000, lseek(fileno(file), 0, SEEK_END));
	fclose(file);
}

static void colours_are_for_terminals(void **state)
{
	FILE *file = tmpfile();

	(void)state;
	assert_non_null(file);
	assert_false(base_paint_wanted(BASE_PAINT_AUTO, fileno(file)));
	assert_true(base_paint_wanted(BASE_PAINT_ALWAYS, fileno(file)));
	assert_false(base_paint_wanted(BASE_PAINT_NEVER, fileno(file)));
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpus_keep_their_colour),
		cmocka_unit_test(verdicts_have_the_colour_of_their_certainty),
		cmocka_unit_test(long_durations_stand_out),
		cmocka_unit_test(losses_and_failures_are_red),
		cmocka_unit_test(any_text_stays_the_same),
		cmocka_unit_test(output_paints_whole_lines),
		cmocka_unit_test(output_of_a_very_long_line_is_bounded),
		cmocka_unit_test(colours_are_for_terminals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
