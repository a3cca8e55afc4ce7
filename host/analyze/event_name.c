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

/* ---- Similar names ---- */

/* Copies as much as fits. Replaces unprintable bytes by '?'. */
static void copy_name(char *to, const char *from, size_t length)
{
	size_t at = 0;

	for (; at < length && at + 1 < NEAR_NAME && from[at]; at++)
		to[at] = from[at] >= ' ' && from[at] <= '~' ? from[at] : '?';
	to[at] = '\0';
}

static uint32_t least(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t two = a < b ? a : b;

	return two < c ? two : c;
}

/* Returns the number of letters to insert, delete or replace to make one name of the other. */
static uint32_t distance(const char *left, const char *right)
{
	uint32_t row[NEAR_NAME];
	uint32_t length = (uint32_t)strlen(right);

	for (uint32_t i = 0; i <= length; i++)
		row[i] = i;
	for (uint32_t n = 1; *left; left++, n++) {
		uint32_t diagonal = row[0];

		row[0] = n;
		for (uint32_t i = 1; i <= length; i++) {
			uint32_t above = row[i];

			row[i] = least(above + 1, row[i - 1] + 1, diagonal + (*left != right[i - 1]));
			diagonal = above;
		}
	}
	return row[length];
}

void near_start(struct near *near, const char *wanted, size_t length)
{
	memset(near, 0, sizeof(*near));
	copy_name(near->wanted, wanted, length);
}

void near_offer(struct near *near, const char *name)
{
	near_offer_as(near, name, name);
}

void near_offer_as(struct near *near, const char *name, const char *told)
{
	char copy[NEAR_NAME];
	uint32_t far = ((uint32_t)strlen(near->wanted) + 2) / 3, apart, at;

	copy_name(copy, name, NEAR_NAME);
	apart = distance(near->wanted, copy);
	if (apart > far)
		return;
	copy_name(copy, told, NEAR_NAME);
	for (uint32_t i = 0; i < near->names; i++)
		if (strcmp(near->name[i], copy) == 0)
			return;
	at = near->names < NEAR_NAMES ? near->names++ : NEAR_NAMES;
	for (; at > 0 && near->distance[at - 1] > apart; at--) {
		if (at == NEAR_NAMES)
			continue;
		memcpy(near->name[at], near->name[at - 1], NEAR_NAME);
		near->distance[at] = near->distance[at - 1];
	}
	if (at == NEAR_NAMES)
		return;
	memcpy(near->name[at], copy, NEAR_NAME);
	near->distance[at] = apart;
}

void near_offer_events(struct near *near, const struct ktread *trace)
{
	int star = strpbrk(near->wanted, "*?") != NULL, dot = strchr(near->wanted, '.') != NULL;

	for (uint32_t id = 1; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(trace, id);
		char full[2 * NEAR_NAME];

		if (!type)
			continue;
		snprintf(full, sizeof(full), "%.63s%s%.63s", type->group, *type->group ? "." : "",
			 star ? "*" : type->name);
		if (star || dot) {
			near_offer(near, full);
		} else {
			near_offer(near, type->group);
			near_offer_as(near, type->name, full);
		}
	}
}

void near_text(const struct near *near, char *text, size_t size)
{
	size_t at = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < near->names && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%s%s", i ? ", " : "; did you mean ",
				       near->name[i], i + 1 < near->names ? "" : "?");
}

/* ---- Patterns ---- */

bool pattern_means(const char *pattern, const struct ktread_type *type)
{
	char full[256];

	snprintf(full, sizeof(full), "%s.%s", type->group, type->name);
	return fnmatch(pattern, full, FNM_CASEFOLD) == 0 || fnmatch(pattern, type->name, FNM_CASEFOLD) == 0 ||
	       fnmatch(pattern, type->group, FNM_CASEFOLD) == 0;
}
