/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Clocks of several CPUs, bounded against each other by causes and effects: of each pair of CPUs the smallest
 * times from a cause on one to its effect on the other are kept. Solved, they say by how much each clock is to be
 * set forward so that every effect comes after its cause, with as much room as all of them leave.
 */
#ifndef ANALYZE_BOUNDS_H
#define ANALYZE_BOUNDS_H

#include <stdint.h>

#define BOUNDS_KEPT 4u

struct bounds {
	uint32_t cpus;
	int64_t (*least)[BOUNDS_KEPT]; /* [from * cpus + to], ascending; BOUNDS_NONE behind the last */
	uint32_t *through;	       /* to work with */
	uint64_t pairs;
};
#define BOUNDS_NONE INT64_MAX

/* 0 or KTREAD_E_MEMORY. */
int bounds_init(struct bounds *bounds, uint32_t cpus);
void bounds_free(struct bounds *bounds);
void bounds_clear(struct bounds *bounds);
void bounds_add(struct bounds *bounds, uint32_t from, uint32_t to, int64_t ticks);
/* Takes in what another one holds. */
void bounds_merge(struct bounds *bounds, const struct bounds *other);

/*
 * forward[cpu]: ticks, CPU 0's are 0; BOUNDS_NONE where nothing ties a CPU to the others. Contradictory bounds, a
 * circle of causes that takes less than no time, are given up until there are none: returns how many. `room` is
 * the most ticks that are left between a cause and its effect on purpose.
 */
uint64_t bounds_solve(struct bounds *bounds, int64_t room, int64_t *forward);

#endif
