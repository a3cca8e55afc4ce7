/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Text for the console: lines, records and settings in words, and the rings merged in order of time. */
#ifndef KTRACE_CONSOLE_LINE_H
#define KTRACE_CONSOLE_LINE_H

#include <stdbool.h>

#include "../core/reader.h"
#include "../core/state.h"
#include "ktrace/console.h"
#include "ktrace/port.h"
#include "ktrx/v2.h"

/* ---- line.c ----------------------------------------------------------------------------------- */

/*
 * A line of text on its way to the console: gathered, so that it arrives in one piece unless it is very long.
 * Members are for line.c alone.
 */

#define KTRACE_LINE_BYTES 192u /* of one piece */

struct ktrace_line {
	const struct ktrace_console *console;
	uint32_t length;
	char text[KTRACE_LINE_BYTES];
};

void ktrace_line_start(struct ktrace_line *line, const struct ktrace_console *console);

/* A character as it is. */
void ktrace_line_put(struct ktrace_line *line, char character);

/* Printable characters as they are, all others as \xNN. */
void ktrace_line_text(struct ktrace_line *line, const char *text);
void ktrace_line_bytes(struct ktrace_line *line, const char *text, uint32_t bytes);

void ktrace_line_pad(struct ktrace_line *line, char with, uint32_t count);
void ktrace_line_decimal(struct ktrace_line *line, uint64_t number);
void ktrace_line_hex(struct ktrace_line *line, uint64_t number); /* with 0x */

/* Everything goes out. */
void ktrace_line_flush(struct ktrace_line *line);

/* Waits for a key at the end of each page, on a console that has keys. */
struct ktrace_pager {
	const struct ktrace_console *console;
	bool at_once;  /* it never waits */
	uint32_t room; /* lines until it does */
};

void ktrace_pager_start(struct ktrace_pager *pager, const struct ktrace_console *console, bool at_once);

/* Called before each line; false: the user has seen enough. */
bool ktrace_pager_may_go_on(struct ktrace_pager *pager);

/* ---- format.c --------------------------------------------------------------------------------- */

/* A row that is NULL stands for an event that no row can be found of. */

/* An event's full name as the original writes it: group_name. */
void ktrace_format_name(struct ktrace_line *line, const struct ktrx_event *row, uint32_t id);

/*
 * When and where it was recorded: the stamp in ticks, file:line, a blank. Without a place the place is where
 * the event was declared.
 */
void ktrace_format_origin(struct ktrace_line *line, const struct ktrx_event *row,
			  const struct ktrx_place *place, uint64_t stamp);

/*
 * The event's text with its fields filled in, as the host's tools show it; an event without a text as
 * name=value, one without a row as 32-bit words. Conversions take the fields in order, by the fields' own
 * types.
 */
void ktrace_format_payload(struct ktrace_line *line, const struct ktrx_event *row, const uint8_t *payload,
			   uint32_t bytes);

/* ---- merge.c ---------------------------------------------------------------------------------- */

/* The records of all rings, newest first, while writers may go on. */

#define KTRACE_MERGE_ALL KTRX_NO_CPU

struct ktrace_merge_cursor {
	struct ktrace_walk walk; /* the record to be shown next is the one before it … */
	uint64_t index, stamp;	 /* … which is this, by the time of CPU 0 */
	bool is_pending;	 /* there is one */
};

/* Too large for a kernel's stack. */
struct ktrace_merge {
	uint32_t rings;
	uint64_t overwritten, unreadable; /* slots, so far */
	struct ktrace_walk_record peeked;
	struct ktrace_merge_cursor cursor[KTRACE_RING_ROWS];
};

/* Begins with the rings as they are now; those of other CPUs than `cpu` are left out, if it names one. */
void ktrace_merge_start(struct ktrace_merge *merge, uint32_t cpu);

/*
 * The next older record, its stamp in the time of CPU 0; false at the end. Of a shared ring the records of
 * all CPUs come.
 */
bool ktrace_merge_next(struct ktrace_merge *merge, struct ktrace_walk_record *record);

#endif
