/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Threads: kernel threads, and threads that belong to processes (process_thread.c). A thread is always in
 * exactly one of these states: running on a CPU, in that CPU's run queue, asleep, or dead and about to be
 * freed by the CPU on which it last ran.
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

/*
 * State of a thread. The event sched.switch contains one of these numbers: the state that the previous
 * thread has after the switch.
 */
enum thread_state {
	THREAD_RUNNABLE = 0,
	THREAD_SLEEPING = 1, /* sleeps until an event or a signal ends the sleep */
	THREAD_BLOCKED = 2,  /* sleeps until an event; a signal does not end the sleep */
	THREAD_DEAD = 4,
	THREAD_RUNNING = 5, /* sched.switch never records this state */
};

struct cpu;
struct file;
struct inode;
struct process;
struct arch_space;

/* The reason why a sleep ended. */
enum wake_reason { WOKEN_BY_EVENT, WOKEN_BY_SIGNAL, WOKEN_BY_TIME };

struct thread {
	uintptr_t sp; /* stack pointer while the thread is not running; saved by arch_switch */
	uint32_t id;  /* identifies the thread; starts at 1, never reused */
	enum thread_state state;
	/*
	 * The CPU on which the thread runs or last ran. If the thread is runnable, but not running, it is in
	 * this CPU's run queue.
	 */
	struct cpu *cpu;
	/*
	 * True while a CPU uses the thread's stack. Becomes false when that CPU has completed its switch
	 * to another thread.
	 */
	bool on_cpu;
	bool pinned;	     /* true: the thread must not migrate */
	uint8_t priority;    /* a greater number is a higher priority */
	struct thread *next; /* next thread in the run queue */
	/* Next thread in the wait queue; guarded by that queue's lock. */
	struct thread *next_waiter;
	/* Object for which the thread waits; NULL if the thread is runnable. */
	const void *waits_for;
	const char *waits_by_name; /* name of the object for which the thread waits */
	/* Name that the program gave to the word for which the thread waits (word_wait.c). */
	char waits_for_word[THREAD_NAME_MAX];
	/*
	 * THREAD_SLEEPING or THREAD_BLOCKED while the thread sleeps, otherwise 0. The CPU that changes it to
	 * 0 must make the thread runnable.
	 */
	uint32_t asleep;
	enum wake_reason woken_by; /* what ended the thread's last sleep */
	uint64_t started_ns;	   /* time when the thread last started to run */
	struct process *process;   /* NULL for a kernel thread, or if the thread has left its process */
	/* Next thread of the same process; guarded by the process table's lock. */
	struct thread *next_in_process;
	/* Nonzero: the thread must end before it returns to user mode. Set under the process table's lock. */
	uint32_t is_ending;
	struct thread_signals signals;
	/*
	 * The file and the working directory that the current system call uses; it holds a reference to each.
	 * NULL: none.
	 */
	struct file *file;
	struct inode *cwd;
	struct ktrace_proc_thread trace;
	struct ktrace_hwt_thread hardware_trace;
	struct arch_space *space; /* address space of the thread's process; NULL means the kernel's */
	void (*entry)(void *argument);
	void *argument;
	char *stack;	 /* the stack of THREAD_STACK_SIZE bytes; the page for overflows is below it */
	bool overflowed; /* true: an overflow of this stack has been reported */
	char name[THREAD_NAME_MAX];
};

/*
 * Initial priority of each thread. If a thread that is woken has a higher priority than the running
 * thread, it gets the CPU at the next tick.
 */
#define PRIORITY_DEFAULT 16
#define PRIORITY_MAX	 31

/*
 * For thread_create(): the new thread may run on any CPU. If `cpu` is the number of a CPU instead, the thread
 * is pinned to that CPU.
 */
#define CPU_ANY (-1)

/* Creates a runnable kernel thread. Copies the name. Panics if out of memory or ids. */
struct thread *thread_create(const char *name, void (*entry)(void *), void *argument, int cpu);

/*
 * Like thread_create() with CPU_ANY, but returns NULL if out of memory or ids. For threads that programs
 * cause, so that a program cannot cause a panic.
 */
struct thread *thread_try_create(const char *name, void (*entry)(void *), void *argument);

/* Id of the first process's first thread. No other thread gets this id. */
#define THREAD_ID_INIT 1

/*
 * Creates a thread of a process, with a user frame. It does not run before sched_wake. `id` is
 * THREAD_ID_INIT, or THREAD_ID_NEW, which means that a new id is allocated. Returns NULL if out of memory or
 * ids.
 */
struct thread *thread_for_process(const char *name, struct process *process, uint32_t id);
#define THREAD_ID_NEW 0

void thread_rename(struct thread *thread, const char *name);

/* Sets the priority of the running thread: 1 to PRIORITY_MAX. */
void thread_set_priority(uint8_t priority);

/* Switches this CPU to an address space, because `thread` will run in it. Requires: interrupts off. */
void thread_enter_space(struct thread *thread, struct arch_space *space);

/* Switches the running thread to another address space. NULL means the kernel's. */
void thread_set_space(struct arch_space *space);

/*
 * Creates a thread that is in no queue and has no first frame, to be used as an idle thread. Panics if out of
 * memory or ids.
 */
struct thread *thread_new(const char *name, struct cpu *cpu);

/* Frees a dead thread. Requires: no CPU uses its stack. */
void thread_free(struct thread *thread);

/* Ends the running thread. Also called when the thread's entry function returns. */
_Noreturn void thread_exit(void);

/*
 * Panics if the running thread has overflowed its stack. Called by functions that run often. `self` is the
 * running thread, or NULL before the first thread exists. `place` is the code address that the panic reports.
 * Requires: interrupts off.
 */
void thread_check_stack(struct thread *self, uintptr_t place);

/* Returns the running thread; never NULL. */
struct thread *thread_self(void);

#endif
