/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Threads, and a lock for what they have in common. The system calls below it (abi.h) are in unistd.h. Variables that are
 * each thread's own are declared with __thread.
 */
#ifndef USER_THREAD_H
#define USER_THREAD_H

#include <stddef.h>
#include <stdint.h>

/* The library's; it must last until thread_await() has returned. */
struct thread {
	int id;
	void (*run)(void *argument);
	void *argument;
	char *memory; /* the stack, and what is the thread's own above it */
};

/* Runs a function in a new thread, which ends when that returns. The name is for traces. 0 or -errno. */
int thread_start(struct thread *thread, const char *name, void (*run)(void *argument), void *argument);

/* Waits until the thread has ended, and gives back its stack. 0 or -errno. */
int thread_await(struct thread *thread);

/* The running thread's id, without a system call but for the first time. */
int thread_id(void);

/* Its word is 0, or the id of the thread that holds it, with MUTEX_AWAITED if others wait. */
struct mutex {
	uint32_t word;
	const char *name;
};
#define MUTEX_AWAITED 0x80000000u

#define MUTEX(n)            \
	{                   \
		.name = (n) \
	}

void mutex_lock(struct mutex *mutex);
void mutex_unlock(struct mutex *mutex);

/* For the library alone: before main() if there are variables of each thread's own, and in a new process. */
void thread_prepare(void);
void thread_forked(void);

/* Has this process, or one that it was forked from, started a thread, or is it about to? */
extern unsigned thread_several;

#endif
