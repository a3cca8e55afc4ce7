/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A kernel of which all threads are threads of this program, for hardware trace at full speed. A CPU is a mutex for who
 * runs on it and one for its interrupts. Its backend fails the test if two threads are at work on a unit at once, if a CPU
 * traces two units, or if a unit is switched off where it was not switched on.
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
	struct ktrace_hwt_thread thread[2]; /* the second comes and goes */
	bool second;
	bool alive;
	uint32_t pid;
};

extern struct hwt_threads_process hwt_threads_processes[HWT_THREADS_PROCESSES];

/* Initialises the library with this kernel and its backend. Once, before all tests. Nonzero: it failed. */
int hwt_threads_start(void);
/* Around each test: all processes live and have one thread; afterwards nothing is traced, and no memory is lost. */
int hwt_threads_begin(void **state);
int hwt_threads_end(void **state);

/* The caller becomes this thread, on the next CPU, once that is free. */
void hwt_threads_get_cpu(struct ktrace_hwt_thread *thread);
/* The caller is switched out. Returns the thread that it was. */
struct ktrace_hwt_thread *hwt_threads_leave_cpu(void);

/* The kernel's table has, or no longer has, the second thread of the process. */
void hwt_threads_set_second(struct hwt_threads_process *self, bool there);
/* The kernel's table no longer has the process. */
void hwt_threads_die(struct hwt_threads_process *self);

#endif
