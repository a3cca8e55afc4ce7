/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A survey of a long trace: the number of events of each CPU and each thread in periods of equal length. */
#ifndef SERVE_SURVEY_H
#define SERVE_SURVEY_H

#include "export/summary.h"
#include "page/page.h"

struct serve_survey;

/*
 * Reads the whole trace once, and counts. Does not rewind the trace. `base`: timestamp of time 0. Needs 8 KB
 * of memory for each CPU and for each of at most 8192 threads; further threads get no row of their own.
 * Returns 0 or a negative KTREAD_E_*. The caller frees `*survey` in either case.
 */
int serve_survey_read(struct serve_survey **survey, struct ktread *trace, uint64_t base);
void serve_survey_free(struct serve_survey *survey);
/* Returns the counts of the whole trace. */
const struct tally *serve_survey_tally(const struct serve_survey *survey);
/*
 * Passes blocks that contain the survey to `take`. These blocks are a new sequence (spec/page.md). Reads the
 * beginnings of rings, and rewinds the trace. Returns 0, the error of `take`, or a negative KTREAD_E_*.
 */
int serve_survey_write(const struct serve_survey *survey, page_take *take, void *context);

#endif
