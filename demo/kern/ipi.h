/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Asking other CPUs for something. A request is a bit in the target's ipi_pending plus an interrupt. */
#ifndef DEMO_IPI_H
#define DEMO_IPI_H

#include <stdint.h>

struct cpu;

enum ipi {
	IPI_RESCHEDULE = 1, /* something may run there */
	IPI_CALL = 2,	    /* ipi_call or ipi_call_all wants its function run */
	IPI_STOP = 4,	    /* a panic wants the CPU stopped */
	IPI_CLOCK = 8,	    /* another CPU compares its clock */
};

/* Any context. */
void ipi_send(struct cpu *cpu, enum ipi ipi);

/*
 * Runs function(argument) on all CPUs, this one included, with interrupts off, and waits until all have
 * returned. Thread context; the caller holds no spinlock.
 */
void ipi_call_all(void (*function)(void *), void *argument);

/* The same on one CPU, which may be this one. */
void ipi_call(const struct cpu *cpu, void (*function)(void *), void *argument);

/* Does what this CPU has been asked for. Interrupts off. */
void ipi_handle(void);

#endif
