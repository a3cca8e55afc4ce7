/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Threads and mutexes. The underlying system calls (abi.h) are in unistd.h. Thread-local variables are
 * declared with __thread.
 */
#ifndef USER_THREAD_H
#define USER_THREAD_H

#include <stddef.h>
#include <stdint.h>

/*
 * A thread. Its fields belong to the library. The struct must remain valid until thread_await() has returned.
 */
struct thread {
	int id;
	void (*run)(void *argument);
	void *argument;
	char *memory; /* memory with the stack and, above it, the thread-local storage */
};

/*
 * Runs a function in a new thread, which ends when the function returns. `name` is for traces. Returns 0
 * or -errno.
 */
int thread_start(struct thread *thread, const char *name, void (*run)(void *argument), void *argument);

/* Waits for the end of a thread and frees its stack. Returns 0 or -errno. */
int thread_await(struct thread *thread);

/* Returns the running thread's id. Only the first call in each thread makes a system call. */
int thread_id(void);

/*
 * A mutex. `word` is 0 if the mutex is free. Otherwise it is the id of the thread that holds the mutex, plus
 * MUTEX_AWAITED if other threads may be waiting.
 */
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

/*
 * For the library only. thread_prepare() is called before main() if there are thread-local variables;
 * thread_forked() is called in a new process.
 */
void thread_prepare(void);
void thread_forked(void);

/* Nonzero if this process, or an ancestor before it forked, has started a thread or is about to start one. */
extern unsigned thread_several;

#endif
