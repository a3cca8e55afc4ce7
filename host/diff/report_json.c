/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Writes the report of a comparison as JSON. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "diff/report.h"

static void put_event(struct base_output *out, const char *key, const struct diff_report *report, int which,
		      const struct diff_event *event, const struct texts *texts)
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

static void put_item(struct base_output *out, const char *key, const struct diff_report *report,
		     const struct diff_item *item, const struct texts texts[2])
{
	char who[REPORT_WHO];

	base_json_begin(out, key, '{');
	base_json_put_text(out, "what", report_whats[item->what]);
	base_json_put_text(out, "kind", report_kind(report, item));
	base_json_put_text(out, "thread", report_thread(report, item->thread, who));
	base_json_put_number(out, "steps", item->steps);
	put_event(out, "a", report, 0, &item->event[0], &texts[0]);
	put_event(out, "b", report, 1, &item->event[1], &texts[1]);
	base_output_text(out, "}");
}

static void put_first(struct base_output *out, const struct diff_report *report, const struct texts texts[2])
{
	const struct diff_result *result = report->result;
	char text[2 * REPORT_WHO];

	if (result->items == 0) {
		base_json_put_format(out, "first", "null");
		return;
	}
	report_first(report, text, sizeof(text));
	put_item(out, "first", report, &result->first, texts);
	base_json_put_text(out, "first_text", text);
	for (int which = 0; which < 2; which++) {
		const char *before;

		base_json_begin(out, which ? "before_b" : "before_a", '[');
		for (uint32_t n = 0; (before = texts_before(&texts[which], n)); n++)
			base_json_put_text(out, NULL, before);
		base_output_text(out, "]");
	}
	put_event(out, "sleep", report, result->first.asleep, &result->sleep, &texts[result->first.asleep]);
}

static void put_counts(struct base_output *out, const struct diff_report *report)
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

static void put_slower(struct base_output *out, const struct diff_report *report)
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
		put_first(out, report, texts);
		base_json_begin(out, "differences", '[');
		for (uint32_t n = 0; n < report->result->items; n++)
			if (report_lists(report, &report->result->item[n], listed))
				put_item(out, NULL, report, &report->result->item[n], texts);
		base_output_text(out, "]");
		put_slower(out, report);
		put_counts(out, report);
		base_output_text(out, "}\n");
	}
	texts_free(&texts[0]);
	texts_free(&texts[1]);
	return status;
}
