/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests threads that sleep, but have no row in the kernel's table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unit/support/script.h"
#include "unit/support/why_support.h"

#define V(value) ((uint64_t)(value))

#define IDLE	1u
#define RESTS	6u
#define QUEUE	0x1000u
#define THE_END (5000 * MS)

enum { OTHER = 1, SWITCH, BLOCK };

static int begin(void **state)
{
	int error = why_setup(state);

	script_type(OTHER, "mine", "other", "");
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u8 state");
	script_type(BLOCK, "sched", "block", "u64 queue,u32 thread,u8 kind");
	script_thread(IDLE, "idle");
	return error;
}

/* A thread went to sleep, and has no row in the kernel's table. */
static void sleeps_without_row(void)
{
	why_cpu_row(0, KTRX_MODE_IDLE);
	why_cpu_beats(0, 100, THE_END);
	script_cpu(0)->thread = IDLE;
	script_event(OTHER, MS, 0, IDLE);
	script_event(OTHER, THE_END, 0, IDLE);
	script_event(SWITCH, 2 * MS, 0, IDLE, V(IDLE), V(RESTS), V(0));
	script_event(BLOCK, 3 * MS, 0, RESTS, V(QUEUE), V(RESTS), V(KTRX_WAIT_EVENT));
	script_event(SWITCH, 4 * MS, 0, RESTS, V(RESTS), V(IDLE), V(1));
	script_sort();
}

static void sleeper_without_row_does_not_fit_into_a_full_table(void **state)
{
	(void)state;
	sleeps_without_row();
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	assert_true(why_judge()->base.partial);
	why_says("raise .holders in ktrace_init(), because the table of threads lacks 1 thread that sleeps");
}

/* The table has free rows. So the thread has ended, and the events that show this are lost. */
static void sleeper_without_row_may_have_ended_if_the_table_has_room(void **state)
{
	(void)state;
	sleeps_without_row();
	script_holder(0);
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	assert_true(why_judge()->base.partial);
	assert_null(strstr(why_text(), "raise .holders"));
	why_says("1 thread that slept has no entry in the table of threads, and may have ended");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sleeper_without_row_does_not_fit_into_a_full_table),
		TEST(sleeper_without_row_may_have_ended_if_the_table_has_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
