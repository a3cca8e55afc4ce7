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
	size_t budget, used; /* bytes */
	/* number of pieces on earlier pages, and the hash of these pieces; both come from the cursor */
	uint64_t skipped, skipped_hash;
	uint64_t pieces, hash; /* number and hash of all pieces so far, earlier pages included */
	size_t large;	       /* size of a piece that does not fit into any page; 0: none */
	bool full;	       /* more pieces follow */
	bool changed;	       /* the pieces of earlier pages have changed */
	bool array;	       /* an array of a document is open */
	const char *key;       /* the last member of a document, with its quotes; not NUL-terminated */
	size_t key_length;
	struct base_output *out;
};

void page_init(struct page *page, struct base_output *out, size_t budget);
/* Reads a cursor. Returns false if the text is not a cursor. */
bool page_set_cursor(struct page *page, const char *text);
/* Writes the cursor of the next page. */
void page_cursor(const struct page *page, char text[PAGE_TRAILER]);
/* Takes a line with its end. Returns false if the page ends before it: then sets full, large or changed. */
bool page_line(struct page *page, const char *line, size_t length);
/* Takes a whole JSON document. */
void page_document(struct page *page, const char *text, size_t length);
/* Call after the last piece of the answer. */
void page_end(struct page *page);

/* Returns the end of the JSON value that begins at `at`; NULL if it does not end before `end`. */
const char *page_value_end(const char *at, const char *end);

#endif
