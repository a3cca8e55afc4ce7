/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the encoder of ETMv4 packets remembers of a trace. */
#ifndef PLUGIN_ETM4_H
#define PLUGIN_ETM4_H

#include <stdint.h>

#define ETM4_ADDRESSES 3u
#define ETM4_RETURNS   15u /* a decoder remembers as many calls at least */

struct etm4 {
	uint64_t address[ETM4_ADDRESSES]; /* that were told last, the latest first */
	uint64_t time;			  /* that was told last; 0 behind a synchronisation */
	uint64_t space;			  /* that was told last, with its thread, if `told` … */
	uint32_t thread;
	uint8_t told;
	uint8_t depth; /* of returns[] */
	uint8_t top;
	uint64_t returns[ETM4_RETURNS];
};

#endif
