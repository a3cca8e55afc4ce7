/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/terminal.h"

#include <unistd.h>

#include "base/output.h"
#include "cmd/progress.h"

static struct {
	enum base_paint_when color;
	bool no_pager;
} chosen;

static const char *set_color(void *to, const char *value, const struct option_row *row)
{
	(void)to;
	return options_set_choice(&chosen.color, value, row);
}

static const char *set_no_pager(void *to, const char *value, const struct option_row *row)
{
	(void)to;
	return options_set_flag(&chosen.no_pager, value, row);
}

#define COLOR                                                                                       \
	{                                                                                           \
		"color", 0, "auto|always|never", "use colours; auto (default): only on a terminal", \
			set_color, .to = 0                                                          \
	}

const struct option_row terminal_color_options[] = { COLOR, { 0 } };
const struct option_row terminal_options[] = {
	COLOR,
	{ "no-pager", 0, NULL, "do not start a pager for output on a terminal", set_no_pager, .to = 0 },
	{ 0 },
};

static void begin(struct base_output *out)
{
	(void)out;
	progress_stop();
	pager_start();
}

void terminal_prepare(struct base_output *out, bool paged)
{
	if (base_paint_wanted(chosen.color, out->fd))
		base_output_paint(out);
	if (paged && !chosen.no_pager && isatty(out->fd))
		out->begin = begin;
}
