/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The screen as rows of text: bars of CPUs, and a table that the user selects. The user's choices are in
 * struct live_ui, which keys and the mouse change. No code here knows the terminal.
 */
#ifndef LIVE_PAGE_H
#define LIVE_PAGE_H

#include "live/details.h"
#include "live/live.h"

/* ---- The user's choices ---- */

enum live_tab { LIVE_TAB_THREADS, LIVE_TAB_LOCKS, LIVE_TAB_IRQS, LIVE_TAB_CALLS, LIVE_TAB_EVENTS, LIVE_TABS };

#define LIVE_TYPED 80u

struct live_ui {
	enum live_tab tab;
	uint8_t column[LIVE_TABS];    /* column that determines the order of the rows */
	bool upward[LIVE_TABS];	      /* true: from the smallest value to the largest one */
	uint32_t selected[LIVE_TABS]; /* number of the selected row */
	uint32_t first[LIVE_TABS];    /* number of the first row on the screen */
	/* number of rows of the table, and number of rows that fit on the screen; set by live_page_make() */
	uint32_t rows, room;
	/*
	 * text for which the user searches: only rows that contain this text are shown; "": all rows are
	 * shown
	 */
	char search[LIVE_TYPED];
	/* key of the question that the user is answering: 'e', 'c', 'p' or '/'; 0: none */
	char asked;
	char typed[LIVE_TYPED];
	/* text to show in the last row until the next key; NULL: the list of keys */
	const char *message;
	char unknown[LIVE_UNKNOWN_TEXT]; /* buffer to which `message` may point */
	bool help;
	bool choosing; /* true: the list of guests is shown */
	struct live_guests guests;
	uint32_t guest; /* number of the selected guest */
	/*
	 * path of the guest that the user has chosen; "": no guest was chosen since this path was last read
	 */
	char chosen[PATH_MAX];
	live_filter_typed *take;
};

void live_ui_init(struct live_ui *ui, live_filter_typed *take);

/* Keys that are not characters. */
enum live_key {
	LIVE_KEY_UP = 0x1000,
	LIVE_KEY_DOWN,
	LIVE_KEY_PAGE_UP,
	LIVE_KEY_PAGE_DOWN,
	LIVE_KEY_HOME,
	LIVE_KEY_END,
	LIVE_KEY_LEFT,
	LIVE_KEY_RIGHT,
	LIVE_KEY_BACK_TAB,
	LIVE_KEY_BACKSPACE,
	LIVE_KEY_ENTER,
	LIVE_KEY_ESCAPE,
	LIVE_KEY_F1, /* the other F keys follow, in order, up to F10 */
	LIVE_KEY_F10 = LIVE_KEY_F1 + 9,
};

/* Handles a key. Returns true if the user wants to quit. */
bool live_ui_key(struct live_ui *ui, struct live_model *model, int key);

/* ---- Tables ---- */

#define LIVE_COLUMNS_MOST 9u
#define LIVE_CELL	  64u

struct live_column {
	const char *title;
	uint16_t width; /* width of the column; 0: the rest of the row */
	bool right, text;
};

/*
 * Returns the columns of a tab. A column with a title of NULL ends them. A tab without a table has no
 * columns.
 */
const struct live_column *live_columns(enum live_tab tab);
const char *live_tab_name(enum live_tab tab);
/*
 * Sorts the rows that contain `search`, and stores their indexes. Returns the number of these rows, which is
 * at most LIVE_THREADS.
 */
uint32_t live_table_sort(const struct live_ui *ui, const struct live_model *model, uint16_t *order);
/* Writes the text of a cell, escaped. */
void live_table_cell(enum live_tab tab, const struct live_model *model, uint32_t row, uint32_t column,
		     char text[LIVE_CELL]);

/* ---- Rows of text ---- */

#define LIVE_ROWS    200u
#define LIVE_COLUMNS 250u

/* The look of a character. LIVE_LOOK_SHARE + enum live_share is the colour of a share of a CPU's time. */
enum live_look {
	LIVE_LOOK_PLAIN,
	LIVE_LOOK_STRONG,
	LIVE_LOOK_DIM,
	LIVE_LOOK_HEAD,	    /* heading of a table */
	LIVE_LOOK_SELECTED, /* selected row or tab */
	LIVE_LOOK_GOOD,
	LIVE_LOOK_WARNING,
	LIVE_LOOK_BAD,
	LIVE_LOOK_SHARE,
	LIVE_LOOKS = LIVE_LOOK_SHARE + LIVE_SHARES,
};

/*
 * In a row's text, a byte with a value from 1 to 8 is a bar of that height. All other bytes are printable
 * ASCII.
 */
#define LIVE_SPARK_MOST 8

struct live_row {
	char text[LIVE_COLUMNS + 1];
	uint8_t look[LIVE_COLUMNS];
};

/* A part of a row that the user can click. A click has the same effect as pressing `key`. */
struct live_spot {
	uint16_t y, x, end;
	int key; /* LIVE_SPOT_* + number, or a key */
};
#define LIVE_SPOT_COLUMN 0x2000
#define LIVE_SPOT_ROW	 0x3000
#define LIVE_SPOTS	 256u

struct live_page {
	uint32_t rows;
	uint32_t height, width; /* size of the screen; no row is longer than `width` */
	struct live_row row[LIVE_ROWS];
	uint32_t spots;
	struct live_spot spot[LIVE_SPOTS];
	uint16_t order[LIVE_THREADS];
};

/* Fills in the page: at most `rows` rows of at most `columns` characters. */
void live_page_make(struct live_page *page, const struct live_model *model, struct live_ui *ui, uint32_t rows,
		    uint32_t columns);
/* Returns the key that a click at this position means; 0: none. */
int live_page_click(const struct live_page *page, uint32_t y, uint32_t x);

/* Adds a row of text, and returns it. If the page is full, overwrites the last row. */
__attribute__((format(printf, 3, 4))) struct live_row *
live_page_put(struct live_page *page, enum live_look look, const char *format, ...);
/* Makes a part of the newest row clickable. */
void live_page_spot(struct live_page *page, uint32_t from, uint32_t end, int key);
/* These functions fill the rest of the page with another text instead of a table. */
void live_help_put(struct live_page *page);
void live_guests_put(struct live_page *page, const struct live_ui *ui);

/* Writes a bar of `width` characters for the shares of a CPU's time, such as "uukkkiii..". */
void live_bar(const struct live_cpu *cpu, char *text, uint8_t *share, uint32_t width);
/* Writes the newest rates as `width` bytes, the heights of bars: 1 to LIVE_SPARK_MOST, or ' ' for no bar. */
void live_spark(const struct live_history *history, char *text, uint32_t width);

#endif
