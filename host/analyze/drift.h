/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A straight line through points of which a few may be far off: its slope is the median of those between any two
 * of them (Theil and Sen).
 */
#ifndef ANALYZE_DRIFT_H
#define ANALYZE_DRIFT_H

#include <stdbool.h>
#include <stdint.h>

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
