/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What the files of kernel/hwt share.
 *
 * A context (context.c) is found by its ident, belongs to an owner and has units (unit.c), which are switched
 * on and off on the CPU that they trace. hwt_control.c holds what the owner asks for, hwt_hooks.c what the
 * kernel calls, hwt_record.c makes records of that, keeps them until they are taken, and is where threads and
 * readers wait.
 *
 * Locks, from the outside in: a context's control lock, which sleeps; the process table's; the short lock.
 * Under the short lock are all lists, who is traced by whom, what runs, the queues. Under the control lock a
 * context is configured, started, stopped and given units, and its queue is read; no hook holds it while it
 * waits for the owner.
 *
 * A unit is enabled only by its CPU, with interrupts off, and from then on belongs to that CPU. `enabled` is
 * set under the short lock before the backend is called, and cleared after the backend is done. So if it is 0
 * under the short lock, the backend does not use the unit, and will not while the lock is held. To switch a
 * unit off, another CPU asks the unit's CPU.
 */
#ifndef KTRACE_HWT_INTERNAL_H
#define KTRACE_HWT_INTERNAL_H

#include "../base/proc_trace.h"
#include "ktrace/hwt.h"
#include "ktrace/port.h"

/* Longest path and name in a record; longer ones are cut, and flagged so. */
#define KTRACE_HWT_PATH_MAX 1024u

/* Whole records, one behind the other; both positions only grow, modulo `size` they are places in it. */
struct ktrace_hwt_queue {
	uint8_t *bytes;
	uint64_t size; /* a multiple of 8 */
	uint64_t produced, consumed;
	uint32_t lost;	  /* since the last record */
	uint32_t unheard; /* a thread has waited for room in vain, and no record was read since */
};

/* A thread that waits for its release; on its stack. */
struct ktrace_hwt_waiter {
	uint64_t record; /* of the queue: where its record ends */
	uint32_t released;
	struct ktrace_hwt_waiter *next;
};

struct ktrace_hwt_context {
	struct ktrace_hwt_context *next; /* of all that have not ended */
	struct ktrace_hwt_owner *owner;	 /* NULL: it has ended, or has not quite begun */
	struct ktrace_hwt_context *next_owned;
	struct ktrace_hwt_backend *backend;
	struct ktrace_hwt_process *process; /* NULL: CPU mode, or the process is gone */
	uint32_t ident;
	uint32_t mode;
	uint32_t target;     /* pid */
	uint32_t references; /* the owner's, and of everybody who is at work with it */
	uint32_t superuser;  /* the owner is: it goes on when the process gains rights */
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
	struct ktrace_hwt_waiter *waiters;
	struct ktrace_hwt_queue queue;
	char path[KTRACE_HWT_PATH_MAX]; /* under the control lock */
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

KTRACE_INLINE const struct ktrace_hwt_kernel *ktrace_hwt_kernel(void)
{
	return ktrace_hwt_state.kernel;
}

/* ---- context.c --------------------------------------------------------------------------------- */

/* A reference more. Short lock held. */
KTRACE_HIDDEN void ktrace_hwt_hold(struct ktrace_hwt_context *context);

/* The context of a process, with a reference; NULL: none. */
KTRACE_HIDDEN struct ktrace_hwt_context *ktrace_hwt_hold_process(struct ktrace_hwt_process *process);

/* The control lock. NULL: the context has ended, and is not locked. Both sleep. */
KTRACE_HIDDEN int ktrace_hwt_control_lock(struct ktrace_hwt_context *context);
KTRACE_HIDDEN void ktrace_hwt_control_unlock(struct ktrace_hwt_context *context);

/* It is over, the owner's reference included. Control lock held, which nobody gets any more. Sleeps. */
KTRACE_HIDDEN void ktrace_hwt_end(struct ktrace_hwt_context *context);

/* The process is traced no more; its threads' units stay with what they have. Sleeps. */
KTRACE_HIDDEN void ktrace_hwt_detach(struct ktrace_hwt_context *context);

/* ---- unit.c ------------------------------------------------------------------------------------ */

/*
 * A unit for a CPU, or for a thread (whose process is known to live on: it is the hook's, or is found again),
 * with a buffer, configured as the context is. MEMORY, or what the backend says. Control lock held; sleeps.
 */
KTRACE_HIDDEN int ktrace_hwt_unit_make(struct ktrace_hwt_context *context, uint32_t index,
				       struct ktrace_hwt_unit **made);
/* Enters it among the context's, as that of the thread (NULL: of a CPU). Short lock held. */
KTRACE_HIDDEN void ktrace_hwt_unit_attach(struct ktrace_hwt_unit *unit, struct ktrace_hwt_thread *thread);
/* It is none of the context's, or the context is no more. Sleeps. */
KTRACE_HIDDEN void ktrace_hwt_unit_free(struct ktrace_hwt_unit *unit);
/* NULL: no such unit. Short lock held. */
KTRACE_HIDDEN struct ktrace_hwt_unit *ktrace_hwt_unit_find(struct ktrace_hwt_context *context,
							   uint32_t index);

/* It may trace, and this CPU is the one to do it: nonzero, and `begin` is due. Short lock held. */
KTRACE_HIDDEN int ktrace_hwt_unit_claim(struct ktrace_hwt_unit *unit, uint32_t cpu);
/* On that CPU, interrupts off. An error has been counted as a loss. */
KTRACE_HIDDEN int ktrace_hwt_unit_begin(struct ktrace_hwt_unit *unit, uint32_t cpu);
KTRACE_HIDDEN void ktrace_hwt_unit_end(struct ktrace_hwt_unit *unit, uint32_t cpu);
/*
 * Behind a record that says what the thread, which is this one, is to run from now on. Claims and begins on
 * whatever CPU this is, should it not trace: the thread did not come from the switch.
 */
KTRACE_HIDDEN void ktrace_hwt_unit_resume(struct ktrace_hwt_thread *thread);
/* On return no CPU has it enabled. Nothing may enable it again meanwhile, or it takes longer. Sleeps. */
KTRACE_HIDDEN void ktrace_hwt_unit_quiesce(struct ktrace_hwt_unit *unit);
/*
 * Takes over a configuration; where it was enabled it is not, until its thread resumes. What the backend
 * says; if that is an error nothing enables it any more until one has been taken over. Control lock held;
 * sleeps.
 */
KTRACE_HIDDEN int ktrace_hwt_unit_configure(struct ktrace_hwt_unit *unit,
					    const struct ktrace_hwt_config *config);
/* Something is missing from its trace. */
KTRACE_HIDDEN void ktrace_hwt_unit_lose(struct ktrace_hwt_unit *unit);
/* No CPU has it enabled, nor will, and the thread has no unit any more. Sleeps. */
KTRACE_HIDDEN void ktrace_hwt_unit_detach(struct ktrace_hwt_unit *unit);

/* ---- hwt_control.c ----------------------------------------------------------------------------- */

/*
 * The configuration of who has not asked for one. ARGUMENT: the backend cannot tell the level apart. Control
 * lock held.
 */
KTRACE_HIDDEN int ktrace_hwt_default(struct ktrace_hwt_context *context);
/* The address space of the process that is traced. NO_PROCESS: it is gone. Control lock held. */
KTRACE_HIDDEN int ktrace_hwt_find_space(const struct ktrace_hwt_context *context, uint64_t *space);
/* That process may have got another one. Control lock held; sleeps. */
KTRACE_HIDDEN void ktrace_hwt_follow_space(struct ktrace_hwt_context *context);

/* ---- hwt_hooks.c ----------------------------------------------------------------------------- */

/* Gives units to threads of the process that have none. Control lock held; sleeps. */
KTRACE_HIDDEN int ktrace_hwt_adopt(struct ktrace_hwt_context *context);

/* ---- hwt_record.c ---------------------------------------------------------------------------- */

/* Appends a record, or returns 0 if there is no room. Short lock held; who sleeps is to be woken. */
KTRACE_HIDDEN int ktrace_hwt_append(struct ktrace_hwt_context *context,
				    const struct ktrace_proc_draft *draft);
/* The same; what finds no room is lost, of which the next record tells. */
KTRACE_HIDDEN void ktrace_hwt_append_or_lose(struct ktrace_hwt_context *context,
					     const struct ktrace_proc_draft *draft);
/* What a file begins with. The queue is empty, and nobody else knows it. */
KTRACE_HIDDEN void ktrace_hwt_append_head(struct ktrace_hwt_context *context);

/*
 * Records from a hook that may sleep: waits for room, and, where the context pauses for `pause`
 * (KTRACE_HWT_PAUSE_*; 0: it does not), until the owner has released the thread. The caller has a reference,
 * and no lock.
 */
KTRACE_HIDDEN void ktrace_hwt_record(struct ktrace_hwt_context *context,
				     const struct ktrace_proc_draft *draft, uint32_t pause);
/* Short lock held; `ktrace_hwt_wake` is due once it is not. */
KTRACE_INLINE void ktrace_hwt_changed(struct ktrace_hwt_context *context)
{
	context->changes++;
}

KTRACE_INLINE void ktrace_hwt_wake(struct ktrace_hwt_context *context)
{
	ktrace_hwt_state.kernel->wake(&context->changes);
}

/* These three make a record, which is lost if there is no room. Requires: the short lock is held. */
KTRACE_HIDDEN void ktrace_hwt_say_context(struct ktrace_hwt_context *context);
KTRACE_HIDDEN void ktrace_hwt_say_clock(struct ktrace_hwt_context *context);
KTRACE_HIDDEN void ktrace_hwt_say_fill(struct ktrace_hwt_unit *unit);

/*
 * A draft, by the numbers of its payload, which are kept in `fixed`. Of a unit that is not enabled, or on its
 * CPU.
 */
KTRACE_HIDDEN void ktrace_hwt_draft_fill(struct ktrace_proc_draft *draft, uint64_t fixed[3],
					 struct ktrace_hwt_unit *unit);
KTRACE_HIDDEN void ktrace_hwt_draft_image(struct ktrace_proc_draft *draft, uint16_t type, uint64_t fixed[4],
					  const struct ktrace_hwt_context *context,
					  const struct ktrx_hwt_image *image, const char *path);
/* Short lock held, or the control lock: nobody takes the thread's unit away. */
KTRACE_HIDDEN void ktrace_hwt_draft_thread(struct ktrace_proc_draft *draft, uint16_t type, uint64_t *fixed,
					   const struct ktrace_hwt_context *context,
					   const struct ktrace_hwt_thread *thread, const char *name);

#endif
