/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/align_parts.h"

#include <stdlib.h>

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
