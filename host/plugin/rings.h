/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* out=FILE: struct ktrx_hwt_rings, a ring for each virtual CPU, and the code that they have run. */
#ifndef PLUGIN_RINGS_H
#define PLUGIN_RINGS_H

#include <stdint.h>

#include "block.h"
#include "output.h"

/* Makes the file. NULL, or what went wrong; errno says why. */
const char *rings_open(const char *path, unsigned cpus, uint64_t ring_size, uint64_t code_size,
		       uint8_t encoding);

/* The output of a virtual CPU's ring, from position 0 on. */
void rings_output(unsigned cpu, struct output *output);

/* The bytes of a block, if they are not the last that were kept of that address. */
void rings_code(const struct instruction *instruction, size_t count);

/* The guest's clock says so now. */
void rings_clock(uint64_t stamp, uint64_t frequency);

/* What a ring has lost. */
void rings_lost(unsigned cpu, uint64_t lost);

#endif
