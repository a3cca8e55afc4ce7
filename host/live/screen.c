/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Shows the page on a terminal, with ncursesw. Keys: q quits. e, c and p ask for a filter of events, of CPUs
 * or of a thread. Space pauses the list of events. r removes all filters.
 */
#include "live/live.h"

#define NCURSES_NOMACROS
#include <curses.h>
#include <stdlib.h>
#include <string.h>

#define KEYS	    "q quit  e events  c cpus  p pid  r reset  space pause"
#define TYPED	    80u
#define ESCAPE	    27
#define PAIR(share) ((short)((share) + 1))

struct live_screen {
	SCREEN *terminal;
	WINDOW *window;
	live_filter_typed *take;
	bool colour;
	char asked; /* key of the filter for which a text is being typed: 'e', 'c' or 'p'; 0: none */
	char typed[TYPED];
	char unknown[LIVE_UNKNOWN_TEXT]; /* buffer to which `message` may point */
	/* text that the last row shows until the next key is pressed; NULL: the list of keys */
	const char *message;
	struct live_page page;
};

static const short colours[LIVE_SHARES] = { COLOR_GREEN, COLOR_CYAN, COLOR_YELLOW,
					    COLOR_BLUE,	 COLOR_RED,  COLOR_WHITE };

static void bottom(const struct live_screen *screen, const struct live_model *model, char *text, size_t size)
{
	const char *what = screen->asked == 'e' ? "events" : screen->asked == 'c' ? "cpus" : "pid";

	if (screen->asked)
		snprintf(text, size, "%s: %s_", what, screen->typed);
	else if (screen->message)
		snprintf(text, size, "%s", screen->message);
	else
		snprintf(text, size, "%s%s", model->tail.paused ? "PAUSED  " : "", KEYS);
}

static void paint_row(const struct live_screen *screen, int y, const struct live_row *row)
{
	wmove(screen->window, y, 0);
	for (uint32_t x = 0; row->text[x]; x++) {
		chtype attribute = row->strong ? A_BOLD : A_NORMAL;

		if (screen->colour && x >= row->bar && x < row->bar_end)
			attribute = (chtype)COLOR_PAIR(PAIR(row->share[x]));
		waddch(screen->window, (unsigned char)row->text[x] | attribute);
	}
	wclrtoeol(screen->window);
}

static int show(void *context, struct live_model *model)
{
	struct live_screen *screen = context;
	int height = getmaxy(screen->window), width = getmaxx(screen->window);
	char text[LIVE_COLUMNS + 1];

	bottom(screen, model, text, sizeof(text));
	live_page_make(&screen->page, model, height > 0 ? (uint32_t)height : 0,
		       width > 0 ? (uint32_t)width : 0, text);
	werase(screen->window);
	for (uint32_t y = 0; y < screen->page.rows; y++)
		paint_row(screen, (int)y, &screen->page.row[y]);
	wrefresh(screen->window);
	return 0;
}

/* Sets the filter to the typed text. An empty text removes the filter. */
static void take_typed(struct live_screen *screen, struct live_model *model)
{
	struct live_filter *filter = &model->tail.filter;
	const struct ktread *trace = live_model_trace(model);
	int status = screen->take(filter, screen->asked, screen->typed);

	screen->message = status < 0 ? "invalid filter; nothing has changed" : NULL;
	if (status == 0 && screen->asked == 'e' && trace &&
	    live_filter_unknown(filter, trace, screen->unknown))
		screen->message = screen->unknown;
	screen->asked = 0;
}

static void take_letter(struct live_screen *screen, struct live_model *model, int key)
{
	const size_t length = strlen(screen->typed);

	if (key == '\n' || key == '\r' || key == KEY_ENTER) {
		take_typed(screen, model);
	} else if (key == ESCAPE) {
		screen->asked = 0;
	} else if (key == KEY_BACKSPACE || key == 127 || key == '\b') {
		if (length)
			screen->typed[length - 1] = '\0';
	} else if (key >= ' ' && key < 127 && length + 1 < TYPED) {
		screen->typed[length] = (char)key;
		screen->typed[length + 1] = '\0';
	}
}

/* Handles a key. Returns 1 to quit. */
static int take_key(struct live_screen *screen, struct live_model *model, int key)
{
	if (key == KEY_RESIZE)
		return 0;
	if (screen->asked) {
		take_letter(screen, model, key);
		return 0;
	}
	screen->message = NULL;
	if (key == 'e' || key == 'c' || key == 'p') {
		screen->asked = (char)key;
		screen->typed[0] = '\0';
	} else if (key == 'r') {
		memset(&model->tail.filter, 0, sizeof(model->tail.filter));
		model->tail.filter.pid = -1;
	} else if (key == ' ') {
		model->tail.paused = !model->tail.paused;
	}
	return key == 'q';
}

static int attend(void *context, struct live_model *model)
{
	struct live_screen *screen = context;
	int key, keys = 0;

	while ((key = wgetch(screen->window)) != ERR) {
		keys++;
		if (take_key(screen, model, key))
			return 1;
	}
	return keys ? 2 : 0;
}

static void prepare(struct live_screen *screen)
{
	cbreak();
	noecho();
	keypad(screen->window, TRUE);
	nodelay(screen->window, TRUE);
	set_escdelay(25);
	curs_set(0);
	screen->colour =
		has_colors() && !getenv("NO_COLOR") && start_color() == OK && use_default_colors() == OK;
	for (int i = 0; screen->colour && i < LIVE_SHARES; i++)
		init_pair(PAIR(i), colours[i], -1);
}

/* Opens the terminal for ncursesw. Returns NULL on success, otherwise the reason why this is not possible. */
static const char *open_terminal(struct live_screen *screen)
{
	screen->terminal = newterm(NULL, stdout, stdin);
	if (!screen->terminal)
		return "this terminal cannot show a screen: printing lines instead";
	screen->window = stdscr;
	return NULL;
}

struct live_screen *live_screen_open(struct live_view *view, live_filter_typed *typed, const char **why)
{
	struct live_screen *screen = calloc(1, sizeof(*screen));

	*why = screen ? open_terminal(screen) : "out of memory";
	if (*why) {
		free(screen);
		return NULL;
	}
	screen->take = typed;
	prepare(screen);
	*view = (struct live_view){ screen, show, attend };
	return screen;
}

void live_screen_close(struct live_screen *screen)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen->terminal);
	free(screen);
}
