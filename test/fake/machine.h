/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef TEST_FAKE_MACHINE_H
#define TEST_FAKE_MACHINE_H

#include <ktrace/ktrace.h>

#define FAKE_CPUS    3
#define FAKE_HOLDERS 10

/* State of the machine. The hooks of the port return these values. */
struct fake_machine {
	uint64_t clock; /* current time in ticks; each reading adds `step` and returns the sum */
	uint64_t step;
	uint64_t ahead[KTRACE_MAX_CPUS]; /* number of ticks by which each CPU's clock is ahead of `clock` */
	uint32_t cpu;
	uint32_t thread;
	uint32_t thread_reads;	    /* number of times that the library read the thread */
	uint32_t pins;		    /* number of calls of ktrace_arch_pin() that are not undone yet */
	uint32_t unpinned_reads;    /* number of times that the library read the thread without a pin */
	uintptr_t stack_end;	    /* address after the highest byte of the current stack; 0: unknown */
	uint32_t folds, rare_slots; /* arguments that fake_boot() passes to ktrace_init() */
	uint32_t holders;	    /* argument `holders` of ktrace_init(); 0: FAKE_HOLDERS */
	/* reserve words of the CPUs' rings; this machine stores them outside of the rings */
	uint64_t word[KTRACE_MAX_CPUS];
};
extern struct fake_machine fake;

/*
 * Restores the core's data to its state at program start, and the machine to its initial state. Call it
 * before each test.
 */
int fake_reset(void **state);

/*
 * Calls ktrace_init() with rings of `slots` slots for FAKE_CPUS CPUs, and brings all of them online. The
 * caller then runs on CPU 0.
 */
void fake_boot(uint32_t slots, uint32_t policy, uint32_t counters);

/*
 * Runs the handler once, at the n-th point from now (0 is the next point). If `handler` is NULL, no handler
 * runs.
 */
void fake_at(int64_t n, void (*handler)(void));

/*
 * Returns how many of the points at which an interrupt can occur were passed since the last call of
 * fake_at().
 */
int64_t fake_points(void);

/* The memory that fake_boot() passes to ktrace_init(). */
extern _Alignas(4096) unsigned char fake_memory[1 << 20];

/* Returns the descriptor of an event by its full name; fails the test if there is none. */
struct ktrx_event *fake_event(const char *name);

/* Returns the place with this id, or NULL if the id belongs to no place. */
struct ktrx_place *fake_place(uint32_t id);

/*
 * Returns the id of the event to which `id` belongs. `id` is from a record: the id of an event, or of one of
 * its places.
 */
uint32_t fake_event_of(uint32_t id);

#endif
