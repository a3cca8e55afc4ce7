/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/event_name.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "ktrx/slot.h"

char *analyze_event_name_put(char *at, const struct ktread_type *type)
{
	char *const end = at + ANALYZE_EVENT_NAME_MOST;

	if (*type->group) {
		at = base_escape_text(at, type->group, strlen(type->group), ANALYZE_EVENT_NAME_MOST / 2);
		*at++ = '.';
	}
	return base_escape_text(at, type->name, strlen(type->name), (size_t)(end - at));
}

char *analyze_event_name_lower(char *at, const struct ktread_type *type)
{
	char *end;

	if (type->name_alone || !*type->group)
		return base_escape_text(at, type->name, strlen(type->name), ANALYZE_EVENT_NAME_MOST);
	end = analyze_event_name_put(at, type);
	for (char *letter = at; letter < end; letter++)
		*letter = (char)tolower((unsigned char)*letter);
	return end;
}

/* ---- Suggesting similar names ---- */

/* Copies as many bytes as fit. Replaces unprintable bytes by '?'. */
static void copy_name(char *to, const char *from, size_t length)
{
	size_t at = 0;

	for (; at < length && at + 1 < SUGGESTIONS_NAME && from[at]; at++)
		to[at] = from[at] >= ' ' && from[at] <= '~' ? from[at] : '?';
	to[at] = '\0';
}

static uint32_t least(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t two = a < b ? a : b;

	return two < c ? two : c;
}

static bool is_same_letter(char left, char right)
{
	return tolower((unsigned char)left) == tolower((unsigned char)right);
}

/*
 * Returns the edit distance of two names: the number of letters to insert, delete or replace to turn one name
 * into the other. Upper and lower case do not differ.
 */
static uint32_t distance(const char *left, const char *right)
{
	uint32_t row[SUGGESTIONS_NAME];
	uint32_t length = (uint32_t)strlen(right);

	for (uint32_t i = 0; i <= length; i++)
		row[i] = i;
	for (uint32_t n = 1; *left; left++, n++) {
		uint32_t diagonal = row[0];

		row[0] = n;
		for (uint32_t i = 1; i <= length; i++) {
			uint32_t above = row[i];

			row[i] = least(above + 1, row[i - 1] + 1,
				       diagonal + !is_same_letter(*left, right[i - 1]));
			diagonal = above;
		}
	}
	return row[length];
}

void suggestions_start(struct suggestions *similar, const char *wanted, size_t length)
{
	memset(similar, 0, sizeof(*similar));
	copy_name(similar->wanted, wanted, length);
}

void suggestions_offer(struct suggestions *similar, const char *name)
{
	suggestions_offer_as(similar, name, name);
}

void suggestions_offer_as(struct suggestions *similar, const char *name, const char *shown)
{
	char copy[SUGGESTIONS_NAME];
	uint32_t far = ((uint32_t)strlen(similar->wanted) + 2) / 3, apart, at;

	copy_name(copy, name, SUGGESTIONS_NAME);
	apart = distance(similar->wanted, copy);
	if (apart > far)
		return;
	copy_name(copy, shown, SUGGESTIONS_NAME);
	for (uint32_t i = 0; i < similar->names; i++)
		if (strcmp(similar->name[i], copy) == 0)
			return;
	at = similar->names < SUGGESTIONS_MOST ? similar->names++ : SUGGESTIONS_MOST;
	for (; at > 0 && similar->distance[at - 1] > apart; at--) {
		if (at == SUGGESTIONS_MOST)
			continue;
		memcpy(similar->name[at], similar->name[at - 1], SUGGESTIONS_NAME);
		similar->distance[at] = similar->distance[at - 1];
	}
	if (at == SUGGESTIONS_MOST)
		return;
	memcpy(similar->name[at], copy, SUGGESTIONS_NAME);
	similar->distance[at] = apart;
}

void suggestions_offer_events(struct suggestions *similar, const struct ktread *trace)
{
	int star = strpbrk(similar->wanted, "*?") != NULL, dot = strchr(similar->wanted, '.') != NULL;

	for (uint32_t id = 1; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(trace, id);
		char full[2 * SUGGESTIONS_NAME];

		if (!type)
			continue;
		snprintf(full, sizeof(full), "%.63s%s%.63s", type->group, *type->group ? "." : "",
			 star ? "*" : type->name);
		if (star || dot) {
			suggestions_offer(similar, full);
		} else {
			suggestions_offer(similar, type->group);
			suggestions_offer_as(similar, type->name, full);
		}
	}
}

void suggestions_text(const struct suggestions *similar, char *text, size_t size)
{
	size_t at = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < similar->names && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%s%s", i ? ", " : "; did you mean ",
				       similar->name[i], i + 1 < similar->names ? "" : "?");
}

/* ---- Matching names with patterns ---- */

bool pattern_means(const char *pattern, const struct ktread_type *type)
{
	char full[256];

	snprintf(full, sizeof(full), "%s.%s", type->group, type->name);
	return fnmatch(pattern, full, FNM_CASEFOLD) == 0 || fnmatch(pattern, type->name, FNM_CASEFOLD) == 0 ||
	       fnmatch(pattern, type->group, FNM_CASEFOLD) == 0;
}
