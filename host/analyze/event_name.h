/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Names of events: formatting for display, matching with patterns, and suggestions for a misspelt name. Names
 * come from the trace and may hold any bytes; escape them before printing.
 */
#ifndef ANALYZE_EVENT_NAME_H
#define ANALYZE_EVENT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktread/ktread.h"

/* maximum length of an escaped event name in bytes; a longer name is cut */
#define ANALYZE_EVENT_NAME_MOST 160u

/*
 * Writes the escaped text "group.name", or the escaped name alone if the event has no group. Writes at most
 * ANALYZE_EVENT_NAME_MOST bytes and no NUL. Returns the end.
 */
char *analyze_event_name_put(char *at, const struct ktread_type *type);
/*
 * Writes "group.name" in lower case. Writes the name alone, unchanged, if the type has no group or is
 * name_alone.
 */
char *analyze_event_name_lower(char *at, const struct ktread_type *type);

/* ---- Suggesting similar names ---- */

/*
 * Suggests names that are similar to a wanted one, by the number of letters that differ:
 *
 *	suggestions_start(&similar, "sched.swtich");
 *	suggestions_offer(&similar, "sched.switch");	for each known name
 *	suggestions_text(&similar, text, sizeof(text));	"; did you mean sched.switch?", or ""
 */

#define SUGGESTIONS_MOST 3u
#define SUGGESTIONS_NAME 64u /* maximum number of bytes of a name that are compared, NUL included */

struct suggestions {
	char wanted[SUGGESTIONS_NAME];
	char name[SUGGESTIONS_MOST][SUGGESTIONS_NAME]; /* the most similar name comes first */
	uint32_t distance[SUGGESTIONS_MOST];
	uint32_t names;
};

void suggestions_start(struct suggestions *similar, const char *wanted, size_t length);
void suggestions_offer(struct suggestions *similar, const char *name);
/* Compares `name` with the wanted name. If they are similar, suggests `shown`. */
void suggestions_offer_as(struct suggestions *similar, const char *name, const char *shown);
/*
 * Offers all patterns that match events of a trace: for each event group.name, group.*, the group alone, and
 * the name alone.
 */
void suggestions_offer_events(struct suggestions *similar, const struct ktread *trace);
/* Writes the suggestions, or "" if there are none. Unprintable bytes are shown as question marks. */
void suggestions_text(const struct suggestions *similar, char *text, size_t size);
/* Maximum number of bytes that suggestions_text() needs. */
#define SUGGESTIONS_TEXT (SUGGESTIONS_MOST * (SUGGESTIONS_NAME + 2) + 16)

/*
 * Returns true if the pattern matches the event: "group.name", or its name or group alone, with * and ?, case
 * ignored.
 */
bool pattern_means(const char *pattern, const struct ktread_type *type);

#endif
