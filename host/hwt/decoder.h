/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What an encoding is to hwt_decoder_next(): one struct of operations, in a file of its own (pt.c by libipt,
 * etm4.c by OpenCSD, spe.c our own). What is common (pieces of a stream, clocks, the thread) is done around
 * it.
 */
#ifndef HWT_DECODER_H
#define HWT_DECODER_H

#include "hwt/hwt.h"

struct hwt_encoding {
	const char *name; /* "pt", "etm4", "spe" */
	/* NULL: out of memory, or *message says why not. */
	void *(*open)(const struct hwt_stream *stream, const struct hwt_piece *piece,
		      struct hwt_images *images, const char **message);
	/*
	 * 1 and a step, 0 at the end of the piece. Of the stamp it sets the unit's own time and has_stamp;
	 * offset is within the piece. Damage is HWT_GAP, and it resynchronises by itself.
	 */
	int (*next)(void *decoder, struct hwt_step *step);
	/*
	 * Used instead of next if it is not NULL. Fills in up to `most` steps and returns their number; more
	 * than one only if all are HWT_RUN. They are complete, as hwt_decoder_next() returns them: stamps of
	 * the file, positions, process and thread. An element of `step` that held a HWT_RUN is unchanged
	 * since this function filled it in.
	 */
	int (*some)(void *decoder, struct hwt_step *step, unsigned most);
	void (*close)(void *decoder);
	/* The last byte at or before `offset` at which decoding can begin; NULL: that is only the first. */
	size_t (*begin)(const struct hwt_stream *stream, const struct hwt_piece *piece, size_t offset);
	/* Each packet of a piece; offsets are within it. */
	void (*packets)(const struct hwt_stream *stream, const struct hwt_piece *piece,
			void (*line)(void *to, uint64_t offset, const char *name, const char *text),
			void *to);
};

/* A unit's time as a stamp of the file, to read images by. */
uint64_t hwt_stream_stamp(const struct hwt_stream *stream, uint64_t unit_time);

extern const struct hwt_encoding hwt_encoding_pt, hwt_encoding_etm4, hwt_encoding_spe;

#endif
