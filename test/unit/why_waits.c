/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Who waits for whom: deadlocks that are, and waits that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/script.h"
#include "unit/why_support.h"

#define A 0x1000u
#define B 0x2000u
#define C 0x3000u

enum { OTHER = 1, CONTEND, ACQUIRE, RELEASE };

static void end_at(uint64_t stamp)
{
	script_type(OTHER, "mine", "other", "");
	script_event(OTHER, 1, 0, 0);
	script_event(OTHER, stamp, 0, 0);
}

static void two_mutexes_make_a_deadlock(void **state)
{
	struct ktrx_holder *one = why_thread_row(5, "five", KTRX_THREAD_WAITING, 0);
	struct ktrx_holder *two = why_thread_row(6, "six", KTRX_THREAD_WAITING, 1);

	(void)state;
	why_cpu_row(0, KTRX_MODE_IDLE);
	why_holds(one, A, 10 * MS);
	why_waits(one, KTRX_WAIT_LOCK, B, "bee", 20 * MS);
	why_holds(two, B, 11 * MS);
	why_waits(two, KTRX_WAIT_LOCK, A, "aye", 21 * MS);
	end_at(2021 * MS);
	assert_int_equal(why_judge()->verdict, WHY_DEADLOCK);
	assert_int_equal(why_judge()->sure, WHY_CERTAIN);
	assert_int_equal(why_count(WHY_DEADLOCK), 1);
	assert_int_equal(why_judge()->actors, 2);
	why_says("thread 5 (five)");
	why_says("thread 6 (six)");
	why_says("bee (0x2000)");
	why_says("aye (0x1000)");
	why_says("2.00 s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(two_mutexes_make_a_deadlock, why_setup, why_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
