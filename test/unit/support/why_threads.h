/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* One CPU and its threads, for tests of problems of threads. */
#ifndef TEST_WHY_THREADS_H
#define TEST_WHY_THREADS_H

#include <stdint.h>

#define V(value) ((uint64_t)(value))

#define JOBS   0x1000u
#define DONE   0x2000u
#define DISK   0x3000u
#define THERE  0x5000u
#define IDLE   1u
#define WORKER 5u
#define CLIENT 6u

enum {
	OTHER = 1,
	SWITCH,
	BLOCK,
	WAKE,
	NOBODY,
	ENTER,
	EXIT,
	FAULT,
	FAULT_END,
	DELIVER,
	FORK,
	ACQUIRE,
	IRQ,
	MADE,
};

/* Call before each test, and why_teardown() after it. Declares the types of events and the threads above. */
int why_threads_begin(void **state);

/* Adds an event that an interrupt handler recorded on CPU 0. */
void why_by_interrupt(uint16_t id, uint64_t stamp, uint32_t thread, uint64_t value);
/* CPU 0 is idle, with timer ticks, until `stamp`. */
void why_idle_until(uint64_t stamp);
/* The thread runs on CPU 0 until the end. */
void why_work_until(uint64_t stamp, uint32_t thread);
/* The thread blocks on a queue, with `kind` (KTRX_WAIT_*) as the reason. CPU 0 switches to thread `next`. */
void why_sleep_on(uint64_t queue, uint64_t stamp, uint32_t thread, uint8_t kind, uint32_t next);
void why_wake(uint64_t stamp, uint32_t waker, uint32_t thread);

#endif
