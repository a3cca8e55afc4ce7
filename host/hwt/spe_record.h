/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Records of the Statistical Profiling Extension: packets up to one that ends them (end or timestamp), in any order, none of
 * them twice.
 */
#ifndef HWT_SPE_RECORD_H
#define HWT_SPE_RECORD_H

#include "hwt/hwt.h"
#include "hwt/spe_packet.h"

#define SPE_RECORD_MAX 2048u /* bytes: PMSIDR_EL1.MaxSize knows no more */

enum spe_verdict {
	SPE_RECORD_WHOLE,
	SPE_RECORD_NONE,  /* nothing but padding up to the end */
	SPE_RECORD_CUT,	  /* the bytes end within it */
	SPE_RECORD_WRONG, /* no packet begins with such a byte */
	SPE_RECORD_TWICE, /* a second packet of a kind */
	SPE_RECORD_LONG,
};

struct spe_record {
	struct hwt_sample sample;
	size_t start; /* its first packet that is no padding */
	size_t end;   /* behind its last; of a bad one: where it turned out to be bad */
	uint64_t stamp;
	uint8_t has_stamp;
	uint8_t reserved_header; /* of the last packet whose meaning is not known … */
	uint32_t reserved;	 /* … of so many */
};

/* How many bytes of padding lie here, one after another. */
size_t spe_record_pads(const struct hwt_piece *piece, size_t at);

enum spe_verdict spe_record_read(const struct hwt_piece *piece, size_t at, struct spe_record *record);

/*
 * Behind damage: the next place, behind what may be a record's end, from which a whole record with a PC can be read;
 * the piece's size if there is none. Of hostile bytes, many of which might be such a place, no more is looked at than goes with
 * how many they are; a record may be overlooked then.
 */
size_t spe_record_find(const struct hwt_piece *piece, size_t at);

#endif
