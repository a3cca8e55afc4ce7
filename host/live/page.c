/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Makes the page: the head, the bars of the CPUs with their legend, the tabs, and the selected table. */
#include "live/page.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyze/order.h"
#include "base/escape.h"

/* the line about the order of events is shown only if more rows than this are still free */
#define ORDER_LEAST 4u
#define BAR_MOST    40u
#define TEXT	    192u
#define BODY_LEAST  4u /* number of rows below the bars that a table needs */
#define SPARK_MOST  60u
#define KEYS	    "q quit  ? help  Tab next  / search  < > sort  I invert  e c p r filter events  g guests"

static const char letter[LIVE_SHARES] = { 'u', 'k', 'i', '.', '!', '?' };

void live_bar(const struct live_cpu *cpu, char *text, uint8_t *share, uint32_t width)
{
	double sum = 0;
	uint32_t at = 0;

	for (unsigned i = 0; i < LIVE_SHARES; i++) {
		sum += cpu->share[i];
		for (; at < width && at + 0.5 < sum * width; at++) {
			text[at] = letter[i];
			share[at] = (uint8_t)i;
		}
	}
	for (; at < width; at++) {
		text[at] = ' ';
		share[at] = LIVE_UNKNOWN;
	}
}

void live_spark(const struct live_history *history, char *text, uint32_t width)
{
	double most = 0;

	for (uint32_t n = 0; n < width; n++)
		most = live_history_at(history, n) > most ? live_history_at(history, n) : most;
	for (uint32_t n = 0; n < width; n++) {
		const double rate = live_history_at(history, width - 1 - n);
		const int height = rate > 0 ? 1 + (int)(rate / most * (LIVE_SPARK_MOST - 0.01)) : 0;

		text[n] = height == 0 ? ' ' : height > LIVE_SPARK_MOST ? LIVE_SPARK_MOST : (char)height;
	}
	text[width] = '\0';
}

/*
 * Writes text into a row from a column on. Truncates it at the width of the page. Returns the column after
 * it.
 */
static uint32_t live_page_at(struct live_page *page, struct live_row *row, uint32_t column,
			     enum live_look look, const char *text)
{
	const uint32_t length = (uint32_t)strlen(row->text);
	uint32_t at = length;

	if (column >= page->width)
		return page->width;
	for (; at < column; at++) {
		row->text[at] = ' ';
		row->look[at] = LIVE_LOOK_PLAIN;
	}
	for (at = column; *text && at < page->width; at++, text++) {
		row->text[at] = *text;
		row->look[at] = (uint8_t)look;
	}
	if (at > length)
		row->text[at] = '\0';
	return at;
}

struct live_row *live_page_put(struct live_page *page, enum live_look look, const char *format, ...)
{
	struct live_row *row = &page->row[page->rows < page->height ? page->rows : page->height - 1];
	char text[LIVE_COLUMNS + 1];
	va_list values;

	if (page->rows < page->height)
		page->rows++;
	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	row->text[0] = '\0';
	live_page_at(page, row, 0, look, text);
	return row;
}

void live_page_spot(struct live_page *page, uint32_t from, uint32_t end, int key)
{
	if (from < end && page->spots < LIVE_SPOTS)
		page->spot[page->spots++] = (struct live_spot){
			.y = (uint16_t)(page->rows - 1), .x = (uint16_t)from, .end = (uint16_t)end, .key = key
		};
}

int live_page_click(const struct live_page *page, uint32_t y, uint32_t x)
{
	for (uint32_t n = 0; n < page->spots; n++)
		if (page->spot[n].y == y && x >= page->spot[n].x && x < page->spot[n].end)
			return page->spot[n].key;
	return 0;
}

/* ---- The head and the meters ---- */

static void put_head(struct live_page *page, const struct live_model *model)
{
	char cost[32] = "", boot[32] = "", path[LIVE_COLUMNS];
	const char *file = model->source->path(model->source->context);

	if (model->running && strrchr(file, '/'))
		file = strrchr(file, '/') + 1;
	*base_escape_text(path, file, strlen(file), sizeof(path) - 1) = '\0';
	if (!model->running) {
		live_page_put(page, LIVE_LOOK_STRONG, "%s",
			      model->ends ? "the guest has ended, waiting for another one"
					  : "waiting for a guest");
		live_page_put(page, LIVE_LOOK_PLAIN, "%s", path);
		return;
	}
	if (model->cost >= 0)
		snprintf(cost, sizeof(cost), "  cost %.2f%%", model->cost * 100);
	if (model->boots > 1)
		snprintf(boot, sizeof(boot), "  boot %" PRIu64, model->boots);
	live_page_put(page, LIVE_LOOK_STRONG, "%.0f events/s%s%s  %.0f s  %s", model->rate, cost, boot,
		      model->seconds, path);
	live_page_put(page, live_model_lost(model) ? LIVE_LOOK_WARNING : LIVE_LOOK_PLAIN,
		      "lost %" PRIu64 "  unreadable %" PRIu64 "  not read %" PRIu64, live_model_lost(model),
		      live_model_unreadable(model), live_model_skipped(model));
}

static void put_cpu(struct live_page *page, const struct live_model *model, uint32_t n)
{
	const struct live_cpu *cpu = &model->cpu[n];
	const uint32_t width = page->width / 2 < BAR_MOST ? page->width / 2 : BAR_MOST;
	char bar[BAR_MOST + 1], thread[TEXT] = "", stuck[40] = "", pc[40] = "", lock[TEXT + 24] = "",
				object[TEXT];
	uint8_t share[BAR_MOST];
	struct live_row *row;
	uint32_t from;

	if (!cpu->online) {
		live_page_put(page, LIVE_LOOK_DIM, "CPU%-3" PRIu32 " offline", n);
		return;
	}
	live_bar(cpu, bar, share, width);
	bar[width] = '\0';
	if (cpu->now != LIVE_IDLE)
		live_thread_text(live_model_trace(model), cpu->thread, thread, sizeof(thread));
	if (cpu->stuck > 0)
		snprintf(stuck, sizeof(stuck), "STUCK %.0f s ", cpu->stuck);
	if (cpu->stuck > 0 && cpu->heartbeats)
		snprintf(pc, sizeof(pc), "at 0x%" PRIx64 " ", cpu->pc);
	if (cpu->waits) {
		live_object_text(live_model_trace(model), cpu->lock, cpu->lock_name, cpu->owner, object,
				 sizeof(object));
		snprintf(lock, sizeof(lock), " waits for lock %s", object);
	}
	row = live_page_put(page, cpu->stuck > 0 ? LIVE_LOOK_BAD : LIVE_LOOK_PLAIN,
			    "CPU%-3" PRIu32 "[%s] %s%s%s%s", n, bar, stuck, pc,
			    cpu->now == LIVE_IDLE ? "idle" : thread, lock);
	from = (uint32_t)snprintf(NULL, 0, "CPU%-3" PRIu32 "[", n);
	for (uint32_t x = 0; x < width && from + x < page->width; x++)
		row->look[from + x] = (uint8_t)(LIVE_LOOK_SHARE + share[x]);
}

/* Adds a row that explains the bars, and shows the rates of past intervals. */
static void put_legend(struct live_page *page, const struct live_model *model)
{
	struct live_row *row = live_page_put(page, LIVE_LOOK_PLAIN, "%s", "");
	char text[SPARK_MOST + 1];
	uint32_t x = 7, width;

	for (unsigned n = 0; n < LIVE_SHARES; n++) {
		snprintf(text, sizeof(text), "%c %s", letter[n], live_share_name((enum live_share)n));
		x = 2 + live_page_at(page, row, x, (enum live_look)(LIVE_LOOK_SHARE + n), text);
	}
	x = live_page_at(page, row, x, LIVE_LOOK_DIM, "events/s ");
	if (!model->details || x + 4 > page->width)
		return;
	width = page->width - x < SPARK_MOST ? page->width - x : SPARK_MOST;
	live_spark(&model->details->rate, text, width);
	live_page_at(page, row, x, LIVE_LOOK_GOOD, text);
}

/* Adds as many CPUs as possible, but leaves enough rows for the table. */
static void put_cpus(struct live_page *page, const struct live_model *model)
{
	const uint32_t left = page->height - page->rows;
	uint32_t cpus = model->running ? model->cpus : 0;
	const uint32_t most = left > 2 * BODY_LEAST + 2 ? left - left / 2 : left * 3 / 4;

	if (cpus > most)
		cpus = most;
	for (uint32_t n = 0; n < cpus; n++)
		put_cpu(page, model, n);
	if (model->running && cpus < model->cpus)
		live_page_put(page, LIVE_LOOK_DIM, "and %" PRIu32 " more CPUs", model->cpus - cpus);
	if (model->running && page->height > page->rows + BODY_LEAST)
		put_legend(page, model);
}

/* ---- The tabs and their tables ---- */

static void put_tabs(struct live_page *page, const struct live_ui *ui)
{
	struct live_row *row = live_page_put(page, LIVE_LOOK_PLAIN, "%s", "");
	char text[LIVE_TYPED + 24];
	uint32_t x = 0, from;

	for (unsigned tab = 0; tab < LIVE_TABS; tab++) {
		snprintf(text, sizeof(text), " %u %s ", tab + 1, live_tab_name((enum live_tab)tab));
		from = x;
		x = live_page_at(page, row, x, ui->tab == tab ? LIVE_LOOK_SELECTED : LIVE_LOOK_DIM, text);
		live_page_spot(page, from, x, '1' + (int)tab);
		x++;
	}
	if (!ui->search[0])
		return;
	snprintf(text, sizeof(text), "only: %s", ui->search);
	live_page_at(page, row, x + 1, LIVE_LOOK_WARNING, text);
}

static uint32_t width_of(const struct live_page *page, const struct live_column *column, uint32_t x)
{
	return column->width ? column->width : page->width > x ? page->width - x : 0;
}

static void put_headings(struct live_page *page, const struct live_ui *ui)
{
	const struct live_column *columns = live_columns(ui->tab);
	struct live_row *row = live_page_put(page, LIVE_LOOK_HEAD, "%*s", (int)page->width, "");
	char text[LIVE_CELL];
	uint32_t x = 0;

	for (uint32_t n = 0; columns[n].title && x < page->width; n++) {
		const uint32_t width = width_of(page, &columns[n], x);

		snprintf(text, sizeof(text), columns[n].right ? "%*s" : "%-*s",
			 (int)(columns[n].width ? width : 0), columns[n].title);
		live_page_at(page, row, x, ui->column[ui->tab] == n ? LIVE_LOOK_SELECTED : LIVE_LOOK_HEAD,
			     text);
		live_page_spot(page, x, x + width, LIVE_SPOT_COLUMN + (int)n);
		x += width + 1;
	}
}

/* Returns the look (colour and style) of a row of the table. */
static enum live_look look_of(const struct live_model *model, enum live_tab tab, uint32_t row)
{
	const struct live_details *details = model->details;

	if (tab == LIVE_TAB_LOCKS)
		return details->lock[row].waiters ? LIVE_LOOK_WARNING : LIVE_LOOK_PLAIN;
	if (tab != LIVE_TAB_THREADS)
		return LIVE_LOOK_PLAIN;
	if (details->thread[row].wait == KTRX_WAIT_LOCK || details->thread[row].wait == KTRX_WAIT_SPIN)
		return LIVE_LOOK_WARNING;
	if (details->thread[row].state == THREADS_RUNNING)
		return LIVE_LOOK_GOOD;
	return LIVE_LOOK_PLAIN;
}

static void put_line(struct live_page *page, const struct live_model *model, const struct live_ui *ui,
		     uint32_t index, bool selected)
{
	const struct live_column *columns = live_columns(ui->tab);
	const enum live_look look = selected ? LIVE_LOOK_SELECTED : look_of(model, ui->tab, index);
	struct live_row *row = live_page_put(page, look, "%*s", selected ? (int)page->width : 0, "");
	char text[LIVE_CELL], cell[2 * LIVE_CELL];
	uint32_t x = 0;

	for (uint32_t n = 0; columns[n].title && x < page->width; n++) {
		const uint32_t width = width_of(page, &columns[n], x);

		live_table_cell(ui->tab, model, index, n, text);
		snprintf(cell, sizeof(cell), columns[n].right ? "%*.*s" : "%-*.*s",
			 (int)(columns[n].width ? width : 0), (int)width, text);
		live_page_at(page, row, x, look, cell);
		x += width + 1;
	}
}

/* Moves the selection and the first row so that the selected row is visible. */
static void scroll(struct live_ui *ui)
{
	uint32_t *selected = &ui->selected[ui->tab], *first = &ui->first[ui->tab];

	if (*selected >= ui->rows)
		*selected = ui->rows ? ui->rows - 1 : 0;
	if (*first > *selected)
		*first = *selected;
	if (ui->room && *selected >= *first + ui->room)
		*first = *selected - ui->room + 1;
	if (*first + ui->room > ui->rows)
		*first = ui->rows > ui->room ? ui->rows - ui->room : 0;
}

static void put_table(struct live_page *page, const struct live_model *model, struct live_ui *ui)
{
	static const char *const reasons[LIVE_TABS] = {
		[LIVE_TAB_THREADS] = "no threads are known",
		[LIVE_TAB_LOCKS] =
			"no locks: the kernel records no lock events and keeps no table of holders",
		[LIVE_TAB_IRQS] = "no interrupts were recorded (irq.enter, irq.exit)",
		[LIVE_TAB_CALLS] = "no system calls were recorded (syscall.enter, syscall.exit)",
	};

	put_headings(page, ui);
	ui->room = page->height - page->rows;
	ui->rows = live_table_sort(ui, model, page->order);
	scroll(ui);
	for (uint32_t n = 0; n < ui->room && ui->first[ui->tab] + n < ui->rows; n++) {
		const uint32_t row = ui->first[ui->tab] + n;

		put_line(page, model, ui, page->order[row], row == ui->selected[ui->tab]);
		live_page_spot(page, 0, page->width, LIVE_SPOT_ROW + (int)row);
	}
	if (ui->rows == 0 && ui->room)
		live_page_put(page, LIVE_LOOK_DIM, "%s",
			      !model->running ? "no guest runs"
			      : ui->search[0] ? "no row contains the text"
					      : reasons[ui->tab]);
}

/* Adds a row that states how certain the order of the events below it is. */
static void put_order(struct live_page *page, const struct live_model *model)
{
	char order[ORDER_TEXT];

	if (live_model_trace(model) && order_say(live_model_trace(model), order) > 0)
		live_page_put(page, LIVE_LOOK_DIM, "%s", order);
}

/* Adds the most frequent event types with their rates, including the rates of past intervals. */
static void put_top(struct live_page *page, const struct live_model *model, uint32_t most)
{
	struct ktread *trace = live_model_trace(model);
	char name[TEXT], bars[SPARK_MOST + 1];

	for (unsigned i = 0; i < LIVE_TOP && i < most && model->top[i].rate > 0; i++) {
		const struct ktread_type *type = trace ? ktread_type(trace, model->top[i].id) : NULL;
		const struct live_history *history =
			model->details ? live_details_type(model->details, model->top[i].id) : NULL;
		struct live_row *row;
		uint32_t width = page->width > 34 ? page->width - 34 : 0;

		if (!type)
			continue;
		live_event_text(type, name, sizeof(name));
		row = live_page_put(page, LIVE_LOOK_PLAIN, "%-20.20s %8.0f/s", name, model->top[i].rate);
		if (!history || !width)
			continue;
		live_spark(history, bars, width < SPARK_MOST ? width : SPARK_MOST);
		live_page_at(page, row, 33, LIVE_LOOK_GOOD, bars);
	}
}

/*
 * Adds the newest events of this boot. Events of the previous boot are not shown: the clock begins at zero in
 * each boot, so the times of two boots could not be distinguished.
 */
static void put_tail(struct live_page *page, const struct live_model *model)
{
	uint64_t lines = model->tail.lines - model->tail.begun, room = page->height - page->rows;

	for (uint64_t n = lines < room ? lines : room; n > 0; n--) {
		const char *line = live_tail_line(&model->tail, n - 1);

		if (line)
			live_page_put(page, LIVE_LOOK_PLAIN, "%s", line);
	}
}

static void put_events(struct live_page *page, const struct live_model *model)
{
	if (page->height > page->rows + 2)
		put_top(page, model, (page->height - page->rows) / 3);
	if (model->running && page->height > page->rows + ORDER_LEAST)
		put_order(page, model);
	put_tail(page, model);
}

/* Writes the last row of the screen: a question, a message, or the list of keys. */
static void put_bottom(struct live_page *page, const struct live_model *model, const struct live_ui *ui)
{
	const char *what = ui->asked == 'e'   ? "events"
			   : ui->asked == 'c' ? "cpus"
			   : ui->asked == 'p' ? "pid"
					      : "search";

	if (ui->asked)
		live_page_put(page, LIVE_LOOK_STRONG, "%s: %s_", what, ui->typed);
	else if (ui->message)
		live_page_put(page, LIVE_LOOK_WARNING, "%s", ui->message);
	else
		live_page_put(page, LIVE_LOOK_DIM, "%s%s", model->tail.paused ? "PAUSED  " : "", KEYS);
}

void live_page_make(struct live_page *page, const struct live_model *model, struct live_ui *ui, uint32_t rows,
		    uint32_t columns)
{
	rows = rows < LIVE_ROWS ? rows : LIVE_ROWS;
	page->width = columns < LIVE_COLUMNS ? columns : LIVE_COLUMNS;
	page->height = rows > 1 ? rows - 1 : rows;
	page->rows = page->spots = 0;
	ui->room = 0;
	if (rows == 0)
		return;
	put_head(page, model);
	if (ui->help || ui->choosing) {
		if (ui->help)
			live_help_put(page);
		else
			live_guests_put(page, ui);
	} else {
		put_cpus(page, model);
		if (page->height >= page->rows + BODY_LEAST)
			put_tabs(page, ui);
		if (ui->tab == LIVE_TAB_EVENTS)
			put_events(page, model);
		else if (page->height > page->rows + 1)
			put_table(page, model, ui);
	}
	while (page->rows < page->height)
		live_page_put(page, LIVE_LOOK_PLAIN, "%s", "");
	page->height = rows;
	if (page->rows < rows)
		put_bottom(page, model, ui);
}
