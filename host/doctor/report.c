/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "doctor/examine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define ABOUT_WIDTH 15 /* "ktrace_settings" */

static const char *const words[DOCTOR_MARKS] = { "ok", "note", "dark", "wrong" };
static const char *const colours[DOCTOR_MARKS] = { "32", "36", "33", "31;1" };

static struct doctor_finding *add(struct doctor_report *report, enum doctor_mark mark, const char *about)
{
	uint32_t room = report->room ? 2 * report->room : 64;
	struct doctor_finding *grown, *finding;

	if (report->count == report->room) {
		grown = realloc(report->finding, room * sizeof(*grown));
		if (!grown) {
			report->failed = true;
			return NULL;
		}
		report->finding = grown;
		report->room = room;
	}
	finding = &report->finding[report->count++];
	*finding = (struct doctor_finding){ .mark = mark, .about = about };
	report->marks[mark]++;
	return finding;
}

void doctor_say(struct doctor_report *report, enum doctor_mark mark, const char *about, const char *format,
		...)
{
	struct doctor_finding *finding = add(report, mark, about);
	va_list values;

	if (!finding)
		return;
	va_start(values, format);
	vsnprintf(finding->text, sizeof(finding->text), format, values);
	va_end(values);
}

void doctor_say_view(struct doctor_report *report, enum doctor_mark mark, const struct view *view,
		     const char *format, ...)
{
	struct doctor_finding *finding = add(report, mark, view->name);
	va_list values;

	if (!finding)
		return;
	finding->where = view->where;
	finding->line = view->line;
	va_start(values, format);
	vsnprintf(finding->text, sizeof(finding->text), format, values);
	va_end(values);
}

void doctor_say_line(struct doctor_report *report, const char *where, const char *format, ...)
{
	struct doctor_finding *finding = report->count ? &report->finding[report->count - 1] : NULL;
	va_list values;

	if (!finding || report->failed)
		return;
	finding->where = where;
	va_start(values, format);
	vsnprintf(finding->own_line, sizeof(finding->own_line), format, values);
	va_end(values);
}

/* The line to be shown with a finding; NULL: there is nothing to do. */
static const char *line_of(const struct doctor_finding *finding)
{
	return finding->own_line[0] ? finding->own_line : finding->line;
}

void doctor_report_free(struct doctor_report *report)
{
	free(report->finding);
	memset(report, 0, sizeof(*report));
}

void doctor_write_text(struct base_output *out, const struct doctor_report *report, bool colour)
{
	for (uint32_t n = 0; n < report->count; n++) {
		const struct doctor_finding *finding = &report->finding[n];

		if (colour)
			base_output_format(out, "\033[%sm%-5s\033[0m", colours[finding->mark],
					   words[finding->mark]);
		else
			base_output_format(out, "%-5s", words[finding->mark]);
		base_output_format(out, "  %-*s %s\n", ABOUT_WIDTH, finding->about, finding->text);
		if (line_of(finding))
			base_output_format(out, "%*s %s: %s\n", 7 + ABOUT_WIDTH, "", finding->where,
					   line_of(finding));
	}
	base_output_format(out, "%u ok, %u dark, %u wrong\n", report->marks[DOCTOR_OK],
			   report->marks[DOCTOR_DARK], report->marks[DOCTOR_WRONG]);
}

static void put_string(struct base_output *out, const char *key, const char *text)
{
	char *at;

	base_output_format(out, "\"%s\":", key);
	at = base_output_line(out);
	base_output_done(out, base_json_string(at, text, strnlen(text, DOCTOR_TEXT)));
}

void doctor_write_json(struct base_output *out, const struct doctor_report *report)
{
	base_output_format(out, "{\"ok\":%u,\"dark\":%u,\"wrong\":%u,\"findings\":[",
			   report->marks[DOCTOR_OK], report->marks[DOCTOR_DARK], report->marks[DOCTOR_WRONG]);
	for (uint32_t n = 0; n < report->count; n++) {
		const struct doctor_finding *finding = &report->finding[n];

		base_output_text(out, n ? ",\n{" : "\n{");
		put_string(out, "mark", words[finding->mark]);
		base_output_text(out, ",");
		put_string(out, "about", finding->about);
		base_output_text(out, ",");
		put_string(out, "text", finding->text);
		if (line_of(finding)) {
			base_output_text(out, ",");
			put_string(out, "where", finding->where);
			base_output_text(out, ",");
			put_string(out, "line", line_of(finding));
		}
		base_output_text(out, "}");
	}
	base_output_text(out, "\n]}\n");
}
