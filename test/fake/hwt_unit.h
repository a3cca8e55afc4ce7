/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A trace unit in software without a QEMU: it answers doorbells as ktrx/hwt_unit.h says the plugin does, on memory whose
 * physical addresses are those of this process, and remembers the first rule that its guest has broken. What it writes is
 * not trace but a pattern by which each byte's position is known.
 */
#ifndef TEST_FAKE_HWT_UNIT_H
#define TEST_FAKE_HWT_UNIT_H

#include <stddef.h>
#include <stdint.h>

#include "ktrx/hwt_unit.h"

#define FAKE_UNIT_PACKET 16u /* bytes; a packet that has no room is lost whole */

/* Plugs it in, as it is after reset. */
void fake_unit_reset(void);
/* Pulls it out: doorbells are stores and nothing else. */
void fake_unit_unplug(void);

void fake_unit_ring(uint8_t *doorbell);

/* The CPU of that page runs something worth so many bytes of trace, a multiple of FAKE_UNIT_PACKET; so many were written. */
uint64_t fake_unit_run(struct ktrx_hwt_unit *page, uint64_t bytes);

/* What is written at a position of an output. */
uint8_t fake_unit_byte(uint64_t table, uint64_t position);

/* The first rule that was broken; NULL: none. */
const char *fake_unit_broken(void);

/* How often a doorbell was rung. */
unsigned fake_unit_rung(uint32_t command);

/* The next command fails so (KTRX_HWT_UNIT_ERROR_*). */
void fake_unit_fail(uint32_t error);

#endif
