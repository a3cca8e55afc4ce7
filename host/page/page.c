/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "page/page.h"

#include <stdlib.h>

#include "page/pass.h"

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
