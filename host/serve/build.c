/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "serve/build.h"

#include <stdlib.h>
#include <string.h>

#include "page/page.h"
#include "serve/answers.h"
#include "serve/job.h"
#include "serve/window.h"

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
	struct serve_pieces pieces = { .bytes = NULL };
	int status = serve_survey_write(survey, serve_take_piece, &pieces);

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
