/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The ktrace files of DragonFly and FreeBSD: heads without a mark, each with the payload behind it, laid out
 * as a machine's compiler laid out the kernel's structures.
 */
#ifndef KTREAD_PROC_BSD_H
#define KTREAD_PROC_BSD_H

#include "proc_state.h"

/* Bits of a type. */
#define KTREAD_BSD_LOST	     0x8000u /* FreeBSD: at least one record was, before this one */
#define KTREAD_BSD_VERSIONED 0x4000u /* FreeBSD: the head has a version */

/* Where a head has what. All have the payload's size at 0 and the type at 4. */
struct ktread_proc_layout {
	uint8_t head;	  /* its bytes */
	uint8_t word;	  /* bytes of a pointer, a register, or a part of the time */
	uint8_t pid, tid; /* offsets … */
	uint8_t tid_size;
	uint8_t comm, comm_size;
	uint8_t time;	     /* a word of seconds, a word of … */
	bool nanoseconds;    /* … these, or microseconds */
	uint8_t cpu;	     /* 32 bits; 0: none */
	uint8_t flags;	     /* DragonFly's 16 bits, of which the upper eight are the CPU; 0: none */
	uint16_t type_flags; /* bits beside the type's number */
	uint32_t types;	     /* bits of the types that the kernel writes */
};

/* A head, taken apart. */
struct ktread_proc_bsd_head {
	int32_t size; /* of the payload, as the file says */
	uint16_t type;
	bool lost;
	uint32_t pid, tid, cpu;
	int64_t seconds;
	uint64_t part; /* of a second, in the layout's unit */
};

/* Where the head that begins with these eight bytes has what. */
const struct ktread_proc_layout *ktread_proc_bsd_layout(const struct ktread_proc_reader *reader,
							const uint8_t *bytes);
void ktread_proc_bsd_take_head(const struct ktread_proc_layout *layout, const uint8_t *bytes,
			       struct ktread_proc_bsd_head *head);
/* Fills in what the type of trace->record says of its payload. False: it cannot be of that type. */
bool ktread_proc_bsd_payload(struct ktread_proc *trace, const struct ktread_proc_layout *layout);
/* Whether a kernel writes such a payload, of which `left` bytes are there. */
bool ktread_proc_bsd_fits(const struct ktread_proc_layout *layout, const struct ktread_proc_bsd_head *head,
			  const uint8_t *payload, size_t left);

/* Words of a file. */
static inline uint16_t ktread_bsd_16(const uint8_t *bytes)
{
	uint16_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline uint32_t ktread_bsd_32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline uint64_t ktread_bsd_64(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* A pointer or an unsigned register. */
static inline uint64_t ktread_bsd_word(const struct ktread_proc_layout *layout, const uint8_t *bytes)
{
	return layout->word == 8 ? ktread_bsd_64(bytes) : ktread_bsd_32(bytes);
}

/* A signed register or a time. */
static inline int64_t ktread_bsd_signed_word(const struct ktread_proc_layout *layout, const uint8_t *bytes)
{
	return layout->word == 8 ? (int64_t)ktread_bsd_64(bytes) : (int32_t)ktread_bsd_32(bytes);
}

#endif
