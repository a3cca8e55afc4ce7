/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The interrupt controller. Only per-CPU interrupts are used: two software-generated interrupts (IPI and
 * doorbell), the interrupt of the virtual timer, and the interrupt of the profiling buffer. GICv2 and GICv3
 * have separate drivers; a system register shows which one the machine has.
 */
#ifndef DEMO_ARCH_GIC_H
#define DEMO_ARCH_GIC_H

#include <stdint.h>

#include "platform.h"

struct cpu;

#define GIC_INTERRUPTS \
	(1u << INTID_VIRTUAL_TIMER | 1u << INTID_PROFILING | 1u << INTID_IPI | 1u << INTID_DOORBELL)

struct gic_driver {
	void (*init)(void);	/* called once, on the boot CPU */
	void (*init_cpu)(void); /* called on each CPU */
	/*
	 * Acknowledges the pending interrupt. Returns the value to pass to end(); its bits 9:0 are the number
	 * of the interrupt.
	 */
	uint32_t (*acknowledge)(void);
	void (*end)(uint32_t acknowledged);
	/* Sends the software-generated interrupt with this number to a CPU. */
	void (*send)(const struct cpu *to, uint32_t intid);
};

extern const struct gic_driver gicv2, gicv3;

/* gic_init initializes the GIC, including the part of the boot CPU. Each other CPU calls gic_init_cpu. */
void gic_init(void);
void gic_init_cpu(void);

/* Passes the pending interrupt to the portable kernel. */
void gic_interrupt(uintptr_t ip);

#endif
