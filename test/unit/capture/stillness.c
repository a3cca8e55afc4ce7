/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests how ktrace decides whether a machine makes progress. The test supplies the machine's pulses, and
 * simulates the time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "capture/wait.h"
#include "capture/watch.h"

static struct ktread_pulse now;
static double clock_seconds;
/* from this time on, in ms since the start, each pass() adds a heartbeat; 0: none is added */
static int ticks_at;
static int error_at; /* from this time on, in ms since the start, pass() returns an error; 0: it never does */
static int passed;
/* time in ms since the start at which the host stops the machine and ktrace for 40 s; 0: it never does */
static int stop_at;
static bool stops_always; /* the host does so in each step */
static int pulse_reads;

/* The time advances with each call, as it does in a real machine. */
double capture_now(void)
{
	return clock_seconds += 1e-9;
}

int ktread_image_pulse(struct ktread_image *image, struct ktread_pulse *pulse)
{
	(void)image;
	pulse_reads++;
	*pulse = now;
	return 0;
}

static int pass(void *context, int ms)
{
	(void)context;
	if (stops_always || (stop_at && passed < stop_at && passed + ms >= stop_at))
		clock_seconds += 40;
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
	ticks_at = error_at = passed = pulse_reads = stop_at = 0;
	stops_always = false;
	return 0;
}

static double silence(void)
{
	double seconds = -2;

	assert_int_equal(capture_stillness(NULL, pass, NULL, &seconds), 0);
	return seconds;
}

static void hanging_machine_is_silent(void **state)
{
	(void)state;
	assert_true(silence() > 0.99);
	assert_int_equal(passed, CAPTURE_STILLNESS_MS);
	assert_true(pulse_reads < 20);
}

static void running_machine_is_watched_briefly(void **state)
{
	(void)state;
	ticks_at = 8;
	assert_true(silence() == 0);
	assert_int_equal(passed, 10);
}

static void late_heartbeat_is_seen(void **state)
{
	(void)state;
	ticks_at = 900;
	assert_true(silence() == 0);
}

/* An idle machine may have no timer ticks. */
static void idle_machine_is_not_watched(void **state)
{
	(void)state;
	now.idle = 4;
	assert_true(silence() < 0);
	assert_int_equal(passed, 0);
}

static double idle_silence(void)
{
	double seconds = -1;

	now.idle = 4;
	assert_int_equal(capture_idle_moves(NULL, pass, NULL, &seconds), 0);
	return seconds;
}

static void tick_of_idle_machine_is_seen(void **state)
{
	(void)state;
	ticks_at = 100;
	assert_true(idle_silence() == 0);
	assert_in_range(passed, 100, 105);
}

static void idle_machine_without_ticks_is_silent(void **state)
{
	(void)state;
	assert_true(idle_silence() > 1.4);
	assert_in_range(passed, CAPTURE_IDLE_MS, CAPTURE_IDLE_MS + 10);
}

/* The time for which the host stopped the machine is no silence. */
static void stop_by_the_host_is_not_silence(void **state)
{
	double seconds;

	(void)state;
	stop_at = 800;
	seconds = silence();
	assert_true(seconds > 0.99 && seconds < 1.01);
	begin(state);
	stop_at = 800;
	seconds = idle_silence();
	assert_true(seconds > 1.4 && seconds < 1.6);
}

/* The first CPU ticks right after the stop. The machine is read when the other CPUs have run, too. */
static void all_cpus_run_after_a_stop_by_the_host(void **state)
{
	(void)state;
	stop_at = ticks_at = 20;
	assert_true(silence() == 0);
	assert_in_range(passed, 120, 150);
}

static void watch_ends_although_the_host_stops_again_and_again(void **state)
{
	(void)state;
	stops_always = true;
	assert_true(silence() < 0);
	assert_true(idle_silence() < 0);
}

static void ended_machine_is_not_watched(void **state)
{
	(void)state;
	now.outcome = KTRX_OUTCOME_EXITED;
	assert_true(silence() < 0);
	assert_int_equal(passed, 0);
}

static void error_of_pass_is_returned(void **state)
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
		TEST(hanging_machine_is_silent),
		TEST(running_machine_is_watched_briefly),
		TEST(late_heartbeat_is_seen),
		TEST(idle_machine_is_not_watched),
		TEST(tick_of_idle_machine_is_seen),
		TEST(idle_machine_without_ticks_is_silent),
		TEST(stop_by_the_host_is_not_silence),
		TEST(all_cpus_run_after_a_stop_by_the_host),
		TEST(watch_ends_although_the_host_stops_again_and_again),
		TEST(ended_machine_is_not_watched),
		TEST(error_of_pass_is_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
