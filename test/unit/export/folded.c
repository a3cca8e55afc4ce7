/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests folded stacks and speedscope profiles of traces with missing slots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "export/export.h"
#include "unit/support/script.h"

#define V(value) ((uint64_t)(value)) /* value of a field, for script_event() */

extern const struct export_format export_folded, export_speedscope;

enum { SWITCH = 1, WAKE };

static char text[8192];

static void export(const struct export_format *format)
{
	struct export_report report = { 0 };
	const int fd = memfd_create("export", 0);
	ssize_t length;

	assert_true(fd >= 0);
	assert_int_equal(format->write(script_trace(), fd, &report), 0);
	length = pread(fd, text, sizeof(text) - 1, 0);
	assert_true(length >= 0);
	text[length] = '\0';
	close(fd);
}

static void expect(const char *expected)
{
	export(&export_folded);
	assert_string_equal(text, expected);
}

/* Thread 7 leaves CPU 0 at 1000, and is woken at 5000. Both events are on CPU 0. */
static void begin(void)
{
	script_begin(2);
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u8 state");
	script_type(WAKE, "sched", "wake", "u32 thread");
	script_event(SWITCH, 500, 0, 8, V(8), V(7), V(0));
	script_event(SWITCH, 1000, 0, 7, V(7), V(8), V(1));
}

static void states_have_their_whole_time(void **state)
{
	(void)state;
	begin();
	script_event(WAKE, 3000, 1, 9, V(9));
	script_event(WAKE, 5000, 0, 8, V(7));
	expect("thread (8) 4000\nthread (7) 500\nthread (8);[runnable] 500\nthread (9) 2000\n"
	       "thread (7);[sleeping] 4000\n");
	script_end();
}

/* Slots of CPU 1 are missing from 3000 to 3500: thread 7 may have run there. */
static void a_state_is_certain_only_up_to_lost_slots_of_any_cpu(void **state)
{
	(void)state;
	begin();
	script_event(WAKE, 3000, 1, 9, V(9));
	script_event(WAKE, 3500, 1, 9, V(9))->lost = 5;
	script_event(WAKE, 5000, 0, 8, V(7));
	expect("thread (8) 4000\nthread (7) 500\nthread (8);[runnable] 500\nthread (9) 1501\n"
	       "thread (7);[sleeping] 2000\n");
	script_end();
}

/* The beginning of CPU 1's ring is overwritten: until 3000, nothing is certain about threads that do not run. */
static void a_state_is_not_certain_before_a_ring_begins(void **state)
{
	(void)state;
	begin();
	script_ring(1)->overwritten = 77;
	script_event(WAKE, 3000, 1, 9, V(9));
	script_event(WAKE, 5000, 0, 8, V(7));
	expect("thread (8) 4000\nthread (7) 500\nthread (9) 2000\n");
	script_end();
}

static void a_state_in_speedscope_ends_there_too(void **state)
{
	(void)state;
	begin();
	script_event(WAKE, 3000, 1, 9, V(9));
	script_event(WAKE, 3500, 1, 9, V(9))->lost = 5;
	script_event(WAKE, 5000, 0, 8, V(7));
	export(&export_speedscope);
	assert_non_null(strstr(text,
			       "\"name\":\"thread (7)\",\"unit\":\"nanoseconds\",\"startValue\":500,"
			       "\"endValue\":5002,\"events\":[\n{\"type\":\"O\",\"frame\":2,\"at\":1000},\n"
			       "{\"type\":\"C\",\"frame\":2,\"at\":3000},\n"));
	script_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_have_their_whole_time),
		cmocka_unit_test(a_state_is_certain_only_up_to_lost_slots_of_any_cpu),
		cmocka_unit_test(a_state_is_not_certain_before_a_ring_begins),
		cmocka_unit_test(a_state_in_speedscope_ends_there_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
