/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "hunt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define STEPS 20u

/*
 * Replaces the run of seed 0 in comparisons: a run is expected to end by itself. A run that reaches its
 * deadline has failed.
 */
static const struct hunt_run expected = { .status = CAPTURE_CLEAN, .text = "clean exit" };

/*
 * Makes `runs` runs. Each of them repeats the run up to `time` and continues it with another seed. Returns 0
 * or a negative error.
 */
static int continue_from(struct bisect *bisect, struct hunt *hunt, uint64_t time, uint64_t runs)
{
	struct capture_run_options run = *bisect->options->run;
	struct hunt_options options = *bisect->options;
	int error;

	run.schedule.change = time;
	options.run = &run;
	options.first = 1;
	options.last = runs;
	options.later = true;
	options.base = &expected;
	options.replace = true;
	error = hunt_run(hunt, &options);
	if (error)
		snprintf(bisect->error, sizeof(bisect->error), "%s", hunt->error);
	bisect->signal = hunt->signal;
	for (unsigned n = 0; n < hunt->kinds; n++)
		hunt_discard(hunt, hunt->kind[n].first.seed);
	return error;
}

static uint64_t count_same(const struct bisect *bisect, const struct hunt *hunt)
{
	for (unsigned n = 0; n < hunt->kinds; n++)
		if (strcmp(hunt->kind[n].key, bisect->failure.key) == 0)
			return hunt->kind[n].runs;
	return 0;
}

/* Repeats the run unchanged. Returns 0 if it fails again, 1 if it does not fail, or a negative error. */
static int repeat(struct bisect *bisect, struct hunt *hunt)
{
	int error = continue_from(bisect, hunt, 0, 1);

	if (error || bisect->signal)
		return error;
	if (hunt->not_run) {
		snprintf(bisect->error, sizeof(bisect->error), "the run could not be repeated: %s",
			 hunt->why_not);
		return -1;
	}
	if (hunt->kinds == 0)
		return 1;
	bisect->failure = hunt->kind[0];
	bisect->from = hunt->kind[0].first.ended;
	return 0;
}

/* Counts as an error if a continuation was not judged: it may have failed. Returns 0 or a negative error. */
static int check_judged(struct bisect *bisect, const struct hunt *hunt, uint64_t time)
{
	if (!hunt->not_run)
		return 0;
	snprintf(bisect->error, sizeof(bisect->error),
		 "%" PRIu64 " of %" PRIu64 " continuations from %.9f s on could not be judged: %s",
		 hunt->not_run, bisect->runs, (double)time / 1e9, hunt->why_not);
	return -1;
}

int bisect_run(struct bisect *bisect)
{
	static struct hunt hunt;
	int error = repeat(bisect, &hunt);

	/* the search begins at 1 ns, because 0 in schedule.change means that there is no change */
	for (unsigned step = 0; !error && !bisect->signal && step <= STEPS; step++) {
		const uint64_t time = step == 0 ? 1 : bisect->before + (bisect->from - bisect->before) / 2;
		uint64_t failed;

		if (time >= bisect->from || (step > 0 && time <= bisect->before))
			break;
		error = continue_from(bisect, &hunt, time, bisect->runs);
		if (!error && !bisect->signal)
			error = check_judged(bisect, &hunt, time);
		if (error || bisect->signal)
			break;
		bisect->tried++;
		failed = count_same(bisect, &hunt);
		bisect->step(bisect->context, time, failed, bisect->runs);
		if (failed == bisect->runs) {
			bisect->from = time;
		} else {
			bisect->before = time;
			bisect->before_failed = failed;
		}
		if (step == 0 && failed == bisect->runs)
			break;
	}
	return error;
}
