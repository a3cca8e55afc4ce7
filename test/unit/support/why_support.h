/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Runs `ktrace why` on a script (script.h), for tests of detectors. */
#ifndef TEST_WHY_SUPPORT_H
#define TEST_WHY_SUPPORT_H

#include "why/finding.h"

#define MS UINT64_C(1000000)

/*
 * Call why_setup() before each test: it begins a script of version 2. Call why_teardown() after each test: it
 * frees the script and all results.
 */
int why_setup(void **state);
int why_teardown(void **state);
/*
 * Marks clocks as measured, with an error. If the times of two events of different CPUs differ by no more
 * than the error, the order of the events is uncertain.
 */
void why_clocks_leave(uint64_t ticks);

/*
 * Reads the events of the script in the order of their timestamps. Returns the verdict, which must be the
 * first finding.
 */
const struct why_finding *why_judge(void);
const struct why_evidence *why_evidence_of_script(void);
/*
 * Uses this file as the kernel's file until the test ends. Requires: `machine` and `self` are set in
 * script_info().
 */
struct elf_file;
void why_kernel_file(const struct elf_file *file);
/* Returns the text of all findings, with their details. */
const char *why_text(void);
/*
 * Checks that the text of the findings contains these words. A line break may replace a space between them.
 */
void why_says(const char *words);
/* Returns how many findings have that verdict. */
unsigned why_count(enum why_verdict verdict);

/*
 * Adds the entry of a thread to the table of holders, with the thread's state and CPU. A thread that has
 * neither an entry nor events is not in the evidence.
 */
struct ktrx_holder *why_thread_row(uint32_t thread, const char *name, uint8_t state, uint32_t cpu);
/*
 * Adds a CPU's entry to the table of holders. In the table of CPUs, the CPU is then online, and has called
 * all hooks except KTRX_HOOK_EXIT.
 */
struct ktrx_holder *why_cpu_row(uint32_t cpu, uint8_t mode);
/*
 * Gives a CPU `times` heartbeats, the last one at `until`. The last one is also the CPU's newest clock
 * reading.
 */
void why_cpu_beats(uint32_t cpu, uint64_t times, uint64_t until);
void why_holds(struct ktrx_holder *holder, uint64_t object, uint64_t since);
void why_waits(struct ktrx_holder *holder, uint8_t kind, uint64_t object, const char *name, uint64_t since);

#endif
