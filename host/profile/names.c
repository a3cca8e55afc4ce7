/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "profile/names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/symbols.h"
#include "base/grow.h"

struct function {
	uint64_t address, size;
	const char *name; /* name of the function; `symbols` owns the string */
};

struct profile_names {
	struct symbols *symbols;
	struct function *function; /* the functions, sorted by address */
	uint32_t count, room;
	bool failed;
};

static void add(void *context, const char *name, uint64_t address, uint64_t size)
{
	struct profile_names *names = context;
	struct function *grown;

	/* leaves out mapping symbols of AArch64 and RISC-V, such as $x */
	if (names->count == PROFILE_NAMES_MOST || names->failed || !*name || *name == '$')
		return;
	grown = base_grow(names->function, &names->room, names->count + 1u, sizeof(*grown));
	if (!grown) {
		names->failed = true;
		return;
	}
	names->function = grown;
	grown[names->count++] = (struct function){ address, size, name };
}

static int compare(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	/*
	 * if an address has several names, the last name in the array is used, so a name with a size comes
	 * last
	 */
	if ((a->size != 0) != (b->size != 0))
		return a->size ? 1 : -1;
	return -strcmp(a->name, b->name);
}

int profile_names_open(struct profile_names **opened, const char *path, uint16_t machine, const char **why)
{
	const struct ktread_info info = { .machine = machine };
	struct profile_names *names = calloc(1, sizeof(*names));

	*opened = NULL;
	*why = "out of memory";
	if (!names)
		return -1;
	if (symbols_open(&names->symbols, path, &info) < 0) {
		*why = symbols_message();
		free(names);
		return -1;
	}
	symbols_each(names->symbols, add, names);
	if (names->failed) {
		profile_names_close(names);
		return -1;
	}
	if (names->count)
		qsort(names->function, names->count, sizeof(*names->function), compare);
	*opened = names;
	return 0;
}

void profile_names_close(struct profile_names *names)
{
	if (!names)
		return;
	symbols_close(names->symbols);
	free(names->function);
	free(names);
}

uint32_t profile_names_count(const struct profile_names *names)
{
	return names ? names->count : 0;
}

uint32_t profile_names_find(const struct profile_names *names, uint64_t address)
{
	uint32_t low = 0, high = profile_names_count(names);
	const struct function *function;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (names->function[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return PROFILE_NO_NAME;
	function = &names->function[low - 1];
	/* A function without a size ends at the next function, or at the end of the kernel. */
	if (function->size ? address - function->address >= function->size
			   : !symbols_has_code(names->symbols, address))
		return PROFILE_NO_NAME;
	return low - 1;
}

uint64_t profile_names_address(const struct profile_names *names, uint32_t n)
{
	return n < profile_names_count(names) ? names->function[n].address : 0;
}

const char *profile_names_at(const struct profile_names *names, uint32_t n)
{
	return n < profile_names_count(names) ? demangled(names->function[n].name) : "";
}

const struct symbols_frame *profile_names_frame(void *context, uint64_t address)
{
	const struct profile_names *names = context;

	return names ? symbols_frame(names->symbols, address) : NULL;
}
