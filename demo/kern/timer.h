/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The timer tick, TICK_HZ times per second on each CPU, and timed sleeps, which the tick's handler ends. */
#ifndef DEMO_TIMER_H
#define DEMO_TIMER_H

#include <stdint.h>

struct cpu;
struct thread;

/*
 * A timer ends the sleep of a thread at a certain time. The memory of the timer belongs to the sleeping
 * thread.
 */
struct timer {
	struct timer *next;
	struct cpu *cpu; /* the CPU whose list contains this timer */
	struct thread *thread;
	uint64_t wake_ns;
};

/* Starts a timer for the running thread, which has called sched_block. Requires: interrupts off. */
void timer_start(struct timer *timer, uint64_t wake_ns);

/*
 * Removes a timer, unless it has already expired. After that, no other CPU accesses the timer. May be called
 * on any CPU.
 */
void timer_cancel(struct timer *timer);

/*
 * Blocks the running thread for at least ns. The sleep ends with the first tick after that, up to 10 ms
 * later.
 */
void timer_sleep(uint64_t ns);

void timer_tick(void);

/*
 * Reads the boot argument tickless=1, which allows idle CPUs to stop their ticks. Requires: boot CPU, before
 * other CPUs run.
 */
void timer_init(void);

/* Starts this CPU's ticks if they are stopped. Requires: interrupts off. */
void timer_run(void);

/*
 * Stops the ticks of this CPU until it calls timer_run. Called when the CPU has nothing to run and is about
 * to wait for an interrupt. Does nothing if the CPU has a timer, which needs the ticks, and on CPU 0, whose
 * tick polls the console. Requires: interrupts off.
 */
void timer_pause(void);

/* Returns true if the ticks of that CPU are stopped. The answer may be outdated. */
bool timer_is_paused(const struct cpu *cpu);

#endif
