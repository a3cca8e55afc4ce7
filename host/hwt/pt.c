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

/* Where libipt is, and when; that only changes with the packets it has read. False: out of memory, as for an image. */
static inline bool look(struct pt_decoder *decoder)
{
	uint64_t offset, time;

	if (decoder->library->pt_blk_get_offset(decoder->block_decoder, &offset) < 0 ||
	    offset == decoder->offset)
		return true;
	decoder->offset = offset;
	return decoder->library->pt_blk_time(decoder->block_decoder, &time, NULL, NULL) < 0 ||
	       pt_decoder_set_time(decoder, time);
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

static uint8_t bits_of(enum pt_exec_mode mode)
{
	return mode == ptem_64bit ? 64 : mode == ptem_32bit ? 32 : 16;
}

static __attribute__((noinline)) void learn_branch(const struct pt_decoder *decoder,
						   const struct pt_block *block, struct pt_known *known)
{
	const uint64_t stamp = decoder->has_time ? hwt_stream_stamp(decoder->stream, decoder->time) : 0;
	unsigned char bytes[PT_BRANCH_MOST];
	const size_t size = hwt_images_read(decoder->images, decoder->stream->pid, decoder->space, stamp,
					    block->end_ip, bytes, sizeof(bytes));

	known->address = block->end_ip;
	known->bits = bits_of(block->mode);
	known->branch = pt_branch_of(bytes, size, known->bits);
}

/* What the last instruction of a block is. */
static inline struct pt_known *last_of(struct pt_decoder *decoder, const struct pt_block *block)
{
	struct pt_known *known = &decoder->branch[(block->end_ip ^ block->end_ip >> 11) % PT_KNOWN];

	/* What has no section may be another the next time. */
	if (__builtin_expect(known->address != block->end_ip || known->bits != bits_of(block->mode) ||
				     !block->isid,
			     0))
		learn_branch(decoder, block, known);
	return known;
}

/* The block as a step; `next`: the instruction behind it, if `known`. What a run never has is as the run before it left it. */
static inline void finish(const struct pt_held *held, struct hwt_step *step, bool known, uint64_t next)
{
	const struct pt_block *block = &held->block;
	const struct pt_branch branch = held->last.branch;

	if (__builtin_expect(step->kind != HWT_RUN, 0))
		*step = (struct hwt_step){ .kind = HWT_RUN, .has_address = 1 };
	step->branch = branch.kind;
	step->has_stamp = held->has_time;
	step->has_to = known;
	step->bits = held->last.bits;
	step->instructions = block->ninsn;
	step->address = block->ip;
	step->last = block->end_ip;
	/* Of what is no branch the next instruction is the end. */
	step->end = branch.length ? block->end_ip + branch.length : known ? next : block->end_ip + 1;
	step->taken = branch.kind == HWT_BRANCH_CONDITIONAL ? known && next != step->end
							    : branch.kind != HWT_BRANCH_NONE;
	step->to = next;
	step->space = held->space;
	step->stamp = held->time;
	step->offset = held->offset;
}

/* The block that is held, which nothing follows directly. */
static void finish_held(struct pt_decoder *decoder, struct hwt_step *step, bool is_known, uint64_t next)
{
	decoder->holds = false;
	finish(&decoder->held[decoder->at], step, is_known, is_known ? next : 0);
}

/* ---- Damage ---- */

/* Of what could not be decoded, and why. */
static int tell_gap(struct pt_decoder *decoder, struct hwt_step *step, int error)
{
	const char *why = decoder->library->pt_errstr(pt_errcode(error));
	/* The block that was not to be had says where it would have begun. */
	const uint64_t at = decoder->held[decoder->at ^ 1].block.ip;
	const bool known = error == -pte_nomap && at && decoder->held[decoder->at ^ 1].block.ninsn == 0;

	snprintf(decoder->text, sizeof(decoder->text), "%s %s %#" PRIx64,
		 error == -pte_nomap ? "no image of what was run"
		 : why		     ? why
				     : "damage",
		 known ? "at" : "behind", known ? at : decoder->held[decoder->at].block.end_ip);
	pt_decoder_begin_step(decoder, step, HWT_GAP);
	step->error = 1;
	step->text = decoder->text;
	decoder->synced = false;
	return 1;
}

/* To the next PSB that can be used: 1 and a step if bytes are skipped before the first, 0: there is none, or an error. */
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
		if (!look(decoder))
			return KTREAD_E_MEMORY;
	}
	if (decoder->begun || (status >= 0 && offset == 0)) {
		decoder->begun = true;
		return 0;
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

/* The next block, which makes a step of the one before it: 1, 0: there was none, or an error. */
static inline int next_block(struct pt_decoder *decoder, struct hwt_step *step)
{
	struct pt_held *held = &decoder->held[decoder->at ^ 1];
	const bool told = decoder->holds;

	held->block.ninsn = 0;
	held->block.ip = 0;
	decoder->status =
		decoder->library->pt_blk_next(decoder->block_decoder, &held->block, sizeof(held->block));
	if (__builtin_expect(!held->block.ninsn, 0))
		return 0;
	if (told)
		finish(&decoder->held[decoder->at], step, true, held->block.ip);
	decoder->holds = true;
	decoder->at ^= 1;
	held->last = *last_of(decoder, &held->block);
	/* Whose target stands in the instruction, no packet was read for. */
	if (held->last.branch.kind != HWT_BRANCH_CALL && held->last.branch.kind != HWT_BRANCH_JUMP &&
	    __builtin_expect(!look(decoder), 0))
		return KTREAD_E_MEMORY;
	held->has_time = decoder->has_time;
	held->time = decoder->time;
	held->offset = decoder->offset;
	held->space = decoder->space;
	return told;
}

/* An event, which makes a step of the block before it: 1, 0: there was none, or an error. */
static int next_event(struct pt_decoder *decoder, struct hwt_step *step)
{
	const int taken = pt_decoder_take_event(decoder);
	uint64_t next = 0;
	bool known;

	if (taken <= 0 || !decoder->holds)
		return taken < 0 ? taken : 0;
	known = pt_decoder_event_follows(decoder, &next);
	finish_held(decoder, step, known, next);
	return 1;
}

/* What comes where libipt does not go on: 1 and a step, 0: there is nothing, or an error. */
static int next_beginning(struct pt_decoder *decoder, struct hwt_step *step)
{
	if (decoder->holds) {
		finish_held(decoder, step, false, 0);
		return 1;
	}
	if (decoder->synced && decoder->status < 0 && decoder->status != -pte_eos)
		return tell_gap(decoder, step, decoder->status);
	if (decoder->synced)
		decoder->ended = true;
	if (decoder->ended)
		return 0;
	return synchronise(decoder, step);
}

static __attribute__((noinline)) int next_other(struct pt_decoder *decoder, struct hwt_step *step)
{
	int told = 0;

	if (__builtin_expect(decoder->event_parts != 0, 0)) {
		pt_decoder_event(decoder, step);
		return 1;
	}
	while (told == 0) {
		if (decoder->synced && decoder->status >= 0 && decoder->status & pts_event_pending)
			told = next_event(decoder, step);
		else if (decoder->synced && decoder->status >= 0 && !(decoder->status & pts_eos))
			told = next_block(decoder, step);
		else
			told = next_beginning(decoder, step);
		if (told == 0 && decoder->event_parts) {
			pt_decoder_event(decoder, step);
			return 1;
		}
		if (told == 0 && decoder->ended)
			return 0;
	}
	return told;
}

static int next_step(void *opened, struct hwt_step *step)
{
	struct pt_decoder *decoder = opened;

	/* Nearly always one block follows another. */
	if (__builtin_expect(decoder->status == 0 && decoder->holds && !decoder->event_parts, 1)) {
		const int told = next_block(decoder, step);

		if (told)
			return told;
	}
	return next_other(decoder, step);
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
