/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Kernel threads and threads of processes (process_thread.c). A thread is always in exactly one of these
 * states: running on a CPU, in that CPU's run queue, asleep, or dead and about to be freed by the CPU on
 * which it last ran.
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

/* State of a thread. The event sched.switch records the number of the state after the switch. */
enum thread_state {
	THREAD_RUNNABLE = 0,
	THREAD_SLEEPING = 1, /* sleeps until an event or a signal */
	THREAD_BLOCKED = 2,  /* until an event */
	THREAD_DEAD = 4,
	THREAD_RUNNING = 5, /* sched.switch never records this state */
};

struct cpu;
struct file;
struct inode;
struct process;
struct arch_space;

/* Reason for the end of a sleep. */
enum wake_reason { WOKEN_BY_EVENT, WOKEN_BY_SIGNAL, WOKEN_BY_TIME };

struct thread {
	uintptr_t sp; /* stack pointer while not running, saved by arch_switch */
	uint32_t id;  /* unique, starts at 1, never reused */
	enum thread_state state;
	/* The CPU on which the thread runs or last ran; the thread uses the run queue of this CPU. */
	struct cpu *cpu;
	/* True: a CPU uses the thread's stack. Cleared when that CPU has switched to the next thread. */
	bool on_cpu;
	bool pinned;			      /* must not migrate */
	uint8_t priority;		      /* threads of higher priority run first */
	struct thread *next;		      /* next thread in the run queue */
	struct thread *next_waiter;	      /* next thread in the wait queue; under that queue's lock */
	const void *waits_for;		      /* object that the thread waits for; NULL: it is runnable */
	const char *waits_by_name;	      /* name of that object */
	char waits_for_word[THREAD_NAME_MAX]; /* name given by the program (word_wait.c) */
	/* THREAD_SLEEPING, THREAD_BLOCKED or 0. The CPU that changes it to 0 must wake the thread. */
	uint32_t asleep;
	enum wake_reason woken_by;	/* reason for the end of its last sleep */
	uint64_t started_ns;		/* time when the thread last started to run */
	struct process *process;	/* NULL: it is a kernel thread, or it has left its process */
	struct thread *next_in_process; /* guarded by the process table's lock */
	/* 1: the thread must end before it returns to user mode. Set under the process table's lock. */
	uint32_t is_ending;
	struct thread_signals signals;
	/* References held during the current system call; NULL: none. */
	struct file *file;
	struct inode *cwd;
	struct ktrace_proc_thread trace;
	struct ktrace_hwt_thread hardware_trace;
	struct arch_space *space; /* its address space; NULL: the kernel's */
	void (*entry)(void *argument);
	void *argument;
	char *stack;	 /* THREAD_STACK_SIZE bytes; the overflow page is below */
	bool overflowed; /* true: a stack overflow has been reported */
	char name[THREAD_NAME_MAX];
};

/*
 * Initial priority of each thread. A woken thread of higher priority than the running one gets the CPU at the
 * next tick.
 */
#define PRIORITY_DEFAULT 16
#define PRIORITY_MAX	 31

/*
 * CPU number for thread_create() that means any CPU. With a real CPU number, the thread is pinned to that
 * CPU.
 */
#define CPU_ANY (-1)

/* Creates a runnable kernel thread. Copies the name. Panics if out of memory or ids. */
struct thread *thread_create(const char *name, void (*entry)(void *), void *argument, int cpu);

/* Like thread_create on any CPU, for use on behalf of programs. Returns NULL if out of memory or ids. */
struct thread *thread_try_create(const char *name, void (*entry)(void *), void *argument);

/* Id of the first process's first thread. No other thread gets this id. */
#define THREAD_ID_INIT 1

/*
 * Creates a thread of a process, with a user frame. It does not run before sched_wake. `id` is
 * THREAD_ID_INIT, or THREAD_ID_NEW for a new id. Returns NULL if out of memory or ids.
 */
struct thread *thread_for_process(const char *name, struct process *process, uint32_t id);
#define THREAD_ID_NEW 0

void thread_rename(struct thread *thread, const char *name);

/* Sets the priority of the running thread: 1 to PRIORITY_MAX. */
void thread_set_priority(uint8_t priority);

/* Switches this CPU to an address space in which that thread will run. Requires: interrupts off. */
void thread_enter_space(struct thread *thread, struct arch_space *space);

/* Switches the running thread to another address space; NULL: the kernel's. */
void thread_set_space(struct arch_space *space);

/*
 * Creates a thread that is in no queue and has no first frame, for use as an idle thread. Panics if out of
 * memory or ids.
 */
struct thread *thread_new(const char *name, struct cpu *cpu);

/* Frees a dead thread. Requires: no CPU uses its stack. */
void thread_free(struct thread *thread);

/* Ends the running thread. A return from the thread's entry function does this as well. */
_Noreturn void thread_exit(void);

/*
 * Panics if the running thread has overflowed its stack. Called by functions that run often. `place` is the
 * code address to report. `self` is NULL before the first thread exists. Requires: interrupts off.
 */
void thread_check_stack(struct thread *self, uintptr_t place);

/* Returns the running thread; never NULL. */
struct thread *thread_self(void);

#endif
