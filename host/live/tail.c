/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "live/live.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/event_name.h"
#include "base/escape.h"
#include "base/ticks.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

#define NAME_ROOM 48u

static bool means(const char *patterns, const struct ktread_type *type)
{
	char list[LIVE_FILTER_TEXT], *rest = list, *pattern;

	memcpy(list, patterns, sizeof(list));
	while ((pattern = strsep(&rest, ",")))
		if (*pattern && pattern_means(pattern, type))
			return true;
	return false;
}

static bool fits_some(const struct ktread *trace, const char *pattern)
{
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(trace, id);

		if (type && pattern_means(pattern, type))
			return true;
	}
	return false;
}

bool live_filter_unknown(const struct live_filter *filter, const struct ktread *trace, char *text)
{
	char list[LIVE_FILTER_TEXT], *rest = list, *pattern, names[SUGGESTIONS_TEXT];
	char harmless[4 * LIVE_FILTER_TEXT + 1];
	struct suggestions similar;

	memcpy(list, filter->events, sizeof(list));
	while ((pattern = strsep(&rest, ","))) {
		if (!*pattern || fits_some(trace, pattern))
			continue;
		suggestions_start(&similar, pattern, strlen(pattern));
		suggestions_offer_events(&similar, trace);
		suggestions_text(&similar, names, sizeof(names));
		*base_escape_text(harmless, pattern, strlen(pattern), sizeof(harmless) - 1) = '\0';
		snprintf(text, LIVE_UNKNOWN_TEXT, "the guest has no event '%s'%s", harmless, names);
		return true;
	}
	return false;
}

static bool is_wanted(const struct live_filter *filter, struct ktread *trace,
		      const struct ktread_event *event)
{
	if (filter->pid >= 0 && (uint64_t)filter->pid != event->thread)
		return false;
	if (filter->some_cpus &&
	    (event->cpu >= LIVE_CPUS_MAX || !(filter->cpus[event->cpu / 8] >> event->cpu % 8 & 1)))
		return false;
	if (filter->events[0] && !means(filter->events, event->type))
		return false;
	return !filter->accept || filter->accept(filter->context, trace, event);
}

void live_thread_text(const struct ktread *trace, uint32_t thread, char *text, size_t size)
{
	const char *name = trace ? ktread_thread_name(trace, thread) : NULL;
	char harmless[NAME_ROOM + 1];

	if (!name || !*name) {
		snprintf(text, size, "%u", thread);
		return;
	}
	*base_escape_text(harmless, name, strlen(name), NAME_ROOM) = '\0';
	snprintf(text, size, "%s(%u)", harmless, thread);
}

void live_event_text(const struct ktread_type *type, char *text, size_t size)
{
	char group[NAME_ROOM + 1], name[NAME_ROOM + 1];

	*base_escape_text(group, type->group, strlen(type->group), NAME_ROOM) = '\0';
	*base_escape_text(name, type->name, strlen(type->name), NAME_ROOM) = '\0';
	snprintf(text, size, "%s%s%s", group, *group ? "." : "", name);
}

static char *new_line(struct live_tail *tail)
{
	return tail->text[tail->lines++ % LIVE_TAIL_LINES];
}

void live_tail_note(struct live_tail *tail, const char *text)
{
	snprintf(new_line(tail), LIVE_TAIL_TEXT, "%s", text);
}

static int put_time(char *text, size_t size, uint64_t ticks, uint64_t frequency)
{
	struct base_ticks_time time;

	if (frequency == 0)
		return snprintf(text, size, "%12llu", (unsigned long long)ticks);
	time = base_ticks_time(ticks, frequency);
	return snprintf(text, size, "%5llu.%06u", (unsigned long long)time.seconds,
			(unsigned)time.microseconds);
}

/* Writes the name of a system call and a blank, if the trace has the name. Returns the number of bytes. */
static int put_call(char *text, size_t size, const struct ktread *trace, const struct ktread_event *event,
		    const struct wellknown *known)
{
	const bool is_call = known->kind == WELLKNOWN_SYSCALL_ENTER || known->kind == WELLKNOWN_SYSCALL_EXIT;
	char harmless[NAME_ROOM + 1];
	const char *name = NULL;
	uint64_t number;

	if (is_call && wellknown_number(known, event, WELLKNOWN_NUMBER, &number) && number <= UINT32_MAX)
		name = ktread_syscall_name(trace, (uint32_t)number);
	if (!name)
		return 0;
	*base_escape_text(harmless, name, strlen(name), NAME_ROOM) = '\0';
	return snprintf(text, size, "%s ", harmless);
}

/*
 * Writes the names of the threads whose numbers are in an event of a context switch or a wakeup: " (worker(5)
 * -> idle(2))".
 */
static void put_threads(char *text, size_t size, const struct ktread *trace, const struct ktread_event *event,
			const struct wellknown *known)
{
	char from[NAME_ROOM + 16], to[NAME_ROOM + 16];
	uint32_t thread, next;

	if (known->kind == WELLKNOWN_SWITCH && wellknown_thread(known, event, WELLKNOWN_PREV, &thread) &&
	    wellknown_thread(known, event, WELLKNOWN_NEXT, &next)) {
		live_thread_text(trace, thread, from, sizeof(from));
		live_thread_text(trace, next, to, sizeof(to));
		snprintf(text, size, " (%s -> %s)", from, to);
	} else if (known->kind == WELLKNOWN_WAKE &&
		   wellknown_thread(known, event, WELLKNOWN_THREAD, &thread)) {
		live_thread_text(trace, thread, to, sizeof(to));
		snprintf(text, size, " (%s)", to);
	}
}

void live_tail_event(struct live_tail *tail, struct ktread *trace, const struct ktread_event *event,
		     const struct wellknown *known)
{
	char thread[NAME_ROOM + 16], name[2 * NAME_ROOM + 2], cpu[12] = "?", *line;
	int length;

	if (tail->paused || !is_wanted(&tail->filter, trace, event))
		return;
	if (tail->base == 0 || event->stamp < tail->base)
		tail->base = event->stamp;
	if (event->cpu != KTRX_NO_CPU)
		snprintf(cpu, sizeof(cpu), "%u", event->cpu);
	live_thread_text(trace, event->thread, thread, sizeof(thread));
	live_event_text(event->type, name, sizeof(name));
	line = new_line(tail);
	length = put_time(line, LIVE_TAIL_TEXT, event->stamp - tail->base, ktread_info(trace)->frequency);
	length += snprintf(line + length, LIVE_TAIL_TEXT - (size_t)length, " CPU%s %-12s %-16s ", cpu, thread,
			   name);
	if (length < (int)LIVE_TAIL_TEXT)
		length += put_call(line + length, LIVE_TAIL_TEXT - (size_t)length, trace, event, known);
	if (length < (int)LIVE_TAIL_TEXT)
		ktread_format(event, line + length, LIVE_TAIL_TEXT - (size_t)length);
	length = (int)strlen(line);
	put_threads(line + length, LIVE_TAIL_TEXT - (size_t)length, trace, event, known);
}

const char *live_tail_line(const struct live_tail *tail, uint64_t n)
{
	if (n >= tail->lines || n >= LIVE_TAIL_LINES)
		return NULL;
	return tail->text[(tail->lines - 1 - n) % LIVE_TAIL_LINES];
}

#define UNWEIGHED 8192u /* maximum number of events whose weight has not been computed yet */

struct ring {
	/*
	 * numbers of slots that the ring had recorded, and that had been read, when its weight was last
	 * computed
	 */
	uint64_t produced, decoded;
	double weight;
};

struct live_rates {
	bool based; /* true if ring[] contains values from this boot */
	struct ring ring[KTRX_MAX_RINGS];
	uint32_t waiting;
	struct {
		uint16_t ring, id;
	} event[UNWEIGHED];
	double count[KTRX_EVENT_MAX + 1];
};

struct live_rates *live_rates_open(void)
{
	struct live_rates *rates = malloc(sizeof(*rates));

	if (rates)
		live_rates_restart(rates);
	return rates;
}

void live_rates_close(struct live_rates *rates)
{
	free(rates);
}

void live_rates_restart(struct live_rates *rates)
{
	memset(rates, 0, sizeof(*rates));
	for (uint32_t n = 0; n < KTRX_MAX_RINGS; n++)
		rates->ring[n].weight = 1;
}

static void weigh(struct live_rates *rates)
{
	for (uint32_t i = 0; i < rates->waiting; i++)
		rates->count[rates->event[i].id] += rates->ring[rates->event[i].ring].weight;
	rates->waiting = 0;
}

void live_rates_event(struct live_rates *rates, const struct ktread_event *event)
{
	if (!rates->based || event->ring >= KTRX_MAX_RINGS || event->id > KTRX_EVENT_MAX)
		return;
	if (rates->waiting == UNWEIGHED)
		weigh(rates);
	rates->event[rates->waiting].ring = (uint16_t)event->ring;
	rates->event[rates->waiting++].id = event->id;
}

/*
 * Computes the weight of a ring's events. The weight is below 1 if more slots were read than were recorded
 * since the last call. In this case, some of the slots that were read had been recorded before that call,
 * which has already counted them.
 */
static void settle_ring(struct ring *ring, const struct ktread_ring *now, bool based)
{
	if (based && now->head >= ring->produced && now->decoded > ring->decoded)
		ring->weight = (double)(now->head - ring->produced) / (double)(now->decoded - ring->decoded);
	if (!based)
		ring->weight = 1;
	ring->produced = now->head;
	ring->decoded = now->decoded;
}

void live_rates_settle(struct live_rates *rates, const struct ktread *trace)
{
	const uint32_t rings = ktread_info(trace)->rings;

	for (uint32_t n = 0; n < rings && n < KTRX_MAX_RINGS; n++)
		settle_ring(&rates->ring[n], ktread_ring(trace, n), rates->based);
	weigh(rates);
	rates->based = true;
}

static void offer(struct live_top top[LIVE_TOP], uint16_t id, double rate)
{
	uint32_t at = LIVE_TOP;

	while (at > 0 && rate > top[at - 1].rate)
		at--;
	if (at == LIVE_TOP)
		return;
	memmove(top + at + 1, top + at, (LIVE_TOP - 1 - at) * sizeof(*top));
	top[at] = (struct live_top){ id, rate };
}

double live_rates_end(struct live_rates *rates, double seconds, struct live_top top[LIVE_TOP])
{
	double sum = 0;

	weigh(rates);
	memset(top, 0, LIVE_TOP * sizeof(*top));
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX && seconds > 0; id++) {
		if (rates->count[id] > 0)
			offer(top, (uint16_t)id, rates->count[id] / seconds);
		sum += rates->count[id];
		rates->count[id] = 0;
	}
	return seconds > 0 ? sum / seconds : 0;
}
