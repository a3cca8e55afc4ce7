/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "serve/build.h"

#include <stdlib.h>
#include <string.h>

#include "page/page.h"
#include "serve/answers.h"
#include "serve/job.h"

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

/* Writes the head and all blocks. Returns 0 or a negative KTREAD_E_*. */
static int put_all(const struct serve_options *options, struct ktread *trace, int descriptor)
{
	const char *slash = strrchr(options->path, '/');
	struct symbols *symbols =
		options->open_symbols ? options->open_symbols(options->context, trace) : NULL;
	const struct page_options about = {
		.file = slash ? slash + 1 : options->path,
		.symbols = symbols,
		.version = options->version,
		.verdict = true,
	};
	struct page *page;
	const char *head;
	size_t size;
	int status = page_open(&page, trace, &about);

	if (status == 0) {
		head = page_head(page, &size);
		status = put_frame(descriptor, SERVE_FRAME_HEAD, head, size) ? KTREAD_E_SYSTEM : 0;
	}
	if (status == 0)
		status = page_write_blocks(page, take_block, &descriptor);
	page_close(page);
	symbols_close(symbols);
	return status;
}

int serve_build(void *context, const void *nothing, int descriptor)
{
	const struct serve_source *source = context;
	const char *changed = serve_what_changed(source);
	struct ktread *trace;
	int status;

	(void)nothing;
	trace = changed ? NULL : source->options->open(source->options->context, false);
	if (!trace)
		return put_error(descriptor, changed ? changed : "the trace file can no longer be read");
	status = put_all(source->options, trace, descriptor);
	changed = serve_what_changed(source);
	if (status < 0 || changed)
		status = put_error(descriptor, changed			   ? changed
					       : status == KTREAD_E_MEMORY ? "out of memory"
									   : ktread_message(trace));
	ktread_close(trace);
	return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
