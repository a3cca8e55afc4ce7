/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Which threads wait, for what and how long, as far as their events were seen; what a gap may have hidden is not told. */
#ifndef LIVE_WAITS_H
#define LIVE_WAITS_H

#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"

#define LIVE_WAITS 8u

struct live_wait {
	uint32_t thread;
	uint64_t object; /* 0: not told */
	uint64_t ticks;
};

struct live_waits;

struct live_waits *live_waits_open(void); /* NULL: without memory */
void live_waits_close(struct live_waits *waits);
/* 0 or KTREAD_E_MEMORY. */
int live_waits_restart(struct live_waits *waits);
int live_waits_event(struct live_waits *waits, const struct ktread_event *event,
		     const struct wellknown *known);
/* The longest first. How many. */
uint32_t live_waits_list(const struct live_waits *waits, struct live_wait list[LIVE_WAITS]);

#endif
