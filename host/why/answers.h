/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* CPUs that wait until another CPU, or all other CPUs, have answered an IPI (ktrace_ipi_wait()). */
#ifndef WHY_ANSWERS_H
#define WHY_ANSWERS_H

#include "why/evidence.h"
#include "why/finding.h"

/* Returns whether the CPU waits for an IPI answer. */
bool why_awaits_answer(const struct why_cpu *cpu);

/* Returns whether `asker` waits for an IPI answer that `asked` has not given yet. */
bool why_awaits_answer_of(const struct why_cpu *asker, const struct why_cpu *asked);

/*
 * Formats a line such as "CPU 0 has waited 2.31 s for CPU 1 to answer IPI request 2, at flush+0x31
 * (tlb.c:88)".
 */
const char *why_say_awaited_answer(const struct why_evidence *evidence, const struct why_cpu *asker,
				   char *buffer, size_t size);

/*
 * Formats a line such as "CPU 1 has not answered: it disabled interrupts about 2.40 s ago, at spin+0x10
 * (disk.c:20), and has …".
 */
const char *why_say_missing_answer(const struct why_evidence *evidence, const struct why_cpu *asked,
				   char *buffer, size_t size);

/*
 * If the CPU waits only for CPUs that can never answer, formats the reason: "there is no CPU 7 in this
 * trace", "the CPU waits for an answer from itself", or "no other CPU has started". Otherwise formats "".
 */
const char *why_say_unanswerable(const struct why_evidence *evidence, const struct why_cpu *asker,
				 char *buffer, size_t size);

/* Adds a line for each CPU that has waited for 10 ms or more for an IPI answer of `asked`. */
void why_finding_awaited_answer(struct why_finding *finding, const struct why_evidence *evidence,
				const struct why_cpu *asked);

#endif
