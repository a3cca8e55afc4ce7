/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests what the console prints about boot arguments that ktrace refuses: the reason, and similar names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/core/core.h"
#include "ktrace/console.h"
#include "test/fake/machine.h"

KTRACE_EVENT(test, number, "%u", (uint32_t, n));
KTRACE_EVENT(test, wide, "%u", (uint32_t, n));
KTRACE_EVENT(other, text, "%u", (uint32_t, n));

static struct {
	char text[4096];
	size_t length;
} screen;

static void screen_write(const struct ktrace_console *console, const char *text, size_t bytes)
{
	assert_ptr_equal(console->cookie, &screen);
	assert_in_range(screen.length + bytes, 0, sizeof(screen.text) - 1);
	memcpy(screen.text + screen.length, text, bytes);
	screen.length += bytes;
	screen.text[screen.length] = '\0';
}

static const struct ktrace_console console = { .write = screen_write, .cookie = &screen };

static const char *refusal(int error)
{
	screen.length = 0;
	screen.text[0] = '\0';
	ktrace_console_refusal(&console, error);
	return screen.text;
}

static void a_refusal_prints_word_reason_and_suggestion(void **state)
{
	(void)state;
	assert_string_equal(refusal(ktrace_console_show(&console, "/a test other.txt")),
			    "other.txt: no such event; did you mean other.text?\n");
	assert_string_equal(refusal(ktrace_control("test.number=on,tset.*=off")),
			    "tset.*=off: no such event; did you mean test.*?\n");
	assert_string_equal(refusal(ktrace_control("debug.ktr.verbos=1")),
			    "debug.ktr.verbos=1: no such setting; did you mean debug.ktr.verbose?\n");
	assert_string_equal(refusal(ktrace_control("test.number=onn")), "test.number=onn: syntax error\n");
	assert_string_equal(refusal(ktrace_control("debug.ktr.version=3")),
			    "debug.ktr.version=3: the setting is read-only\n");
	assert_string_equal(refusal(ktrace_control("debug.ktr.verbose=77")),
			    "debug.ktr.verbose=77: out of range\n");
	assert_string_equal(refusal(ktrace_boot_argument("quiet ktrace=wide,test")),
			    "wide: no such event; did you mean test.wide?\n");
	assert_string_equal(refusal(ktrace_boot_argument("debug=tests ktrace=wide debug=nothing")),
			    "tests: no such event; did you mean test?\n");
	assert_string_equal(refusal(ktrace_boot_argument("debug=TEST")),
			    "TEST: no such event; did you mean test?\n");
	assert_string_equal(refusal(ktrace_boot_argument("debug=ktrace-tests,test")),
			    "tests: no such event; did you mean test?\n");
	assert_string_equal(refusal(ktrace_boot_argument("debug=ktrace-")),
			    "ktrace-: no such event; did you mean ktrace?\n");
	assert_string_equal(refusal(ktrace_console_show(&console, "/ax test")), "/ax: syntax error\n");
	assert_string_equal(refusal(ktrace_console_show(&console, " /c4")), "/c4: out of range\n");
	assert_string_equal(refusal(ktrace_console_settings(&console, "/x debug.")), "/x: syntax error\n");
	assert_string_equal(refusal(ktrace_console_settings(&console, "debug.ktr.verion")),
			    "debug.ktr.verion: no such setting; did you mean debug.ktr.version?\n");
	assert_string_equal(refusal(ktrace_setting_set("debug.ktr.verbos=1")),
			    "debug.ktr.verbos=1: no such setting; did you mean debug.ktr.verbose?\n");
	assert_string_equal(refusal(ktrace_setting_set("verbose")), "verbose: syntax error\n");
	assert_string_equal(refusal(KTRACE_OK), "");
}

static void print_refusal(void *cookie, int error)
{
	(void)cookie;
	ktrace_console_refusal(&console, error);
}

static void each_refused_boot_argument_is_printed(void **state)
{
	(void)state;
	screen.length = 0;
	screen.text[0] = '\0';
	assert_int_equal(
		ktrace_boot_arguments("debug=tset,none debug=tets x=y ktrace=wide,test.number=onn,test,-no "
				      "debug.ktr.verbose=77",
				      print_refusal, NULL),
		KTRACE_ERROR_NO_EVENT);
	assert_string_equal(screen.text, "tset: no such event; did you mean other.text, test?\n"
					 "none: no such event\n"
					 "tets: no such event; did you mean other.text, test?\n"
					 "wide: no such event; did you mean test.wide?\n"
					 "test.number=onn: syntax error\n"
					 "-no: no such event\n"
					 "debug.ktr.verbose=77: out of range\n");
	/* ktrace_refused() returns the first of several errors */
	assert_string_equal(refusal(KTRACE_ERROR_NO_EVENT),
			    "tset: no such event; did you mean other.text, test?\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_refusal_prints_word_reason_and_suggestion, fake_reset),
		cmocka_unit_test_setup(each_refused_boot_argument_is_printed, fake_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
