/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The spans that are open on each row of a Chrome trace, by name. A viewer pairs an end with the newest beginning of its row that is
 * still open, and some only if both have the same name: an end is written with the name that this says, or not at all.
 */
#ifndef EXPORT_CHROME_ROWS_H
#define EXPORT_CHROME_ROWS_H

#include <stddef.h>
#include <stdint.h>

#define CHROME_ROWS_NAME 96u

struct chrome_rows_row {
	uint32_t pid;
	uint64_t tid;
	uint32_t depth, room;
	char (*name)[CHROME_ROWS_NAME]; /* of what is open, innermost last */
};

/* Zero-initialised is ready for use. */
struct chrome_rows {
	struct chrome_rows_row *row; /* open addressing with linear probing; `name` NULL: an empty place */
	size_t rows, places;
};

/* A span begins. The name is cut to CHROME_ROWS_NAME - 1 bytes. 0 or KTREAD_E_MEMORY. */
int chrome_rows_begin(struct chrome_rows *rows, uint32_t pid, uint64_t tid, const char *name);
/* The newest span of the row ends. Returns its name, valid until the next call; NULL: none is open. */
const char *chrome_rows_end(struct chrome_rows *rows, uint32_t pid, uint64_t tid);
/* The n-th row, in no particular order; NULL: there are not so many places. Its depth may be 0. */
const struct chrome_rows_row *chrome_rows_at(const struct chrome_rows *rows, size_t n);
void chrome_rows_free(struct chrome_rows *rows);

#endif
