/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Makes the data of the page in a separate process, which writes the data as frames. A long trace gets a
 * survey instead of all its events.
 */
#ifndef SERVE_BUILD_H
#define SERVE_BUILD_H

#include <stdint.h>

#include "export/summary.h"
#include "page/page.h"

enum serve_frame_kind {
	SERVE_FRAME_ZERO, /* a struct serve_zero: time 0 of the frames that follow */
	SERVE_FRAME_HEAD,
	SERVE_FRAME_BLOCK,
	SERVE_FRAME_OVERVIEW,
	SERVE_FRAME_ERROR, /* a text that states why there is no more data; no more frames follow */
};

/* The beginning of a frame. `size` bytes follow it. */
struct serve_frame {
	uint32_t kind, size;
};

/*
 * Writes the frames to `descriptor`. Has the type serve_work; `context` is a struct serve_source. Returns 0
 * if all frames were written; the last frame may report an error.
 */
int serve_build(void *context, const void *nothing, int descriptor);

/*
 * ---- A survey of a long trace: the number of events of each CPU and each thread in periods of equal length
 * (survey.c) ----
 */

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
