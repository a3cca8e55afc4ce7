/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the parts of our own format's reader need of one another. */
#ifndef KTREAD_PROC_KTRX_H
#define KTREAD_PROC_KTRX_H

#include "proc_state.h"

/*
 * Whether the record at the input's begin, as much of it as is there, has a size that no kernel gives one of
 * its type: what follows may have become a part of it.
 */
bool ktread_proc_ktrx_is_doubtful(const struct ktread_proc *trace);

/* Fills in what the type of trace->record says of its payload. False: it cannot be of that type. */
bool ktread_proc_ktrx_payload(struct ktread_proc *trace);

/* The text of a session's TABLE records. */
void ktread_proc_table_clear(struct ktread_proc *trace);
/* Those that stand at the input's begin, as far as they are there. */
void ktread_proc_table_gather(struct ktread_proc *trace);
/* One that was come to, if it was not gathered. */
void ktread_proc_table_add(struct ktread_proc *trace, uint64_t offset, const uint8_t *text, uint32_t size);

/*
 * A record's head where it lies in the input, at any address: its fields are loaded singly, which costs less
 * than a copy.
 */
struct __attribute__((packed, may_alias)) ktread_proc_ktrx_record {
	struct ktrx_proc_record is;
};

/* Whether a record's head, so many bytes of one at least, may be one. */
#define KTREAD_PROC_MARKED_LEAST 28u
static inline bool ktread_proc_ktrx_is_record(const uint8_t *bytes)
{
	uint32_t size;
	uint16_t mark;

	memcpy(&size, bytes + offsetof(struct ktrx_proc_record, size), sizeof(size));
	memcpy(&mark, bytes + offsetof(struct ktrx_proc_record, mark), sizeof(mark));
	return mark == KTRX_PROC_MARK && size <= KTRX_PROC_PAYLOAD_MAX;
}

static inline bool ktread_proc_ktrx_is_magic(const uint8_t *bytes)
{
	uint32_t magic, word;

	memcpy(&magic, KTRX_PROC_MAGIC, sizeof(magic));
	memcpy(&word, bytes, sizeof(word));
	return word == magic;
}

/* Of a record in the file: head, payload and zeroes. */
static inline size_t ktread_proc_ktrx_size(const struct ktread_proc *trace, uint32_t payload)
{
	return trace->record_head + (((size_t)payload + 7) & ~(size_t)7);
}

#endif
