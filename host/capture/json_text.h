/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Writes JSON that Jansson has built. Names of files and texts of the guest in it may be hostile: characters
 * that could change what a terminal or a viewer shows are escaped, as in base/json.h.
 */
#ifndef CAPTURE_JSON_TEXT_H
#define CAPTURE_JSON_TEXT_H

#include <jansson.h>
#include <stdio.h>

/*
 * Returns the text of `json`, which the caller frees. `flags` are those of json_dumps(). Returns NULL if
 * `json` is NULL, or if out of memory.
 */
char *capture_json_text(const json_t *json, size_t flags);
/* Writes the text and a newline. Returns 0 or -1. */
int capture_json_write(const json_t *json, size_t flags, FILE *to);
/* Writes the compact text and a newline into a file, which is replaced. Returns 0, or -1 and sets errno. */
int capture_json_save(const json_t *json, const char *path);

#endif
