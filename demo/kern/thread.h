/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Threads: of the kernel alone, or of a process (process_thread.c). A thread is in exactly one place: running on a
 * CPU, in that CPU's run queue, asleep, or dead and about to be recycled by the CPU that ran it last.
 */
#ifndef DEMO_THREAD_H
#define DEMO_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include <ktrace/hwt.h>
#include <ktrace/proc.h>

#include "signal.h"

#define THREAD_STACK_SIZE 16384
#define THREAD_NAME_MAX	  16

/* The numbers of the trace's sched.switch: what a thread goes into. */
enum thread_state {
	THREAD_RUNNABLE = 0,
	THREAD_SLEEPING = 1, /* a signal ends it */
	THREAD_BLOCKED = 2,  /* only what it waits for ends it */
	THREAD_DEAD = 4,
	THREAD_RUNNING = 5, /* never seen in a switch */
};

struct cpu;
struct file;
struct inode;
struct process;
struct arch_space;

/* Who ended a sleep. */
enum wake_reason { WOKEN_BY_EVENT, WOKEN_BY_SIGNAL, WOKEN_BY_TIME };

struct thread {
	uintptr_t sp; /* while not running: what arch_switch saved */
	uint32_t id;  /* unique for ever, from 1 */
	enum thread_state state;
	struct cpu *cpu;		      /* where it runs, or ran last: its run queue */
	bool on_cpu;			      /* its stack is in use; cleared only after the switch away */
	bool pinned;			      /* never moved to another CPU */
	uint8_t priority;		      /* a greater one runs first */
	struct thread *next;		      /* in the run queue */
	struct thread *next_waiter;	      /* in a wait queue, under its lock */
	const void *waits_for;		      /* the object that it sleeps for; NULL: it is runnable */
	const char *waits_by_name;	      /* its name */
	char waits_for_word[THREAD_NAME_MAX]; /* what a program calls that (word_wait.c) */
	uint32_t asleep; /* THREAD_SLEEPING, THREAD_BLOCKED or 0: whoever makes it 0 wakes the thread */
	enum wake_reason woken_by;	/* the last time */
	uint64_t started_ns;		/* when it last began to run */
	struct process *process;	/* NULL: the kernel's own, or it has left its process */
	struct thread *next_in_process; /* under the table's lock */
	uint32_t
		is_ending; /* its process wants it to end on its way to user mode; set under the table's lock */
	struct thread_signals signals;
	struct file *file; /* held for the system call that the thread is in, as is the next; NULL: none */
	struct inode *cwd;
	struct ktrace_proc_thread trace;
	struct ktrace_hwt_thread hardware_trace;
	struct arch_space *space; /* to run in, NULL: the kernel's */
	void (*entry)(void *argument);
	void *argument;
	char *stack;	 /* THREAD_STACK_SIZE bytes, and a page below them */
	bool overflowed; /* and it has been told */
	char name[THREAD_NAME_MAX];
};

/* What every thread begins with. A woken thread that is more urgent than the running one gets the CPU at the next tick. */
#define PRIORITY_DEFAULT 16
#define PRIORITY_MAX	 31

/* Anywhere, or a CPU number to be pinned to. */
#define CPU_ANY (-1)

/* Makes a runnable thread of the kernel; name is copied. Panics when out of memory. */
struct thread *thread_create(const char *name, void (*entry)(void *), void *argument, int cpu);

/* The same on any CPU for what programs ask for; NULL when out of memory or ids. */
struct thread *thread_try_create(const char *name, void (*entry)(void *), void *argument);

/* The first process's thread has this id, whenever it is made. */
#define THREAD_ID_INIT 1

/*
 * Makes a thread for a process, which has a user frame and does not run before sched_wake. The id is a new one
 * but for THREAD_ID_INIT. NULL when out of memory.
 */
struct thread *thread_for_process(const char *name, struct process *process, uint32_t id);
#define THREAD_ID_NEW 0

void thread_rename(struct thread *thread, const char *name);

/* The running thread is from now on so urgent: 1 to PRIORITY_MAX. */
void thread_set_priority(uint8_t priority);

/* What runs here from now on is this thread, in this address space. Interrupts off. */
void thread_enter_space(struct thread *thread, struct arch_space *space);

/* The running thread goes on in another address space; NULL: the kernel's. */
void thread_set_space(struct arch_space *space);

/* A thread that is not in any queue and has no first frame: an idle thread to be. */
struct thread *thread_new(const char *name, struct cpu *cpu);

/* Gives back a dead thread that no CPU stands on any more. */
void thread_free(struct thread *thread);

/* The running thread ends; so it does when its entry returns. */
_Noreturn void thread_exit(void);

/*
 * Panics if the running thread, whose code is at `place`, has used up its stack: what it calls all the time looks after
 * that. NULL: no thread runs yet. Interrupts off.
 */
void thread_check_stack(struct thread *self, uintptr_t place);

/* The running thread; never NULL. */
struct thread *thread_self(void);

#endif
