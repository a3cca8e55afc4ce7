/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * As much JSON as QMP's answers take: members of objects and strings. Values are slices of the text they were
 * found in. What is not well-formed is not found; nothing recurses or reads past the slice.
 */
#ifndef CAPTURE_JSON_H
#define CAPTURE_JSON_H

#include <stdbool.h>
#include <stddef.h>

struct capture_json {
	const char *text; /* not NUL-terminated */
	size_t length;
};

/* Value of a member of the object `json`, by a path of names like "data.reason". */
bool capture_json_member(struct capture_json json, const char *path, struct capture_json *value);
/* The string `json` without escapes, NUL-terminated, cut to `size`; its length, 0 for what is no string. */
size_t capture_json_string(struct capture_json json, char *buffer, size_t size);
/* Whether the member is that string. */
bool capture_json_is(struct capture_json json, const char *path, const char *string);

#endif
