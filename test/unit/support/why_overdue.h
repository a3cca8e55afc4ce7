/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A machine of two CPUs that rests at its end, and threads that sleep and are woken, for tests of waits. */
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

enum { OTHER = 1, BLOCK, WAKE, NOBODY, ENTER, EXIT };

/* Around each test, with why_teardown(): the types of events, and two idle CPUs whose timers beat to the end. */
int why_overdue_begin(void **state);

/* A thread waits on the queue until the end. */
struct ktrx_holder *why_sleeps(uint32_t thread, const char *name, uint8_t kind, uint64_t since_ms);
/* The sleeper sleeps at one time and is woken at another, by a thread or, for thread 0, by an interrupt on CPU 1. */
void why_turn(uint32_t waker, uint8_t kind, uint64_t from_us, uint64_t to_us);
/* `count` turns, a wakeup each `every_us`, from 100 ms on. When the last one came, in ms. */
uint64_t why_turns(uint32_t waker, uint8_t kind, uint32_t count, uint64_t every_us);
/* The interrupt comes on CPU 1 every 50 ms to the end, and wakes no thread. */
void why_irq_goes_on(uint64_t from_ms);
/* The waker has just run and sleeps for a moment. */
struct ktrx_holder *why_waker_lives(void);
/* Another thread has enough to do on CPU 1: the machine is not idle. */
void why_others_are_busy(void);

/* There is one overdue wait, that certain: the verdict or, if only possible, open beside an idle machine. */
void why_is_overdue(enum finding_certainty certain);
/* The machine is idle, and no wait is overdue. */
void why_is_idle(enum finding_certainty certain);

#endif
