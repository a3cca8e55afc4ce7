/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Whether a machine goes on, by pulses that a test lists; time is passed by the test, and is not waited for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "capture/watch.h"

static struct ktread_pulse now;
static double clock_seconds;
static int ticks_at; /* ms until its heart beats again, 0: never */
static int error_at; /* ms until time cannot be passed any more, 0: never */
static int passed;
static int looks;

double capture_now(void)
{
	return clock_seconds;
}

int ktread_image_pulse(struct ktread_image *image, struct ktread_pulse *pulse)
{
	(void)image;
	looks++;
	*pulse = now;
	return 0;
}

static int pass(void *context, int ms)
{
	(void)context;
	passed += ms;
	clock_seconds += ms / 1000.0;
	if (ticks_at && passed >= ticks_at)
		now.heartbeats++;
	return error_at && passed >= error_at ? -5 : 0;
}

static int begin(void **state)
{
	(void)state;
	now = (struct ktread_pulse){ .cpus = 4, .online = 4, .idle = 3, .slots = 100, .heartbeats = 10 };
	clock_seconds = 77;
	ticks_at = error_at = passed = looks = 0;
	return 0;
}

static double silence(void)
{
	double seconds = -2;

	assert_int_equal(capture_stillness(NULL, pass, NULL, &seconds), 0);
	return seconds;
}

static void one_that_hangs(void **state)
{
	(void)state;
	assert_true(silence() > 0.99);
	assert_int_equal(passed, CAPTURE_STILLNESS_MS);
	assert_true(looks < 20);
}

static void one_that_goes_on_costs_little(void **state)
{
	(void)state;
	ticks_at = 8;
	assert_true(silence() == 0);
	assert_int_equal(passed, 10);
}

static void one_that_goes_on_late(void **state)
{
	(void)state;
	ticks_at = 900;
	assert_true(silence() == 0);
}

/* It need not tick. */
static void one_that_idles_is_not_watched(void **state)
{
	(void)state;
	now.idle = 4;
	assert_true(silence() < 0);
	assert_int_equal(passed, 0);
}

static void one_that_has_ended_is_not_watched(void **state)
{
	(void)state;
	now.outcome = KTRX_OUTCOME_EXITED;
	assert_true(silence() < 0);
	assert_int_equal(passed, 0);
}

static void one_that_cannot_be_let_run(void **state)
{
	double seconds;

	(void)state;
	error_at = 20;
	assert_int_equal(capture_stillness(NULL, pass, NULL, &seconds), -5);
}

#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_that_hangs),
		TEST(one_that_goes_on_costs_little),
		TEST(one_that_goes_on_late),
		TEST(one_that_idles_is_not_watched),
		TEST(one_that_has_ended_is_not_watched),
		TEST(one_that_cannot_be_let_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
