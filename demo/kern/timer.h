/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What happens TICK_HZ times a second on every CPU, and the timed sleeps that hang on it. */
#ifndef DEMO_TIMER_H
#define DEMO_TIMER_H

#include <stdint.h>

struct cpu;
struct thread;

/* Ends the sleep of one thread at a certain time. Lies where the sleeper has it. */
struct timer {
	struct timer *next;
	struct cpu *cpu; /* in whose list it is, or was */
	struct thread *thread;
	uint64_t wake_ns;
};

/* For the running thread, which has called sched_block. Interrupts off. */
void timer_start(struct timer *timer, uint64_t wake_ns);

/* Any CPU. After this nobody touches the timer. */
void timer_cancel(struct timer *timer);

/* Blocks the running thread until at least ns have passed; the tick decides, so up to 10 ms more. */
void timer_sleep(uint64_t ns);

/* Interrupts off. */
void timer_tick(void);

/* Goes by the boot argument tickless=1, without which ticks never stop. Boot CPU, before others run. */
void timer_init(void);

/* This CPU's ticks begin. Interrupts off. */
void timer_run(void);

/*
 * This CPU is about to wait for an interrupt, having nothing to run: its ticks stop until timer_run, unless a sleep ends
 * by them. Those of CPU 0 go on, for it looks after the console. Interrupts off.
 */
void timer_rest(void);

/* Have that CPU's ticks stopped? A hint. */
bool timer_rests(const struct cpu *cpu);

#endif
