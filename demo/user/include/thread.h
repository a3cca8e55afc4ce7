/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Threads and mutexes. The underlying system calls (abi.h) are in unistd.h. Thread-local variables are
 * declared with __thread.
 */
#ifndef USER_THREAD_H
#define USER_THREAD_H

#include <stddef.h>
#include <stdint.h>

/* A thread. Its fields belong to the library. It must exist until thread_await() has returned. */
struct thread {
	int id;
	void (*run)(void *argument);
	void *argument;
	char *memory; /* memory of the stack, with the thread-local storage above the stack */
};

/*
 * Runs a function in a new thread, which ends when the function returns. The name is for traces. Returns 0 or
 * -errno.
 */
int thread_start(struct thread *thread, const char *name, void (*run)(void *argument), void *argument);

/* Waits for the end of a thread and frees its stack. Returns 0 or -errno. */
int thread_await(struct thread *thread);

/* Returns the running thread's id. Only the first call in a thread makes a system call. */
int thread_id(void);

/* The word is 0, or the id of the holding thread, plus MUTEX_AWAITED if other threads wait. */
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

/* For the library: called before main() if there are thread-local variables, and in a new process. */
void thread_prepare(void);
void thread_forked(void);

/* True if this process or an ancestor before fork has started a thread or is about to start one. */
extern unsigned thread_several;

#endif
