/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Functions that the reports as text and as JSON share. */
#ifndef DIFF_REPORT_H
#define DIFF_REPORT_H

#include "diff/texts.h"

#define REPORT_WHO 160u

/* Names of the values of enum diff_what and enum diff_noise. */
extern const char *const report_whats[DIFF_WHATS];
extern const char *const report_noises[DIFF_NOISES];

/* Finds the texts of all events that the report shows. Returns 0 or a negative enum ktread_error. */
int report_texts(const struct diff_report *report, struct texts texts[2]);
/*
 * Counts a difference. Returns whether to list it: only the first `limit` differences of each kind are
 * listed.
 */
bool report_lists(const struct diff_report *report, const struct diff_item *item,
		  uint64_t listed[DIFF_WHATS]);
/* Writes "disk/0 (A 8, B 9)", escaped. Returns `text`. */
const char *report_thread(const struct diff_report *report, const uint32_t thread[2], char text[REPORT_WHO]);
/* Writes one sentence about the first difference. */
void report_first(const struct diff_report *report, char *text, size_t size);
/* Returns the result of a comparison: "same", "differs" or "undecided". */
const char *report_verdict(const struct diff_report *report);
/* Returns the name of the kind of step that differs; not escaped. */
const char *report_kind(const struct diff_report *report, const struct diff_item *item);

#endif
