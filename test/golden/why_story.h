/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Functions for stories: short invented traces for `ktrace why`. A story runs on a fake machine with
 * FAKE_CPUS CPUs, and sets its clock. Each CPU has an idle thread. Threads 5 to 8 have the names red, green,
 * blue and grey. Only one story runs at a time.
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
/* number of CPU 0's idle thread; the idle threads of the other CPUs have the next numbers */
#define IDLE 1u

extern const char *story_folder;

/* Starts the machine; all CPUs are idle. Calls `prepare` before the first event unless it is NULL. */
void boot_with(void (*prepare)(void));
void boot(void);
/* Writes the trace to story_folder/`name`. */
void save(const char *name);

/* Sets the time since boot. */
void at(uint64_t ms);
/* Advances the time; all CPUs record a heartbeat every 10 ms. */
void go_on_to(uint64_t ms);

/* Switches the CPU to the thread. */
void switch_to(uint32_t cpu, uint32_t thread);
/* Sets the time, switches the CPU to the thread, and makes the thread run in the kernel. */
void run(uint32_t cpu, uint32_t thread, uint64_t ms);

/* The running thread takes a lock. `by`: KTRACE_BY_*. */
void take(uintptr_t lock, uint32_t by, uintptr_t place);
/* Like take(), but as a try-lock: records lock.try, and the thread does not wait. */
void take_by_try(uintptr_t lock, uint32_t by, uintptr_t place);
/* The running thread releases a lock. `by`: KTRACE_BY_*. */
void give(uintptr_t lock, uint32_t by);
/* The running thread fails to take a lock, which thread `owner` holds. It does not sleep. */
void contend(uintptr_t lock, const char *name, uint32_t owner, uintptr_t place);
/* The running thread sleeps until it gets a lock, which thread `owner` holds. */
void sleep_for(uintptr_t lock, const char *name, uint32_t owner, uintptr_t place);
/* The running thread sleeps until it gets more work. */
void rest(void);
/*
 * The running thread sleeps on a queue. `kind`: KTRX_WAIT_*. `until_ms`: time of the deadline in ms since
 * boot, or 0 if there is no deadline.
 */
void sleep_on(uintptr_t queue, const char *name, uint32_t kind, uint64_t until_ms);
/* The running thread ends. */
void end(void);
/* Like sleep_for(), sleep_on() and end(), but without the switch to another thread. */
void announce_wait(uintptr_t lock, const char *name, uint32_t owner, uintptr_t place);
void announce_sleep(uintptr_t queue, const char *name, uint32_t kind, uint64_t until_ms);
void announce_end(void);
/* The running thread wakes another thread. */
void wake(uint32_t thread);

#endif
