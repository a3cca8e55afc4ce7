/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Device access where devices lie in memory only, so `ports` is not looked at. Barriers are the CPU's to say.
 */
#ifndef KTRACE_GENERIC_IO_H
#define KTRACE_GENERIC_IO_H

#include "ktrace/transport.h"

static inline uint8_t ktrace_io_read8(struct ktrace_io io, size_t offset)
{
	return *(volatile const uint8_t *)(io.base + offset);
}

static inline void ktrace_io_write8(struct ktrace_io io, size_t offset, uint8_t value)
{
	*(volatile uint8_t *)(io.base + offset) = value;
}

static inline uint16_t ktrace_io_read16(struct ktrace_io io, size_t offset)
{
	return *(volatile const uint16_t *)(io.base + offset);
}

static inline void ktrace_io_write16(struct ktrace_io io, size_t offset, uint16_t value)
{
	*(volatile uint16_t *)(io.base + offset) = value;
}

static inline uint32_t ktrace_io_read32(struct ktrace_io io, size_t offset)
{
	return *(volatile const uint32_t *)(io.base + offset);
}

static inline void ktrace_io_write32(struct ktrace_io io, size_t offset, uint32_t value)
{
	*(volatile uint32_t *)(io.base + offset) = value;
}

#endif
