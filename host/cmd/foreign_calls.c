/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/foreign_calls.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/linux_calls.h"
#include "cmd/command.h"
#include "kdump/tables.h"

#define NUMBERS 1024u

/* The names of a machine's calls, and which of them the table has. */
struct numbers {
	char *name[NUMBERS];
	bool told[NUMBERS];
};

/* A line "* NAME …" is of the call of that name, whose number depends on the machine. */
static void put_named(FILE *to, struct numbers *numbers, const char *line, size_t length)
{
	size_t name = strcspn(line + 2, " \n");

	for (unsigned n = 0; n < NUMBERS; n++) {
		if (!numbers->name[n] || strlen(numbers->name[n]) != name ||
		    memcmp(numbers->name[n], line + 2, name) != 0)
			continue;
		fprintf(to, "%u %.*s\n", n, (int)(length - 2), line + 2);
		numbers->told[n] = true;
	}
}

static void put_lines(FILE *to, struct numbers *numbers, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		if (text[0] == '*' && text[1] == ' ')
			put_named(to, numbers, text, length);
		else
			fprintf(to, "%.*s\n", (int)length, text);
		text += length + (text[length] == '\n');
	}
	for (unsigned n = 0; n < NUMBERS; n++)
		if (numbers->name[n] && !numbers->told[n])
			fprintf(to, "%u %s\n", n, numbers->name[n]);
}

/* The table with numbers for names, as this machine has them; to be freed, NULL: out of memory. */
static char *numbered(const char *table, uint16_t machine)
{
	struct numbers numbers = { .told = { false } };
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	for (unsigned n = 0; n < NUMBERS; n++)
		numbers.name[n] = base_linux_call(machine, n);
	put_lines(to, &numbers, table);
	for (unsigned n = 0; n < NUMBERS; n++)
		free(numbers.name[n]);
	return fclose(to) == 0 ? text : NULL;
}

/* Whether calls stand by their names alone: a line "* NAME …". */
static bool wants_numbers(const char *table)
{
	return strncmp(table, "* ", 2) == 0 || strstr(table, "\n* ");
}

int foreign_calls_set_table(struct ktread *trace, const char *table, uint16_t machine)
{
	char *text;
	int status;

	if (!wants_numbers(table))
		return ktread_set_calls(trace, table);
	if (ktread_info(trace)->machine)
		machine = ktread_info(trace)->machine;
	if (machine == 0)
		machine = EM_X86_64;
	text = numbered(table, machine);
	status = text ? ktread_set_calls(trace, text) : KTREAD_E_MEMORY;
	free(text);
	return status < 0 ? status : machine;
}

int foreign_calls_set(struct ktread *trace)
{
	const struct ktread_info *info = ktread_info(trace);
	const char *table = kdump_tables_text(info->kernel);
	int status;

	if (info->form != KTREAD_FORM_PROCESSES || !table)
		return 0;
	status = foreign_calls_set_table(trace, table, 0);
	return status < 0 ? status : 0;
}

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
