/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What align.c is made of: bounds between clocks, pairs of cause and effect, first estimates, and drift. */
#ifndef ANALYZE_ALIGN_H
#define ANALYZE_ALIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"

/*
 * Clocks of several CPUs, bounded against each other by causes and effects: of each pair of CPUs the smallest
 * times from a cause on one to its effect on the other are kept. Solved, they say by how much each clock is
 * to be set forward so that every effect comes after its cause, with as much room as all of them leave.
 */

#define BOUNDS_KEPT 4u

struct bounds {
	uint32_t cpus;
	int64_t (*least)[BOUNDS_KEPT]; /* [from * cpus + to], ascending; BOUNDS_NONE behind the last */
	int64_t *behind, *ahead;       /* by CPU: limits of forward[cpu]; BOUNDS_NONE: none */
	uint32_t *through;	       /* to work with */
	uint64_t pairs;
};
#define BOUNDS_NONE INT64_MAX

/* 0 or KTREAD_E_MEMORY. */
int bounds_init(struct bounds *bounds, uint32_t cpus);
void bounds_free(struct bounds *bounds);
void bounds_clear(struct bounds *bounds);
void bounds_add(struct bounds *bounds, uint32_t from, uint32_t to, int64_t ticks);
/*
 * Limits a CPU's solution: -behind <= forward[cpu] - forward[0] <= ahead. Requires both to be 0 or more.
 * Limits are never given up. bounds_clear() removes them.
 */
void bounds_limit(struct bounds *bounds, uint32_t cpu, int64_t behind, int64_t ahead);
/* Adds the pairs of `other`, but not its limits. */
void bounds_merge(struct bounds *bounds, const struct bounds *other);

/*
 * Computes forward[cpu] in ticks: 0 for CPU 0, BOUNDS_NONE for a CPU that nothing ties to the others. Bounds
 * contradict each other if a circle of causes adds up to less than 0 ticks or exceeds limits; such bounds are
 * given up until none is left. Returns how many were. `room`: ticks to leave between a cause and its effect,
 * at most.
 */
uint64_t bounds_solve(struct bounds *bounds, int64_t room, int64_t *forward);

/*
 * Causes on one CPU and their effects on another: a wakeup and the switch to that thread, a switch away from
 * a thread and the next one to it, an interrupt sent to a CPU and its arrival, a packet sent and received.
 *
 * Clocks need not be in step: an effect is paired with a cause that comes up to `slack` ticks later. If an
 * effect may have either of two causes, no pair is made.
 */

struct causes_pair {
	uint32_t from, to;	/* CPUs, never the same */
	uint64_t cause, effect; /* stamps; effect < cause: the clocks are wrong */
};
#define CAUSES_PAIRS 12u /* at most, of one event */

struct causes;

/*
 * How to go on after an effect that no cause came before. In turn: it is paired with the next cause, the next
 * effect with the cause after that, and so on. This finds clocks that differ by more than the time between
 * effects; but if one cause has no hook, all later causes seem late. Nearest: a cause between two effects is
 * paired with the much nearer one, or with none.
 */
enum causes_way { CAUSES_IN_TURN, CAUSES_NEAREST, CAUSES_WAYS };

/* NULL without memory. */
struct causes *causes_create(enum causes_way way, uint64_t slack);
void causes_destroy(struct causes *causes);

/* Takes the next event, in order of stamps. Returns how many pairs it completes. */
uint32_t causes_event(struct causes *causes, const struct ktread_event *event, const struct wellknown *known,
		      struct causes_pair pair[CAUSES_PAIRS]);

/*
 * Counts of pairs. Zero-initialised is ready for use. `beyond`: effects that come early by more than the
 * stated errors of the two clocks (order_error_at()).
 */
struct causes_count {
	uint64_t pairs;
	uint64_t early; /* effects that come before their cause */
	uint64_t beyond;
	uint64_t ticks; /* sum over all early effects: by how much they come early */
	uint64_t bits;	/* sum over all effects: bits of the ticks between cause and effect, log2 */
};

void causes_count(struct causes_count *count, const struct ktread *trace, const struct causes_pair *pair,
		  uint32_t pairs);
/* Whether fewer effects are `beyond`; if as many are, whether fewer are early. */
bool causes_fewer(const struct causes_count *count, const struct causes_count *other);
/* Whether effects are nearer to their causes, to half the distance or less on average (geometric mean). */
bool causes_nearer(const struct causes_count *count, const struct causes_count *other);

/*
 * Estimates how far apart clocks are, to a fraction of a millisecond, if they are too far apart to pair
 * causes with effects. Each effect votes for its distance to every possible cause on another CPU; the votes
 * of one effect add up to 1. The true distance gets the most votes.
 */

struct coarse;

/*
 * `reach`: ticks that clocks may be apart; `grain`: ticks to which the answer is exact. NULL without memory.
 */
#define COARSE_CPUS 64u

struct coarse *coarse_create(uint32_t cpus, uint64_t reach, uint64_t grain);
void coarse_destroy(struct coarse *coarse);

/* Takes an event; 0 once there are enough for an answer. */
int coarse_event(struct coarse *coarse, const struct ktread_event *event, const struct wellknown *known);
/*
 * forward[cpu]: ticks by which each clock is to be set forward, CPU 0's by 0; INT64_MAX where too little is
 * known. Forgets all events.
 */
void coarse_solve(struct coarse *coarse, int64_t *forward);

/*
 * A straight line through points of which a few may be far off: its slope is the median of those between any
 * two of them (Theil and Sen).
 */

#define DRIFT_POINTS 64u

/* Zero-initialised is ready for use. */
struct drift {
	double x[DRIFT_POINTS], y[DRIFT_POINTS];
	uint32_t count;
	double slope, start; /* y = start + slope * x, once fitted */
};

void drift_add(struct drift *drift, double x, double y);
/* False if there are fewer than three points, or half of them lie off the line by more than `tolerance`. */
bool drift_fit(struct drift *drift, double tolerance);

static inline double drift_at(const struct drift *drift, double x)
{
	return drift->start + drift->slope * x;
}

#endif
