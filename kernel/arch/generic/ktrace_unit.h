/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The trace unit in software (ktrx/hwt_unit.h) where no marker is agreed upon for the CPU: it does not exist.
 */
#ifndef KTRACE_ARCH_UNIT_H
#define KTRACE_ARCH_UNIT_H

#include <stdint.h>

#define KTRACE_ARCH_UNIT_EXISTS 0

static inline void ktrace_arch_unit_ring(uint8_t *doorbell)
{
	(void)doorbell;
}

#endif
