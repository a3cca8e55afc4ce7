/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Two CPUs that begin idle, and their interrupts, for tests of what is wrong with CPUs. */
#ifndef TEST_WHY_CPUS_H
#define TEST_WHY_CPUS_H

#include <stdint.h>

#define V(value) ((uint64_t)(value))

#define IDLE0	1u
#define IDLE1	2u
#define WORKER	5u
#define CLIENT	6u
#define TIMER	0u
#define DEVICE	4u
#define KERNEL	0x100000u     /* addresses: the kernel's, … */
#define PROGRAM 0x10000001000 /* … and a program's */
#define LOCK_A	0x1000u
#define LOCK_B	0x2000u

enum { OTHER = 1, SWITCH, ENTER, EXIT, EOI, CALL, RETURN, FAIL, ACQUIRE, PANIC, FAULT };

/* Around each test, with why_teardown(): the types of events, two CPUs and the threads above. */
int why_cpus_begin(void **state);

/* When the controller is told of an interrupt's end: early, as most are, late, or not at all. */
enum told { EARLY, LATE, NEVER };
/* An interrupt whose handler returns. */
void why_interrupt(uint64_t stamp, uint32_t cpu, uint32_t thread, uint32_t irq, uint64_t ip, enum told told);
/* A tick of the timer, which beats the CPU's heart. */
void why_tick(uint64_t stamp, uint32_t cpu, uint32_t thread, uint64_t ip);
/* Ticks every 10 ms from one time to another. */
void why_ticks(uint64_t from, uint64_t to, uint32_t cpu, uint32_t thread, uint64_t ip);
/* The CPU switches from one thread to another. */
void why_runs_on(uint32_t cpu, uint64_t stamp, uint32_t from, uint32_t to);

#endif
