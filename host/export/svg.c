/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/views.h"

#include <stdio.h>
#include <string.h>

#include "analyze/order.h"
#include "base/escape.h"
#include "base/ticks.h"

/* ---- Elements of pictures ---- */

#define LETTER	 6.6 /* width of a letter in pixels, in a monospace font of 11 pixels */
#define TEXT_MAX 256u
/* minimum number of letters of a truncated text; if fewer fit, the text is left out */
#define LETTERS_MIN 3u

static const char style[] =
	"<style>"
	"svg{background:#fff;font:11px ui-monospace,monospace}"
	"text{fill:#222}.dim{fill:#777}.head{font-size:13px;font-weight:bold}"
	".grid{stroke:#ddd;stroke-width:1}.lane{fill:#f4f4f4}.idle{fill:#e4e4e4}.gap{fill:#c00;opacity:.35}"
	".tick{fill:#444}text.in{fill:#fff}"
	".c0{fill:#4878a8}.c1{fill:#4f8f4f}.c2{fill:#a8642a}.c3{fill:#7d5ba6}"
	".c4{fill:#b0485e}.c5{fill:#3c8c8c}.c6{fill:#8a7a2a}.c7{fill:#66707a}"
	"@media(prefers-color-scheme:dark){svg{background:#181818}text{fill:#ddd}.dim{fill:#999}"
	".grid{stroke:#3a3a3a}.lane{fill:#222}.idle{fill:#303030}.tick{fill:#bbb}}"
	"</style>\n";

/* Escapes text for the content of an element. Replaces control characters and invalid UTF-8. */
static void escape(struct base_output *out, const char *bytes, size_t length)
{
	char plain[TEXT_MAX * 4], *end = base_escape_text(plain, bytes, length, sizeof(plain));

	for (const char *at = plain; at < end; at++) {
		if (*at == '<')
			base_output_text(out, "&lt;");
		else if (*at == '>')
			base_output_text(out, "&gt;");
		else if (*at == '&')
			base_output_text(out, "&amp;");
		else if (*at == '"')
			base_output_text(out, "&quot;");
		else
			base_output_bytes(out, at, 1);
	}
}

void svg_begin(struct base_output *out, unsigned width, unsigned height, const char *title)
{
	base_output_format(
		out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" "
		"role=\"img\">\n<title>",
		width, height, width, height);
	escape(out, title, strnlen(title, TEXT_MAX));
	base_output_text(out, "</title>\n");
	base_output_text(out, style);
}

void svg_end(struct base_output *out)
{
	base_output_text(out, "</svg>\n");
}

void svg_box(struct base_output *out, const char *class, double x, double y, double width, double height,
	     const char *tip)
{
	base_output_format(out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"",
			   class, x, y, width > 0.5 ? width : 0.5, height);
	if (!tip) {
		base_output_text(out, "/>\n");
		return;
	}
	base_output_text(out, "><title>");
	escape(out, tip, strnlen(tip, TEXT_MAX));
	base_output_text(out, "</title></rect>\n");
}

void svg_text(struct base_output *out, const char *class, double x, double y, const char *anchor, double room,
	      const char *text)
{
	size_t length = strnlen(text, TEXT_MAX), fits = room < LETTER ? 0 : (size_t)(room / LETTER);

	if (fits < length && fits < LETTERS_MIN)
		return;
	base_output_format(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", class, x, y,
			   anchor);
	escape(out, text, length < fits ? length : fits);
	base_output_text(out, "</text>\n");
}

void svg_line(struct base_output *out, const char *class, double x1, double y1, double x2, double y2)
{
	base_output_format(out, "<line class=\"%s\" x1=\"%.2f\" y1=\"%.1f\" x2=\"%.2f\" y2=\"%.1f\"/>\n",
			   class, x1, y1, x2, y2);
}

/* ---- Drawing a time window ---- */

#define WIDTH	      1200.0
#define LEFT	      64.0
#define RIGHT	      16.0
#define TOP	      58.0
#define CPU_HEIGHT    78.0
#define CPU_SPACE     10.0
#define BOTTOM	      30.0
#define LINE	      16.0 /* height of the line about the order of events */
#define APART	      0.5  /* minimum distance between two boxes, in pixels */
#define MARK_APART    1.0
#define PIECES_MAX    40000u
#define TICKS_MAX     10
#define TIP_MAX	      256u
#define NS_PER_SECOND 1000000000u

/*
 * A time since the beginning of the trace, in nanoseconds or ticks. It is wider than 64 bits, because the
 * nanoseconds of slow ticks may not fit in 64 bits.
 */
typedef unsigned __int128 moment;

static const struct {
	double y, height;
} rows[WINDOW_ROWS] = {
	[WINDOW_RUN] = { 0, 18 },	[WINDOW_SPAN] = { 20, 11 }, [WINDOW_SPAN + 1] = { 32, 11 },
	[WINDOW_SPAN + 2] = { 44, 11 }, [WINDOW_IRQ] = { 56, 11 },  [WINDOW_MARKS] = { 69, 8 },
};

static double x_of(const struct window_drawing *d, uint64_t stamp)
{
	const struct window *window = d->window;
	double part = (double)(stamp - window->from) / (double)(window->to - window->from);

	return LEFT + part * (WIDTH - LEFT - RIGHT);
}

static double y_of(uint32_t cpu)
{
	return TOP + cpu * (CPU_HEIGHT + CPU_SPACE);
}

/*
 * Writes a time in seconds, "1.234567", with as many digits as steps of `step` nanoseconds need. Writes
 * ticks if the frequency is unknown.
 */
static void number_text(const struct window_drawing *d, moment number, moment step, char *text, size_t size)
{
	int digits = step >= 1000000 ? 3 : step >= 1000 ? 6 : 9;
	char part[32];

	snprintf(part, sizeof(part), "%09llu", (unsigned long long)(number % NS_PER_SECOND));
	if (d->frequency == 0)
		snprintf(text, size, "%llu", (unsigned long long)number);
	else
		snprintf(text, size, "%llu.%.*s", (unsigned long long)(number / NS_PER_SECOND), digits, part);
}

static void duration_text(const struct window_drawing *d, uint64_t ticks, char *text)
{
	const struct distribution unit = distribution_of_ticks(NULL, d->frequency);

	distribution_text(&unit, d->frequency ? base_ticks_nanoseconds_exact(ticks, d->frequency) : ticks,
			  text);
}

static moment moment_of(const struct window_drawing *d, uint64_t stamp)
{
	const moment ticks = stamp - d->base;

	return d->frequency ? ticks * NS_PER_SECOND / d->frequency : ticks;
}

static uint64_t stamp_of(const struct window_drawing *d, moment at)
{
	if (d->frequency)
		at = at / NS_PER_SECOND * d->frequency + at % NS_PER_SECOND * d->frequency / NS_PER_SECOND;
	return d->base + (uint64_t)at;
}

/* Draws a time scale: about TICKS_MAX lines at most, each at a round time inside the window. */
static void draw_axis(struct window_drawing *d, double bottom)
{
	const struct window *window = d->window;
	const moment first = moment_of(d, window->from), last = moment_of(d, window->to);
	moment step = 1;

	for (unsigned n = 0; last - first > TICKS_MAX * step; n++)
		step = n % 3 == 1 ? step / 2 * 5 : step * 2;
	for (moment at = first / step * step; at <= last; at += step) {
		uint64_t stamp = stamp_of(d, at);
		char text[32];

		if (stamp < window->from || stamp > window->to)
			continue;
		number_text(d, at, step, text, sizeof(text));
		svg_line(d->window->out, "grid", x_of(d, stamp), TOP - 8, x_of(d, stamp), bottom);
		svg_text(d->window->out, "dim", x_of(d, stamp), TOP - 12, "middle", 120, text);
	}
}

static void draw_legend(struct window_drawing *d)
{
	static const struct {
		const char *class, *text;
	} entries[] = { { "c7", "runs" },  { "idle", "idle" },	  { "c1", "system call" },
			{ "c2", "fault" }, { "c4", "interrupt" }, { "gap", "slots missing" } };
	double x = WIDTH - RIGHT - 660;

	for (size_t n = 0; n < sizeof(entries) / sizeof(entries[0]); n++, x += 110) {
		svg_box(d->window->out, entries[n].class, x, 12, 10, 10, NULL);
		svg_text(d->window->out, "dim", x + 15, 21, "start", 95, entries[n].text);
	}
}

void window_draw_begin(struct window_drawing *d)
{
	double bottom = y_of(d->cpus) - CPU_SPACE;
	char from[STATS_TIME], length[DISTRIBUTION_TEXT], title[128], order[ORDER_TEXT];
	double below = order_say(d->window->trace, order) > 0 ? BOTTOM + LINE : BOTTOM;

	stats_time(d->window->trace, d->window->from, from);
	duration_text(d, d->window->to - d->window->from, length);
	snprintf(title, sizeof(title), "%s from %s", length, from);
	svg_begin(d->window->out, (unsigned)WIDTH, (unsigned)(bottom + below), title);
	svg_text(d->window->out, "head", 12, 22, "start", 480, title);
	draw_legend(d);
	for (uint32_t cpu = 0; cpu < d->cpus; cpu++) {
		char name[16];

		snprintf(name, sizeof(name), "CPU%u", cpu);
		svg_text(d->window->out, "head", 12, y_of(cpu) + 14, "start", LEFT, name);
		svg_box(d->window->out, "lane", LEFT, y_of(cpu), WIDTH - LEFT - RIGHT, CPU_HEIGHT, NULL);
	}
	draw_axis(d, bottom);
}

void window_draw_end(struct window_drawing *d)
{
	const struct window *window = d->window;
	const double y = y_of(d->cpus) - CPU_SPACE + 18;
	char text[TIP_MAX], order[ORDER_TEXT];
	int length = snprintf(text, sizeof(text), "%llu events", (unsigned long long)window->events);

	if (window->close)
		length += snprintf(text + length, sizeof(text) - (size_t)length,
				   ", %llu elements too close together to be drawn",
				   (unsigned long long)window->close);
	if (window->left_out)
		snprintf(text + length, sizeof(text) - (size_t)length, ", %llu left out",
			 (unsigned long long)window->left_out);
	svg_text(window->out, "dim", LEFT, y, "start", WIDTH - LEFT - RIGHT, text);
	if (order_say(window->trace, order) > 0)
		svg_text(window->out, "dim", LEFT, y + LINE, "start", WIDTH - LEFT - RIGHT, order);
	svg_end(window->out);
}

/* Returns whether one more element can be drawn on a CPU. If not, counts the element as not drawn. */
static bool has_place(struct window_drawing *d, uint32_t cpu)
{
	if (cpu < d->cpus && d->pieces < PIECES_MAX)
		return true;
	d->window->left_out++;
	return false;
}

/*
 * Limits the period from `*from` to `*to` to the part that is inside the window. Returns false if nothing is
 * inside.
 */
static bool clip(const struct window *window, uint64_t *from, uint64_t *to)
{
	if (*from > window->to || *to < window->from || *from > *to)
		return false;
	*from = *from < window->from ? window->from : *from;
	*to = *to > window->to ? window->to : *to;
	return true;
}

void window_draw_box(struct window_drawing *d, uint32_t cpu, enum window_row row, const char *class,
		     uint64_t from, uint64_t to, const char *label, const char *tip)
{
	char text[TIP_MAX], at[STATS_TIME], took[DISTRIBUTION_TEXT];
	uint64_t begin = from, end = to;
	double x1, x2, y;

	if (!clip(d->window, &from, &to) || !has_place(d, cpu))
		return;
	x1 = x_of(d, from);
	x2 = x_of(d, to);
	if (x2 < d->last[cpu][row] + APART) {
		d->window->close++;
		return;
	}
	d->last[cpu][row] = x2 > x1 + APART ? x2 : x1 + APART;
	stats_time(d->window->trace, begin, at);
	duration_text(d, end - begin, took);
	snprintf(text, sizeof(text), "%.150s, %s from %s", tip, took, at);
	y = y_of(cpu) + rows[row].y;
	svg_box(d->window->out, class, x1, y, x2 - x1, rows[row].height, text);
	svg_text(d->window->out, "in", x1 + 3, y + rows[row].height - (row == WINDOW_RUN ? 5 : 2), "start",
		 x2 - x1 - 6, label);
	d->pieces++;
}

void window_draw_gap(struct window_drawing *d, uint32_t cpu, uint64_t from, uint64_t to, uint64_t slots)
{
	char text[64];

	if (!clip(d->window, &from, &to) || !has_place(d, cpu))
		return;
	snprintf(text, sizeof(text), "%llu slots missing", (unsigned long long)slots);
	svg_box(d->window->out, "gap", x_of(d, from), y_of(cpu), x_of(d, to) - x_of(d, from), CPU_HEIGHT,
		text);
	d->pieces++;
}

void window_draw_mark(struct window_drawing *d, uint32_t cpu, uint64_t at, const char *tip)
{
	char text[TIP_MAX], time[STATS_TIME];
	uint64_t to = at;
	double x;

	if (!clip(d->window, &at, &to) || !has_place(d, cpu))
		return;
	x = x_of(d, at);
	if (x < d->last[cpu][WINDOW_MARKS] + MARK_APART) {
		d->window->close++;
		return;
	}
	d->last[cpu][WINDOW_MARKS] = x;
	stats_time(d->window->trace, at, time);
	snprintf(text, sizeof(text), "%.200s at %s", tip, time);
	svg_box(d->window->out, "tick", x, y_of(cpu) + rows[WINDOW_MARKS].y, 1, rows[WINDOW_MARKS].height,
		text);
	d->pieces++;
}
