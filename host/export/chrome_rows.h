/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The spans that are open on each row of a Chrome trace, by name. A viewer pairs an end with the newest beginning of its row that is
 * still open, and some only if both have the same name: an end is written with the name that this returns, or not at all.
 */
#ifndef EXPORT_CHROME_ROWS_H
#define EXPORT_CHROME_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "export/chrome_text.h"

#define CHROME_ROWS_NAME 96u

struct chrome_rows_span {
	struct chrome_piece rendered; /* ,"name":"…"; its text NULL: it is not rendered */
	char name[CHROME_ROWS_NAME];  /* if it is not rendered */
};

/* What is open on one row, innermost last. Zero-initialised is ready for use. */
struct chrome_rows_open {
	struct chrome_rows_span *span;
	uint32_t depth, room;
};

struct chrome_rows_row {
	uint32_t pid;
	uint64_t tid;
	struct chrome_rows_open open;
};

/* Zero-initialised is ready for use. */
struct chrome_rows {
	struct chrome_rows_row
		*row; /* open addressing with linear probing; `open.span` NULL: an empty place */
	size_t rows, places;
};

/*
 * The row of that number. NULL: nothing has begun there and `make` is 0, or out of memory. Valid until the next call with
 * `make`.
 */
struct chrome_rows_open *chrome_rows_find(struct chrome_rows *rows, uint32_t pid, uint64_t tid, int make);
void chrome_rows_free(struct chrome_rows *rows);

/* Makes room for one more span. 0 or KTREAD_E_MEMORY. */
int chrome_rows_grow(struct chrome_rows_open *open);
/* A span begins whose name is not rendered: it is cut to CHROME_ROWS_NAME - 1 bytes. 0 or KTREAD_E_MEMORY. */
int chrome_rows_begin(struct chrome_rows_open *open, const char *name);

/* A span begins whose name is rendered, in text that stays until it ends. 0 or KTREAD_E_MEMORY. */
static inline int chrome_rows_begin_rendered(struct chrome_rows_open *open, struct chrome_piece rendered)
{
	if (__builtin_expect(open->depth == open->room, 0) && chrome_rows_grow(open) < 0)
		return KTREAD_E_MEMORY;
	open->span[open->depth++].rendered = rendered;
	return 0;
}

/* The newest span ends. Returns it, valid until the next one begins; NULL: none is open. */
static inline const struct chrome_rows_span *chrome_rows_end(struct chrome_rows_open *open)
{
	return open->depth ? &open->span[--open->depth] : NULL;
}

#endif
