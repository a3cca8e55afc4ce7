/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/event_name.h"

#include <ctype.h>
#include <string.h>

#include "base/escape.h"

char *analyze_event_name_put(char *at, const struct ktread_type *type)
{
	char *const end = at + ANALYZE_EVENT_NAME_MOST;

	if (*type->group) {
		at = base_escape_text(at, type->group, strlen(type->group), ANALYZE_EVENT_NAME_MOST / 2);
		*at++ = '.';
	}
	return base_escape_text(at, type->name, strlen(type->name), (size_t)(end - at));
}

char *analyze_event_name_lower(char *at, const struct ktread_type *type)
{
	char *end;

	if (type->name_alone || !*type->group)
		return base_escape_text(at, type->name, strlen(type->name), ANALYZE_EVENT_NAME_MOST);
	end = analyze_event_name_put(at, type);
	for (char *letter = at; letter < end; letter++)
		*letter = (char)tolower((unsigned char)*letter);
	return end;
}
