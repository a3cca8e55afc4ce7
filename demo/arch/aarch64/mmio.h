/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reads and writes 32-bit device registers. */
#ifndef DEMO_ARCH_MMIO_H
#define DEMO_ARCH_MMIO_H

#include <stdint.h>

static inline uint32_t mmio_read32(uintptr_t address)
{
	return *(volatile const uint32_t *)address;
}

static inline void mmio_write32(uintptr_t address, uint32_t value)
{
	*(volatile uint32_t *)address = value;
}

#endif
