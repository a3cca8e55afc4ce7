/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Replaces an architecture's ktrace_io.h: every access goes to the fake machine and into its log. */
#ifndef KTRACE_ARCH_IO_H
#define KTRACE_ARCH_IO_H

#include "transport_fake/machine.h"

static inline uint8_t ktrace_io_read8(struct ktrace_io io, size_t offset)
{
	return (uint8_t)fake_read(io.base + offset, 8);
}

static inline uint16_t ktrace_io_read16(struct ktrace_io io, size_t offset)
{
	return (uint16_t)fake_read(io.base + offset, 16);
}

static inline uint32_t ktrace_io_read32(struct ktrace_io io, size_t offset)
{
	return fake_read(io.base + offset, 32);
}

static inline void ktrace_io_write8(struct ktrace_io io, size_t offset, uint8_t value)
{
	fake_write(io.base + offset, 8, value);
}

static inline void ktrace_io_write16(struct ktrace_io io, size_t offset, uint16_t value)
{
	fake_write(io.base + offset, 16, value);
}

static inline void ktrace_io_write32(struct ktrace_io io, size_t offset, uint32_t value)
{
	fake_write(io.base + offset, 32, value);
}

static inline uint8_t ktrace_port_read8(uint16_t port)
{
	return (uint8_t)fake_read(port, 8);
}

static inline uint32_t ktrace_port_read32(uint16_t port)
{
	return fake_read(port, 32);
}

static inline void ktrace_port_write32(uint16_t port, uint32_t value)
{
	fake_write(port, 32, value);
}

static inline void ktrace_port_write_bytes(uint16_t port, const void *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		fake_write(port, 8, ((const uint8_t *)data)[i]);
}

static inline void ktrace_io_barrier(void)
{
	fake_barrier();
}

static inline void ktrace_io_relax(void)
{
}

#endif
