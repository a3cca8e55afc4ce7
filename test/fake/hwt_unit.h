/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A model of the trace unit in software, without QEMU. It handles doorbells as the plugin does
 * (ktrx/hwt_unit.h). Physical addresses are virtual addresses of this process. The unit remembers the first
 * rule that its guest has broken. Instead of trace, it writes a pattern that identifies each byte's position.
 */
#ifndef TEST_FAKE_HWT_UNIT_H
#define TEST_FAKE_HWT_UNIT_H

#include <stddef.h>
#include <stdint.h>

#include "ktrx/hwt_unit.h"

/* size of a packet in bytes; if a packet does not fit, all of it is lost */
#define FAKE_UNIT_PACKET 16u

/* Adds the unit to the machine, in its state after a reset. */
void fake_unit_reset(void);
/* Removes the unit. Afterwards doorbells have no effect. */
void fake_unit_unplug(void);

void fake_unit_ring(uint8_t *doorbell);

/*
 * Simulates code on the CPU of this page until the CPU's unit has produced `bytes` bytes of trace (a multiple
 * of FAKE_UNIT_PACKET). Returns how many of these bytes were written.
 */
uint64_t fake_unit_run(struct ktrx_hwt_unit *page, uint64_t bytes);

/* Returns the byte that the unit has written at this position of the output that `table` describes. */
uint8_t fake_unit_byte(uint64_t table, uint64_t position);

/* Returns the first broken rule, or NULL if no rule was broken. */
const char *fake_unit_broken(void);

/* Returns how many times the guest has given this command. */
unsigned fake_unit_rung(uint32_t command);

/* Makes the next command fail with this error (KTRX_HWT_UNIT_ERROR_*). */
void fake_unit_fail(uint32_t error);

#endif
