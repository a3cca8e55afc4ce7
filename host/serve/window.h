/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Joins several blocks into one answer, and answers requests for time windows. */
#ifndef SERVE_WINDOW_H
#define SERVE_WINDOW_H

#include <stddef.h>

#include "serve/answers.h"

#define SERVE_WINDOW_EVENTS 300000u /* maximum number of events in a time window */

/*
 * Blocks in one buffer. Each block is preceded by its size, 4 bytes in little-endian form. The caller frees
 * `bytes`.
 */
struct serve_pieces {
	unsigned char *bytes;
	size_t size, room;
};

/* Appends a block to the struct serve_pieces to which `pieces` points. Has the type page_take. */
int serve_take_piece(void *pieces, const unsigned char *bytes, size_t size);

/* Answers a request for a time window. Returns 0 if the answer, which may be an error, is complete. */
int serve_window(const struct serve_source *source, const struct serve_request *request, struct ktread *trace,
		 int descriptor);

#endif
