/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "json.h"

#include <string.h>

json_t *capture_json_parse(const char *text, size_t length)
{
	return json_loadb(text, length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

const json_t *capture_json_at(const json_t *json, const char *path)
{
	for (;;) {
		size_t length = strcspn(path, ".");

		json = json_object_getn(json, path, length);
		if (!path[length])
			return json;
		path += length + 1;
	}
}

bool capture_json_is(const json_t *json, const char *path, const char *string)
{
	const char *value = json_string_value(capture_json_at(json, path));

	return value && strcmp(value, string) == 0;
}
