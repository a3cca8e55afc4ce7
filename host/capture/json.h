/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Messages of QMP, parsed by jansson. Every function takes NULL for a value that is not there. */
#ifndef CAPTURE_JSON_H
#define CAPTURE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Parses one message. Returns NULL if it is not JSON or memory is short. The caller releases it with
 * json_decref().
 */
json_t *capture_json_parse(const char *text, size_t length);
/* Returns the member of an object by a path of names such as "data.reason", or NULL. Borrowed from `json`. */
const json_t *capture_json_at(const json_t *json, const char *path);
/* Returns whether that member is that string. */
bool capture_json_is(const json_t *json, const char *path, const char *string);

#endif
