/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A simulated kernel with CPUs, processes and threads, for tests of kernel/hwt. A test fails if the library
 * breaks the order of locks, sleeps where that is forbidden, leaks memory, or uses memory after freeing it.
 */
#ifndef TEST_HWT_SUPPORT_H
#define TEST_HWT_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktrace/hwt.h>

#include "test/fake/hwt_mock.h"
#include "unit/support/proc_walk.h"

#define HWT_PROCESSES 8
#define HWT_THREADS   6 /* maximum number of threads of each process */
#define HWT_CPUS      4
#define HWT_IMAGES    4 /* maximum number of mapped images of a process, and also of the kernel */

struct hwt_thread {
	struct ktrace_hwt_thread trace;
	bool alive;
	uint32_t on; /* number of the CPU on which the thread runs, plus 1; 0: it does not run */
};

struct hwt_image {
	uint32_t type;
	struct ktrx_hwt_image image;
	const char *path;
};

struct hwt_process {
	struct ktrace_hwt_process trace;
	struct ktrace_proc_identity id;
	struct hwt_thread thread[HWT_THREADS];
	uint64_t space;
	bool alive;
	struct hwt_image image[HWT_IMAGES];
};

/* State of the simulated kernel. Tests change it. */
struct hwt_kernel {
	struct hwt_process process[HWT_PROCESSES];
	struct hwt_image image[HWT_IMAGES]; /* mapped images of the kernel */
	uint32_t cpu;			    /* number of the current CPU */
	bool interrupts_off;
	uint64_t now;
	/* this number of further allocations succeeds; negative: all succeed */
	int64_t allocations_left;
	/* this number of further allocations of buffers succeeds; negative: all succeed */
	int64_t buffers_left;
	uint32_t absent;  /* bit n is set if CPU n is absent */
	int64_t writable; /* maximum number of bytes that copy_out() writes; negative: no limit */
	uint32_t sleeps, wakes;
	void (*after_on_cpu)(void);	  /* if not NULL, called before on_cpu() returns */
	void (*after_table_unlock)(void); /* if not NULL, called before table_unlock() returns */
	/*
	 * Called during the n-th sleep since the reset; sleep() returns its result. If NULL, sleep() returns
	 * when the timeout has passed.
	 */
	int (*in_sleep)(uint32_t n);
	/* If not NULL, called with each new buffer and table. */
	void (*lend)(uint64_t physical, void *host, uint64_t size);
};
extern struct hwt_kernel hwt_kernel;

/* The backend that hwt_start() adds. */
extern struct ktrace_hwt_backend hwt_mock;

/*
 * Call before each test. Resets the simulated machine and the library. Process 0 has pid 1 and one thread,
 * and belongs to the superuser.
 */
int hwt_reset(void **state);
/*
 * Call after each test. Returns nonzero if memory was leaked, a lock is held, or a process is still traced.
 */
int hwt_check(void **state);

/* Calls ktrace_hwt_init(), and adds the mock backend, which writes 64 bytes each time that it is enabled. */
void hwt_start(void);

/* Calls ktrace_hwt_init(), and adds another backend. */
void hwt_start_with(struct ktrace_hwt_backend *backend);

/* Makes a process of this user and group with one thread. */
struct hwt_process *hwt_fork(uint32_t uid, uint32_t gid);
struct hwt_process *hwt_first(void);
/* Adds a thread, and calls the hook for it. */
struct hwt_thread *hwt_thread(struct hwt_process *process);
/* Call the hook for the exit of a thread or of a process, and remove the thread or process. */
void hwt_thread_exit(struct hwt_process *process, struct hwt_thread *thread);
void hwt_exit(struct hwt_process *process);

/* hwt_switch_in() switches a thread in on a CPU. hwt_switch_out() switches it out. */
void hwt_switch_in(struct hwt_thread *thread, uint32_t cpu);
void hwt_switch_out(struct hwt_thread *thread);
/* Switches a thread in and out on CPU 0. */
void hwt_run(struct hwt_thread *thread);

/*
 * These functions return a request to trace a process, or CPUs, with a buffer of one page and the smallest
 * queue.
 */
struct ktrace_hwt_request hwt_request_thread(const struct hwt_process *target);
struct ktrace_hwt_request hwt_request_cpus(uint64_t cpus);

/*
 * Allocate a context of the owner for a target, which must succeed. Return the context with a reference,
 * which the caller must drop with ktrace_hwt_put().
 */
struct ktrace_hwt_context *hwt_alloc(struct ktrace_hwt_owner *owner, struct hwt_process *caller,
				     const struct ktrace_hwt_request *request);
struct ktrace_hwt_context *hwt_trace(struct ktrace_hwt_owner *owner, struct hwt_process *target);

/* Returns a unit of the context. Fails the test if there is none. */
struct ktrace_hwt_unit *hwt_unit(const struct ktrace_hwt_context *context, uint32_t index);

/*
 * Takes all records from the queue of the context, without waiting. `walk` reads a copy of these records,
 * which is valid until the next call.
 */
void hwt_take(struct ktrace_hwt_context *context, struct proc_walk *walk);

#endif
