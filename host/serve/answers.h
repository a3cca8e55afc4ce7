/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Answers that are made from a trace, each in a separate process (job.h). */
#ifndef SERVE_ANSWERS_H
#define SERVE_ANSWERS_H

#include <stdint.h>
#include <sys/stat.h>

#include "export/summary.h"
#include "page/page.h"
#include "serve/request.h"
#include "serve/serve.h"

/*
 * Time 0 of a growing trace. It stays the same while the guest runs, although the oldest events are
 * overwritten.
 */
struct serve_zero {
	uint64_t nonce; /* nonce that identifies the run of the guest */
	uint64_t stamp; /* timestamp of the oldest event when this run was first read */
	bool known;	/* true if an event has been read */
};

struct serve_source {
	const struct serve_options *options;
	struct stat file; /* state of the trace's file when the server started */
	struct serve_zero zero;
};

/*
 * Returns the timestamp of time 0: the timestamp in source->zero. If that timestamp is unknown, or is from
 * another run, returns the timestamp of the oldest event.
 */
uint64_t serve_base(const struct serve_source *source, const struct ktread *trace);

/*
 * Returns a text that states how the trace's file has changed since the server started, or which file became
 * shorter while this process read it. Returns NULL if nothing has changed. An answer that was made while a
 * file changed may be wrong, so a process calls this again before it sends its answer.
 */
const char *serve_what_changed(const struct serve_source *source);

/*
 * Writes the answer to a request to `descriptor`. Has the type serve_work; `context` is a struct
 * serve_source, `request` a struct serve_request. Returns 0 if the answer, which may be an error, is
 * complete.
 */
int serve_answer(void *context, const void *request, int descriptor);

/* ---- The data of the page, and time windows (build.c) ---- */

/* Answers a request for a time window. Returns 0 if the answer, which may be an error, is complete. */
int serve_window(const struct serve_source *source, const struct serve_request *request, struct ktread *trace,
		 int descriptor);

/*
 * A separate process makes the data of the page, and writes it as frames. A long trace gets a survey instead
 * of all its events.
 */

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

/* ---- A survey of a long trace (survey.c) ---- */

/* The number of events of each CPU and each thread in periods of equal length. */
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
