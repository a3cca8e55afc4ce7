/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Follows a source, and lets a view show the model once an interval, until it has had enough or a signal comes. */
#ifndef LIVE_WATCH_H
#define LIVE_WATCH_H

#include <signal.h>

#include "live/model.h"

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
