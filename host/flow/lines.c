/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "flow/lines.h"

#include <stdio.h>
#include <errno.h>
#include <stdlib.h>

#include "analyze/symbols_file.h"
#include "base/open.h"

#define LINES_MOST (1u << 24)

static int fail(char *message, size_t size, const char *path, const char *why)
{
	snprintf(message, size, "%.300s: %.150s", path, why);
	return -1;
}

static int add(struct flow_lines *lines, size_t *room, const struct flow_line *line)
{
	if (lines->count == *room) {
		size_t larger = *room ? 2 * *room : 4096;
		struct flow_line *grown = realloc(lines->line, larger * sizeof(*grown));

		if (!grown)
			return -1;
		lines->line = grown;
		*room = larger;
	}
	lines->line[lines->count++] = *line;
	return 0;
}

/* Each row holds up to the next one; the last of a sequence only ends it. */
static int read_unit(struct flow_lines *lines, size_t *room, Dwarf_Die *unit)
{
	struct flow_line line = { .source = NULL };
	size_t count;
	Dwarf_Lines *rows;

	if (dwarf_getsrclines(unit, &rows, &count) != 0)
		return 0;
	for (size_t n = 0; n < count && lines->count < LINES_MOST; n++) {
		Dwarf_Line *row = dwarf_onesrcline(rows, n);
		Dwarf_Addr address = 0;
		int number = 0;
		bool ends = true;

		if (!row || dwarf_lineaddr(row, &address) != 0)
			continue;
		line.end = address;
		if (line.source && line.line && line.end > line.begin && add(lines, room, &line) < 0)
			return -1;
		dwarf_lineno(row, &number);
		dwarf_lineendsequence(row, &ends);
		line.begin = address;
		line.line = number > 0 ? (unsigned)number : 0;
		line.source = ends ? NULL : dwarf_linesrc(row, NULL, NULL);
	}
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct flow_line *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

int flow_lines_read(struct flow_lines *lines, const char *path, char *message, size_t size)
{
	struct symbols_file *file = calloc(1, sizeof(*file));
	Dwarf_Addr bias;
	Dwarf_Die *unit = NULL;
	size_t room = 0;
	int status = 0;

	*lines = (struct flow_lines){ .file = file };
	if (!file)
		return fail(message, size, path, "out of memory");
	switch (symbols_file_open(file, path)) {
	case SYMBOLS_FILE_E_SYSTEM:
		return fail(message, size, path, base_open_message(errno));
	case SYMBOLS_FILE_E_FORMAT:
		return fail(message, size, path, "not an ELF file that could be read");
	}
	while (status == 0 && (unit = symbols_file_next_unit(file, unit, &bias)))
		status = read_unit(lines, &room, unit);
	if (status < 0)
		return fail(message, size, path, "out of memory");
	if (lines->count == 0)
		return fail(message, size, path, "no line table in it: built without -g?");
	qsort(lines->line, lines->count, sizeof(*lines->line), by_address);
	return 0;
}

void flow_lines_free(struct flow_lines *lines)
{
	free(lines->line);
	if (lines->file)
		symbols_file_close(lines->file);
	free(lines->file);
}
