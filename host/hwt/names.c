/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "base/grow.h"
#include "binary.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/symbols.h"
#include "file.h"

struct hwt_names {
	struct symbols *symbols; /* NULL: it has none */
	struct hwt_function *function;
	size_t functions;
	uint32_t room;
	int failed; /* out of memory */
};

static void add(void *context, const char *name, uint64_t address, uint64_t size)
{
	struct hwt_names *names = context;
	struct hwt_function *grown =
		base_grow(names->function, &names->room, names->functions + 1, sizeof(*grown));

	names->failed |= !grown;
	if (!grown)
		return;
	names->function = grown;
	names->function[names->functions++] = (struct hwt_function){ address, size, name };
}

/* Of several names of one place the one with the largest size comes first, and stays. */
static int compare(const void *left, const void *right)
{
	const struct hwt_function *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void sort(struct hwt_names *names)
{
	size_t kept = 0;

	if (names->functions)
		qsort(names->function, names->functions, sizeof(*names->function), compare);
	for (size_t i = 0; i < names->functions; i++)
		if (kept == 0 || names->function[kept - 1].address != names->function[i].address)
			names->function[kept++] = names->function[i];
	names->functions = kept;
}

struct hwt_names *hwt_names_open(const char *path, uint16_t machine)
{
	const struct ktread_info info = { .machine = machine };
	struct hwt_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	if (machine && symbols_open(&names->symbols, path, &info) >= 0)
		symbols_each(names->symbols, add, names);
	if (names->failed) {
		hwt_names_close(names);
		return NULL;
	}
	sort(names);
	return names;
}

void hwt_names_close(struct hwt_names *names)
{
	if (!names)
		return;
	symbols_close(names->symbols);
	free(names->function);
	free(names);
}

size_t hwt_names_count(const struct hwt_names *names)
{
	return names->functions;
}

const struct hwt_function *hwt_names_find(const struct hwt_names *names, uint64_t address)
{
	const struct hwt_function *found;
	size_t low = 0, high = names->functions;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (names->function[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	found = &names->function[low - 1];
	return found->size && address - found->address >= found->size ? NULL : found;
}

const struct hwt_function *hwt_names_named(const struct hwt_names *names, const char *name)
{
	for (size_t i = 0; i < names->functions; i++)
		if (strcmp(names->function[i].name, name) == 0)
			return &names->function[i];
	return NULL;
}

const char *hwt_names_line(struct hwt_names *names, uint64_t address, unsigned *line)
{
	struct symbol symbol;

	symbols_find(names->symbols, address, &symbol);
	*line = symbol.line;
	return symbol.file;
}
