/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Names by number: threads and system calls, as a trace brings them. */
#ifndef KTREAD_NAMES_H
#define KTREAD_NAMES_H

#include <stdint.h>

struct ktread_name {
	uint32_t number;
	const char *name;
	const char *rest; /* of its line, after the name; NULL: nothing */
};

/* Sorted by number. */
struct ktread_names {
	struct ktread_name *row;
	uint32_t rows;
	char *text; /* what the names lie in */
};

/* From KTRX_SECTION_THREADS; takes over `bytes` (malloc'd), which has `size` bytes. */
int ktread_names_load_threads(struct ktread_names *names, char *bytes, uint64_t size, uint32_t row_size);
/*
 * From KTRX_SECTION_SYSCALLS: calls, and errors by what their results are below zero. Takes over `bytes`,
 * which has size + 1 bytes; all names lie in the text of `calls`.
 */
int ktread_names_load_calls(struct ktread_names *calls, struct ktread_names *errors, char *bytes,
			    uint64_t size);
const char *ktread_names_get(const struct ktread_names *names, uint32_t number);
/* What follows the name in its line; NULL: nothing, or no such line. */
const char *ktread_names_rest(const struct ktread_names *names, uint32_t number);
void ktread_names_free(struct ktread_names *names);

#endif
