/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Inter-processor interrupts. To send a request to a CPU, the sender sets a bit in that CPU's ipi_pending and
 * interrupts the CPU.
 */
#ifndef DEMO_IPI_H
#define DEMO_IPI_H

#include <stdint.h>

struct cpu;

enum ipi {
	IPI_RESCHEDULE = 1, /* a thread was made runnable on the CPU */
	IPI_CALL = 2,	    /* run the function of ipi_call or ipi_call_all */
	IPI_STOP = 4,	    /* stop the CPU because of a panic */
	IPI_CLOCK = 8,	    /* take part in a comparison of this CPU's clock with another CPU's clock */
};

/* Sends a request to another CPU. Any context. */
void ipi_send(struct cpu *cpu, enum ipi ipi);

/*
 * Runs function(argument) on all CPUs, including this one, with interrupts off, and waits until the function
 * has returned on each CPU. Requires: thread context, no spinlock held.
 */
void ipi_call_all(void (*function)(void *), void *argument);

/* Runs the function on one CPU, which may be this one. In all other respects like ipi_call_all(). */
void ipi_call(const struct cpu *cpu, void (*function)(void *), void *argument);

/* Handles the pending requests to this CPU. Requires: interrupts off. */
void ipi_handle(void);

#endif
