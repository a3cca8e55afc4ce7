/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Events as JSON. */
#ifndef EXPORT_JSON_H
#define EXPORT_JSON_H

#include "export/timeline.h"
#include "ktread/ktread.h"

/* "group.name" in lower case; the name as it is written if the type has no group or is name_alone. */
char *json_put_event_name(char *at, const struct ktread_type *type);
/* One value as JSON has it; pointers as "0x…". */
char *json_put_value(char *at, const struct ktread_value *value);
/* "field":value pairs with commas, no braces; what the payload does not hold is left out. At most 8 KiB. */
char *json_put_fields(char *at, const struct ktread_event *event);

/* A timeline for programs: a JSON object a line. */

/* As timeline_write(). Lost slots are an object of their own: {"lost":4093,"cpu":2}. */
int lines_write(struct timeline *timeline);

#endif
