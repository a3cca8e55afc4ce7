/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Binds rules to a trace: finds the events that match their patterns, and checks that these events have the
 * fields and were recorded.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyze/event_name.h"
#include "analyze/rules.h"
#include "ktrx/v2.h"

/*
 * Stores the reason why the rule cannot be checked. Returns 0 if the rule is optional, otherwise
 * KTREAD_E_FORMAT.
 */
__attribute__((format(printf, 4, 5))) static int cannot_check(struct rule *rule,
							      const struct rule_event *event,
							      struct rules_error *error, const char *format,
							      ...)
{
	va_list arguments;

	rule->checked = false;
	va_start(arguments, format);
	vsnprintf(rule->why, sizeof(rule->why), format, arguments);
	va_end(arguments);
	if (rule->optional)
		return 0;
	error->line = event->line;
	error->column = event->column;
	memcpy(error->text, rule->why, sizeof(error->text));
	return KTREAD_E_FORMAT;
}

/* Returns the field of that name, or NULL if the type has no such field. */
static const struct ktread_field *find_field(const struct ktread_type *type, const char *name)
{
	for (uint32_t n = 0; n < type->fields; n++)
		if (strcmp(type->field[n].name, name) == 0)
			return &type->field[n];
	return NULL;
}

static bool is_in_every_event(const char *name)
{
	return name[0] == '@' || strcmp(name, "thread") == 0 || strcmp(name, "cpu") == 0;
}

static int need_field(struct rule *rule, const struct rule_event *event, const struct ktread_type *type,
		      const char *field, struct rules_error *error)
{
	char text[SUGGESTIONS_TEXT];
	struct suggestions similar;

	if (!rule->checked || find_field(type, field))
		return 0;
	suggestions_start(&similar, field, strlen(field));
	for (uint32_t n = 0; n < type->fields; n++)
		suggestions_offer(&similar, type->field[n].name);
	suggestions_text(&similar, text, sizeof(text));
	return cannot_check(rule, event, error, "%.64s.%.64s has no field '%s'%s", type->group, type->name,
			    field, text);
}

/*
 * Checks that a field can be compared with the value of the condition. Does nothing if the type lacks the
 * field.
 */
static int need_same_type(struct rule *rule, const struct rule_event *event, const struct ktread_type *type,
			  const char *name, const struct rule_condition *condition, struct rules_error *error)
{
	const struct ktread_field *field = find_field(type, name);
	const bool is_string = field && field->type == KTRX_TYPE_STRING;

	if (!rule->checked || !field || is_string == condition->string)
		return 0;
	if (is_string)
		return cannot_check(rule, event, error,
				    "%.64s.%.64s.%s is a string: it can only be compared with a \"string\"",
				    type->group, type->name, name);
	return cannot_check(rule, event, error,
			    "%.64s.%.64s.%s is not a string: it cannot be compared with \"%s\"", type->group,
			    type->name, name, condition->other);
}

static int need_conditions(struct rule *rule, const struct rule_event *event, const struct ktread_type *type,
			   const struct rule_condition *condition, uint32_t count, struct rules_error *error)
{
	int status = 0;

	for (uint32_t n = 0; n < count && !status; n++) {
		const bool has_other_field = condition[n].other[0] && !condition[n].string;

		status = need_field(rule, event, type, condition[n].field, error);
		if (!status && has_other_field)
			status = need_field(rule, event, type, condition[n].other, error);
		if (!status)
			status = need_same_type(rule, event, type, condition[n].field, &condition[n], error);
		if (!status && has_other_field)
			status = need_same_type(rule, event, type, condition[n].other, &condition[n], error);
	}
	return status;
}

/* Checks that a type of event has all fields that the rule needs of the event number `index`. */
static int need_fields(struct rule *rule, uint32_t index, const struct ktread_type *type,
		       struct rules_error *error)
{
	const struct rule_event *event = &rule->event[index];
	int status = need_conditions(rule, event, type, event->condition, event->conditions, error);

	if (!status && event->role == RULE_SUBJECT)
		status = need_conditions(rule, event, type, rule->required, rule->requirements, error);
	if (!status && event->role == RULE_SUBJECT && rule->thread_states &&
	    !is_in_every_event(rule->thread_field))
		status = need_field(rule, event, type, rule->thread_field, error);
	for (uint32_t k = 0; k < rule->keys && !status && event->role != RULE_NEEDED; k++)
		if (!is_in_every_event(rule->key[k][index]))
			status = need_field(rule, event, type, rule->key[k][index], error);
	return status;
}

/*
 * Bit map of the events that have a record in the trace. Such an event counts as switched on, even if it was
 * off when the trace was captured.
 */
struct seen {
	uint8_t map[(KTRX_EVENT_MAX + 1) / 8];
	bool is_known;
};

/* Reads the trace to find events that have records. Ignores errors: check_read() reports them. */
static void find_records(struct seen *seen, struct ktread *trace)
{
	const struct ktread_event *event;

	if (seen->is_known)
		return;
	while (ktread_next(trace, &event) > 0)
		if (event->id <= KTRX_EVENT_MAX)
			seen->map[event->id / 8] |= (uint8_t)(1u << event->id % 8);
	ktread_rewind(trace);
	seen->is_known = true;
}

static bool has_record(const struct seen *seen, const struct rule_event *event)
{
	for (uint32_t byte = 0; byte < sizeof(seen->map); byte++)
		if (seen->map[byte] & event->ids[byte])
			return true;
	return false;
}

static int bind_event(struct rule *rule, uint32_t index, struct ktread *trace, struct seen *seen,
		      struct rules_error *error)
{
	struct rule_event *event = &rule->event[index];
	bool found = false, recorded = false;
	char text[SUGGESTIONS_TEXT], pattern[RULES_WORD];
	struct suggestions similar;
	int status = 0;

	memset(event->ids, 0, sizeof(event->ids));
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX && !status; id++) {
		const struct ktread_type *type = ktread_type(trace, id);

		if (!type || !pattern_means(event->pattern, type))
			continue;
		found = true;
		recorded |= ((type->state | type->wanted) & KTRX_STATE_RECORD) != 0;
		event->ids[id / 8] |= (uint8_t)(1u << id % 8);
		status = need_fields(rule, index, type, error);
	}
	if (status || !rule->checked)
		return status;
	/*
	 * A depth may list several events that set it to 0. Some of these events may be absent from the
	 * trace.
	 */
	if (!found && rule->form == RULE_DEPTH && event->role == RULE_SUBJECT)
		return 0;
	if (!found) {
		suggestions_start(&similar, event->pattern, strlen(event->pattern));
		suggestions_offer_events(&similar, trace);
		suggestions_text(&similar, text, sizeof(text));
		return cannot_check(rule, event, error, "there is no event '%s'%s", event->pattern, text);
	}
	if (!recorded)
		find_records(seen, trace);
	if (!recorded && !has_record(seen, event)) {
		rule->checked = false;
		memcpy(pattern, event->pattern, sizeof(pattern));
		snprintf(rule->why, sizeof(rule->why), "%s was not recorded", pattern);
	}
	return 0;
}

/*
 * Returns the setting debug.ktr.state; -1 if the trace lacks the setting, for example because the kernel was
 * built without state tables.
 */
static int state_setting(const struct ktread *trace)
{
	struct ktread_setting setting;

	for (uint32_t n = 0; ktread_setting(trace, n, &setting); n++)
		if (strcmp(setting.name, "debug.ktr.state") == 0)
			return setting.value != 0;
	return -1;
}

bool rules_state_is_off(const struct ktread *trace)
{
	return state_setting(trace) == 0;
}

static bool is_broken_recorded(const struct rule *rule, const struct ktread *trace, const char **hook)
{
	static const struct {
		uint8_t bit;
		const char *name;
	} needed[][2] = {
		[KTRX_BROKEN_SWITCH_LOCKED] = { { KTRX_HOOK_THREAD, "ktrace_switch" },
						{ KTRX_HOOK_LOCK, "ktrace_acquire" } },
		[KTRX_BROKEN_SWITCH_PREEMPT] = { { KTRX_HOOK_THREAD, "ktrace_switch" },
						 { KTRX_HOOK_PREEMPT, "ktrace_preempt" } },
		[KTRX_BROKEN_SWITCH_INTERRUPT] = { { KTRX_HOOK_THREAD, "ktrace_switch" },
						   { KTRX_HOOK_IRQ, "ktrace_interrupt_enter" } },
		[KTRX_BROKEN_RELEASE] = { { KTRX_HOOK_LOCK, "ktrace_acquire" } },
		[KTRX_BROKEN_ACQUIRE] = { { KTRX_HOOK_LOCK, "ktrace_acquire" } },
	};
	struct ktrx_cpu descriptor;
	uint8_t called = 0;

	for (uint32_t cpu = 0; ktread_cpus(trace, cpu, &descriptor, 1) > 0; cpu++)
		called |= descriptor.hooks;
	for (uint32_t n = 0; n < 2; n++) {
		*hook = needed[rule->broken][n].name;
		if (*hook && !(called & needed[rule->broken][n].bit))
			return false;
	}
	return true;
}

bool rules_needs_holders(const struct rule *rule)
{
	return rule->form == RULE_BROKEN &&
	       (rule->broken == KTRX_BROKEN_SWITCH_LOCKED || rule->broken == KTRX_BROKEN_RELEASE ||
		rule->broken == KTRX_BROKEN_ACQUIRE);
}

/*
 * Returns whether the kernel has a table in which hooks could find this mistake about a lock. If a CPU has
 * recorded the mistake, it does not matter that the table cannot be read.
 */
static bool has_holders(const struct rule *rule, const struct ktread *trace)
{
	struct ktrx_holder holder;
	struct ktrx_cpu descriptor;

	if (!rules_needs_holders(rule) || ktread_holders(trace, 0, &holder, 1) > 0)
		return true;
	for (uint32_t cpu = 0; ktread_cpus(trace, cpu, &descriptor, 1) > 0; cpu++)
		if (descriptor.broken == rule->broken)
			return true;
	return false;
}

static int bind_broken(struct rule *rule, const struct ktread *trace, struct rules_error *error)
{
	const struct rule_event here = { .line = rule->line, .column = 1 };
	const char *hook;

	if (is_broken_recorded(rule, trace, &hook))
		return has_holders(rule, trace) ? 0
						: cannot_check(rule, &here, error,
							       "the trace has no table of holders "
							       "(.holders in struct ktrace_config)");
	switch (state_setting(trace)) {
	case 0:
		return cannot_check(rule, &here, error, "debug.ktr.state is 0: %s() keeps no state", hook);
	case 1:
		return cannot_check(rule, &here, error, "%s() was not called", hook);
	default:
		return cannot_check(rule, &here, error,
				    "%s() was not called, or debug.ktr.state is 0, "
				    "or the kernel is built with KTRACE_STATE=0",
				    hook);
	}
}

static void bind_time(struct rule *rule, const struct ktread_info *info)
{
	if (rule->time && info->frequency == 0) {
		rule->checked = false;
		snprintf(rule->why, sizeof(rule->why), "the clock frequency is unknown");
	}
	rule->ticks = (uint64_t)((unsigned __int128)rule->time * info->frequency / 1000000000u);
}

int rules_bind(struct rules *rules, struct ktread *trace, struct rules_error *error)
{
	struct seen seen = { .is_known = false };

	for (uint32_t n = 0; n < rules->count; n++) {
		struct rule *rule = &rules->rule[n];
		int status = 0;

		rule->checked = true;
		for (uint32_t e = 0; e < rule->events && rule->checked && !status; e++)
			status = bind_event(rule, e, trace, &seen, error);
		if (rule->form == RULE_BROKEN && rule->checked)
			status = bind_broken(rule, trace, error);
		if (status)
			return status;
		bind_time(rule, ktread_info(trace));
		if (rule->in_depth && rule->checked && !rules->rule[rule->depth].checked) {
			rule->checked = false;
			memcpy(rule->why, rules->rule[rule->depth].why, sizeof(rule->why));
		}
	}
	return 0;
}

bool rules_key(const struct rule *rule, uint32_t event, const struct ktread_event *fired, uint64_t *key)
{
	for (uint32_t k = 0; k < rule->keys; k++) {
		const char *name = rule->key[k][event];

		if (name[0] != '@' && keyed_field(fired, name, &key[k]))
			continue;
		/*
		 * Thread 0 does not identify a thread: a kernel without thread ids records all events with
		 * thread 0.
		 */
		if (strcmp(name, "@thread") == 0 && fired->thread == 0)
			return false;
		if (strcmp(name, "thread") == 0 || strcmp(name, "@thread") == 0)
			key[k] = fired->thread;
		else if (strcmp(name, "cpu") == 0 || strcmp(name, "@cpu") == 0)
			key[k] = fired->cpu;
		else
			return false;
	}
	return true;
}

static bool holds_string(const struct rule_condition *condition, const struct ktread_value *value)
{
	bool same = value->type == KTRX_TYPE_STRING && value->length == strlen(condition->other) &&
		    memcmp(value->string, condition->other, value->length) == 0;

	return same == (condition->relation == RULE_EQUAL);
}

static bool is_signed(uint8_t type)
{
	return type == KTRX_TYPE_I8 || type == KTRX_TYPE_I16 || type == KTRX_TYPE_I32 ||
	       type == KTRX_TYPE_I64;
}

/* Compares two numbers, each with its sign. Returns -1, 0 or 1. */
static int compare(uint64_t left, bool left_negative, uint64_t right, bool right_negative)
{
	if (left_negative != right_negative)
		return left_negative ? -1 : 1;
	return left < right ? -1 : left > right;
}

static bool holds_number(enum rule_relation relation, const struct ktread_value *value, uint64_t number,
			 bool negative)
{
	int order = compare(value->number, is_signed(value->type) && value->number >> 63, number, negative);

	switch (relation) {
	case RULE_EQUAL:
		return order == 0;
	case RULE_UNEQUAL:
		return order != 0;
	case RULE_LESS:
		return order < 0;
	case RULE_UP_TO:
		return order <= 0;
	case RULE_MORE:
		return order > 0;
	case RULE_FROM:
		return order >= 0;
	case RULE_HAS_BITS:
		return (value->number & number) != 0;
	}
	return false;
}

bool rules_hold(const struct rule_condition *condition, uint32_t count, const struct ktread_event *fired,
		bool *missing)
{
	for (uint32_t n = 0; n < count; n++) {
		struct ktread_value value, other = { .number = condition[n].number };
		bool negative = condition[n].negative, holds;

		if (ktread_value_named(fired, condition[n].field, &value) < 0 ||
		    (condition[n].other[0] && !condition[n].string &&
		     ktread_value_named(fired, condition[n].other, &other) < 0)) {
			*missing = true;
			return false;
		}
		if (condition[n].other[0] && !condition[n].string)
			negative = is_signed(other.type) && other.number >> 63;
		holds = condition[n].string
				? holds_string(&condition[n], &value)
				: holds_number(condition[n].relation, &value, other.number, negative);
		if (!holds)
			return false;
	}
	return true;
}

bool rules_fits(const struct rule_event *wanted, const struct ktread_event *fired)
{
	bool missing = false;

	if (!(wanted->ids[(fired->id & KTRX_EVENT_MAX) / 8] >> fired->id % 8 & 1))
		return false;
	if (wanted->contexts && !(wanted->contexts >> fired->context & 1))
		return false;
	return rules_hold(wanted->condition, wanted->conditions, fired, &missing);
}
