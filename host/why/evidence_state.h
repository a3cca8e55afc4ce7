/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Private to evidence*.c: state that is kept while a trace is read. */
#ifndef WHY_EVIDENCE_STATE_H
#define WHY_EVIDENCE_STATE_H

#include "analyze/threads.h"
#include "analyze/wellknown.h"
#include "why/evidence.h"

#define WHY_IRQ_NESTED 8u /* nested interrupts that are tracked */
#define WHY_NESTED     8u /* locks of a thread, held at once, whose order is tracked */

/* Reading state of a thread, beside struct why_thread. */
struct why_progress {
	uint64_t events;		      /* events of the thread so far */
	uint64_t arguments;		      /* hash of the arguments of the system call in progress */
	uint64_t entered;		      /* when that call was entered */
	uint64_t last_number, last_arguments; /* the previous system call */
	uint64_t last_result;
	uint64_t held[WHY_NESTED]; /* locks that the thread holds */
	uint32_t held_count;
	uint64_t gaps; /* `why_reader.gaps` when this was updated: it is invalid after a later gap */
};

/* Reading state of a CPU, for struct why_interrupts. */
struct why_irqs_open {
	struct {
		uint32_t number;
		bool over;
	} nest[WHY_IRQ_NESTED];
	uint32_t depth;
	bool inside;	       /* a handler runs, until an event shows that it has returned */
	uint64_t left;	       /* when the outermost handler returned; 0: not known */
	bool early;	       /* an interrupt was ended that has not been entered yet */
	uint32_t early_number; /* its number */
	/* the current period without an interrupt in which a single thread runs; see struct why_quiet */
	uint64_t from;	     /* when it began; 0: not known */
	uint64_t last_event; /* stamp of its newest event */
	uint64_t unseen, events;
	uint64_t others; /* interrupts of all CPUs when it began */
	uint32_t thread; /* UINT32_MAX until it is known */
	/* for evidence_wakes.c */
	uint64_t seen; /* stamp of the CPU's newest event, 0: not known */
	uint64_t sum;  /* scratch */
};

#define WHY_UNSEEN 256u

/* A period, longer than a timer tick, in which a CPU recorded nothing. */
struct why_unseen {
	uint64_t from, to;
	uint32_t cpu, thread; /* thread of the event that ended it */
};

#define WHY_SLEPT 128u

/* A timed sleep that ended. `usual`: the ticks that this thread's timed sleeps took before. */
struct why_slept {
	uint64_t begin, end, usual;
};

struct why_reader {
	struct why_evidence *evidence;
	struct threads *model;
	struct wellknown_table *known;
	struct why_progress *progress; /* beside evidence->thread */
	uint64_t *events;	       /* events so far, by CPU */
	struct why_irqs_open *open;    /* by CPU */
	uint64_t irqs;		       /* interrupts entered on all CPUs */
	uint64_t time;		       /* time of the current event for threads.h: it always increases */
	uint64_t stamp;		       /* stamp of the current event */
	uint64_t gaps;		       /* number of gaps so far */
	uint64_t gap_stamp;	       /* stamp of the first event after the newest gap */
	struct keyed holds;	       /* held locks, keyed by lock; `count` is the place */
	struct keyed orders;	       /* keyed by both locks; `count` is the index into evidence->order */
	struct why_slept slept[WHY_SLEPT];    /* timed sleep n is at n modulo WHY_SLEPT */
	uint64_t sleeps;		      /* number of timed sleeps so far */
	struct why_unseen unseen[WHY_UNSEEN]; /* period n is at n modulo WHY_UNSEEN */
	uint64_t unseens;		      /* number of periods so far */
	int error;			      /* of a callback */
};

/* The index maps a kind and a value to a position in the table of that kind in the evidence. */
#define WHY_KEY_THREAD 1u
#define WHY_KEY_OBJECT 2u
#define WHY_KEY_QUEUE  3u
#define WHY_KEY_SLEEP  4u /* a thread's own queue, by the thread's id */
bool why_index_find(const struct keyed *index, uint64_t kind, uint64_t value, uint32_t *at);
int why_index_put(struct keyed *index, uint64_t kind, uint64_t value, uint32_t at); /* 0 or KTREAD_E_MEMORY */

/*
 * Makes room for one more element in an array of `count` elements. Doubles the array when `count` is a power
 * of two. Returns the array, which may have moved, or NULL without memory; then the old array is unchanged.
 */
void *why_one_more(void *array, uint32_t count, size_t size);

/* Finds or adds a thread. Returns NULL beyond the limit, or without memory; then reader->error is set. */
struct why_thread *why_thread_touch(struct why_reader *reader, uint32_t id);
/*
 * Clears the held locks and the counts of repeated actions of a thread if a gap came on any CPU since the
 * last call.
 */
void why_thread_void_old(struct why_reader *reader, uint32_t index);
/* Notes the name of an object; an empty one changes nothing. 0 or KTREAD_E_MEMORY. */
int why_object_touch(struct why_evidence *evidence, uint64_t address, const char *name, size_t length);

/*
 * First pass through the trace: finds the first and last stamps, counts the events of each CPU and thread,
 * and notes what is missing. Returns 0 or a negative KTREAD_E_*.
 */
int why_survey(struct why_reader *reader);
/* Notes a gap if recording was stopped before the end. Requires: evidence->end is set. */
void why_survey_stop(struct why_evidence *evidence);
/* Notes a gap for each ring whose end is missing in the file. Requires: evidence->end is set. */
void why_survey_cut(struct why_evidence *evidence);
/* Second pass: evaluates the events. Returns 0 or a negative KTREAD_E_*. */
int why_evaluate(struct why_reader *reader);

/* Evaluates an event about a lock. Returns 0 or KTREAD_E_MEMORY. */
int why_lock_event(struct why_reader *reader, const struct ktread_event *event, const struct wellknown *known,
		   struct why_thread *thread);
/* Forgets all held locks: a release may be lost, or was not recorded. */
void why_lock_gap(struct why_reader *reader);
/* Counts a failed try (lock.fail). */
void why_lock_failed(struct why_thread *thread, const struct ktread_event *event,
		     const struct wellknown *known);
/* Ends the count of failed tries for a lock when the thread gets it (lock.acquire). */
void why_lock_had(struct why_thread *thread, const struct ktread_event *event, const struct wellknown *known);
/* Notes the first panic. */
void why_panicked(struct why_evidence *evidence, const struct ktread_event *event,
		  const struct wellknown *known);

/* Returns whether events of this kind were switched on at the time of the current event. */
bool why_records(const struct why_reader *reader, enum wellknown_kind kind);

/* Updates cpu->interrupts with an event of the CPU, of any kind. */
void why_interrupt_event(struct why_reader *reader, struct why_cpu *cpu, const struct ktread_event *event,
			 const struct wellknown *known);
/* Clears cpu->interrupts: nothing is concluded across lost slots. */
void why_interrupt_gap(struct why_reader *reader, struct why_cpu *cpu);

/* Fills evidence->hold with the locks that are held at the end. Returns 0 or KTREAD_E_MEMORY. */
int why_lock_settle(struct why_reader *reader);

/* Counts repeated page faults. `event`: recorded by the thread itself, not by an interrupt. */
void why_faults_event(struct why_thread *thread, const struct ktread_event *event,
		      const struct wellknown *known);
/* Counts nested faults. `event`: any event of the thread, also in interrupts. */
void why_fault_nests(struct why_thread *thread, const struct ktread_event *event,
		     const struct wellknown *known);
/* Evaluates an event about sleep and wakeups. */
void why_wakes_event(struct why_reader *reader, const struct ktread_event *event,
		     const struct wellknown *known);
/* Notes periods in which a CPU recorded nothing. Call it for each event, before why_wakes_event(). */
void why_unseen_event(struct why_reader *reader, const struct ktread_event *event);
/* Sums up the waits for devices. Call it after the last event. */
void why_wakes_settle(struct why_evidence *evidence);

/* Reads the kernel's state tables. Returns 0 or a negative KTREAD_E_*. */
int why_tables(struct why_reader *reader);
/* Reads the captured registers and stacks. Returns 0 or KTREAD_E_MEMORY. */
int why_registers(struct why_evidence *evidence);
/*
 * Returns the ticks before the capture in which nothing came from the machine, from the host's note; 0
 * unknown.
 */
uint64_t why_silent_ticks(const struct why_evidence *evidence);
/* Reads the host's note: how the run ended. */
void why_note(struct why_evidence *evidence);

#endif
