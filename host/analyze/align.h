/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Clocks that differ from CPU to CPU, put right by what the trace itself shows: an effect on one CPU cannot
 * come before its cause on another (analyze/align_parts.h). Works on top of what the guest measured, or
 * alone.
 *
 * The trace is read several times: once to find how far apart the clocks are at all, then to bring every
 * effect behind its cause, in windows of time so that drift is followed. Memory does not grow with the trace.
 * What is in order stays as it is, and so does what cannot be brought into a better one. A clock that the
 * guest measured is moved by its stated error at most (order_error_at() in analyze/order.h).
 */
#ifndef ANALYZE_ALIGN_H
#define ANALYZE_ALIGN_H

#include <stdint.h>

#include "ktread/ktread.h"

#define ALIGN_CPUS_MAX 256u

struct align_report {
	uint64_t pairs;	   /* of a cause and its effect on another CPU */
	uint64_t before;   /* effects that came first before anything was done … */
	uint64_t after;	   /* … and those that do by what was found */
	int kept;	   /* these are no fewer: the clocks were left as they were */
	uint64_t given_up; /* bounds that contradicted others: wrong pairs, or drift within a window */
	uint64_t window;   /* ticks */
};

/*
 * Aligns and rewinds. No filter may be set. 0 or an error of the trace's; KTREAD_E_UNSUPPORTED for
 * a trace of records_only and for more than ALIGN_CPUS_MAX CPUs.
 */
int align_clocks(struct ktread *trace, struct align_report *report);

#endif
