/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A kernel with CPUs, processes and threads that is a few arrays, for tests of kernel/hwt: it sees who breaks the order of
 * locks, sleeps where that is forbidden, forgets memory, or uses it when it has been given back.
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
#define HWT_THREADS   6 /* of each */
#define HWT_CPUS      4
#define HWT_IMAGES    4 /* of a process, and of the kernel */

struct hwt_thread {
	struct ktrace_hwt_thread trace;
	bool alive;
	uint32_t on; /* CPU, plus 1 */
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

/* What the kernel around it does; tests change it. */
struct hwt_kernel {
	struct hwt_process process[HWT_PROCESSES];
	struct hwt_image image[HWT_IMAGES]; /* the kernel's */
	uint32_t cpu;			    /* that runs */
	bool interrupts_off;
	uint64_t now;
	int64_t allocations_left; /* then there is no memory; negative: no end */
	int64_t buffers_left;	  /* likewise */
	uint32_t absent;	  /* bit n: CPU n is not there */
	int64_t writable;	  /* bytes that can be handed over; negative: no end */
	uint32_t sleeps, wakes;
	void (*after_on_cpu)(void);	  /* happens before the one who asked goes on */
	void (*after_table_unlock)(void); /* likewise */
	int (*in_sleep)(
		uint32_t
			n); /* happens meanwhile, n-th since the reset; what it returns sleep() does. NULL: time passes */
	void (*lend)(uint64_t physical, void *host,
		     uint64_t size); /* is told of each buffer and table; may be NULL */
};
extern struct hwt_kernel hwt_kernel;

/* The backend that hwt_start() adds. */
extern struct ktrace_hwt_backend hwt_mock;

/* Each test: the fake machine, an unused library; process 0 has pid 1, is the superuser's and has one thread. */
int hwt_reset(void **state);
/* All memory is back, every lock free, no process traced. */
int hwt_check(void **state);

/* ktrace_hwt_init(), and the mock, which writes 64 bytes each time. */
void hwt_start(void);

/* ktrace_hwt_init(), and another backend. */
void hwt_start_with(struct ktrace_hwt_backend *backend);

/* A process of this user and group, with one thread; its pid. */
struct hwt_process *hwt_fork(uint32_t uid, uint32_t gid);
struct hwt_process *hwt_first(void);
/* A thread more, through the hook. */
struct hwt_thread *hwt_thread(struct hwt_process *process);
/* By the hooks, then it is gone. */
void hwt_thread_exit(struct hwt_process *process, struct hwt_thread *thread);
void hwt_exit(struct hwt_process *process);

/* The switch of a CPU. */
void hwt_switch_in(struct hwt_thread *thread, uint32_t cpu);
void hwt_switch_out(struct hwt_thread *thread);
/* In and out, on CPU 0. */
void hwt_run(struct hwt_thread *thread);

/* Requests: a page of buffer, the smallest queue. */
struct ktrace_hwt_request hwt_request_thread(const struct hwt_process *target);
struct ktrace_hwt_request hwt_request_cpus(uint64_t cpus);

/* What must succeed: a context of the owner's on that process, held; put it when done. */
struct ktrace_hwt_context *hwt_alloc(struct ktrace_hwt_owner *owner, struct hwt_process *caller,
				     const struct ktrace_hwt_request *request);
struct ktrace_hwt_context *hwt_trace(struct ktrace_hwt_owner *owner, struct hwt_process *target);

/* A unit of the context; fails the test if there is none. */
struct ktrace_hwt_unit *hwt_unit(const struct ktrace_hwt_context *context, uint32_t index);

/* Takes all records that there are without waiting; the walk is over a copy, valid until the next call. */
void hwt_take(struct ktrace_hwt_context *context, struct proc_walk *walk);

#endif
