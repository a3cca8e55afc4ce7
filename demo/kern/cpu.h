/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The per-CPU area. Each CPU has an entry of cpus[] and finds it with arch_this_cpu(). Other CPUs may write
 * only the fields whose comments state that. The first five fields have fixed offsets, which assembly and the
 * tracer's hooks use.
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
	unsigned length; /* number of queued threads; any CPU may read it without the lock, as an estimate */
};

struct cpu {
	struct cpu *self;
	uint64_t trace_reserve; /* reserve word of ktrace: selects the next slot of this CPU's ring */
	/* Word for ktrace: the id of the running thread, and the kind of context (thread, interrupt, NMI). */
	uint32_t trace_context;

	uint32_t id; /* index of this entry in cpus[]; CPU numbers have no gaps */
	/* Two words for the architecture's code that enters the kernel from user mode. */
	uintptr_t entry[2];
	uint64_t hardware_id; /* number by which the hardware identifies the CPU: APIC id, MPIDR or hart id */
	/*
	 * True if the CPU has started and no panic has stopped it. The CPU itself sets this field; all
	 * CPUs read it (acquire).
	 */
	bool online;

	struct thread *current; /* the running thread; not NULL while the CPU is online */
	struct thread *idle;	/* the thread that runs when no other thread is runnable */
	/* thread that ran before the last switch; valid until shortly after the switch */
	struct thread *previous;
	/* Any CPU may access the list if it holds timers.lock; only this CPU adds timers. */
	struct timer_list {
		struct spinlock lock;
		struct timer *first; /* timers of sleeps that began on this CPU, sorted by their times */
	} timers;
	uint32_t spinlocks; /* number of spinlocks that this CPU holds; accessed by this CPU only */
	bool ticks;	    /* true: the timer tick is on; written by this CPU only */
	/* True: the CPU must switch threads at the end of the interrupt. Accessed by this CPU only. */
	bool need_resched;
	struct run_queue queue; /* any CPU that holds queue.lock may access the queue */

	uint32_t ipi_pending; /* pending requests: bits of enum ipi; accessed by any CPU, atomically */
};

_Static_assert(offsetof(struct cpu, self) == 0, "arch code reads this_cpu->self");
_Static_assert(offsetof(struct cpu, trace_reserve) == 8, "the tracer's hooks know this offset");
_Static_assert(offsetof(struct cpu, trace_context) == 16, "the tracer's hooks know this offset");
_Static_assert(offsetof(struct cpu, entry) == 24, "arch code knows this offset");

extern struct cpu cpus[CPU_MAX];
extern unsigned cpu_count; /* CPUs 0 to cpu_count - 1 have started */

/*
 * Initializes the boot CPU's entry of cpus[]; the code that is running becomes the idle thread. Requires: no
 * thread has been created yet.
 */
void cpu_init(void);

/*
 * Starts the other CPUs, one after another. Their number is limited by CPU_MAX and by the boot argument
 * cpus=.
 */
void cpu_start_others(void);

#endif
