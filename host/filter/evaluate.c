/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Evaluates an expression, and computes its window: the event ids, CPUs and timestamps for which the
 * expression may be true.
 */
#include <string.h>

#include "base/put.h"
#include "filter/tree.h"
#include "ktrx/v2.h"

bool filter_glob(const char *pattern, const char *bytes, size_t length)
{
	const char *star = NULL;
	size_t at = 0, resume = 0;

	while (at < length) {
		const bool escaped = *pattern == '\\' && pattern[1] != '\0';

		if (*pattern == '*') {
			star = pattern++;
			resume = at;
		} else if (*pattern && (!escaped && *pattern == '?' ? true : pattern[escaped] == bytes[at])) {
			pattern += 1 + escaped;
			at++;
		} else if (star) { /* let the last star match one more byte */
			pattern = star + 1;
			at = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

static bool compare(enum filter_relation relation, __int128 left, __int128 right)
{
	switch (relation) {
	case FILTER_EQUAL:
		return left == right;
	case FILTER_UNEQUAL:
		return left != right;
	case FILTER_LESS:
		return left < right;
	case FILTER_UP_TO:
		return left <= right;
	case FILTER_MORE:
		return left > right;
	default:
		return left >= right;
	}
}

static bool compare_text(const struct filter_node *node, const char *bytes, size_t length)
{
	const char *text = node->value.text;

	switch (node->relation) {
	case FILTER_EQUAL:
	case FILTER_UNEQUAL:
		return (strlen(text) == length && memcmp(text, bytes, length) == 0) ==
		       (node->relation == FILTER_EQUAL);
	default:
		return filter_glob(text, bytes, length) == (node->relation == FILTER_LIKE);
	}
}

static bool compare_thread(const struct filter *filter, const struct filter_node *node, uint32_t thread)
{
	const char *name;

	if (filter->has_process && strcmp(node->name, "pid") == 0)
		thread = filter->process;
	if (thread == KTREAD_NO_THREAD)
		return false;
	if (node->value.kind == FILTER_NUMBER)
		return compare(node->relation, thread, node->value.number);
	name = ktread_thread_name(filter->trace, thread);
	return name && compare_text(node, name, strlen(name));
}

static uint64_t extend(uint64_t number, uint32_t width)
{
	const uint32_t unused = 64 - 8 * width;

	return (uint64_t)((int64_t)(number << unused) >> unused);
}

static bool compare_field(const struct filter_node *node, const struct ktread_event *event)
{
	const struct filter_place *place;
	struct ktread_value value;
	__int128 number;

	if (event->id >= node->places)
		return false;
	place = &node->place[event->id];
	if (place->how == FILTER_ABSENT)
		return false;
	if (place->how == FILTER_AT_OFFSET) {
		if (place->offset + place->width > event->payload_size)
			return false;
		value.number = base_load(event->payload + place->offset, place->width);
		if (place->is_signed)
			value.number = extend(value.number, place->width);
	} else if (ktread_value(event, place->field, &value) < 0) {
		return false;
	}
	if (place->how == FILTER_STRING)
		return compare_text(node, value.string, value.length);
	number = place->is_signed ? (__int128)(int64_t)value.number : (__int128)value.number;
	return compare(node->relation, number * (__int128)place->scale,
		       place->ticks ? node->in_ticks : node->value.number);
}

static bool has(const struct filter_node *node, const struct ktread_event *event)
{
	switch (node->source) {
	case FILTER_FIELD:
		return event->id < node->places && node->place[event->id].how != FILTER_ABSENT;
	case FILTER_CPU:
		return event->cpu != KTRX_NO_CPU;
	case FILTER_THREAD:
		return event->thread != KTREAD_NO_THREAD;
	default:
		return true;
	}
}

static bool in_span(const struct filter_node *node, uint64_t stamp)
{
	return (stamp >= node->since && stamp <= node->until) != (node->relation == FILTER_UNEQUAL);
}

static bool compare_node(const struct filter *filter, const struct filter_node *node,
			 const struct ktread_event *event)
{
	switch (node->source) {
	case FILTER_EVENT:
	case FILTER_CATEGORY:
		return event->id <= KTRX_EVENT_MAX && (node->map[event->id / 8] >> event->id % 8 & 1);
	case FILTER_CPU:
		return event->cpu != KTRX_NO_CPU && compare(node->relation, event->cpu, node->value.number);
	case FILTER_THREAD:
		return compare_thread(filter, node, event->thread);
	case FILTER_TIME:
		return in_span(node, event->stamp);
	default:
		return compare_field(node, event);
	}
}

static bool accepts(const struct filter *filter, uint16_t index, const struct ktread_event *event)
{
	const struct filter_node *node = &filter->node[index];

	switch (node->kind) {
	case FILTER_AND:
		return accepts(filter, node->left, event) && accepts(filter, node->right, event);
	case FILTER_OR:
		return accepts(filter, node->left, event) || accepts(filter, node->right, event);
	case FILTER_NOT:
		return !accepts(filter, node->left, event);
	case FILTER_HAS:
		return has(node, event);
	default:
		return compare_node(filter, node, event);
	}
}

bool filter_accepts(const struct filter *filter, const struct ktread_event *event)
{
	return accepts(filter, filter->root, event);
}

void filter_set_process(struct filter *filter, uint32_t process)
{
	filter->process = process;
	filter->has_process = true;
}

bool filter_uses_time(const struct filter *filter)
{
	bool uses = false;

	for (uint32_t n = 0; n < filter->nodes; n++)
		uses |= filter->node[n].kind == FILTER_COMPARE && filter->node[n].source == FILTER_TIME;
	return uses;
}

/* ---- The window: for which events the expression may be true ---- */

/* The result of an expression if only one fact about an event is known: true, false, or unknown. */
enum answer { NEVER, MAYBE, ALWAYS };

/* The known fact: the event's id if `by_id` is true, otherwise the event's CPU. */
struct fact {
	bool by_id;
	uint32_t number;
};

static enum answer sure(bool value)
{
	return value ? ALWAYS : NEVER;
}

static enum answer decide_leaf(const struct filter *filter, const struct filter_node *node,
			       const struct fact *fact)
{
	const struct ktread_event event = { .id = fact->by_id ? (uint16_t)fact->number : 0,
					    .cpu = fact->by_id ? 0 : fact->number };
	const bool typed = node->source == FILTER_EVENT || node->source == FILTER_CATEGORY;

	if (!fact->by_id && node->source != FILTER_CPU)
		return MAYBE;
	if (node->source == FILTER_FIELD && node->kind == FILTER_COMPARE)
		return has(node, &event) ? MAYBE : NEVER;
	if (node->source == FILTER_FIELD)
		return sure(has(node, &event));
	if (fact->by_id && !typed)
		return MAYBE;
	return sure(node->kind == FILTER_HAS ? has(node, &event) : compare_node(filter, node, &event));
}

static enum answer decide(const struct filter *filter, uint16_t index, const struct fact *fact)
{
	const struct filter_node *node = &filter->node[index];
	enum answer left, right;

	if (node->kind == FILTER_COMPARE || node->kind == FILTER_HAS)
		return decide_leaf(filter, node, fact);
	left = decide(filter, node->left, fact);
	if (node->kind == FILTER_NOT)
		return (enum answer)(ALWAYS - left);
	right = decide(filter, node->right, fact);
	if (node->kind == FILTER_AND)
		return left < right ? left : right;
	return left > right ? left : right;
}

struct span {
	uint64_t since, until; /* first and last timestamp of the span; since > until: the span is empty */
};

static struct span join(struct span a, struct span b)
{
	if (a.since > a.until)
		return b;
	if (b.since > b.until)
		return a;
	return (struct span){ a.since < b.since ? a.since : b.since, a.until > b.until ? a.until : b.until };
}

static struct span intersect(struct span a, struct span b)
{
	return (struct span){ a.since > b.since ? a.since : b.since, a.until < b.until ? a.until : b.until };
}

/*
 * Returns the span of all timestamps outside the given span. If these timestamps form two spans, returns the
 * span of all timestamps.
 */
static struct span outside(const struct filter_node *node)
{
	if (node->since > node->until)
		return (struct span){ 0, UINT64_MAX };
	if (node->since == 0 && node->until == UINT64_MAX)
		return (struct span){ UINT64_MAX, 0 };
	if (node->since == 0)
		return (struct span){ node->until + 1, UINT64_MAX };
	return (struct span){ 0, node->until == UINT64_MAX ? node->since - 1 : UINT64_MAX };
}

/*
 * Returns a span that contains all timestamps for which an expression may be true; if `negated` is set, for
 * which it may be false.
 */
static struct span hull(const struct filter *filter, uint16_t index, bool negated)
{
	const struct filter_node *node = &filter->node[index];
	const struct span all = { 0, UINT64_MAX };
	struct span left, right;

	if (node->kind == FILTER_NOT)
		return hull(filter, node->left, !negated);
	if (node->kind == FILTER_AND || node->kind == FILTER_OR) {
		left = hull(filter, node->left, negated);
		right = hull(filter, node->right, negated);
		return (node->kind == FILTER_AND) == negated ? join(left, right) : intersect(left, right);
	}
	if (node->kind != FILTER_COMPARE || node->source != FILTER_TIME)
		return all;
	return (node->relation == FILTER_UNEQUAL) == negated ? (struct span){ node->since, node->until }
							     : outside(node);
}

void filter_narrow(const struct filter *filter, struct filter_window *window)
{
	const struct span span = hull(filter, filter->root, false);
	struct fact fact = { .number = KTRX_NO_CPU };

	*window = (struct filter_window){ .since = span.since, .until = span.until, .only_time = true };
	window->some_cpus = decide(filter, filter->root, &fact) == NEVER;
	for (fact.number = 0; fact.number < FILTER_CPUS && window->some_cpus; fact.number++)
		if (decide(filter, filter->root, &fact) != NEVER)
			window->cpus[fact.number / 8] |= (uint8_t)(1u << fact.number % 8);
	fact.by_id = true;
	for (fact.number = 0; fact.number <= KTRX_EVENT_MAX; fact.number++)
		if (decide(filter, filter->root, &fact) != NEVER)
			window->events[fact.number / 8] |= (uint8_t)(1u << fact.number % 8);
	for (uint32_t n = 0; n < filter->nodes; n++) {
		const struct filter_node *node = &filter->node[n];

		window->only_time &= node->kind == FILTER_AND ||
				     (node->kind == FILTER_COMPARE && node->source == FILTER_TIME &&
				      node->relation != FILTER_UNEQUAL);
	}
}
