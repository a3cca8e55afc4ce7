/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Decodes the Statistical Profiling Extension: a record becomes a sample. Bytes that are not a record become
 * one gap, up to the next place where a record begins. There is no state across records, so decoding may
 * begin at any record.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hwt/decoder.h"
#include "hwt/spe.h"

/* ---- Records ---- */

#define TIMESTAMP_HEADER 0x71
#define TIMESTAMP_SIZE	 9u
#define END_HEADER	 0x01

/*
 * Limits for the search for the next record. The cost of the search is the number of packets that are read.
 */
#define FIND_FIRST 4096u /* number of packets that may be read before any byte is skipped */
#define FIND_MORE  4u	 /* number of further packets that may be read for each byte that is skipped */
#define FIND_PADS  64u	 /* number of padding bytes that cost as much as one packet */

/*
 * Parts of a sample (numbers of bits in sample.has), indexed by the packet's index. Packets of a higher index
 * have no known meaning, and are ignored.
 */
static const uint8_t address_parts[] = {
	[SPE_ADDRESS_PC] = HWT_SAMPLE_PC,
	[SPE_ADDRESS_TARGET] = HWT_SAMPLE_TARGET,
	[SPE_ADDRESS_DATA_VIRTUAL] = HWT_SAMPLE_DATA_VIRTUAL,
	[SPE_ADDRESS_DATA_PHYSICAL] = HWT_SAMPLE_DATA_PHYSICAL,
	[SPE_ADDRESS_PREVIOUS_TARGET] = HWT_SAMPLE_PREVIOUS_TARGET,
};
static const uint8_t counter_parts[] = {
	[SPE_COUNTER_TOTAL] = HWT_SAMPLE_LATENCY_TOTAL,
	[SPE_COUNTER_ISSUE] = HWT_SAMPLE_LATENCY_ISSUE,
	[SPE_COUNTER_TRANSLATION] = HWT_SAMPLE_LATENCY_TRANSLATION,
};
static const uint8_t context_parts[] = { HWT_SAMPLE_CONTEXT_EL1, HWT_SAMPLE_CONTEXT_EL2 };

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define NO_PART	     -1

/* Returns the part of a sample that the packet contains. */
static int part_of(const struct spe_packet *packet)
{
	switch (packet->kind) {
	case SPE_ADDRESS:
		return packet->index < COUNT(address_parts) ? address_parts[packet->index] : NO_PART;
	case SPE_COUNTER:
		return packet->index < COUNT(counter_parts) ? counter_parts[packet->index] : NO_PART;
	case SPE_CONTEXT:
		return packet->index < COUNT(context_parts) ? context_parts[packet->index] : NO_PART;
	case SPE_EVENTS:
		return HWT_SAMPLE_EVENTS;
	case SPE_SOURCE:
		return HWT_SAMPLE_SOURCE;
	case SPE_OPERATION:
		return HWT_SAMPLE_OPERATION;
	default:
		return NO_PART;
	}
}

static void put_address(struct hwt_sample *sample, const struct spe_packet *packet)
{
	uint64_t *const to[] = {
		[SPE_ADDRESS_PC] = &sample->pc,
		[SPE_ADDRESS_TARGET] = &sample->target,
		[SPE_ADDRESS_DATA_VIRTUAL] = &sample->data_virtual,
		[SPE_ADDRESS_DATA_PHYSICAL] = &sample->data_physical,
		[SPE_ADDRESS_PREVIOUS_TARGET] = &sample->previous_target,
	};

	*to[packet->index] = spe_packet_address(packet);
	if (packet->index == SPE_ADDRESS_PC) {
		sample->level = spe_packet_level(packet);
		sample->not_secure = spe_packet_not_secure(packet);
	}
}

static void put_counter(struct hwt_sample *sample, const struct spe_packet *packet)
{
	uint16_t *const to[] = {
		[SPE_COUNTER_TOTAL] = &sample->latency_total,
		[SPE_COUNTER_ISSUE] = &sample->latency_issue,
		[SPE_COUNTER_TRANSLATION] = &sample->latency_translation,
	};

	*to[packet->index] = packet->payload > UINT16_MAX ? UINT16_MAX : (uint16_t)packet->payload;
}

static void put(struct hwt_sample *sample, const struct spe_packet *packet)
{
	switch (packet->kind) {
	case SPE_ADDRESS:
		put_address(sample, packet);
		break;
	case SPE_COUNTER:
		put_counter(sample, packet);
		break;
	case SPE_CONTEXT:
		*(packet->index ? &sample->context_el2 : &sample->context_el1) = (uint32_t)packet->payload;
		break;
	case SPE_EVENTS:
		sample->events = packet->payload;
		break;
	case SPE_SOURCE:
		sample->source = (uint32_t)packet->payload;
		break;
	default:
		sample->operation_class = packet->index;
		sample->operation = (uint8_t)packet->payload;
	}
}

static enum spe_verdict add(struct spe_record *record, const struct spe_packet *packet)
{
	int part = part_of(packet);

	if (packet->kind == SPE_RESERVED) {
		record->reserved++;
		record->reserved_header = packet->header;
	}
	if (part == NO_PART)
		return SPE_RECORD_WHOLE;
	if (record->sample.has >> part & 1)
		return SPE_RECORD_TWICE;
	record->sample.has |= 1u << part;
	put(&record->sample, packet);
	return SPE_RECORD_WHOLE;
}

/* Returns the number of padding bytes at `at`. */
static size_t record_pads(const struct hwt_piece *piece, size_t at)
{
	size_t end = at;

	while (end < piece->size && piece->bytes[end] == 0)
		end++;
	return end - at;
}

/*
 * Subtracts a cost from *left, the number of packets that may still be read. Returns false if the cost is
 * larger than that number.
 */
static bool pay(uint64_t *left, uint64_t packets)
{
	if (*left < packets)
		return false;
	*left -= packets;
	return true;
}

/*
 * Returns the offset after padding and alignment, at which a record may begin, or the offset at which the
 * limit of the cost is reached.
 */
static size_t skip_padding(const struct hwt_piece *piece, size_t at, uint64_t *left)
{
	struct spe_packet packet;

	for (;;) {
		const size_t pads = record_pads(piece, at);

		at += pads;
		if (!pay(left, 1 + pads / FIND_PADS) ||
		    spe_packet_read(piece->bytes + at, piece->size - at, piece->position + at, &packet) <=
			    0 ||
		    packet.kind != SPE_ALIGN)
			return at;
		at += packet.size;
	}
}

/* Reads a record of at most *left packets, and subtracts the cost of reading from *left. */
static enum spe_verdict read_record(const struct hwt_piece *piece, size_t at, uint64_t *left,
				    struct spe_record *record)
{
	struct spe_packet packet;
	enum spe_verdict verdict = SPE_RECORD_WHOLE;

	memset(record, 0, sizeof(*record));
	record->start = record->end = skip_padding(piece, at, left);
	if (record->start == piece->size)
		return SPE_RECORD_NONE;
	while (verdict == SPE_RECORD_WHOLE) {
		int size = spe_packet_read(piece->bytes + record->end, piece->size - record->end,
					   piece->position + record->end, &packet);

		if (size < 0)
			return size == SPE_CUT ? SPE_RECORD_CUT : SPE_RECORD_WRONG;
		verdict = add(record, &packet);
		if (verdict == SPE_RECORD_WHOLE)
			record->end += packet.size;
		if (packet.kind == SPE_TIMESTAMP) {
			record->stamp = packet.payload;
			record->has_stamp = 1;
		}
		if (packet.kind == SPE_TIMESTAMP || packet.kind == SPE_END)
			break;
		if (record->end - record->start > SPE_RECORD_MAX || !pay(left, 1))
			verdict = SPE_RECORD_LONG;
	}
	return verdict;
}

static enum spe_verdict record_read(const struct hwt_piece *piece, size_t at, struct spe_record *record)
{
	uint64_t all = UINT64_MAX;

	return read_record(piece, at, &all, record);
}

size_t spe_record_find(const struct hwt_piece *piece, size_t at)
{
	struct spe_record record;
	uint64_t left = FIND_FIRST;

	for (; at < piece->size; at++, left += FIND_MORE) {
		size_t next = at + 1;

		if (piece->bytes[at] == TIMESTAMP_HEADER)
			next = at + TIMESTAMP_SIZE;
		else if (piece->bytes[at] != END_HEADER)
			continue;
		if (next < piece->size && read_record(piece, next, &left, &record) == SPE_RECORD_WHOLE &&
		    record.sample.has & 1u << HWT_SAMPLE_PC)
			return next;
	}
	return piece->size;
}

/* ---- Steps ---- */

#define TEXT_SIZE 256

struct spe {
	const struct hwt_piece *piece;
	size_t at;
	struct spe_record record; /* the record that was reported last */
	uint8_t note;		  /* the next step is a note about packets of unknown meaning in `record` */
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

static int report_sample(struct spe *spe, struct hwt_step *step)
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

static int report_note(struct spe *spe, struct hwt_step *step)
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

static int report_gap(struct spe *spe, enum spe_verdict verdict, struct hwt_step *step)
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
		return report_note(spe, step);
	verdict = record_read(spe->piece, spe->at, &spe->record);
	if (verdict == SPE_RECORD_NONE)
		return 0;
	return verdict == SPE_RECORD_WHOLE ? report_sample(spe, step) : report_gap(spe, verdict, step);
}

static void spe_packets(const struct hwt_stream *stream, const struct hwt_piece *piece,
			void (*line)(void *to, uint64_t offset, const char *name, const char *text), void *to)
{
	struct spe_packet packet;
	char text[TEXT_SIZE];

	(void)stream;
	for (size_t at = 0; at < piece->size;) {
		size_t pads = record_pads(piece, at);
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
						 : ": no packet begins with this byte");
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
