/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What an event is called where people read it: a trace names its events, and a terminal is to be handed no
 * name as is.
 */
#ifndef ANALYZE_EVENT_NAME_H
#define ANALYZE_EVENT_NAME_H

#include "ktread/ktread.h"

#define ANALYZE_EVENT_NAME_MOST 160u /* bytes; the trace may hold longer names */

/*
 * "group.name", or the name alone of an event that has no group, escaped; ANALYZE_EVENT_NAME_MOST at most, no
 * NUL. The end.
 */
char *analyze_event_name_put(char *at, const struct ktread_type *type);
/* The same in lower case; the name alone, as it is written, if the type has no group or is name_alone. */
char *analyze_event_name_lower(char *at, const struct ktread_type *type);

#endif
