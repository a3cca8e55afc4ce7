/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Shows the page on a terminal, and reads keys and the mouse, with ncursesw. */
#define NCURSES_NOMACROS
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "live/page.h"

#define ESCAPE	   27
#define PAIR(look) ((short)((look) + 1))

struct live_screen {
	SCREEN *terminal;
	WINDOW *window;
	bool colour, blocks; /* true if the terminal can show the characters of sparklines */
	struct live_ui ui;
	struct live_page page;
};

static const short colours[LIVE_LOOKS] = {
	[LIVE_LOOK_PLAIN] = -1,
	[LIVE_LOOK_STRONG] = -1,
	[LIVE_LOOK_DIM] = COLOR_CYAN,
	[LIVE_LOOK_HEAD] = COLOR_GREEN,
	[LIVE_LOOK_SELECTED] = COLOR_CYAN,
	[LIVE_LOOK_GOOD] = COLOR_GREEN,
	[LIVE_LOOK_WARNING] = COLOR_YELLOW,
	[LIVE_LOOK_BAD] = COLOR_RED,
	[LIVE_LOOK_SHARE + LIVE_USER] = COLOR_GREEN,
	[LIVE_LOOK_SHARE + LIVE_KERNEL] = COLOR_CYAN,
	[LIVE_LOOK_SHARE + LIVE_IRQ] = COLOR_YELLOW,
	[LIVE_LOOK_SHARE + LIVE_IDLE] = COLOR_BLUE,
	[LIVE_LOOK_SHARE + LIVE_STUCK] = COLOR_RED,
	[LIVE_LOOK_SHARE + LIVE_UNKNOWN] = COLOR_WHITE,
};

static attr_t attribute(const struct live_screen *screen, uint8_t look)
{
	const attr_t plain = look == LIVE_LOOK_STRONG || look == LIVE_LOOK_BAD	    ? A_BOLD
			     : look == LIVE_LOOK_HEAD || look == LIVE_LOOK_SELECTED ? A_REVERSE
										    : A_NORMAL;

	return screen->colour && look != LIVE_LOOK_PLAIN ? plain | (attr_t)COLOR_PAIR(PAIR(look)) : plain;
}

/* Writes a character: a byte of ASCII, or a bar of a sparkline. */
static void paint(const struct live_screen *screen, char byte)
{
	static const char ascii[] = " .:-=+*#@";
	const wchar_t block[2] = { (wchar_t)(0x2580 + byte), 0 };

	if (byte > LIVE_SPARK_MOST || byte < 1)
		waddch(screen->window, (unsigned char)byte);
	else if (screen->blocks)
		waddwstr(screen->window, block);
	else
		waddch(screen->window, (unsigned char)ascii[(int)byte]);
}

static void paint_row(const struct live_screen *screen, int y, const struct live_row *row)
{
	wmove(screen->window, y, 0);
	for (uint32_t x = 0; row->text[x]; x++) {
		wattrset(screen->window, (int)attribute(screen, row->look[x]));
		paint(screen, row->text[x]);
	}
	wattrset(screen->window, (int)A_NORMAL);
	wclrtoeol(screen->window);
}

static int show(void *context, struct live_model *model)
{
	struct live_screen *screen = context;
	int height = getmaxy(screen->window), width = getmaxx(screen->window);

	if (live_model_detail(model) < 0)
		return KTREAD_E_MEMORY;
	live_page_make(&screen->page, model, &screen->ui, height > 0 ? (uint32_t)height : 0,
		       width > 0 ? (uint32_t)width : 0);
	werase(screen->window);
	for (uint32_t y = 0; y < screen->page.rows; y++)
		paint_row(screen, (int)y, &screen->page.row[y]);
	wrefresh(screen->window);
	return 0;
}

/*
 * Returns the key of a mouse event: a click has the key of the clicked part of the page, and the wheel moves
 * the selection.
 */
static int mouse_key(const struct live_screen *screen)
{
	MEVENT event;

	if (getmouse(&event) != OK || event.y < 0 || event.x < 0)
		return 0;
	if (event.bstate & BUTTON4_PRESSED)
		return LIVE_KEY_UP;
	if (event.bstate & BUTTON5_PRESSED)
		return LIVE_KEY_DOWN;
	if (event.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED))
		return live_page_click(&screen->page, (uint32_t)event.y, (uint32_t)event.x);
	return 0;
}

/* Converts a key of ncurses. Returns 0 if it has no meaning here. */
static int key_of(const struct live_screen *screen, int key)
{
	static const struct {
		int from, to;
	} keys[] = {
		{ KEY_UP, LIVE_KEY_UP },	 { KEY_DOWN, LIVE_KEY_DOWN },
		{ KEY_PPAGE, LIVE_KEY_PAGE_UP }, { KEY_NPAGE, LIVE_KEY_PAGE_DOWN },
		{ KEY_HOME, LIVE_KEY_HOME },	 { KEY_END, LIVE_KEY_END },
		{ KEY_LEFT, LIVE_KEY_LEFT },	 { KEY_RIGHT, LIVE_KEY_RIGHT },
		{ KEY_BTAB, LIVE_KEY_BACK_TAB }, { KEY_BACKSPACE, LIVE_KEY_BACKSPACE },
		{ 127, LIVE_KEY_BACKSPACE },	 { '\b', LIVE_KEY_BACKSPACE },
		{ KEY_ENTER, LIVE_KEY_ENTER },	 { '\n', LIVE_KEY_ENTER },
		{ '\r', LIVE_KEY_ENTER },	 { ESCAPE, LIVE_KEY_ESCAPE },
	};

	for (size_t n = 0; n < sizeof(keys) / sizeof(keys[0]); n++)
		if (keys[n].from == key)
			return keys[n].to;
	if (key >= KEY_F(1) && key <= KEY_F(10))
		return LIVE_KEY_F1 + key - KEY_F(1);
	if (key == KEY_MOUSE)
		return mouse_key(screen);
	return key > 0 && key < 128 ? key : 0;
}

static int attend(void *context, struct live_model *model)
{
	struct live_screen *screen = context;
	int key, keys = 0;

	while ((key = wgetch(screen->window)) != ERR) {
		keys++;
		if (key != KEY_RESIZE && live_ui_key(&screen->ui, model, key_of(screen, key)))
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
	mousemask(BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	mouseinterval(0);
	screen->blocks = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	screen->colour = base_paint_wanted(BASE_PAINT_AUTO, 1) && has_colors() && start_color() == OK &&
			 use_default_colors() == OK;
	for (short look = 0; screen->colour && look < LIVE_LOOKS; look++)
		init_pair(PAIR(look), colours[look], -1);
}

/* Opens the terminal for ncursesw. Returns NULL on success, otherwise the reason why this is not possible. */
static const char *open_terminal(struct live_screen *screen)
{
	setlocale(LC_CTYPE, "");
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
	live_ui_init(&screen->ui, typed);
	prepare(screen);
	*view = (struct live_view){ screen, show, attend };
	return screen;
}

struct live_ui *live_screen_ui(struct live_screen *screen)
{
	return &screen->ui;
}

void live_screen_close(struct live_screen *screen)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen->terminal);
	free(screen);
}
