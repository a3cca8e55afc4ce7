/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Turns a trace into the data of the page that shows it: a head (JSON) and blocks (binary, compressed).
 * spec/page.md describes them. `ktrace html` puts them into a file; a server can send them one by one.
 *
 *	page_open(&page, trace, &options);		reads the trace once
 *	head = page_head(page, &size);
 *	page_write_blocks(page, take, context);
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
struct symbols;
struct tally;

struct page_options {
	const char *file; /* name of the trace on the page; NULL: none; borrowed */
	const char *path; /* path of the trace, which is removed from notes; NULL: none; borrowed */
	/* kernel's symbols for addresses; NULL: none; borrowed */
	struct symbols *symbols;
	const char *version; /* version of the program that the page shows; NULL: none; borrowed */
	/* true if the head contains the verdict of `ktrace why`; for this, the whole trace is read */
	bool verdict;
	/*
	 * true to leave out paths, texts in the fields of events, and the names of threads and processes;
	 * names of locks, interrupts and functions stay
	 */
	bool redact;
	/*
	 * true if the blocks will not contain the whole trace, so that the page has to ask for time windows
	 * of it
	 */
	bool partial;
	/*
	 * counts for the head, if the trace has just been read to its end; NULL: page_open() reads the trace;
	 * borrowed
	 */
	const struct tally *tally;
	bool live; /* true if the trace may grow */
	/*
	 * timestamp that the page shows as time 0; NULL: the timestamp of the oldest event; borrowed while
	 * the page is opened. A server that reads a growing trace again and again sets this member, because
	 * the oldest event changes.
	 */
	const uint64_t *base;
};

/*
 * Receives a block. `bytes` is valid during the call. Returns 0, or a negative KTREAD_E_*, which ends the
 * writing.
 */
typedef int page_take(void *context, const unsigned char *bytes, size_t size);

/*
 * Makes the head, and reads the trace to find where slots are missing and which processes there are. The
 * caller still owns `trace`. The time limits of the trace's filter apply to everything that is written. The
 * other conditions of this filter apply only to the list of events: states, calls, locks and arrows come from
 * all events. Requires: `trace` is at its beginning. Returns 0 or a negative KTREAD_E_*. The caller frees
 * `*page` in either case.
 */
int page_open(struct page **page, struct ktread *trace, const struct page_options *options);
void page_close(struct page *page);

/* Returns the head, a JSON object; stores its size in bytes. */
const char *page_head(const struct page *page, size_t *size);

/* Passes all blocks to `take`, in order. Returns 0, the error of `take`, or a negative KTREAD_E_*. */
int page_write_blocks(struct page *page, page_take *take, void *context);

/*
 * Passes the blocks of a time window to `take`. These blocks are a new sequence (spec/page.md). `since` and
 * `until` (excluded) are times of the page, in nanoseconds since the first event. Slices that overlap the
 * window are complete, if the events shortly before and after the window show their ends. Returns the same
 * values as page_write_blocks(). Requires: the trace has no filter.
 */
int page_write_window(struct page *page, uint64_t since, uint64_t until, page_take *take, void *context);

/*
 * Opens a page without a head, for page_write_window() and page_count(). Does not read the trace. Otherwise,
 * works like page_open().
 */
int page_open_window(struct page **page, struct ktread *trace, const struct page_options *options);

/*
 * Reads the whole trace, and writes the verdict of `ktrace why` and the time at which the trace was taken: a
 * JSON object with the members `why` and `taken` of a head. Returns the same values as page_write_blocks().
 * Requires: `page` is from page_open_window().
 */
int page_write_verdict(struct page *page, struct base_output *out);

/*
 * Counts the events of a time window. Returns 0 or a negative KTREAD_E_*. Requires: the trace has no filter.
 */
int page_count(struct page *page, uint64_t since, uint64_t until, uint64_t *events);

/* The page without data: an HTML file that is part of the program. */
extern const char page_template[];
extern const size_t page_template_size;

/*
 * Writes the page with the head and all blocks as one HTML file. Returns 0 or a negative KTREAD_E_*. Errors
 * of writing are in out->error.
 */
int page_write_document(struct page *page, struct base_output *out);

#endif
