/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds the kinds of call that take longer in the second trace than in the first. Compares the means of the
 * logarithms of the durations by Welch's t-test. The test's confidence interval is that of the ratio of the
 * geometric means. Several kinds are compared, so each interval has a confidence of 1 - 0.05 / kinds
 * (Bonferroni); all of them together have 95 %.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff/pairs.h"

#define DOUBT 0.05

/*
 * Returns the quantile of the normal distribution, by formula 26.2.23 of Abramowitz and Stegun. The error is
 * below 0.00045. `above`: probability of a larger value. Requires: 0 < above <= 0.5.
 */
static double normal_quantile(double above)
{
	const double t = sqrt(-2 * log(above));

	return t - (2.515517 + t * (0.802853 + t * 0.010328)) /
			   (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

/*
 * Returns the quantile of Student's t-distribution, by the expansion 26.7.5 of Abramowitz and Stegun.
 * Requires: at least 20 degrees of freedom.
 */
static double student_quantile(double above, double degrees)
{
	const double z = normal_quantile(above), z3 = z * z * z, z5 = z3 * z * z;

	return z + (z3 + z) / (4 * degrees) + (5 * z5 + 16 * z3 + 3 * z) / (96 * degrees * degrees);
}

/* Computes the confidence interval of the ratio. `above`: probability of a value above the interval. */
static void compare_samples(const struct pairs_sample *first, const struct pairs_sample *second, double above,
			    struct diff_slower *slower)
{
	const double n[2] = { (double)first->count, (double)second->count };
	const double square[2] = { first->squares / (n[0] - 1) / n[0], second->squares / (n[1] - 1) / n[1] };
	const double sum = square[0] + square[1], apart = second->mean - first->mean;
	double degrees = n[0] + n[1] - 2, half;

	if (sum > 0)
		degrees =
			sum * sum / (square[0] * square[0] / (n[0] - 1) + square[1] * square[1] / (n[1] - 1));
	half = student_quantile(above, degrees) * sqrt(sum);
	slower->samples[0] = first->count;
	slower->samples[1] = second->count;
	slower->mean[0] = exp(first->mean);
	slower->mean[1] = exp(second->mean);
	slower->ratio = exp(apart);
	slower->low = exp(apart - half);
	slower->high = exp(apart + half);
}

static void keep(struct diff_result *result, const struct diff_slower *slower)
{
	uint32_t at = result->slowers;

	while (at > 0 && result->slower[at - 1].low < slower->low)
		at--;
	if (at == DIFF_SLOWER)
		return;
	if (result->slowers < DIFF_SLOWER)
		result->slowers++;
	memmove(&result->slower[at + 1], &result->slower[at],
		(result->slowers - at - 1) * sizeof(result->slower[0]));
	result->slower[at] = *slower;
}

void pairs_slower(struct pairs *pairs, uint64_t percent)
{
	struct diff_result *result = pairs->result;
	const double ticks[2] = { (double)pairs->trace[0]->frequency, (double)pairs->trace[1]->frequency };
	const double scale = ticks[0] > 0 && ticks[1] > 0 ? ticks[0] / ticks[1] : 1;
	struct diff_slower slower;

	for (uint32_t n = 0; n < pairs->trace[0]->kinds; n++) {
		const uint64_t count = pairs->sample[0][n].count;

		result->sampled += count >= DIFF_SAMPLES;
		result->too_few += count > 0 && count < DIFF_SAMPLES;
	}
	for (uint32_t n = 0; n < pairs->trace[0]->kinds; n++) {
		struct pairs_sample second = pairs->sample[1][n];

		if (pairs->sample[0][n].count < DIFF_SAMPLES)
			continue;
		second.mean += log(scale);
		compare_samples(&pairs->sample[0][n], &second, DOUBT / result->sampled / 2, &slower);
		slower.kind = n;
		if (ticks[0] > 0)
			for (int which = 0; which < 2; which++)
				slower.mean[which] *= 1e9 / ticks[0];
		if (slower.low >= 1 + (double)percent / 100)
			keep(result, &slower);
	}
}
