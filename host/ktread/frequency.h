/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Decides which clock frequency applies. All code that reads a frequency from a trace calls this function. */
#ifndef KTREAD_FREQUENCY_H
#define KTREAD_FREQUENCY_H

#include <stdint.h>

#include "ktread/ktread.h"

/*
 * Returns the frequency in the options if it is not 0. Otherwise returns the recorded frequency, or 0 if the
 * recorded frequency is unknown or impossible.
 */
static inline uint64_t ktread_frequency(uint64_t option, uint64_t recorded)
{
	return option ? option : recorded <= KTREAD_FREQUENCY_MOST ? recorded : 0;
}

#endif
