/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* GICv2: all registers are memory-mapped; at most 8 CPUs, each with one bit in the distributor's registers. */
#include "arch.h"
#include "cpu.h"
#include "gic.h"
#include "mmio.h"
#include "platform.h"

enum {
	GICD_CTLR = PLATFORM_GIC_DISTRIBUTOR,
	GICD_ISENABLER0 = PLATFORM_GIC_DISTRIBUTOR + 0x100,
	GICD_ITARGETSR0 = PLATFORM_GIC_DISTRIBUTOR + 0x800,
	GICD_SGIR = PLATFORM_GIC_DISTRIBUTOR + 0xf00,
	GICC_CTLR = PLATFORM_GIC_CPU_INTERFACE,
	GICC_PMR = PLATFORM_GIC_CPU_INTERFACE + 4,
	GICC_IAR = PLATFORM_GIC_CPU_INTERFACE + 0xc,
	GICC_EOIR = PLATFORM_GIC_CPU_INTERFACE + 0x10,
};

#define SGIR_TARGETS_SHIFT 16
#define PRIORITY_ALL	   0xff

/* For each CPU: its bit in the distributor's registers. Each CPU stores its own bit here. */
static uint8_t target_bits[CPU_MAX];

static void init(void)
{
	mmio_write32(GICD_CTLR, 1);
}

static void init_cpu(void)
{
	uint8_t bit = (uint8_t)mmio_read32(GICD_ITARGETSR0);

	/* The register GICD_ITARGETSR0 contains this CPU's bit, but is 0 if there is only one CPU. */
	target_bits[arch_this_cpu()->id] = bit ? bit : 1;
	mmio_write32(GICD_ISENABLER0, GIC_INTERRUPTS);
	mmio_write32(GICC_PMR, PRIORITY_ALL);
	mmio_write32(GICC_CTLR, 1);
}

static uint32_t acknowledge(void)
{
	return mmio_read32(GICC_IAR);
}

static void end(uint32_t acknowledged)
{
	mmio_write32(GICC_EOIR, acknowledged);
}

static void send(const struct cpu *to, uint32_t intid)
{
	/* Makes earlier stores visible to the target CPU before the interrupt. */
	__asm__ volatile("dsb ishst" : : : "memory");
	mmio_write32(GICD_SGIR, (uint32_t)target_bits[to->id] << SGIR_TARGETS_SHIFT | intid);
}

const struct gic_driver gicv2 = {
	.init = init,
	.init_cpu = init_cpu,
	.acknowledge = acknowledge,
	.end = end,
	.send = send,
};
