/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Dumps: the whole trace, streamed to anything that takes bytes. Needs no memory of its own beyond the copy
 * buffer of the sink, and may run while all CPUs go on recording: what is overwritten meanwhile arrives as
 * empty slots, so it counts as lost and nothing else does.
 *
 * Most kernels call ktrace_dump() of ktrace/transport.h; this is the part below it.
 */
#ifndef KTRACE_DUMP_H
#define KTRACE_DUMP_H

#include <stddef.h>
#include <stdint.h>

#include "ktrx/v2.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What goes wrong on the way out. Every function here and in ktrace/transport.h returns 0 or one of these. */
enum ktrace_output_error {
	KTRACE_OUTPUT_ABSENT = -1,   /* no such device, or no transport set */
	KTRACE_OUTPUT_BUSY = -2,     /* somebody else's output did not end in time */
	KTRACE_OUTPUT_STALLED = -3,  /* the device did not become ready in time; part may have been written */
	KTRACE_OUTPUT_FAILED = -4,   /* the device refused, or broke its own protocol */
	KTRACE_OUTPUT_FULL = -5,     /* no room for that much */
	KTRACE_OUTPUT_CHANGED = -6,  /* rings came or went while they were dumped; try again */
	KTRACE_OUTPUT_ARGUMENT = -7, /* unusable argument, or a trace that is not set up */
};

/* Where a dump goes. Owned by the caller, as is all that it points to. */
struct ktrace_sink {
	/* Takes all bytes, or returns an error, which ends the dump. Called in the dump's context. */
	int (*write)(struct ktrace_sink *sink, const void *data, size_t bytes);
	/* Optional. A dump of that many bytes begins. */
	int (*begin)(struct ktrace_sink *sink, uint64_t bytes);
	void *buffer;	    /* scratch for slots on their way, aligned to 8 bytes */
	size_t buffer_size; /* bytes, at least KTRACE_SINK_BUFFER_MIN; larger means fewer, larger writes */
};
#define KTRACE_SINK_BUFFER_MIN 1024u

/*
 * Writes the trace behind `root` as one KTRX version 2 dump: the root with a rewritten table, then every
 * section, then the slots of every ring, oldest address first. Heads are taken once, before the first slot.
 * Any context; takes no lock. One call at a time for one sink.
 */
int ktrace_dump_v2(const struct ktrx_root *root, struct ktrace_sink *sink);

/*
 * The same as KTRX version 1, for its readers. What that format has no room for (events without a v1 id, a
 * ninth CPU) is left out; `*omitted` gets the number of such records.
 */
int ktrace_dump_v1(const struct ktrx_root *root, struct ktrace_sink *sink, uint32_t *omitted);

#ifdef __cplusplus
}
#endif

#endif
