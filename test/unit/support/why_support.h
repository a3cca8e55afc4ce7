/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What `ktrace why` makes of a script (script.h), for tests of detectors. */
#ifndef TEST_WHY_SUPPORT_H
#define TEST_WHY_SUPPORT_H

#include "why/finding.h"

#define MS UINT64_C(1000000)

/* Around each test: a script of version 2 begins, and what was made of it goes. */
int why_setup(void **state);
int why_teardown(void **state);
/* Clocks were measured: the order of events of different CPUs is uncertain if they are no farther apart. */
void why_clocks_leave(uint64_t ticks);

/* Reads the script, events in order of their stamps, and returns the verdict, checked to be the first of the findings. */
const struct why_finding *why_judge(void);
const struct why_evidence *why_evidence_of_script(void);
/* The kernel's file, from now on until the test ends; info's machine and self have to be set. */
struct elf_file;
void why_kernel_file(const struct elf_file *file);
/* The same as text, as people see it; all findings at length. */
const char *why_text(void);
/* Fails unless the text has these words; a line may end between two of them. */
void why_says(const char *words);
/* How many findings there are of a verdict. */
unsigned why_count(enum why_verdict verdict);

/* A thread's row: its state, and where it runs. Without a row or an event about it, a thread is not in the evidence. */
struct ktrx_holder *why_thread_row(uint32_t thread, const char *name, uint8_t state, uint32_t cpu);
/* A CPU's row in the table of holders. In that of CPUs it is online and has called all hooks but KTRX_HOOK_EXIT. */
struct ktrx_holder *why_cpu_row(uint32_t cpu, uint8_t mode);
/* Gives a CPU so many heartbeats, the last one at `until`, which is also the newest stamp read on that CPU. */
void why_cpu_beats(uint32_t cpu, uint64_t times, uint64_t until);
void why_holds(struct ktrx_holder *holder, uint64_t object, uint64_t since);
void why_waits(struct ktrx_holder *holder, uint8_t kind, uint64_t object, const char *name, uint64_t since);

#endif
