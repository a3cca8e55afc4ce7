/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A simulated kernel whose threads are threads of this program, for stress tests of hardware trace. Each CPU
 * has two mutexes: the running thread holds one, and the other one disables interrupts. The backend fails the
 * test if two threads use a unit at once, if a CPU traces two units, or if a unit is disabled on a CPU on
 * which it was not enabled.
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
	struct ktrace_hwt_thread thread[2]; /* the second thread is made and exits repeatedly */
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
/*
 * Call the first function before each test: it makes all processes alive, with one thread each. Call the
 * second one after each test: it fails if a unit is still traced, or memory was leaked.
 */
int hwt_threads_begin(void **state);
int hwt_threads_end(void **state);

/* Makes the calling program thread act as this thread, on the next CPU. Waits until that CPU is free. */
void hwt_threads_get_cpu(struct ktrace_hwt_thread *thread);
/* Switches the calling program thread out. Returns the thread that it acted as. */
struct ktrace_hwt_thread *hwt_threads_leave_cpu(void);

/* Adds the second thread of the process to the kernel's table, or removes it. */
void hwt_threads_set_second(struct hwt_threads_process *self, bool there);
/* Removes the process from the kernel's table. */
void hwt_threads_die(struct hwt_threads_process *self);

#endif
