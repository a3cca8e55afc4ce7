/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A strict JSON reader for tests of ktrace's output. It shares no code with ktrace. It accepts only JSON
 * as in RFC 8259, with strings in UTF-8, without unescaped characters that can change a terminal (C0, DEL,
 * C1, marks that set the direction of text, separators, zero-width characters).
 */
#ifndef GOLDEN_JSON_TREE_H
#define GOLDEN_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>

enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
	enum json_kind kind;
	double number;
	char *text;	   /* a string as written, with escapes, or the digits of a number */
	struct json *item; /* elements of an array, or values of the members of an object */
	char **name;	   /* names of the members of an object */
	size_t items;
};

/*
 * Reads one value from `*text`, which ends with NUL, and moves `*text` past the value and the blanks after
 * it. Returns NULL, or a description of the error; then `*text` points to the place of the error. In both
 * cases the caller frees `json` with json_free().
 */
const char *json_read(const char **text, struct json *json);
void json_free(struct json *json);

/* Returns the value of a member, or NULL if `json` is not an object or has no such member. */
const struct json *json_member(const struct json *json, const char *name);
/* Returns the text of a member. Returns `otherwise` if the member is absent or is not a string. */
const char *json_text(const struct json *json, const char *name, const char *otherwise);

/*
 * Reads a file, or standard input if `path` is NULL. Returns the text with a NUL at its end; the caller frees
 * it. Ends the program on errors.
 */
char *json_slurp(const char *path, size_t *size);

#endif
