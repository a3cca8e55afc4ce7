/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Answers from a trace, made in a process of their own (job.h). */
#ifndef SERVE_ANSWERS_H
#define SERVE_ANSWERS_H

#include <sys/stat.h>

#include "serve/request.h"
#include "serve/serve.h"

/* Time 0 of a trace that grows. It stays while the guest runs, although the oldest event is overwritten. */
struct serve_zero {
	uint64_t nonce; /* nonce of the run of the guest */
	uint64_t stamp; /* stamp of the oldest event when an event of this run was first read */
	bool known;	/* false: no event was read yet */
};

struct serve_source {
	const struct serve_options *options;
	struct stat file; /* the trace's file when the server started */
	struct serve_zero zero;
};

/* Returns the stamp of time 0: that of source->zero; that of the oldest event if this is another run. */
uint64_t serve_base(const struct serve_source *source, const struct ktread *trace);

/*
 * Returns NULL if the trace's file has not changed since the server started, otherwise a text that states
 * what has changed.
 */
const char *serve_what_changed(const struct serve_source *source);

/*
 * Writes the answer to a request to `descriptor`. Has the type serve_work; `context` is a struct
 * serve_source, `request` a struct serve_request. Returns 0 if the answer, which may be an error, is
 * complete.
 */
int serve_answer(void *context, const void *request, int descriptor);

#endif
