/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Names and source lines of code. */
#ifndef FLOW_FUNCTIONS_H
#define FLOW_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "hwt/hwt.h"

/*
 * Functions by address, each with a number of its own: the same code of the same file is one function,
 * wherever and as often as it is mapped. Code of a file without symbols is one function without a name, so is
 * code that nothing is known of.
 */

struct flow_function {
	const char *image;  /* file name without folders, as it came; NULL: unknown */
	const char *path;   /* of the file that was read; NULL: none */
	const char *name;   /* as it came; NULL: none */
	uint64_t offset;    /* of its first byte, in the file's own addresses */
	uint32_t id;	    /* from 0 on, in the order in which they were met */
	uint32_t parent_id; /* of the function whose rarely run half it is ("f.cold"); else its own */
};

/* What lies at an address, and from where to where in memory that holds. */
struct flow_spot {
	const struct flow_function *function;
	uint64_t begin, end; /* [begin, end); without a name only the address itself */
};

struct flow_functions;

/* 0 or KTREAD_E_MEMORY. */
int flow_functions_new(struct flow_functions **functions, struct hwt_images *images);
void flow_functions_free(struct flow_functions *functions);
/* 0 or KTREAD_E_MEMORY. */
int flow_functions_at(struct flow_functions *functions, uint32_t pid, uint64_t stamp, uint64_t address,
		      struct flow_spot *spot);
uint32_t flow_functions_count(const struct flow_functions *functions);
const struct flow_function *flow_functions_get(const struct flow_functions *functions, uint32_t id);

/* Two parts of one function, which is entered once though code jumps between them? */
static inline int flow_same_function(const struct flow_function *a, const struct flow_function *b)
{
	return a->parent_id == b->parent_id;
}

/* The line table of an ELF file: which addresses are which source line's. By libdw. */

struct flow_line {
	uint64_t begin, end; /* in the file's own addresses */
	const char *source;  /* as it came */
	unsigned line;
};

struct flow_lines {
	struct flow_line *line; /* by address */
	size_t count;
	struct symbols_file *file; /* has the texts that `source` points to */
};

/* 0; -1: there are none, and `message` says why. */
int flow_lines_read(struct flow_lines *lines, const char *path, char *message, size_t size);
void flow_lines_free(struct flow_lines *lines);

#endif
