/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/event_name.h"

#include <string.h>

#include "export/escape.h"

char *event_name_put(char *at, const struct ktread_type *type)
{
	char *const end = at + EVENT_NAME_MOST;

	if (*type->group) {
		at = escape_text(at, type->group, strlen(type->group), EVENT_NAME_MOST / 2);
		*at++ = '.';
	}
	return escape_text(at, type->name, strlen(type->name), (size_t)(end - at));
}
