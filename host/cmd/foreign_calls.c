/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/foreign_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/linux_calls.h"
#include "kdump/tables.h"

#define NUMBERS 1024u

/* A line "* NAME …" is of the call of that name, whose number depends on the machine. */
static void put_named(FILE *to, char *const names[NUMBERS], const char *line, size_t length)
{
	size_t name = strcspn(line + 2, " \n");

	for (unsigned n = 0; n < NUMBERS; n++)
		if (names[n] && strlen(names[n]) == name && memcmp(names[n], line + 2, name) == 0)
			fprintf(to, "%u %.*s\n", n, (int)(length - 2), line + 2);
}

static void put_lines(FILE *to, char *const names[NUMBERS], const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		if (text[0] == '*' && text[1] == ' ')
			put_named(to, names, text, length);
		else
			fprintf(to, "%.*s\n", (int)length, text);
		text += length + (text[length] == '\n');
	}
}

/* The table with numbers for names, as this machine has them; to be freed, NULL: out of memory. */
static char *numbered(const char *table, uint16_t machine)
{
	char *names[NUMBERS], *text = NULL;
	struct linux_calls calls;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	linux_calls_open(&calls, machine);
	for (unsigned n = 0; n < NUMBERS; n++)
		names[n] = linux_calls_name(&calls, n);
	put_lines(to, names, table);
	for (unsigned n = 0; n < NUMBERS; n++)
		free(names[n]);
	linux_calls_close(&calls);
	return fclose(to) == 0 ? text : NULL;
}

int foreign_calls_set(struct ktread *trace)
{
	const struct ktread_info *info = ktread_info(trace);
	const char *table = kdump_tables_text(info->kernel);
	char *text;
	int status;

	if (info->form != KTREAD_FORM_PROCESSES || !table)
		return 0;
	text = numbered(table, info->machine);
	if (!text)
		return KTREAD_E_MEMORY;
	status = ktread_set_calls(trace, text);
	free(text);
	return status;
}
