/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Which threads wait, for what and how long: as the kernel's table of holders says or, where it keeps none, as far as
 * events were seen; what a gap may have hidden is not told.
 */
#ifndef LIVE_WAITS_H
#define LIVE_WAITS_H

#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"
#include "ktrx/v2.h"

#define LIVE_WAITS 8u

struct live_wait {
	uint32_t thread;
	uint8_t kind;	 /* KTRX_WAIT_*, KTRX_WAIT_NONE: not told */
	uint32_t owner;	 /* of a lock, as struct ktrx_holder names it; 0: unknown */
	uint64_t object; /* 0: not told */
	uint64_t ticks;
	char name[32]; /* of the object, not yet escaped; "" unknown */
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
/* Puts a wait where it belongs in a list, those for locks first, then by length; the last falls off its end. */
void live_wait_offer(struct live_wait list[LIVE_WAITS], uint32_t *count, const struct live_wait *wait);

#endif
