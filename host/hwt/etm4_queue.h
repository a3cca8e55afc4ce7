/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Steps between a library that pushes and a caller who pulls. Some are only complete when the next one is known: where trace
 * begins, or an exception leads to, is the address of the next run; whether a run ends in a system call, the exception behind
 * it says. So the newest stay open until something closes them.
 */
#ifndef HWT_ETM4_QUEUE_H
#define HWT_ETM4_QUEUE_H

#include <stdbool.h>

#include "hwt/hwt.h"

#define ETM4_QUEUE_ROOM 256u /* a power of two */
/* What one element of the library becomes, at most. */
#define ETM4_QUEUE_SPARE 8u

struct etm4_queue {
	struct hwt_step step[ETM4_QUEUE_ROOM];
	uint32_t head, tail; /* counted on; step n is at n % ETM4_QUEUE_ROOM */
	uint32_t open;	     /* from here to the tail: not yet to be taken */
};

/* No room for what one more element may become: the library must wait. */
bool etm4_queue_full(const struct etm4_queue *queue);
/* Behind the last, as it is in `step`; there is room. */
void etm4_queue_put(struct etm4_queue *queue, const struct hwt_step *step);
/* Code at this address comes next: where ON, RUN and ASYNC lead. */
void etm4_queue_arrive(struct etm4_queue *queue, uint64_t address);
/* The run that ends right before this address was a system call: true if there is one. */
bool etm4_queue_call(struct etm4_queue *queue, uint64_t behind);
/* Nothing will be added to what is there. */
void etm4_queue_settle(struct etm4_queue *queue);
/* Is the newest step of that kind? */
bool etm4_queue_ends_in(const struct etm4_queue *queue, enum hwt_kind kind);
/* False: nothing is complete. */
bool etm4_queue_take(struct etm4_queue *queue, struct hwt_step *step);

#endif
