/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "serve/window.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "page/page.h"
#include "serve/job.h"

int serve_take_piece(void *context, const unsigned char *bytes, size_t size)
{
	struct serve_pieces *pieces = context;
	unsigned char *larger = pieces->bytes;

	if (size > SERVE_ANSWER_MOST || pieces->size > SERVE_ANSWER_MOST)
		return KTREAD_E_UNSUPPORTED;
	if (pieces->room - pieces->size < size + 4) {
		pieces->room = 2 * pieces->room + size + 4;
		larger = realloc(pieces->bytes, pieces->room);
	}
	if (!larger)
		return KTREAD_E_MEMORY;
	pieces->bytes = larger;
	for (unsigned n = 0; n < 4; n++)
		larger[pieces->size++] = (unsigned char)(size >> 8 * n);
	memcpy(larger + pieces->size, bytes, size);
	pieces->size += size;
	return 0;
}

/* Refuses a time window that contains too many events. */
static int refuse(int descriptor, uint64_t events)
{
	struct base_output out;

	if (serve_begin(descriptor, SERVE_TOO_WIDE, SERVE_JSON) || base_output_open(&out, descriptor) < 0)
		return EXIT_FAILURE;
	base_output_format(&out,
			   "{\"error\":\"the window has more than %u events\",\"events\":%" PRIu64 "}\n",
			   SERVE_WINDOW_EVENTS, events);
	return base_output_close(&out) ? EXIT_FAILURE : 0;
}

int serve_window(const struct serve_source *source, const struct serve_request *request, struct ktread *trace,
		 int descriptor)
{
	const struct serve_options *options = source->options;
	const uint64_t base = serve_base(source, trace);
	struct page_options about = { .version = options->version, .base = &base };
	struct serve_pieces pieces = { .bytes = NULL };
	const uint64_t end = request->until == UINT64_MAX ? request->until : request->until + 1;
	struct page *page;
	uint64_t events = 0;
	const char *changed;
	int status;

	if (options->open_symbols)
		about.symbols = options->open_symbols(options->context, trace);
	status = page_open_window(&page, trace, &about);
	if (status == 0)
		status = page_count(page, request->from, end, &events);
	if (status == 0 && events <= SERVE_WINDOW_EVENTS)
		status = page_write_window(page, request->from, end, serve_take_piece, &pieces);
	page_close(page);
	symbols_close(about.symbols);
	changed = serve_what_changed(source);
	if (changed)
		status = serve_error(descriptor, SERVE_CHANGED, changed, 0);
	else if (status < 0)
		status = serve_error(descriptor, SERVE_BROKEN,
				     status == KTREAD_E_MEMORY ? "out of memory" : ktread_message(trace), 0);
	else if (events > SERVE_WINDOW_EVENTS)
		status = refuse(descriptor, events);
	else
		status = serve_begin(descriptor, SERVE_OK, SERVE_BYTES) ||
			 serve_write(descriptor, pieces.bytes, pieces.size);
	free(pieces.bytes);
	return status ? EXIT_FAILURE : 0;
}
