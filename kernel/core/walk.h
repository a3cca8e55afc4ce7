/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Walks the records of one ring from the kernel's own side, oldest first, while writers may go on. Only whole
 * records are returned: what is empty, in flight, torn, or overwritten since the head was taken is passed
 * over.
 */
#ifndef KTRACE_CORE_WALK_H
#define KTRACE_CORE_WALK_H

#include <stdbool.h>

#include "ktrx/slot.h"
#include "ktrx/v2.h"

/* Payload looked at: a first slot's and one continuation's, extension block stepped over. */
#define KTRACE_WALK_PAYLOAD (KTRX_FIRST_PAYLOAD + KTRX_MORE_PAYLOAD)

struct ktrace_walk {
	const struct ktrx_ring *ring;
	uint64_t index, head;
	uint64_t reference; /* whole stamp of the anchor that the next record's stamp is counted from */
};

struct ktrace_walk_record {
	uint64_t stamp; /* whole */
	uint32_t event;
	uint32_t thread;
	uint32_t cpu;	/* KTRX_NO_CPU if unknown */
	uint32_t bytes; /* of payload that are here; those behind the last field mean nothing */
	uint8_t payload[KTRACE_WALK_PAYLOAD];
};

/* From the oldest slot that counts up to `head`, an index got from the ring before. */
void ktrace_walk_start(struct ktrace_walk *walk, const struct ktrx_ring *ring, uint64_t head);

/* The next record, anchors excepted; false at the end. */
bool ktrace_walk_next(struct ktrace_walk *walk, struct ktrace_walk_record *record);

#endif
