/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the tables of the screen contain: threads, locks, interrupts and system calls of a running guest. */
#ifndef LIVE_DETAILS_H
#define LIVE_DETAILS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/keyed.h"
#include "analyze/threads.h"
#include "live/live.h"

#define LIVE_THREADS   4096u /* maximum number of threads in the table */
#define LIVE_LOCKS     1024u
#define LIVE_DURATIONS 512u
#define LIVE_HISTORY   120u /* number of past intervals whose rates are stored */
#define LIVE_TYPES     32u
#define LIVE_SAMPLES   65536u

struct live_thread {
	uint32_t id;
	uint8_t state; /* state of the thread, an enum threads_state */
	uint8_t wait;  /* kind of the thread's wait, KTRX_WAIT_* */
	uint8_t held;  /* number of locks that the thread holds */
	uint32_t cpu;  /* CPU of the thread; KTRX_NO_CPU: unknown */
	/* fraction of one CPU's time that the thread used in the last interval, computed from samples */
	double share;
	uint64_t ticks;	 /* time for which the thread has been in its state */
	uint64_t object; /* object that the thread waits for; 0: unknown */
	uint32_t owner;	 /* holder of `object`, as in struct ktrx_holder */
	char name[32];	 /* name of `object`, not escaped */
};

struct live_lock {
	uint64_t object;
	char name[32]; /* name of the lock, not escaped */
	/* holder of the lock, as in struct ktrx_holder; 0: the lock is free, or its holder is unknown */
	uint32_t holder;
	uint64_t taken; /* timestamp at which the lock was taken */
	uint32_t waiters;
	uint64_t longest; /* length of the longest wait so far, in ticks */
	uint64_t acquires, contends;
	uint64_t acquires_before; /* value of `acquires` at the beginning of the interval */
	double rate;		  /* number of times per second that the lock is taken */
};

/* Durations of a system call or an interrupt since the guest was found. */
struct live_duration {
	uint32_t number;
	char name[32]; /* name of the system call or interrupt, not escaped */
	uint64_t count, count_before, errors;
	double rate;
	uint64_t sum, most; /* sum of the durations, and the longest duration, in ticks */
	uint64_t pairs;	    /* number of durations in `sum` */
	/* number of durations of each size: four steps for each power of two */
	uint32_t size[4 * 64];
};

struct live_durations {
	struct live_duration row[LIVE_DURATIONS];
	uint32_t count;
};

/* A circular buffer of rates: the newest rate is at index (count - 1) % LIVE_HISTORY. */
struct live_history {
	uint16_t id;
	uint64_t count, seen;
	float rate[LIVE_HISTORY];
};

struct live_details {
	struct live_thread thread[LIVE_THREADS];
	uint32_t threads;
	struct live_lock lock[LIVE_LOCKS];
	uint32_t locks;
	struct live_durations calls, interrupts;
	struct live_history rate, type[LIVE_TYPES];
	uint64_t intervals;
	struct keyed open;	       /* system calls, interrupts and waits that have begun and not ended */
	uint32_t sample[LIVE_SAMPLES]; /* threads that the samples of this interval found running */
	/* `samples`: number of entries of `sample`. `rounds`: number of times that samples were taken */
	uint32_t samples, rounds;
};

/* Forgets all data about the guest. */
void live_details_restart(struct live_details *details);
/* Processes an event. Returns 0 or KTREAD_E_MEMORY. */
int live_details_event(struct live_details *details, const struct ktread *trace,
		       const struct ktread_event *event, const struct wellknown *known);
/* Processes a sample of each CPU. */
void live_details_sample(struct live_details *details, const struct live_cpu *cpu, uint32_t cpus);
/* Ends an interval of this length. Returns 0 or an error of the source. */
int live_details_end(struct live_details *details, const struct live_model *model, double seconds);

/*
 * Returns the duration in ticks that `part` percent of all durations do not exceed. The result may be too
 * long by up to 25 %.
 */
uint64_t live_duration_percentile(const struct live_duration *row, unsigned part);
/* Returns the rate `back` intervals ago; 0 if it is not known. */
double live_history_at(const struct live_history *history, uint32_t back);
/* Returns the rates of a type of event; NULL if it was never among the most frequent types. */
const struct live_history *live_details_type(const struct live_details *details, uint16_t id);

#endif
