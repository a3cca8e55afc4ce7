/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Writes the report of a comparison, as text and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "diff/trace.h"

#define REPORT_WHO 160u

/* Names of the values of enum diff_what and enum diff_noise. */
static const char *const report_whats[DIFF_WHATS] = {
	[DIFF_WAKEUP] = "wakeup",	[DIFF_MISSING] = "missing", [DIFF_EXTRA] = "extra",
	[DIFF_REORDERED] = "reordered", [DIFF_CHANGED] = "changed",
};

static const char *const report_noises[DIFF_NOISES] = {
	[DIFF_NOISE_INTERRUPT] = "interrupts",
	[DIFF_NOISE_SCHEDULING] = "scheduling",
	[DIFF_NOISE_LOCK] = "locks",
	[DIFF_NOISE_FAULT] = "page faults",
	[DIFF_NOISE_COUNTER] = "counters",
	[DIFF_NOISE_SIGNAL] = "arrival of signals",
	[DIFF_NOISE_DATA] = "contents of data",
	[DIFF_NOISE_TRACER] = "the tracer itself",
	[DIFF_NOISE_LOOP] = "repetitions in a call",
	[DIFF_NOISE_ORDER] = "order of independent threads",
	[DIFF_NOISE_VALUE] = "ids and descriptors",
	[DIFF_NOISE_ALONE] = "kinds that one trace lacks",
};

/* Returns the result of a comparison: "same", "differs" or "undecided". */
static const char *report_verdict(const struct diff_report *report)
{
	static const char *const words[] = { "same", "differs", "undecided" };

	return words[diff_verdict(report->result)];
}

/*
 * Counts a difference. Returns whether to list it: only the first `limit` differences of each kind are
 * listed.
 */
static bool report_lists(const struct diff_report *report, const struct diff_item *item,
			 uint64_t listed[DIFF_WHATS])
{
	return report->limit == 0 || listed[item->what]++ < report->limit;
}

static bool want_first(const struct diff_report *report, struct texts texts[2])
{
	const struct diff_result *result = report->result;
	bool done = texts_want(&texts[result->first.asleep], &result->sleep);

	for (int which = 0; which < 2; which++) {
		const uint32_t thread = result->first.thread[which];

		texts[which].before_of =
			result->first.event[which].known ? result->first.event[which] : result->last[which];
		texts[which].thread =
			thread != DIFF_NONE ? report->trace[which]->thread[thread].id : DIFF_NONE;
		done &= texts_want(&texts[which], &result->first.event[which]);
		done &= texts_want(&texts[which], &result->last[which]);
	}
	return done;
}

/* Finds the texts of all events that the report shows. Returns 0 or a negative enum ktread_error. */
static int report_texts(const struct diff_report *report, struct texts texts[2])
{
	const struct diff_result *result = report->result;
	uint64_t listed[DIFF_WHATS] = { 0 };
	bool done = true;
	int status = 0;

	memset(texts, 0, 2 * sizeof(*texts));
	if (result->items)
		done = want_first(report, texts);
	for (uint32_t n = 0; n < result->items && done; n++)
		if (report_lists(report, &result->item[n], listed))
			done = texts_want(&texts[0], &result->item[n].event[0]) &&
			       texts_want(&texts[1], &result->item[n].event[1]);
	for (int which = 0; which < 2 && done && status == 0; which++)
		status = texts_read(&texts[which], report->trace[which]);
	return done ? status : KTREAD_E_MEMORY;
}

/* Writes "disk/0 (A 8, B 9)", escaped. Returns `text`. */
static const char *report_thread(const struct diff_report *report, const uint32_t thread[2],
				 char text[REPORT_WHO])
{
	const struct diff_thread *of[2] = { NULL, NULL };
	char name[4 * DIFF_NAME + 1] = "";
	size_t length = 0;

	for (int which = 0; which < 2; which++)
		if (thread[which] != DIFF_NONE)
			of[which] = &report->trace[which]->thread[thread[which]];
	if (!of[0] && !of[1])
		return strcpy(text, "an interrupt");
	for (int which = 1; which >= 0; which--)
		if (of[which] && of[which]->name[0])
			*base_escape_text(name, of[which]->name, strlen(of[which]->name), REPORT_WHO / 2) =
				'\0';
	length = (size_t)snprintf(text, REPORT_WHO, "thread %s%s(", name, *name ? " " : "");
	if (of[0])
		length += (size_t)snprintf(text + length, REPORT_WHO - length, "A %" PRIu32, of[0]->id);
	if (of[1])
		length += (size_t)snprintf(text + length, REPORT_WHO - length, "%sB %" PRIu32,
					   of[0] ? ", " : "", of[1]->id);
	snprintf(text + length, REPORT_WHO - length, ")");
	return text;
}

/* Returns the name of the kind of step that differs; not escaped. */
static const char *report_kind(const struct diff_report *report, const struct diff_item *item)
{
	if (item->what == DIFF_WAKEUP)
		return "wakeup";
	return report->trace[item->event[0].known ? 0 : 1]->kind[item->kind].name;
}

/* Writes one sentence about the first difference. */
static void report_first(const struct diff_report *report, char *text, size_t size)
{
	const struct diff_item *first = &report->result->first;
	uint32_t sleeper[2] = { DIFF_NONE, DIFF_NONE };
	char who[REPORT_WHO];

	report_thread(report, first->thread, who);
	switch (first->what) {
	case DIFF_WAKEUP:
		sleeper[first->asleep] = report->result->sleeper;
		snprintf(text, size, "%s sleeps to the end of %c, because it does not get a wakeup",
			 report_thread(report, sleeper, who), 'A' + first->asleep);
		break;
	case DIFF_MISSING:
		snprintf(text, size, "%s does this in A, but not in B", who);
		break;
	case DIFF_EXTRA:
		snprintf(text, size, "%s does this in B, but not in A", who);
		break;
	case DIFF_REORDERED:
		snprintf(text, size, "%s does this at another place in B", who);
		break;
	default:
		snprintf(text, size, "%s %s in B", who,
			 first->arguments ? "passes other arguments" : "gets another result");
		break;
	}
}

/* ---- Text ---- */

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

/* ---- JSON ---- */

static void put_json_event(struct base_output *out, const char *key, const struct diff_report *report,
			   int which, const struct diff_event *event, const struct texts *texts)
{
	if (!event->known) {
		base_json_put_format(out, key, "null");
		return;
	}
	base_json_begin(out, key, '{');
	if (report->trace[which]->trace)
		base_json_put_format(out, "id", "\"%" PRIu32 ".%" PRIu64 "\"", event->ring, event->slot);
	else
		base_json_put_number(out, "line", event->slot);
	base_json_put_text(out, "text", texts_of(texts, event));
	if (texts_end_of(texts, event))
		base_json_put_text(out, "returns", texts_end_of(texts, event));
	base_output_text(out, "}");
}

static void put_json_item(struct base_output *out, const char *key, const struct diff_report *report,
			  const struct diff_item *item, const struct texts texts[2])
{
	char who[REPORT_WHO];

	base_json_begin(out, key, '{');
	base_json_put_text(out, "what", report_whats[item->what]);
	base_json_put_text(out, "kind", report_kind(report, item));
	base_json_put_text(out, "thread", report_thread(report, item->thread, who));
	base_json_put_number(out, "steps", item->steps);
	put_json_event(out, "a", report, 0, &item->event[0], &texts[0]);
	put_json_event(out, "b", report, 1, &item->event[1], &texts[1]);
	base_output_text(out, "}");
}

static void put_json_first(struct base_output *out, const struct diff_report *report,
			   const struct texts texts[2])
{
	const struct diff_result *result = report->result;
	char text[2 * REPORT_WHO];

	if (result->items == 0) {
		base_json_put_format(out, "first", "null");
		return;
	}
	report_first(report, text, sizeof(text));
	put_json_item(out, "first", report, &result->first, texts);
	base_json_put_text(out, "first_text", text);
	for (int which = 0; which < 2; which++) {
		const char *before;

		base_json_begin(out, which ? "before_b" : "before_a", '[');
		for (uint32_t n = 0; (before = texts_before(&texts[which], n)); n++)
			base_json_put_text(out, NULL, before);
		base_output_text(out, "]");
	}
	put_json_event(out, "sleep", report, result->first.asleep, &result->sleep,
		       &texts[result->first.asleep]);
}

static void put_json_counts(struct base_output *out, const struct diff_report *report)
{
	const struct diff_result *result = report->result;

	base_json_put_number(out, "equal", result->compared);
	base_json_put_number(out, "threads", result->threads);
	for (int n = 0; n < DIFF_WHATS; n++)
		base_json_put_number(out, report_whats[n], result->count[n]);
	base_json_put_number(out, "undecided", result->undecided);
	base_json_put_number(out, "lost_a", report->trace[0]->lost);
	base_json_put_number(out, "lost_b", report->trace[1]->lost);
	base_json_begin(out, "noise", '{');
	for (int n = 0; n < DIFF_NOISES; n++)
		base_json_put_number(out, report_noises[n], result->noise[n]);
	base_output_text(out, "}");
}

static void put_json_slower(struct base_output *out, const struct diff_report *report)
{
	const struct diff_result *result = report->result;

	base_json_put_bool(out, "durations_compared", !result->untimed && result->sampled);
	base_json_begin(out, "slower", '[');
	for (uint32_t n = 0; n < result->slowers; n++) {
		const struct diff_slower *slower = &result->slower[n];

		base_json_begin(out, NULL, '{');
		base_json_put_text(out, "call", report->trace[0]->kind[slower->kind].name);
		base_json_put_format(out, "ratio", "%.4f", slower->ratio);
		base_json_put_format(out, "low", "%.4f", slower->low);
		base_json_put_format(out, "high", "%.4f", slower->high);
		base_json_put_number(out, "samples", slower->samples[0]);
		base_output_text(out, "}");
	}
	base_output_text(out, "]");
}

int diff_write_json(struct base_output *out, const struct diff_report *report)
{
	struct texts texts[2];
	uint64_t listed[DIFF_WHATS] = { 0 };
	int status = report_texts(report, texts);

	if (status == 0) {
		base_json_begin(out, NULL, '{');
		base_json_put_text(out, "verdict", report_verdict(report));
		base_json_put_text(out, "a", report->trace[0]->path);
		base_json_put_text(out, "b", report->trace[1]->path);
		put_json_first(out, report, texts);
		base_json_begin(out, "differences", '[');
		for (uint32_t n = 0; n < report->result->items; n++)
			if (report_lists(report, &report->result->item[n], listed))
				put_json_item(out, NULL, report, &report->result->item[n], texts);
		base_output_text(out, "]");
		put_json_slower(out, report);
		put_json_counts(out, report);
		base_output_text(out, "}\n");
	}
	texts_free(&texts[0]);
	texts_free(&texts[1]);
	return status;
}
