/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The Statistical Profiling Extension as steps: a record is a sample. What is no record is one gap, up to the
 * next place from which on there is one. No state beyond a record: any byte of the buffer that begins one
 * will do to begin with.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hwt/decoder.h"
#include "hwt/spe.h"

#define TEXT_SIZE 256

struct spe {
	const struct hwt_piece *piece;
	size_t at;
	struct spe_record record; /* the last that was told */
	uint8_t note;		  /* it has packets of unknown meaning, to be told next */
	char text[TEXT_SIZE];
};

static void *spe_open(const struct hwt_stream *stream, const struct hwt_piece *piece,
		      struct hwt_images *images, const char **message)
{
	struct spe *spe = calloc(1, sizeof(*spe));

	(void)stream;
	(void)images;
	*message = NULL;
	if (spe)
		spe->piece = piece;
	return spe;
}

static void spe_close(void *decoder)
{
	free(decoder);
}

static int tell_sample(struct spe *spe, struct hwt_step *step)
{
	const struct spe_record *record = &spe->record;

	step->kind = HWT_SAMPLE;
	step->bits = 64;
	step->offset = record->start;
	step->sample = &record->sample;
	step->has_address = record->sample.has >> HWT_SAMPLE_PC & 1;
	step->address = record->sample.pc;
	step->has_to = record->sample.has >> HWT_SAMPLE_TARGET & 1;
	step->to = record->sample.target;
	step->has_stamp = record->has_stamp;
	step->stamp = record->stamp;
	spe->at = record->end;
	spe->note = record->reserved != 0;
	return 1;
}

static int tell_note(struct spe *spe, struct hwt_step *step)
{
	const struct spe_record *record = &spe->record;

	snprintf(spe->text, sizeof(spe->text),
		 "%" PRIu32 " packets of unknown meaning in this record, the last with header 0x%02x",
		 record->reserved, record->reserved_header);
	step->kind = HWT_NOTE;
	step->offset = record->start;
	step->text = spe->text;
	spe->note = 0;
	return 1;
}

static void describe_damage(enum spe_verdict verdict, const struct spe_record *bad,
			    const struct hwt_piece *piece, char *text, size_t size)
{
	uint64_t at = piece->position + bad->end;

	switch (verdict) {
	case SPE_RECORD_CUT:
		snprintf(text, size, "the bytes end within a record");
		break;
	case SPE_RECORD_WRONG:
		snprintf(text, size, "no packet begins with 0x%02x, at %" PRIu64, piece->bytes[bad->end], at);
		break;
	case SPE_RECORD_TWICE:
		snprintf(text, size, "a second packet of its kind in a record, at %" PRIu64, at);
		break;
	default:
		snprintf(text, size, "a record of more than %u bytes", SPE_RECORD_MAX);
	}
}

static int tell_gap(struct spe *spe, enum spe_verdict verdict, struct hwt_step *step)
{
	const struct hwt_piece *piece = spe->piece;

	describe_damage(verdict, &spe->record, piece, spe->text, sizeof(spe->text));
	spe->at = spe_record_find(piece, spe->record.start);
	step->kind = HWT_GAP;
	step->offset = spe->record.start;
	step->text = spe->text;
	step->gap = verdict != SPE_RECORD_CUT || spe->at != piece->size ? HWT_GAP_DAMAGED : HWT_GAP_MISSING;
	return 1;
}

static int spe_next(void *decoder, struct hwt_step *step)
{
	struct spe *spe = decoder;
	enum spe_verdict verdict;

	memset(step, 0, sizeof(*step));
	if (spe->note)
		return tell_note(spe, step);
	verdict = spe_record_read(spe->piece, spe->at, &spe->record);
	if (verdict == SPE_RECORD_NONE)
		return 0;
	return verdict == SPE_RECORD_WHOLE ? tell_sample(spe, step) : tell_gap(spe, verdict, step);
}

static void spe_packets(const struct hwt_stream *stream, const struct hwt_piece *piece,
			void (*line)(void *to, uint64_t offset, const char *name, const char *text), void *to)
{
	struct spe_packet packet;
	char text[TEXT_SIZE];

	(void)stream;
	for (size_t at = 0; at < piece->size;) {
		size_t pads = spe_record_pads(piece, at);
		int size;

		if (pads) {
			snprintf(text, sizeof(text), "%zu", pads);
			line(to, at, "pad", text);
			at += pads;
			continue;
		}
		size = spe_packet_read(piece->bytes + at, piece->size - at, piece->position + at, &packet);
		if (size < 0) {
			snprintf(text, sizeof(text), "0x%02x%s", piece->bytes[at],
				 size == SPE_CUT ? ": the bytes end within a packet"
						 : ": no packet begins so");
			line(to, at, HWT_PACKET_DAMAGE, text);
			at = spe_record_find(piece, at);
			continue;
		}
		spe_packet_text(&packet, text, sizeof(text));
		line(to, at, spe_packet_name(&packet), text);
		at += packet.size;
	}
}

const struct hwt_encoding hwt_encoding_spe = {
	.name = "spe",
	.open = spe_open,
	.next = spe_next,
	.close = spe_close,
	.packets = spe_packets,
};
