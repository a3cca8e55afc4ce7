/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "base/json.h"

#include <string.h>

#include "base/escape.h"
#include "base/utf8.h"

char *base_json_string(char *at, const char *bytes, size_t length)
{
	*at++ = '"';
	at = base_escape_json(at, bytes, length);
	*at++ = '"';
	return at;
}

char *base_json_name(char *at, const char *name)
{
	char *start = at;

	/* Nearly all names are short and plain. */
	*at++ = '"';
	while (*name >= ' ' && *name <= '~' && *name != '"' && *name != '\\' &&
	       at - start <= (ptrdiff_t)BASE_JSON_NAME)
		*at++ = *name++;
	if (*name == '\0') {
		*at = '"';
		return at + 1;
	}
	name -= at - start - 1;
	at = start;
	/* Four bytes past the cut tell whether a character reaches over it. */
	return base_json_string(at, name,
				base_utf8_cut(name, strnlen(name, BASE_JSON_NAME + 4), BASE_JSON_NAME));
}
