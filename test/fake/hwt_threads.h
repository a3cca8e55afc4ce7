/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A simulated kernel whose threads are threads of this program, for stress tests of hardware trace. Each CPU
 * has two mutexes. The running thread holds the first one. The second one is held while interrupts are
 * disabled. The backend fails the test if two threads use a unit at the same time, if a CPU traces two units,
 * or if a unit is enabled on one CPU and disabled on another.
 */
#ifndef TEST_HWT_THREADS_H
#define TEST_HWT_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include <ktrace/hwt.h>

#define HWT_THREADS_CPUS      3u
#define HWT_THREADS_PROCESSES 4u

struct hwt_threads_process {
	struct ktrace_hwt_process trace;
	struct ktrace_hwt_thread thread[2]; /* thread[1] is created and exits repeatedly */
	bool second;
	bool alive;
	uint32_t pid;
};

extern struct hwt_threads_process hwt_threads_processes[HWT_THREADS_PROCESSES];

/*
 * Initialises the library with this kernel and its backend. Call it once, before all tests. Returns nonzero
 * on failure.
 */
int hwt_threads_start(void);
/* Resets all processes: each is alive and has one thread. Call it before each test. */
int hwt_threads_begin(void **state);
/* Fails if a unit still traces, or if memory was leaked. Call it after each test. */
int hwt_threads_end(void **state);

/* Makes the calling pthread act as this simulated thread, on the next CPU. Waits until that CPU is free. */
void hwt_threads_get_cpu(struct ktrace_hwt_thread *thread);
/*
 * Removes the calling pthread's simulated thread from its CPU, which becomes free. Returns the simulated
 * thread.
 */
struct ktrace_hwt_thread *hwt_threads_leave_cpu(void);

/* If `there` is true, adds the second thread of the process to the kernel's table; otherwise removes it. */
void hwt_threads_set_second(struct hwt_threads_process *self, bool there);
/* Removes the process from the kernel's table. */
void hwt_threads_die(struct hwt_threads_process *self);

#endif
