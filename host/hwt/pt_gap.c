/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Handles gaps, where libipt cannot continue: describes gaps, and finds where decoding resumes. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ktread/ktread.h"
#include "hwt.h"
#include "pt.h"

/* ---- Resuming after missing code, by writing a PSB into a copy of the bytes ---- */

#define HEAD_PGE     0xd1u /* TIP.PGE with a 64-bit address */
#define HEAD_FUP     0xddu /* FUP with a 64-bit address */
#define ADDRESS_MOST 9u	   /* size in bytes of a packet with a 64-bit address */

/* Position of a packet in the piece. If the size is 0, there is no packet. */
struct place {
	size_t offset, size;
};

/* The state that the packets since a PSB describe. */
struct reader {
	struct pt_decoder *decoder;
	struct pt_packet_decoder *packets;
	uint64_t ip, space;
	struct place mode, pip; /* the last MODE.Exec and PIP packets */
	struct place overflow;	/* the last OVF packet before the packet at which decoding resumes */
	/* true if decoding resumes at a FUP packet, because tracing was on when the overflow ended */
	bool flows;
};

/* ---- Finding where to resume ---- */

static uint64_t updated(uint64_t ip, const struct pt_packet_ip *packet)
{
	switch (packet->ipc) {
	case pt_ipc_update_16:
		return (ip & ~UINT64_C(0xffff)) | packet->ip;
	case pt_ipc_update_32:
		return (ip & ~UINT64_C(0xffffffff)) | packet->ip;
	case pt_ipc_update_48:
		return (ip & ~UINT64_C(0xffffffffffff)) | packet->ip;
	case pt_ipc_sext_48:
		return (uint64_t)((int64_t)(packet->ip << 16) >> 16);
	case pt_ipc_full:
		return packet->ip;
	default:
		return ip;
	}
}

static bool is_known(const struct reader *reader)
{
	const struct pt_decoder *decoder = reader->decoder;
	unsigned char byte;

	return hwt_images_read(decoder->images, decoder->stream->pid, reader->space, decoder->read,
			       reader->ip, &byte, 1) == 1;
}

/*
 * Stores the state that a packet describes. Returns true if the packet has an address at which tracing can
 * begin.
 */
static bool take(struct reader *reader, const struct pt_packet *packet, const struct place *place)
{
	switch (packet->type) {
	case ppt_mode:
		if (packet->payload.mode.leaf == pt_mol_exec)
			reader->mode = *place;
		return false;
	case ppt_pip:
		reader->pip = *place;
		reader->space = packet->payload.pip.cr3;
		return false;
	case ppt_tip_pgd:
		reader->ip = updated(reader->ip, &packet->payload.ip);
		return false;
	case ppt_fup:
		reader->ip = updated(reader->ip, &packet->payload.ip);
		reader->flows = reader->overflow.size && packet->payload.ip.ipc != pt_ipc_suppressed;
		return reader->flows;
	case ppt_tip:
	case ppt_tip_pge:
		reader->ip = updated(reader->ip, &packet->payload.ip);
		return packet->payload.ip.ipc != pt_ipc_suppressed &&
		       (reader->overflow.size || is_known(reader));
	default:
		return false;
	}
}

/* Reads the next packet, and sets its position. Returns false if there is none, or if it cannot be read. */
static bool read_packet(const struct reader *reader, struct pt_packet *packet, struct place *place)
{
	uint64_t offset;

	if (pt_pkt_get_offset(reader->packets, &offset) < 0 ||
	    pt_pkt_next(reader->packets, packet, sizeof(*packet)) < 0)
		return false;
	*place = (struct place){ (size_t)offset, packet->size };
	return true;
}

/*
 * Finds the packet at which to resume, from `offset` on. Returns a position of size 0 if there is no such
 * packet before the next PSB.
 */
static struct place find_address(struct reader *reader, size_t psb, size_t offset)
{
	const struct place none = { 0, 0 };
	struct pt_packet packet;
	struct place place;

	if (pt_pkt_sync_set(reader->packets, psb) < 0)
		return none;
	while (read_packet(reader, &packet, &place)) {
		const bool begins = take(reader, &packet, &place);

		if (packet.type == ppt_psb && place.offset > psb)
			return none;
		if (place.offset < offset)
			continue;
		/*
		 * the overflow must be reported, so its packet is repeated, and decoding resumes at the
		 * address after it
		 */
		if (packet.type == ppt_ovf)
			reader->overflow = place;
		if (begins)
			return place;
	}
	return none;
}

/* ---- The packets that replace the skipped ones ---- */

static bool has_time(const struct pt_packet *packet)
{
	return packet->type == ppt_tsc || packet->type == ppt_tma || packet->type == ppt_mtc ||
	       packet->type == ppt_cbr;
}

static unsigned char *put(unsigned char *to, const struct pt_decoder *decoder, const struct place *place)
{
	memcpy(to, decoder->piece.bytes + place->offset, place->size);
	return to + place->size;
}

/*
 * Writes a PSB and its status packets, then the time packets up to offset `until` and the packet at which
 * tracing begins. Leaves out other branches and addresses. Returns how many bytes were written. Not counting
 * the last packet's address, they are not more than the original packets.
 */
static size_t compose(const struct reader *reader, size_t psb, size_t until, unsigned char *to)
{
	const unsigned char *const start = to;
	struct pt_packet packet;
	struct place place;

	pt_pkt_sync_set(reader->packets, psb);
	while (read_packet(reader, &packet, &place) && place.offset < until) {
		if (packet.type == ppt_psbend) {
			to = put(to, reader->decoder, &reader->pip);
			to = put(to, reader->decoder, &reader->mode);
		}
		if (packet.type == ppt_psb || packet.type == ppt_psbend || has_time(&packet))
			to = put(to, reader->decoder, &place);
	}
	to = put(to, reader->decoder, &reader->overflow);
	*to++ = reader->flows ? HEAD_FUP : HEAD_PGE;
	memcpy(to, &reader->ip, sizeof(reader->ip));
	return (size_t)(to + sizeof(reader->ip) - start);
}

/* ---- The copy ---- */

/* Makes libipt read a copy of the piece, because the copy can be changed. */
static int own_bytes(struct pt_decoder *decoder)
{
	unsigned char *own;

	if (decoder->own)
		return 0;
	own = mmap(NULL, decoder->piece.size, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (own == MAP_FAILED)
		return KTREAD_E_MEMORY;
	memcpy(own, decoder->piece.bytes, decoder->piece.size);
	decoder->own = own;
	decoder->piece.bytes = own;
	return pt_decoder_open_blocks(decoder) ? 0 : KTREAD_E_MEMORY;
}

/*
 * Writes a PSB and the packets after it into the copy, so that they end where `packet` ends. Returns 1 on
 * success, 0 if there is not enough room, or KTREAD_E_MEMORY.
 */
static int write_psb(const struct reader *reader, size_t psb, const struct place *packet)
{
	struct pt_decoder *decoder = reader->decoder;
	const size_t end = packet->offset + packet->size, room = end - psb;
	unsigned char *bytes = malloc(room + reader->pip.size + reader->mode.size + ADDRESS_MOST);
	size_t size;
	int status;

	if (!bytes)
		return KTREAD_E_MEMORY;
	size = compose(reader, psb, packet->offset, bytes);
	status = size <= room;
	if (status && own_bytes(decoder) < 0)
		status = KTREAD_E_MEMORY;
	if (status > 0) {
		memcpy(decoder->own + end - size, bytes, size);
		decoder->resumed = end - size;
	}
	free(bytes);
	return status;
}

/*
 * Resumes after missing code, where libipt stopped at `offset`. libipt can begin only at a PSB, so this
 * function writes one into a copy of the piece. The packets after this PSB repeat the time, mode and address
 * space that the skipped packets gave. Tracing begins at the next address of known code that a packet gives.
 * If an overflow comes before this address, the overflow is repeated, too, and tracing begins at the address
 * after the overflow.
 *
 * Returns 1 and sets decoder->resumed to the PSB's offset and *address to the offset after the packet with
 * the address; 0 if no packet before the unit's next PSB gives such an address; or KTREAD_E_MEMORY.
 */
static int pt_resume(struct pt_decoder *decoder, size_t offset, size_t *address)
{
	const size_t psb = pt_gap_psb(&decoder->piece, offset);
	struct reader reader = { .decoder = decoder, .space = decoder->now.space };
	struct pt_config config;
	struct place packet;
	int status;

	hwt_pt_configure(&config, decoder->stream, &decoder->piece);
	reader.packets = pt_pkt_alloc_decoder(&config);
	if (!reader.packets)
		return KTREAD_E_MEMORY;
	packet = find_address(&reader, psb, offset);
	status = packet.size ? write_psb(&reader, psb, &packet) : 0;
	*address = packet.offset + packet.size;
	pt_pkt_free_decoder(reader.packets);
	return status;
}

/* ---- Gaps ---- */

#define PSB_MOST 128u /* maximum distance in bytes from a PSB to its PSBEND */

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

/*
 * Returns true if libipt stopped at a packet that is newer than libipt (CFE, EVD, TRIG), and describes that
 * packet.
 */
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
