/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Events chosen by name: "group.name" with * and ?, and their change. */
#include "pattern.h"

#include "name.h"

#define KTRACE_FLAGS_SHIFT ((offsetof(struct ktrx_event, flags) - offsetof(struct ktrx_event, header)) * 8)

static char char_at(const char *text, uint32_t length, uint32_t at)
{
	return at < length ? text[at] : '\0';
}

/* The full name of a row, "group.name", character by character: it is stored with a NUL between the two. */
static char name_at(const struct ktrx_event *event, uint32_t at)
{
	const char *strings = ktrace_event_group(event);
	uint32_t group = 0;

	while (strings[group])
		group++;
	return at == group ? '.' : strings[at];
}

/* The usual match in one pass: a star that turns out too short takes one character more. */
static int matches(const struct ktrx_event *event, const char *pattern, uint32_t length)
{
	uint32_t at = 0, name = 0, star = UINT32_MAX, taken = 0;

	while (name_at(event, name)) {
		char wanted = char_at(pattern, length, at);

		if (wanted == '*') {
			star = at++;
			taken = name;
		} else if (wanted && (wanted == '?' || wanted == name_at(event, name))) {
			at++;
			name++;
		} else if (star != UINT32_MAX) {
			at = star + 1;
			name = ++taken;
		} else {
			return 0;
		}
	}
	while (char_at(pattern, length, at) == '*')
		at++;
	return at == length;
}

/* Without a dot the pattern is for the group. */
static int matches_group(const struct ktrx_event *event, const char *pattern, uint32_t length)
{
	const char *group = ktrace_event_group(event);
	uint32_t at = 0;

	while (at < length && pattern[at] == group[at] && group[at])
		at++;
	return at == length && group[at] == '\0';
}

static int has(const char *text, uint32_t length, const char *characters)
{
	for (uint32_t i = 0; i < length; i++)
		for (const char *c = characters; *c; c++)
			if (text[i] == *c)
				return 1;
	return 0;
}

int ktrace_event_matches(const struct ktrx_event *event, const char *pattern, uint32_t length)
{
	return has(pattern, length, ".*?") ? matches(event, pattern, length)
					   : matches_group(event, pattern, length);
}

/*
 * The library's own group is chosen by its name, not by a pattern that happens to fit: panics stay in the
 * trace.
 */
static int is_left_out(const struct ktrx_event *event, const char *pattern, uint32_t length)
{
	static const char own[] = "ktrace";
	uint32_t at = 0;

	while (at < length && own[at] && pattern[at] == own[at])
		at++;
	return !own[at] ? 0 : matches_group(event, own, sizeof(own) - 1);
}

/*
 * A swap of the word that flags lie in: a request of the host's may come in between, and must not be undone.
 */
static void flags_change(struct ktrx_event *event, uint8_t mask, uint8_t flags)
{
	uint64_t *word = (uint64_t *)(void *)&event->header;
	uint64_t old, changed;

	do {
		old = *(volatile ktrace_u64_any *)word;
		changed = (old & ~((uint64_t)mask << KTRACE_FLAGS_SHIFT)) | (uint64_t)(flags & mask)
										    << KTRACE_FLAGS_SHIFT;
	} while (old != changed && !ktrace_arch_compare_swap(word, old, changed));
}

void ktrace_event_change(struct ktrx_event *event, const struct ktrace_change *change)
{
	if (change->change & KTRX_CHANGE_STATE)
		*(volatile uint8_t *)&event->wanted = change->state;
	flags_change(event, change->change >> 1, change->flags);
}

uint32_t ktrace_events_change(struct ktrace_span pattern, const struct ktrace_change *change)
{
	uint32_t found = 0;

	for (struct ktrx_event *event = ktrace_event_first(); event; event = ktrace_event_next(event)) {
		if (!ktrace_event_matches(event, pattern.text, pattern.length) ||
		    is_left_out(event, pattern.text, pattern.length))
			continue;
		ktrace_event_change(event, change);
		found++;
	}
	return found;
}
