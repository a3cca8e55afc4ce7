/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The decoder of the Statistical Profiling Extension. */
#ifndef HWT_SPE_H
#define HWT_SPE_H

#include <stddef.h>
#include <stdint.h>

#include "hwt/hwt.h"

/*
 * One packet of the Statistical Profiling Extension, as the Arm Architecture Reference Manual's chapter on
 * sample records lays it out: a header of one byte or two, and a payload of 1 << header[5:4] bytes.
 */

enum spe_kind {
	SPE_PAD,
	SPE_END,
	SPE_TIMESTAMP,
	SPE_EVENTS,
	SPE_SOURCE,
	SPE_OPERATION,
	SPE_CONTEXT,
	SPE_COUNTER,
	SPE_ADDRESS,
	SPE_ALIGN,
	SPE_RESERVED, /* its size can be told, its meaning not */
};

/* What an address packet is about: its index. */
enum spe_address {
	SPE_ADDRESS_PC,
	SPE_ADDRESS_TARGET,
	SPE_ADDRESS_DATA_VIRTUAL,
	SPE_ADDRESS_DATA_PHYSICAL,
	SPE_ADDRESS_PREVIOUS_TARGET,
};

enum spe_counter { SPE_COUNTER_TOTAL, SPE_COUNTER_ISSUE, SPE_COUNTER_TRANSLATION };

/* Bits 1:0 of an operation packet's header. */
enum spe_class { SPE_CLASS_OTHER, SPE_CLASS_MEMORY, SPE_CLASS_BRANCH };

struct spe_packet {
	uint8_t kind;	/* enum spe_kind */
	uint8_t header; /* the second byte of one that has two */
	uint8_t index;	/* of an address, counter or context; class of an operation */
	uint32_t size;	/* bytes in the stream, with the header */
	uint64_t payload;
};

#define SPE_CUT	  -1 /* the bytes end within it */
#define SPE_WRONG -2 /* no packet begins so */

/*
 * Reads the packet at `bytes`, `position` bytes from where the unit's buffer was aligned. Returns its size,
 * SPE_CUT or SPE_WRONG.
 */
int spe_packet_read(const unsigned char *bytes, size_t size, uint64_t position, struct spe_packet *packet);

/* Bits 55:0 of an address packet; those of code and data are extended to the 64 bits that programs use. */
uint64_t spe_packet_address(const struct spe_packet *packet);
uint8_t spe_packet_level(const struct spe_packet *packet); /* exception level of PC and targets */
uint8_t spe_packet_not_secure(const struct spe_packet *packet);

const char *spe_packet_name(const struct spe_packet *packet);
/* Its payload in words. */
void spe_packet_text(const struct spe_packet *packet, char *text, size_t size);

/*
 * Records of the Statistical Profiling Extension: packets up to one that ends them (end or timestamp), in any
 * order, none of them twice.
 */

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

/*
 * Behind damage: the next place, behind what may be a record's end, from which a whole record with a PC can
 * be read; the piece's size if there is none. Of hostile bytes, many of which might be such a place, no more
 * is looked at than goes with how many they are; a record may be overlooked then.
 */
size_t spe_record_find(const struct hwt_piece *piece, size_t at);

#endif
