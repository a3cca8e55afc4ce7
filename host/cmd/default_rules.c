/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/default_rules.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"

#define DEFAULT_RULES "/../share/ktrace/default.rules" /* from the folder of the program */

int default_rules_path(const char *name, char path[PATH_MAX])
{
	char self[PATH_MAX], *slash;

	command_self(self);
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	if (slash && snprintf(path, PATH_MAX, "%s" DEFAULT_RULES, self) < PATH_MAX)
		return 0;
	command_message(name,
			"where the default rules lie is unknown: the program does not know its own path");
	return -1;
}

char *rules_read(const char *name, const char *path, size_t *length)
{
	FILE *file = fopen(path, "re");
	char *text = file ? malloc(RULES_TEXT_MAX + 1) : NULL;

	if (text)
		*length = fread(text, 1, RULES_TEXT_MAX + 1, file);
	if (!text || ferror(file)) {
		command_message(name, "%s: %s", path, strerror(errno));
		free(text);
		text = NULL;
	} else if (*length > RULES_TEXT_MAX) {
		command_message(name, "%s: more than 1 MiB is no rule file", path);
		free(text);
		text = NULL;
	}
	if (file)
		fclose(file);
	return text;
}

struct rules *default_rules(const char *name)
{
	struct rules_error error = { .line = 0 };
	struct rules *rules = NULL;
	char path[PATH_MAX], *text;
	size_t length = 0;
	int status;

	if (default_rules_path(name, path) < 0)
		return NULL;
	text = rules_read(name, path, &length);
	status = text ? rules_parse(&rules, text, length, &error) : 0;
	free(text);
	if (status == KTREAD_E_MEMORY)
		command_message(name, "out of memory");
	else if (status)
		command_message(name, "%s:%" PRIu32 ":%" PRIu32 ": %s", path, error.line, error.column,
				error.text);
	if (status) {
		free(rules);
		rules = NULL;
	}
	return rules;
}
