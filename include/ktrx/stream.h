/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The stream: a dump of either version, recoded so that it takes a fraction of the room. A head, then blocks,
 * each on its own: a piece of the dump's bytes, taken apart into columns where it is slots, in a zstd frame.
 * What a reader gets back is the dump, byte for byte. Normative text: spec/stream.md.
 */
#ifndef KTRX_STREAM_H
#define KTRX_STREAM_H

#include <stdint.h>

#include "ktrx/assert.h"

#define KTRX_STREAM_MAGIC   "\x89KTS\r\n\x1a\n"
#define KTRX_STREAM_VERSION 1u

/* What the recoded bytes are. */
#define KTRX_STREAM_DUMP 1u /* of either version, as its header says */
#define KTRX_STREAM_BARE 2u /* records of version 1 without a header */

struct ktrx_stream {
	uint8_t magic[8];
	uint32_t version;
	uint32_t head_size; /* bytes up to the first block */
	uint64_t length;    /* bytes of the dump */
	uint64_t frequency; /* overrides the dump's; 0: none given */
	uint32_t form;	    /* KTRX_STREAM_* */
	uint32_t v1_layout; /* of version 1 payloads: 0 as traces carry them, 1 as first described */
	uint8_t reserved[20];
	uint32_t check; /* ktrx_stream_check() over what precedes it */
};

/* How a block's bytes are coded. */
#define KTRX_STREAM_END	     0u /* no more blocks; `position` counts those before it */
#define KTRX_STREAM_BYTES    1u /* as they are */
#define KTRX_STREAM_SLOTS_V1 2u /* records of version 1, in columns */
#define KTRX_STREAM_SLOTS_V2 3u /* slots of version 2 of format KTRX_SLOTS_COPIED, in columns */
#define KTRX_STREAM_CHECKED  4u /* slots of version 2 of format KTRX_SLOTS_CHECKED, in columns */

#define KTRX_STREAM_BLOCK_MAX (UINT32_C(128) << 10) /* bytes of the dump in a block */

struct ktrx_stream_block {
	uint32_t check; /* ktrx_stream_check() over the rest */
	uint16_t coding;
	uint16_t reserved;
	uint32_t size;	   /* of the zstd frame that follows */
	uint32_t length;   /* bytes of the dump; of slots a multiple of 32 */
	uint64_t position; /* of the first of them in the dump */
};

/* Leads the columns of slots: what the first of them is told from, then the keys of the groups. */
struct ktrx_stream_columns {
	uint64_t stamp;
	uint32_t lead;
	uint16_t generation;
	uint16_t groups; /* as many keys of 16 bits follow, with KTRX_STREAM_CHECKED behind 32 bits of lap */
};

/* Keys of groups of slots. A first slot's is its event; these are the others'. */
#define KTRX_STREAM_KEY_V1_EVENTS 0x400u  /* below: record of that event */
#define KTRX_STREAM_KEY_FIRSTS	  0x2000u /* below: event << 1 | (FIRST, not SINGLE) */
#define KTRX_STREAM_KEY_MORE	  0x2000u /* + event of the first slot before it << 1 | (LAST, not MORE) */
#define KTRX_STREAM_KEY_EMPTY	  0x4000u /* 32 zero bytes */
#define KTRX_STREAM_KEY_ODD	  0x4001u /* anything else */

/* A column's leading byte. */
#define KTRX_STREAM_PLANES 0x0fu /* bit n: the bytes n of all values follow; else they are all 0 */
#define KTRX_STREAM_DELTAS \
	0x10u /* differences, zigzag, to the value before: the first's to 32 bits that follow here */

KTRX_ASSERT_SIZE(struct ktrx_stream, 64);
KTRX_ASSERT_OFFSET(struct ktrx_stream, version, 8);
KTRX_ASSERT_OFFSET(struct ktrx_stream, length, 16);
KTRX_ASSERT_OFFSET(struct ktrx_stream, frequency, 24);
KTRX_ASSERT_OFFSET(struct ktrx_stream, form, 32);
KTRX_ASSERT_OFFSET(struct ktrx_stream, v1_layout, 36);
KTRX_ASSERT_OFFSET(struct ktrx_stream, check, 60);
KTRX_ASSERT_SIZE(struct ktrx_stream_block, 24);
KTRX_ASSERT_OFFSET(struct ktrx_stream_block, coding, 4);
KTRX_ASSERT_OFFSET(struct ktrx_stream_block, size, 8);
KTRX_ASSERT_OFFSET(struct ktrx_stream_block, length, 12);
KTRX_ASSERT_OFFSET(struct ktrx_stream_block, position, 16);
KTRX_ASSERT_SIZE(struct ktrx_stream_columns, 16);
KTRX_ASSERT_OFFSET(struct ktrx_stream_columns, lead, 8);
KTRX_ASSERT_OFFSET(struct ktrx_stream_columns, groups, 14);

KTRX_CASTS_BEGIN

/* FNV-1a. */
static inline uint32_t ktrx_stream_check(const void *bytes, uint32_t size)
{
	const uint8_t *byte = (const uint8_t *)bytes;
	uint32_t hash = 2166136261u;

	for (uint32_t i = 0; i < size; i++)
		hash = (hash ^ byte[i]) * 16777619u;
	return hash;
}

KTRX_CASTS_END

#endif
