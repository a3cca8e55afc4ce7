/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What the files of kernel/hwt share.
 *
 * A context (context.c) is found by its ident, belongs to an owner (owner.c) and has units (unit.c), which are switched on
 * and off on the CPU that they trace. control.c is what the owner asks for, hooks.c what the kernel tells, record.c makes
 * records of that, queue.c keeps them until they are taken, pause.c is where threads and readers wait.
 *
 * Locks, from the outside in: a context's control lock, which sleeps; the process table's; the short lock. Under the short
 * lock are all lists, who is traced by whom, what runs, the queues. Under the control lock a context is configured, started,
 * stopped and given units, and its queue is read; no hook holds it while it waits for the owner.
 *
 * A unit is enabled only by its CPU, with interrupts off, and from then on belongs to that CPU: `enabled` says so, set
 * under the short lock before the backend is called and taken back behind it. So whoever finds 0 under the short lock knows
 * that the backend is not at work on it and, while he keeps the lock, will not be; and whoever wants it off asks its CPU.
 */
#ifndef KTRACE_HWT_INTERNAL_H
#define KTRACE_HWT_INTERNAL_H

#include "../proc/layout.h"
#include "ktrace/hwt.h"
#include "ktrace/port.h"

/* Longest path and name in a record; longer ones are cut, and flagged so. */
#define KTRACE_HWT_PATH_MAX 1024u

/* Whole records, one behind the other; both positions only grow, modulo `size` they are places in it. */
struct ktrace_hwt_queue {
	uint8_t *bytes;
	uint64_t size; /* a multiple of 8 */
	uint64_t produced, consumed;
	uint32_t lost_now; /* since the last record */
	uint32_t unheard;  /* somebody has waited for room in vain, and nobody has read since */
};

struct ktrace_hwt_context {
	struct ktrace_hwt_context *next; /* of all that can be found */
	struct ktrace_hwt_owner *owner;	 /* NULL: it has ended, or is not begun yet */
	struct ktrace_hwt_context *next_owned;
	struct ktrace_hwt_backend *backend;
	struct ktrace_hwt_process *process; /* NULL: CPU mode, or the process is gone */
	uint32_t ident;
	uint32_t mode;
	uint32_t target; /* pid */
	uint32_t references;
	uint32_t by_superuser;
	uint32_t ended;
	uint32_t running;
	uint32_t locked;  /* the control lock is taken */
	uint32_t changes; /* everybody sleeps on this; each change counts it up */
	uint32_t units;
	struct ktrace_hwt_unit *first, **last;
	uint64_t cpus[KTRACE_HWT_CPUS_MAX / 64];
	uint64_t buffer_size;
	struct ktrace_hwt_config config;
	struct ktrace_hwt_pausing pausing;
	uint32_t paused;	/* threads */
	uint64_t released;	/* those go on whose records end at or before this position of the queue */
	uint64_t pause_highest; /* of those that wait */
	struct ktrace_hwt_queue queue;
};

struct ktrace_hwt_state {
	const struct ktrace_hwt_kernel *kernel; /* NULL before ktrace_hwt_init() */
	struct ktrace_hwt_unit **here; /* of each CPU: the units that are enabled there; that CPU's alone */
	struct ktrace_hwt_backend *backends;
	struct ktrace_hwt_context *contexts;
	uint32_t last_ident;
};
extern KTRACE_HIDDEN struct ktrace_hwt_state ktrace_hwt_state;

KTRACE_INLINE unsigned long ktrace_hwt_lock(void)
{
	return ktrace_hwt_state.kernel->lock();
}

KTRACE_INLINE void ktrace_hwt_unlock(unsigned long saved)
{
	ktrace_hwt_state.kernel->unlock(saved);
}

/* Volatile keeps the compiler from calling memset, which need not exist. */
KTRACE_UNUSED_INLINE void ktrace_hwt_zero(void *to, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((volatile uint8_t *)to)[i] = 0;
}

#endif
