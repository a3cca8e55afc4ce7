/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What the stories that why_traces.c and others tell `ktrace why` are made of: a machine of FAKE_CPUS CPUs whose clock the story
 * sets, each with an idle thread, and threads 5 to 8 (red, green, blue, grey). One story at a time.
 */
#ifndef TEST_GOLDEN_WHY_STORY_H
#define TEST_GOLDEN_WHY_STORY_H

#include <stdint.h>

#define PTR(n) ((const void *)(uintptr_t)(n))
#define A      0xa000u
#define B      0xb000u
#define C      0xc000u
#define PLACE  0x77000u
#define MS     UINT64_C(1000000)
#define IDLE   1u /* and on: of each CPU */

extern const char *story_folder;

/* The machine starts, all CPUs idle; `prepare` runs before the first event, NULL: nothing. */
void boot_with(void (*prepare)(void));
void boot(void);
/* Writes what there is to story_folder/`name`. */
void save(const char *name);

/* The time, since boot. */
void at(uint64_t ms);
/* All hearts beat until then, every 10 ms. */
void go_on_to(uint64_t ms);

/* CPU `cpu` runs the thread from now on; run() at that time, in the kernel. */
void switch_to(uint32_t cpu, uint32_t thread);
void run(uint32_t cpu, uint32_t thread, uint64_t ms);

/* Of the thread that runs: it has a lock, gives it up, sleeps for one that another thread has. `by`: KTRACE_BY_*. */
void take(uintptr_t lock, uint32_t by, uintptr_t place);
void give(uintptr_t lock, uint32_t by);
void sleep_for(uintptr_t lock, const char *name, uint32_t owner, uintptr_t place);
/* It waits for more to do. */
void rest(void);
/* It sleeps on a queue, for a KTRX_WAIT_*, until that time at the latest, 0: for ever. */
void sleep_on(uintptr_t queue, const char *name, uint32_t kind, uint64_t until_ms);
/* It ends. */
void end(void);
/* It wakes a thread. */
void wake(uint32_t thread);

#endif
