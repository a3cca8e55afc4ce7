/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Device access on x86_64: I/O ports, or memory. The CPU keeps loads and stores of device memory in order. */
#ifndef KTRACE_ARCH_IO_H
#define KTRACE_ARCH_IO_H

#include "ktrace/transport.h"

static inline uint8_t ktrace_port_read8(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("in{b %1, %0| %0, %1}" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

static inline uint16_t ktrace_port_read16(uint16_t port)
{
	uint16_t value;

	__asm__ volatile("in{w %1, %0| %0, %1}" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

static inline uint32_t ktrace_port_read32(uint16_t port)
{
	uint32_t value;

	__asm__ volatile("in{l %1, %0| %0, %1}" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

static inline void ktrace_port_write8(uint16_t port, uint8_t value)
{
	__asm__ volatile("out{b %0, %1| %1, %0}" : : "a"(value), "Nd"(port) : "memory");
}

static inline void ktrace_port_write16(uint16_t port, uint16_t value)
{
	__asm__ volatile("out{w %0, %1| %1, %0}" : : "a"(value), "Nd"(port) : "memory");
}

static inline void ktrace_port_write32(uint16_t port, uint32_t value)
{
	__asm__ volatile("out{l %0, %1| %1, %0}" : : "a"(value), "Nd"(port) : "memory");
}

/* Writes single bytes, because debug consoles lose bytes of wider writes. */
static inline void ktrace_port_write_bytes(uint16_t port, const void *data, size_t bytes)
{
	__asm__ volatile("rep outsb" : "+S"(data), "+c"(bytes) : "d"(port) : "memory");
}

static inline uint8_t ktrace_io_read8(struct ktrace_io io, size_t offset)
{
	return io.ports ? ktrace_port_read8((uint16_t)(io.base + offset))
			: *(volatile const uint8_t *)(io.base + offset);
}

static inline uint16_t ktrace_io_read16(struct ktrace_io io, size_t offset)
{
	return io.ports ? ktrace_port_read16((uint16_t)(io.base + offset))
			: *(volatile const uint16_t *)(io.base + offset);
}

static inline uint32_t ktrace_io_read32(struct ktrace_io io, size_t offset)
{
	return io.ports ? ktrace_port_read32((uint16_t)(io.base + offset))
			: *(volatile const uint32_t *)(io.base + offset);
}

static inline void ktrace_io_write8(struct ktrace_io io, size_t offset, uint8_t value)
{
	if (io.ports)
		ktrace_port_write8((uint16_t)(io.base + offset), value);
	else
		*(volatile uint8_t *)(io.base + offset) = value;
}

static inline void ktrace_io_write16(struct ktrace_io io, size_t offset, uint16_t value)
{
	if (io.ports)
		ktrace_port_write16((uint16_t)(io.base + offset), value);
	else
		*(volatile uint16_t *)(io.base + offset) = value;
}

static inline void ktrace_io_write32(struct ktrace_io io, size_t offset, uint32_t value)
{
	if (io.ports)
		ktrace_port_write32((uint16_t)(io.base + offset), value);
	else
		*(volatile uint32_t *)(io.base + offset) = value;
}

/*
 * Barriers between accesses to memory that a device reads or writes, and the access to the register or index
 * that passes this memory to the device.
 */
#define ktrace_io_barrier ktrace_io_barrier
static inline void ktrace_io_barrier(void)
{
	__asm__ volatile("mfence" : : : "memory");
}

/* Called in a polling loop. */
#define ktrace_io_relax ktrace_io_relax
static inline void ktrace_io_relax(void)
{
	__asm__ volatile("pause" : : : "memory");
}

/* Gives a command to the trace unit in software: stores to its doorbell (ktrx/hwt_unit.h). */
#define KTRACE_ARCH_UNIT_EXISTS 1

/*
 * Executes the marker and, directly after it, the store. Both instructions are in one piece of assembler, so
 * that no other instruction comes between them. They are within 16 aligned bytes, so that both are on one
 * page.
 */
static inline void ktrace_arch_unit_ring(uint8_t *doorbell)
{
	__asm__ volatile(".p2align 4\n"
			 "	nop{l	0x4b545255(%%rax)|	dword ptr [rax + 0x4b545255]}\n"
			 "	mov{b	$0, (%0)|	byte ptr [%0], 0}"
			 :
			 : "r"(doorbell)
			 : "memory");
}

#endif
