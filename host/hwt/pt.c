/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Intel PT by libipt's block decoder. A block becomes a step when what comes next is known, for only that says whether it
 * branched, and where it ends. Behind damage it goes on at the next PSB.
 */
#include "pt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Has libipt decode by the image that is right at a stamp. False: out of memory. */
static bool set_stamp(struct pt_decoder *decoder, uint64_t stamp)
{
	struct pt_image *image;

	if (decoder->image && stamp < decoder->until && stamp >= decoder->since) {
		pt_sections_now(decoder->sections, stamp);
		return true;
	}
	image = pt_sections_at(decoder->sections, stamp, &decoder->until);
	decoder->since = stamp;
	if (stamp == 0) /* unknown: any that becomes known is to be looked at */
		decoder->until = 0;
	if (!image)
		return false;
	if (image != decoder->image) {
		memset(decoder->branch, 0, sizeof(decoder->branch));
		decoder->library->pt_blk_set_image(decoder->block_decoder, image);
	}
	decoder->image = image;
	return true;
}

bool pt_decoder_set_time(struct pt_decoder *decoder, uint64_t time)
{
	if (decoder->has_time && time == decoder->time)
		return true;
	decoder->time = time;
	decoder->has_time = true;
	return set_stamp(decoder, hwt_stream_stamp(decoder->stream, time));
}

static void *open_stream(const struct hwt_stream *stream, const struct hwt_piece *piece,
			 struct hwt_images *images, const char **message)
{
	const struct pt_library *library = pt_library_load();
	struct pt_decoder *decoder;
	struct pt_config config;

	*message = NULL;
	if (!library) {
		*message = "libipt.so.2 (Debian: libipt2), which decodes Intel PT, is not there, or too old";
		return NULL;
	}
	decoder = calloc(1, sizeof(*decoder));
	if (!decoder)
		return NULL;
	decoder->library = library;
	decoder->stream = stream;
	decoder->size = piece->size;
	pt_library_configure(library, &config, stream, piece);
	/* A run is contiguous. */
	config.flags.variant.block.end_on_call = 1;
	config.flags.variant.block.end_on_jump = 1;
	decoder->sections = pt_sections_open(library, images, stream->pid);
	decoder->images = images;
	decoder->block_decoder = decoder->sections ? library->pt_blk_alloc_decoder(&config) : NULL;
	if (!decoder->block_decoder || !set_stamp(decoder, 0)) {
		pt_decoder_close(decoder);
		return NULL;
	}
	return decoder;
}

void pt_decoder_close(void *opened)
{
	struct pt_decoder *decoder = opened;

	if (decoder->block_decoder)
		decoder->library->pt_blk_free_decoder(decoder->block_decoder);
	pt_sections_close(decoder->sections);
	free(decoder);
}

/* Where the packets are that have been read. */
static uint64_t offset_of(const struct pt_decoder *decoder)
{
	uint64_t offset;

	return decoder->library->pt_blk_get_offset(decoder->block_decoder, &offset) < 0 ? decoder->offset
											: offset;
}

/* Reads the clock; false: out of memory, as an image has to be made. */
static bool look_at_clock(struct pt_decoder *decoder)
{
	uint64_t time;

	decoder->offset = offset_of(decoder);
	if (decoder->library->pt_blk_time(decoder->block_decoder, &time, NULL, NULL) < 0)
		return true;
	return pt_decoder_set_time(decoder, time);
}

void pt_decoder_begin_step(const struct pt_decoder *decoder, struct hwt_step *step, enum hwt_kind kind)
{
	step->kind = (uint8_t)kind;
	step->branch = HWT_BRANCH_NONE;
	step->taken = 0;
	step->has_stamp = decoder->has_time;
	step->has_address = 0;
	step->has_to = 0;
	step->bits = decoder->bits;
	step->error = 0;
	step->instructions = 0;
	step->address = step->last = step->end = step->to = 0;
	step->space = decoder->space;
	step->stamp = decoder->time;
	step->offset = decoder->offset;
	step->text = NULL;
	step->sample = NULL;
}

/* ---- Runs ---- */

static struct pt_branch find_branch(struct pt_decoder *decoder, const struct pt_held *held)
{
	struct pt_known *known = &decoder->branch[(held->last ^ held->last >> 13) % PT_KNOWN];
	unsigned char bytes[PT_BRANCH_MOST];
	size_t size;

	/* What was asked for may be another the next time. */
	if (known->address == held->last && known->bits == held->bits && held->fixed)
		return known->branch;
	size = hwt_images_read(decoder->images, decoder->stream->pid, decoder->space,
			       decoder->has_time ? hwt_stream_stamp(decoder->stream, held->time) : 0,
			       held->last, bytes, sizeof(bytes));
	*known = (struct pt_known){ .address = held->last,
				    .bits = held->bits,
				    .branch = pt_branch_of(bytes, size, held->bits) };
	return known->branch;
}

void pt_decoder_finish(struct pt_decoder *decoder, struct hwt_step *step, bool known, uint64_t next)
{
	const struct pt_held *held = &decoder->held;
	const struct pt_branch branch = find_branch(decoder, held);

	decoder->holds = false;
	step->kind = HWT_RUN;
	step->branch = branch.kind;
	step->has_stamp = held->has_time;
	step->has_address = 1;
	step->has_to = known;
	step->bits = held->bits;
	step->error = 0;
	step->instructions = held->instructions;
	step->address = held->address;
	step->last = held->last;
	/* Of what is no branch the next instruction is the end. */
	step->end = branch.length ? held->last + branch.length : known ? next : held->last + 1;
	step->taken = branch.kind == HWT_BRANCH_CONDITIONAL ? known && next != step->end
							    : branch.kind != HWT_BRANCH_NONE;
	step->to = known ? next : 0;
	step->space = held->space;
	step->stamp = held->time;
	step->offset = held->offset;
	step->text = NULL;
	step->sample = NULL;
}

static void hold(struct pt_decoder *decoder, const struct pt_block *block)
{
	struct pt_held *held = &decoder->held;

	held->address = block->ip;
	held->last = block->end_ip;
	held->instructions = block->ninsn;
	held->bits = block->mode == ptem_64bit ? 64 : block->mode == ptem_32bit ? 32 : 16;
	held->fixed = block->isid != 0;
	held->has_time = decoder->has_time;
	held->time = decoder->time;
	held->offset = decoder->offset;
	held->space = decoder->space;
	decoder->bits = held->bits;
	decoder->holds = true;
}

/* ---- Damage ---- */

/* Of what could not be decoded, and why. */
static int tell_gap(struct pt_decoder *decoder, struct hwt_step *step, int error)
{
	const char *why = decoder->library->pt_errstr(pt_errcode(error));

	if (error == -pte_nomap)
		snprintf(decoder->text, sizeof(decoder->text), "no image of what was run at %#" PRIx64,
			 decoder->at);
	else
		snprintf(decoder->text, sizeof(decoder->text), "%s, behind %#" PRIx64, why ? why : "damage",
			 decoder->at);
	pt_decoder_begin_step(decoder, step, HWT_GAP);
	step->error = 1;
	step->text = decoder->text;
	decoder->synced = false;
	return 1;
}

/* To the next PSB that can be used: 1 and a step if bytes are skipped before the first, 0 at the end, -1: go on. */
static int synchronise(struct pt_decoder *decoder, struct hwt_step *step)
{
	uint64_t offset = 0;
	int status;

	do
		status = decoder->library->pt_blk_sync_forward(decoder->block_decoder);
	while (status < 0 && status != -pte_eos);
	if (status < 0) {
		decoder->ended = true;
		if (decoder->begun || decoder->size == 0)
			return 0;
	} else {
		decoder->status = status;
		decoder->synced = true;
		decoder->library->pt_blk_get_sync_offset(decoder->block_decoder, &offset);
		if (!look_at_clock(decoder))
			return KTREAD_E_MEMORY;
	}
	if (decoder->begun || (status >= 0 && offset == 0)) {
		decoder->begun = true;
		return -1;
	}
	decoder->begun = true;
	decoder->offset = 0;
	if (status < 0)
		snprintf(decoder->text, sizeof(decoder->text), "%zu bytes without a PSB", decoder->size);
	else
		snprintf(decoder->text, sizeof(decoder->text), "%" PRIu64 " bytes before the first PSB",
			 offset);
	pt_decoder_begin_step(decoder, step, HWT_GAP);
	step->text = decoder->text;
	return 1;
}

/* ---- One step ---- */

/* 1 and a step, 0: there is none yet, or an error. */
static int next_block(struct pt_decoder *decoder, struct hwt_step *step)
{
	struct pt_block block = { .ninsn = 0 };
	const int status = decoder->library->pt_blk_next(decoder->block_decoder, &block, sizeof(block));
	int told = 0;

	decoder->status = status;
	if (block.ninsn) {
		if (decoder->holds) {
			pt_decoder_finish(decoder, step, true, block.ip);
			told = 1;
		}
		if (!look_at_clock(decoder))
			return KTREAD_E_MEMORY;
		hold(decoder, &block);
		decoder->at = block.end_ip;
	}
	return told;
}

static int next_step(void *opened, struct hwt_step *step)
{
	struct pt_decoder *decoder = opened;
	int told;

	for (;;) {
		if (decoder->event_parts) {
			pt_decoder_event(decoder, step);
			return 1;
		}
		if (decoder->synced && decoder->status >= 0 &&
		    !(decoder->status & (pts_event_pending | pts_eos))) {
			told = next_block(decoder, step);
			if (told)
				return told;
			continue;
		}
		if (decoder->synced && decoder->status >= 0 && decoder->status & pts_event_pending) {
			told = pt_decoder_take_event(decoder);
			if (told < 0)
				return told;
			if (!told)
				continue;
			if (decoder->holds) {
				uint64_t next = 0;
				const bool known = pt_decoder_event_follows(decoder, &next);

				pt_decoder_finish(decoder, step, known, next);
				return 1;
			}
			continue;
		}
		if (decoder->holds) {
			pt_decoder_finish(decoder, step, false, 0);
			return 1;
		}
		if (decoder->ended)
			return 0;
		if (decoder->synced && decoder->status < 0 && decoder->status != -pte_eos)
			return tell_gap(decoder, step, decoder->status);
		if (decoder->synced) {
			decoder->ended = true;
			return 0;
		}
		told = synchronise(decoder, step);
		if (told >= 0 || told == KTREAD_E_MEMORY)
			return told;
	}
}

static size_t begin(const struct hwt_stream *stream, const struct hwt_piece *piece, size_t offset)
{
	static const unsigned char psb[16] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
					       2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };

	(void)stream;
	if (piece->size < sizeof(psb))
		return 0;
	if (offset > piece->size - sizeof(psb))
		offset = piece->size - sizeof(psb);
	while (offset && memcmp(piece->bytes + offset, psb, sizeof(psb)) != 0)
		offset--;
	return offset;
}

static const struct hwt_encoding pt = {
	.name = "pt",
	.open = open_stream,
	.next = next_step,
	.close = pt_decoder_close,
	.begin = begin,
	.packets = pt_packets,
};
const struct hwt_encoding *const hwt_encoding_pt = &pt;
