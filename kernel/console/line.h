/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Functions for text on the console: formatting of lines, records and settings, the pager, and the records of
 * all rings merged in order of time.
 */
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
 * A line of text for the console. The text is buffered and written to the console by one call, or by several
 * calls if it is very long. Members are private to line.c.
 */

#define KTRACE_LINE_BYTES 192u /* size of a line's buffer in bytes */

struct ktrace_line {
	const struct ktrace_console *console;
	uint32_t length;
	char text[KTRACE_LINE_BYTES];
};

void ktrace_line_start(struct ktrace_line *line, const struct ktrace_console *console);

/* Appends a character unchanged. */
void ktrace_line_put(struct ktrace_line *line, char character);

/* Append text: printable characters unchanged, all others as \xNN. */
void ktrace_line_text(struct ktrace_line *line, const char *text);
void ktrace_line_bytes(struct ktrace_line *line, const char *text, uint32_t bytes);

void ktrace_line_pad(struct ktrace_line *line, char with, uint32_t count);
void ktrace_line_decimal(struct ktrace_line *line, uint64_t number);
/* Appends the number in hexadecimal, with 0x. */
void ktrace_line_hex(struct ktrace_line *line, uint64_t number);

/* Writes the buffered text to the console. */
void ktrace_line_flush(struct ktrace_line *line);

/* The pager: waits for a key at the end of each page, if the console can read keys. */
struct ktrace_pager {
	const struct ktrace_console *console;
	bool at_once;  /* true: the pager never waits for a key */
	uint32_t room; /* number of lines that may still be printed before the next wait for a key */
};

void ktrace_pager_start(struct ktrace_pager *pager, const struct ktrace_console *console, bool at_once);

/*
 * Counts a line, and waits for a key at the end of a page. Call it before each line. Returns false if the
 * user has quit.
 */
bool ktrace_pager_may_go_on(struct ktrace_pager *pager);

/* ---- format.c --------------------------------------------------------------------------------- */

/* In all functions, `row` is NULL if no event descriptor was found. */

/* Appends an event's full name as DragonFly's ktr writes it: group_name. */
void ktrace_format_name(struct ktrace_line *line, const struct ktrx_event *row, uint32_t id);

/*
 * Appends the time and the place of the record: the timestamp in ticks, file:line, and a blank. If `place` is
 * NULL, file and line are those of the event's declaration.
 */
void ktrace_format_origin(struct ktrace_line *line, const struct ktrx_event *row,
			  const struct ktrx_place *place, uint64_t stamp);

/*
 * Appends the event's text with its fields filled in, as the host's tools show it. An event without a text is
 * shown as name=value. An event without a descriptor is shown as 32-bit words. The first conversion takes the
 * first field, and so on. The field determines the type, not the conversion.
 */
void ktrace_format_payload(struct ktrace_line *line, const struct ktrx_event *row, const uint8_t *payload,
			   uint32_t bytes);

/* ---- merge.c ---------------------------------------------------------------------------------- */

/* Merges the records of all rings, newest first, while writers may be active. */

#define KTRACE_MERGE_ALL KTRX_NO_CPU

struct ktrace_merge_cursor {
	/* a walk of the ring's records, positioned just after the record with the index `index` */
	struct ktrace_walk walk;
	/* index and timestamp of the next record; the timestamp is in CPU 0's time */
	uint64_t index, stamp;
	bool is_pending; /* true: there is a next record */
};

/* The state of a merge. The structure is too large for a kernel stack. */
struct ktrace_merge {
	uint32_t rings;
	uint64_t overwritten, unreadable; /* numbers of slots; valid when the merge has ended */
	struct ktrace_walk_record peeked;
	struct ktrace_merge_cursor cursor[KTRACE_RING_ROWS];
};

/*
 * Starts a merge at the current heads of the rings. If `cpu` is not KTRACE_MERGE_ALL, leaves out the rings of
 * all other CPUs.
 */
void ktrace_merge_start(struct ktrace_merge *merge, uint32_t cpu);

/*
 * Returns the next older record, with its timestamp in CPU 0's time. Returns false at the end. Shared rings
 * yield the records of all CPUs.
 */
bool ktrace_merge_next(struct ktrace_merge *merge, struct ktrace_walk_record *record);

#endif
