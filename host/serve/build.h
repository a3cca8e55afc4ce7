/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Makes the data of the page in a separate process, which writes the data as frames. */
#ifndef SERVE_BUILD_H
#define SERVE_BUILD_H

#include <stdint.h>

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

#endif
