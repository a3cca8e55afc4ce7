/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The Trace Event Format: one object a line, times in microseconds. */
#ifndef EXPORT_CHROME_H
#define EXPORT_CHROME_H

#include "export/export.h"
#include "base/put.h"
#include "base/output.h"
#include "base/ticks.h"
#include "ktread/ktread.h"

struct chrome {
	struct ktread *trace;
	struct export_report *report;
	struct base_output out;
	uint64_t base;
	struct base_ticks_scale
		scale;	      /* of an unknown frequency ticks are written as if they were nanoseconds */
	int begun;	      /* an object has been written: the next one needs a comma */
	uint64_t microsecond; /* the last one that chrome_put_time() wrote, in nanoseconds */
	char digits[BASE_PUT_SCRATCH]; /* what it wrote for it, with the point */
	uint32_t digits_length;	       /* 0: nothing yet */
};

/* Writes all events. Returns what the last ktread_next() said, or KTREAD_E_MEMORY. */
int chrome_write_events(struct chrome *chrome);

/* Nanoseconds since the first event. */
static inline uint64_t chrome_time(const struct chrome *chrome, uint64_t stamp)
{
	uint64_t ticks = stamp > chrome->base ? stamp - chrome->base : 0;

	return chrome->scale.frequency ? base_ticks_nanoseconds(&chrome->scale, ticks) : ticks;
}

/* "12345.678": nanoseconds as microseconds. */
static inline char *chrome_put_microseconds(char *at, uint64_t nanoseconds)
{
	at = base_put_decimal(at, nanoseconds / 1000);
	*at = '.';
	return base_put_three(at + 1, (uint32_t)(nanoseconds % 1000));
}

/* chrome_put_time() in another microsecond. */
char *chrome_put_new_time(struct chrome *chrome, char *at, uint64_t nanoseconds);

/* The same for the time of an event: that of the next event is often in the same microsecond. */
static inline char *chrome_put_time(struct chrome *chrome, char *at, uint64_t nanoseconds)
{
	if (__builtin_expect(nanoseconds - chrome->microsecond >= 1000 || chrome->digits_length == 0, 0))
		return chrome_put_new_time(chrome, at, nanoseconds);
	memcpy(at, chrome->digits, sizeof(chrome->digits));
	return base_put_three(at + chrome->digits_length, (uint32_t)(nanoseconds - chrome->microsecond));
}

/* Starts an object on a line of its own. */
static inline char *chrome_begin(struct chrome *chrome)
{
	char *at = base_output_line(&chrome->out);

	memcpy(at, ",\n", 2);
	at += chrome->begun ? 2 : 0;
	chrome->begun = 1;
	return at;
}

/* Names the row (`what` is "process_name" or "thread_name") of a process and, if not negative, a thread. */
void chrome_name(struct chrome *chrome, const char *what, int64_t pid, int64_t tid, const char *name);

#endif
