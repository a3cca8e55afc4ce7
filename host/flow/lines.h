/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The line table of an ELF file: which addresses are which source line's. By libdw. */
#ifndef FLOW_LINES_H
#define FLOW_LINES_H

#include <stddef.h>
#include <stdint.h>

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
