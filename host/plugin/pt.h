/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the encoder of Intel PT packets remembers of a trace. */
#ifndef PLUGIN_PT_H
#define PLUGIN_PT_H

#include <stdint.h>

#define PT_RETURNS 64u /* as many calls as a decoder must remember */

struct pt {
	uint64_t last_ip; /* addresses are compressed against it */
	uint32_t depth;	  /* of returns[], at most PT_RETURNS */
	uint32_t top;
	uint8_t mode; /* that was told last; 0: none */
	uint64_t returns[PT_RETURNS];
};

#endif
