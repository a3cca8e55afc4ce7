/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Built where there is no ncursesw. */
#include "live/screen.h"

#include <stddef.h>

struct live_screen *live_screen_open(struct live_view *view, live_filter_typed *typed, const char **why)
{
	(void)view;
	(void)typed;
	*why = "built without ncursesw, so there is no screen, only lines";
	return NULL;
}

void live_screen_close(struct live_screen *screen)
{
	(void)screen;
}
