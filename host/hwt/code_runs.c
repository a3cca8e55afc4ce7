/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finds runs of lines: ranges of adjacent lines whose code does not change during a period. */
#include "base/grow.h"
#include "base/index.h"
#include "code.h"

#include <stdlib.h>

#define PERIOD 32u /* number of changes of code in one period */

static int compare_places(const void *left, const void *right)
{
	const struct hwt_code_line *const *a = left, *const *b = right;

	if ((*a)->space != (*b)->space)
		return (*a)->space < (*b)->space ? -1 : 1;
	if ((*a)->number != (*b)->number)
		return (*a)->number < (*b)->number ? -1 : 1;
	return *a < *b ? -1 : *a > *b;
}

static int compare_runs(const void *left, const void *right)
{
	const struct hwt_code_run *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static int compare_numbers(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static bool same_place(const struct hwt_code_line *a, const struct hwt_code_line *b)
{
	return a->number == b->number && a->space == b->space;
}

/*
 * Marks the lines that have versions for all spaces and also versions for a single space. The bytes at the
 * addresses of such a line depend on the space.
 */
static void find_shared(struct hwt_codes *codes)
{
	for (size_t i = 0; i < codes->lines && codes->sorted[i]->space == 0; i++) {
		bool shared = false;

		for (uint32_t at = hwt_code_newest(codes, codes->sorted[i]->number);
		     at != HWT_CODE_NONE && !shared; at = codes->line[at].next)
			shared = codes->line[at].space != 0;
		for (uint32_t at = hwt_code_newest(codes, codes->sorted[i]->number);
		     at != HWT_CODE_NONE && shared; at = codes->line[at].next)
			codes->line[at].shared = true;
	}
}

int hwt_code_sort(struct hwt_codes *codes)
{
	codes->sorted = calloc((size_t)codes->lines + 1, sizeof(struct hwt_code_line *));
	codes->change = calloc((size_t)codes->lines + 1, sizeof(*codes->change));
	if (!codes->sorted || !codes->change)
		return KTREAD_E_MEMORY;
	for (size_t i = 0; i < codes->lines; i++)
		codes->sorted[i] = &codes->line[i];
	qsort(codes->sorted, codes->lines, sizeof(*codes->sorted), compare_places);
	for (size_t i = 1; i < codes->lines; i++)
		if (same_place(codes->sorted[i - 1], codes->sorted[i]))
			codes->change[codes->changes++] = codes->sorted[i]->from;
	qsort(codes->change, codes->changes, sizeof(*codes->change), compare_numbers);
	find_shared(codes);
	return 0;
}

/*
 * Returns the number of changes up to a timestamp. Returns the number of all changes if the timestamp is 0
 * (unknown).
 */
static size_t changes_until(const struct hwt_codes *codes, uint64_t stamp)
{
	return stamp ? base_count_up_to(codes->change, codes->changes, sizeof(*codes->change), 0, stamp)
		     : codes->changes;
}

/* Returns the timestamp of the n-th change, or UINT64_MAX if there are fewer changes. */
static uint64_t change_at(const struct hwt_codes *codes, size_t n)
{
	return n < codes->changes ? codes->change[n] : UINT64_MAX;
}

static int add_run(struct hwt_code_runs *runs, const struct hwt_code_line *line, bool fixed, bool apart)
{
	const struct hwt_code_run run = { .address = line->number * HWT_CODE_LINE,
					  .size = HWT_CODE_LINE,
					  .space = line->space,
					  .fixed = fixed,
					  .apart = apart };
	struct hwt_code_run *last = runs->count ? &runs->run[runs->count - 1] : NULL, *grown;

	if (last && last->fixed == fixed && last->space == run.space &&
	    last->address + last->size == run.address) {
		last->size += run.size;
		return 0;
	}
	grown = base_grow(runs->run, &runs->room, runs->count + 1, sizeof(*grown));
	if (!grown)
		return KTREAD_E_MEMORY;
	runs->run = grown;
	runs->run[runs->count++] = run;
	return 0;
}

/*
 * Adds runs of lines. If `fixed` is set, adds the lines that are not `shared` and do not change between the
 * beginning of the period and the timestamp `settled`. Otherwise, adds all other lines.
 */
static int add_lines(const struct hwt_codes *codes, struct hwt_code_runs *runs, bool fixed, uint64_t settled)
{
	bool apart = true;
	int status = 0;
	size_t end;

	for (size_t i = 0; i < codes->lines && status == 0; i = end) {
		const struct hwt_code_line *line = codes->sorted[i];
		bool changes = line->shared;

		for (end = i + 1; end < codes->lines && same_place(line, codes->sorted[end]); end++)
			changes |=
				codes->sorted[end]->from > runs->from && codes->sorted[end]->from < settled;
		if (changes != fixed)
			status = add_run(runs, line, fixed, apart);
		apart = changes == fixed || (end < codes->lines && codes->sorted[end]->space != line->space);
	}
	return status;
}

int hwt_codes_runs(const struct hwt_codes *codes, uint64_t stamp, struct hwt_code_runs *runs)
{
	const size_t period = codes ? changes_until(codes, stamp) / PERIOD * PERIOD : 0;
	int status;

	runs->count = runs->changing = 0;
	runs->from = period ? codes->change[period - 1] : 0;
	runs->until = UINT64_MAX;
	if (!codes)
		return 0;
	/* A period contains PERIOD changes. `period` is the number of changes before the period. */
	runs->until = change_at(codes, period + PERIOD - 1);
	status = add_lines(codes, runs, false, change_at(codes, period + 2 * PERIOD - 1));
	runs->changing = runs->count;
	if (runs->changing)
		qsort(runs->run, runs->changing, sizeof(*runs->run), compare_runs);
	return status < 0 ? status : add_lines(codes, runs, true, change_at(codes, period + 2 * PERIOD - 1));
}
