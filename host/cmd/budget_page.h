/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* One page of an answer (budget.h). */
#ifndef CMD_BUDGET_PAGE_H
#define CMD_BUDGET_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"

#define PAGE_TRAILER 80u /* maximum number of bytes of a cursor with the text around it */

struct page {
	size_t budget, used; /* maximum size of the page, and size of what was printed so far, in bytes */
	/* number of pieces on earlier pages, and the hash of these pieces; both come from the cursor */
	uint64_t skipped, skipped_hash;
	uint64_t pieces, hash; /* number and hash of all pieces so far, including those on earlier pages */
	size_t large;	       /* size of a piece that does not fit into any page; 0: none */
	bool full;	       /* the page is full, and more pieces follow */
	bool changed;	       /* the pieces of earlier pages differ from those that the cursor describes */
	bool array;	       /* an array in the document has begun and not ended */
	const char *key;       /* name of the document's last member, with its quotes; not NUL-terminated */
	size_t key_length;
	struct base_output *out;
};

void page_init(struct page *page, struct base_output *out, size_t budget);
/* Reads a cursor. Returns false if the text is not a cursor. */
bool page_set_cursor(struct page *page, const char *text);
/* Writes the cursor of the next page. */
void page_cursor(const struct page *page, char text[PAGE_TRAILER]);
/*
 * Processes a line with its newline. Returns false if the page ends before the line; in this case, sets full,
 * large or changed.
 */
bool page_line(struct page *page, const char *line, size_t length);
/* Processes a complete JSON document. */
void page_document(struct page *page, const char *text, size_t length);
/* Completes the page. Call it after the last piece of the answer. */
void page_end(struct page *page);

/* Returns the end of the JSON value that begins at `at`; NULL if it does not end before `end`. */
const char *page_value_end(const char *at, const char *end);

#endif
