/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Two CPUs that are idle at first, and their interrupts, for tests of problems of CPUs. */
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
#define KERNEL	0x100000u     /* an address in the kernel */
#define PROGRAM 0x10000001000 /* an address in a program */
#define LOCK_A	0x1000u
#define LOCK_B	0x2000u

enum { OTHER = 1, SWITCH, ENTER, EXIT, EOI, CALL, RETURN, FAIL, ACQUIRE, PANIC, FAULT };

/*
 * Call before each test, and why_teardown() after it. Declares the types of events, two CPUs and the threads
 * above.
 */
int why_cpus_begin(void **state);

/*
 * The time at which an interrupt handler signals the end of the interrupt to the interrupt controller. Most
 * handlers do this early.
 */
enum eoi_time { EARLY, LATE, NEVER };
/* Adds an interrupt, including the return of its handler. */
void why_interrupt(uint64_t stamp, uint32_t cpu, uint32_t thread, uint32_t irq, uint64_t ip,
		   enum eoi_time eoi);
/* Adds a timer tick, which is also the CPU's heartbeat. */
void why_tick(uint64_t stamp, uint32_t cpu, uint32_t thread, uint64_t ip);
/* Adds a timer tick every 10 ms, from time `from` to time `to`. */
void why_ticks(uint64_t from, uint64_t to, uint32_t cpu, uint32_t thread, uint64_t ip);
/* Switches the CPU from one thread to another. */
void why_runs_on(uint32_t cpu, uint64_t stamp, uint32_t from, uint32_t to);
/*
 * CPU 1 runs WORKER, which has finished a system call, and then records nothing until time `end`. Timer ticks
 * interrupt WORKER at the addresses `low` and `high` in turn.
 */
void why_spins_until(uint64_t end, uint64_t low, uint64_t high);
/* The same as why_spins_until() with the end at 2.5 s. */
void why_spins_at(uint64_t low, uint64_t high);
/*
 * CPU 1 runs WORKER, and its ticks have stopped. `machine`: an EM_* constant. `flags`: text of further
 * registers of CPU 1, such as those that show whether interrupts are disabled.
 */
void why_stops_with(uint16_t machine, const char *flags);

#endif
