/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "diff/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"

const char *const report_whats[DIFF_WHATS] = {
	[DIFF_WAKEUP] = "wakeup",	[DIFF_MISSING] = "missing", [DIFF_EXTRA] = "extra",
	[DIFF_REORDERED] = "reordered", [DIFF_CHANGED] = "changed",
};

const char *const report_noises[DIFF_NOISES] = {
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

const char *report_verdict(const struct diff_report *report)
{
	static const char *const words[] = { "same", "differs", "undecided" };

	return words[diff_verdict(report->result)];
}

bool report_lists(const struct diff_report *report, const struct diff_item *item, uint64_t listed[DIFF_WHATS])
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

int report_texts(const struct diff_report *report, struct texts texts[2])
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

const char *report_thread(const struct diff_report *report, const uint32_t thread[2], char text[REPORT_WHO])
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

const char *report_kind(const struct diff_report *report, const struct diff_item *item)
{
	if (item->what == DIFF_WAKEUP)
		return "wakeup";
	return report->trace[item->event[0].known ? 0 : 1]->kind[item->kind].name;
}

void report_first(const struct diff_report *report, char *text, size_t size)
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
