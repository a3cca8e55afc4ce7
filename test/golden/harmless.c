/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * harmless {RULE FILE...}...: succeeds if no file contains a sequence that could change a terminal on
 * which the file is shown. Prints the harmful bytes, and then the total size of the files before the
 * second RULE. Rules:
 *
 *	text      printable ASCII and line feeds, in whole lines
 *	json      JSON values, one after another, in which harmful characters are escaped (json_tree.h)
 *	utf8      printable ASCII, line feeds, and harmless characters in UTF-8; for messages
 *	strings   any bytes, except the sequences of danger.h between two letters, as the traces of danger_traces.c contain them; for
 *	          formats that are not text
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/danger.h"
#include "golden/json_tree.h"

/* The file that is being checked. */
static const char *path;

static int complain(const char *text, size_t at, const char *what)
{
	size_t from = at > 40 ? at - 40 : 0;

	printf("%s: offset %zu: %s after:", path, at, what);
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
	return size && text[size - 1] != '\n' ? complain(text, size - 1, "no line feed") : EXIT_SUCCESS;
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

/* Checks that the text has no unchanged dangerous sequence. */
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

	/*
	 * Checks the text as one JSON string. Replaces line feeds, quotes and backslashes by blanks, because
	 * these characters have a meaning in JSON.
	 */
	*to++ = '"';
	for (size_t i = 0; i < size; i++)
		*to++ = text[i] == '\n' || text[i] == '"' || text[i] == '\\' ? ' ' : text[i];
	*to++ = '"';
	*to = '\0';
	status = check_json(quoted, (size_t)(to - quoted));
	free(quoted);
	return status;
}

static const struct rule {
	const char *name;
	int (*check)(const char *text, size_t size);
} rules[] = {
	{ "text", check_text },
	{ "json", check_json },
	{ "utf8", check_utf8 },
	{ "strings", check_strings },
};

static const struct rule *find_rule(const char *name)
{
	for (size_t n = 0; n < sizeof(rules) / sizeof(rules[0]); n++)
		if (strcmp(rules[n].name, name) == 0)
			return &rules[n];
	return NULL;
}

int main(int argc, char **argv)
{
	const struct rule *rule = argc > 2 ? find_rule(argv[1]) : NULL;
	int status = EXIT_SUCCESS, rules_before = 0;
	size_t bytes = 0;

	if (!rule) {
		fprintf(stderr, "usage: harmless {RULE FILE...}...\n");
		return 2;
	}
	for (int n = 2; n < argc; n++) {
		size_t size;
		char *text;

		if (find_rule(argv[n])) {
			rule = find_rule(argv[n]);
			rules_before++;
			continue;
		}
		path = argv[n];
		text = json_slurp(path, &size);
		if (rule->check(text, size) != EXIT_SUCCESS)
			status = EXIT_FAILURE;
		bytes += rules_before == 0 ? size : 0;
		free(text);
	}
	printf("%zu\n", bytes);
	return status;
}
