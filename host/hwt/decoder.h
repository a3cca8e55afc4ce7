/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The interface of the decoders, one for each encoding: a struct of operations that hwt_decoder_next() uses.
 * Each decoder is in a file of its own. pt.c uses libipt, etm4.c uses OpenCSD, spe.c decodes itself. The
 * caller handles what is the same for all encodings: the pieces of a stream, clocks, and the thread.
 */
#ifndef HWT_DECODER_H
#define HWT_DECODER_H

#include "hwt/hwt.h"

struct hwt_encoding {
	const char *name; /* "pt", "etm4", "spe" */
	/*
	 * Opens the decoder for a piece. Returns NULL on failure: *message is the reason, or NULL if out of
	 * memory.
	 */
	void *(*open)(const struct hwt_stream *stream, const struct hwt_piece *piece,
		      struct hwt_images *images, const char **message);
	/*
	 * Returns 1 and a step, or 0 at the end of the piece. The step's timestamp, if has_stamp is set, is
	 * in the unit's own time, and its offset is within the piece. Damage is reported as HWT_GAP. After
	 * it, the decoder resynchronizes by itself.
	 */
	int (*next)(void *decoder, struct hwt_step *step);
	/*
	 * Used instead of `next` if it is not NULL. Makes at most `most` steps and returns their number,
	 * which is above 1 only if all steps are HWT_RUN. The steps are complete, like those that
	 * hwt_decoder_next() returns: with timestamps of the file's clock, positions in the stream, process
	 * and thread. Requires: if an element of `step` contains a HWT_RUN, that run was made by this
	 * function and has not been changed since.
	 */
	int (*some)(void *decoder, struct hwt_step *step, unsigned most);
	void (*close)(void *decoder);
	/*
	 * Returns the last offset at or before `offset` at which decoding can begin. If this pointer is NULL,
	 * decoding can begin only at a piece's first byte.
	 */
	size_t (*begin)(const struct hwt_stream *stream, const struct hwt_piece *piece, size_t offset);
	/* Calls `line` for each packet of a piece; offsets are within the piece. */
	void (*packets)(const struct hwt_stream *stream, const struct hwt_piece *piece,
			void (*line)(void *to, uint64_t offset, const char *name, const char *text),
			void *to);
};

/* Converts a unit's time to a timestamp of the file, as hwt_images_read() needs it. */
uint64_t hwt_stream_stamp(const struct hwt_stream *stream, uint64_t unit_time);

extern const struct hwt_encoding hwt_encoding_pt, hwt_encoding_etm4, hwt_encoding_spe;

#endif
