/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Writes the page as one HTML file. */
#include <stdlib.h>
#include <string.h>

#include "page/page.h"
#include "page_template.h"

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
