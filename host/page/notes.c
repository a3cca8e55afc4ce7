/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The notes that a reader of the page needs about its data: damage, missing parts, and clocks. */
#include <inttypes.h>
#include <string.h>

#include "analyze/order.h"
#include "base/json.h"
#include "page/pass.h"

/*
 * Writes a warning of the reader, without the path at its beginning. A redacted page has no warning that
 * contains another path.
 */
static void put_warning(const struct page *page, struct base_output *out, const char *warning)
{
	const char *path = page->options.path;
	const size_t length = path ? strlen(path) : 0;

	if (length && strncmp(warning, path, length) == 0 && strncmp(warning + length, ": ", 2) == 0)
		warning += length + 2;
	if (!page->options.redact || !strchr(warning, '/'))
		base_json_put_text(out, NULL, warning);
}

void page_notes_write(const struct page *page, struct base_output *out, uint64_t events)
{
	const struct ktread_info *info = ktread_info(page->trace);
	const char *warning;
	char order[ORDER_TEXT];

	base_json_begin(out, "notes", '[');
	if (events == 0)
		base_json_put_text(out, NULL, "the page has no events");
	if (page->narrowed)
		base_json_put_text(out, NULL,
				   "only events that the filter selects are listed; states, calls, locks "
				   "and arrows are those of all events");
	for (uint32_t n = 0; (warning = ktread_warning_at(page->trace, n)); n++)
		put_warning(page, out, warning);
	if (info->unusable)
		base_json_put_format(
			out, NULL,
			"\"all records of %u of the %u rings are missing: their descriptors were "
			"overwritten\"",
			info->unusable, info->rings);
	if (ktread_is_coarse(info))
		base_json_put_format(
			out, NULL,
			"\"coarse clock, %" PRIu64
			" ticks per second: events within a tick are in order only within a CPU\"",
			info->frequency);
	if (order_say(page->trace, order) > 0)
		base_json_put_text(out, NULL, order);
	base_output_text(out, "]");
}
