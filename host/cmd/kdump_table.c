/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/kdump_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "kdump/tables.h"

#define TABLE_MOST ((size_t)1 << 20)

/* NUL-terminated; NULL with errno set. */
static char *read_text(FILE *file)
{
	char *text = malloc(TABLE_MOST + 1);
	size_t length = text ? fread(text, 1, TABLE_MOST + 1, file) : 0;
	int problem = !text ? ENOMEM : ferror(file) ? errno : length > TABLE_MOST ? EFBIG : 0;

	if (problem) {
		free(text);
		errno = problem;
		return NULL;
	}
	text[length] = '\0';
	return text;
}

int kdump_table_read(const char *by, const char *name, char **owned, const char **text)
{
	FILE *file;

	*owned = NULL;
	*text = kdump_tables_text(name);
	if (*text)
		return 0;
	file = fopen(name, "r");
	*owned = file ? read_text(file) : NULL;
	*text = *owned;
	if (!*owned)
		command_message(by, "%s: %s", name, strerror(errno));
	if (file)
		fclose(file);
	return *owned ? 0 : EXIT_BAD_INPUT;
}
