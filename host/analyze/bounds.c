/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A system of difference constraints: forward[from] - forward[to] <= least[from][to] - room, and limits,
 * which are constraints between a CPU and CPU 0 without room. It has a solution if and only if no cycle of
 * its edges has a sum below 0. The shortest paths from a virtual node that has an edge to each CPU are then a
 * solution (Bellman-Ford). Bisection finds the largest room that the cycles allow.
 */
#include "analyze/align.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/ticks.h"
#include "ktread/ktread.h"

int bounds_init(struct bounds *bounds, uint32_t cpus)
{
	bounds->cpus = cpus;
	bounds->least = malloc((size_t)cpus * cpus * sizeof(*bounds->least));
	bounds->behind = malloc(cpus * sizeof(*bounds->behind));
	bounds->ahead = malloc(cpus * sizeof(*bounds->ahead));
	bounds->through = malloc(cpus * sizeof(*bounds->through));
	if (!bounds->least || !bounds->behind || !bounds->ahead || !bounds->through)
		return KTREAD_E_MEMORY;
	bounds_clear(bounds);
	return 0;
}

void bounds_free(struct bounds *bounds)
{
	free(bounds->least);
	free(bounds->behind);
	free(bounds->ahead);
	free(bounds->through);
	bounds->least = NULL;
	bounds->behind = bounds->ahead = NULL;
	bounds->through = NULL;
}

void bounds_clear(struct bounds *bounds)
{
	for (size_t i = 0; i < (size_t)bounds->cpus * bounds->cpus; i++)
		for (uint32_t n = 0; n < BOUNDS_KEPT; n++)
			bounds->least[i][n] = BOUNDS_NONE;
	for (uint32_t cpu = 0; cpu < bounds->cpus; cpu++)
		bounds->behind[cpu] = bounds->ahead[cpu] = BOUNDS_NONE;
	bounds->pairs = 0;
}

void bounds_limit(struct bounds *bounds, uint32_t cpu, int64_t behind, int64_t ahead)
{
	bounds->behind[cpu] = behind;
	bounds->ahead[cpu] = ahead;
}

void bounds_add(struct bounds *bounds, uint32_t from, uint32_t to, int64_t ticks)
{
	int64_t *least;
	uint32_t at = BOUNDS_KEPT - 1;

	if (from >= bounds->cpus || to >= bounds->cpus || from == to)
		return;
	bounds->pairs++;
	least = bounds->least[(size_t)from * bounds->cpus + to];
	if (ticks >= least[at])
		return;
	for (; at > 0 && least[at - 1] > ticks; at--)
		least[at] = least[at - 1];
	least[at] = ticks;
}

void bounds_merge(struct bounds *bounds, const struct bounds *other)
{
	uint64_t pairs = bounds->pairs + other->pairs;

	for (uint32_t from = 0; from < other->cpus; from++)
		for (uint32_t to = 0; to < other->cpus; to++)
			for (uint32_t n = 0; n < BOUNDS_KEPT; n++) {
				int64_t ticks = other->least[(size_t)from * other->cpus + to][n];

				if (ticks != BOUNDS_NONE)
					bounds_add(bounds, from, to, ticks);
			}
	bounds->pairs = pairs;
}

static int64_t *edge(const struct bounds *bounds, uint32_t from, uint32_t to)
{
	return bounds->least[(size_t)from * bounds->cpus + to];
}

/*
 * Returns the maximum number of ticks by which `from` may be ahead of `to` according to pairs of cause and
 * effect. Ignores limits.
 */
static int64_t by_pairs(const struct bounds *bounds, uint32_t from, uint32_t to, int64_t room)
{
	int64_t least = *edge(bounds, from, to);

	return least == BOUNDS_NONE ? BOUNDS_NONE : least - room;
}

/*
 * Returns the maximum number of ticks by which `from` may be ahead of `to` according to limits. Ignores
 * pairs.
 */
static int64_t by_limits(const struct bounds *bounds, uint32_t from, uint32_t to)
{
	return to == 0 ? bounds->ahead[from] : from == 0 ? bounds->behind[to] : BOUNDS_NONE;
}

/*
 * One round of Bellman-Ford: lowers forward[from] to the value that its bounds allow, and stores in
 * `through` the CPU of the tightest bound. Returns the last CPU that was changed, or -1.
 */
static int64_t relax(const struct bounds *bounds, int64_t room, int64_t *forward)
{
	int64_t last = -1;

	for (uint32_t from = 0; from < bounds->cpus; from++)
		for (uint32_t to = 0; to < bounds->cpus; to++) {
			int64_t pairs = by_pairs(bounds, from, to, room), limit = by_limits(bounds, from, to);
			int64_t most = limit < pairs ? limit : pairs;

			if (most == BOUNDS_NONE || forward[from] <= forward[to] + most)
				continue;
			forward[from] = forward[to] + most;
			bounds->through[from] = to;
			last = from;
		}
	return last;
}

/* Returns -1 if there is a solution; otherwise a CPU from which `through` leads into a cycle. */
static int64_t solve(const struct bounds *bounds, int64_t room, int64_t *forward)
{
	int64_t last = 0;

	memset(forward, 0, bounds->cpus * sizeof(*forward));
	for (uint32_t cpu = 0; cpu < bounds->cpus; cpu++)
		bounds->through[cpu] = cpu;
	for (uint32_t round = 0; round <= bounds->cpus && last >= 0; round++)
		last = relax(bounds, room, forward);
	return last;
}

/*
 * Removes the smallest bound of the cycle into which `through` leads from `cpu`. This bound comes from a
 * pair, because limits are 0 or more, and the sum over the cycle is below 0.
 */
static void give_up(struct bounds *bounds, uint32_t cpu)
{
	const uint32_t *through = bounds->through;
	int64_t *smallest = NULL;
	uint32_t at;

	for (uint32_t i = 0; i < bounds->cpus; i++)
		cpu = through[cpu];
	at = cpu;
	do {
		int64_t *least = edge(bounds, at, through[at]);

		if (!smallest || *least < *smallest)
			smallest = least;
		at = through[at];
	} while (at != cpu);
	memmove(smallest, smallest + 1, (BOUNDS_KEPT - 1) * sizeof(*smallest));
	smallest[BOUNDS_KEPT - 1] = BOUNDS_NONE;
}

static bool is_tied(const struct bounds *bounds, uint32_t cpu)
{
	for (uint32_t other = 0; other < bounds->cpus; other++)
		if (*edge(bounds, cpu, other) != BOUNDS_NONE || *edge(bounds, other, cpu) != BOUNDS_NONE)
			return true;
	return false;
}

uint64_t bounds_solve(struct bounds *bounds, int64_t room, int64_t *forward)
{
	int64_t low = 1, high = room, circle, zero;
	uint64_t given_up = 0;

	while ((circle = solve(bounds, low, forward)) >= 0) {
		give_up(bounds, (uint32_t)circle);
		given_up++;
	}
	while (low < high) {
		int64_t middle = low + (high - low + 1) / 2;

		if (solve(bounds, middle, forward) < 0)
			low = middle;
		else
			high = middle - 1;
	}
	solve(bounds, low, forward);
	zero = forward[0];
	for (uint32_t cpu = 0; cpu < bounds->cpus; cpu++)
		forward[cpu] = is_tied(bounds, cpu) ? forward[cpu] - zero : BOUNDS_NONE;
	return given_up;
}

/* ---- A line through points ---- */

void drift_add(struct drift *drift, double x, double y)
{
	if (drift->count == DRIFT_POINTS)
		return;
	drift->x[drift->count] = x;
	drift->y[drift->count++] = y;
}

static int ascending(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Sorts the values. */
static double median(double *value, uint32_t count)
{
	qsort(value, count, sizeof(*value), ascending);
	return value[count / 2];
}

bool drift_fit(struct drift *drift, double tolerance)
{
	double value[DRIFT_POINTS * (DRIFT_POINTS - 1) / 2];
	uint32_t count = 0;

	if (drift->count < 3)
		return false;
	for (uint32_t i = 1; i < drift->count; i++)
		for (uint32_t j = 0; j < i; j++)
			if (drift->x[i] > drift->x[j])
				value[count++] = (drift->y[i] - drift->y[j]) / (drift->x[i] - drift->x[j]);
	if (count == 0)
		return false;
	drift->slope = median(value, count);
	for (uint32_t i = 0; i < drift->count; i++)
		value[i] = drift->y[i] - drift->slope * drift->x[i];
	drift->start = median(value, drift->count);
	for (uint32_t i = 0; i < drift->count; i++) {
		double off = drift->y[i] - drift_at(drift, drift->x[i]);

		value[i] = off < 0 ? -off : off;
	}
	return median(value, drift->count) <= tolerance;
}

void drift_fill(int64_t *offset, const uint8_t *solved, size_t nodes, size_t stride)
{
	size_t before = SIZE_MAX;

	for (size_t node = 0; node < nodes; node++) {
		if (!solved[node * stride])
			continue;
		for (size_t n = before == SIZE_MAX ? 0 : before + 1; n < node; n++)
			offset[n * stride] =
				before == SIZE_MAX
					? offset[node * stride]
					: base_ticks_interpolate(n, before, offset[before * stride], node,
								 offset[node * stride]);
		before = node;
	}
	for (size_t n = before; before != SIZE_MAX && n < nodes; n++)
		offset[n * stride] = offset[before * stride];
}
