/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The stream of packets. A packet is built in place and handed on when complete, so memory is bounded by one
 * packet and the output buffer. All packets form one sequence with one set of interned strings, which starts
 * anew where slots were lost.
 */
#ifndef EXPORT_PERFETTO_PACKET_H
#define EXPORT_PERFETTO_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"
#include "export/perfetto_schema.h"
#include "export/protobuf.h"
#include "ktread/ktread.h"

#define PERFETTO_NAME_MAX 128u /* longest name written of what the trace calls something, in bytes */
#define PERFETTO_TYPES	  4096u
#define PERFETTO_NUMBERS  1024u /* system calls and interrupts whose names are interned */

struct perfetto_stream {
	struct base_output out;
	struct protobuf pb;
	unsigned char *packet;
	uint64_t pending_flags;		   /* enum perfetto_sequence_flag for the next packet */
	bool first, lossy;		   /* the next packet is the first, or the first after a loss */
	uint64_t refused;		   /* packets that did not fit, which the caps on strings rule out */
	uint8_t types[PERFETTO_TYPES / 8]; /* interned, by event id */
	uint8_t calls[PERFETTO_NUMBERS / 8];
	uint8_t irqs[PERFETTO_NUMBERS / 8];
};

int perfetto_stream_open(struct perfetto_stream *stream, int fd);
int perfetto_stream_close(struct perfetto_stream *stream); /* errno of a failed write, or 0 */

/* Slots are lost before the next packet: readers are told, and interning starts anew. */
void perfetto_stream_lost(struct perfetto_stream *stream);

/* Opens a packet at `time` ns; its content goes to stream->pb. */
struct protobuf *perfetto_packet_begin(struct perfetto_stream *stream, uint64_t time);
void perfetto_packet_end(struct perfetto_stream *stream);

/* Sets a bit; true if it was set before. */
static inline bool perfetto_note(uint8_t *bits, uint32_t n)
{
	bool was = bits[n / 8] >> n % 8 & 1;

	bits[n / 8] |= (uint8_t)(1u << n % 8);
	return was;
}

/* Numbers of interned strings; each kind of string has its own. */
static inline uint64_t perfetto_type_iid(uint32_t id)
{
	return id + UINT64_C(1);
}

static inline uint64_t perfetto_annotation_iid(uint32_t id, uint32_t field)
{
	return (uint64_t)id * 16 + field + 1;
}

static inline uint64_t perfetto_call_iid(uint64_t number)
{
	return PERFETTO_TYPES + 1 + number;
}

static inline uint64_t perfetto_irq_iid(uint64_t number)
{
	return PERFETTO_TYPES + PERFETTO_NUMBERS + 1 + number;
}

/* One entry of interned data, whose message is open. */
void perfetto_intern(struct protobuf *pb, unsigned kind, uint64_t iid, const char *text, size_t length);

#endif
