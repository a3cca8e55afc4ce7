/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Each CPU records at full speed: from a thread, from its timer and IPI interrupts, and from NMIs that the
 * CPUs send each other, so that records nest at every point. Each record can be checked by itself:
 *
 *      source      CPU | context << 16; context 0: thread, 1: interrupt, 2: NMI
 *      sequence    index of the record among all records of its source, short and long; the first is 0
 *      check       (sequence << 18 ^ source) * 0x9e3779b97f4a7c15, modulo 2^64
 *      word n      check + n, in stress.long
 *
 * The console line at the end shows the number of records.
 */
#include <ktrace/ktrace.h>

#include "clock.h"
#include "cpu.h"
#include "interrupt.h"
#include "ipi.h"
#include "print.h"
#include "work.h"

KTRACE_EVENT(stress, short, "%#x %u %#llx", (uint32_t, source), (uint32_t, sequence),
	     (unsigned long long, check));
KTRACE_EVENT(stress, long, "%#x %u %#llx %#llx %#llx %#llx %#llx %#llx", (uint32_t, source),
	     (uint32_t, sequence), (unsigned long long, check), (unsigned long long, word1),
	     (unsigned long long, word2), (unsigned long long, word3), (unsigned long long, word4),
	     (unsigned long long, word5));

#define CHECK_FACTOR 0x9e3779b97f4a7c15ull
#define LONG_EVERY   8	  /* every 8th record is a long one */
#define POKE_EVERY   1024 /* number of records after which an IPI and an NMI are sent to the next CPU */

enum source_context { FROM_THREAD, FROM_INTERRUPT, FROM_NMI, FROM_CONTEXTS };

static uint32_t sequences[CPU_MAX][FROM_CONTEXTS];

static void record(uint32_t cpu, enum source_context context)
{
	uint32_t source = cpu | (uint32_t)context << 16;
	uint32_t sequence = sequences[cpu][context]++;
	uint64_t check = ((uint64_t)sequence << 18 ^ source) * CHECK_FACTOR;

	if (sequence % LONG_EVERY == 0)
		KTRACE(stress, long, source, sequence, check, check + 1, check + 2, check + 3, check + 4,
		       check + 5);
	else
		KTRACE(stress, short, source, sequence, check);
}

static void observe(enum irq irq)
{
	record(arch_this_cpu()->id, irq == IRQ_NMI ? FROM_NMI : FROM_INTERRUPT);
}

static void recorder(unsigned n, uint64_t until_ns)
{
	struct cpu *neighbour = &cpus[(n + 1) % cpu_count];

	do {
		for (unsigned i = 0; i < POKE_EVERY; i++)
			record(n, FROM_THREAD);
		ipi_send(neighbour, IPI_RESCHEDULE);
		arch_nmi_send(neighbour);
	} while (!work_over(until_ns));
}

static uint64_t total(enum source_context context)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < cpu_count; i++)
		sum += sequences[i][context];
	return sum;
}

void work_stress(uint64_t until_ns)
{
	interrupt_observer = observe;
	work_crew("stress", cpu_count, recorder, until_ns);
	interrupt_observer = NULL;
	kprintf("stress: %lu records from threads, %lu from interrupts, %lu from NMIs\n", total(FROM_THREAD),
		total(FROM_INTERRUPT), total(FROM_NMI));
}
