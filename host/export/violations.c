/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/views.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "analyze/event_name.h"
#include "base/json.h"
#include "findings/finding.h"
#include "ktrx/slot.h"

/* maximum number of events printed for a violation, including the violating event */
#define CONTEXT	     12u
#define CONTEXT_TEXT 512u

/* Copy of an event and its data, because the reader reuses the memory of the event. */
struct context_line {
	char time[STATS_TIME], name[ANALYZE_EVENT_NAME_MOST + 1], text[CONTEXT_TEXT];
	uint32_t cpu, thread, ring;
	uint64_t slot;
};

struct context {
	struct context_line line[CONTEXT];
	uint64_t count;
};

const struct check_violation *violations_first(const struct violations *found)
{
	const struct check_violation *first = NULL;

	for (uint32_t n = 0; n < found->rules->count; n++)
		if (found->result[n].violated && (!first || found->result[n].first.stamp < first->stamp))
			first = &found->result[n].first;
	return first;
}

#define WHO 128u

/* Writes "CPU1 thread 12(worker)". Returns `text`. */
static const char *say_who(const struct ktread *trace, uint32_t cpu, uint32_t thread, char text[WHO])
{
	const char *name = ktread_thread_name(trace, thread);
	char escaped[80];

	if (name)
		*base_escape_text(escaped, name, strlen(name), sizeof(escaped) - 1) = '\0';
	snprintf(text, WHO, name ? "CPU%" PRIu32 " thread %" PRIu32 "(%s)" : "CPU%" PRIu32 " thread %" PRIu32,
		 cpu, thread, escaped);
	return text;
}

/* Writes "0.000134 CPU0 thread 13(shell)". */
static void say_where(struct ktread *trace, uint64_t stamp, uint32_t cpu, uint32_t thread,
		      char text[WHO + STATS_TIME])
{
	char time[STATS_TIME], who[WHO];

	snprintf(text, WHO + STATS_TIME, "%s %s", stats_time(trace, stamp, time),
		 say_who(trace, cpu, thread, who));
}

/*
 * Writes details of a violation: the address at which a CPU was, a lock, a count, and the event that caused
 * the violation.
 */
static void say_details(const struct violations *found, const struct check_violation *violation,
			char text[FINDING_LINE])
{
	char state[40] = "", lock[40] = "", count[40] = "", cause[WHO + STATS_TIME] = "";

	if (violation->in_state)
		snprintf(state, sizeof(state), ": at 0x%" PRIx64, violation->pc);
	else if (violation->number == 0)
		snprintf(state, sizeof(state), ": did not come in time");
	if (violation->object)
		snprintf(lock, sizeof(lock), ", lock 0x%" PRIx64, violation->object);
	if (violation->count)
		snprintf(count, sizeof(count), ": %" PRIu64, violation->count);
	if (violation->has_cause)
		say_where(found->trace, violation->cause_stamp, violation->cause_cpu, violation->cause_thread,
			  cause);
	finding_say(text, "%s%s%s%s%s", state, lock, count, *cause ? ", since " : "", cause);
}

/*
 * Called for each event in order of time, if the violation itself is not an event. Searches for the event
 * that violations_find_events() describes, and stores it in *first. Returns true when no later event can be
 * that event.
 */
static bool look_for_event(const struct check_violation *violation, const struct ktread_event *event,
			   struct finding_event *first)
{
	const uint32_t cpu = violation->has_cause ? violation->cause_cpu : violation->cpu;
	const uint64_t stamp = violation->has_cause ? violation->cause_stamp : violation->stamp;

	if (event->stamp > stamp)
		return true;
	if (event->cpu == cpu && (!violation->has_cause || event->stamp == stamp))
		*first = (struct finding_event){ .known = true, .ring = event->ring, .slot = event->index };
	return false;
}

int violations_find_events(struct violations *found)
{
	const struct ktread_event *event;
	uint32_t open = 0;
	int status = 0;

	for (uint32_t n = 0; n < found->rules->count; n++) {
		const struct check_violation *violation = &found->result[n].first;

		if (!found->result[n].violated)
			continue;
		open += violation->number == 0;
		if (violation->number)
			found->first[n] = (struct finding_event){ .known = true,
								  .ring = violation->ring,
								  .slot = violation->slot };
	}
	if (open)
		status = ktread_rewind(found->trace);
	while (open && status >= 0 && (status = ktread_next(found->trace, &event)) > 0) {
		uint32_t done = 0;

		for (uint32_t n = 0; n < found->rules->count; n++)
			if (found->result[n].violated && !found->result[n].first.number)
				done += look_for_event(&found->result[n].first, event, &found->first[n]);
		if (done == open)
			break;
	}
	return status < 0 ? status : 0;
}

/* Writes the event's id, " [1.2345]", or "" if ids are not printed. */
static const char *say_id(const struct violations *found, const struct finding_event *event, char text[48])
{
	*text = '\0';
	if (found->ids && event->known)
		snprintf(text, 48, " [%" PRIu32 ".%" PRIu64 "]", event->ring, event->slot);
	return text;
}

void violations_put_text(struct base_output *out, const struct violations *found,
			 const struct check_violation *violation)
{
	const struct finding_event event = { .known = violation->number,
					     .ring = violation->ring,
					     .slot = violation->slot };
	char where[WHO + STATS_TIME], details[FINDING_LINE], id[48];

	say_where(found->trace, violation->stamp, violation->cpu, violation->thread, where);
	say_details(found, violation, details);
	base_output_format(out, "%s: %s%s%s\n", found->rules->rule[violation->rule].name, where, details,
			   say_id(found, &event, id));
}

static void keep(struct context *context, struct ktread *trace, const struct ktread_event *event)
{
	struct context_line *line = &context->line[context->count++ % CONTEXT];

	stats_time(trace, event->stamp, line->time);
	*analyze_event_name_put(line->name, event->type) = '\0';
	line->text[ktread_format(event, line->text, sizeof(line->text) - 1)] = '\0';
	line->cpu = event->cpu;
	line->thread = event->thread;
	line->ring = event->ring;
	line->slot = event->index;
}

/* Reads the trace again up to the violation. Returns 0 or an error of ktread_next(). */
static int read_context(struct ktread *trace, const struct check_violation *violation,
			struct context *context)
{
	const struct ktread_event *event;
	uint64_t number = 0;
	int status = ktread_rewind(trace);

	context->count = 0;
	if (status < 0)
		return status;
	while ((status = ktread_next(trace, &event)) > 0) {
		if (violation->number == 0 && event->stamp > violation->stamp)
			return 0;
		if (event->cpu == violation->cpu || (event->thread && event->thread == violation->thread))
			keep(context, trace, event);
		if (++number == violation->number)
			return 0;
	}
	return status;
}

static void put_context_text(struct base_output *out, const struct violations *found,
			     const struct context *context, const struct check_violation *violation)
{
	uint64_t from = context->count > CONTEXT ? context->count - CONTEXT : 0;

	base_output_format(out, "the first violation, of %s, and the events before it on CPU %" PRIu32,
			   found->rules->rule[violation->rule].name, violation->cpu);
	if (violation->thread)
		base_output_format(out, " and of thread %" PRIu32, violation->thread);
	base_output_text(out, ":\n");
	for (uint64_t n = from; n < context->count; n++) {
		const struct context_line *line = &context->line[n % CONTEXT];
		char who[WHO], id[48] = "";

		if (found->ids)
			snprintf(id, sizeof(id), "%" PRIu32 ".%" PRIu64 " ", line->ring, line->slot);
		base_output_format(out, "%c %s %s%s %s %s\n",
				   n + 1 == context->count && violation->number ? '>' : ' ', line->time, id,
				   say_who(found->trace, line->cpu, line->thread, who), line->name,
				   line->text);
	}
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static uint64_t open_of(const struct check_result *result)
{
	return result->undecided + result->unknown + result->may_live + result->unordered;
}

static void say_undecided(struct finding *finding, uint64_t times, const char *why)
{
	if (times)
		finding_evidence(finding, "not decided: %" PRIu64 " time%s because %s", times, plural(times),
				 why);
}

/*
 * Adds a line to the evidence: how often the rule could not be decided because this event was disabled, or
 * its repetitions were counted instead of recorded.
 */
static void say_switched_off(struct ktread *trace, const struct check_result *result, struct finding *finding)
{
	const struct ktread_type *type = ktread_type(trace, result->off);
	char why[ANALYZE_EVENT_NAME_MOST + 40] = "an event", *at = why;

	at = type ? analyze_event_name_put(why, type) : why + strlen(why);
	snprintf(at, 40, result->folded ? " was folded or off" : " was off");
	say_undecided(finding, result->switched_off, why);
}

/* Adds evidence that the result is uncertain or incomplete. */
static void say_doubts(struct ktread *trace, const struct rule *rule, const struct check_result *result,
		       struct finding *finding)
{
	if (result->uncertain)
		finding_evidence(finding,
				 "uncertain: %" PRIu64 " of %" PRIu64 " violation%s depend%s on the order "
				 "of events on different CPUs, "
				 "and the clocks of these CPUs were "
				 "not measured",
				 result->uncertain, result->violated, plural(result->violated),
				 result->uncertain == 1 ? "s" : "");
	say_undecided(finding, result->unordered,
		      "events of different CPUs were closer together than the error of their clocks");
	say_undecided(finding, result->undecided - result->switched_off,
		      rule->form == RULE_BROKEN
			      ? "the CPU records only the first mistake, and none while debug.ktr.state is 0 "
				"or the table of holders is full"
			      : "of lost slots");
	say_switched_off(trace, result, finding);
	say_undecided(finding, result->unknown,
		      "sched.switch gives state 0 every time, and so does not show whether threads sleep");
	say_undecided(finding, result->may_live,
		      "after sched.exit, sched.switch gives the thread a state other than dead");
	if (result->lacking)
		finding_evidence(finding, "left out: %" PRIu64 " event%s without a field that the rule uses",
				 result->lacking, plural(result->lacking));
	if (result->no_room)
		finding_evidence(finding, "left out: %" PRIu64 " event%s, because the rule's table was full",
				 result->no_room, plural(result->no_room));
}

static void say_violated(const struct violations *found, const struct rule *rule,
			 const struct check_result *result, struct finding *finding)
{
	char details[FINDING_LINE], id[48];

	finding->mark = FINDING_WRONG;
	finding->certain = result->uncertain == 0		  ? FINDING_CERTAIN
			   : result->uncertain < result->violated ? FINDING_LIKELY
								  : FINDING_POSSIBLE;
	say_where(found->trace, result->first.stamp, result->first.cpu, result->first.thread, finding->where);
	say_details(found, &result->first, details);
	finding->shows = found->first[rule - found->rules->rule];
	finding_say(finding->what, "VIOLATED %" PRIu64 " time%s, first at %s%s (%s:%" PRIu32 ")%s",
		    result->violated, plural(result->violated), finding->where, details, found->path,
		    rule->line, say_id(found, &finding->shows, id));
}

#define NOTHING "no record of the trace can be read"

/*
 * Returns the reason why the rule was not checked; NULL if it was checked. A state table may show a violation
 * even if no record can be read.
 */
static const char *why_not_checked(const struct violations *found, uint32_t n)
{
	if (!found->rules->rule[n].checked)
		return found->rules->rule[n].why;
	return found->nothing && !found->result[n].violated ? NOTHING : NULL;
}

/* Describes the result of rule `n`. Returns false if the rule only defines a depth for other rules. */
static bool say_rule(const struct violations *found, uint32_t n, struct finding *finding)
{
	const struct rule *rule = &found->rules->rule[n];
	const struct check_result *result = &found->result[n];
	const char *part = found->unread ? " in the part that was read" : "";
	const char *why = why_not_checked(found, n);

	*finding = (struct finding){ .kind = rule->name, .mark = FINDING_NOTE };
	finding->partial = open_of(result) || result->lacking || result->no_room || found->unread;
	if (!why && !result->violated && !finding->partial) {
		finding->mark = FINDING_OK;
		finding->certain = FINDING_CERTAIN;
	}
	if (why)
		finding_say(finding->what, "not checked: %s", why);
	else if (result->violated)
		say_violated(found, rule, result, finding);
	else if (result->held)
		finding_say(finding->what, "holds%s, %" PRIu64 " time%s", part, result->held,
			    plural(result->held));
	else if (!open_of(result))
		finding_say(finding->what, "holds%s", part);
	if (!why)
		say_doubts(found->trace, rule, result, finding);
	if (found->unread && !found->nothing)
		finding_evidence(finding, "incomplete: the end of the trace is missing or cannot be read, "
					  "and was not checked");
	if (!finding->what[0]) {
		finding_say(finding->what, "%s", finding->evidence[0]);
		finding->lines--;
		memmove(finding->evidence, finding->evidence[1],
			finding->lines * sizeof(finding->evidence[0]));
	}
	return rule->form != RULE_DEPTH;
}

int violations_write_text(struct base_output *out, const struct violations *found)
{
	const struct finding_style style = { .trace = found->repeatable };
	const struct check_violation *first = violations_first(found);
	struct finding finding;
	struct context context;
	int status = 0;

	for (uint32_t n = 0; n < found->rules->count; n++)
		if (say_rule(found, n, &finding))
			finding_put_text(out, &finding, &style);
	if (first)
		status = read_context(found->trace, first, &context);
	if (first && status >= 0)
		put_context_text(out, found, &context, first);
	return status;
}

static void put_where_json(struct base_output *out, struct ktread *trace, uint64_t stamp, uint32_t cpu,
			   uint32_t thread)
{
	char time[STATS_TIME];

	base_json_key(out, "time");
	base_output_text(out, stats_time(trace, stamp, time));
	base_json_put_known(out, "cpu", cpu != KTRX_NO_CPU, cpu);
	base_json_put_known(out, "thread", thread != KTREAD_NO_THREAD, thread);
}

static void put_address(struct base_output *out, const char *key, uint64_t address)
{
	base_json_key(out, key);
	base_output_format(out, "\"0x%" PRIx64 "\"", address);
}

void violations_put_json(struct base_output *out, const struct violations *found,
			 const struct check_violation *violation, bool first)
{
	base_output_text(out, first ? "{" : ",\n{");
	base_json_put_text(out, "rule", found->rules->rule[violation->rule].name);
	put_where_json(out, found->trace, violation->stamp, violation->cpu, violation->thread);
	if (violation->number)
		base_json_put_format(out, "id", "\"%" PRIu32 ".%" PRIu64 "\"", violation->ring,
				     violation->slot);
	base_json_put_bool(out, "overdue", !violation->number && !violation->in_state);
	if (violation->in_state)
		put_address(out, "pc", violation->pc);
	if (violation->object)
		put_address(out, "lock", violation->object);
	if (violation->count)
		base_json_put_number(out, "count", violation->count);
	if (violation->has_cause) {
		base_json_begin(out, "since", '{');
		put_where_json(out, found->trace, violation->cause_stamp, violation->cause_cpu,
			       violation->cause_thread);
		base_output_text(out, "}");
	}
	base_output_text(out, "}");
}

static void put_rule_json(struct base_output *out, const struct violations *found, uint32_t n)
{
	const struct rule *rule = &found->rules->rule[n];
	const struct check_result *result = &found->result[n];
	const char *why = why_not_checked(found, n);

	base_json_begin(out, NULL, '{');
	base_json_put_text(out, "name", rule->name);
	base_json_put_number(out, "line", rule->line);
	base_json_put_bool(out, "checked", !why);
	if (why)
		base_json_put_text(out, "why", why);
	base_json_put_number(out, "held", result->held);
	base_json_put_number(out, "violated", result->violated);
	base_json_put_number(out, "undecided", open_of(result));
	base_json_put_number(out, "left_out", result->lacking + result->no_room);
	if (result->uncertain)
		base_json_put_number(out, "uncertain", result->uncertain);
	if (result->violated) {
		base_json_key(out, "first");
		violations_put_json(out, found, &result->first, true);
	}
	base_output_text(out, "}");
}

static void put_findings_json(struct base_output *out, const struct violations *found)
{
	struct finding finding;
	bool begun = false;

	base_output_text(out, "],\n\"findings\":[");
	for (uint32_t n = 0; n < found->rules->count; n++) {
		if (!say_rule(found, n, &finding))
			continue;
		base_output_text(out, begun ? ",\n{" : "{");
		finding_put_json(out, &finding, NULL);
		finding_put_ids_json(out, &finding);
		base_output_text(out, "}");
		begun = true;
	}
	base_output_text(out, "]");
}

static void put_context_json(struct base_output *out, const struct context *context)
{
	uint64_t from = context->count > CONTEXT ? context->count - CONTEXT : 0;

	base_output_text(out, ",\n\"before\":[");
	for (uint64_t n = from; n < context->count; n++) {
		const struct context_line *line = &context->line[n % CONTEXT];

		base_output_text(out, n == from ? "{" : ",\n{");
		base_json_key(out, "time");
		base_output_text(out, line->time);
		base_json_put_known(out, "cpu", line->cpu != KTRX_NO_CPU, line->cpu);
		base_json_put_known(out, "thread", line->thread != KTREAD_NO_THREAD, line->thread);
		base_json_put_format(out, "id", "\"%" PRIu32 ".%" PRIu64 "\"", line->ring, line->slot);
		base_json_put_text(out, "event", line->name);
		base_json_put_text(out, "text", line->text);
		base_output_text(out, "}");
	}
	base_output_text(out, "]");
}

int violations_write_json(struct base_output *out, const struct violations *found)
{
	const struct check_violation *first = violations_first(found);
	struct context context;
	int status = 0;
	bool begun = false;

	base_output_text(out, "\"rules\":[");
	for (uint32_t n = 0; n < found->rules->count; n++) {
		if (found->rules->rule[n].form == RULE_DEPTH)
			continue;
		base_output_text(out, begun ? ",\n" : "");
		put_rule_json(out, found, n);
		begun = true;
	}
	put_findings_json(out, found);
	if (first)
		status = read_context(found->trace, first, &context);
	if (first && status >= 0)
		put_context_json(out, &context);
	return status;
}
