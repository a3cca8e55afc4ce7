/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The stream: a dump of version 1 or 2 in a compact form. It has a head, then independent blocks. A block is
 * a piece of the dump's bytes in a zstd frame; slots are split into columns first. A reader reconstructs the
 * dump byte for byte. Normative text: spec/stream.md.
 */
#ifndef KTRX_STREAM_H
#define KTRX_STREAM_H

#include "ktrx/base.h"

#define KTRX_STREAM_MAGIC   "\x89KTS\r\n\x1a\n"
#define KTRX_STREAM_VERSION 1u

/* Format of the original file. */
#define KTRX_STREAM_DUMP 1u /* a dump; its header contains the version */
#define KTRX_STREAM_BARE 2u /* records of version 1 without a header */

struct ktrx_stream {
	uint8_t magic[8];
	uint32_t version;
	uint32_t head_size; /* number of bytes before the first block */
	uint64_t length;    /* number of bytes of the dump */
	uint64_t frequency; /* frequency that replaces that of the dump; 0: none */
	uint32_t form;	    /* KTRX_STREAM_* */
	/* layout of version 1 payloads. 0: as in real traces; 1: as in the first description of the format */
	uint32_t v1_layout;
	uint8_t reserved[20];
	uint32_t check; /* result of ktrx_stream_check() for the members before this one */
};

/* Ways in which the bytes of a block are encoded. */
/* end of the stream: no block follows; `position` is the number of blocks before this one */
#define KTRX_STREAM_END	     0u
#define KTRX_STREAM_BYTES    1u /* the bytes of the dump, unchanged */
#define KTRX_STREAM_SLOTS_V1 2u /* records of version 1, in columns */
#define KTRX_STREAM_SLOTS_V2 3u /* slots of version 2 of format KTRX_SLOTS_COPIED, in columns */
#define KTRX_STREAM_CHECKED  4u /* slots of version 2 of format KTRX_SLOTS_CHECKED, in columns */

/* maximum number of bytes of the dump that a block contains */
#define KTRX_STREAM_BLOCK_MAX (KTRX_U32(128) << 10)

struct ktrx_stream_block {
	uint32_t check; /* result of ktrx_stream_check() for all bytes of the block that follow */
	uint16_t coding;
	uint16_t reserved;
	uint32_t size; /* number of bytes of the zstd frame that follows */
	/* number of bytes of the dump that the block contains; for slots, a multiple of 32 */
	uint32_t length;
	uint64_t position; /* offset in the dump of the bytes that the block contains */
};

/*
 * Head of the columns of slots, with the values from which the first slot is decoded. The keys of the
 * groups follow this head.
 */
struct ktrx_stream_columns {
	uint64_t stamp;
	uint32_t lead;
	uint16_t generation;
	/* number of 16-bit keys that follow. In KTRX_STREAM_CHECKED, a 32-bit lap precedes the keys */
	uint16_t groups;
};

/*
 * Keys of groups of slots. The keys of version 1 records and of first slots are below a limit. The keys of
 * all other slots are at or above this limit.
 */
/* limit of the keys of version 1 records; the key is the event id */
#define KTRX_STREAM_KEY_V1_EVENTS 0x400u
/* limit of the keys of first slots; the key is event << 1 | (1 if FIRST, 0 if SINGLE) */
#define KTRX_STREAM_KEY_FIRSTS 0x2000u
/*
 * key of a continuation slot: this number plus (event of the preceding first slot << 1 | (1 if LAST, 0 if
 * MORE))
 */
#define KTRX_STREAM_KEY_MORE  0x2000u
#define KTRX_STREAM_KEY_EMPTY 0x4000u /* key of slots that contain 32 zero bytes */
#define KTRX_STREAM_KEY_ODD   0x4001u /* key of slots with any other contents */

/* Flags in the first byte of a column. */
/* if bit n is set, byte n of each value follows; otherwise byte n of each value is 0 */
#define KTRX_STREAM_PLANES 0x0fu
/*
 * Each value is stored as its zigzag-coded difference from the previous value. The next 32 bits are the value
 * from which the first difference is counted.
 */
#define KTRX_STREAM_DELTAS 0x10u

/*
 * The index: a zstd frame after the END block that contains a struct ktrx_stream_span for each block, in the
 * order of the blocks; and then a struct ktrx_stream_index, which ends the file. If a block contains both the
 * oldest and the newest slot of a ring, it has two spans, which are directly after each other.
 */
struct ktrx_stream_span {
	uint64_t position; /* offset in the dump of the first byte */
	uint64_t offset;   /* offset in the stream of the block's head */
	/*
	 * the lowest and the highest whole timestamp, not corrected, of the records that begin in these
	 * bytes. 0 and UINT64_MAX: unknown. UINT64_MAX and 0: no record begins here
	 */
	uint64_t first, last;
	uint64_t
		events; /* bit n is set if these bytes contain a record of an event whose id modulo 64 is n */
	uint32_t length; /* number of bytes of the dump */
	uint32_t size;	 /* size of the block's frame */
};

#define KTRX_STREAM_INDEX_MAGIC "\x89KTSIDX\n"

struct ktrx_stream_index {
	uint64_t offset; /* offset in the stream of the zstd frame that contains the spans */
	uint32_t size;	 /* size of this zstd frame in bytes */
	uint32_t spans;
	uint32_t reserved;
	uint32_t check; /* result of ktrx_stream_check() for the members before this one */
	uint8_t magic[8];
};

KTRX_ASSERT_SIZE(struct ktrx_stream_span, 48);
KTRX_ASSERT_SIZE(struct ktrx_stream_index, 32);
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

/* Returns the FNV-1a hash of the bytes. */
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
