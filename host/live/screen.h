/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The terminal as a view. */
#ifndef LIVE_SCREEN_H
#define LIVE_SCREEN_H

#include "live/watch.h"

struct live_screen;

/* NULL: this terminal cannot be used so; `why` says it. */
struct live_screen *live_screen_open(struct live_view *view, live_filter_typed *typed, const char **why);
/* Gives the terminal back as it was. */
void live_screen_close(struct live_screen *screen);

#endif
