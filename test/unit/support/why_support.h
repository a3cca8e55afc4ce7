/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Runs `ktrace why` on a script (script.h), for tests of detectors. */
#ifndef TEST_WHY_SUPPORT_H
#define TEST_WHY_SUPPORT_H

#include "why/finding.h"

#define MS UINT64_C(1000000)

/*
 * Call the first function before each test: it begins a script of version 2. Call the second one after each
 * test: it frees everything made from the script.
 */
int why_setup(void **state);
int why_teardown(void **state);
/*
 * Marks clocks as measured, with an error. Events of different CPUs whose times differ by no more than the
 * error have an uncertain order.
 */
void why_clocks_leave(uint64_t ticks);

/* Reads the script in the order of timestamps. Returns the verdict, which must be the first finding. */
const struct why_finding *why_judge(void);
const struct why_evidence *why_evidence_of_script(void);
/*
 * Uses this file as the kernel's file until the test ends. Requires: `machine` and `self` are set in
 * script_info().
 */
struct elf_file;
void why_kernel_file(const struct elf_file *file);
/* Returns the text of all findings, with details. */
const char *why_text(void);
/* Checks that the text of the findings contains these words, in which a line break may replace a space. */
void why_says(const char *words);
/* Returns how many findings have that verdict. */
unsigned why_count(enum why_verdict verdict);

/*
 * Adds a thread's entry, with its state and the CPU on which it runs. A thread without an entry and without
 * events is not in the evidence.
 */
struct ktrx_holder *why_thread_row(uint32_t thread, const char *name, uint8_t state, uint32_t cpu);
/*
 * Adds a CPU's entry to the table of holders. The table of CPUs states that the CPU is online and has called
 * all hooks except KTRX_HOOK_EXIT.
 */
struct ktrx_holder *why_cpu_row(uint32_t cpu, uint8_t mode);
/*
 * Gives a CPU `times` heartbeats, the last one at `until`. This is also the newest timestamp that the CPU has
 * read.
 */
void why_cpu_beats(uint32_t cpu, uint64_t times, uint64_t until);
void why_holds(struct ktrx_holder *holder, uint64_t object, uint64_t since);
void why_waits(struct ktrx_holder *holder, uint8_t kind, uint64_t object, const char *name, uint64_t since);

#endif
