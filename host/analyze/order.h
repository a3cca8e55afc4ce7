/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The order of events of different CPUs: how certain it is, and clocks that are put right. Within a CPU
 * events are always in order; between CPUs that depends on what is known of their clocks.
 */
#ifndef ANALYZE_ORDER_H
#define ANALYZE_ORDER_H

#include <stdint.h>

#include "ktread/ktread.h"

/* ---- How certain the order is: all views say so by these functions ---- */

enum order_state {
	ORDER_CERTAIN,	  /* one CPU, or one clock for all */
	ORDER_MEASURED,	  /* certain for events of different CPUs that are `doubt` apart or more */
	ORDER_ALIGNED,	  /* causes and effects are in order; other events if they are `doubt` apart */
	ORDER_UNMEASURED, /* nothing is known of the clocks, or not of all */
};

struct order {
	enum order_state state;
	uint64_t doubt;	     /* ticks; 0 if unknown, also if aligned clocks were not all measured */
	uint32_t unmeasured; /* CPUs, if clocks of others were measured */
};

struct order order_between_cpus(const struct ktread *trace);

/*
 * Returns the stated error of a CPU's clock, as the guest measured it: by how many ticks the clock may differ
 * from CPU 0's at the corrected stamp `stamp`, in either direction. Returns 0 for CPU 0, ORDER_NO_ERROR if
 * the clock was not measured or no error is stated.
 */
#define ORDER_NO_ERROR UINT64_MAX
uint64_t order_error_at(const struct ktread *trace, uint32_t cpu, uint64_t stamp);

#define ORDER_TEXT 160u

/*
 * One line without its end: what a reader of the trace has to know. Returns its length; 0 and "" if the order
 * is certain.
 */
int order_say(const struct ktread *trace, char text[ORDER_TEXT]);
/* The same as a member of a JSON object, "order":{…}. */
int order_say_json(const struct ktread *trace, char text[ORDER_TEXT]);

/* ---- x ---- */

/* ---- Alignment ---- */

/*
 * Clocks that differ from CPU to CPU, put right by what the trace itself shows: an effect on one CPU cannot
 * come before its cause on another (analyze/align.h). Works on top of what the guest measured, or
 * alone.
 *
 * The trace is read several times: once to find how far apart the clocks are at all, then to bring every
 * effect behind its cause, in windows of time so that drift is followed. Memory does not grow with the trace.
 * What is in order stays as it is, and so does what cannot be brought into a better one. A clock that the
 * guest measured is moved by its stated error at most (order_error_at()).
 */

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
