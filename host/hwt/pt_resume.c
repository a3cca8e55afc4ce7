/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Resumes decoding of Intel PT after missing code, by writing a PSB into a copy of the bytes. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ktread/ktread.h"
#include "hwt.h"
#include "pt.h"

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

int pt_resume(struct pt_decoder *decoder, size_t offset, size_t *address)
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
