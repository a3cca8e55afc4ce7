/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Bounds of a CPU's offset to CPU 0's clock, from stamps that one CPU left in memory and the other one read
 * later.
 *
 * CPU 0 read its clock before its stamp was seen here, so CPU 0's clock shows at least that stamp: a lower
 * bound. This CPU's stamp that CPU 0 has seen gives an upper bound in the same way. Neither needs both CPUs
 * to run at the same time. The later a stamp is seen, the looser the bound, but never wrong. Of each side the
 * tightest one is kept; with age it loosens by as much as clocks may drift.
 */
#ifndef KTRACE_CORE_CLOCK_H
#define KTRACE_CORE_CLOCK_H

#include "state.h"

/* What the offset was at least or at most when this CPU's clock showed `stamp`. */
struct ktrace_clock_bound {
	uint64_t stamp;
	int64_t offset;
};

/* What a CPU keeps for its clock: the first line is written by that CPU, the second one by CPU 0. */
struct ktrace_clock_line {
	uint64_t stamp __attribute__((__aligned__(64))); /* of this CPU, for the others to see */
	uint32_t forgotten;				 /* how often all bounds were given up */
	uint8_t wanted;					 /* CPU 0 is to look at this CPU's stamps */
	uint8_t has_lower, has_upper;
	uint8_t answered; /* round trips with CPU 0 succeeded once */
	struct ktrace_clock_bound lower, upper;
	/* Upper bound that CPU 0 found; `error` holds what `forgotten` was. */
	struct ktrx_clock_sample seen __attribute__((__aligned__(64)));
};

/* The clock, not read before what precedes it nor after what follows it. */
KTRACE_INLINE uint64_t ktrace_clock_between(void)
{
	uint64_t stamp;

	ktrace_arch_clock_fence();
	stamp = ktrace_arch_clock();
	ktrace_arch_clock_fence();
	return stamp;
}

/* Leaves this CPU's clock in its line. */
KTRACE_INLINE void ktrace_clock_show(struct ktrace_clock_line *line)
{
	ktrace_arch_publish(&line->stamp, ktrace_clock_between());
}

/* Writes a sample so that readers can tell by its check that it is whole. */
KTRACE_HIDDEN void ktrace_clock_write(struct ktrx_clock_sample *at, const struct ktrx_clock_sample *sample);

/* Takes a bound in if it is the tightest by then. Stamps never decrease from call to call. */
KTRACE_HIDDEN void ktrace_clock_at_least(struct ktrace_clock_line *line, uint64_t stamp, int64_t offset);
KTRACE_HIDDEN void ktrace_clock_at_most(struct ktrace_clock_line *line, uint64_t stamp, int64_t offset);

/*
 * Takes in the newest stamp of CPU 0, whose line and row are the other two. Only the CPU that owns `line`
 * calls this.
 */
KTRACE_HIDDEN void ktrace_clock_look(struct ktrace_clock_line *line, const struct ktrace_clock_line *first,
				     const volatile struct ktrx_cpu *row);

/* Of CPU 0: looks at the newest stamp of the CPU with this line and this row. */
KTRACE_HIDDEN void ktrace_clock_look_from_first(struct ktrace_clock_line *line,
						const volatile struct ktrx_cpu *row);

/*
 * Gives the offset now, with its error. Only the CPU that owns `line` calls this. Returns 0 while one side
 * has no bound, or if bounds contradict each other: then a clock was set, and all bounds are forgotten.
 */
KTRACE_HIDDEN int ktrace_clock_estimate(struct ktrace_clock_line *line, struct ktrx_clock_sample *sample);

/* How far two clocks may drift apart in so many ticks. */
KTRACE_HIDDEN int64_t ktrace_clock_drift(uint64_t from, uint64_t to);

/* The clocks' side of ktrace_init() and of each CPU's tick. */

/*
 * Where measurements go, a row a CPU each, in lent memory; NULL: nowhere. `once`: also without being asked.
 */
struct ktrace_clock_rows {
	struct ktrx_clock *clock;
	int64_t *offset;
	struct ktrace_clock_line *line;
	uint32_t once;
};

/* Rows are zero; called before the first CPU is online. */
KTRACE_HIDDEN void ktrace_clock_open(const struct ktrace_clock_rows *rows, void (*request)(uint32_t cpu));

/* From the heartbeat of an online CPU, with how many it had: measures if it is time to. */
KTRACE_HIDDEN void ktrace_clock_beat(uint32_t cpu, uint64_t heartbeats);

#endif
