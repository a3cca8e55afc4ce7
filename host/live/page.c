/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "live/live.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyze/order.h"

/* the line about the order of events is shown only if more rows than this are still free */
#define ORDER_LEAST 4u
#define BAR_MOST    40u
#define TEXT	    192u

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

/*
 * Fills in the next row with a text, and returns the row. If the page is full, overwrites its last row. Text
 * beyond column `columns` is cut off.
 */
__attribute__((format(printf, 4, 5))) static struct live_row *put(struct live_page *page, uint32_t rows,
								  uint32_t columns, const char *format, ...)
{
	struct live_row *row = &page->row[page->rows < rows ? page->rows : rows - 1];
	va_list values;

	if (page->rows < rows)
		page->rows++;
	va_start(values, format);
	vsnprintf(row->text, columns + 1, format, values);
	va_end(values);
	row->strong = false;
	row->bar = row->bar_end = 0;
	return row;
}

static void put_head(struct live_page *page, const struct live_model *model, uint32_t rows, uint32_t columns)
{
	char cost[32] = "", boot[32] = "";

	if (!model->running) {
		put(page, rows, columns, "%s",
		    model->ends ? "the guest has ended, waiting for another one" : "waiting for a guest")
			->strong = true;
		put(page, rows, columns, "%s", model->source->path(model->source->context));
		return;
	}
	if (model->cost >= 0)
		snprintf(cost, sizeof(cost), "  cost %.2f%%", model->cost * 100);
	if (model->boots > 1)
		snprintf(boot, sizeof(boot), "  boot %" PRIu64, model->boots);
	put(page, rows, columns, "%.0f events/s%s%s  %.0f s", model->rate, cost, boot, model->seconds)
		->strong = true;
	put(page, rows, columns, "lost %" PRIu64 "  unreadable %" PRIu64 "  not read %" PRIu64,
	    live_model_lost(model), live_model_unreadable(model), live_model_skipped(model));
}

static void put_cpu(struct live_page *page, const struct live_model *model, uint32_t n, uint32_t rows,
		    uint32_t columns)
{
	const struct live_cpu *cpu = &model->cpu[n];
	const uint32_t width = columns / 2 < BAR_MOST ? columns / 2 : BAR_MOST;
	char bar[BAR_MOST + 1], thread[TEXT] = "", stuck[40] = "", pc[40] = "", lock[TEXT + 24] = "",
				object[TEXT];
	uint8_t share[BAR_MOST];
	struct live_row *row;
	int before;

	if (!cpu->online) {
		put(page, rows, columns, "CPU%-3" PRIu32 " offline", n);
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
	row = put(page, rows, columns, "CPU%-3" PRIu32 "[%s] %s%s%s%s", n, bar, stuck, pc,
		  cpu->now == LIVE_IDLE ? "idle" : thread, lock);
	before = snprintf(NULL, 0, "CPU%-3" PRIu32 "[", n);
	row->bar = (uint16_t)((uint32_t)before < columns ? (uint32_t)before : columns);
	row->bar_end = (uint16_t)(row->bar + width < columns ? row->bar + width : columns);
	memcpy(row->share + row->bar, share, (size_t)(row->bar_end - row->bar));
	row->strong = cpu->stuck > 0;
}

/* Adds a row that states how certain the order of the events below it is. */
static void put_order(struct live_page *page, const struct live_model *model, uint32_t rows, uint32_t columns)
{
	char order[ORDER_TEXT];

	if (live_model_trace(model) && order_say(live_model_trace(model), order) > 0)
		put(page, rows, columns, "%s", order);
}

static void put_top(struct live_page *page, const struct live_model *model, uint32_t rows, uint32_t columns)
{
	struct ktread *trace = live_model_trace(model);
	char line[LIVE_COLUMNS + 1], name[TEXT];
	size_t at = 0;

	for (unsigned i = 0; i < LIVE_TOP && model->top[i].rate > 0 && at < sizeof(line); i++) {
		const struct ktread_type *type = trace ? ktread_type(trace, model->top[i].id) : NULL;

		if (!type)
			continue;
		live_event_text(type, name, sizeof(name));
		at += (size_t)snprintf(line + at, sizeof(line) - at, "%s%s %.0f", at ? "  " : "", name,
				       model->top[i].rate);
	}
	if (at)
		put(page, rows, columns, "per second: %s", line);
}

static void put_waits(struct live_page *page, const struct live_model *model, uint32_t rows, uint32_t columns,
		      uint32_t most)
{
	struct ktread *trace = live_model_trace(model);
	const double frequency = trace ? (double)ktread_info(trace)->frequency : 0;
	char thread[TEXT], time[40], object[TEXT];

	for (uint32_t i = 0; i < model->wait_count && i < most; i++) {
		const struct live_wait *wait = &model->wait[i];

		live_thread_text(trace, wait->thread, thread, sizeof(thread));
		snprintf(time, sizeof(time), frequency > 0 ? "%.1f s" : "%.0f ticks",
			 (double)wait->ticks / (frequency > 0 ? frequency : 1));
		live_object_text(trace, wait->object, wait->name, wait->owner, object, sizeof(object));
		if (wait->kind == KTRX_WAIT_THREAD)
			live_thread_text(trace, (uint32_t)wait->object, object, sizeof(object));
		put(page, rows, columns, "waits: %-16s %10s%s%s%s%s", thread, time,
		    wait->object || wait->kind ? "  " : "",
		    wait->object || wait->kind ? live_wait_word(wait->kind) : "", wait->object ? " " : "",
		    wait->object ? object : "");
	}
}

/*
 * Adds the newest events of this boot. Events of the previous boot are not shown, because the clock begins at
 * zero in each boot, and times of two boots would be mixed up.
 */
static void put_tail(struct live_page *page, const struct live_model *model, uint32_t rows, uint32_t columns)
{
	uint64_t lines = model->tail.lines - model->tail.begun, room = rows - page->rows;

	for (uint64_t n = lines < room ? lines : room; n > 0; n--) {
		const char *line = live_tail_line(&model->tail, n - 1);

		if (line)
			put(page, rows, columns, "%s", line);
	}
}

void live_page_make(struct live_page *page, const struct live_model *model, uint32_t rows, uint32_t columns,
		    const char *bottom)
{
	uint32_t cpus = model->running ? model->cpus : 0, body;

	rows = rows < LIVE_ROWS ? rows : LIVE_ROWS;
	columns = columns < LIVE_COLUMNS ? columns : LIVE_COLUMNS;
	page->rows = 0;
	if (rows == 0)
		return;
	body = rows > 1 ? rows - 1 : rows;
	put_head(page, model, body, columns);
	/* At most three quarters of the remaining rows show CPUs, so that there is room for events. */
	if (cpus > (body - page->rows) * 3 / 4)
		cpus = (body - page->rows) * 3 / 4;
	for (uint32_t n = 0; n < cpus; n++)
		put_cpu(page, model, n, body, columns);
	if (model->running && cpus < model->cpus)
		put(page, body, columns, "and %" PRIu32 " more CPUs", model->cpus - cpus);
	if (body > page->rows + 2)
		put_top(page, model, body, columns);
	if (model->running)
		put_waits(page, model, body, columns, (body - page->rows) / 4);
	if (model->running && body > page->rows + ORDER_LEAST)
		put_order(page, model, body, columns);
	put_tail(page, model, body, columns);
	while (page->rows < body)
		put(page, body, columns, "%s", "");
	if (rows > body)
		put(page, rows, columns, "%s", bottom);
}
