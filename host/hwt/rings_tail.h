/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What a ring's unit knew and had not yet written when it was stopped, as the packets that it would have written: without it
 * a machine that is killed has not run its last branches, and the decoder runs on behind what was run.
 */
#ifndef HWT_RINGS_TAIL_H
#define HWT_RINGS_TAIL_H

#include <stddef.h>
#include <stdint.h>

#include "ktrx/hwt_unit.h"

#define HWT_TAIL_MOST 64u

/* How many bytes there are. 0 also where what is said of it cannot be. */
size_t hwt_rings_tail(uint32_t encoding, const struct ktrx_hwt_ring *ring, unsigned char to[HWT_TAIL_MOST]);

#endif
