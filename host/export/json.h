/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Writes events as JSON. */
#ifndef EXPORT_JSON_H
#define EXPORT_JSON_H

#include "export/timeline.h"
#include "ktread/ktread.h"

/*
 * Writes "group.name" in lower case. If the type has no group, or has `name_alone` set, writes the name
 * unchanged.
 */
char *json_put_event_name(char *at, const struct ktread_type *type);
/* Writes the value of one field as JSON. A pointer becomes a string "0x…". */
char *json_put_value(char *at, const struct ktread_value *value);
/*
 * Writes the fields of an event as "field":value pairs separated by commas, without braces. Omits a field
 * if the payload ends before it. Writes at most 8 KiB.
 */
char *json_put_fields(char *at, const struct ktread_event *event);

/* ---- The timeline for programs: one JSON object a line ---- */

/*
 * Writes the timeline as JSON lines. Lost slots are reported by separate objects: {"lost":4093,"cpu":2}.
 * Returns the same values as timeline_write().
 */
int lines_write(struct timeline *timeline);

#endif
