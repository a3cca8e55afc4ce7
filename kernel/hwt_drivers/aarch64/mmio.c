/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Registers of CoreSight components, where the kernel has mapped them as device memory. */
#include "ktrace/hwt_coresight.h"

static uint32_t mmio_read(uintptr_t base, uint32_t offset)
{
	uint32_t value;

	/* One plain load: compilers may else pick a form that a hypervisor cannot emulate. */
	__asm__ volatile("ldr %w0, [%1]" : "=r"(value) : "r"(base + offset) : "memory");
	return value;
}

static void mmio_write(uintptr_t base, uint32_t offset, uint32_t value)
{
	__asm__ volatile("str %w0, [%1]" : : "r"(value), "r"(base + offset) : "memory");
}

/*
 * The context synchronisation makes the trace unit see what was written before, as its architecture asks for.
 */
static void mmio_barrier(void)
{
	__asm__ volatile("dsb sy\n"
			 "	isb"
			 :
			 :
			 : "memory");
}

const struct ktrace_hwt_access_mmio ktrace_hwt_mmio = {
	.read = mmio_read,
	.write = mmio_write,
	.barrier = mmio_barrier,
};
