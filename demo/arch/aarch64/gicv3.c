/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * GICv3: each CPU has a redistributor. A register of the redistributor contains the CPU's affinity, so
 * each CPU can find its own. The CPU interface consists of system registers.
 */
#include "arch.h"
#include "cpu.h"
#include "gic.h"
#include "mmio.h"
#include "platform.h"

enum {
	GICD_CTLR = PLATFORM_GIC_DISTRIBUTOR,
	GICD_CTLR_ENABLE_GROUP1 = 1 << 1,
	GICD_CTLR_AFFINITY_ROUTING = 1 << 4,
};

/* Offsets in a redistributor: its control frame, followed by the frame of the per-CPU interrupts. */
enum {
	GICR_TYPER_LAST = 0x8,
	GICR_TYPER_AFFINITY = 0xc,
	GICR_WAKER = 0x14,
	GICR_IGROUPR0 = 0x10080,
	GICR_ISENABLER0 = 0x10100,
	GICR_STRIDE = 0x20000,
};

#define TYPER_LAST	      (1u << 4)
#define WAKER_PROCESSOR_SLEEP (1u << 1)
#define WAKER_CHILDREN_ASLEEP (1u << 2)
#define PRIORITY_ALL	      0xff

/* Registers are named by their encoding, because compilers for plain ARMv8.0 may not know the names. */
#define ICC_SRE_EL1	S3_0_C12_C12_5
#define ICC_PMR_EL1	S3_0_C4_C6_0
#define ICC_IGRPEN1_EL1 S3_0_C12_C12_7
#define ICC_IAR1_EL1	S3_0_C12_C12_0
#define ICC_EOIR1_EL1	S3_0_C12_C12_1
#define ICC_SGI1R_EL1	S3_0_C12_C11_5

/*
 * These macros expand the names above before arch_sysreg_read() and arch_sysreg_write() convert them to
 * strings.
 */
#define read_icc(name)	       arch_sysreg_read(name)
#define write_icc(name, value) arch_sysreg_write(name, value)

static void init(void)
{
	mmio_write32(GICD_CTLR, GICD_CTLR_AFFINITY_ROUTING);
	mmio_write32(GICD_CTLR, GICD_CTLR_AFFINITY_ROUTING | GICD_CTLR_ENABLE_GROUP1);
}

/* Returns the affinity fields of MPIDR, packed as in GICR_TYPER[63:32]. */
static uint32_t packed_affinity(uint64_t mpidr)
{
	return (uint32_t)(mpidr & 0xffffff) | (uint32_t)(mpidr >> 32 & 0xff) << 24;
}

static uintptr_t find_redistributor(void)
{
	uint32_t wanted = packed_affinity(arch_sysreg_read(mpidr_el1));
	uintptr_t base = PLATFORM_GIC_REDISTRIBUTORS;

	while (mmio_read32(base + GICR_TYPER_AFFINITY) != wanted &&
	       !(mmio_read32(base + GICR_TYPER_LAST) & TYPER_LAST))
		base += GICR_STRIDE;
	return base;
}

static void init_cpu(void)
{
	uintptr_t base = find_redistributor();

	mmio_write32(base + GICR_WAKER, mmio_read32(base + GICR_WAKER) & ~WAKER_PROCESSOR_SLEEP);
	while (mmio_read32(base + GICR_WAKER) & WAKER_CHILDREN_ASLEEP)
		arch_relax();
	mmio_write32(base + GICR_IGROUPR0, UINT32_MAX);
	mmio_write32(base + GICR_ISENABLER0, GIC_INTERRUPTS);
	write_icc(ICC_SRE_EL1, read_icc(ICC_SRE_EL1) | 1);
	__asm__ volatile("isb");
	write_icc(ICC_PMR_EL1, PRIORITY_ALL);
	write_icc(ICC_IGRPEN1_EL1, 1);
	__asm__ volatile("isb");
}

static uint32_t acknowledge(void)
{
	uint32_t acknowledged = (uint32_t)read_icc(ICC_IAR1_EL1);

	__asm__ volatile("dsb sy" : : : "memory");
	return acknowledged;
}

static void end(uint32_t acknowledged)
{
	write_icc(ICC_EOIR1_EL1, acknowledged);
	__asm__ volatile("isb");
}

static void send(const struct cpu *to, uint32_t intid)
{
	uint64_t mpidr = to->hardware_id;
	uint64_t target = (mpidr >> 32 & 0xff) << 48 | (mpidr >> 16 & 0xff) << 32 | (mpidr >> 8 & 0xff) << 16;

	/* Makes earlier stores visible to the target CPU before the interrupt. */
	__asm__ volatile("dsb ishst" : : : "memory");
	write_icc(ICC_SGI1R_EL1, target | (uint64_t)intid << 24 | UINT64_C(1) << (mpidr & 0xf));
	__asm__ volatile("isb");
}

const struct gic_driver gicv3 = {
	.init = init,
	.init_cpu = init_cpu,
	.acknowledge = acknowledge,
	.end = end,
	.send = send,
};
