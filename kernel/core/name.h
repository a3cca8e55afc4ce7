/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Names of events, as their rows have them; and names put together piece by piece, as events' and settings'
 * full names are: one that does not fit is no name.
 */
#ifndef KTRACE_CORE_NAME_H
#define KTRACE_CORE_NAME_H

#include "ktrace/settings.h"
#include "../base/span.h"
#include "state.h"

/* The row's n-th string, from 0. */
static inline const char *ktrace_event_string(const struct ktrx_event *event, uint32_t n)
{
	const char *at = (const char *)(event + 1);

	while (n-- > 0)
		at += ktrace_length(at, UINT32_MAX) + 1;
	return at;
}

static inline const char *ktrace_event_group(const struct ktrx_event *event)
{
	return ktrace_event_string(event, 0);
}

static inline const char *ktrace_event_name(const struct ktrx_event *event)
{
	return ktrace_event_string(event, 1);
}

/* The next row of a group after `event`, its first after NULL. */
static inline struct ktrx_event *ktrace_group_next(struct ktrace_span group, struct ktrx_event *event)
{
	event = event ? ktrace_event_next(event) : ktrace_event_first();
	while (event && !ktrace_span_is(group, ktrace_event_group(event)))
		event = ktrace_event_next(event);
	return event;
}

/* Is the row the first one of its group? */
static inline int ktrace_event_leads_group(const struct ktrx_event *event)
{
	return ktrace_group_next(ktrace_span_of(ktrace_event_group(event)), KTRACE_NULL) == event;
}

struct ktrace_name {
	char text[KTRACE_SETTING_NAME_MAX];
	uint32_t length;
};

static inline void ktrace_name_add(struct ktrace_name *name, const char *piece)
{
	volatile char *to = name->text;

	while (*piece && name->length < KTRACE_SETTING_NAME_MAX)
		to[name->length++] = *piece++;
	if (name->length < KTRACE_SETTING_NAME_MAX)
		to[name->length] = '\0';
}

static inline int ktrace_name_fits(const struct ktrace_name *name)
{
	return name->length < KTRACE_SETTING_NAME_MAX;
}

#endif
