/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Makes the blocks of the page: all of them when the server starts, and those of a time window. */
#include "serve/answers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "page/page.h"
#include "serve/job.h"

#define WINDOW_EVENTS 300000u /* maximum number of events in a time window */

/*
 * Blocks in one buffer. Each block is preceded by its size, 4 bytes in little-endian form. The caller frees
 * `bytes`.
 */
struct pieces {
	unsigned char *bytes;
	size_t size, room;
};

/* Appends a block to the struct pieces to which `context` points. Has the type page_take. */
static int take_piece(void *context, const unsigned char *bytes, size_t size)
{
	struct pieces *pieces = context;
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

/* ---- Time windows ---- */

/* Refuses a time window that contains too many events. */
static int refuse(int descriptor, uint64_t events)
{
	struct base_output out;

	if (serve_begin(descriptor, SERVE_TOO_WIDE, SERVE_JSON) || base_output_open(&out, descriptor) < 0)
		return EXIT_FAILURE;
	base_output_format(&out,
			   "{\"error\":\"the window has more than %u events\",\"events\":%" PRIu64 "}\n",
			   WINDOW_EVENTS, events);
	return base_output_close(&out) ? EXIT_FAILURE : 0;
}

int serve_window(const struct serve_source *source, const struct serve_request *request, struct ktread *trace,
		 int descriptor)
{
	const struct serve_options *options = source->options;
	const uint64_t base = serve_base(source, trace);
	struct page_options about = { .version = options->version, .base = &base };
	struct pieces pieces = { .bytes = NULL };
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
	if (status == 0 && events <= WINDOW_EVENTS)
		status = page_write_window(page, request->from, end, take_piece, &pieces);
	page_close(page);
	symbols_close(about.symbols);
	changed = serve_what_changed(source);
	if (changed)
		status = serve_error(descriptor, SERVE_CHANGED, changed, 0);
	else if (status < 0)
		status = serve_error(descriptor, SERVE_BROKEN,
				     status == KTREAD_E_MEMORY ? "out of memory" : ktread_message(trace), 0);
	else if (events > WINDOW_EVENTS)
		status = refuse(descriptor, events);
	else
		status = serve_begin(descriptor, SERVE_OK, SERVE_BYTES) ||
			 serve_write(descriptor, pieces.bytes, pieces.size);
	free(pieces.bytes);
	return status ? EXIT_FAILURE : 0;
}

/* ---- The data of the page ---- */

static int put_frame(int descriptor, enum serve_frame_kind kind, const void *bytes, size_t size)
{
	const struct serve_frame frame = { kind, (uint32_t)size };

	if (size > SERVE_ANSWER_MOST)
		return -1;
	return serve_write(descriptor, &frame, sizeof(frame)) || serve_write(descriptor, bytes, size) ? -1
												      : 0;
}

static int put_error(int descriptor, const char *text)
{
	return put_frame(descriptor, SERVE_FRAME_ERROR, text, strlen(text));
}

static int take_block(void *context, const unsigned char *bytes, size_t size)
{
	return put_frame(*(int *)context, SERVE_FRAME_BLOCK, bytes, size) ? KTREAD_E_SYSTEM : 0;
}

static int put_overview(const struct serve_survey *survey, int descriptor)
{
	struct pieces pieces = { .bytes = NULL };
	int status = serve_survey_write(survey, take_piece, &pieces);

	if (status == 0 && put_frame(descriptor, SERVE_FRAME_OVERVIEW, pieces.bytes, pieces.size))
		status = KTREAD_E_SYSTEM;
	free(pieces.bytes);
	return status;
}

/* Writes the head, then all blocks or, for a long trace, the overview. Returns 0 or a negative KTREAD_E_*. */
static int put_page(struct ktread *trace, const struct page_options *about, const struct serve_survey *survey,
		    int descriptor)
{
	struct page *page;
	const char *head;
	size_t size;
	int status = page_open(&page, trace, about);

	if (status == 0) {
		head = page_head(page, &size);
		status = put_frame(descriptor, SERVE_FRAME_HEAD, head, size) ? KTREAD_E_SYSTEM : 0;
	}
	if (status == 0)
		status = about->partial ? put_overview(survey, descriptor)
					: page_write_blocks(page, take_block, &descriptor);
	page_close(page);
	return status;
}

/*
 * Reads the trace once. The number of events decides whether the whole trace is sent or only an overview.
 * Returns 0 or a negative KTREAD_E_*.
 */
static int put_all(const struct serve_source *source, struct ktread *trace, int descriptor)
{
	const struct serve_options *options = source->options;
	const struct serve_zero zero = { ktread_info(trace)->nonce, serve_base(source, trace), true };
	const char *slash = strrchr(options->path, '/');
	struct page_options about = { .file = slash ? slash + 1 : options->path,
				      .path = options->path,
				      .version = options->version,
				      .live = options->live,
				      .base = &zero.stamp };
	struct serve_survey *survey;
	int status = serve_survey_read(&survey, trace, zero.stamp);

	if (status == 0 && options->live && serve_survey_tally(survey)->events &&
	    put_frame(descriptor, SERVE_FRAME_ZERO, &zero, sizeof(zero)))
		status = KTREAD_E_SYSTEM;
	if (status == 0) {
		about.tally = serve_survey_tally(survey);
		about.partial = about.tally->events > options->whole;
		about.verdict = !about.partial;
		if (options->open_symbols)
			about.symbols = options->open_symbols(options->context, trace);
		status = put_page(trace, &about, survey, descriptor);
		symbols_close(about.symbols);
	}
	serve_survey_free(survey);
	return status;
}

int serve_build(void *context, const void *nothing, int descriptor)
{
	const struct serve_source *source = context;
	const char *changed = serve_what_changed(source);
	struct ktread *trace;
	int status;

	(void)nothing;
	trace = changed ? NULL : source->options->open(source->options->context, true);
	if (!trace)
		return put_error(descriptor, changed ? changed : "the trace file can no longer be read");
	status = put_all(source, trace, descriptor);
	changed = serve_what_changed(source);
	if (status < 0 || changed)
		status = put_error(descriptor, changed			   ? changed
					       : status == KTREAD_E_MEMORY ? "out of memory"
									   : ktread_message(trace));
	ktread_close(trace);
	return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
