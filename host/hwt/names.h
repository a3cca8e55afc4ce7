/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The names in a file: its functions in the order of their addresses, and lines by its debug information. */
#ifndef HWT_NAMES_H
#define HWT_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct hwt_names;

struct hwt_function {
	uint64_t address, size; /* the file's own; size 0: unknown */
	const char *name;
};

/* Of what has none, or cannot be read, there are none. NULL: out of memory. */
struct hwt_names *hwt_names_open(const char *path, uint16_t machine);
void hwt_names_close(struct hwt_names *names);
size_t hwt_names_count(const struct hwt_names *names);
/* The function an address lies in, or that comes before it and has no size. NULL: there is none. */
const struct hwt_function *hwt_names_find(const struct hwt_names *names, uint64_t address);
const struct hwt_function *hwt_names_named(const struct hwt_names *names, const char *name);
/* Source file and line of an address; NULL: unknown. */
const char *hwt_names_line(struct hwt_names *names, uint64_t address, unsigned *line);

#endif
