/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Answers from a trace, made in a process of their own (job.h). */
#ifndef SERVE_ANSWERS_H
#define SERVE_ANSWERS_H

#include <sys/stat.h>

#include "serve/request.h"
#include "serve/serve.h"

struct serve_source {
	const struct serve_options *options;
	struct stat file; /* the trace's file when the server started */
};

/*
 * Returns NULL if the file is that with which the server started, otherwise a text that states what happened.
 */
const char *serve_what_changed(const struct serve_source *source);

/*
 * Writes the answer to a struct serve_request. `context` is a struct serve_source. Returns 0 if the answer,
 * which may be an error, is complete.
 */
int serve_answer(void *context, const void *request, int descriptor);

#endif
