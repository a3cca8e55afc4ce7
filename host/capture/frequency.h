/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Measures a counter whose frequency the kernel does not know: the newest stamps in the trace against the
 * host's clock, twice, the farther apart the better. Off by about a millisecond over the time between the
 * two.
 */
#ifndef CAPTURE_FREQUENCY_H
#define CAPTURE_FREQUENCY_H

#include <stdint.h>

#include "ktread/memory.h"

struct capture_frequency {
	uint32_t samples;
	double first_time, last_time; /* seconds */
	uint64_t first_stamp, last_stamp;
	double next; /* when another sample is worth its cost */
};

/* The guest booted anew: its counter may have. */
void capture_frequency_reset(struct capture_frequency *frequency);
/*
 * Takes a sample if one is due. Call it right after the trace was seen to move, so that its newest stamp is
 * of this moment. `now` reads the host's clock.
 */
void capture_frequency_sample(struct capture_frequency *frequency, struct ktread_image *image,
			      double (*now)(void));
/* Ticks a second, 0 while unknown. */
uint64_t capture_frequency_get(const struct capture_frequency *frequency);

#endif
