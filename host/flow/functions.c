/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Functions by address, and line tables of ELF files. */
#include "flow/flow.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/symbols_file.h"
#include "base/grow.h"
#include "base/index.h"
#include "base/open.h"
#include "ktread/ktread.h"

#define COLD  ".cold"
#define KNOWN 4096u /* number of addresses whose function is cached */

/* A cached result: the function at an address, valid for timestamps from `from` until before `until`. */
struct known {
	uint64_t address, from, until;
	uint32_t pid;
	struct flow_spot spot; /* the cached result; spot.function is NULL in an unused element */
};

struct flow_functions {
	struct hwt_images *images;
	struct flow_function **function; /* functions by id; pointers to them stay valid */
	uint32_t count, room;
	struct base_index index; /* index of functions by image, name and offset */
	struct known known[KNOWN];
};

static int same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

int flow_functions_new(struct flow_functions **functions, struct hwt_images *images)
{
	struct flow_functions *f = calloc(1, sizeof(*f));

	*functions = f;
	if (!f)
		return KTREAD_E_MEMORY;
	f->images = images;
	return 0;
}

static void free_function(struct flow_function *function)
{
	if (!function)
		return;
	free((char *)function->image);
	free((char *)function->path);
	free((char *)function->name);
	free(function);
}

void flow_functions_free(struct flow_functions *functions)
{
	if (!functions)
		return;
	for (uint32_t id = 0; id < functions->count; id++)
		free_function(functions->function[id]);
	free(functions->function);
	base_index_free(&functions->index);
	free(functions);
}

/* Copies a string, which may be NULL. Returns 0 or KTREAD_E_MEMORY. */
static int copy(const char **to, const char *text)
{
	*to = text ? strdup(text) : NULL;
	return text && !*to ? KTREAD_E_MEMORY : 0;
}

static int add(struct flow_functions *functions, uint64_t hash, const struct hwt_place *place,
	       uint64_t offset)
{
	struct flow_function **grown = base_grow(functions->function, &functions->room, functions->count + 1u,
						 sizeof(struct flow_function *));
	struct flow_function *function = calloc(1, sizeof(*function));

	if (grown)
		functions->function = grown;
	if (!grown || !function || copy(&function->image, place->image) ||
	    copy(&function->path, place->path) || copy(&function->name, place->symbol) ||
	    base_index_add(&functions->index, hash, functions->count)) {
		free_function(function);
		return KTREAD_E_MEMORY;
	}
	function->offset = offset;
	function->id = function->parent_id = functions->count;
	functions->function[functions->count++] = function;
	return 0;
}

/*
 * Sets *id to the id of the function at `place`, and adds the function if it is new. Returns 0 or
 * KTREAD_E_MEMORY.
 */
static int look_up(struct flow_functions *functions, const struct hwt_place *place, uint32_t *id)
{
	const uint64_t offset = place->symbol ? place->offset - place->into : 0;
	const uint64_t hash =
		base_hash(base_hash_text(base_hash_text(0, place->image), place->symbol), offset);

	for (uint32_t probe = 0; base_index_next(&functions->index, hash, &probe, id);) {
		const struct flow_function *function = functions->function[*id];

		if (function->offset == offset && same_text(function->name, place->symbol) &&
		    same_text(function->image, place->image))
			return 0;
	}
	*id = functions->count;
	return add(functions, hash, place, offset);
}

/*
 * If the function `id` is a part such as "f.cold" or "f.cold.3", which compilers place elsewhere because it
 * rarely runs, sets its parent_id to the id of f. Returns 0 or KTREAD_E_MEMORY.
 */
static int find_parent(struct flow_functions *functions, uint32_t pid, uint64_t stamp, uint32_t id)
{
	const char *name = functions->function[id]->name, *cold = name ? strstr(name, COLD) : NULL;
	struct hwt_place place;
	uint64_t address, size;
	uint32_t parent;
	char *base;
	int status = 0;

	if (!cold || cold == name || (cold[strlen(COLD)] != '\0' && cold[strlen(COLD)] != '.'))
		return 0;
	base = strndup(name, (size_t)(cold - name));
	if (!base)
		return KTREAD_E_MEMORY;
	if (hwt_images_find(functions->images, functions->function[id]->image, base, 0, &address, &size) ==
		    0 &&
	    hwt_images_place(functions->images, pid, stamp, address, 0, &place) &&
	    same_text(place.symbol, base)) {
		status = look_up(functions, &place, &parent);
		if (status == 0)
			functions->function[id]->parent_id = parent;
	}
	free(base);
	return status;
}

static int find_spot(struct flow_functions *functions, uint32_t pid, uint64_t stamp, uint64_t address,
		     struct known *known)
{
	uint32_t id, before = functions->count;
	struct flow_spot *spot = &known->spot;
	struct hwt_place place;
	int status;

	spot->function = NULL;
	/* For unknown code, this call sets only the timestamps of `place`. */
	hwt_images_place(functions->images, pid, stamp, address, 0, &place);
	known->address = address;
	known->pid = pid;
	known->from = place.from;
	known->until = place.until;
	status = look_up(functions, &place, &id);
	if (status == 0 && functions->count > before)
		status = find_parent(functions, pid, stamp, id);
	if (status < 0)
		return status;
	spot->function = functions->function[id];
	spot->begin = address;
	spot->end = address + 1;
	spot->at_start = place.symbol && place.into == 0;
	if (place.symbol)
		spot->begin = place.symbol_address;
	/* The end of a function without a size is unknown. */
	if (place.symbol && place.into < place.symbol_size)
		spot->end = place.symbol_address + place.symbol_size;
	return 0;
}

int flow_functions_at(struct flow_functions *functions, uint32_t pid, uint64_t stamp, uint64_t address,
		      struct flow_spot *spot)
{
	struct known *known = &functions->known[(address ^ address >> 12) % KNOWN];
	/* timestamp 0 asks for the latest code at the address */
	const uint64_t at = stamp ? stamp : UINT64_MAX - 1;
	int status = 0;

	if (!known->spot.function || known->address != address || known->pid != pid || at < known->from ||
	    at >= known->until)
		status = find_spot(functions, pid, stamp, address, known);
	if (status == 0)
		*spot = known->spot;
	return status;
}

uint32_t flow_functions_count(const struct flow_functions *functions)
{
	return functions->count;
}

const struct flow_function *flow_functions_get(const struct flow_functions *functions, uint32_t id)
{
	return functions->function[id];
}

#define LINES_MOST (1u << 24)

static int fail(char *message, size_t size, const char *path, const char *why)
{
	snprintf(message, size, "%.300s: %.150s", path, why);
	return -1;
}

static int add_line(struct flow_lines *lines, uint32_t *room, const struct flow_line *line)
{
	struct flow_line *grown = base_grow(lines->line, room, lines->count + 1, sizeof(*grown));

	if (!grown)
		return -1;
	lines->line = grown;
	lines->line[lines->count++] = *line;
	return 0;
}

/*
 * Reads the line table of a unit. A row is valid up to the next row; the last row of a sequence only marks
 * the sequence's end.
 */
static int read_unit(struct flow_lines *lines, uint32_t *room, Dwarf_Die *unit)
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
		if (line.source && line.line && line.end > line.begin && add_line(lines, room, &line) < 0)
			return -1;
		dwarf_lineno(row, &number);
		dwarf_lineendsequence(row, &ends);
		line.begin = address;
		line.line = number > 0 ? (unsigned)number : 0;
		line.source = ends ? NULL : dwarf_linesrc(row, NULL, NULL);
	}
	return 0;
}

struct entries {
	struct flow_lines *lines;
	uint32_t room;
	bool failed; /* true if there was not enough memory */
};

/*
 * Sets the entry address of a function, which may consist of several parts. A function is entered at its
 * first part.
 */
static int entry_of(Dwarf_Die *function, Dwarf_Addr *address)
{
	Dwarf_Addr base, end;

	return dwarf_entrypc(function, address) == 0 || dwarf_ranges(function, 0, &base, address, &end) > 0;
}

static const char *linked_name(Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_formstring(dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute));

	return name ? name : dwarf_diename(function);
}

/* Adds a function, if it has an address. Functions that are only declared, or always inlined, have none. */
static int take_function(Dwarf_Die *function, void *to)
{
	struct entries *entries = to;
	struct flow_lines *lines = entries->lines;
	struct flow_entry entry, *grown;
	Dwarf_Addr address;
	int line;

	if (!entry_of(function, &address) || dwarf_decl_line(function, &line) != 0 || line <= 0)
		return DWARF_CB_OK;
	entry = (struct flow_entry){ address, dwarf_decl_file(function), (unsigned)line,
				     linked_name(function) };
	if (!entry.source || !entry.name || lines->entries == LINES_MOST)
		return DWARF_CB_OK;
	grown = base_grow(lines->entry, &entries->room, lines->entries + 1, sizeof(*grown));
	entries->failed = !grown;
	if (!grown)
		return DWARF_CB_ABORT;
	lines->entry = grown;
	grown[lines->entries++] = entry;
	return DWARF_CB_OK;
}

static int by_entry(const void *a, const void *b)
{
	const struct flow_entry *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
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
	struct entries entries = { .lines = lines };
	Dwarf_Addr bias;
	Dwarf_Die *unit = NULL;
	uint32_t room = 0;
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
	while (status == 0 && (unit = symbols_file_next_unit(file, unit, &bias))) {
		status = read_unit(lines, &room, unit);
		if (status == 0)
			dwarf_getfuncs(unit, take_function, &entries, 0);
		status |= entries.failed ? -1 : 0;
	}
	if (status < 0)
		return fail(message, size, path, "out of memory");
	if (lines->count == 0)
		return fail(message, size, path, "no line table in it: built without -g?");
	qsort(lines->line, lines->count, sizeof(*lines->line), by_address);
	if (lines->entries)
		qsort(lines->entry, lines->entries, sizeof(*lines->entry), by_entry);
	return 0;
}

void flow_lines_free(struct flow_lines *lines)
{
	free(lines->line);
	free(lines->entry);
	if (lines->file)
		symbols_file_close(lines->file);
	free(lines->file);
}
