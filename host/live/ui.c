/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Handles keys and clicks, and makes the pages of help and of the list of guests. The keys have the same
 * meaning as in htop(1).
 */
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "live/page.h"

static const char *const help[] = {
	"",
	"1 to 5, Tab         choose a table: threads, locks, interrupts, calls, events",
	"arrows, PgUp, PgDn  move in the table",
	"< >, F6             sort by the previous or next column; also a click on a heading",
	"I                   invert the order",
	"P T N               threads: sort by CPU time, by time in state, by number",
	"/ F3 F4             show only rows that contain a text; an empty answer shows all",
	"e c p               show only some events, CPUs, or a thread in the table of events",
	"r                   remove all filters",
	"space               pause the list of events, or let it continue",
	"g                   choose among all guests of this user",
	"? h F1              show this help, or leave it",
	"q F10 Ctrl-C        quit",
	"",
	"Bars: u user, k kernel, i interrupt, . idle, ! stuck, ? unknown. A CPU is stuck if it is not",
	"idle and had no heartbeat for a second. Numbers are of the events that were read.",
};

void live_help_put(struct live_page *page)
{
	for (unsigned n = 0; n < sizeof(help) / sizeof(help[0]) && page->rows < page->height; n++)
		live_page_put(page, n == 0 ? LIVE_LOOK_STRONG : LIVE_LOOK_PLAIN, "%s", help[n]);
}

void live_guests_put(struct live_page *page, const struct live_ui *ui)
{
	char path[LIVE_COLUMNS], kernel[LIVE_COLUMNS];

	live_page_put(page, LIVE_LOOK_PLAIN, "%s", "");
	live_page_put(page, LIVE_LOOK_HEAD, "%8s  %-24s %s", "QEMU", "KERNEL", "RAM FILE");
	for (uint32_t n = 0; n < ui->guests.count && page->rows < page->height; n++) {
		const struct live_found *found = &ui->guests.guest[n];
		const char *name = strrchr(found->kernel, '/');

		name = name ? name + 1 : found->kernel;
		*base_escape_text(path, found->path, strlen(found->path), sizeof(path) - 1) = '\0';
		*base_escape_text(kernel, name, strlen(name), sizeof(kernel) - 1) = '\0';
		live_page_put(page, n == ui->guest ? LIVE_LOOK_SELECTED : LIVE_LOOK_PLAIN,
			      "%8ld  %-24.24s %s", (long)found->pid, kernel, path);
		live_page_spot(page, 0, page->width, LIVE_SPOT_ROW + (int)n);
	}
	if (ui->guests.count == 0)
		live_page_put(page, LIVE_LOOK_DIM, "%s", "no QEMU of this user has its memory in a file");
	live_page_put(page, LIVE_LOOK_PLAIN, "%s", "");
	live_page_put(page, LIVE_LOOK_DIM, "%s", "arrows and Enter choose a guest, Escape leaves this list");
}

/* ---- Questions ---- */

/* Sets the filter to the typed text. An empty text removes the filter. */
static void take_typed(struct live_ui *ui, struct live_model *model)
{
	struct live_filter *filter = &model->tail.filter;
	const struct ktread *trace = live_model_trace(model);
	int status;

	if (ui->asked == '/') {
		memcpy(ui->search, ui->typed, sizeof(ui->search));
		ui->asked = 0;
		return;
	}
	status = ui->take(filter, ui->asked, ui->typed);
	ui->message = status < 0 ? "invalid filter; nothing has changed" : NULL;
	if (status == 0 && ui->asked == 'e' && trace && live_filter_unknown(filter, trace, ui->unknown))
		ui->message = ui->unknown;
	if (status == 0)
		ui->tab = LIVE_TAB_EVENTS;
	ui->asked = 0;
}

static void take_letter(struct live_ui *ui, struct live_model *model, int key)
{
	const size_t length = strlen(ui->typed);

	if (key == LIVE_KEY_ENTER) {
		take_typed(ui, model);
	} else if (key == LIVE_KEY_ESCAPE) {
		ui->asked = 0;
	} else if (key == LIVE_KEY_BACKSPACE) {
		if (length)
			ui->typed[length - 1] = '\0';
	} else if (key >= ' ' && key < 127 && length + 1 < LIVE_TYPED) {
		ui->typed[length] = (char)key;
		ui->typed[length + 1] = '\0';
	}
}

static void ask(struct live_ui *ui, char what)
{
	ui->asked = what;
	ui->typed[0] = '\0';
}

/* ---- Tables ---- */

static void sort_by(struct live_ui *ui, uint32_t column)
{
	if (ui->column[ui->tab] == column)
		ui->upward[ui->tab] = !ui->upward[ui->tab];
	else
		ui->upward[ui->tab] = false;
	ui->column[ui->tab] = (uint8_t)column;
}

/* Sorts by the next column, or by the previous one if `step` is -1. */
static void move_sort(struct live_ui *ui, int step)
{
	int count = 0;

	while (live_columns(ui->tab)[count].title)
		count++;
	if (count)
		sort_by(ui, (uint32_t)((ui->column[ui->tab] + step + count) % count));
}

static void move(uint32_t *selected, uint32_t rows, uint32_t room, int key)
{
	const uint32_t page = room > 1 ? room - 1 : 1, last = rows ? rows - 1 : 0;

	switch (key) {
	case LIVE_KEY_UP:
		*selected -= *selected > 0;
		break;
	case LIVE_KEY_DOWN:
		*selected += *selected < last;
		break;
	case LIVE_KEY_PAGE_UP:
		*selected -= *selected < page ? *selected : page;
		break;
	case LIVE_KEY_PAGE_DOWN:
		*selected = last - *selected < page ? last : *selected + page;
		break;
	case LIVE_KEY_HOME:
		*selected = 0;
		break;
	case LIVE_KEY_END:
		*selected = last;
		break;
	default:
		break;
	}
}

/* Handles a key while the list of guests is shown. */
static void choose(struct live_ui *ui, int key)
{
	if (key >= LIVE_SPOT_ROW) {
		ui->guest = (uint32_t)(key - LIVE_SPOT_ROW);
		key = LIVE_KEY_ENTER;
	}
	move(&ui->guest, ui->guests.count, ui->guests.count, key);
	if (key == LIVE_KEY_ENTER && ui->guest < ui->guests.count)
		memcpy(ui->chosen, ui->guests.guest[ui->guest].path, sizeof(ui->chosen));
	if (key == LIVE_KEY_ENTER || key == LIVE_KEY_ESCAPE)
		ui->choosing = false;
}

static void take_table_key(struct live_ui *ui, int key)
{
	static const char letters[] = "NTP";
	static const uint8_t columns[] = { 0, 5, 4 };
	const char *letter = key > 0 && key < 128 ? strchr(letters, key) : NULL;

	if (key >= LIVE_SPOT_ROW)
		ui->selected[ui->tab] = (uint32_t)(key - LIVE_SPOT_ROW);
	else if (key >= LIVE_SPOT_COLUMN)
		sort_by(ui, (uint32_t)(key - LIVE_SPOT_COLUMN));
	else if (key == '<')
		move_sort(ui, -1);
	else if (key == '>' || key == LIVE_KEY_F1 + 5)
		move_sort(ui, 1);
	else if (key == 'I')
		ui->upward[ui->tab] = !ui->upward[ui->tab];
	else if (letter && ui->tab == LIVE_TAB_THREADS && ui->column[ui->tab] != columns[letter - letters])
		sort_by(ui, columns[letter - letters]);
	else
		move(&ui->selected[ui->tab], ui->rows, ui->room, key);
}

static void take_key(struct live_ui *ui, struct live_model *model, int key)
{
	if (key >= '1' && key < '1' + (int)LIVE_TABS)
		ui->tab = (enum live_tab)(key - '1');
	else if (key == '\t' || key == LIVE_KEY_RIGHT)
		ui->tab = (enum live_tab)((ui->tab + 1) % LIVE_TABS);
	else if (key == LIVE_KEY_BACK_TAB || key == LIVE_KEY_LEFT)
		ui->tab = (enum live_tab)((ui->tab + LIVE_TABS - 1) % LIVE_TABS);
	else if (key == 'e' || key == 'c' || key == 'p')
		ask(ui, (char)key);
	else if (key == '/' || key == '\\' || key == LIVE_KEY_F1 + 2 || key == LIVE_KEY_F1 + 3)
		ask(ui, '/');
	else if (key == 'r') {
		memset(&model->tail.filter, 0, sizeof(model->tail.filter));
		model->tail.filter.pid = -1;
		ui->search[0] = '\0';
	} else if (key == ' ')
		model->tail.paused = !model->tail.paused;
	else
		take_table_key(ui, key);
}

bool live_ui_key(struct live_ui *ui, struct live_model *model, int key)
{
	if (ui->asked) {
		take_letter(ui, model, key);
		return false;
	}
	ui->message = NULL;
	if (key == 'q' || key == LIVE_KEY_F10)
		return true;
	if (key == '?' || key == 'h' || key == LIVE_KEY_F1) {
		ui->help = !ui->help;
	} else if (ui->help) {
		ui->help = false;
	} else if (key == 'g') {
		live_guests_find(&ui->guests, "/proc");
		ui->guest = 0;
		ui->choosing = true;
	} else if (ui->choosing) {
		choose(ui, key);
	} else {
		take_key(ui, model, key);
	}
	return false;
}
