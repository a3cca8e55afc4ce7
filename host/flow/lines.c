/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "flow/lines.h"

#include <stdio.h>

#if __has_include(<elfutils/libdwfl.h>)

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/open.h"
#include "analyze/symbols_library.h"

#define LINES_MOST (1u << 24)

struct files {
	struct symbols_library library;
	Dwfl_Callbacks callbacks;
	Dwfl *dwfl;
	Dwfl_Module *module;
};

static int fail(char *message, size_t size, const char *path, const char *why)
{
	snprintf(message, size, "%.300s: %.150s", path, why);
	return -1;
}

/* The given file is all that is looked at. */
static int find_no_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			      const char *file, const char *link, GElf_Word crc, char **found)
{
	(void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)found;
	return -1;
}

static int load(struct files *files, const char *path, char *message, size_t size)
{
	int fd = base_open_regular(path, O_RDONLY);

	if (fd < 0)
		return fail(message, size, path, base_open_message(errno));
	files->callbacks = (Dwfl_Callbacks){
		.find_debuginfo = find_no_debug_file,
		.section_address = files->library.dwfl_offline_section_address,
	};
	files->dwfl = files->library.dwfl_begin(&files->callbacks);
	if (files->dwfl) {
		files->library.dwfl_report_begin(files->dwfl);
		files->module = files->library.dwfl_report_offline(files->dwfl, "image", path, fd);
		files->library.dwfl_report_end(files->dwfl, NULL, NULL);
	}
	if (files->module)
		return 0;
	close(fd);
	return fail(message, size, path, "not an ELF file that could be read");
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
	const struct symbols_library *library = &((struct files *)lines->files)->library;
	struct flow_line line = { .source = NULL };
	size_t count;
	Dwarf_Lines *rows;

	if (library->dwarf_getsrclines(unit, &rows, &count) != 0)
		return 0;
	for (size_t n = 0; n < count && lines->count < LINES_MOST; n++) {
		Dwarf_Line *row = library->dwarf_onesrcline(rows, n);
		Dwarf_Addr address = 0;
		int number = 0;
		bool ends = true;

		if (!row || library->dwarf_lineaddr(row, &address) != 0)
			continue;
		line.end = address;
		if (line.source && line.line && line.end > line.begin && add(lines, room, &line) < 0)
			return -1;
		library->dwarf_lineno(row, &number);
		library->dwarf_lineendsequence(row, &ends);
		line.begin = address;
		line.line = number > 0 ? (unsigned)number : 0;
		line.source = ends ? NULL : library->dwarf_linesrc(row, NULL, NULL);
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
	struct files *files = calloc(1, sizeof(*files));
	Dwarf_Addr bias;
	Dwarf_Die *unit = NULL;
	size_t room = 0;
	int status = 0;

	*lines = (struct flow_lines){ .files = files };
	if (!files || symbols_library_open(&files->library) != 0)
		return fail(message, size, path, "libdw is not there, which lines are read by");
	if (load(files, path, message, size) < 0)
		return -1;
	while (status == 0 && (unit = symbols_library_next_unit(&files->library, files->module, unit, &bias)))
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
	struct files *files = lines->files;

	free(lines->line);
	if (!files)
		return;
	if (files->dwfl)
		files->library.dwfl_end(files->dwfl);
	symbols_library_close(&files->library);
	free(files);
}

#else

int flow_lines_read(struct flow_lines *lines, const char *path, char *message, size_t size)
{
	*lines = (struct flow_lines){ .files = NULL };
	snprintf(message, size,
		 "%.300s: this ktrace was built without libdw (Debian: libdw-dev), which lines need", path);
	return -1;
}

void flow_lines_free(struct flow_lines *lines)
{
	(void)lines;
}

#endif
