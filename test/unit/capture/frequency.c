/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the measurement of a guest's clock frequency. The test simulates the time, and a guest with a heartbeat
 * every 10 ms. The host holds up ktrace, and perhaps the guest, at any moment of the measurement.
 */
#include <elf.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "capture/wait.h"
#include "capture/watch.h"

#define HZ	10000000.0
#define BEAT	0.01  /* time between two heartbeats, in seconds */
#define HELD_UP 5.0   /* time for which the host does not run ktrace, in seconds */
#define CALLS	2000  /* more than the number of calls that a measurement makes */
#define SMALL	0.001 /* time, in seconds, that copying a small trace takes */
#define LARGE	0.05
#define TICK	0.02 /* time, in seconds, between two looks at a guest that ktrace runs */

static double clock_seconds;
static int calls;      /* number of calls so far */
static int held_up_at; /* the call at which the host holds up ktrace; 0: none */
/* times between which the guest does not run either; both are 0 if it runs all the time */
static double guest_stops, guest_resumes;
static uint64_t copied; /* timestamp of the newest heartbeat in the copy of the guest's memory */
static uint64_t hooked; /* number of ticks from this heartbeat to a hook that recorded no event */
static double copying;	/* time, in seconds, that copying the trace takes */
static int copies;	/* number of copies so far */

static void pass(double seconds)
{
	clock_seconds += seconds;
	if (++calls == held_up_at) {
		if (guest_resumes > 0) {
			guest_stops = clock_seconds + 2 * BEAT;
			guest_resumes = clock_seconds + HELD_UP + BEAT;
		}
		clock_seconds += HELD_UP;
	}
}

/* Returns the time of the guest's newest heartbeat, in beats. */
static uint64_t beats(void)
{
	const bool stopped = guest_stops > 0 && clock_seconds > guest_stops && clock_seconds < guest_resumes;

	return (uint64_t)((stopped ? guest_stops : clock_seconds) / BEAT);
}

double capture_now(void)
{
	pass(1e-6);
	return clock_seconds;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	(void)left;
	pass((double)wanted->tv_nsec / 1e9);
	return 0;
}

int ktread_image_pulse(struct ktread_image *image, struct ktread_pulse *pulse)
{
	(void)image;
	*pulse = (struct ktread_pulse){ .cpus = 1, .online = 1, .heartbeats = beats() };
	pass(1e-6);
	return 0;
}

int ktread_image_write(struct ktread_image *image, int fd, const char *note, uint64_t frequency)
{
	(void)image;
	(void)fd;
	(void)note;
	(void)frequency;
	copied = (uint64_t)((double)beats() * BEAT * HZ);
	pass(copying);
	copies++;
	return 0;
}

uint16_t ktread_image_machine(const struct ktread_image *image)
{
	(void)image;
	return EM_RISCV;
}

/* The copy of the guest's memory has no events, and one CPU. */

int ktread_open(struct ktread **trace, const char *path, const struct ktread_options *options)
{
	(void)path;
	(void)options;
	*trace = NULL;
	return 0;
}

int ktread_next(struct ktread *trace, const struct ktread_event **event)
{
	(void)trace;
	(void)event;
	return 0;
}

int ktread_cpus(const struct ktread *trace, uint32_t first, struct ktrx_cpu *cpu, uint32_t room)
{
	(void)trace;
	(void)room;
	*cpu = (struct ktrx_cpu){ .heartbeat_stamp = copied, .now = copied + hooked, .online = 1 };
	return first == 0;
}

void ktread_close(struct ktread *trace)
{
	(void)trace;
}

/* The test does not call these functions. But the library defines them together with the functions above. */

int ktread_memory_open_ram(struct ktread_memory **memory, const char *path, const char *machine)
{
	(void)memory;
	(void)path;
	(void)machine;
	return -1;
}

int ktread_memory_ended(const struct ktread_memory *memory)
{
	return memory != NULL;
}

void ktread_memory_close(struct ktread_memory *memory)
{
	(void)memory;
}

int ktread_image_find(struct ktread_image **image, struct ktread_memory *memory)
{
	(void)image;
	(void)memory;
	return -1;
}

bool ktread_image_is_kept(const struct ktread_image *image)
{
	return image != NULL;
}

void ktread_image_close(struct ktread_image *image)
{
	(void)image;
}

static void begin(int call, bool guest_too)
{
	clock_seconds = 100;
	calls = copies = 0;
	copying = SMALL;
	held_up_at = call;
	guest_stops = 0;
	guest_resumes = guest_too;
}

/* Returns 0 if the frequency is unknown, or its relative error plus 1. */
static double judged(uint64_t hz)
{
	return hz ? 1 + fabs((double)hz / HZ - 1) : 0;
}

/* Measures the frequency, and judges it. */
static double measure(int call, bool guest_too)
{
	begin(call, guest_too);
	return judged(capture_measure_image(NULL));
}

/*
 * Looks at a guest for this time, in seconds, as `ktrace run` does, and judges the frequency. `held_up`: time
 * for which the host does not run ktrace between the guest's first record and the first sample.
 */
static double look(double seconds, double held_up)
{
	const double end = clock_seconds + seconds;
	struct capture_frequency frequency = { 0 };

	while (clock_seconds < end) {
		double since;

		pass(TICK);
		if (!capture_frequency_is_due(&frequency))
			continue;
		clock_seconds = ceil(clock_seconds / BEAT) * BEAT + 1e-6; /* the next heartbeat */
		since = clock_seconds - 1e-3;
		clock_seconds += held_up;
		held_up = 0;
		capture_frequency_sample(&frequency, NULL, since);
	}
	return judged(capture_frequency_get(&frequency));
}

static void frequency_is_measured(void **state)
{
	double measured = measure(0, false);

	(void)state;
	assert_true(measured > 0 && measured < 1.01);
	assert_true(calls < CALLS && clock_seconds < 100.6);
}

static void delays_do_not_falsify_the_frequency(void **state)
{
	(void)state;
	for (int call = 1; call < CALLS; call++) {
		assert_true(measure(call, false) < 1.05);
		assert_true(measure(call, true) < 1.05);
	}
}

/* In a short run, a short delay matters. */
static void delay_in_a_short_run_does_not_falsify_the_frequency(void **state)
{
	double looked;

	(void)state;
	begin(0, false);
	assert_true(look(0.1, 0.009) < 1.05);
	begin(0, false);
	looked = look(0.1, 0);
	assert_true(looked > 0 && looked < 1.05);
	begin(0, false);
	looked = look(10, 0.009);
	assert_true(looked > 0 && looked < 1.05);
}

/* Copying a large trace takes too long for a sample. A run must not spend its time with such copies. */
static void large_trace_is_seldom_copied(void **state)
{
	(void)state;
	begin(0, false);
	copying = LARGE;
	look(10, 0);
	assert_in_range(copies, 1, 10);
}

/* The silence of a run begins at the newest event or heartbeat, as in `ktrace why`. */
static void hooks_that_record_no_event_end_no_silence(void **state)
{
	uint64_t newest;

	(void)state;
	begin(0, false);
	hooked = 1000;
	newest = capture_newest_stamp(NULL);
	hooked = 0;
	assert_int_equal(newest, copied);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frequency_is_measured),
		cmocka_unit_test(delays_do_not_falsify_the_frequency),
		cmocka_unit_test(delay_in_a_short_run_does_not_falsify_the_frequency),
		cmocka_unit_test(large_trace_is_seldom_copied),
		cmocka_unit_test(hooks_that_record_no_event_end_no_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
