/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Names of events: as people read them, as patterns choose them, and the nearest ones to a name that a trace
 * does not have. A trace names its events, and a terminal is to be handed no name as is.
 */
#ifndef ANALYZE_EVENT_NAME_H
#define ANALYZE_EVENT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktread/ktread.h"

#define ANALYZE_EVENT_NAME_MOST 160u /* bytes; the trace may hold longer names */

/*
 * "group.name", or the name alone of an event that has no group, escaped; ANALYZE_EVENT_NAME_MOST at most, no
 * NUL. The end.
 */
char *analyze_event_name_put(char *at, const struct ktread_type *type);
/* The same in lower case; the name alone, as it is written, if the type has no group or is name_alone. */
char *analyze_event_name_lower(char *at, const struct ktread_type *type);

/* ---- Names that are near ---- */

/*
 * Names that are nearly the one that was asked for, by how many letters have to change:
 *
 *	near_start(&near, "sched.swtich");
 *	near_offer(&near, "sched.switch");	for each name there is
 *	near_text(&near, text, sizeof(text));	"; near it: sched.switch", or nothing
 */

#define NEAR_NAMES 3u
#define NEAR_NAME  64u /* bytes of a name that are looked at, NUL included */

struct near {
	char wanted[NEAR_NAME];
	char name[NEAR_NAMES][NEAR_NAME]; /* nearest first */
	uint32_t distance[NEAR_NAMES];
	uint32_t names;
};

void near_start(struct near *near, const char *wanted, size_t length);
void near_offer(struct near *near, const char *name);
/* Compares one name, and tells another. */
void near_offer_as(struct near *near, const char *name, const char *told);
/* Offers all events of a trace by what a pattern may mean: group.name, group.*, a group, or a name alone. */
void near_offer_events(struct near *near, const struct ktread *trace);
/* Unprintable bytes of a name are shown as question marks. */
void near_text(const struct near *near, char *text, size_t size);
#define NEAR_TEXT (NEAR_NAMES * (NEAR_NAME + 2) + 16) /* bytes that it needs at most */

/*
 * Events by pattern, as on command lines: "group.name", name or group alone, with * and ?, whatever the case.
 */
bool pattern_means(const char *pattern, const struct ktread_type *type);

#endif
