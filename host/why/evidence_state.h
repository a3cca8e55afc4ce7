/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Private header of evidence*.c: state that is needed only while a trace is read. */
#ifndef WHY_EVIDENCE_STATE_H
#define WHY_EVIDENCE_STATE_H

#include "analyze/threads.h"
#include "analyze/wellknown.h"
#include "why/evidence.h"

#define WHY_IRQ_NESTED 8u /* maximum number of nested interrupts that are remembered */
/* maximum number of a thread's held locks that are remembered, to find lock orders */
#define WHY_NESTED 8u

/* State of a thread while the trace is read, in addition to struct why_thread. */
struct why_progress {
	uint64_t events;		      /* number of events of the thread so far */
	uint64_t arguments;		      /* hash of the arguments of the system call in progress */
	uint64_t entered;		      /* timestamp at which the system call in progress was entered */
	uint64_t last_number, last_arguments; /* number and arguments of the previous system call */
	uint64_t last_result;
	uint64_t held[WHY_NESTED]; /* locks that the thread holds, according to events */
	/* for each lock in `held`: the bits of the locks that the thread held when it took this lock */
	uint32_t under[WHY_NESTED];
	uint32_t held_count;
	/*
	 * value of `why_reader.gaps` when this state was last updated; if `gaps` has increased since, this
	 * state is not valid
	 */
	uint64_t gaps;
};

#define WHY_TAIL_LOCKS 4u /* maximum number of locks in a tail */

/* Events about locks that directly follow an interrupt or a switch (see evidence_tails.c). */
struct why_tail {
	bool open;		       /* true until an event shows that the thread itself runs */
	bool of_interrupt;	       /* the tail follows the end of a handler, not a switch */
	uint64_t lock[WHY_TAIL_LOCKS]; /* locks that were taken in the tail */
	uint32_t locks;
};

#define WHY_RUN_LOCKS 8u

/* A lock that was taken after interrupts, directly before the interrupted thread was preempted. */
struct why_run_lock {
	uint64_t lock;
	uint64_t preemptions; /* how often; 0: the entry is free */
};

/* State of a CPU while the trace is read, for struct why_interrupts. */
struct why_irqs_open {
	struct {
		uint32_t number;
		bool over;
	} nest[WHY_IRQ_NESTED];
	uint32_t depth;
	/*
	 * true while an interrupt handler runs, until an event shows that it has returned; `entered`:
	 * timestamp at which the newest handler was entered, by interrupting thread `interrupted`
	 */
	bool inside;
	uint64_t entered;
	uint32_t interrupted;
	/*
	 * timestamp at which the outermost handler was entered; 0: the CPU has left this handler, perhaps by
	 * a context switch
	 */
	uint64_t since;
	uint64_t left;	 /* timestamp at which the outermost handler returned; 0: not known */
	uint64_t newest; /* timestamp of the CPU's newest event, also before a gap; 0: there is none */
	/* true if an EOI was recorded for an interrupt whose irq.enter has not been recorded yet */
	bool early;
	uint32_t early_number; /* if `early` is set: number of the interrupt */
	/*
	 * the following members describe the current period in which one thread runs and no interrupt comes
	 * (see struct why_quiet)
	 */
	uint64_t from;	     /* timestamp of the beginning of the period; 0: not known */
	uint64_t last_event; /* timestamp of the newest event in the period */
	uint64_t unseen, events;
	uint64_t others; /* value of `why_reader.irqs` at the beginning of the period */
	uint32_t thread; /* thread of the period; UINT32_MAX until it is known */
	/* evidence_wakes.c uses the following members */
	uint64_t seen; /* timestamp of the newest event of the CPU; 0: not known */
	uint64_t sum;  /* used only within sum_unseen() */
	/* timestamp of the first IPI that another CPU sent to this CPU after `seen`; 0: none */
	uint64_t called;
	struct why_tail tail;
};

#define WHY_UNSEEN 256u

/* A period in which a CPU recorded nothing. It is longer than the time between two timer ticks. */
struct why_unseen {
	uint64_t from, to;
	uint32_t cpu, thread; /* `thread` is the thread of the event that ended the period */
	/* true if another CPU sent an IPI to the CPU long before the CPU recorded something again */
	bool called;
};

#define WHY_SLEPT 128u

/*
 * A timed sleep that has ended. `usual` is the usual length in ticks of this thread's timed sleeps before it.
 */
struct why_slept {
	uint64_t begin, end, usual;
};

#define WHY_RECENT 256u

struct why_reader {
	struct why_evidence *evidence;
	struct threads *model;
	struct wellknown_table *known;
	struct why_progress *progress; /* array with an entry for each entry of evidence->thread */
	/*
	 * cache of thread lookups: for each value of the low bits of a thread's id, the index + 1 in
	 * evidence->thread of the thread that was found last; 0: empty
	 */
	uint32_t recent[WHY_RECENT];
	uint64_t *events;	    /* number of events of each CPU so far */
	struct why_irqs_open *open; /* state of the interrupts of each CPU */
	uint64_t irqs;		    /* number of interrupts of all CPUs so far */
	/* time of the current event for the model in threads.h; it increases with each event */
	uint64_t time;
	uint64_t stamp;	    /* timestamp of the current event */
	uint64_t gaps;	    /* number of gaps so far */
	uint64_t gap_stamp; /* timestamp since which no event was lost */
	/*
	 * locks that are held, keyed by lock; `count` is the place where the lock was taken, `time` is the
	 * timestamp at which the thread that took it ended, or 0
	 */
	struct keyed holds;
	/* lock orders, keyed by both locks; `count` is the index into evidence->order */
	struct keyed orders;
	/* newest timed sleeps; sleep number n is at index n modulo WHY_SLEPT */
	struct why_slept slept[WHY_SLEPT];
	uint64_t sleeps; /* number of timed sleeps so far */
	/* newest periods without events; period number n is at index n modulo WHY_UNSEEN */
	struct why_unseen unseen[WHY_UNSEEN];
	uint64_t unseens; /* number of periods without events so far */
	struct why_run_lock run_lock[WHY_RUN_LOCKS];
	bool in_gap; /* true while a gap is reported to the model */
	/* the first error in a callback; it is stored here because the callback cannot return it */
	int error;
};

/*
 * Kinds of entries in evidence->index, which finds the index of an entry by its kind and its value (id or
 * address).
 */
#define WHY_KEY_THREAD 1u
#define WHY_KEY_OBJECT 2u
#define WHY_KEY_QUEUE  3u
/*
 * a queue that belongs to a single thread, which does not record the object on which it sleeps; the value is
 * the thread's id
 */
#define WHY_KEY_SLEEP 4u
bool why_index_find(const struct keyed *index, uint64_t kind, uint64_t value, uint32_t *at);
int why_index_put(struct keyed *index, uint64_t kind, uint64_t value, uint32_t at); /* 0 or KTREAD_E_MEMORY */

/*
 * Makes room for one more element in an array of `count` elements. If `count` is a power of two, doubles the
 * size of the array, which may move it. Returns the array. Returns NULL if out of memory; the old array is
 * then unchanged.
 */
void *why_one_more(void *array, uint32_t count, size_t size);

/*
 * Returns the thread with this id. Adds the thread if necessary. Returns NULL if the limit of threads is
 * reached. If out of memory, returns NULL and sets reader->error.
 */
struct why_thread *why_thread_touch(struct why_reader *reader, uint32_t id);
/*
 * If any CPU has had a gap since the last call for this thread, clears what is known about the thread: the
 * locks that it holds, and the counts of its repeated actions.
 */
void why_thread_void_old(struct why_reader *reader, uint32_t index);
/* Records the name of an object. An empty name changes nothing. Returns 0 or KTREAD_E_MEMORY. */
int why_object_touch(struct why_evidence *evidence, uint64_t address, const char *name, size_t length);

/* Returns whether the ring that contains this event has overwritten older events. */
static inline bool why_is_cut(const struct why_reader *reader, const struct ktread_event *event)
{
	const struct ktread_ring *ring = ktread_ring(reader->evidence->trace, event->ring);

	return ring && ring->overwritten > 0;
}

/* Returns true for a ring in which all CPUs record: the boot ring or the ring of rare events. */
static inline bool why_is_shared(const struct why_evidence *evidence, uint32_t number)
{
	const struct ktread_ring *ring = ktread_ring(evidence->trace, number);

	return ring && ring->cpu == KTRX_NO_CPU && ring->kind != KTREAD_RING_PROCESSES &&
	       ring->kind != KTREAD_RING_BESIDE;
}

/*
 * First pass through the trace: finds the first and last timestamps and the gaps, and counts the events of
 * each CPU and thread. Returns 0 or a negative KTREAD_E_*.
 */
int why_survey(struct why_reader *reader);
/* Records a gap if recording was stopped before the end. Requires: evidence->end is set. */
void why_survey_stop(struct why_evidence *evidence);
/* Records a gap for each ring whose end is missing or unreadable. Requires: evidence->end is set. */
void why_survey_cut(struct why_evidence *evidence);
/* Second pass: evaluates the events. Returns 0 or a negative KTREAD_E_*. */
int why_evaluate(struct why_reader *reader);

/* Evaluates an event about a lock. Returns 0 or KTREAD_E_MEMORY. */
int why_lock_event(struct why_reader *reader, const struct ktread_event *event, const struct wellknown *known,
		   struct why_thread *thread);
/*
 * Records that a thread begins to wait for a lock, or has taken it (see evidence_outer.c). Ignores events
 * that an interrupt handler recorded.
 */
void why_outer_contend(struct why_thread *thread, const struct ktread_event *event, uint64_t lock);
void why_outer_acquire(struct why_thread *thread, const struct ktread_event *event, uint64_t lock);
/*
 * Records that a thread announces a sleep. `newest`: the lock that the thread took last, among the locks that
 * it holds; 0: it holds no lock. `taken`: timestamp at which it took that lock.
 */
void why_outer_block(struct why_thread *thread, const struct ktread_event *event, uint64_t newest,
		     uint64_t taken);
void why_outer_release(struct why_thread *thread, const struct ktread_event *event, uint64_t lock);
/* Forgets the thread's waits, because it was woken or because events were lost. */
void why_outer_forget(struct why_thread *thread);
/* Changes the row of a thread that waits for an outer lock: after the change, the row shows that wait. */
void why_outer_settle(const struct why_evidence *evidence, struct why_thread *thread);

/*
 * Returns the lock that the thread took last, among the locks that it holds. Sets *taken to the timestamp at
 * which the thread took that lock. Returns 0 if the thread holds no lock, or if this is unknown.
 */
uint64_t why_lock_newest(struct why_reader *reader, uint32_t thread, uint64_t *taken);
/*
 * Notes that the thread has ended, with up to WHY_NESTED locks that it still holds. Its number may be used
 * again.
 */
void why_lock_owner_ended(struct why_reader *reader, uint32_t thread);
/*
 * Forgets the locks that the thread holds, if the switch to it comes at a time from which some CPU's events
 * are missing. The thread may have run on that CPU, and released its locks there.
 */
void why_lock_switch(struct why_reader *reader, const struct ktread_event *event,
		     const struct wellknown *known);
/* Forgets all held locks, because the release of any lock may be lost or was not recorded. */
void why_lock_gap(struct why_reader *reader);
/* Stores the facts about a panic, if it is the first one. */
void why_panicked(struct why_evidence *evidence, const struct ktread_event *event,
		  const struct wellknown *known);

/* Returns whether events of this kind were enabled at the time of the current event. */
bool why_records(const struct why_reader *reader, enum wellknown_kind kind);

enum why_origin {
	WHY_BY_THREAD,
	WHY_BY_INTERRUPT,
	/* without sched.switch: the handler has returned to the interrupted thread, or it still runs */
	WHY_BY_EITHER,
};

/*
 * Returns what recorded the event. If the kernel states the interrupted thread as the context of a handler's
 * events, only the handler that is open on the CPU shows it.
 */
enum why_origin why_origin(const struct why_reader *reader, const struct ktread_event *event);

/* Updates cpu->interrupts with an event of the CPU. Call it for events of all kinds. */
void why_interrupt_event(struct why_reader *reader, struct why_cpu *cpu, const struct ktread_event *event,
			 const struct wellknown *known);
enum why_actor_kind {
	WHY_ACTS_THREAD,
	WHY_ACTS_SCHEDULER,
	/* the kernel at the end of an interrupt, or the thread, if it ran kernel code before the interrupt */
	WHY_ACTS_EITHER,
};

/*
 * Returns who took or released the lock, for an event about a lock; WHY_ACTS_THREAD for other events. Must be
 * called for each event, after why_interrupt_event().
 */
enum why_actor_kind why_tail_event(struct why_reader *reader, const struct ktread_event *event,
				   const struct wellknown *known);
/* Clears cpu->interrupts after a gap, because interrupts before and after lost slots cannot be compared. */
void why_interrupt_gap(struct why_reader *reader, struct why_cpu *cpu);

/* Fills evidence->hold with the locks that are held at the end. Returns 0 or KTREAD_E_MEMORY. */
int why_lock_settle(struct why_reader *reader);

/* Counts repeated page faults. Requires: the thread itself recorded the event, not an interrupt handler. */
void why_faults_event(struct why_thread *thread, const struct ktread_event *event,
		      const struct wellknown *known);
/* Counts nested faults. `event` may be any event of the thread, also one of an interrupt handler. */
void why_fault_nests(struct why_thread *thread, const struct ktread_event *event,
		     const struct wellknown *known);
/* Evaluates an event about a sleep or a wakeup. */
void why_wakes_event(struct why_reader *reader, const struct ktread_event *event,
		     const struct wellknown *known);
/*
 * Called for each event, before why_wakes_event(). If the event's CPU recorded nothing for long before this
 * event, stores that period in `unseen`.
 */
void why_unseen_event(struct why_reader *reader, const struct ktread_event *event,
		      const struct wellknown *known);
/*
 * Computes the median length of waits for devices, and the minimum length of a late wait. Must be called
 * after the last event.
 */
void why_wakes_settle(struct why_evidence *evidence);

/* Reads the kernel's state tables. Returns 0 or a negative KTREAD_E_*. */
int why_tables(struct why_reader *reader);
/*
 * Sets the thread's state to "dead" if its row shows that it has ended: the state in the row is unknown, and
 * has a timestamp. Clears the timestamp if events show that the number belongs to a new thread, or that the
 * kernel reports wrong states in sched.switch. So a row with an unknown state and a timestamp is always that
 * of a thread that has ended.
 */
void why_end_row(const struct why_evidence *evidence, struct why_thread *thread);
/*
 * Corrects the row of a thread from the kernel's table if timestamps in it are from before the thread was
 * created: these timestamps belong to a previous thread with the same id. If the row's state is that old, the
 * state and the locks in the row also belong to the previous thread, and are removed. The state "runnable" is
 * not removed, because the timestamp of a wakeup may be too early by a tick.
 */
void why_bound_row(const struct why_evidence *evidence, struct why_thread *thread);
/*
 * Sets the state in the row to "running" if the thread was woken while it ran, and its CPU has not switched
 * since. Such a wakeup changes only the row.
 */
void why_run_row(const struct why_evidence *evidence, struct why_thread *thread);
/* Reads the captured registers and stacks. Returns 0 or KTREAD_E_MEMORY. */
int why_registers(struct why_evidence *evidence);
/* Reads from the host's note how the run of the guest ended. */
void why_note(struct why_evidence *evidence);

#endif
