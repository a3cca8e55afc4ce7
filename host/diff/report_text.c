/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Writes the report of a comparison as text. */
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "diff/report.h"

static const char *const titles[DIFF_WHATS] = {
	[DIFF_WAKEUP] = "threads that sleep to the end of one trace only",
	[DIFF_MISSING] = "missing in B",
	[DIFF_EXTRA] = "extra in B",
	[DIFF_REORDERED] = "in another order in B",
	[DIFF_CHANGED] = "another result or other arguments in B",
};

static void put_escaped(struct base_output *out, const char *text, size_t length)
{
	base_output_done(out, base_escape_text(base_output_line(out), text, length, BASE_OUTPUT_LINE / 2));
}

static void put_event(struct base_output *out, const char *mark, const char *text)
{
	base_output_text(out, mark);
	base_output_text(out, text);
	base_output_text(out, "\n");
}

/* Prints the first difference as it is in one trace, and the events of the same thread before it. */
static void put_side(struct base_output *out, const struct diff_report *report, const struct texts *texts,
		     int which)
{
	const struct diff_result *result = report->result;
	const struct diff_event *event = &result->first.event[which];
	const char *before;
	bool shown = false;

	base_output_format(out, "  %c ", 'A' + which);
	put_escaped(out, report->trace[which]->path, strlen(report->trace[which]->path));
	base_output_text(out, "\n");
	for (uint32_t n = 0; (before = texts_before(texts, n)); n++) {
		put_event(out, "      ", before);
		shown = true;
	}
	if (event->known)
		put_event(out, "    > ", texts_of(texts, event));
	if (event->known && result->first.what == DIFF_CHANGED && texts_end_of(texts, event))
		put_event(out, "    > ", texts_end_of(texts, event));
	if (!event->known && result->last[which].known)
		put_event(out, "      ", texts_of(texts, &result->last[which]));
	if (!event->known)
		base_output_text(out, result->last[which].known || shown ? "    > no such event after this\n"
									 : "    > the event is not known\n");
	if (result->first.what == DIFF_WAKEUP && result->first.asleep == which) {
		base_output_text(out, "    the thread that is not woken went to sleep here:\n");
		put_event(out, "      ", texts_of(texts, &result->sleep));
	}
}

static void put_first(struct base_output *out, const struct diff_report *report, const struct texts texts[2])
{
	char text[2 * REPORT_WHO];

	report_first(report, text, sizeof(text));
	base_output_format(out, "first difference: %s\n", text);
	put_side(out, report, &texts[0], 0);
	put_side(out, report, &texts[1], 1);
}

static void put_item(struct base_output *out, const struct diff_item *item, const struct texts texts[2])
{
	for (int which = 0; which < 2; which++) {
		if (item->event[which].known)
			base_output_format(out, "  %c %s\n", 'A' + which,
					   texts_of(&texts[which], &item->event[which]));
		if (item->what == DIFF_CHANGED && texts_end_of(&texts[which], &item->event[which]))
			put_event(out, "    ", texts_end_of(&texts[which], &item->event[which]));
	}
	if (item->steps > 1)
		base_output_format(out, "    and %" PRIu32 " more directly after it on this thread\n",
				   item->steps - 1);
}

static void put_items(struct base_output *out, const struct diff_report *report, const struct texts texts[2],
		      enum diff_what what)
{
	const struct diff_result *result = report->result;
	uint64_t listed[DIFF_WHATS] = { 0 }, left = 0;

	if (result->count[what] == 0)
		return;
	base_output_format(out, "%s: %" PRIu64 "\n", titles[what], result->count[what]);
	for (uint32_t n = 0; n < result->items; n++) {
		if (result->item[n].what != what)
			continue;
		if (report_lists(report, &result->item[n], listed))
			put_item(out, &result->item[n], texts);
		else
			left++;
	}
	if (left)
		base_output_format(out, "  and at %" PRIu64 " more place%s (--limit 0 lists all)\n", left,
				   left == 1 ? "" : "s");
}

static void put_slower(struct base_output *out, const struct diff_report *report)
{
	const struct diff_result *result = report->result;

	if (result->untimed) {
		base_output_text(
			out, "durations: not compared, because the traces were recorded in different ways\n");
		return;
	}
	if (result->sampled == 0) {
		base_output_format(out,
				   "durations: not compared: no kind of call has %u samples in both traces\n",
				   DIFF_SAMPLES);
		return;
	}
	if (result->slowers == 0) {
		base_output_format(out, "durations: of %" PRIu32 " kind%s of call, none is slower in B\n",
				   result->sampled, result->sampled == 1 ? "" : "s");
		return;
	}
	base_output_text(
		out, "slower in B (geometric means; Welch's t-test of logarithms, 95 % for all calls):\n");
	for (uint32_t n = 0; n < result->slowers; n++) {
		const struct diff_slower *slower = &result->slower[n];
		const char *name = report->trace[0]->kind[slower->kind].name;
		const bool known = report->trace[0]->frequency != 0;

		base_output_text(out, "  ");
		put_escaped(out, name, strlen(name));
		base_output_format(
			out, ": %.2f times as long, %.2f to %.2f (%.0f to %.0f %s; %" PRIu64 " samples)\n",
			slower->ratio, slower->low, slower->high, slower->mean[0], slower->mean[1],
			known ? "ns" : "ticks", slower->samples[0]);
	}
}

static void put_noise(struct base_output *out, const struct diff_report *report)
{
	const char *between = "noise, not counted as differences: ";

	for (int n = 0; n < DIFF_NOISES; n++) {
		if (report->result->noise[n] == 0)
			continue;
		base_output_format(out, "%s%s %" PRIu64, between, report_noises[n], report->result->noise[n]);
		between = ", ";
	}
	if (*between == ',')
		base_output_text(out, "\n");
}

static void put_summary(struct base_output *out, const struct diff_report *report)
{
	const struct diff_result *result = report->result;

	base_output_format(out, "%s: %" PRIu64 " equal steps of %" PRIu32 " thread%s", report_verdict(report),
			   result->compared, result->threads, result->threads == 1 ? "" : "s");
	for (int n = 0; n < DIFF_WHATS; n++)
		if (result->count[n])
			base_output_format(out, ", %" PRIu64 " %s", result->count[n], report_whats[n]);
	if (result->slowers)
		base_output_format(out, ", %" PRIu32 " slower", result->slowers);
	if (result->undecided)
		base_output_format(out, ", %" PRIu64 " undecided", result->undecided);
	base_output_text(out, "\n");
}

int diff_write_text(struct base_output *out, const struct diff_report *report)
{
	struct texts texts[2];
	int status = report_texts(report, texts);

	if (status == 0 && report->result->items) {
		put_first(out, report, texts);
		for (int n = 0; n < DIFF_WHATS; n++)
			put_items(out, report, texts, (enum diff_what)n);
	}
	if (status == 0) {
		put_slower(out, report);
		put_noise(out, report);
		if (report->result->undecided)
			base_output_format(
				out,
				"undecided: %" PRIu64 " steps, which may lie in a part that one of "
				"the traces does not have (lost: A %" PRIu64 ", B %" PRIu64 ")\n",
				report->result->undecided, report->trace[0]->lost, report->trace[1]->lost);
		put_summary(out, report);
	}
	texts_free(&texts[0]);
	texts_free(&texts[1]);
	return status;
}
