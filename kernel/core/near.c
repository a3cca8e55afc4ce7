/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Words that were refused, and the names that are near to them. No names are kept: all are gone through once
 * for each distance, up to the first that some have.
 */
#include "near.h"

#include "name.h"
#include "state.h"

#define KTRACE_NAMES	3u
#define KTRACE_FAR	4u  /* letters by which near names differ at most */
#define KTRACE_WORD_MAX 63u /* longer ones are near to nothing */

struct search {
	struct ktrace_span wanted;
	int has_star, has_dot;
	uint32_t distance; /* of the names looked for just now */
	uint32_t found;
	int is_known;
	ktrace_near_visit *visit;
	void *cookie;
};

int ktrace_refuse(struct ktrace_span word, int error)
{
	if (error) {
		ktrace_state.refused = word.text;
		ktrace_state.refused_length = word.length;
	}
	return error;
}

const char *ktrace_refused(size_t *length)
{
	*length = ktrace_state.refused_length;
	return ktrace_state.refused;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/*
 * Letters to be put in, taken out or replaced to make one of the other; a word of up to KTRACE_WORD_MAX
 * letters.
 */
static uint32_t distance(struct ktrace_span word, const char *name)
{
	uint8_t row[KTRACE_WORD_MAX + 1]; /* of the name so farthest, to each length of the word */
	uint32_t read = 0;

	for (uint32_t i = 0; i <= word.length; i++)
		row[i] = (uint8_t)i;
	for (; name[read] && read < word.length + KTRACE_FAR; read++) {
		uint32_t diagonal = row[0];

		row[0] = (uint8_t)(read + 1);
		for (uint32_t i = 1; i <= word.length; i++) {
			uint32_t above = row[i];

			row[i] = (uint8_t)least(least(above, row[i - 1]) + 1,
						diagonal + (word.text[i - 1] != name[read]));
			diagonal = above;
		}
	}
	return name[read] ? KTRACE_FAR + 1 : row[word.length];
}

/* Compares one name, and tells another. */
static void offer_as(struct search *search, const char *name, const char *told)
{
	if (search->found >= KTRACE_NAMES || distance(search->wanted, name) != search->distance)
		return;
	if (search->distance == 0 && name == told) {
		search->is_known = 1;
		return;
	}
	search->found++;
	search->visit(search->cookie, told);
}

static int offer_setting(void *cookie, const char *name)
{
	offer_as(cookie, name, name);
	return 0;
}

/* "group.*", of a pattern; else "group.event", or if that has no dot "group" and "event". */
static void offer_event(struct search *search, const struct ktrx_event *event)
{
	const char *group = ktrace_event_group(event), *own = ktrace_event_name(event);
	struct ktrace_name full;

	full.length = 0;
	ktrace_name_add(&full, group);
	ktrace_name_add(&full, ".");
	ktrace_name_add(&full, search->has_star ? "*" : own);
	if (!ktrace_name_fits(&full))
		return;
	if (search->has_star) {
		if (ktrace_event_leads_group(event))
			offer_as(search, full.text, full.text);
	} else if (search->has_dot) {
		offer_as(search, full.text, full.text);
	} else {
		if (ktrace_event_leads_group(event))
			offer_as(search, group, group);
		offer_as(search, own, full.text);
	}
}

static void offer_all(struct search *search)
{
	for (struct ktrx_event *event = ktrace_event_first(); event; event = ktrace_event_next(event))
		offer_event(search, event);
	ktrace_setting_each(offer_setting, search);
}

uint32_t ktrace_control_near(const char *word, size_t length, ktrace_near_visit *visit, void *cookie)
{
	struct search search;
	struct ktrace_span value;
	uint32_t farthest;

	ktrace_attach();
	search.wanted.text = word;
	search.wanted.length = length > UINT32_MAX ? UINT32_MAX : (uint32_t)length;
	ktrace_span_skip(&search.wanted, "-");
	ktrace_span_split(search.wanted, '=', &search.wanted, &value);
	search.has_star = 0;
	search.has_dot = 0;
	for (uint32_t i = 0; i < search.wanted.length; i++) {
		search.has_star |= search.wanted.text[i] == '*' || search.wanted.text[i] == '?';
		search.has_dot |= search.wanted.text[i] == '.';
	}
	search.found = 0;
	search.is_known = search.wanted.length > KTRACE_WORD_MAX;
	search.visit = visit;
	search.cookie = cookie;
	farthest = least((search.wanted.length + 2) / 3, KTRACE_FAR);
	for (search.distance = 0; search.distance <= farthest && !search.found && !search.is_known;
	     search.distance++)
		offer_all(&search);
	return search.found;
}
