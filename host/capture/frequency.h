/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The frequency of a guest's counter, asked for or measured. */
#ifndef CAPTURE_FREQUENCY_H
#define CAPTURE_FREQUENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktread/memory.h"

/*
 * The frequency of a guest's counter that the kernel itself does not know.
 *
 *  - Best is what the guest's counter is made of: the timer that QEMU names, or for x86 the host's own cycle
 *    counter, which guests read under KVM and TCG alike.
 *  - Else the newest stamps in the trace are held against the host's clock, twice: off by about a millisecond
 *    over the time between the two, so only good for runs that last.
 */

struct capture_frequency {
	uint32_t samples;
	double first_time, last_time; /* seconds */
	uint64_t first_stamp, last_stamp;
	double next; /* when another sample is worth its cost */
};

/* A count of the host's cycle counter and when it was; both 0 where there is none that can be read. */
struct capture_cycles {
	uint64_t count;
	double time;
};

/* Seconds on the host's monotonic clock. */
double capture_now(void);

/* The guest booted anew: its counter may have. */
void capture_frequency_reset(struct capture_frequency *frequency);
/* Whether a sample is worth its cost now. */
bool capture_frequency_is_due(const struct capture_frequency *frequency);
/*
 * Takes a sample. Call it right after the trace was seen to move, so that its newest stamp is of this moment.
 */
void capture_frequency_sample(struct capture_frequency *frequency, struct ktread_image *image);

struct capture_cycles capture_cycles_now(void);
/* Hz since `begin`, 0 if there is nothing to count. Waits until that is long enough to tell. */
uint64_t capture_cycles_frequency(const struct capture_cycles *begin);

/* Ticks a second by the samples, 0 while unknown. */
uint64_t capture_frequency_get(const struct capture_frequency *frequency);

/*
 * The frequency of the counter of a guest that runs, where its kernel does not know it: by the file behind
 * its RAM.
 */

/*
 * Ticks a second, to about 1 %. Takes about half a second, less if there is nothing to measure. 0: the
 * kernel has stated its frequency, or the guest records nothing and has no heartbeat, or the file is not the
 * RAM of a guest. `machine` as for ktread_memory_open_ram().
 */
uint64_t capture_measure(const char *path, const char *machine);

#endif
