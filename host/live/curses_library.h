/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The functions of ncursesw that screen.c uses, found when a screen is opened. Built only where its headers are. */
#ifndef LIVE_CURSES_LIBRARY_H
#define LIVE_CURSES_LIBRARY_H

#define NCURSES_NOMACROS
#include <curses.h>

#define CURSES_LIBRARY(USE)     \
	USE(newterm)            \
	USE(COLOR_PAIR)         \
	USE(delscreen)          \
	USE(endwin)             \
	USE(cbreak)             \
	USE(noecho)             \
	USE(keypad)             \
	USE(nodelay)            \
	USE(set_escdelay)       \
	USE(curs_set)           \
	USE(has_colors)         \
	USE(start_color)        \
	USE(use_default_colors) \
	USE(init_pair)          \
	USE(waddch)             \
	USE(wclrtoeol)          \
	USE(werase)             \
	USE(wgetch)             \
	USE(wmove)              \
	USE(wrefresh)           \
	USE(getmaxx)            \
	USE(getmaxy)

struct curses_library {
	void *handle;
	WINDOW **window; /* the library's stdscr */
#define MEMBER(name) __typeof__(&name) name;
	CURSES_LIBRARY(MEMBER)
#undef MEMBER
};

/* 0, or -1: the library is not there, or too old. */
int curses_library_open(struct curses_library *library);
void curses_library_close(struct curses_library *library);

#endif
