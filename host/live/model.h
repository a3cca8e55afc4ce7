/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * All that is shown of a running guest, put together from events, from what its CPUs say of themselves many
 * times an interval, and from the account of slots. Its size does not grow with what is followed.
 */
#ifndef LIVE_MODEL_H
#define LIVE_MODEL_H

#include <signal.h>

#include "live/cpus.h"
#include "live/tail.h"
#include "live/source.h"

struct live_model {
	const struct live_source *source;
	bool running;	      /* there is a guest; its trace may be asked */
	uint64_t boots, ends; /* seen so far */
	uint64_t opened;      /* ns */
	uint64_t began;	      /* ns: of the interval in progress */
	uint64_t warm;	      /* ns: until then what comes was recorded before it was looked at */
	bool based;	      /* `base` is set since the guest was found */
	struct ktread_follow_account base, before, now;
	struct live_cpu *cpu;
	uint32_t cpus;
	struct ktrx_cpu *row;
	struct live_rates *rates;
	struct live_waits *waits;
	struct wellknown_table known;
	const struct ktread *known_trace;
	struct live_tail tail;
	/* Of the interval that ended last. */
	double seconds; /* since it was opened */
	double rate, slots;
	double cost; /* part of the CPUs' time; negative: unknown */
	struct live_top top[LIVE_TOP];
	struct live_wait wait[LIVE_WAITS];
	uint32_t wait_count;
};

/* 0 or KTREAD_E_MEMORY. */
int live_model_open(struct live_model *model, const struct live_source *source);
void live_model_close(struct live_model *model);
/* 0 or an error. */
int live_model_take(struct live_model *model, const struct ktread_followed *now);

/* The trace for names; NULL: there is none now. */
struct ktread *live_model_trace(const struct live_model *model);
/* Slots since the first guest was found. */
uint64_t live_model_lost(const struct live_model *model);
uint64_t live_model_unreadable(const struct live_model *model);
uint64_t live_model_skipped(const struct live_model *model);

/*
 * Follows a source, and lets a view show the model once an interval, until it has had enough or a signal
 * comes.
 */

struct live_view {
	void *context;
	/* Shows what the interval brought. 0: go on, 1: enough. */
	int (*show)(void *context, struct live_model *model);
	/* Many times an interval: keys. 0: go on, 1: enough, 2: show anew. NULL: there are none. */
	int (*attend)(void *context, struct live_model *model);
};

struct live_watch {
	const struct live_source *source;
	uint64_t interval;	     /* ns */
	uint64_t count;		     /* intervals, 0: no end */
	volatile sig_atomic_t *stop; /* becomes not 0 */
};

/* `model` is open. 0, or an error of the source or KTREAD_E_MEMORY. */
int live_watch(const struct live_watch *watch, struct live_model *model, const struct live_view *view);

#endif
