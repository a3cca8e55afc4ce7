/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "measure.h"

#include <elf.h>
#include <stdbool.h>
#include <time.h>

#include "frequency.h"
#include "ktread/memory.h"

#define STEP_NS	  1000000L /* between two looks for a movement */
#define QUIET	  0.3	   /* s without one: the guest does not tell its clock */
#define SPAN	  0.4	   /* s that the first and the last sample are to be apart … */
#define PATIENCE  2.0	   /* … and s after which what there is must do */
#define SAME_RATE 0.03	   /* a counter that differs by less from the host's is the host's */
#define ROUND	  0.005	   /* what is nearer than that to a round number is that number */

/* Waits until the guest has recorded something or a CPU's heart has beaten. False: it does not. */
static bool await_movement(struct ktread_image *image)
{
	const struct timespec step = { .tv_nsec = STEP_NS };
	const double begin = capture_now();
	struct ktread_pulse before, now;

	if (ktread_image_pulse(image, &before) != 0)
		return false;
	while (capture_now() - begin < QUIET) {
		nanosleep(&step, NULL);
		if (ktread_image_pulse(image, &now) != 0 || now.nonce != before.nonce)
			return false;
		if (now.slots != before.slots || now.heartbeats != before.heartbeats)
			return true;
	}
	return false;
}

/* Two significant digits, where they are as good as all of them. */
static uint64_t rounded(uint64_t hz)
{
	uint64_t unit = 1, near;

	while (hz / unit >= 100)
		unit *= 10;
	near = (hz + unit / 2) / unit * unit;
	return (double)(near > hz ? near - hz : hz - near) < (double)hz * ROUND ? near : hz;
}

static uint64_t measure(struct ktread_image *image)
{
	const struct capture_cycles begin = capture_cycles_now();
	struct capture_frequency samples = { 0 };
	uint64_t own, host;

	do {
		if (!await_movement(image))
			return 0;
		capture_frequency_sample(&samples, image);
	} while (samples.last_time - samples.first_time < SPAN && capture_now() - begin.time < PATIENCE);
	own = capture_frequency_get(&samples);
	if (own == 0 || ktread_image_machine(image) != EM_X86_64)
		return own ? rounded(own) : 0;
	host = capture_cycles_frequency(&begin);
	if ((double)host > (double)own * (1 - SAME_RATE) && (double)host < (double)own * (1 + SAME_RATE))
		return host;
	return rounded(own);
}

uint64_t capture_measure(const char *path, const char *machine)
{
	struct ktread_memory *memory = NULL;
	struct ktread_image *image = NULL;
	struct ktread_pulse pulse;
	uint64_t hz = 0;

	if (ktread_memory_open_ram(&memory, path, machine) != 0)
		return 0;
	if (ktread_image_find(&image, memory) == 0 && ktread_image_pulse(image, &pulse) == 0 &&
	    pulse.frequency == 0)
		hz = measure(image);
	ktread_image_close(image);
	ktread_memory_close(memory);
	return hz;
}
