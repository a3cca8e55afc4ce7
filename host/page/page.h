/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Turns a trace into the data of the page that shows it: a head (JSON) and blocks (binary, compressed).
 * spec/page.md describes them. `ktrace html` puts them into a file; a server can send them one by one.
 *
 *	page_open(&page, trace, &options);		reads the trace once
 *	page_head(page, &text, &size);
 *	page_write_blocks(page, 0, UINT64_MAX, take, context);
 *	page_close(page);
 */
#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"
#include "ktread/ktread.h"

/* maximum number of events in a block */
#define PAGE_BLOCK_EVENTS (1u << 18)

struct page;

struct page_options {
	const char *file; /* name of the trace, as the page shows it; borrowed */
};

/*
 * Takes a block. `bytes` is valid during the call. Returns 0, or a negative KTREAD_E_*, which ends the
 * writing.
 */
typedef int page_take(void *context, const unsigned char *bytes, size_t size);

/*
 * Reads the trace once, to find where slots are missing and which threads and processes there are. `trace`
 * stays the caller's; its filter applies to what is written. Requires: `trace` is at its beginning.
 * Returns 0 or a negative KTREAD_E_*. The caller frees `*page` in either case.
 */
int page_open(struct page **page, struct ktread *trace, const struct page_options *options);
void page_close(struct page *page);

/*
 * Makes the head, a JSON object. The caller frees *text. Reads the trace and rewinds it. Returns 0 or a
 * negative KTREAD_E_*.
 */
int page_head(struct page *page, char **text, size_t *size);

/*
 * Passes the blocks of a time to `take`, in order. `since` and `until` are times of the page, in nanoseconds
 * since the first event; slices that overlap this time are whole. The blocks of a call form a sequence of
 * their own. Returns 0, the error of `take`, or a negative KTREAD_E_*.
 */
int page_write_blocks(struct page *page, uint64_t since, uint64_t until, page_take *take, void *context);

/* The page without data, which is a part of the program: an HTML file. */
extern const char page_template[];
extern const size_t page_template_size;

/*
 * Writes the page with the head and all blocks as one HTML file. Returns 0 or a negative KTREAD_E_*. Errors
 * of writing are in out->error.
 */
int page_write_document(struct page *page, struct base_output *out);

#endif
