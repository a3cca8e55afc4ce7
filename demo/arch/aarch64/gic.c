/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <ktrace/hwt.h>

#include "gic.h"

#include "arch.h"
#include "cpu.h"
#include "platform.h"
#include "timer.h"

#define INTID_MASK 0x3ffu
#define INTID_NONE 1020u /* this number and higher ones mean that no interrupt was pending */
/*
 * Position of a field of ID_AA64PFR0_EL1; a nonzero field means that the GIC has system registers (GICv3 and
 * later).
 */
#define PFR0_GIC_SHIFT 24

static const struct gic_driver *gic;
/* For each CPU: what acknowledge() returned for the doorbell interrupt that the CPU has not ended yet. */
static uint32_t doorbells[CPU_MAX];

void gic_init(void)
{
	gic = arch_sysreg_read(id_aa64pfr0_el1) >> PFR0_GIC_SHIFT & 0xf ? &gicv3 : &gicv2;
	gic->init();
	gic->init_cpu();
}

void gic_init_cpu(void)
{
	gic->init_cpu();
}

/*
 * Handles the pending interrupt. Ends the interrupt at the GIC before calling interrupt(), which may switch
 * threads. The timer and the profiling buffer must stop asserting their interrupts before the interrupt is
 * ended. A doorbell interrupt is ended later, by its handler.
 */
void gic_interrupt(uintptr_t ip)
{
	uint32_t acknowledged = gic->acknowledge();
	uint32_t intid = acknowledged & INTID_MASK;
	enum irq irq = IRQ_SPURIOUS;

	if (intid >= INTID_NONE) {
		interrupt(IRQ_SPURIOUS, ip);
		return;
	}
	if (intid == INTID_DOORBELL) {
		doorbells[arch_this_cpu()->id] = acknowledged;
		interrupt(IRQ_DOORBELL, ip);
		return;
	}
	if (intid == INTID_VIRTUAL_TIMER) {
		timer_next();
		irq = IRQ_TIMER;
	} else if (intid == INTID_PROFILING) {
		ktrace_hwt_interrupt();
		irq = IRQ_TRACE_UNIT;
	} else if (intid == INTID_IPI) {
		irq = IRQ_IPI;
	}
	gic->end(acknowledged);
	interrupt_ended(irq);
	interrupt(irq, ip);
}

void arch_ipi_send(const struct cpu *cpu)
{
	gic->send(cpu, INTID_IPI);
}

void arch_doorbell_ring(const struct cpu *cpu)
{
	gic->send(cpu, INTID_DOORBELL);
}

void arch_doorbell_end(void)
{
	gic->end(doorbells[arch_this_cpu()->id]);
}

/* GICv2 and GICv3 have no non-maskable interrupts. */
bool arch_nmi_send(const struct cpu *cpu)
{
	(void)cpu;
	return false;
}
