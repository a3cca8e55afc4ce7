/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Answers that are made from a trace, each in a separate process (job.h). */
#ifndef SERVE_ANSWERS_H
#define SERVE_ANSWERS_H

#include <sys/stat.h>

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

#endif
