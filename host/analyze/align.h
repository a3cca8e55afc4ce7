/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Declarations of the modules that align.c uses: bounds between clocks, pairs of cause and effect, first
 * estimates, and drift.
 */
#ifndef ANALYZE_ALIGN_H
#define ANALYZE_ALIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"

/*
 * Bounds between the clocks of CPUs, from causes and effects. For each ordered pair of CPUs, struct bounds
 * stores the smallest times from a cause on the first CPU to its effect on the second CPU. bounds_solve()
 * computes how far to move each clock forward so that every effect comes after its cause, with as much time
 * between the cause and the effect as all bounds allow.
 */

#define BOUNDS_KEPT 4u

struct bounds {
	uint32_t cpus;
	/*
	 * smallest times from a cause on CPU `from` to its effect on CPU `to`, in ascending order; the index
	 * is from * cpus + to; BOUNDS_NONE in unused elements
	 */
	int64_t (*least)[BOUNDS_KEPT];
	/*
	 * indexed by CPU: the limits `behind` and `ahead` that were given to bounds_limit(); BOUNDS_NONE: no
	 * limit
	 */
	int64_t *behind, *ahead;
	uint32_t *through; /* scratch memory of bounds_solve() */
	uint64_t pairs;
};
#define BOUNDS_NONE INT64_MAX

/* Returns 0 or KTREAD_E_MEMORY. Call bounds_free() in either case. */
int bounds_init(struct bounds *bounds, uint32_t cpus);
void bounds_free(struct bounds *bounds);
void bounds_clear(struct bounds *bounds);
void bounds_add(struct bounds *bounds, uint32_t from, uint32_t to, int64_t ticks);
/*
 * Limits a CPU's solution: -behind <= forward[cpu] - forward[0] <= ahead. Requires: `behind` and `ahead` are
 * 0 or more. bounds_solve() observes all limits. bounds_clear() removes all limits.
 */
void bounds_limit(struct bounds *bounds, uint32_t cpu, int64_t behind, int64_t ahead);
/* Adds the bounds of `other` that come from pairs, but not its limits. */
void bounds_merge(struct bounds *bounds, const struct bounds *other);

/*
 * Computes forward[cpu] in ticks: 0 for CPU 0, BOUNDS_NONE for a CPU that no pair connects to another. Bounds
 * contradict each other if the bounds on a cycle of CPUs have a sum below 0 ticks, or violate a limit. Such
 * bounds are ignored, one after another, until the other bounds do not contradict each other. Returns the
 * number of ignored bounds. `room`: maximum number of ticks to leave between a cause and its effect.
 */
uint64_t bounds_solve(struct bounds *bounds, int64_t room, int64_t *forward);

/*
 * Pairs causes on one CPU with their effects on another CPU: a wakeup and the switch to the woken thread, a
 * switch away from a thread and the next switch to it, the sending of an interrupt and its arrival, the
 * sending of a packet and its receipt.
 *
 * Clocks may differ: an effect may also be paired with a cause whose timestamp is up to `slack` ticks later.
 * If two causes are possible for an effect, no pair is made.
 */

struct causes_pair {
	uint32_t from, to; /* numbers of two different CPUs */
	/* timestamps of the cause and of the effect; if effect < cause, the clocks are wrong */
	uint64_t cause, effect;
};
#define CAUSES_PAIRS 12u /* maximum number of pairs that one event can complete */

struct causes;

/*
 * Ways of pairing an effect for which no earlier cause was found.
 * CAUSES_IN_TURN: the effect is paired with the next cause, the next effect with the cause after that, and so
 * on. This finds clocks that differ by more than the time between two effects. But if the kernel does not
 * record one of the causes, each later effect is paired with a cause that is too late.
 * CAUSES_NEAREST: a cause between two effects is paired with the effect that is much nearer. If neither
 * effect is much nearer, the cause makes no pair.
 */
enum causes_way { CAUSES_IN_TURN, CAUSES_NEAREST, CAUSES_WAYS };

/* Returns NULL if out of memory. */
struct causes *causes_create(const struct ktread *trace, enum causes_way way, uint64_t slack);
void causes_destroy(struct causes *causes);

/*
 * Handles the next event. Requires: events come in order of timestamps. Returns the number of pairs that the
 * event completes.
 */
uint32_t causes_event(struct causes *causes, const struct ktread_event *event, const struct wellknown *known,
		      struct causes_pair pair[CAUSES_PAIRS]);

/* Counts of pairs. A zero-initialised structure is ready for use. */
struct causes_count {
	uint64_t pairs;
	uint64_t early; /* number of effects that come before their cause */
	uint64_t beyond;
	uint64_t ticks; /* sum, over the effects in `early`, of the ticks from the effect to its cause */
	uint64_t bits;	/* sum, over all pairs, of log2 of the ticks between cause and effect */
};

void causes_count(struct causes_count *count, const struct ktread *trace, const struct causes_pair *pair,
		  uint32_t pairs);
/*
 * Compares the numbers of effects in the member `beyond`; if these are equal, the numbers in the member
 * `early`. Returns true if the number in `count` is smaller than the number in `other`.
 */
bool causes_fewer(const struct causes_count *count, const struct causes_count *other);
/*
 * Returns true if the geometric mean of the distances between effects and their causes in `count` is at most
 * half of the mean in `other`.
 */
bool causes_nearer(const struct causes_count *count, const struct causes_count *other);

/*
 * Estimates how far apart clocks are, to a fraction of a millisecond, if they are too far apart to pair
 * causes with effects. Each effect votes for its distance to every possible cause on another CPU; the sum
 * of one effect's votes is 1. The true distance gets the most votes.
 */

struct coarse;

/*
 * `reach`: maximum number of ticks by which clocks may differ. `grain`: precision of the result in ticks.
 * Returns NULL if out of memory.
 */
#define COARSE_CPUS 64u

struct coarse *coarse_create(uint32_t cpus, uint64_t reach, uint64_t grain);
void coarse_destroy(struct coarse *coarse);

/* Handles an event. Returns 1 if more events are needed for a result, 0 if there have been enough events. */
int coarse_event(struct coarse *coarse, const struct ktread_event *event, const struct wellknown *known);
/*
 * Computes forward[cpu]: ticks by which to move each clock forward; 0 for CPU 0; INT64_MAX if there is too
 * little evidence. Then discards all stored events.
 */
void coarse_solve(struct coarse *coarse, int64_t *forward);

/*
 * A straight line fitted to points, of which a few may be far from the line: the slope is the median of the
 * slopes between any two points (Theil-Sen estimator).
 */

#define DRIFT_POINTS 64u

/* A zero-initialised structure is ready for use. */
struct drift {
	double x[DRIFT_POINTS], y[DRIFT_POINTS];
	uint32_t count;
	double slope, start; /* the fitted line is y = start + slope * x; valid after drift_fit() */
};

void drift_add(struct drift *drift, double x, double y);
/*
 * Fits the line. Returns false if there are fewer than three points, or half of them are farther from the
 * line than `tolerance`.
 */
bool drift_fit(struct drift *drift, double tolerance);

static inline double drift_at(const struct drift *drift, double x)
{
	return drift->start + drift->slope * x;
}

/*
 * Interpolates the offsets of unsolved nodes linearly between solved nodes. Before the first and after the
 * last solved node the offset is constant. Node n is at index n * stride of both arrays. Changes nothing if
 * no node is solved.
 */
void drift_fill(int64_t *offset, const uint8_t *solved, size_t nodes, size_t stride);

#endif
