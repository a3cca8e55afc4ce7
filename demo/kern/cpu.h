/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The per-CPU area. Each CPU owns its entry and reaches it by arch_this_cpu(); what other CPUs may touch is
 * said at the field. The first three fields have fixed offsets: assembly and the tracer's hooks use them.
 */
#ifndef DEMO_CPU_H
#define DEMO_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spinlock.h"

#define CPU_MAX 8

struct thread;
struct timer;

struct run_queue {
	struct spinlock lock;
	struct thread *first, *last;
	unsigned length; /* read without the lock as a hint */
};

struct cpu {
	struct cpu *self;
	uint64_t trace_reserve; /* the tracer's next slot */
	uint32_t trace_context; /* the tracer's word: thread id and context of what runs here now */

	uint32_t id;	      /* dense, the index in cpus[] */
	uintptr_t entry[2];   /* the architecture's, for its way in from user mode */
	uint64_t hardware_id; /* APIC id, MPIDR, hart */
	bool online; /* up and not stopped by a panic; set by the CPU itself, read by all (acquire) */

	struct thread *current;	 /* what runs here, never NULL once online */
	struct thread *idle;	 /* what runs here when nothing else can */
	struct thread *previous; /* what ran before the switch that is being completed */
	struct timer_list {
		struct spinlock lock;
		struct timer *first; /* timed sleeps begun here, earliest first */
	} timers;		     /* any CPU, under its lock; only this one adds */
	uint32_t spinlocks;	     /* held; this CPU only */
	bool ticks;		     /* its timer runs; written by this CPU only */
	bool need_resched;	     /* looked at on the way out of an interrupt; this CPU only */
	struct run_queue queue;	     /* any CPU, under its lock */

	uint32_t ipi_pending; /* enum ipi bits; any CPU, atomically */
};

_Static_assert(offsetof(struct cpu, self) == 0, "arch code reads this_cpu->self");
_Static_assert(offsetof(struct cpu, trace_reserve) == 8, "the tracer's hooks know this offset");
_Static_assert(offsetof(struct cpu, trace_context) == 16, "the tracer's hooks know this offset");
_Static_assert(offsetof(struct cpu, entry) == 24, "arch code knows this offset");

extern struct cpu cpus[CPU_MAX];
extern unsigned cpu_count; /* CPUs 0 to cpu_count - 1 have come up */

/*
 * Gives every entry its number and an idle thread; the boot CPU's is the code that runs. Before any
 * thread.
 */
void cpu_init(void);

/* Starts the other CPUs, one after another, up to CPU_MAX or the boot argument cpus=. */
void cpu_start_others(void);

#endif
