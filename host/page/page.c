/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "page/page.h"

#include <stdlib.h>
#include <string.h>

#include "page/pass.h"
#include "page_template.h"

/* ---- The data of the page ---- */

static int create(struct page **result, struct ktread *trace, const struct page_options *options)
{
	struct page *page = calloc(1, sizeof(*page));

	*result = page;
	if (!page)
		return KTREAD_E_MEMORY;
	page->trace = trace;
	page->options = *options;
	page->narrowed = ktread_is_narrowed(trace);
	page->base = options->base ? *options->base : ktread_first_stamp(trace);
	base_ticks_scale_init(&page->scale, ktread_info(trace)->frequency);
	return 0;
}

int page_models_read(struct page *page, int (*read_gaps)(struct gaps **gaps, struct ktread *trace))
{
	int status = read_gaps(&page->gaps, page->trace);

	if (status == 0)
		status = processes_read(&page->processes, page->trace, &page->known);
	if (status == 0)
		scheduling_mark(page->trace, &page->known, page->scheduling);
	return status;
}

int page_open(struct page **result, struct ktread *trace, const struct page_options *options)
{
	int status = create(result, trace, options);

	if (status == 0)
		status = page_head_make(*result);
	if (status == 0 && !options->partial)
		status = page_models_read(*result, gaps_read);
	return status;
}

int page_open_window(struct page **result, struct ktread *trace, const struct page_options *options)
{
	return create(result, trace, options);
}

void page_close(struct page *page)
{
	if (!page)
		return;
	gaps_free(page->gaps);
	processes_free(page->processes);
	free(page->head);
	free(page);
}

const char *page_head(const struct page *page, size_t *size)
{
	*size = page->head_size;
	return page->head;
}

/* ---- The page as one HTML file ---- */

const size_t page_template_size = sizeof(page_template) - 1;

/* the line of the page that the data replaces */
#define MARK "<!--data-->"

#define HEAD_BEGIN  "<script id=\"ktrace-head\" type=\"application/json\">\n"
#define BLOCK_BEGIN "<script class=\"ktrace-block\" type=\"application/octet-stream;base64\">"
#define END	    "</script>\n"

/*
 * Writes JSON as the content of a script element. In JSON, '<' occurs only in strings. The character '<' is
 * escaped, so that no string ends the element or begins a comment.
 */
static void put_json(struct base_output *out, const char *text, size_t size)
{
	while (size > 0) {
		const char *bracket = memchr(text, '<', size);
		const size_t plain = bracket ? (size_t)(bracket - text) : size;

		base_output_bytes(out, text, plain);
		if (bracket)
			base_output_text(out, "\\u003c");
		text += plain + (bracket != NULL);
		size -= plain + (bracket != NULL);
	}
}

static void put_base64(struct base_output *out, const unsigned char *bytes, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t n = 0; n < size;) {
		char *at = base_output_line(out), *const end = at + BASE_OUTPUT_LINE - 4;

		for (; n < size && at < end; n += 3) {
			const size_t rest = size - n;
			const uint32_t word = (uint32_t)bytes[n] << 16 |
					      (rest > 1 ? (uint32_t)bytes[n + 1] << 8 : 0) |
					      (rest > 2 ? bytes[n + 2] : 0);

			*at++ = digits[word >> 18];
			*at++ = digits[word >> 12 & 63];
			*at++ = rest > 1 ? digits[word >> 6 & 63] : '=';
			*at++ = rest > 2 ? digits[word & 63] : '=';
		}
		base_output_done(out, at);
	}
}

static int take_block(void *context, const unsigned char *bytes, size_t size)
{
	struct base_output *out = context;

	base_output_text(out, BLOCK_BEGIN);
	put_base64(out, bytes, size);
	base_output_text(out, END);
	return out->error ? KTREAD_E_SYSTEM : 0;
}

int page_write_document(struct page *page, struct base_output *out)
{
	const char *const mark = strstr(page_template, MARK);
	const char *const rest = mark ? mark + sizeof(MARK) - 1 : page_template + page_template_size;
	size_t size;
	const char *head = page_head(page, &size);
	int status;

	base_output_bytes(out, page_template, (size_t)((mark ? mark : rest) - page_template));
	base_output_text(out, HEAD_BEGIN);
	put_json(out, head, size);
	base_output_text(out, END);
	status = page_write_blocks(page, take_block, out);
	/* If reading fails, the page contains the events that were read before the error. */
	base_output_text(out, rest);
	return status;
}
