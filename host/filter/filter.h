/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Expressions that select events, as --where takes them; ktrace-filter(7) describes the language:
 *
 *	struct filter *filter;
 *	struct filter_error error;
 *	if (filter_parse(&filter, "event ~ \"sched.*\" and cpu == 1", &error) == 0 &&
 *	    filter_bind(filter, trace, &error) == 0 && filter_accepts(filter, event))
 *		…
 *	filter_free(filter);
 *
 * An expression is parsed without a trace. When it is bound to a trace, its names are looked up. So no names
 * are compared when an event is evaluated. Expressions are bounded in length, size and depth.
 */
#ifndef FILTER_FILTER_H
#define FILTER_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "ktread/ktread.h"
#include "ktrx/slot.h"

#define FILTER_TEXT_MOST 4096u /* maximum length of an expression in bytes */
#define FILTER_NODES	 256u  /* maximum number of comparisons and operators of an expression */
#define FILTER_DEPTH	 64u   /* maximum depth of brackets and of `not` */
#define FILTER_CPUS	 4096u /* number of bits in filter_window.cpus */

struct filter;

struct filter_error {
	uint32_t column; /* column of the wrong word; the first column is 1 */
	/* the message; not escaped: it may contain any bytes of the expression and of the trace */
	char text[512];
};

/*
 * Parses an expression. Returns 0, KTREAD_E_FORMAT (*error states why), or KTREAD_E_MEMORY. The caller frees
 * *filter, which is NULL after an error.
 */
int filter_parse(struct filter **filter, const char *text, struct filter_error *error);
/*
 * Looks up the names of the expression in a trace, which must outlive all uses of the filter. A filter can be
 * bound again, to another trace. Returns the same values as filter_parse().
 */
int filter_bind(struct filter *filter, struct ktread *trace, struct filter_error *error);
void filter_free(struct filter *filter);

/* Returns whether the expression is true for an event. Requires: the filter is bound to the event's trace. */
bool filter_accepts(const struct filter *filter, const struct ktread_event *event);

/*
 * Sets the process of the events that are evaluated next: `pid` in the expression then means the process, not
 * the event's thread.
 */
void filter_set_process(struct filter *filter, uint32_t process);

/* Returns whether the expression compares the time. */
bool filter_uses_time(const struct filter *filter);

/*
 * The window of a filter: the event ids, CPUs and timestamps for which it may accept an event. A reader may
 * skip all events outside the window.
 */
struct filter_window {
	uint8_t events[(KTRX_EVENT_MAX + 1) / 8]; /* bit map of event ids */
	uint8_t cpus[FILTER_CPUS / 8];		  /* bit map of CPUs; valid if `some_cpus` is true */
	/*
	 * true if only events of the CPUs in `cpus` are in the window; events of an unknown CPU are then
	 * outside it
	 */
	bool some_cpus;
	/* first and last timestamp, both inclusive; since > until: no event is accepted */
	uint64_t since, until;
	/* true if the expression accepts each event from `since` to `until` */
	bool only_time;
};

/* Computes the window of a filter. Requires: the filter is bound. */
void filter_narrow(const struct filter *filter, struct filter_window *window);

#endif
