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
#define BEAT	0.01 /* time between two heartbeats, in seconds */
#define HELD_UP 5.0  /* time for which the host does not run ktrace, in seconds */
#define CALLS	2000 /* more than the number of calls that a measurement makes */

static double clock_seconds;
static int calls;      /* number of calls so far */
static int held_up_at; /* the call at which the host holds up ktrace; 0: none */
/* times between which the guest does not run either; both are 0 if it runs all the time */
static double guest_stops, guest_resumes;
static uint64_t copied; /* timestamp of the newest heartbeat in the copy of the guest's memory */

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
	pass(1e-3);
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
	*cpu = (struct ktrx_cpu){ .heartbeat_stamp = copied, .online = 1 };
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

/* Measures the frequency. Returns 0 if it is unknown, or its relative error plus 1. */
static double measure(int call, bool guest_too)
{
	uint64_t hz;

	clock_seconds = 100;
	calls = 0;
	held_up_at = call;
	guest_stops = 0;
	guest_resumes = guest_too;
	hz = capture_measure_image(NULL);
	return hz ? 1 + fabs((double)hz / HZ - 1) : 0;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frequency_is_measured),
		cmocka_unit_test(delays_do_not_falsify_the_frequency),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
