/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finding the dumps, of either version, that follow one another in a file. */
#ifndef KTREAD_DUMPS_H
#define KTREAD_DUMPS_H

#include <stdbool.h>

#include "source.h"

struct ktread_dump {
	uint64_t offset;
	uint64_t length; /* as its header says; more than the file has if truncated */
	uint32_t version;
	bool truncated;
};

struct ktread_dumps {
	struct ktread_dump last; /* the last complete one, or else the last truncated one */
	uint32_t complete;
	uint64_t skipped; /* bytes between and after dumps that belong to none */
};

/* KTREAD_E_FORMAT if there is none; the text says what is wrong with the first thing that looked like one. */
int ktread_dumps_find(struct ktread_memory *memory, struct ktread_dumps *dumps);
/* Whether a dump's header stands at `offset`. */
bool ktread_dump_at(struct ktread_memory *memory, uint64_t offset, struct ktread_dump *dump);

#endif
