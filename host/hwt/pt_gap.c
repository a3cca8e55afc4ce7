/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Handles gaps, where libipt cannot continue: describes gaps, and finds where decoding resumes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ktread/ktread.h"
#include "hwt.h"
#include "pt.h"

#define PSB_MOST     128u /* maximum distance in bytes from a PSB to its PSBEND */
#define ADDRESS_MOST 9u	  /* maximum size in bytes of a packet with an address */

static bool is_psb(const struct hwt_piece *piece, size_t offset)
{
	static const unsigned char psb[16] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
					       2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };

	return piece->size >= sizeof(psb) && offset <= piece->size - sizeof(psb) &&
	       memcmp(piece->bytes + offset, psb, sizeof(psb)) == 0;
}

size_t pt_gap_psb(const struct hwt_piece *piece, size_t offset)
{
	if (offset > piece->size)
		offset = piece->size;
	while (offset && !is_psb(piece, offset))
		offset--;
	return offset;
}

/*
 * Returns the offset of a PSB that is still usable, or 0. libipt has read the status packets of this PSB and
 * at most one more packet, which contradicted the bytes before the PSB. The earlier bytes are damaged, but
 * the PSB itself may be intact.
 */
static size_t unused_psb(const struct pt_decoder *decoder)
{
	static const unsigned char psbend[2] = { 2, 0x23 };
	const unsigned char *bytes = decoder->piece.bytes;
	uint64_t offset;
	size_t psb;

	if (decoder->status == -pte_nomap || decoder->status == -pte_bad_insn ||
	    pt_blk_get_offset(decoder->block_decoder, &offset) < 0)
		return 0;
	psb = pt_gap_psb(&decoder->piece, (size_t)offset);
	if (psb <= decoder->synced_at || psb + PSB_MOST < offset)
		return 0;
	for (size_t at = psb + 16; at + sizeof(psbend) + ADDRESS_MOST < offset; at++)
		if (memcmp(bytes + at, psbend, sizeof(psbend)) == 0)
			return 0;
	return psb;
}

/* Synchronizes at the next PSB at which libipt can synchronize. Returns the result of libipt's last call. */
static int find_psb(struct pt_decoder *decoder)
{
	const size_t unused = decoder->begun ? unused_psb(decoder) : 0;
	int status = -pte_nosync;

	if (unused)
		status = pt_blk_sync_set(decoder->block_decoder, unused);
	decoder->unsynced = 0;
	while (status < 0 && status != -pte_eos) {
		status = pt_blk_sync_forward(decoder->block_decoder);
		if (status < 0 && status != -pte_eos && !decoder->unsynced)
			decoder->unsynced = status;
	}
	return status;
}

/*
 * Begins decoding where libipt has synchronized. `status`: result of the synchronization. Returns 1 on
 * success, 0 if libipt has not synchronized, or KTREAD_E_MEMORY.
 */
static int begin_at(struct pt_decoder *decoder, int status)
{
	uint64_t offset = 0;

	decoder->status = status;
	decoder->synced = status >= 0;
	decoder->ended = !decoder->synced;
	if (decoder->ended)
		return 0;
	pt_blk_get_sync_offset(decoder->block_decoder, &offset);
	decoder->synced_at = offset;
	return pt_decoder_look(decoder) ? 1 : KTREAD_E_MEMORY;
}

/*
 * Resumes decoding after a gap: if `lacks` is set, because code is missing, at the next packet that gives an
 * address of known code; otherwise at the next PSB. Appends to the gap's text how many bytes are skipped.
 * Returns 1, or KTREAD_E_MEMORY.
 */
static int resume(struct pt_decoder *decoder, bool lacks)
{
	const size_t used = strlen(decoder->text);
	uint64_t offset = decoder->offset, next;
	size_t address = 0;
	int status;

	pt_blk_get_offset(decoder->block_decoder, &offset);
	status = lacks ? pt_resume(decoder, (size_t)offset, &address) : 0;
	if (status < 0)
		return status;
	status = status ? pt_blk_sync_set(decoder->block_decoder, decoder->resumed) : -pte_nosync;
	if (status < 0) {
		address = 0;
		status = find_psb(decoder);
	}
	status = begin_at(decoder, status);
	if (status < 0)
		return status;
	next = !status ? decoder->piece.size : address ? address : decoder->synced_at;
	if (next > offset)
		snprintf(decoder->text + used, sizeof(decoder->text) - used,
			 "; %" PRIu64 " bytes skipped, up to the %s", next - offset,
			 !status   ? "end"
			 : address ? "next address"
				   : "next PSB");
	return 1;
}

/*
 * Returns true if libipt stopped because code is missing. If libipt has read the filler bytes of a section,
 * it reports a bad instruction instead of missing code.
 */
static bool lacks_code(const struct pt_decoder *decoder)
{
	const uint64_t address = decoder->wanted ? decoder->wanted : decoder->last;
	const size_t most = decoder->wanted ? PT_BRANCH_MOST : 2 * PT_BRANCH_MOST;
	unsigned char bytes[2 * PT_BRANCH_MOST];

	if (decoder->status != -pte_bad_insn)
		return decoder->status == -pte_nomap;
	return hwt_images_read(decoder->images, decoder->stream->pid, decoder->now.space, decoder->read,
			       address, bytes, most) < most;
}

/* Returns true if libipt stopped at a packet that it cannot read, and describes that packet. */
static bool is_newer_packet(const struct pt_decoder *decoder, struct pt_newer *newer)
{
	const struct hwt_piece *piece = &decoder->piece;
	uint64_t offset;

	return decoder->status == -pte_bad_opc && pt_blk_get_offset(decoder->block_decoder, &offset) >= 0 &&
	       offset <= piece->size &&
	       pt_newer_packet(piece->bytes + offset, piece->size - (size_t)offset, newer) != 0;
}

/* Reports a packet whose effect this decoder cannot follow. Returns 1, or KTREAD_E_MEMORY. */
static int report_newer(struct pt_decoder *decoder, struct hwt_step *step, const struct pt_newer *newer)
{
	snprintf(decoder->text, sizeof(decoder->text), "packet %s %s is not decoded", newer->name,
		 newer->text);
	pt_decoder_begin_step(decoder, step, HWT_GAP);
	step->gap = HWT_GAP_UNREAD;
	step->text = decoder->text;
	decoder->blocks_read = decoder->blocks;
	return resume(decoder, true);
}

int pt_gap_report(struct pt_decoder *decoder, struct hwt_step *step, bool idle)
{
	const char *why = pt_errstr(pt_errcode(decoder->status));
	const bool lacks = lacks_code(decoder), known = lacks && decoder->wanted;
	struct pt_newer newer;

	if (!idle && is_newer_packet(decoder, &newer))
		return report_newer(decoder, step, &newer);
	snprintf(decoder->text, sizeof(decoder->text), "%s %s %#" PRIx64,
		 idle	 ? "endless loop without a packet"
		 : lacks ? "no image of the code"
		 : why	 ? why
			 : "damage",
		 known ? "at" : "after", known ? decoder->wanted : decoder->last);
	pt_decoder_begin_step(decoder, step, HWT_GAP);
	step->gap = lacks ? HWT_GAP_CODE : HWT_GAP_DAMAGED;
	step->text = decoder->text;
	decoder->blocks_read = decoder->blocks;
	return resume(decoder, lacks);
}

/* Returns true if the piece contains only a PSB at its beginning, and nothing was traced after it. */
static bool is_empty(const struct pt_decoder *decoder)
{
	return !decoder->unsynced && !(decoder->stream->pt.flags & KTRX_HWT_PT_SOFTWARE) &&
	       is_psb(&decoder->piece, 0) && pt_gap_psb(&decoder->piece, decoder->piece.size) == 0;
}

int pt_gap_synchronise(struct pt_decoder *decoder, struct hwt_step *step)
{
	const int found = begin_at(decoder, find_psb(decoder));

	decoder->begun = true;
	if (found < 0 || decoder->piece.size == 0 || (found && decoder->synced_at == 0))
		return found < 0 ? found : 0;
	if (!found && is_empty(decoder))
		return 0;
	decoder->now.offset = decoder->piece.position;
	if (found)
		snprintf(decoder->text, sizeof(decoder->text), "%" PRIu64 " bytes before the first PSB",
			 decoder->synced_at);
	else if (decoder->unsynced)
		snprintf(decoder->text, sizeof(decoder->text),
			 "%zu bytes that cannot be decoded from any PSB: %s", decoder->piece.size,
			 pt_errstr(pt_errcode(decoder->unsynced)));
	else if (decoder->stream->pt.flags & KTRX_HWT_PT_SOFTWARE && is_psb(&decoder->piece, 0))
		snprintf(decoder->text, sizeof(decoder->text),
			 "nothing was traced: the unit in software waits for the first 64-bit code that "
			 "is selected");
	else if (pt_gap_psb(&decoder->piece, decoder->piece.size))
		snprintf(decoder->text, sizeof(decoder->text),
			 "%zu bytes before the only PSB, after which nothing was traced",
			 pt_gap_psb(&decoder->piece, decoder->piece.size));
	else
		snprintf(decoder->text, sizeof(decoder->text), "%zu bytes without a PSB",
			 decoder->piece.size);
	pt_decoder_begin_step(decoder, step, HWT_GAP);
	if (!found && decoder->unsynced)
		step->gap = HWT_GAP_DAMAGED;
	step->text = decoder->text;
	decoder->now.offset += decoder->offset;
	return 1;
}
