/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The state of a search for mistakes in the calls of hooks, which mistakes.c and mistakes_locks.c share. */
#ifndef DOCTOR_MISTAKES_STATE_H
#define DOCTOR_MISTAKES_STATE_H

#include "analyze/keyed.h"
#include "analyze/scheduling.h"
#include "doctor/examine.h"

#define MISTAKES_NESTED 16u /* maximum number of nested interrupts that are tracked on a CPU */
#define MISTAKES_CPUS	4096u

#define FOLDS_MAP ((KTRX_EVENT_MAX + 1) / 8)

struct mistakes_cpu {
	uint64_t running; /* id of the thread that runs on the CPU; UINT64_MAX if unknown */
	uint64_t left;	  /* field `prev` of the CPU's last switch; UINT64_MAX if unknown */
	uint64_t irq[MISTAKES_NESTED];
	uint32_t depth;
	uint32_t switched; /* number of records of sched.switch */
	bool settled; /* true if `depth` is certain, because the CPU was outside of interrupts at some time */
	/*
	 * turn[0]: the thread that recorded the newest event since the CPU's last switch; turn[1]: the thread
	 * that recorded events before turn[0]. UINT64_MAX if there was no such thread
	 */
	uint64_t turn[2];
};

/* What has begun more often than it has ended, or the other way round. */
struct mistakes_balance {
	/* indexed by thread and object: `count` is the number of beginnings minus that of ends, never 0 */
	struct keyed open;
	/* true if an entry did not fit: then no more are added, because a new entry may lack earlier ends */
	bool full;
};

struct mistakes_reading {
	struct mistakes *mistakes;
	struct ktread *trace;
	struct mistakes_cpu *cpu;
	/*
	 * The next tables, up to `balance`, contain what events of any CPU have shown. They stay empty while
	 * `blind` is set.
	 */
	/*
	 * indexed by running thread: `cpu` is the thread's CPU; `count` is the timestamp since which the
	 * thread also runs on a second CPU, or 0
	 */
	struct keyed running;
	struct keyed made;  /* indexed by thread: threads that were created and have not ended */
	struct keyed locks; /* indexed by lock: held locks; `count` is the owner */
	/*
	 * indexed by thread: threads that wait for a lock. `count` is the lock. `cpu` is the CPU on which the
	 * wait began, and `thread` is what its member `switched` was then
	 */
	struct keyed waits;
	struct mistakes_balance balance[MISTAKES]; /* see mistakes_balance() */
	/*
	 * indexed by thread: threads that made system calls; `stamp` is the timestamp of the newest entry or
	 * exit, `cpu` is its CPU
	 */
	struct keyed syscalls;
	/*
	 * indexed by owner of locks: `cpu` is the CPU of the owner's first event of a lock. `count` is the
	 * number of times when the owner contended two locks in turn on that CPU, minus the number of times
	 * when it acquired a lock, or gave up, on another CPU
	 */
	struct keyed stays;
	/*
	 * indexed by interrupt and 0 or 1: `count` is the number of its entries (0), or of those at which it
	 * had not ended before (1)
	 */
	struct keyed irqs;
	uint64_t stayed; /* see stay() in mistakes_locks.c */
	struct switch_states *states;
	struct wellknown_table known;
	struct gaps *gaps;
	/* limit in ticks: it is a mistake if a thread seems to run on two CPUs for more time than this */
	uint64_t ticks;
	uint64_t late; /* maximum number of ticks by which a row of the table may be older than an event */
	uint64_t seen; /* timestamp of the newest event so far */
	bool whole;    /* true if no slot has been lost so far */
	bool blind;    /* true while slots of any CPU are missing */
	uint8_t folds[FOLDS_MAP]; /* bit map of the ids of events that fold */
	int error;
};

/* Counts an occurrence of a mistake. */
void mistakes_note(struct mistakes_reading *r, enum mistake mistake, const struct ktread_event *event,
		   uint64_t value);
/* Returns the entry of a key of one word; NULL if there is none. */
struct keyed_entry *mistakes_find(const struct keyed *table, uint64_t value);
/*
 * Finds or adds an entry. Returns NULL while slots are missing, and if the limit of the table is reached.
 * Also returns NULL if out of memory, and then sets r->error.
 */
struct keyed_entry *mistakes_put(struct mistakes_reading *r, struct keyed *table, uint64_t value);
void mistakes_drop(struct keyed *table, uint64_t value);

/*
 * Counts the certain occurrences of a mistake of this form: a thread begins something again although it has
 * not ended. Counting them needs no order of events on different CPUs, because it compares the number of
 * beginnings with the number of ends. `begins`: true at a beginning, false at an end. `thread` and `object`
 * identify what begins. Returns whether this event is such an occurrence in the order of the trace; changes
 * the number of certain occurrences, `sure`.
 */
bool mistakes_balance(struct mistakes_reading *r, enum mistake mistake, uint64_t thread, uint64_t object,
		      bool begins);
/* Forgets what a thread has begun. Requires: its object is 0. */
void mistakes_balance_forget(struct mistakes_reading *r, enum mistake mistake, uint64_t thread);

/* Processes an event of a kind WELLKNOWN_LOCK_CONTEND to WELLKNOWN_LOCK_FAIL. */
void mistakes_take_lock(struct mistakes_reading *r, const struct ktread_event *event,
			const struct wellknown *known);
/* Processes an event of a kind WELLKNOWN_IRQ_ENTER or WELLKNOWN_IRQ_EXIT. */
void mistakes_take_irq(struct mistakes_reading *r, const struct ktread_event *event,
		       const struct wellknown *known);

#endif
