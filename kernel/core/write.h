/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * From a packed record to slots of a ring. Any context; see port.h for those in which only the boot ring will
 * do.
 */
#ifndef KTRACE_CORE_WRITE_H
#define KTRACE_CORE_WRITE_H

#include "state.h"

/* A record that is to be made. */
struct ktrace_draft {
	uint32_t *payload; /* in a buffer of KTRACE_CAPACITY(bytes), rounded up to 8 */
	uint32_t bytes;	   /* of payload, extension block included */
	uint32_t second;   /* thread, context and extension bit, as in bits 88:64 of a first slot */
	uint32_t ring;	   /* boot ring, that of rare events, or this CPU's; shared ones need a CPU */
	uint16_t event;
	uint16_t place; /* id that the record bears in place of the event's; 0: none */
};

/* Records. Returns the stamp, 0 if the ring is full. */
KTRACE_HIDDEN uint64_t ktrace_write(const struct ktrace_draft *draft);

/* The same where the draft's ring is known to be that of this CPU, as it was just now. */
KTRACE_HIDDEN uint64_t ktrace_write_own(const struct ktrace_draft *draft);

/* The same where a site has reserved one slot of a CPU's ring, and read the clock. */
KTRACE_HIDDEN uint64_t ktrace_write_reserved(const struct ktrace_draft *draft, uint64_t word, uint64_t stamp);

/* Clears what the record's slots hold behind its payload, up to a multiple of 4 bytes. */
KTRACE_HIDDEN void ktrace_draft_end(const struct ktrace_draft *draft);

#endif
