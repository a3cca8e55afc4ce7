/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What a CPU does with its time. Many times an interval it is asked for its mode; events tell how much of its time
 * went to interrupts, which are too short to be met by asking, and the mode where the kernel does not tell it.
 *
 * Invariant: the shares of an interval add up to 1, or are all 0 where the CPU was never met.
 */
#ifndef LIVE_CPUS_H
#define LIVE_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

enum live_share {
	LIVE_USER,
	LIVE_KERNEL,
	LIVE_IRQ,
	LIVE_IDLE,
	LIVE_STUCK, /* at work without a heartbeat */
	LIVE_UNKNOWN,
	LIVE_SHARES,
};

#define LIVE_STUCK_NS UINT64_C(1000000000) /* without a heartbeat, of a CPU that does not idle */

struct live_cpu {
	bool online;
	bool met; /* it has been asked before */
	enum live_share now;
	uint32_t thread;
	uint64_t pc; /* where its last heartbeat met it */
	uint64_t heartbeats;
	uint64_t hook; /* stamp of its last hook */
	uint64_t beat; /* ns: when it last got on, or idled */
	double stuck;  /* seconds since, if it is stuck */
	uint64_t lock; /* it, or its thread, waits for this one, spinning or not; valid if … */
	bool waits;
	char lock_name[32];	   /* not yet escaped; "" unknown */
	uint32_t owner;		   /* of the lock, as struct ktrx_holder names it; 0 unknown */
	double share[LIVE_SHARES]; /* of the interval that ended last */
	/* Of the interval in progress. */
	uint32_t sample[LIVE_SHARES];
	uint32_t nested;	  /* samples in an interrupt, as the row says */
	uint64_t covered, in_irq; /* ticks that events tell of */
	/* Of the last event. */
	uint64_t stamp;
	bool follows;	      /* nothing is lost since */
	bool irq;	      /* it left the CPU in an interrupt */
	enum live_share told; /* the mode that events say */
	uint32_t told_thread;
};

/* `beats`: some CPU of the guest has had a heartbeat, so that one at work that never had any is stuck, too. */
void live_cpu_sample(struct live_cpu *cpu, const struct ktrx_cpu *row, bool beats, uint64_t now);
/* Each event of the CPU. `idle`: its thread is one that idles, or, of a switch, the one that runs next is. */
void live_cpu_event(struct live_cpu *cpu, const struct ktread_event *event, const struct wellknown *known,
		    bool idle);
/* Ends the interval. */
void live_cpu_close(struct live_cpu *cpu);

const char *live_share_name(enum live_share share);

#endif
