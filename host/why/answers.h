/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * CPUs that wait until another CPU, or all others, have answered an interrupt (ktrace_ipi_wait): for how
 * long, whose answers are missing, and what keeps them.
 */
#ifndef WHY_ANSWERS_H
#define WHY_ANSWERS_H

#include "why/finding.h"

/* Does the CPU wait for an answer? */
bool why_asks(const struct why_cpu *cpu);

/* Does it wait for the answer of that CPU, which has not answered since? */
bool why_asks_for(const struct why_cpu *asker, const struct why_cpu *asked);

/* "CPU 0 has waited 2.31 s for an answer of CPU 1 to its request 2, in flush+0x31 (tlb.c:88)" */
const char *why_say_asks(const struct why_evidence *evidence, const struct why_cpu *asker, char *buffer,
			 size_t size);

/* "CPU 1 has not answered: interrupts are off there for 2.40 s, turned off in spin+0x10 (disk.c:20)" */
const char *why_say_owes(const struct why_evidence *evidence, const struct why_cpu *asked, char *buffer,
			 size_t size);

/* A line for each CPU that has waited for an answer of `asked` for 10 ms and more. */
void why_finding_askers(struct why_finding *finding, const struct why_evidence *evidence,
			const struct why_cpu *asked);

#endif
