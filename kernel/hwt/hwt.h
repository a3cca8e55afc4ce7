/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Declarations that the source files of kernel/hwt share.
 *
 * A context (context.c) is found by its ident, belongs to an owner and has units (unit.c). A unit is enabled
 * and disabled on the CPU that it traces. hwt_control.c carries out the requests of the owner. hwt_hooks.c
 * contains the hooks that the kernel calls. hwt_record.c makes records and queues them until the owner takes
 * them; it also contains the functions in which threads and readers wait.
 *
 * Lock order: the control lock of a context (a waiter sleeps); the process table lock; the spinlock. The
 * spinlock protects all lists, which process is traced by which context, what runs, and the queues. The
 * control lock protects configuring, starting and stopping a context, adding units, and reading its queue. No
 * hook holds it while it waits for the owner.
 *
 * Only the unit's CPU enables a unit, with interrupts off, and from then on the unit belongs to that CPU.
 * `enabled` is set under the spinlock before the backend is called, and cleared after the backend has
 * finished. So if a caller that holds the spinlock finds `enabled` to be 0, the backend does not use the unit
 * until the caller releases the spinlock. To disable a unit, another CPU calls the unit's CPU.
 */
#ifndef KTRACE_HWT_INTERNAL_H
#define KTRACE_HWT_INTERNAL_H

#include "../base/proc_trace.h"
#include "ktrace/hwt.h"
#include "ktrace/port.h"

/*
 * Maximum size of a path or name in a record. Longer paths and names are cut, and a flag in the record shows
 * this.
 */
#define KTRACE_HWT_PATH_MAX 1024u

/*
 * Queue of whole records, one after another. The positions `produced` and `consumed` never decrease. A
 * position modulo `size` is an offset in `bytes`.
 */
struct ktrace_hwt_queue {
	uint8_t *bytes;
	uint64_t size; /* size of `bytes`, a multiple of 8 */
	uint64_t produced, consumed;
	uint32_t lost; /* number of records lost since the newest record in the queue was made */
	/* nonzero: a thread has waited for room until its timeout, and no record has been read since then */
	uint32_t gave_up;
};

/* A thread that waits for its release. The structure is on the thread's stack. */
struct ktrace_hwt_waiter {
	uint64_t record; /* position in the queue at which the thread's record ends */
	uint32_t released;
	struct ktrace_hwt_waiter *next;
};

struct ktrace_hwt_context {
	struct ktrace_hwt_context *next; /* next in the list of all contexts that have not ended */
	/* owner of the context; NULL: the context has ended, or is not complete yet */
	struct ktrace_hwt_owner *owner;
	struct ktrace_hwt_context *next_owned;
	struct ktrace_hwt_backend *backend;
	/* process that the context traces; NULL: the context is in CPU mode, or the process has ended */
	struct ktrace_hwt_process *process;
	uint32_t ident;
	uint32_t mode;
	uint32_t target;     /* pid */
	uint32_t references; /* number of references: one of the owner, and one for each current user */
	uint32_t superuser;  /* the owner is the superuser: tracing continues if the process gains rights */
	uint32_t ended;
	uint32_t running;
	uint32_t locked;  /* nonzero: the control lock is held */
	uint32_t changes; /* number of changes so far; all waiting threads sleep on this word */
	uint32_t units;
	struct ktrace_hwt_unit *first, **last;
	uint64_t cpus[KTRACE_HWT_CPUS_MAX / 64];
	uint64_t buffer_size;
	struct ktrace_hwt_config config;
	struct ktrace_hwt_pausing pausing;
	struct ktrace_hwt_waiter *waiters;
	struct ktrace_hwt_queue queue;
	/* path of a mapping that is being recorded; protected by the control lock */
	char path[KTRACE_HWT_PATH_MAX];
};

struct ktrace_hwt_state {
	const struct ktrace_hwt_kernel *kernel; /* callbacks of the kernel; NULL before ktrace_hwt_init() */
	/* for each CPU: list of the units that are enabled there; only that CPU may use its list */
	struct ktrace_hwt_unit **here;
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

KTRACE_INLINE const struct ktrace_hwt_kernel *ktrace_hwt_kernel(void)
{
	return ktrace_hwt_state.kernel;
}

/* ---- context.c --------------------------------------------------------------------------------- */

/*
 * Takes a reference.
 * Requires: the spinlock is held.
 */
KTRACE_HIDDEN void ktrace_hwt_hold(struct ktrace_hwt_context *context);

/* Returns the context of a process, with a reference; NULL: none. */
KTRACE_HIDDEN struct ktrace_hwt_context *ktrace_hwt_hold_process(struct ktrace_hwt_process *process);

/*
 * Take and release the control lock. ktrace_hwt_control_lock() returns STATE, without the lock, if the
 * context has ended. May sleep.
 */
KTRACE_HIDDEN int ktrace_hwt_control_lock(struct ktrace_hwt_context *context);
KTRACE_HIDDEN void ktrace_hwt_control_unlock(struct ktrace_hwt_context *context);

/*
 * Ends the context and drops the owner's reference. The control lock stays held: neither this function nor
 * its caller releases it. Requires: the control lock is held. May sleep.
 */
KTRACE_HIDDEN void ktrace_hwt_end(struct ktrace_hwt_context *context);

/*
 * Stops tracing the process. Its threads' units keep their buffers.
 * May sleep.
 */
KTRACE_HIDDEN void ktrace_hwt_detach(struct ktrace_hwt_context *context);

/* ---- unit.c ------------------------------------------------------------------------------------ */

/*
 * Makes a unit for a CPU or a thread, with a buffer, and configures the unit as the context demands.
 * Returns MEMORY or an error of the backend.
 * Requires: the control lock is held; for a thread, its process cannot end during the call, or the caller
 * looks the process up again afterwards. May sleep.
 */
KTRACE_HIDDEN int ktrace_hwt_unit_make(struct ktrace_hwt_context *context, uint32_t index,
				       struct ktrace_hwt_unit **made);
/*
 * Adds the unit to its context. The unit then traces `thread`, or a CPU if `thread` is NULL.
 * Requires: the spinlock is held.
 */
KTRACE_HIDDEN void ktrace_hwt_unit_attach(struct ktrace_hwt_unit *unit, struct ktrace_hwt_thread *thread);
/*
 * Frees a unit.
 * Requires: the unit is not in its context's list, or the context is being freed. May sleep.
 */
KTRACE_HIDDEN void ktrace_hwt_unit_free(struct ktrace_hwt_unit *unit);
/*
 * Returns the unit with this index; NULL if there is none.
 * Requires: the spinlock is held.
 */
KTRACE_HIDDEN struct ktrace_hwt_unit *ktrace_hwt_unit_find(struct ktrace_hwt_context *context,
							   uint32_t index);

/*
 * Reserves the unit for this CPU, if the unit may trace. Returns nonzero if the unit was reserved. In this
 * case the caller must call ktrace_hwt_unit_begin().
 * Requires: the spinlock is held.
 */
KTRACE_HIDDEN int ktrace_hwt_unit_claim(struct ktrace_hwt_unit *unit, uint32_t cpu);
/*
 * Enable and disable the unit on this CPU. After an error, both functions count a loss of trace data.
 * Requires: called on the unit's CPU, with interrupts off.
 */
KTRACE_HIDDEN int ktrace_hwt_unit_begin(struct ktrace_hwt_unit *unit, uint32_t cpu);
KTRACE_HIDDEN void ktrace_hwt_unit_end(struct ktrace_hwt_unit *unit, uint32_t cpu);
/*
 * Call this after a record that describes the code that the running thread executes from now on. Enables the
 * unit on this CPU if no thread switch has enabled it yet.
 */
KTRACE_HIDDEN void ktrace_hwt_unit_resume(struct ktrace_hwt_thread *thread);
/*
 * Disables the unit. On return no CPU has it enabled. If a CPU enables the unit again during the call, the
 * call disables it again.
 * May sleep.
 */
KTRACE_HIDDEN void ktrace_hwt_unit_quiesce(struct ktrace_hwt_unit *unit);
/*
 * Applies a configuration. A unit that was enabled is disabled until its thread resumes.
 * Returns KTRACE_OK or an error of the backend. After an error the unit cannot be enabled until a
 * configuration succeeds.
 * Requires: the control lock is held. May sleep.
 */
KTRACE_HIDDEN int ktrace_hwt_unit_configure(struct ktrace_hwt_unit *unit,
					    const struct ktrace_hwt_config *config);
/* Counts a loss of trace data of the unit. */
KTRACE_HIDDEN void ktrace_hwt_unit_lose(struct ktrace_hwt_unit *unit);
/*
 * Separates the unit from its thread: the unit is disabled and can never be enabled again.
 * May sleep.
 */
KTRACE_HIDDEN void ktrace_hwt_unit_detach(struct ktrace_hwt_unit *unit);

/* ---- hwt_control.c ----------------------------------------------------------------------------- */

/*
 * Sets the default configuration. Returns ARGUMENT if the backend cannot select the privilege level.
 * Requires: the control lock is held.
 */
KTRACE_HIDDEN int ktrace_hwt_default(struct ktrace_hwt_context *context);
/*
 * Finds the address space of the traced process. Returns NO_PROCESS if the process is gone.
 * Requires: the control lock is held.
 */
KTRACE_HIDDEN int ktrace_hwt_find_space(const struct ktrace_hwt_context *context, uint64_t *space);
/*
 * Updates the configuration if the traced process has got another address space. Requires: the control lock
 * is held. May sleep.
 */
KTRACE_HIDDEN void ktrace_hwt_follow_space(struct ktrace_hwt_context *context);

/* ---- hwt_hooks.c ----------------------------------------------------------------------------- */

/*
 * Makes a unit for each thread of the process that has no unit.
 * Requires: the control lock is held. May sleep.
 */
KTRACE_HIDDEN int ktrace_hwt_adopt(struct ktrace_hwt_context *context);

/* ---- hwt_record.c ---------------------------------------------------------------------------- */

/*
 * Appends a record. Returns 0 if there is no room. The caller must wake waiters (ktrace_hwt_wake()).
 * Requires: the spinlock is held.
 */
KTRACE_HIDDEN int ktrace_hwt_append(struct ktrace_hwt_context *context,
				    const struct ktrace_proc_pending *pending);
/*
 * Appends a record like ktrace_hwt_append(). If there is no room, the record is counted as lost, and the next
 * record reports the count.
 */
KTRACE_HIDDEN void ktrace_hwt_append_or_lose(struct ktrace_hwt_context *context,
					     const struct ktrace_proc_pending *pending);
/*
 * Appends the structure with which a trace file begins.
 * Requires: the queue is empty, and no other thread can access the queue.
 */
KTRACE_HIDDEN void ktrace_hwt_append_head(struct ktrace_hwt_context *context);

/*
 * Appends a record, and waits for room in the queue if necessary. For hooks that may sleep. If the context is
 * configured to pause threads in the case `pause` (KTRACE_HWT_PAUSE_*; 0: none), waits until the owner
 * releases the thread.
 * Requires: the caller has a reference, and holds no lock.
 */
KTRACE_HIDDEN void ktrace_hwt_record(struct ktrace_hwt_context *context,
				     const struct ktrace_proc_pending *pending, uint32_t pause);
/*
 * Increments the context's count of changes. After releasing the spinlock, the caller must call
 * ktrace_hwt_wake(). Requires: the spinlock is held.
 */
KTRACE_INLINE void ktrace_hwt_changed(struct ktrace_hwt_context *context)
{
	context->changes++;
}

KTRACE_INLINE void ktrace_hwt_wake(struct ktrace_hwt_context *context)
{
	ktrace_hwt_state.kernel->wake(&context->changes);
}

/*
 * Append a record. If there is no room, the record is lost.
 * Requires: the spinlock is held.
 */
KTRACE_HIDDEN void ktrace_hwt_say_context(struct ktrace_hwt_context *context);
KTRACE_HIDDEN void ktrace_hwt_say_clock(struct ktrace_hwt_context *context);
KTRACE_HIDDEN void ktrace_hwt_say_fill(struct ktrace_hwt_unit *unit);

/*
 * Make a pending record. `fixed` holds its payload in 64-bit words and must live as long as the pending
 * record.
 * ktrace_hwt_pending_fill() requires: the unit is disabled, or the caller runs on its CPU.
 */
KTRACE_HIDDEN void ktrace_hwt_pending_fill(struct ktrace_proc_pending *pending, uint64_t fixed[3],
					   struct ktrace_hwt_unit *unit);
KTRACE_HIDDEN void ktrace_hwt_pending_image(struct ktrace_proc_pending *pending, uint16_t type,
					    uint64_t fixed[4], const struct ktrace_hwt_context *context,
					    const struct ktrx_hwt_image *image, const char *path);
/*
 * Requires: the spinlock or the control lock is held, so that no other context can separate the thread from
 * its unit.
 */
KTRACE_HIDDEN void ktrace_hwt_pending_thread(struct ktrace_proc_pending *pending, uint16_t type,
					     uint64_t *fixed, const struct ktrace_hwt_context *context,
					     const struct ktrace_hwt_thread *thread, const char *name);

#endif
