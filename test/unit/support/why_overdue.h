/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A machine of two CPUs that is idle at the end, and threads that sleep and are woken, for tests of waits. */
#ifndef TEST_WHY_OVERDUE_H
#define TEST_WHY_OVERDUE_H

#include <stdint.h>

#include "why/finding.h"

#define V(value) ((uint64_t)(value))

#define IDLE	  1u
#define SLEEPER	  5u
#define WAKER	  6u
#define WAITER	  7u
#define OTHER_ONE 8u
#define QUEUE	  0x1000u
#define LOCK	  0x2000u
#define IRQ	  33u
#define END_MS	  12000u

enum { OTHER = 1, BLOCK, WAKE, NOBODY, ENTER, EXIT, SWITCH };

/*
 * Call before each test, and why_teardown() after it. Declares the types of events, and two idle CPUs with
 * timer ticks to the end.
 */
int why_overdue_begin(void **state);

/* Adds a thread that waits on the queue until the end. */
struct ktrx_holder *why_sleeps(uint32_t thread, const char *name, uint8_t kind, uint64_t since_ms);
/*
 * Adds a sleep of the sleeper from `from_us` to `to_us`. It is ended by thread `waker` or, if `waker` is 0,
 * by an interrupt on CPU 1.
 */
void why_turn(uint32_t waker, uint8_t kind, uint64_t from_us, uint64_t to_us);
/*
 * Adds `count` sleeps and wakeups from 100 ms on, with a wakeup every `every_us` microseconds. Returns the
 * time of the last wakeup in ms.
 */
uint64_t why_turns(uint32_t waker, uint8_t kind, uint32_t count, uint64_t every_us);
/* From `from_ms` to the end, adds an interrupt on CPU 1 every 50 ms. These interrupts wake no thread. */
void why_irq_goes_on(uint64_t from_ms);
/* Makes the waker run shortly before the end, and then sleep. */
struct ktrx_holder *why_waker_lives(void);
/* Keeps another thread busy on CPU 1, so that the machine is not idle. */
void why_others_are_busy(void);

/*
 * Checks that one overdue wait is found, with that certainty. It must be the verdict or, if it is only
 * possible, an open finding of an idle machine.
 */
void why_is_overdue(enum finding_certainty certain);
/* Checks that the verdict is "idle", and that no overdue wait is found. */
void why_is_idle(enum finding_certainty certain);

#endif
