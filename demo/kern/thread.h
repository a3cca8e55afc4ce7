/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Kernel threads. A thread is in exactly one place: running on a CPU, in that CPU's run queue, in a wait
 * queue or sleep list, or dead and about to be recycled by the CPU that ran it last.
 */
#ifndef DEMO_THREAD_H
#define DEMO_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#define THREAD_STACK_SIZE 16384
#define THREAD_NAME_MAX	  16

/* The numbers of the trace's sched.switch: what a thread goes into. */
enum thread_state {
	THREAD_RUNNABLE = 0,
	THREAD_BLOCKED = 2, /* there are no signals */
	THREAD_DEAD = 4,
	THREAD_RUNNING = 5, /* never seen in a switch */
};

struct cpu;

struct thread {
	uintptr_t sp; /* while not running: what arch_switch saved */
	uint32_t id;  /* unique for ever, from 1 */
	enum thread_state state;
	struct cpu *cpu;       /* where it runs, or ran last: its run queue */
	bool on_cpu;	       /* its stack is in use; cleared only after the switch away */
	bool pinned;	       /* never moved to another CPU */
	struct thread *next;   /* in whatever queue it is */
	const void *waits_for; /* what sched_block was told, NULL while runnable */
	uint64_t wake_ns;      /* in the sleep list: when */
	uint64_t started_ns;   /* when it last began to run */
	void (*entry)(void *argument);
	void *argument;
	char *stack; /* THREAD_STACK_SIZE bytes */
	char name[THREAD_NAME_MAX];
};

/* Anywhere, or a CPU number to be pinned to. */
#define CPU_ANY (-1)

/* Makes a runnable thread; name is copied. Panics when out of memory. */
struct thread *thread_create(const char *name, void (*entry)(void *), void *argument, int cpu);

/* A thread that is not in any queue and has no first frame: an idle thread to be. */
struct thread *thread_new(const char *name, struct cpu *cpu);

/* Gives back a dead thread that no CPU stands on any more. */
void thread_free(struct thread *thread);

/* The running thread ends; so it does when its entry returns. */
_Noreturn void thread_exit(void);

/* The running thread; never NULL. */
struct thread *thread_self(void);

#endif
