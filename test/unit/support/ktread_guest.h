/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A guest that a reader follows step by step. The memory of the guest is a part of the test's memory, which
 * the test changes between two reads, or during each read.
 */
#ifndef TEST_KTREAD_GUEST_H
#define TEST_KTREAD_GUEST_H

#include "ktread/follow.h"
#include "unit/support/ktread_sample.h"

#define FOREVER_MS 3600000u

struct guest {
	struct writer writer;
	unsigned char *memory;
	uint32_t pace; /* number of records that each CPU makes each time the memory is read */
	uint32_t most; /* maximum number of records that a CPU makes */
	uint32_t made;
	uint64_t stamp;
	int ended;
	int end_when_made;
	struct ktread_memory *source;
	struct ktread_follow *follow;
};

struct guest *guest_start(uint32_t rings);
/* Copies to the guest's memory the new records that the writer has made. */
void guest_show(struct guest *guest);
void guest_follow_with(struct guest *guest, const struct ktread_follow_options *options);
void guest_follow(struct guest *guest, uint32_t patience, int by_ring);
/* Checks that each slot was counted exactly once. Closes and frees everything. */
void guest_finish(struct guest *guest);

struct ktread_followed guest_next(struct guest *guest);
void guest_expect_boot(struct guest *guest, uint64_t boot);
void guest_expect_end(struct guest *guest);
/*
 * Ends the guest. Checks that the reader reports the end and no further event. Closes and frees everything.
 */
void guest_end(struct guest *guest);
void guest_expect_event(struct guest *guest, uint32_t prev, int late);
/* Reads several times, and checks that the reader finds no event. */
void guest_expect_nothing(struct guest *guest);
/* Returns the value of the field `prev` of an event "switch". */
uint32_t guest_prev_of(const struct ktread_event *event);

#endif
