/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Looks up the names of an expression in a trace. For each comparison, a table that is indexed by event id
 * states where the field is. So no names are compared when an event is evaluated.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyze/event_name.h"
#include "base/ticks.h"
#include "filter/tree.h"
#include "ktrx/v2.h"

#define NS_PER_S 1000000000u

struct binding {
	struct filter *filter;
	struct ktread *trace;
	struct filter_error *error;
};

/* ---- Comparisons of an event's name ---- */

/* Returns whether a comparison of an event's name or category by == or ~ is true for an event type. */
static bool is_like(const struct filter_node *node, const struct ktread_type *type)
{
	const bool glob = node->relation == FILTER_LIKE || node->relation == FILTER_UNLIKE;
	const char *text = node->value.text;
	char full[256];

	if (node->source == FILTER_CATEGORY)
		return glob ? filter_glob(text, type->group, strlen(type->group))
			    : !strcmp(text, type->group);
	if (glob)
		return pattern_means(text, type);
	snprintf(full, sizeof(full), "%s.%s", type->group, type->name);
	return strcasecmp(text, full) == 0 || strcasecmp(text, type->name) == 0;
}

static int unknown_event(const struct binding *binding, uint32_t column, const char *pattern,
			 const char *what)
{
	char text[SUGGESTIONS_TEXT];
	struct suggestions similar;

	suggestions_start(&similar, pattern, strlen(pattern));
	suggestions_offer_events(&similar, binding->trace);
	suggestions_text(&similar, text, sizeof(text));
	return filter_fail(binding->error, column, "the trace has no %s '%.64s'%s", what, pattern, text);
}

static int bind_event(struct binding *binding, struct filter_node *node)
{
	const bool negated = node->relation == FILTER_UNEQUAL || node->relation == FILTER_UNLIKE;
	const char *what = node->source == FILTER_EVENT ? "event" : "category";
	bool found = false;

	if (node->value.kind != FILTER_TEXT)
		return filter_fail(binding->error, node->value.column,
				   "%s is compared with a string in quotes", what);
	node->map = calloc(1, (KTRX_EVENT_MAX + 1) / 8);
	if (!node->map)
		return KTREAD_E_MEMORY;
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(binding->trace, id);
		const bool like = type && is_like(node, type);

		found |= like;
		if (like != negated)
			node->map[id / 8] |= (uint8_t)(1u << id % 8);
	}
	return found ? 0 : unknown_event(binding, node->value.column, node->value.text, what);
}

/* ---- Comparisons of the time ---- */

/* Converts ticks since the beginning of the trace to a timestamp. */
static uint64_t stamp_of(const struct binding *binding, uint64_t ticks)
{
	uint64_t stamp;

	return __builtin_add_overflow(ktread_first_stamp(binding->trace), ticks, &stamp) ? UINT64_MAX : stamp;
}

static void set_span(struct filter_node *node, uint64_t since, uint64_t until, bool none)
{
	node->since = none ? UINT64_MAX : since;
	node->until = none ? 0 : until;
}

/*
 * Sets the timestamps for which a comparison is true. `low` to `high` are the timestamps that equal its
 * value.
 */
static void set_stamps(struct filter_node *node, uint64_t low, uint64_t high)
{
	switch (node->relation) {
	case FILTER_LESS:
		set_span(node, 0, low - 1, low == 0);
		break;
	case FILTER_UP_TO:
		set_span(node, 0, high, false);
		break;
	case FILTER_MORE:
		set_span(node, high + 1, UINT64_MAX, high == UINT64_MAX);
		break;
	case FILTER_FROM:
		set_span(node, low, UINT64_MAX, false);
		break;
	default: /* FILTER_UNEQUAL: true for timestamps outside `low` to `high` */
		set_span(node, low, high, false);
	}
}

static int bind_time(struct binding *binding, struct filter_node *node)
{
	const uint64_t base = ktread_first_stamp(binding->trace),
		       frequency = ktread_info(binding->trace)->frequency;
	const struct filter_value *value = &node->value;
	__int128 ns = value->number;
	uint64_t stamp, whole, ticks;

	if (value->kind == FILTER_TEXT)
		return filter_fail(binding->error, value->column,
				   "time is compared with a time, such as 1.5 or 250ms");
	if (ns < 0)
		return filter_fail(binding->error, value->column, "time begins at 0, with the first event");
	if (frequency == 0) {
		if (value->kind != FILTER_NUMBER)
			return filter_fail(
				binding->error, value->column,
				"time is compared with a number of ticks, because the frequency is unknown");
		stamp = ns > UINT64_MAX - base ? UINT64_MAX : base + (uint64_t)ns;
		set_stamps(node, ns ? stamp : 0, stamp);
		return 0;
	}
	if (value->kind == FILTER_NUMBER)
		ns *= NS_PER_S;
	whole = ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
	ticks = base_ticks_first(whole, frequency);
	/* If a clock was set back, events may come before the first one. Timelines show 0 for them. */
	set_stamps(node, ticks ? stamp_of(binding, ticks) : 0,
		   stamp_of(binding, base_ticks_last(whole, frequency)));
	return 0;
}

/* ---- Comparisons of fields ---- */

static uint32_t width_of(uint8_t type)
{
	static const uint8_t widths[] = {
		[KTRX_TYPE_U8] = 1,   [KTRX_TYPE_U16] = 2,  [KTRX_TYPE_U32] = 4,     [KTRX_TYPE_U64] = 8,
		[KTRX_TYPE_I8] = 1,   [KTRX_TYPE_I16] = 2,  [KTRX_TYPE_I32] = 4,     [KTRX_TYPE_I64] = 8,
		[KTRX_TYPE_BOOL] = 1, [KTRX_TYPE_CHAR] = 1, [KTRX_TYPE_POINTER] = 8,
	};

	return type < sizeof(widths) ? widths[type] : 0;
}

/*
 * Finds the field with this name in an event type. Returns how to read it; the member `how` is FILTER_ABSENT
 * if the type has no such field.
 */
static struct filter_place place_of(const struct ktread_type *type, const char *name)
{
	struct filter_place place = { .how = FILTER_ABSENT };
	bool fixed = true;

	for (uint32_t n = 0; n < type->fields; n++) {
		const uint8_t kind = type->field[n].type;

		if (strcmp(type->field[n].name, name) != 0) {
			fixed &= width_of(kind) != 0;
			place.offset += width_of(kind);
			continue;
		}
		place.field = (uint8_t)n;
		place.width = (uint8_t)width_of(kind);
		place.is_signed = kind >= KTRX_TYPE_I8 && kind <= KTRX_TYPE_I64;
		place.scale = 1;
		place.how = kind == KTRX_TYPE_STRING ? FILTER_STRING
			    : place.width == 0	     ? FILTER_ABSENT
			    : fixed		     ? FILTER_AT_OFFSET
						     : FILTER_AFTER_TEXT;
		break;
	}
	return place;
}

/*
 * Finds the time unit of a field: from its declaration or, if that states no unit, from the end of its name
 * (as in ran_ns). Returns the unit in nanoseconds; 0 for ticks, -1 if the field has no time unit.
 */
static int64_t unit_of(const struct ktread_field *field)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", NS_PER_S }, { "ticks", 0 } };
	const char *end = strrchr(field->name, '_');
	const char *unit = *field->unit ? field->unit : end ? end + 1 : "";

	for (size_t n = 0; n < sizeof(units) / sizeof(units[0]); n++)
		if (strcmp(units[n].name, unit) == 0)
			return units[n].ns;
	return -1;
}

/* Properties of all fields with a certain name, in all event types. */
struct found {
	bool event, field, number, text, time;
};

/*
 * Prepares `place` for the comparison. If the type of the field does not fit the value, sets `how` to
 * FILTER_ABSENT.
 */
static void fit(const struct binding *binding, const struct filter_node *node, const struct ktread_type *type,
		struct filter_place *place, struct found *found)
{
	int64_t unit;

	if (place->how == FILTER_ABSENT)
		return;
	found->field = true;
	found->text |= place->how == FILTER_STRING;
	found->number |= place->how != FILTER_STRING;
	if (node->kind == FILTER_HAS)
		return;
	if ((place->how == FILTER_STRING) != (node->value.kind == FILTER_TEXT)) {
		place->how = FILTER_ABSENT;
		return;
	}
	if (node->value.kind != FILTER_DURATION)
		return;
	unit = unit_of(&type->field[place->field]);
	place->ticks = unit == 0;
	place->scale = unit == 0 ? NS_PER_S : (uint64_t)unit;
	if (unit < 0 || (unit == 0 && ktread_info(binding->trace)->frequency == 0))
		place->how = FILTER_ABSENT;
	else
		found->time = true;
}

static int unknown_name(const struct binding *binding, const struct filter_node *node)
{
	static const char *const names[] = { "event", "category", "cpu", "thread", "pid", "time" };
	char text[SUGGESTIONS_TEXT];
	struct suggestions similar;

	suggestions_start(&similar, node->name, strlen(node->name));
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]) && !node->events; n++)
		suggestions_offer(&similar, names[n]);
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(binding->trace, id);

		if (!type || (node->events && !pattern_means(node->events, type)))
			continue;
		for (uint32_t n = 0; n < type->fields; n++)
			suggestions_offer(&similar, type->field[n].name);
	}
	suggestions_text(&similar, text, sizeof(text));
	if (node->events)
		return filter_fail(binding->error, node->column, "no event '%.64s' has a field '%.64s'%s",
				   node->events, node->name, text);
	return filter_fail(binding->error, node->column, "no event of the trace has a field '%.64s'%s",
			   node->name, text);
}

/* Reports a value that can never equal the field. Returns 0 if the value can equal it. */
static int check_value(const struct binding *binding, const struct filter_node *node,
		       const struct found *found)
{
	const struct filter_value *value = &node->value;

	if (node->kind == FILTER_HAS)
		return 0;
	if (value->kind == FILTER_DECIMAL)
		return filter_fail(
			binding->error, value->column,
			"a field is compared with a whole number, or a time with its unit (such as 1.5ms)");
	if (value->kind == FILTER_TEXT && !found->text)
		return filter_fail(binding->error, value->column, "field '%.64s' is a number, not a string",
				   node->name);
	if (value->kind != FILTER_TEXT && !found->number)
		return filter_fail(binding->error, value->column, "field '%.64s' is a string, not a number",
				   node->name);
	if (value->kind == FILTER_DURATION && !found->time)
		return filter_fail(
			binding->error, value->column,
			"field '%.64s' has no unit of time, or its unit is ticks of an unknown frequency",
			node->name);
	return 0;
}

/* Returns the number of event ids up to the highest one that is declared. */
static uint32_t count_ids(const struct ktread *trace)
{
	uint32_t count = KTRX_EVENT_MAX + 1;

	while (count > 0 && !ktread_type(trace, count - 1))
		count--;
	return count;
}

static int bind_field(struct binding *binding, struct filter_node *node)
{
	const uint64_t frequency = ktread_info(binding->trace)->frequency;
	struct found found = { .event = false };

	node->places = count_ids(binding->trace);
	node->place = calloc(node->places + 1, sizeof(*node->place));
	if (!node->place)
		return KTREAD_E_MEMORY;
	node->in_ticks = node->value.kind == FILTER_DURATION ? node->value.number * (__int128)frequency : 0;
	for (uint32_t id = 0; id < node->places; id++) {
		const struct ktread_type *type = ktread_type(binding->trace, id);

		if (!type || (node->events && !pattern_means(node->events, type)))
			continue;
		found.event = true;
		node->place[id] = place_of(type, node->name);
		fit(binding, node, type, &node->place[id], &found);
	}
	if (node->events && !found.event)
		return unknown_event(binding, node->column, node->events, "event");
	return found.field ? check_value(binding, node, &found) : unknown_name(binding, node);
}

/* ---- The tree of the expression ---- */

static int bind_node(struct binding *binding, struct filter_node *node)
{
	const enum filter_literal kind = node->value.kind;

	free(node->map);
	free(node->place);
	node->map = NULL;
	node->place = NULL;
	if (node->kind != FILTER_COMPARE && node->kind != FILTER_HAS)
		return 0;
	if (node->source == FILTER_FIELD)
		return bind_field(binding, node);
	if (node->kind == FILTER_HAS)
		return 0;
	switch (node->source) {
	case FILTER_TIME:
		return bind_time(binding, node);
	case FILTER_CPU:
		return kind == FILTER_NUMBER ? 0
					     : filter_fail(binding->error, node->value.column,
							   "cpu is compared with a whole number");
	case FILTER_THREAD:
		if (kind == FILTER_NUMBER || (kind == FILTER_TEXT && strcmp(node->name, "pid") != 0))
			return 0;
		return filter_fail(binding->error, node->value.column, "%s is compared with a whole number%s",
				   node->name, strcmp(node->name, "pid") ? ", or a name in quotes" : "");
	default:
		return bind_event(binding, node);
	}
}

int filter_bind(struct filter *filter, struct ktread *trace, struct filter_error *error)
{
	struct binding binding = { filter, trace, error };
	int status = 0;

	filter->trace = trace;
	for (uint32_t n = 0; n < filter->nodes && !status; n++)
		status = bind_node(&binding, &filter->node[n]);
	return status;
}

void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	for (uint32_t n = 0; n < filter->nodes; n++) {
		free(filter->node[n].map);
		free(filter->node[n].place);
	}
	free(filter->words);
	free(filter);
}
