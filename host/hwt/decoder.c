/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Decodes a stream one piece after another, with the decoder of the stream's encoding. */
#include "decoder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktread/ktread.h"

#define STEPS 64u /* maximum number of steps that one call of an encoding's decoder fills in */

struct hwt_decoder {
	struct hwt_decoder_view view; /* part of `step` */
	const struct hwt_file *file;
	size_t number;
	const struct hwt_stream *stream;
	const struct hwt_encoding *encoding;
	struct hwt_images *images;
	/* index of the piece that is being decoded; between two pieces, index of the next piece */
	size_t piece;
	struct hwt_piece part; /* bytes of the piece that is being decoded */
	/* position in the stream at which the next piece begins if no bytes are missing before it */
	uint64_t wanted;
	void *open;	      /* the encoding's decoder; NULL: no piece is being decoded now */
	uint64_t time, stamp; /* cache of one conversion: a time of the unit, and its timestamp */
	struct hwt_step step[STEPS];
	char text[160];
	char message[512];
};

static _Thread_local char open_message[512];

/* Returns the encoding of a stream, or NULL if it is unknown. */
static const struct hwt_encoding *find_encoding(const struct hwt_stream *stream)
{
	switch (stream->context.encoding) {
	case KTRX_HWT_ENCODING_PT:
		return &hwt_encoding_pt;
	case KTRX_HWT_ENCODING_ETM4:
		return &hwt_encoding_etm4;
	case KTRX_HWT_ENCODING_SPE:
		return &hwt_encoding_spe;
	default:
		return NULL;
	}
}

int hwt_decoder_open(struct hwt_decoder **opened, const struct hwt_file *file, size_t number,
		     struct hwt_images *images)
{
	const struct hwt_stream *stream = hwt_file_stream(file, number);
	const struct hwt_encoding *encoding;
	struct hwt_decoder *decoder;

	*opened = NULL;
	if (!stream) {
		snprintf(open_message, sizeof(open_message), "there is no stream %zu", number);
		return KTREAD_E_ARGUMENT;
	}
	encoding = find_encoding(stream);
	if (!encoding) {
		snprintf(open_message, sizeof(open_message), "unknown encoding of the trace");
		return KTREAD_E_UNSUPPORTED;
	}
	decoder = calloc(1, sizeof(*decoder));
	if (!decoder) {
		snprintf(open_message, sizeof(open_message), "out of memory");
		return KTREAD_E_MEMORY;
	}
	decoder->file = file;
	decoder->number = number;
	decoder->stream = stream;
	decoder->encoding = encoding;
	decoder->wanted = stream->begins;
	decoder->stamp = hwt_stream_stamp(stream, 0);
	decoder->images = images;
	*opened = decoder;
	return 0;
}

static void leave_piece(struct hwt_decoder *decoder)
{
	if (decoder->open)
		decoder->encoding->close(decoder->open);
	decoder->open = NULL;
	decoder->view.next = decoder->view.end = decoder->step;
	/*
	 * mark all elements as not containing a run, because the encoding assumes that it has written the run
	 * in an element itself
	 */
	for (unsigned i = 0; i < STEPS; i++)
		decoder->step[i].kind = HWT_NOTE;
}

void hwt_decoder_close(struct hwt_decoder *decoder)
{
	if (!decoder)
		return;
	leave_piece(decoder);
	free(decoder);
}

const char *hwt_decoder_message(const struct hwt_decoder *decoder)
{
	return decoder ? decoder->message : open_message;
}

/* ---- Pieces ---- */

/* Opens the encoding's decoder for decoder->part. */
static int open_part(struct hwt_decoder *decoder)
{
	const char *why;

	leave_piece(decoder);
	decoder->open = decoder->encoding->open(decoder->stream, &decoder->part, decoder->images, &why);
	if (decoder->open)
		return 0;
	snprintf(decoder->message, sizeof(decoder->message), "%s", why ? why : "out of memory");
	return why ? KTREAD_E_UNSUPPORTED : KTREAD_E_MEMORY;
}

/* Opens the next piece. Returns 1; 0 if there are no more pieces; or an error. */
static int enter_piece(struct hwt_decoder *decoder)
{
	const struct hwt_piece *piece;

	if (decoder->piece >= hwt_file_pieces(decoder->file, decoder->number))
		return 0;
	piece = hwt_file_piece(decoder->file, decoder->number, decoder->piece);
	if (!piece) {
		snprintf(decoder->message, sizeof(decoder->message),
			 "out of memory for %" PRIu64 " bytes of trace", decoder->stream->bytes);
		return KTREAD_E_MEMORY;
	}
	decoder->part = *piece;
	return open_part(decoder) < 0 ? KTREAD_E_MEMORY : 1;
}

/*
 * Makes a gap step for the bytes that are missing before the piece. If bytes repeat earlier positions, they
 * also form a piece of their own, for which a step is made, too.
 */
static const struct hwt_step *report_missing(struct hwt_decoder *decoder)
{
	struct hwt_step *step = &decoder->step[0];

	if (decoder->part.position > decoder->wanted)
		snprintf(decoder->text, sizeof(decoder->text), "%" PRIu64 " bytes are missing",
			 decoder->part.position - decoder->wanted);
	else
		snprintf(decoder->text, sizeof(decoder->text), "the trace starts again");
	*step = (struct hwt_step){ .kind = HWT_GAP,
				   .offset = decoder->wanted,
				   .text = decoder->text,
				   .pid = decoder->stream->pid,
				   .tid = decoder->stream->tid };
	return step;
}

/* ---- Steps ---- */

/* Sets a single step's position in the data, thread and timestamp. */
static void complete(struct hwt_decoder *decoder, struct hwt_step *step)
{
	step->offset += decoder->part.position;
	step->pid = decoder->stream->pid;
	step->tid = decoder->stream->tid;
	if (!step->has_stamp)
		return;
	if (step->stamp != decoder->time) {
		decoder->time = step->stamp;
		decoder->stamp = hwt_stream_stamp(decoder->stream, step->stamp);
	}
	step->stamp = decoder->stamp;
}

/* Lets the encoding make steps. Returns 1 with at least one step, 0 at the end of the piece, or an error. */
static int make_steps(struct hwt_decoder *decoder)
{
	const struct hwt_encoding *encoding = decoder->encoding;
	int made;

	if (encoding->some) {
		made = encoding->some(decoder->open, decoder->step, STEPS);
	} else {
		made = encoding->next(decoder->open, &decoder->step[0]);
		if (made > 0)
			complete(decoder, &decoder->step[0]);
	}
	decoder->view.next = decoder->step;
	decoder->view.end = decoder->step + (made > 0 ? made : 0);
	return made > 0 ? 1 : made;
}

int hwt_decoder_refill(struct hwt_decoder *decoder, const struct hwt_step **step)
{
	for (;;) {
		int status = 0;

		if (decoder->open) {
			status = make_steps(decoder);
			if (status > 0) {
				*step = decoder->view.next++;
				return 1;
			}
			leave_piece(decoder);
			if (status < 0) {
				snprintf(decoder->message, sizeof(decoder->message), "out of memory");
				return status;
			}
			decoder->wanted = decoder->part.position + decoder->part.size;
			decoder->piece++;
		}
		status = enter_piece(decoder);
		if (status <= 0)
			return status;
		if (decoder->part.position != decoder->wanted || decoder->piece) {
			*step = report_missing(decoder);
			return 1;
		}
	}
}

int hwt_decoder_seek(struct hwt_decoder *decoder, uint64_t offset)
{
	const size_t pieces = hwt_file_pieces(decoder->file, decoder->number);
	size_t at = 0, into = 0;
	int status;

	leave_piece(decoder);
	for (size_t i = 0; i < pieces; i++)
		if (hwt_file_piece_position(decoder->file, decoder->number, i) <= offset)
			at = i;
	decoder->piece = at;
	decoder->wanted = decoder->stream->begins;
	status = enter_piece(decoder);
	if (status <= 0)
		return status;
	if (offset > decoder->part.position && decoder->encoding->begin)
		into = decoder->encoding->begin(decoder->stream, &decoder->part,
						offset - decoder->part.position < decoder->part.size
							? (size_t)(offset - decoder->part.position)
							: decoder->part.size - 1);
	if (into) {
		decoder->part.bytes += into;
		decoder->part.size -= into;
		decoder->part.position += into;
		status = open_part(decoder);
	}
	return status < 0 ? status : at > 0 || into > 0;
}

/*
 * Context of a callback that passes each packet to `line`. The callback replaces the packet's offset in the
 * piece by its position in the stream.
 */
struct lines {
	uint64_t position;
	void (*line)(void *to, uint64_t offset, const char *name, const char *text);
	void *to;
	int damaged;
};

static void pass_line(void *context, uint64_t offset, const char *name, const char *text)
{
	struct lines *lines = context;

	lines->damaged |= strcmp(name, HWT_PACKET_DAMAGE) == 0;
	lines->line(lines->to, lines->position + offset, name, text);
}

int hwt_packets(const struct hwt_file *file, size_t number,
		void (*line)(void *to, uint64_t offset, const char *name, const char *text), void *to)
{
	const struct hwt_stream *stream = hwt_file_stream(file, number);
	const struct hwt_encoding *encoding;
	struct lines lines = { .line = line, .to = to };

	if (!stream)
		return KTREAD_E_ARGUMENT;
	encoding = find_encoding(stream);
	if (!encoding)
		return KTREAD_E_UNSUPPORTED;
	for (size_t i = 0; i < hwt_file_pieces(file, number); i++) {
		const struct hwt_piece *piece = hwt_file_piece(file, number, i);

		if (!piece)
			return KTREAD_E_MEMORY;
		lines.position = piece->position;
		encoding->packets(stream, piece, pass_line, &lines);
	}
	return lines.damaged;
}
