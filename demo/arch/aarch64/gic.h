/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The interrupt controller. Only per-CPU interrupts are used: two software-generated ones, IPI and doorbell,
 * the virtual timer's and the profiling buffer's. GICv2 and GICv3 are two drivers behind one table; the CPU says which of them the machine
 * has.
 */
#ifndef DEMO_ARCH_GIC_H
#define DEMO_ARCH_GIC_H

#include <stdint.h>

#include "platform.h"

struct cpu;

#define GIC_INTERRUPTS \
	(1u << INTID_VIRTUAL_TIMER | 1u << INTID_PROFILING | 1u << INTID_IPI | 1u << INTID_DOORBELL)

struct gic_driver {
	void (*init)(void);	       /* once, boot CPU */
	void (*init_cpu)(void);	       /* each CPU, itself */
	uint32_t (*acknowledge)(void); /* what to hand to end(); the interrupt is bits 9:0 */
	void (*end)(uint32_t acknowledged);
	void (*send)(const struct cpu *to, uint32_t intid); /* a software-generated one */
};

extern const struct gic_driver gicv2, gicv3;

/* The boot CPU's and every other CPU's share of the set-up; gic_init includes gic_init_cpu. */
void gic_init(void);
void gic_init_cpu(void);

/* Takes the interrupt that is pending and hands it to the portable kernel. */
void gic_interrupt(uintptr_t ip);

#endif
