/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests expressions of --where on scripted events: which events an expression accepts, that its time window
 * contains these events, and the message and column of each error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/filter.h"
#include "unit/support/script.h"

#define V(value) ((uint64_t)(value))

enum { SWITCH = 1, ENTER, EXIT, OPEN, RAN, LOCK, BARE };

static int begin(void **state)
{
	(void)state;
	script_begin(2);
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next");
	script_type(ENTER, "syscall", "enter", "u32 nr,u64 arg");
	script_type(EXIT, "syscall", "exit", "u32 nr,i64 result");
	script_type(OPEN, "vfs", "open", "string path,u32 fd");
	script_type(RAN, "sched", "ran", "u64 ran_ns,u32 wait us,u64 spent ticks");
	script_type(LOCK, "lock", "acquire", "pointer lock,u32 thread");
	script_type(BARE, "irq", "spurious", "");
	script_thread(1, "init");
	script_thread(7, "worker/3");
	/* letters for events in the tests below: a to h */
	script_event(SWITCH, 1000000, 0, 1, V(1), V(7));
	script_event(ENTER, 2000000, 0, 7, V(59), V(0xffffffffffffffff));
	script_event(EXIT, 3000000, 1, 7, V(59), V(-2));
	script_event(OPEN, 4000000, 1, 1, "/etc/passwd", V(3));
	script_event(RAN, 5000000, 2, 1, V(1500000), V(2000), V(2500000));
	script_event(LOCK, 6000000, 0, 7, V(0xffff8000), V(9));
	script_event(BARE, 7000000, KTRX_NO_CPU, KTREAD_NO_THREAD);
	script_event(EXIT, 8000400, 1, 7, V(1), V(42));
	return 0;
}

static int end(void **state)
{
	(void)state;
	script_end();
	return 0;
}

/*
 * Checks a filter's time window with one event. If the filter accepts the event, the time window must contain
 * it. If the time window states that the filter selects only by time, the filter must accept each event in
 * it.
 */
static void check_window(const char *text, const struct filter_window *window,
			 const struct ktread_event *event, bool accepted)
{
	const bool inside = (window->events[event->id / 8] >> event->id % 8 & 1) &&
			    (!window->some_cpus || (event->cpu < FILTER_CPUS &&
						    (window->cpus[event->cpu / 8] >> event->cpu % 8 & 1))) &&
			    event->stamp >= window->since && event->stamp <= window->until;

	if (accepted && !inside)
		fail_msg("%s: an accepted event is outside of the window", text);
	if (window->only_time && (event->stamp >= window->since && event->stamp <= window->until) != accepted)
		fail_msg("%s: the window of times has other events", text);
}

/* Returns the letters of the events that an expression accepts. */
static const char *accepted(const char *text)
{
	static char letters[16];
	struct filter_window window;
	struct filter_error error;
	struct filter *filter;
	unsigned count = 0;

	if (filter_parse(&filter, text, &error) || filter_bind(filter, script_trace(), &error))
		fail_msg("%s: column %u: %s", text, error.column, error.text);
	filter_narrow(filter, &window);
	for (unsigned n = 0; n < script_count(); n++) {
		const bool accepts = filter_accepts(filter, script_at(n));

		check_window(text, &window, script_at(n), accepts);
		if (accepts)
			letters[count++] = (char)('a' + n);
	}
	letters[count] = '\0';
	filter_free(filter);
	return letters;
}

static void each_expression_accepts_its_events(void **state)
{
	static const struct {
		const char *text, *events;
	} cases[] = {
		{ "cpu == 1", "cdh" },
		{ "cpu != 1", "abef" },
		{ "not cpu == 1", "abefg" },
		{ "has(cpu)", "abcdefh" },
		{ "cpu < 1 or cpu > 1", "abef" },
		{ "event == \"sched.switch\"", "a" },
		{ "event == 'switch'", "a" },
		{ "event != 'switch'", "bcdefgh" },
		{ "event ~ 'sched.*'", "ae" },
		{ "event ~ 'SCHED'", "ae" },
		{ "event !~ 's*'", "df" },
		{ "category == 'sched'", "ae" },
		{ "category ~ 's?????l'", "bch" },
		{ "nr == 59", "bc" },
		{ "nr == 0x3b", "bc" },
		{ "nr != 59", "h" },
		{ "not nr == 59", "adefgh" },
		{ "has(nr) and not nr == 59", "h" },
		{ "nr >= 1 and nr <= 58", "h" },
		{ "result < 0", "c" },
		{ "result == -2", "c" },
		{ "result > -3", "ch" },
		{ "arg == 18446744073709551615", "b" },
		{ "arg > 9223372036854775807", "b" },
		{ "arg < 0", "" },
		{ "lock == 0xffff8000", "f" },
		{ "path == '/etc/passwd'", "d" },
		{ "path ~ '/etc/*'", "d" },
		{ "path !~ '/etc/*'", "" },
		{ "path ~ '*s*w?'", "d" },
		{ "path ~ '/etc/\\*'", "" },
		{ "fd == 3", "d" }, /* a number after a string */
		{ "thread == 7", "bcfh" },
		{ "pid == 7", "bcfh" },
		{ "thread == 'init'", "ade" },
		{ "thread ~ 'worker/*'", "bcfh" },
		{ "thread != 'init'", "bcfh" },
		{ "has(thread)", "abcdefh" },
		{ "lock.acquire.thread == 9", "f" },
		{ "*.thread == 9", "f" },
		{ "syscall.*.nr == 59", "bc" },
		{ "exit.nr == 59", "c" },
		{ "has(*.thread)", "f" },
		{ "ran_ns == 1.5ms", "e" },
		{ "ran_ns == 1500us", "e" },
		{ "ran_ns == 1500000", "e" },
		{ "wait == 2ms", "e" },
		{ "wait > 2001us", "" },
		{ "spent == 2.5ms", "e" }, /* the unit of the field is a tick of 1 ns */
		{ "time == 0", "a" },
		{ "time >= 2ms and time < 0.004", "cd" },
		{ "time > 6ms", "h" },
		{ "time == 0.007", "h" }, /* 7.0004 ms, which a timeline shows as 0.007000 */
		{ "time != 0.007", "abcdefg" },
		{ "not time >= 2ms", "ab" },
		{ "time < 1ms or time > 6ms", "ah" },
		{ "time < 0", "" },
		{ "time >= 1ms and cpu == 0", "bf" },
		{ "cpu == 0 and nr == 59 or cpu == 2", "be" },
		{ "cpu == 0 and (nr == 59 or cpu == 2)", "b" },
		{ "cpu==0 and(nr==59)", "b" },
		{ "not not cpu == 1", "cdh" },
		{ "cpu == -1", "" },
		{ "cpu == 4294967295", "" }, /* KTRX_NO_CPU is not the number of a CPU */
	};

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++)
		if (strcmp(accepted(cases[n].text), cases[n].events) != 0)
			fail_msg("%s: accepts %s instead of %s", cases[n].text, accepted(cases[n].text),
				 cases[n].events);
}

static void each_error_has_a_column(void **state)
{
	static const struct {
		const char *text, *why;
		uint32_t column;
	} cases[] = {
		{ "", "expected a name, 'not', 'has' or '(', but the expression ends", 1 },
		{ "cpu", "expected one of == != < <= > >= ~ !~, but the expression ends", 4 },
		{ "cpu ==", "expected a number, or a string in quotes, but the expression ends", 7 },
		{ "cpu = 1", "write '==' instead of '='", 5 },
		{ "cpu == 1 && cpu == 2", "write 'and' instead of '&&'", 10 },
		{ "cpu == 1 cpu", "expected 'and', 'or' or the end instead of 'cpu'", 10 },
		{ "(cpu == 1", "expected ')', but the expression ends", 10 },
		{ "cpu == 1)", "expected 'and', 'or' or the end instead of ')'", 9 },
		{ "cpu == cpu", "expected a number, or a string in quotes instead of 'cpu'", 8 },
		{ "cpu == 1.5.2", "'1.5.2' is not a number; units of time are ns, us, ms and s", 8 },
		{ "cpu == 5kg", "'5kg' is not a number; units of time are ns, us, ms and s", 8 },
		{ "cpu == 0x", "'0x' is not a number; units of time are ns, us, ms and s", 8 },
		{ "cpu == 18446744073709551616", "the number does not fit in 64 bits", 8 },
		{ "cpu == 1ms", "cpu is compared with a whole number", 8 },
		{ "path == \"x", "the string has no end: \" is missing", 9 },
		{ "path < \"x\"", "a string can be compared only by ==, !=, ~ and !~", 8 },
		{ "path ~ 5", "expected a pattern in quotes instead of '5'", 8 },
		{ "path ~ x", "expected a pattern in quotes instead of 'x'", 8 },
		{ "path == 5", "field 'path' is a string, not a number", 9 },
		{ "nr == \"x\"", "field 'nr' is a number, not a string", 7 },
		{ "nr == 1.5",
		  "a field is compared with a whole number, or a time with its unit (such as 1.5ms)", 7 },
		{ "nr == 1.5ms",
		  "field 'nr' has no unit of time, or its unit is ticks of an unknown frequency", 7 },
		{ "nrr == 1", "no event of the trace has a field 'nrr'; did you mean nr?", 1 },
		{ "cpu == 1 and cpuu == 1", "no event of the trace has a field 'cpuu'; did you mean cpu?",
		  14 },
		{ "has(nrr)", "no event of the trace has a field 'nrr'; did you mean nr?", 5 },
		{ "event == \"sched.swtich\"",
		  "the trace has no event 'sched.swtich'; did you mean sched.switch?", 10 },
		{ "category == \"shced\"", "the trace has no category 'shced'; did you mean sched?", 13 },
		{ "switch.nr == 1", "no event 'switch' has a field 'nr'", 1 },
		{ "swtich.nr == 1", "the trace has no event 'swtich'; did you mean sched.switch?", 1 },
		{ ".nr == 1", "'.nr' is not a name; names are FIELD and EVENT.FIELD", 1 },
		{ "time == \"x\"", "time is compared with a time, such as 1.5 or 250ms", 9 },
		{ "time > -1", "time begins at 0, with the first event", 8 },
		{ "pid == \"x\"", "pid is compared with a whole number", 8 },
		{ "event == 1", "event is compared with a string in quotes", 10 },
		{ "cpu == 1 ; ", "a character that has no meaning here", 10 },
	};

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		struct filter_error error = { .column = 0 };
		struct filter *filter;
		int status = filter_parse(&filter, cases[n].text, &error);

		if (!status)
			status = filter_bind(filter, script_trace(), &error);
		filter_free(filter);
		if (status != KTREAD_E_FORMAT || error.column != cases[n].column ||
		    strcmp(error.text, cases[n].why) != 0)
			fail_msg("%s: status %d, column %u: %s", cases[n].text, status, error.column,
				 error.text);
	}
}

/*
 * Parses an expression that consists of `count` copies of `part`, then `middle`, then `count` copies of
 * `after`.
 */
static int parse_repeated(unsigned count, const char *part, const char *middle, const char *after)
{
	struct filter_error error;
	struct filter *filter;
	char *text = calloc(1, (size_t)count * (strlen(part) + strlen(after)) + strlen(middle) + 1);
	int status;

	for (unsigned n = 0; n < count; n++)
		strcat(text, part);
	strcat(text, middle);
	for (unsigned n = 0; n < count; n++)
		strcat(text, after);
	status = filter_parse(&filter, text, &error);
	free(text);
	filter_free(filter);
	return status;
}

static void length_and_depth_are_bounded(void **state)
{
	(void)state;
	assert_int_equal(parse_repeated(FILTER_DEPTH - 1, "(", "cpu==1", ")"), 0);
	assert_int_equal(parse_repeated(FILTER_DEPTH, "(", "cpu==1", ")"), KTREAD_E_FORMAT);
	assert_int_equal(parse_repeated(FILTER_DEPTH, "not ", "cpu==1", ""), KTREAD_E_FORMAT);
	assert_int_equal(parse_repeated(100, "cpu==1 or ", "cpu==1", ""), 0);
	assert_int_equal(parse_repeated(FILTER_NODES / 2, "cpu==1 or ", "cpu==1", ""), KTREAD_E_FORMAT);
	assert_int_equal(parse_repeated(FILTER_TEXT_MOST, " ", "cpu==1", ""), KTREAD_E_FORMAT);
}

static void a_field_past_the_payload_compares_as_false(void **state)
{
	struct ktread_event *cut = script_event(EXIT, 9000000, 1, 7, V(59), V(-2));

	(void)state;
	cut->payload_size = 4;
	assert_string_equal(accepted("result == -2"), "c");
	assert_string_equal(accepted("exit.nr == 59"), "ci");
	cut->payload_size = 0;
	assert_string_equal(accepted("exit.nr == 59"), "c");
}

/* A tick of this clock is 16 ns, so no tick is half a microsecond. */
static void times_are_those_of_timelines(void **state)
{
	(void)state;
	script_end();
	script_begin(2);
	script_info()->frequency = 62500000;
	script_type(BARE, "irq", "spurious", "");
	for (uint64_t n = 0; n < 8; n++) /* 0, 496, 512, 1488, 1504, 2496, 2512, 3488 ns */
		script_event(BARE, (uint64_t[]){ 0, 31, 32, 93, 94, 156, 157, 218 }[n], 0, 1);
	assert_string_equal(accepted("time == 0us"), "ab");
	assert_string_equal(accepted("time >= 1us"), "cdefgh");
	assert_string_equal(accepted("time > 1us"), "efgh");
	assert_string_equal(accepted("time <= 2us"), "abcdef");
	assert_string_equal(accepted("time < 3us"), "abcdef");
	assert_string_equal(accepted("time == 3us"), "gh");
}

/* A clock was set back. Timelines show 0 for an event before the first one. */
static void time_0_includes_earlier_events(void **state)
{
	(void)state;
	script_end();
	script_begin(2);
	script_type(BARE, "irq", "spurious", "");
	script_event(BARE, 10000, 0, 1);
	script_event(BARE, 20000, 0, 1);
	script_event(BARE, 5000, 0, 1);
	assert_string_equal(accepted("time >= 0"), "abc");
	assert_string_equal(accepted("time == 0"), "ac");
	assert_string_equal(accepted("time != 0"), "b");
	assert_string_equal(accepted("time > 0"), "b");
	assert_string_equal(accepted("time < 0"), "");
	assert_string_equal(accepted("time >= 1us"), "b");
}

static void times_are_ticks_if_the_frequency_is_unknown(void **state)
{
	struct filter_error error;
	struct filter *filter;

	(void)state;
	script_info()->frequency = 0;
	assert_string_equal(accepted("time >= 2000000 and time <= 3000000"), "cd");
	assert_string_equal(accepted("time == 7000400"), "h");
	assert_int_equal(filter_parse(&filter, "time > 1ms", &error), 0);
	assert_int_equal(filter_bind(filter, script_trace(), &error), KTREAD_E_FORMAT);
	assert_string_equal(error.text,
			    "time is compared with a number of ticks, because the frequency is unknown");
	filter_free(filter);
}

static void constraints_narrow_the_window(void **state)
{
	struct filter_window window;
	struct filter_error error;
	struct filter *filter;

	(void)state;
	assert_int_equal(
		filter_parse(&filter, "cpu == 1 and time >= 2ms and time < 5ms and nr == 59", &error), 0);
	assert_int_equal(filter_bind(filter, script_trace(), &error), 0);
	filter_narrow(filter, &window);
	assert_true(window.some_cpus);
	assert_int_equal(window.cpus[0], 2);
	assert_int_equal(window.since, 2999501); /* 1.9995 ms are shown as 0.001999 */
	assert_int_equal(window.until, 5999500); /* and 4.9995 ms as 0.004999 */
	assert_int_equal(window.events[0], 1u << ENTER | 1u << EXIT);
	assert_false(window.only_time);
	filter_free(filter);
	assert_int_equal(filter_parse(&filter, "time >= 2ms and time < 5ms", &error), 0);
	assert_int_equal(filter_bind(filter, script_trace(), &error), 0);
	filter_narrow(filter, &window);
	assert_true(window.only_time);
	assert_false(window.some_cpus);
	assert_int_equal(window.events[511], 0xff);
	filter_free(filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_expression_accepts_its_events, begin, end),
		cmocka_unit_test_setup_teardown(each_error_has_a_column, begin, end),
		cmocka_unit_test_setup_teardown(length_and_depth_are_bounded, begin, end),
		cmocka_unit_test_setup_teardown(a_field_past_the_payload_compares_as_false, begin, end),
		cmocka_unit_test_setup_teardown(times_are_those_of_timelines, begin, end),
		cmocka_unit_test_setup_teardown(time_0_includes_earlier_events, begin, end),
		cmocka_unit_test_setup_teardown(times_are_ticks_if_the_frequency_is_unknown, begin, end),
		cmocka_unit_test_setup_teardown(constraints_narrow_the_window, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
