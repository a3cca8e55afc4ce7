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

/* Blocks without a packet: no code is so long that does not choose its way. */
#define IDLE_MOST    65536u
#define PSB_MOST     128u /* bytes of a PSB and all that may stand up to its PSBEND */
#define ADDRESS_MOST 9u	  /* bytes of a packet with an address */

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
		memset(decoder->known, 0, sizeof(decoder->known));
		decoder->library->pt_blk_set_image(decoder->block_decoder, image);
	}
	decoder->image = image;
	return true;
}

bool pt_decoder_set_time(struct pt_decoder *decoder, uint64_t time)
{
	if (time == decoder->time)
		return true;
	decoder->time = time;
	decoder->stamp = hwt_stream_stamp(decoder->stream, time);
	return set_stamp(decoder, decoder->stamp);
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
	decoder->piece = *piece;
	decoder->position = piece->position;
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

/* Where libipt is, and when, which only changes with the packets it has read. False: out of memory, as for an image. */
static inline bool look(struct pt_decoder *decoder)
{
	uint64_t offset, time;

	if (decoder->library->pt_blk_get_offset(decoder->block_decoder, &offset) < 0 ||
	    offset == decoder->offset)
		return true;
	decoder->idle = 0;
	decoder->offset = offset;
	decoder->position = decoder->piece.position + offset;
	return decoder->library->pt_blk_time(decoder->block_decoder, &time, NULL, NULL) < 0 ||
	       pt_decoder_set_time(decoder, time);
}

void pt_decoder_begin_step(const struct pt_decoder *decoder, struct hwt_step *step, enum hwt_kind kind)
{
	step->kind = (uint8_t)kind;
	step->branch = HWT_BRANCH_NONE;
	step->taken = 0;
	step->has_stamp = decoder->time != 0;
	step->has_address = kind == HWT_RUN;
	step->has_to = 0;
	step->bits = decoder->bits;
	step->gap = HWT_GAP_MISSING;
	step->instructions = 0;
	step->address = step->last = step->end = step->to = 0;
	step->space = decoder->space;
	step->stamp = decoder->stamp;
	step->offset = decoder->position;
	step->pid = decoder->stream->pid;
	step->tid = decoder->stream->tid;
	step->text = NULL;
	step->sample = NULL;
}

/* ---- Runs ---- */

static uint8_t bits_of(enum pt_exec_mode mode)
{
	return mode == ptem_64bit ? 64 : mode == ptem_32bit ? 32 : 16;
}

static struct pt_last read_last(const struct pt_decoder *decoder, const struct pt_block *block)
{
	const uint8_t bits = bits_of(block->mode);
	unsigned char bytes[PT_BRANCH_MOST];
	const size_t size = hwt_images_read(decoder->images, decoder->stream->pid, decoder->space,
					    decoder->stamp, block->end_ip, bytes, sizeof(bytes));

	return (struct pt_last){ pt_branch_of(bytes, size, bits), bits };
}

/* The last instruction of a block. What is in no section may be another the next time. */
static inline struct pt_last last_of(struct pt_decoder *decoder, const struct pt_block *block)
{
	struct pt_known *known = &decoder->known[(block->end_ip ^ block->end_ip >> 11) % PT_KNOWN];
	const uint32_t section = (uint32_t)block->isid * 4 + (uint32_t)block->mode;

	if (__builtin_expect(known->address != block->end_ip || known->section != section || block->isid == 0,
			     0))
		*known = (struct pt_known){ block->end_ip, section, read_last(decoder, block) };
	return known->last;
}

/* A block as a run of which it is not known yet what follows it. What a run never has is as the last run left it. */
static inline void begin_run(const struct pt_decoder *decoder, struct hwt_step *step,
			     const struct pt_block *block, struct pt_last last)
{
	if (__builtin_expect(step->kind != HWT_RUN, 0))
		pt_decoder_begin_step(decoder, step, HWT_RUN);
	step->branch = last.branch.kind;
	step->taken = last.branch.kind != HWT_BRANCH_NONE && last.branch.kind != HWT_BRANCH_CONDITIONAL;
	step->has_stamp = decoder->time != 0;
	step->has_to = 0;
	step->bits = last.bits;
	step->instructions = block->ninsn;
	step->address = block->ip;
	step->last = block->end_ip;
	step->end = block->end_ip + last.branch.length;
	step->to = 0;
	step->space = decoder->space;
	step->stamp = decoder->stamp;
	step->offset = decoder->position;
	step->pid = decoder->stream->pid;
	step->tid = decoder->stream->tid;
}

/* The instruction that follows a run: of what is no branch, it is the end. Nobody could foretell which: no jumps here. */
static inline void end_run(struct hwt_step *step, uint64_t next)
{
	const uint64_t end = step->end;

	step->taken |= (uint8_t)((step->branch == HWT_BRANCH_CONDITIONAL) & (next != end));
	step->end = end == step->last ? next : end;
	step->has_to = 1;
	step->to = next;
}

/* The run that is held, of which nothing more will be known. */
static int hand_out(struct pt_decoder *decoder, struct hwt_step *step)
{
	decoder->holds = false;
	decoder->bits = decoder->held.bits;
	*step = decoder->held;
	if (step->end == step->last)
		step->end = step->last + 1;
	return 1;
}

/* ---- Damage ---- */

/* Of what could not be decoded, and why. */
static int tell_gap(struct pt_decoder *decoder, struct hwt_step *step)
{
	const char *why = decoder->library->pt_errstr(pt_errcode(decoder->status));
	const bool known = decoder->status == -pte_nomap && decoder->wanted;

	snprintf(decoder->text, sizeof(decoder->text), "%s %s %#" PRIx64,
		 decoder->idle > IDLE_MOST	 ? "code that goes round without a packet"
		 : decoder->status == -pte_nomap ? "no image of what was run"
		 : why				 ? why
						 : "damage",
		 known ? "at" : "behind", known ? decoder->wanted : decoder->last);
	pt_decoder_begin_step(decoder, step, HWT_GAP);
	step->gap = decoder->status == -pte_nomap ? HWT_GAP_CODE : HWT_GAP_DAMAGED;
	step->text = decoder->text;
	decoder->synced = false;
	decoder->idle = 0;
	return 1;
}

static bool is_psb(const struct hwt_piece *piece, size_t offset)
{
	static const unsigned char psb[16] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
					       2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };

	return piece->size >= sizeof(psb) && offset <= piece->size - sizeof(psb) &&
	       memcmp(piece->bytes + offset, psb, sizeof(psb)) == 0;
}

/* The last PSB at or before an offset; 0: there is none behind the first byte. */
static size_t psb_before(const struct hwt_piece *piece, size_t offset)
{
	if (offset > piece->size)
		offset = piece->size;
	while (offset && !is_psb(piece, offset))
		offset--;
	return offset;
}

/*
 * A PSB of which libipt has read what belongs to it, and one packet more at most: what it saw there did not go with what came
 * before, which is damaged, and the PSB itself may be whole. 0: there is none such.
 */
static size_t unused_psb(const struct pt_decoder *decoder)
{
	static const unsigned char psbend[2] = { 2, 0x23 };
	const unsigned char *bytes = decoder->piece.bytes;
	uint64_t offset;
	size_t psb;

	if (decoder->status == -pte_nomap || decoder->status == -pte_bad_insn ||
	    decoder->library->pt_blk_get_offset(decoder->block_decoder, &offset) < 0)
		return 0;
	psb = psb_before(&decoder->piece, (size_t)offset);
	if (psb <= decoder->synced_at || psb + PSB_MOST < offset)
		return 0;
	for (size_t at = psb + 16; at + sizeof(psbend) + ADDRESS_MOST < offset; at++)
		if (memcmp(bytes + at, psbend, sizeof(psbend)) == 0)
			return 0;
	return psb;
}

/* libipt's answer at the next PSB it can begin at. */
static int find_psb(struct pt_decoder *decoder)
{
	const struct pt_library *library = decoder->library;
	const size_t unused = decoder->begun ? unused_psb(decoder) : 0;
	int status = -pte_nosync;

	if (unused)
		status = library->pt_blk_sync_set(decoder->block_decoder, unused);
	while (status < 0 && status != -pte_eos)
		status = library->pt_blk_sync_forward(decoder->block_decoder);
	return status;
}

/* To the next PSB that can be used: 1 and a step if bytes are skipped before the first, 0: there is none, or an error. */
static int synchronise(struct pt_decoder *decoder, struct hwt_step *step)
{
	uint64_t offset = 0;
	int status;

	status = find_psb(decoder);
	if (status < 0) {
		decoder->ended = true;
		if (decoder->begun || decoder->piece.size == 0)
			return 0;
	} else {
		decoder->status = status;
		decoder->synced = true;
		decoder->library->pt_blk_get_sync_offset(decoder->block_decoder, &offset);
		decoder->synced_at = offset;
		if (!look(decoder))
			return KTREAD_E_MEMORY;
	}
	if (decoder->begun || (status >= 0 && offset == 0)) {
		decoder->begun = true;
		return 0;
	}
	decoder->begun = true;
	decoder->position = decoder->piece.position;
	if (status >= 0)
		snprintf(decoder->text, sizeof(decoder->text), "%" PRIu64 " bytes before the first PSB",
			 offset);
	else if (decoder->stream->pt.flags & KTRX_HWT_PT_SOFTWARE && is_psb(&decoder->piece, 0))
		snprintf(decoder->text, sizeof(decoder->text),
			 "nothing was traced: the unit in software waits for the first 64-bit code that is "
			 "wanted");
	else
		snprintf(decoder->text, sizeof(decoder->text), "%zu bytes without a PSB",
			 decoder->piece.size);
	pt_decoder_begin_step(decoder, step, HWT_GAP);
	step->text = decoder->text;
	decoder->position += decoder->offset;
	return 1;
}

/* ---- Steps ---- */

/*
 * Runs, up to an event, or what else there is to be seen to. The last is held back, for what follows says how it ended. How many,
 * or KTREAD_E_MEMORY.
 */
static int take_runs(struct pt_decoder *decoder, struct hwt_step *step, unsigned most)
{
	unsigned runs = 0;

	if (decoder->holds)
		step[runs++] = decoder->held;
	decoder->holds = false;
	do {
		struct pt_block block;
		struct pt_last last;

		block.ninsn = 0;
		block.ip = 0;
		decoder->status =
			decoder->library->pt_blk_next(decoder->block_decoder, &block, sizeof(block));
		decoder->wanted = block.ip;
		if (!block.ninsn)
			break;
		if (runs)
			end_run(&step[runs - 1], block.ip);
		last = last_of(decoder, &block);
		decoder->idle++;
		if (!look(decoder))
			return KTREAD_E_MEMORY;
		begin_run(decoder, &step[runs++], &block, last);
		decoder->wanted = 0;
		decoder->last = block.end_ip;
	} while (decoder->status == 0 && runs < most && decoder->idle <= IDLE_MOST);
	if (decoder->idle > IDLE_MOST)
		decoder->status = -pte_bad_query;
	if (runs) {
		decoder->held = step[--runs];
		decoder->holds = true;
	}
	return (int)runs;
}

/* An event, which ends the run before it: 1, 0: there was none, or an error. */
static int next_event(struct pt_decoder *decoder, struct hwt_step *step)
{
	const int taken = pt_decoder_take_event(decoder);
	uint64_t next;

	if (taken <= 0 || !decoder->holds)
		return taken < 0 ? taken : 0;
	if (pt_decoder_event_follows(decoder, &next))
		end_run(&decoder->held, next);
	return hand_out(decoder, step);
}

/* What comes where libipt does not go on: 1 and a step, 0: there is nothing, or an error. */
static int next_beginning(struct pt_decoder *decoder, struct hwt_step *step)
{
	if (decoder->holds)
		return hand_out(decoder, step);
	if (decoder->synced && decoder->status < 0 && decoder->status != -pte_eos)
		return tell_gap(decoder, step);
	if (decoder->synced)
		decoder->ended = true;
	if (decoder->ended)
		return 0;
	return synchronise(decoder, step);
}

static int next_steps(void *opened, struct hwt_step *step, unsigned most)
{
	struct pt_decoder *decoder = opened;
	int told = 0;

	while (told == 0) {
		const bool flows = decoder->synced && decoder->status >= 0;

		if (decoder->event_parts) {
			pt_decoder_event(decoder, step);
			return 1;
		}
		if (flows && decoder->status & pts_event_pending)
			told = next_event(decoder, step);
		else if (flows && !(decoder->status & pts_eos))
			told = take_runs(decoder, step, most);
		else
			told = next_beginning(decoder, step);
		if (told == 0 && decoder->ended)
			return 0;
	}
	return told;
}

static size_t begin(const struct hwt_stream *stream, const struct hwt_piece *piece, size_t offset)
{
	(void)stream;
	return psb_before(piece, offset);
}

static const struct hwt_encoding pt = {
	.name = "pt",
	.open = open_stream,
	.some = next_steps,
	.close = pt_decoder_close,
	.begin = begin,
	.packets = pt_packets,
};
const struct hwt_encoding *const hwt_encoding_pt = &pt;
