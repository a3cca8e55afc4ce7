/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* show settings: those whose names begin as was asked, a line each, with the pager. */
#include "ktrx/slot.h"
#include "ktrace/settings.h"

#include "../core/core.h"
#include "line.h"
#include "pager.h"

/*
 * One listing at a time, as in show.c: a mask of all events that a kernel can have is too much for its stack.
 */
static struct {
	struct ktrace_span prefix;
	struct ktrace_line line;
	struct ktrace_pager pager;
	uint32_t shown;
	char value[3 + (KTRX_EVENT_MAX + 3) / 4];
} listing;

static int show_setting(void *context, const char *name)
{
	uint32_t same = 0;

	(void)context;
	while (same < listing.prefix.length && name[same] == listing.prefix.text[same])
		same++;
	if (same < listing.prefix.length)
		return 0;
	if (ktrace_setting_get(name, listing.value, sizeof(listing.value)) < 0)
		return 0;
	listing.shown++;
	if (!ktrace_pager_may_go_on(&listing.pager))
		return 1;
	ktrace_line_text(&listing.line, name);
	ktrace_line_put(&listing.line, '=');
	ktrace_line_text(&listing.line, listing.value);
	ktrace_line_put(&listing.line, '\n');
	ktrace_line_flush(&listing.line);
	return 0;
}

int ktrace_console_settings(const struct ktrace_console *console, const char *how)
{
	struct ktrace_span rest = ktrace_span_of(how);
	struct ktrace_span word;
	bool at_once = false;

	ktrace_span_next(&rest, " \t", &word);
	if (word.length > 0 && word.text[0] == '/') {
		at_once = ktrace_span_is(word, "/a");
		if (!at_once)
			return ktrace_refuse(word, KTRACE_ERROR_SYNTAX);
		ktrace_span_next(&rest, " \t", &word);
	}
	listing.prefix = word;
	listing.shown = 0;
	ktrace_line_start(&listing.line, console);
	ktrace_pager_start(&listing.pager, console, at_once);
	ktrace_setting_each(show_setting, NULL);
	return listing.shown > 0 ? KTRACE_OK : ktrace_refuse(word, KTRACE_ERROR_NO_SETTING);
}
