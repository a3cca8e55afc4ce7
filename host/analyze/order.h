/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * How certain the order of events of different CPUs is. Within a CPU events are always in order; between CPUs
 * that depends on what is known of their clocks. All views say so by these functions.
 */
#ifndef ANALYZE_ORDER_H
#define ANALYZE_ORDER_H

#include <stdint.h>

#include "ktread/ktread.h"

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

#endif
