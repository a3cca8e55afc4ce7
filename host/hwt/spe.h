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
	SPE_RESERVED, /* a packet of known size and unknown meaning */
};

/* Index of an address packet: it states what the address is. */
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
	uint8_t kind;	/* an enum spe_kind */
	uint8_t header; /* the second byte of a two-byte header; otherwise the first byte */
	uint8_t index;	/* index of an address, counter or context packet; class of an operation packet */
	uint32_t size;	/* size in bytes, including the header */
	uint64_t payload;
};

#define SPE_CUT	  -1 /* the bytes end within the packet */
#define SPE_WRONG -2 /* no packet begins with these bytes */

/*
 * Reads the packet at `bytes`. `position`: distance in bytes from the place at which the unit's buffer was
 * aligned. Returns the packet's size, SPE_CUT or SPE_WRONG.
 */
int spe_packet_read(const unsigned char *bytes, size_t size, uint64_t position, struct spe_packet *packet);

/*
 * Returns the address in bits 55:0 of an address packet. Addresses of code and data are sign-extended to 64
 * bits.
 */
uint64_t spe_packet_address(const struct spe_packet *packet);
/* Returns the exception level. Requires: the packet is the address of a PC or of a branch target. */
uint8_t spe_packet_level(const struct spe_packet *packet);
uint8_t spe_packet_not_secure(const struct spe_packet *packet);

const char *spe_packet_name(const struct spe_packet *packet);
/* Writes a description of the packet's payload. */
void spe_packet_text(const struct spe_packet *packet, char *text, size_t size);

/*
 * Records of the Statistical Profiling Extension: each record ends with an end or timestamp packet. The other
 * packets may have any order, and none occurs twice.
 */

/* maximum size of a record in bytes, which is the largest that PMSIDR_EL1.MaxSize can express */
#define SPE_RECORD_MAX 2048u

enum spe_verdict {
	SPE_RECORD_WHOLE,
	SPE_RECORD_NONE,  /* there is only padding, up to the end */
	SPE_RECORD_CUT,	  /* the bytes end within the record */
	SPE_RECORD_WRONG, /* no packet begins with the byte at `end` */
	SPE_RECORD_TWICE, /* the record contains two packets of the same kind */
	SPE_RECORD_LONG,
};

struct spe_record {
	struct hwt_sample sample;
	size_t start; /* offset of the first packet that is not padding */
	/* offset after the last packet; in a bad record, the offset at which the error was found */
	size_t end;
	uint64_t stamp;
	uint8_t has_stamp;
	uint8_t reserved_header; /* header of the last packet of unknown meaning */
	uint32_t reserved;	 /* number of packets of unknown meaning */
};

/*
 * Finds where to resume after damage: the next offset after a possible end of a record, from which a whole
 * record with a PC can be read. Returns the piece's size if there is none. The cost of the search is limited
 * in proportion to the number of bytes, so a record among hostile bytes may be missed.
 */
size_t spe_record_find(const struct hwt_piece *piece, size_t at);

#endif
