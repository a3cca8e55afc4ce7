/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests that each record is printed on the fake machine's console at the time when it is made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define KTR	   1
#define KTR_PLACES 1
#include "ktrace/ktr.h"

#include "ktrace/console.h"
#include "ktrace/facts.h"
#include "ktrace/settings.h"
#include "test/fake/checker.h"
#include "test/fake/machine.h"

#define SLOTS 512u

KTR_INFO(KTR_PLACES, place, log, 0, "%d", int value);
KTRACE_EVENT(test, number, "%u", (uint32_t, n));
KTRACE_EVENT(test, text, "%s", (const char *, text));
KTRACE_EVENT(console, write, "%u bytes", (uint32_t, bytes));

static struct {
	char text[4096];
	size_t length;
	unsigned pieces;
	unsigned sleeps;
	void (*during_write)(void); /* function that is called once, during the first write to the console */
} screen;

static void screen_write(const struct ktrace_console *console, const char *text, size_t bytes)
{
	void (*during_write)(void) = screen.during_write;

	assert_ptr_equal(console->cookie, &screen);
	KTRACE(console, write, (uint32_t)bytes);
	screen.during_write = NULL;
	if (during_write)
		during_write();
	assert_in_range(screen.length + bytes, 0, sizeof(screen.text) - 1);
	memcpy(screen.text + screen.length, text, bytes);
	screen.length += bytes;
	screen.text[screen.length] = '\0';
	screen.pieces++;
}

static const struct ktrace_console console = { .write = screen_write, .cookie = &screen };

static int start(void **state)
{
	memset(&screen, 0, sizeof(screen));
	fake_reset(state);
	ktrace_console_set(&console);
	return 0;
}

static void set_level(const char *setting)
{
	assert_int_equal(ktrace_setting_set(setting), KTRACE_OK);
}

static void nothing_is_printed_at_level_zero(void **state)
{
	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	KTRACE(test, number, 1);
	assert_string_equal(screen.text, "");
	assert_int_equal(fake_event("test.number")->state, KTRX_STATE_RECORD);
	set_level("debug.ktr.verbose=1");
	assert_int_equal(fake_event("test.number")->state, KTRX_STATE_RECORD | KTRX_STATE_SLOW);
	set_level("debug.ktr.verbose=0");
	assert_int_equal(fake_event("test.number")->state, KTRX_STATE_RECORD);
	assert_int_equal(ktrace_setting_set("debug.ktr.verbose=3"), KTRACE_ERROR_ARGUMENT);
}

static void level_one_prints_name_and_text(void **state)
{
	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	set_level("debug.ktr.verbose=1");
	KTRACE(test, number, 7);
	KTRACE(test, text, "a\nb");
	assert_string_equal(screen.text, "test_number  7\ntest_text  a\\x0ab\n");
	assert_int_equal(screen.pieces, 2);
	ktrace_console_set(NULL);
	KTRACE(test, number, 8);
	assert_int_equal(screen.pieces, 2);
	assert_int_equal(fake_event("test.number")->state, KTRX_STATE_RECORD);
}

static void level_two_prints_the_line_of_each_place(void **state)
{
	char wanted[200];
	int line;

	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	set_level("debug.ktr.verbose=2");
	for (int n = 0; n < 2; n++) {
		screen.length = 0;
		KTR_LOG(place_log, 8);
		line = __LINE__ - 1;
		snprintf(wanted, sizeof(wanted), " test/unit/kernel/console_output.c:%d place_log  8\n",
			 line);
		assert_string_equal(strchr(screen.text + 5, ' '), wanted);
	}
}

/* Except for the record's index, the line is the same as in the output of show ktr/v. */
static void level_two_prints_cpu_stamp_file_and_line(void **state)
{
	char wanted[200];

	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	set_level("debug.ktr.verbose=2");
	fake.cpu = 2;
	KTRACE(test, number, 7);
	snprintf(wanted, sizeof(wanted), " test/unit/kernel/console_output.c:%u test_number  7\n",
		 fake_event("test.number")->line);
	assert_memory_equal(screen.text, "cpu2 ", 5);
	assert_string_equal(strchr(screen.text + 5, ' '), wanted);
	set_level("debug.ktr.verbose=0");
	snprintf(wanted, sizeof(wanted), "cpu2 1: %.150s", screen.text + 5);
	screen.length = 0;
	assert_int_equal(ktrace_console_show(&console, "/va test.number"), KTRACE_OK);
	assert_string_equal(screen.text, wanted);
}

static void records_of_the_boot_ring_are_printed(void **state)
{
	(void)state;
	set_level("debug.ktr.verbose=1");
	KTRACE(test, number, 1);
	/* this event is not printed, because an EARLY event must not use the console */
	KTRACE_EARLY(test, number, 2);
	assert_string_equal(screen.text, "test_number  1\n");
}

static void events_of_the_console_itself_are_not_printed(void **state)
{
	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	set_level("debug.ktr.verbose=1");
	KTRACE(test, number, 1);
	KTRACE(test, number, 2);
	assert_string_equal(screen.text, "test_number  1\ntest_number  2\n");
	assert_int_equal(check_ring(1)->records, 4);
}

static void on_another_cpu(void)
{
	fake.cpu = 1;
	KTRACE(test, number, 10);
	fake.cpu = 0;
}

static void two_cpus_may_print_at_the_same_time(void **state)
{
	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	set_level("debug.ktr.verbose=1");
	screen.during_write = on_another_cpu;
	KTRACE(test, number, 1);
	assert_string_equal(screen.text, "test_number  10\ntest_number  1\n");
}

static void in_an_interrupt(void)
{
	fake.thread = KTRX_CONTEXT_INTERRUPT << KTRX_W1_CONTEXT_SHIFT;
	KTRACE(test, number, 20);
	fake.thread = 0;
}

static void in_the_same_context(void)
{
	KTRACE(test, number, 30);
}

static void events_of_an_interrupt_while_printing_are_printed(void **state)
{
	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	set_level("debug.ktr.verbose=1");
	screen.during_write = in_an_interrupt;
	KTRACE(test, number, 1);
	assert_string_equal(screen.text, "test_number  20\ntest_number  1\n");
	screen.during_write = in_the_same_context;
	KTRACE(test, number, 2);
	assert_string_equal(screen.text, "test_number  20\ntest_number  1\ntest_number  2\n");
}

static void preempted_by_another_thread(void)
{
	fake.thread = 4;
	KTRACE(test, number, 40);
	ktrace_switch(4, 7, 0);
	KTRACE(test, number, 50);
	fake.thread = 7;
	KTRACE(test, number, 70);
	ktrace_switch(7, 4, 1);
	fake.thread = 4;
}

/*
 * A thread is preempted while it writes. The switch away from it and the events of the next thread are
 * printed. An event that the write itself causes (40) is not printed.
 */
static void events_of_the_next_thread_are_printed_if_a_write_is_preempted(void **state)
{
	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	set_level("debug.ktr.verbose=1");
	ktrace_control("ktrace=off");
	fake.thread = 4;
	screen.during_write = preempted_by_another_thread;
	KTRACE(test, number, 1);
	assert_string_equal(screen.text, "sched_switch  4 -> 7, old one in state 0\n"
					 "test_number  50\n"
					 "test_number  70\n"
					 "sched_switch  7 -> 4, old one in state 1\n"
					 "test_number  1\n");
	screen.during_write = in_the_same_context;
	screen.length = 0;
	KTRACE(test, number, 2);
	assert_string_equal(screen.text, "test_number  2\n");
}

KTRACE_EVENT(sched, switch, "%u -> %u", (uint32_t, prev), (uint32_t, next));

static void preempted_by_an_event_of_the_kernel(void)
{
	KTRACE(sched, switch, 4, 7);
}

/* The kernel declares the event sched.switch itself. */
static void a_switch_that_the_kernel_declares_is_printed(void **state)
{
	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	set_level("debug.ktr.verbose=1");
	fake.thread = 4;
	screen.during_write = preempted_by_an_event_of_the_kernel;
	KTRACE(test, number, 1);
	assert_string_equal(screen.text, "sched_switch  4 -> 7\ntest_number  1\n");
}

static void sleep_in_the_console(void)
{
	screen.during_write = sleep_in_the_console;
	screen.sleeps++;
	ktrace_switch(4, 7, 1);
	ktrace_switch(7, 4, 1);
}

/* A thread that sleeps in each write, although it must not, causes no endless recursion. */
static void a_write_that_sleeps_ends(void **state)
{
	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	set_level("debug.ktr.verbose=1");
	fake.thread = 4;
	screen.during_write = sleep_in_the_console;
	KTRACE(test, number, 1);
	assert_in_range(screen.sleeps, 1, 5);
	assert_non_null(strstr(screen.text, "test_number  1\n"));
}

static void interrupt(void)
{
	KTRACE(test, number, 99);
}

/*
 * An interrupt records an event, at each point of the record path in turn. The interrupted event and the
 * interrupt's event must each be printed exactly once.
 */
static void interrupts_at_any_point_are_printed(void **state)
{
	int64_t points;

	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
	set_level("debug.ktr.verbose=1");
	ktrace_control("console=off");
	fake_at(-1, NULL);
	KTRACE(test, number, 1);
	points = fake_points();
	assert_true(points > 3);
	for (int64_t n = 0; n < points; n++) {
		start(state);
		fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 0);
		set_level("debug.ktr.verbose=1");
		ktrace_control("console=off");
		fake_at(n, interrupt);
		KTRACE(test, number, 1);
		assert_non_null(strstr(screen.text, "test_number  1\n"));
		assert_non_null(strstr(screen.text, "test_number  99\n"));
		assert_int_equal(screen.pieces, 2);
	}
}

static void records_rejected_by_a_full_ring_are_not_printed(void **state)
{
	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_STOP, 0);
	ktrace_control("console=off");
	for (unsigned n = 0; n < 2 * SLOTS; n++)
		KTRACE(test, number, n);
	set_level("debug.ktr.verbose=1");
	KTRACE(test, number, 1);
	assert_string_equal(screen.text, "");
}

static void counted_events_are_not_printed(void **state)
{
	(void)state;
	fake_boot(SLOTS, KTRX_POLICY_OVERWRITE, 1);
	set_level("debug.ktr.verbose=1");
	ktrace_control("test.number=count");
	KTRACE(test, number, 1);
	assert_string_equal(screen.text, "");
	ktrace_control("test.number=stop");
	KTRACE(test, number, 2);
	assert_string_equal(screen.text, "test_number  2\n");
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_printed_at_level_zero),
		TEST(level_one_prints_name_and_text),
		TEST(level_two_prints_cpu_stamp_file_and_line),
		TEST(level_two_prints_the_line_of_each_place),
		TEST(records_of_the_boot_ring_are_printed),
		TEST(events_of_the_console_itself_are_not_printed),
		TEST(two_cpus_may_print_at_the_same_time),
		TEST(events_of_an_interrupt_while_printing_are_printed),
		TEST(events_of_the_next_thread_are_printed_if_a_write_is_preempted),
		TEST(a_switch_that_the_kernel_declares_is_printed),
		TEST(a_write_that_sleeps_ends),
		TEST(interrupts_at_any_point_are_printed),
		TEST(records_rejected_by_a_full_ring_are_not_printed),
		TEST(counted_events_are_not_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
