/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef TEST_FAKE_MACHINE_H
#define TEST_FAKE_MACHINE_H

#include <ktrace/ktrace.h>

#define FAKE_CPUS    3
#define FAKE_HOLDERS 10

/* What the hooks answer. */
struct fake_machine {
	uint64_t clock; /* each reading adds `step` first */
	uint64_t step;
	uint64_t ahead[KTRACE_MAX_CPUS]; /* of `clock`, of each CPU's */
	uint32_t cpu;
	uint32_t thread;
	uintptr_t stack_end;		/* 0: unknown */
	uint32_t folds, rare_slots;	/* what fake_boot() asks for */
	uint64_t word[KTRACE_MAX_CPUS]; /* reserve words, in the kernel's own memory */
};
extern struct fake_machine fake;

/* The core as it was linked, and the machine as it is switched on. Call before each test. */
int fake_reset(void **state);

/* ktrace_init() with rings of so many slots for FAKE_CPUS, all of them online; runs on CPU 0 afterwards. */
void fake_boot(uint32_t slots, uint32_t policy, uint32_t counters);

/* Runs the handler once, when the n-th point from now (0 is the next) is passed. NULL: never. */
void fake_at(int64_t n, void (*handler)(void));

/* Points passed since fake_at(). */
int64_t fake_points(void);

/* Lent memory of fake_boot(). */
extern _Alignas(4096) unsigned char fake_memory[1 << 20];

/* The row of an event by its full name; fails the test if there is none. */
struct ktrx_event *fake_row(const char *name);

/* The row of the place that records with that id; NULL: the id is none of a place's. */
struct ktrx_place *fake_place(uint32_t id);

/* The event that a record with that id is of. */
uint32_t fake_event_of(uint32_t id);

#endif
