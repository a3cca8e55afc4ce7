/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tables of names. Each name is found by its number. */
#include <stdlib.h>
#include <string.h>

#include "ktrx/v2.h"
#include "message.h"
#include "trace.h"

static int compare_names(const void *left, const void *right)
{
	const struct ktread_name *a = left, *b = right;

	return a->number < b->number ? -1 : a->number > b->number;
}

static int begin(struct ktread_names *names, char *bytes, uint64_t most)
{
	names->text = bytes;
	names->rows = 0;
	names->row = malloc((most ? most : 1) * sizeof(*names->row));
	return names->row ? 0 : ktread_fail_memory();
}

static void end(struct ktread_names *names)
{
	qsort(names->row, names->rows, sizeof(*names->row), compare_names);
}

int ktread_names_load_threads(struct ktread_names *names, char *bytes, uint64_t size, uint32_t row_size)
{
	int status = begin(names, bytes, size / row_size);

	if (status < 0)
		return status;
	for (uint64_t at = 0; at + row_size <= size; at += row_size) {
		char *name = bytes + at + offsetof(struct ktrx_thread, name);
		uint32_t id;

		memcpy(&id, bytes + at, sizeof(id));
		if (id == 0)
			continue;
		name[sizeof(((struct ktrx_thread *)0)->name) - 1] = '\0';
		names->row[names->rows++] = (struct ktread_name){ id - 1, name, NULL };
	}
	end(names);
	return 0;
}

/*
 * Parses a line "number name rest", and stores the name and the rest under the number. Ignores other lines.
 */
static void take_line(struct ktread_names *names, char *line)
{
	char *name, *rest;
	unsigned long number = strtoul(line, &name, 10);

	if (name == line || *name++ != ' ' || strcspn(name, " ") == 0)
		return;
	rest = name;
	strsep(&rest, " ");
	names->row[names->rows++] = (struct ktread_name){ (uint32_t)number, name, rest };
}

int ktread_names_load_calls(struct ktread_names *calls, struct ktread_names *errors, char *bytes,
			    uint64_t size)
{
	static const char error[] = "error ";
	uint64_t lines = 1, error_lines = 0;
	char *line, *rest = bytes;
	int status;

	bytes[size] = '\0';
	for (uint64_t i = 0; i < size; i++)
		lines += bytes[i] == '\n';
	for (line = bytes; (line = strstr(line, error)) != NULL; line++)
		error_lines++;
	status = begin(calls, bytes, lines);
	if (status == 0)
		status = begin(errors, NULL, error_lines);
	if (status < 0)
		return status;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (strncmp(line, error, sizeof(error) - 1) == 0)
			take_line(errors, line + sizeof(error) - 1);
		else
			take_line(calls, line);
	end(calls);
	end(errors);
	return 0;
}

static const struct ktread_name *find(const struct ktread_names *names, uint32_t number)
{
	struct ktread_name key = { .number = number };

	return names->rows ? bsearch(&key, names->row, names->rows, sizeof(key), compare_names) : NULL;
}

const char *ktread_names_get(const struct ktread_names *names, uint32_t number)
{
	const struct ktread_name *found = find(names, number);

	return found ? found->name : NULL;
}

const char *ktread_names_rest(const struct ktread_names *names, uint32_t number)
{
	const struct ktread_name *found = find(names, number);

	return found && found->rest && found->rest[0] != '\0' ? found->rest : NULL;
}

void ktread_names_free(struct ktread_names *names)
{
	free(names->row);
	free(names->text);
}
