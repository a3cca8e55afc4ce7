/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Determines what every thread and CPU is doing, from the events of a trace in their order. Exporters and
 * analyses pass each event to this model, which calls them back for each change. They do not interpret
 * scheduling events themselves. A second model finds the process of each thread.
 *
 * Invariants:
 * - A thread other than an idle thread runs on at most one CPU, and a CPU runs at most one thread.
 * - A thread is reported as running only if it was not running before, so the reported history is always
 *   legal.
 * - If lost slots may have contained a change of state, the state is reported as unknown, never guessed.
 *
 * Times may be in any unit, but must grow by two or more from event to event. If the trace does not contain a
 * change between two events, the change is reported at a time between these two events.
 */
#ifndef ANALYZE_THREADS_H
#define ANALYZE_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/scheduling.h"
#include "analyze/wellknown.h"
#include "ktread/ktread.h"

/*
 * Maximum numbers of threads and CPUs that are tracked; further threads and CPUs are ignored, and their
 * events are counted.
 */
#define THREADS_MAX	 65536u
#define THREADS_CPUS_MAX 4096u

enum threads_state {
	THREADS_UNKNOWN,
	THREADS_RUNNING,
	THREADS_RUNNABLE,
	THREADS_SLEEPING, /* WELLKNOWN_STATE_SLEEP */
	THREADS_WAITING,  /* WELLKNOWN_STATE_WAIT */
	THREADS_STOPPED,
	THREADS_DEAD,
};

struct threads_thread {
	/* time of the thread's last event or change of state; the thread existed at that time */
	uint64_t seen;
	uint64_t since;	 /* time of the last change of the thread's state */
	uint64_t stamp;	 /* timestamp of the event that showed the last change of state */
	uint64_t object; /* the object for which the thread waits, as the event states (sched.block) */
	uint32_t id;
	/*
	 * number of the thread: threads are numbered from 0 without holes, so callers may use the number as
	 * an index
	 */
	uint32_t index;
	uint32_t cpu;  /* CPU on which the thread runs or last ran; KTRX_NO_CPU if unknown */
	uint32_t life; /* 0 at first; incremented when the id is reused after a death */
	uint8_t state; /* enum threads_state */
	/* announced state of the thread after its next switch; THREADS_UNKNOWN if it announced none */
	uint8_t announced;
	/*
	 * true if `state` is THREADS_DEAD because of sched.exit alone, while the switch recorded the state of
	 * a live thread: the thread has ended, or has left its CPU before its last switch
	 */
	bool may_live;
	bool anywhere; /* true if threads_is_idle(): it may run on several CPUs at the same time */
};

struct threads_change {
	uint64_t time;
	const struct threads_thread *thread; /* the thread as it is after the change; valid during the call */
	enum threads_state from;	     /* state before the change */
	/* time at which that state began, and timestamp of the event that showed it */
	uint64_t from_time, from_stamp;
	/* CPU on which the thread ran or will run; for a change by a wakeup, CPU of the waker */
	uint32_t cpu;
	/* true if the next report, which has the same time, states that another thread runs on that CPU */
	bool followed;
	bool announced; /* true if the thread announced before that it will sleep or end */
	bool woken;	/* true if a wakeup made the thread runnable */
	uint32_t waker; /* id of the thread that caused the wakeup */
	bool interrupt; /* true if an interrupt that came while `waker` ran caused the wakeup */
};

typedef void threads_changed(void *context, const struct threads_change *change);

/* The first member of struct threads, which the inline functions below read. */
struct threads_view {
	struct threads_thread *thread; /* array of threads; the index is the thread's number */
	uint32_t *on;		       /* indexed by CPU: index of the running thread, or THREADS_NONE */
	uint32_t cpus;		       /* number of entries of `on` */
	/* index of the thread that the newest switch left, or THREADS_NONE */
	uint32_t left;
};
#define THREADS_NONE UINT32_MAX

struct threads;

/* Returns 0 or KTREAD_E_MEMORY. */
int threads_create(struct threads **threads, threads_changed *changed, void *context);
void threads_destroy(struct threads *threads);

/*
 * Gives the model facts about the whole trace: what it records about threads. Call this before the first
 * event. If the field `state` of sched.switch is always 0, it is ignored. If a kernel announces that threads
 * block (WELLKNOWN_BLOCK), a switch without an announcement leaves a runnable thread, unless the announcement
 * was switched off at that time. Requires: `scheduling` outlives the model.
 */
struct scheduling;
void threads_learn(struct threads *threads, const struct scheduling *scheduling);

/*
 * Does the same as threads_learn(), for a trace whose later events are not known yet: states are ignored
 * until the first state that is not 0.
 */
void threads_learn_on(struct threads *threads);

/*
 * Gives the model the list of events that describe threads, for threads_switched(). Needed unless the caller
 * checks each state with gaps_state_lasts(). Returns 0 or KTREAD_E_MEMORY.
 */
int threads_track_switches(struct threads *threads, const struct ktread *trace,
			   struct wellknown_table *table);
/*
 * Reports that events were switched on or off. If these describe threads, states become unknown when they are
 * switched off. While switches are off, no thread is reported as running. `time`: time of the change, which
 * may be earlier than the time of the last event.
 */
void threads_switched(struct threads *threads, const struct switched_change *change, uint64_t time);

/* Implements threads_event() for an event that may change something. */
int threads_take(struct threads *threads, const struct ktread_event *event, const struct wellknown *known,
		 uint64_t time);

/*
 * Finds events from a time for which the slots of their CPU's ring were overwritten. Overwritten slots are
 * missing, but do not count as lost. Rare events, which have a ring of their own, may be from that time; they
 * do not show how long their threads run.
 */
struct threads_heads {
	/*
	 * indexed by CPU: true until the first event of the CPU's ring, if the ring's beginning was
	 * overwritten
	 */
	bool missing[THREADS_CPUS_MAX];
};
enum threads_head {
	THREADS_HEAD_COMPLETE, /* no slots are missing */
	THREADS_HEAD_BEFORE,   /* slots of the event's CPU are missing before the event */
	THREADS_HEAD_AROUND,   /* slots of the event's CPU are missing before and after the event */
};
void threads_find_heads(struct threads_heads *heads, const struct ktread *trace);
/* Call it for each event, in the order of the trace. */
enum threads_head threads_pass_head(struct threads_heads *heads, const struct ktread *trace,
				    const struct ktread_event *event);

/* Returns whether thread 0 stands for several threads (scheduling_mixes_threads()). */
bool threads_mixes_zero(const struct threads *threads);

/* Must be called if slots of a CPU are lost: between `from` and the next event. */
void threads_gap(struct threads *threads, uint32_t cpu, uint64_t from);

/*
 * Return a thread by id or by index, or NULL if no event has named it. Indexes go from 0 to threads_count() -
 * 1.
 */
const struct threads_thread *threads_find(const struct threads *threads, uint32_t id);
const struct threads_thread *threads_at(const struct threads *threads, uint32_t index);
uint32_t threads_count(const struct threads *threads);
/* number of events of threads or CPUs that are not tracked, because there are too many */
uint64_t threads_left_out(const struct threads *threads);

/* Returns the thread that runs on `cpu`, or NULL if unknown. */
static inline struct threads_thread *threads_on(const struct threads *threads, uint32_t cpu)
{
	const struct threads_view *view = (const struct threads_view *)threads;

	return cpu < view->cpus && view->on[cpu] != THREADS_NONE ? &view->thread[view->on[cpu]] : NULL;
}

/* Does the same as threads_find(), but faster if the thread is the one that the newest switch left. */
static inline const struct threads_thread *threads_find_left(const struct threads *threads, uint32_t id)
{
	const struct threads_view *view = (const struct threads_view *)threads;

	if (view->left != THREADS_NONE && view->thread[view->left].id == id)
		return &view->thread[view->left];
	return threads_find(threads, id);
}

/* Does the same as threads_find(), but faster if the thread runs on `cpu`. */
static inline const struct threads_thread *threads_find_on(const struct threads *threads, uint32_t cpu,
							   uint32_t id)
{
	const struct threads_thread *running = threads_on(threads, cpu);

	return running && running->id == id ? running : threads_find(threads, id);
}

/*
 * Processes one event. Returns 0 or KTREAD_E_MEMORY. Sets `*current` to the event's thread if, according to
 * the model, that thread already runs on the event's CPU and nothing changes; otherwise to NULL.
 */
static inline int threads_event_of(struct threads *threads, const struct ktread_event *event,
				   const struct wellknown *known, uint64_t time,
				   const struct threads_thread **current)
{
	/* Bit map of the kinds of events that change the state of their own thread or of another thread. */
	const uint64_t changing = UINT64_C(1) << WELLKNOWN_SWITCH | UINT64_C(1) << WELLKNOWN_BLOCK |
				  UINT64_C(1) << WELLKNOWN_EXIT | UINT64_C(1) << WELLKNOWN_WAKE |
				  UINT64_C(1) << WELLKNOWN_WAKE_QUEUE | UINT64_C(1) << WELLKNOWN_CREATE;
	struct threads_thread *running = threads_on(threads, event->cpu);

	/* Fast path: most events come from the thread that runs on the CPU according to the model. */
	*current = NULL;
	if (!running || running->id != event->thread || changing >> known->kind & 1)
		return threads_take(threads, event, known, time);
	*current = running;
	running->seen = time;
	return 0;
}

/* Processes one event. Returns 0 or KTREAD_E_MEMORY. */
static inline int threads_event(struct threads *threads, const struct ktread_event *event,
				const struct wellknown *known, uint64_t time)
{
	const struct threads_thread *current;

	return threads_event_of(threads, event, known, time, &current);
}

/*
 * Returns whether a thread with this name is an idle thread. Such a name is `idle` in upper or lower case,
 * possibly followed by characters of which the first is not a letter. `cpu`, `core` or `hart` with a number,
 * or `t`, may precede `idle`.
 */
bool threads_name_is_idle(const char *name, size_t length);
/*
 * Returns whether a thread is thread 0, or is an idle thread by its name. The idle threads of all CPUs may
 * have one id, so such a thread may run on several CPUs at the same time.
 */
bool threads_is_idle(const struct ktread *trace, uint32_t thread);

/* ---- Processes (processes.c) ---- */

/*
 * Finds the process of each thread, and each process's parent and program, from process.fork, process.exec,
 * process.exit and sched.create. What an event shows also applies to the time before the event, so the whole
 * trace is read before the first result. If an id is reused, its first parent and program are kept.
 */

#define PROCESSES_COMMAND 128u

struct processes_process {
	uint32_t id;
	uint32_t parent; /* id of the parent process; 0: unknown */
	/* true if `command` comes from an exec of the process itself, not of its parent */
	bool exec;
	char command[PROCESSES_COMMAND]; /* the program that the process runs; "" if it is unknown */
};

struct processes;

/*
 * Reads the trace from its beginning and rewinds it. If its kernel declares no process events, the trace is
 * not read and nothing is known. Returns 0, KTREAD_E_MEMORY, or the error of ktread_next(). The caller frees
 * `*processes` in any case.
 */
int processes_read(struct processes **processes, struct ktread *trace, struct wellknown_table *table);
void processes_free(struct processes *processes);

/* Returns the process of a thread; 0 if it is unknown. */
uint32_t processes_of(const struct processes *processes, uint32_t thread);
/* Returns the process, or NULL if it is unknown. */
const struct processes_process *processes_find(const struct processes *processes, uint32_t id);
/* Returns process `n`, counted from 0; NULL after the last process. */
const struct processes_process *processes_at(const struct processes *processes, uint32_t n);

/*
 * Returns the process to which an event applies: the process in a field of the event; without such a field,
 * the process of the event's thread; 0 if the process is unknown.
 */
uint32_t processes_subject(const struct processes *processes, const struct ktread_event *event,
			   const struct wellknown *known);

#endif
