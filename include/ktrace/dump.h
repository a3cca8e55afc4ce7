/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Writes the whole trace as a stream of bytes. Needs no memory except the sink's copy buffer. All CPUs may
 * continue to record during the dump: slots that they overwrite are written to the stream as empty slots, and
 * count as lost.
 *
 * Most kernels call ktrace_dump() of ktrace/transport.h, which uses this.
 */
#ifndef KTRACE_DUMP_H
#define KTRACE_DUMP_H

#include <stddef.h>
#include <stdint.h>

#include "ktrx/v2.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Errors of output. Every function here and in ktrace/transport.h returns 0 or one of these errors. */
enum ktrace_output_error {
	KTRACE_OUTPUT_ABSENT = -1, /* no such device, or no transport set */
	KTRACE_OUTPUT_BUSY = -2,   /* the output of another context, on any transport, did not end in time */
	/* the device did not become ready in time; it may have taken part of the output */
	KTRACE_OUTPUT_STALLED = -3,
	KTRACE_OUTPUT_FAILED = -4,   /* the device reported an error, or did not follow its protocol */
	KTRACE_OUTPUT_FULL = -5,     /* the sink has not enough room for the dump */
	KTRACE_OUTPUT_CHANGED = -6,  /* rings were added or removed during the dump: try again */
	KTRACE_OUTPUT_ARGUMENT = -7, /* invalid argument, or the trace is not set up */
};

/* The destination of a dump. The caller owns it and all that it points to. */
struct ktrace_sink {
	/*
	 * Writes all bytes and returns 0, or returns an error, which ends the dump. Called in the context of
	 * the dump.
	 */
	int (*write)(struct ktrace_sink *sink, const void *data, size_t bytes);
	/* Called before each dump, with the size of the dump in bytes. NULL: not called. */
	int (*begin)(struct ktrace_sink *sink, uint64_t bytes);
	void *buffer; /* buffer for slots, aligned to 8 bytes */
	/* size of the buffer, at least KTRACE_SINK_BUFFER_MIN; a larger buffer means fewer writes */
	size_t buffer_size;
};
#define KTRACE_SINK_BUFFER_MIN 1024u

/*
 * Writes the trace of `root` as a KTRX version 2 dump: the root with a new table of sections, then every
 * section, then the slots of every ring in the order of their addresses. The heads of the rings are read
 * once, before the first slot.
 * Returns 0 or an error of enum ktrace_output_error.
 * Any context; takes no lock. Requires: one call at a time for each sink.
 */
int ktrace_dump_v2(const struct ktrx_root *root, struct ktrace_sink *sink);

/*
 * Writes the trace as a KTRX version 1 dump. Records that this format cannot hold (events without a v1 id,
 * CPU 8 and above) are left out; *omitted is set to their number. In all other respects, does the same as
 * ktrace_dump_v2().
 */
int ktrace_dump_v1(const struct ktrx_root *root, struct ktrace_sink *sink, uint32_t *omitted);

#ifdef __cplusplus
}
#endif

#endif
