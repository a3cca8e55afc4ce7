/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Writes protobuf messages into a buffer, front to back. A nested message is opened with room for a one-byte
 * length; if it grows longer, closing it moves its bytes up. Nothing is ever written past the limit: what
 * does not fit sets `overflow`, and the message as a whole is then worthless.
 */
#ifndef EXPORT_PROTOBUF_H
#define EXPORT_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROTOBUF_VARINT_MAX 10u
#define PROTOBUF_FIELD_MAX  (5u + PROTOBUF_VARINT_MAX) /* key and number */

struct protobuf {
	unsigned char *at;    /* next byte to write */
	unsigned char *limit; /* end of the buffer */
	bool overflow;
};

enum protobuf_wire {
	PROTOBUF_VARINT = 0,
	PROTOBUF_FIXED64 = 1,
	PROTOBUF_BYTES = 2,
};

/* Unchecked: the caller has seen to it that PROTOBUF_VARINT_MAX bytes are free. */
static inline unsigned char *protobuf_put_varint(unsigned char *at, uint64_t value)
{
	while (value > 0x7f) {
		*at++ = (unsigned char)(value | 0x80);
		value >>= 7;
	}
	*at++ = (unsigned char)value;
	return at;
}

static inline bool protobuf_room(struct protobuf *pb, size_t bytes)
{
	if (__builtin_expect((size_t)(pb->limit - pb->at) >= bytes, 1))
		return true;
	pb->overflow = true;
	return false;
}

/* uint32, uint64, bool, enum, and int32 and int64 that are not negative. */
static inline void protobuf_uint(struct protobuf *pb, unsigned field, uint64_t value)
{
	if (!protobuf_room(pb, PROTOBUF_FIELD_MAX))
		return;
	pb->at = protobuf_put_varint(pb->at, field << 3 | PROTOBUF_VARINT);
	pb->at = protobuf_put_varint(pb->at, value);
}

/* int32, int64: ten bytes if negative. */
static inline void protobuf_int(struct protobuf *pb, unsigned field, int64_t value)
{
	protobuf_uint(pb, field, (uint64_t)value);
}

/* fixed64. */
static inline void protobuf_fixed64(struct protobuf *pb, unsigned field, uint64_t value)
{
	if (!protobuf_room(pb, PROTOBUF_FIELD_MAX))
		return;
	pb->at = protobuf_put_varint(pb->at, field << 3 | PROTOBUF_FIXED64);
	for (unsigned shift = 0; shift < 64; shift += 8)
		*pb->at++ = (unsigned char)(value >> shift);
}

/* Opens a nested message; returns what protobuf_end() wants. */
static inline unsigned char *protobuf_begin(struct protobuf *pb, unsigned field)
{
	if (protobuf_room(pb, PROTOBUF_FIELD_MAX)) {
		pb->at = protobuf_put_varint(pb->at, field << 3 | PROTOBUF_BYTES);
		pb->at++;
	}
	return pb->at;
}

void protobuf_end_long(struct protobuf *pb, unsigned char *start);

static inline void protobuf_end(struct protobuf *pb, unsigned char *start)
{
	if (__builtin_expect(pb->at - start > 0x7f || pb->overflow, 0))
		protobuf_end_long(pb, start);
	else
		start[-1] = (unsigned char)(pb->at - start);
}

/* bytes, or a string known to be UTF-8. */
void protobuf_bytes(struct protobuf *pb, unsigned field, const void *bytes, size_t length);

/*
 * A string of foreign origin, at most `most` bytes of it: what base_escape_utf8() does not keep is written as \xNN, so that strict
 * readers take the message.
 */
void protobuf_text(struct protobuf *pb, unsigned field, const char *text, size_t length, size_t most);

#endif
