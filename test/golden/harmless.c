/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Succeeds if standard input holds nothing that could change the terminal it is shown on:
 *
 *	harmless text   printable ASCII and line feeds
 *	harmless json   JSON values, one after another, in which nothing harmful stands raw (json_tree.h)
 *	harmless utf8   printable ASCII, line feeds, and harmless characters in UTF-8: messages
 *	harmless strings   any bytes, but no string of three or more of them that holds an escape sequence, C1 or bidirectional
 *	                control between two letters, as the traces of danger_traces.c have them: formats that are not text
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/danger.h"
#include "golden/json_tree.h"

static int complain(const char *text, size_t at, const char *what)
{
	size_t from = at > 40 ? at - 40 : 0;

	printf("offset %zu: %s after:", at, what);
	for (; from <= at; from++)
		printf(text[from] >= ' ' && text[from] <= '~' ? "%c" : "<%02x>", (unsigned char)text[from]);
	printf("\n");
	return EXIT_FAILURE;
}

static int check_text(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if ((text[i] < ' ' || text[i] > '~') && text[i] != '\n')
			return complain(text, i, "not plain text");
	return EXIT_SUCCESS;
}

static int check_json(const char *text, size_t size)
{
	const char *at = text;

	while ((size_t)(at - text) < size) {
		struct json json;
		const char *error = json_read(&at, &json);

		json_free(&json);
		if (error)
			return complain(text, (size_t)(at - text), error);
	}
	return EXIT_SUCCESS;
}

/* No dangerous sequence stands as it was given. */
static int check_strings(const char *text, size_t size)
{
	for (size_t n = 0; n < DANGERS; n++) {
		char whole[DANGER_MOST + 2];
		size_t length = danger_put(whole, n);
		const char *found = memmem(text, size, whole, length);

		if (found)
			return complain(text, (size_t)(found - text) + 1, "a dangerous sequence");
	}
	return EXIT_SUCCESS;
}

static int check_utf8(const char *text, size_t size)
{
	char *quoted = malloc(2 * size + 3), *to = quoted;
	int status;

	/* As a string of JSON, in which line feeds, quotes and backslashes stand for something else. */
	*to++ = '"';
	for (size_t i = 0; i < size; i++)
		*to++ = text[i] == '\n' || text[i] == '"' || text[i] == '\\' ? ' ' : text[i];
	*to++ = '"';
	*to = '\0';
	status = check_json(quoted, (size_t)(to - quoted));
	free(quoted);
	return status;
}

int main(int argc, char **argv)
{
	size_t size;
	const char *how = argc == 2 ? argv[1] : "";
	char *text;
	int status;

	text = json_slurp(NULL, &size);
	if (strcmp(how, "text") == 0)
		status = check_text(text, size);
	else if (strcmp(how, "json") == 0)
		status = check_json(text, size);
	else if (strcmp(how, "utf8") == 0)
		status = check_utf8(text, size);
	else if (strcmp(how, "strings") == 0)
		status = check_strings(text, size);
	else
		status = 2;
	free(text);
	return status;
}
