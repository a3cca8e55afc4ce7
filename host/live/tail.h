/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The last events, and how many there are a second. */
#ifndef LIVE_TAIL_H
#define LIVE_TAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "ktread/ktread.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

/* The last events that a filter lets through, as lines of text that hold on to nothing of the trace. */

#define LIVE_TAIL_LINES	 128u
#define LIVE_TAIL_TEXT	 256u
#define LIVE_FILTER_TEXT 96u
#define LIVE_CPUS_MAX	 4096u

struct live_filter {
	char events[LIVE_FILTER_TEXT]; /* patterns with commas; "": all */
	int64_t pid;		       /* -1: all */
	bool some_cpus;
	uint8_t cpus[LIVE_CPUS_MAX / 8];
};

/*
 * Takes what somebody typed for 'e'vents, 'c'pus or 'p'id; nothing lifts that filter. 0, or -1: it means
 * nothing and the filter is as it was.
 */
typedef int live_filter_typed(struct live_filter *filter, char what, const char *text);

struct live_tail {
	struct live_filter filter;
	bool paused;	/* what comes is let go by */
	uint64_t lines; /* so far; the last LIVE_TAIL_LINES of them are there */
	uint64_t begun; /* lines before this boot's */
	uint64_t base;	/* the stamp that is shown as zero */
	char text[LIVE_TAIL_LINES][LIVE_TAIL_TEXT];
};

/*
 * Is there a pattern that no event of the trace fits? Then `text` names the first such one, with the names
 * near it. LIVE_UNKNOWN_TEXT bytes.
 */
bool live_filter_unknown(const struct live_filter *filter, const struct ktread *trace, char *text);
#define LIVE_UNKNOWN_TEXT 640u

/* Takes the event if it is wanted. */
void live_tail_event(struct live_tail *tail, struct ktread *trace, const struct ktread_event *event);
/* A line that is no event. */
void live_tail_say(struct live_tail *tail, const char *text);
/* The n-th line from the end, 0 the last one; NULL: there is none. */
const char *live_tail_line(const struct live_tail *tail, uint64_t n);

/* "name(12)" or "12", harmless; at most `size` with the NUL. */
void live_thread_text(const struct ktread *trace, uint32_t thread, char *text, size_t size);
/* "group.name", harmless. */
void live_event_text(const struct ktread_type *type, char *text, size_t size);

/*
 * How many events of each kind come a second. How much each ring records is known exactly; of which kinds
 * that is may be known of a sample alone, so each event seen stands for as many as its ring's slots were for
 * each slot looked at.
 */

#define LIVE_TOP 8u

struct live_top {
	uint16_t id;
	double rate; /* a second */
};

struct live_rates;

struct live_rates *live_rates_open(void); /* NULL: without memory */
void live_rates_close(struct live_rates *rates);
/* Another guest, or another boot: what its rings hold already is no rate. */
void live_rates_restart(struct live_rates *rates);
void live_rates_event(struct live_rates *rates, const struct ktread_event *event);
/* Weighs the events told since by how far the rings of `trace` have come since. */
void live_rates_settle(struct live_rates *rates, const struct ktread *trace);
/*
 * Ends an interval of so many seconds. Fills in `top`, the most frequent first, zeros behind the last;
 * returns the rate of all.
 */
double live_rates_end(struct live_rates *rates, double seconds, struct live_top top[LIVE_TOP]);

#endif
