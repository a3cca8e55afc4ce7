/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What CPUs do with their time, which locks threads hold, and what they wait for. */
#ifndef LIVE_CPUS_H
#define LIVE_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"
#include "live/source.h"

/*
 * What a CPU does with its time. Many times an interval it is asked for its mode; events tell how much of its
 * time went to interrupts, which are too short to be met by asking, and the mode where the kernel does not
 * tell it.
 *
 * Invariant: the shares of an interval add up to 1, or are all 0 where the CPU was never met.
 */

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

/*
 * `beats`: some CPU of the guest has had a heartbeat, so that one at work that never had any is stuck, too.
 */
void live_cpu_sample(struct live_cpu *cpu, const struct ktrx_cpu *row, bool beats, uint64_t now);
/* Each event of the CPU. `idle`: its thread is one that idles, or, of a switch, the one that runs next is. */
void live_cpu_event(struct live_cpu *cpu, const struct ktread_event *event, const struct wellknown *known,
		    bool idle);
/* Ends the interval. */
void live_cpu_close(struct live_cpu *cpu);

const char *live_share_name(enum live_share share);

/* What the kernel's table of holders says of threads that wait, and of CPUs that wait for locks. */

struct live_holders {
	uint64_t now; /* stamp: the newest that a CPU knows */
	struct live_cpu *cpu;
	uint32_t cpus;
	struct live_wait *wait; /* LIVE_WAITS of them */
	uint32_t wait_count;
	bool told; /* there is such a table */
};

/* Reads the table: `now`, `cpu`, `cpus` and `wait` are given. 0 or an error of the source. */
int live_holders_read(struct live_holders *holders, const struct live_source *source);

/* "inode (0x1234) of CPU 1": of an object that is waited for, harmless. `trace` may be NULL. */
void live_object_text(const struct ktread *trace, uint64_t object, const char *name, uint32_t owner,
		      char *text, size_t size);
/* "for lock", "for the end of", …; "on" where it is not told. */
const char *live_wait_word(uint8_t kind);

/*
 * Which threads wait, for what and how long: as the kernel's table of holders says or, where it keeps none,
 * as far as events were seen; what a gap may have hidden is not told.
 */

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

#endif
