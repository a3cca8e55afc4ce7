/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "page/page.h"

#include <stdlib.h>

#include "page/pass.h"

int page_open(struct page **result, struct ktread *trace, const struct page_options *options)
{
	struct page *page = calloc(1, sizeof(*page));
	int status;

	*result = page;
	if (!page)
		return KTREAD_E_MEMORY;
	page->trace = trace;
	page->options = *options;
	page->base = ktread_first_stamp(trace);
	base_ticks_scale_init(&page->scale, ktread_info(trace)->frequency);
	status = page_head_make(page);
	if (status == 0)
		status = gaps_read(&page->gaps, trace);
	if (status == 0)
		status = processes_read(&page->processes, trace, &page->known);
	if (status == 0)
		scheduling_mark(trace, &page->known, page->scheduling);
	return status;
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
