/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A strict reader of JSON for tests of what ktrace writes. It shares no code with the product: RFC 8259 without leniency, strings
 * must be UTF-8, and no character may stand raw in them that changes a terminal (C0, DEL, C1, marks that set the direction of text,
 * separators, zero-width characters).
 */
#ifndef GOLDEN_JSON_TREE_H
#define GOLDEN_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>

enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
	enum json_kind kind;
	double number;
	char *text;	   /* of a string as it is written, escapes and all; of a number, its digits */
	struct json *item; /* elements, or values of members */
	char **name;	   /* of members */
	size_t items;
};

/*
 * Reads one value from `*text`, NUL-terminated, and moves it past the value and the blanks after it. Returns NULL, or what is wrong;
 * `*text` is then where. What was read is freed by json_free() either way.
 */
const char *json_read(const char **text, struct json *json);
void json_free(struct json *json);

/* NULL if the object has no such member, or if it is no object. */
const struct json *json_member(const struct json *json, const char *name);
/* The text of the member if it is a string, else `otherwise`. */
const char *json_text(const struct json *json, const char *name, const char *otherwise);

/* Reads all of standard input, or of a file; NUL-terminated, freed by the caller. Ends the program if it cannot. */
char *json_slurp(const char *path, size_t *size);

#endif
