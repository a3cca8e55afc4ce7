/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* out=FILE: struct ktrx_hwt_rings, a ring for each virtual CPU, and the code that they have run. */
#ifndef PLUGIN_RINGS_H
#define PLUGIN_RINGS_H

#include <stdint.h>

#include "block.h"
#include "output.h"

struct encoder;

/* Makes the file. NULL, or what went wrong; errno says why. */
const char *rings_open(const char *path, unsigned cpus, uint64_t ring_size, uint64_t code_size,
		       const struct encoder *encoder);

/* The output of a virtual CPU's ring, from position 0 on. */
void rings_output(unsigned cpu, struct output *output);

/* There is a file: rings_open() has made it. */
int rings_are_open(void);

/*
 * The bytes of a block from now on, in this address space. What finds no room is counted. One caller at a
 * time.
 */
void rings_code(const struct block *block, uint64_t space);

/* The guest's clock says so now, in the boot with this nonce. */
void rings_clock(uint64_t stamp, uint64_t frequency, uint64_t nonce);

#endif
