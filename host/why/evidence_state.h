/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Inside of evidence*.c: what is kept while a trace is read. */
#ifndef WHY_EVIDENCE_STATE_H
#define WHY_EVIDENCE_STATE_H

#include "analyze/threads.h"
#include "analyze/wellknown.h"
#include "why/evidence.h"

#define WHY_IRQ_NESTED 8u /* interrupts in each other */
#define WHY_NESTED     8u /* locks in each other that order is learned from */

/* How far a thread has been told, what it holds, and what tells one of its system calls from the next. */
struct why_progress {
	uint64_t told;	    /* events */
	uint64_t arguments; /* a hash of the call that is under way */
	uint64_t entered;
	uint64_t last_number, last_arguments;
	uint64_t last_result;
	uint64_t held[WHY_NESTED]; /* locks */
	uint32_t held_count;
	uint64_t gaps; /* as many had been seen when this was noted: later ones void it */
};

/* What is under way on a CPU, for struct why_interrupts. */
struct why_irqs_open {
	struct {
		uint32_t number;
		bool over;
	} nest[WHY_IRQ_NESTED];
	uint32_t depth;
	bool inside;	       /* a handler, until something shows that it has been left */
	uint64_t left;	       /* the outermost handler was, then; 0: not known */
	bool early;	       /* one was ended that has not been entered yet … */
	uint32_t early_number; /* … this one */
	uint64_t from;	       /* no interrupt has come since then, and one thread alone ran; 0: not known */
	uint64_t last_event;   /* since then */
	uint64_t unseen, events;
	uint64_t others; /* interrupts of all CPUs, at that time */
	uint32_t thread; /* which, UINT32_MAX until it is known */
	uint64_t seen;	 /* the CPU's newest event, 0: not known */
	uint64_t sum;	 /* scratch of evidence_wakes.c */
};

#define WHY_UNSEEN 256u

/* A stretch of time, longer than any timer's tick, in which a CPU recorded nothing. */
struct why_unseen {
	uint64_t from, to;
	uint32_t cpu, thread; /* that ran there when it was over */
};

#define WHY_SLEPT 128u

/* A wait for a time that ended, of a thread for which so much was usual. */
struct why_slept {
	uint64_t begin, end, usual;
};

struct why_reader {
	struct why_evidence *evidence;
	struct threads *model;
	struct wellknown_table *known;
	struct why_progress *progress;	      /* beside evidence->thread */
	uint64_t *told;			      /* events told, by CPU */
	struct why_irqs_open *open;	      /* by CPU */
	uint64_t irqs;			      /* interrupts entered, all CPUs */
	uint64_t time;			      /* of the event at hand as threads.h wants it … */
	uint64_t stamp;			      /* … and as it is */
	uint64_t gaps;			      /* seen so far … */
	uint64_t gap_stamp;		      /* … the newest of them */
	struct keyed holds;		      /* by lock: `count` is the place */
	struct keyed orders;		      /* by both locks: `count` is the index into evidence->order */
	struct why_slept slept[WHY_SLEPT];    /* the newest waits for a time that ended … */
	uint64_t sleeps;		      /* … of so many */
	struct why_unseen unseen[WHY_UNSEEN]; /* the newest … */
	uint64_t unseens;		      /* … of so many */
	int error;			      /* of a callback */
};

/* Where in its table of the evidence something lies, by what it is of. */
#define WHY_KEY_THREAD 1u
#define WHY_KEY_OBJECT 2u
#define WHY_KEY_QUEUE  3u
#define WHY_KEY_SLEEP  4u /* a thread's own queue */
bool why_index_find(const struct keyed *index, uint64_t kind, uint64_t value, uint32_t *at);
int why_index_put(struct keyed *index, uint64_t kind, uint64_t value, uint32_t at); /* 0 or KTREAD_E_MEMORY */

/*
 * The array with room for one more than the `count` that it has, moved if need be: it doubles whenever that
 * is a power of two. NULL without memory; then it is as it was.
 */
void *why_one_more(void *array, uint32_t count, size_t size);

/* The thread, a new one if need be; NULL past the limit or without memory, which reader->error tells. */
struct why_thread *why_thread_touch(struct why_reader *reader, uint32_t id);
/*
 * What was noted of a thread before a gap, on whichever CPU, does not count: how often in a row, and what it
 * holds.
 */
void why_thread_void_old(struct why_reader *reader, uint32_t index);
/* Notes the name of an object; an empty one changes nothing. 0 or KTREAD_E_MEMORY. */
int why_object_touch(struct why_evidence *evidence, uint64_t address, const char *name, size_t length);

/*
 * First way through the trace: how far it reaches, how much there is of each CPU and thread, what is missing.
 */
int why_survey(struct why_reader *reader);
/* That recording was stopped before the end, once evidence->end is known. */
void why_survey_stop(struct why_evidence *evidence);
/* Rings whose ends the file lacks, once evidence->end is known. */
void why_survey_cut(struct why_evidence *evidence);
/* Second way: what happened. */
int why_tell(struct why_reader *reader);

/* An event about a lock, and the loss of any. 0 or KTREAD_E_MEMORY. */
int why_lock_event(struct why_reader *reader, const struct ktread_event *event, const struct wellknown *known,
		   struct why_thread *thread);
void why_lock_gap(struct why_reader *reader);
/* lock.fail, lock.acquire, ktrace.panic. */
void why_lock_failed(struct why_thread *thread, const struct ktread_event *event,
		     const struct wellknown *known);
/* One that is had was not tried in vain. */
void why_lock_had(struct why_thread *thread, const struct ktread_event *event, const struct wellknown *known);
void why_panicked(struct why_evidence *evidence, const struct ktread_event *event,
		  const struct wellknown *known);

/* Whether events of this kind are recorded at the time of the event at hand. */
bool why_records(const struct why_reader *reader, enum wellknown_kind kind);

/* Any event of a CPU, and the loss of some. */
void why_interrupt_event(struct why_reader *reader, struct why_cpu *cpu, const struct ktread_event *event,
			 const struct wellknown *known);
void why_interrupt_gap(struct why_reader *reader, struct why_cpu *cpu);

/* What is held at the end. */
int why_lock_settle(struct why_reader *reader);

/*
 * An event of a thread, about page faults or what comes between two of them; and any, about sleeping and
 * waking.
 */
void why_faults_event(struct why_thread *thread, const struct ktread_event *event,
		      const struct wellknown *known);
void why_fault_nests(struct why_thread *thread, const struct ktread_event *event,
		     const struct wellknown *known); /* in interrupts as well */
void why_wakes_event(struct why_reader *reader, const struct ktread_event *event,
		     const struct wellknown *known);
void why_unseen_event(struct why_reader *reader,
		      const struct ktread_event *event); /* each, before what it means */
void why_wakes_settle(struct why_evidence *evidence);	 /* at the end */

/* The state tables, the registers and the note. */
int why_tables(struct why_reader *reader);
int why_registers(struct why_evidence *evidence); /* 0 or KTREAD_E_MEMORY */
/* Ticks that nothing came from the machine before it was captured, as far as the host says. */
uint64_t why_silent_ticks(const struct why_evidence *evidence);
void why_note(struct why_evidence *evidence);

#endif
