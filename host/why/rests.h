/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Threads that wait without a timeout: what for, since when, what the trace shows of such waits before, and
 * which threads are stuck behind them. Most of these waits are as they should be: a shell waits for input, a
 * server for requests.
 */
#ifndef WHY_RESTS_H
#define WHY_RESTS_H

#include "why/finding.h"

struct why_rest {
	const struct why_thread *thread;
	const struct why_queue *queue; /* what is known of its wakeups, NULL: nothing */
	uint64_t object;	       /* 0 unknown */
	uint64_t since, pc;	       /* stamp, where; 0 unknown */
	uint8_t kind;		       /* KTRX_WAIT_*; KTRX_WAIT_NONE: that is not told */
	bool told;		       /* by the kernel's table, which names no deadline */
	uint32_t owner; /* of a wait for a lock: who holds it, as struct ktrx_holder names it; 0 nobody … */
	bool held;	/* … by its row or its events; else it did when the wait began */
	uint32_t behind;       /* threads that wait for a lock that it holds … */
	uint64_t behind_ticks; /* … the first of them for so long … */
	uint64_t lock;	       /* … that lock; else one that it holds; 0 none */
	const struct why_thread *first;
};

struct why_rests {
	struct why_rest *rest; /* the longest first */
	uint32_t *of;	       /* by thread of the evidence: its number in `rest` + 1, 0: it does not rest */
	uint32_t count;
};

/* 0 or KTREAD_E_MEMORY. */
int why_rests_find(struct why_rests *rests, const struct why_evidence *evidence);
void why_rests_free(struct why_rests *rests);

/* Ticks from its beginning until something last came from the machine: so long nothing has ended it. */
uint64_t why_rest_ticks(const struct why_evidence *evidence, const struct why_rest *rest);

/*
 * Do the wakeups of a queue come like clockwork: often enough, for long enough, most of them in about the
 * same time after each other? `*usual` is that time, in ticks.
 */
bool why_is_regular(const struct why_evidence *evidence, const struct why_queue *queue, uint64_t *usual);

/* Does the trace show that such a wait ends, after as long a time? */
bool why_rest_is_usual(const struct why_evidence *evidence, const struct why_rest *rest);

/* "thread 8 (printer) has waited 2.31 s on spooler (0x1234), in take_job+0x30 (spooler.c:65)" */
const char *why_say_rest(const struct why_evidence *evidence, const struct why_rest *rest, char *buffer,
			 size_t size);
/* "12 such waits ended before, the longest after 1.20 s" */
const char *why_say_waits_before(const struct why_evidence *evidence, const struct why_rest *rest,
				 char *buffer, size_t size);

#endif
