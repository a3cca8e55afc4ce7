/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Device access on a CPU without I/O ports: `ports` is ignored. A CPU without a header of its own uses this
 * header alone. The header of an architecture without I/O ports defines its barriers and then includes this
 * header; x86_64, which has ports, defines all of these functions itself.
 */
#ifndef KTRACE_GENERIC_IO_H
#define KTRACE_GENERIC_IO_H

#include "ktrace/transport.h"

/*
 * Barriers between accesses to memory that a device reads or writes, and the access to the register or index
 * that passes this memory to the device. This is the compiler's full barrier; a CPU whose devices need more
 * defines its own.
 */
#ifndef ktrace_io_barrier
#define ktrace_io_barrier ktrace_io_barrier
static inline void ktrace_io_barrier(void)
{
	__sync_synchronize();
}
#endif

/* Called in a polling loop. */
#ifndef ktrace_io_relax
#define ktrace_io_relax ktrace_io_relax
static inline void ktrace_io_relax(void)
{
	__asm__ volatile("" : : : "memory");
}
#endif

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

/* The trace unit in software (ktrx/hwt_unit.h) does not exist for this CPU, because no marker is defined. */
#ifndef KTRACE_ARCH_UNIT_EXISTS
#define KTRACE_ARCH_UNIT_EXISTS 0

static inline void ktrace_arch_unit_ring(uint8_t *doorbell)
{
	(void)doorbell;
}
#endif

#endif
