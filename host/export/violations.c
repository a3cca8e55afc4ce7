/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/violations.h"

#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "analyze/event_name.h"
#include "base/json.h"
#include "export/stats.h"

#define CONTEXT	     12u /* events told before a violation, itself included */
#define CONTEXT_TEXT 512u

/* An event kept for its text; the handle forgets it. */
struct context_line {
	char time[STATS_TIME], name[ANALYZE_EVENT_NAME_MOST + 1], text[CONTEXT_TEXT];
	uint32_t cpu, thread;
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

/* "CPU1 thread 12(worker)" */
static void put_who(struct base_output *out, const struct ktread *trace, uint32_t cpu, uint32_t thread)
{
	const char *name = ktread_thread_name(trace, thread);
	char text[80], *at = text;

	if (name)
		at = base_escape_text(text, name, strlen(name), sizeof(text) - 1);
	*at = '\0';
	base_output_format(out,
			   name ? "CPU%" PRIu32 " thread %" PRIu32 "(%s)" : "CPU%" PRIu32 " thread %" PRIu32,
			   cpu, thread, text);
}

static void put_place(struct base_output *out, const struct violations *found,
		      const struct check_violation *violation)
{
	char time[STATS_TIME];

	base_output_format(out, "%s ", stats_time(found->trace, violation->stamp, time));
	put_who(out, found->trace, violation->cpu, violation->thread);
	if (violation->in_state)
		base_output_format(out, ": at 0x%" PRIx64, violation->pc);
	else if (violation->number == 0)
		base_output_text(out, ": did not come in time");
	if (violation->object)
		base_output_format(out, ", lock 0x%" PRIx64, violation->object);
	if (violation->count)
		base_output_format(out, ": %" PRIu64, violation->count);
	if (!violation->has_cause)
		return;
	base_output_format(out, ", since %s ", stats_time(found->trace, violation->cause_stamp, time));
	put_who(out, found->trace, violation->cause_cpu, violation->cause_thread);
}

void violations_put_text(struct base_output *out, const struct violations *found,
			 const struct check_violation *violation)
{
	base_output_format(out, "%s: ", found->rules->rule[violation->rule].name);
	put_place(out, found, violation);
	base_output_text(out, "\n");
}

static void keep(struct context *context, struct ktread *trace, const struct ktread_event *event)
{
	struct context_line *line = &context->line[context->count++ % CONTEXT];

	stats_time(trace, event->stamp, line->time);
	*analyze_event_name_put(line->name, event->type) = '\0';
	line->text[ktread_format(event, line->text, sizeof(line->text) - 1)] = '\0';
	line->cpu = event->cpu;
	line->thread = event->thread;
}

/* Reads the trace once more, up to the violation. 0 or what ktread_next() said. */
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

	base_output_format(out, "the first of all, %s, and what went before it on CPU %" PRIu32,
			   found->rules->rule[violation->rule].name, violation->cpu);
	if (violation->thread)
		base_output_format(out, " and of thread %" PRIu32, violation->thread);
	base_output_text(out, ":\n");
	for (uint64_t n = from; n < context->count; n++) {
		const struct context_line *line = &context->line[n % CONTEXT];

		base_output_format(out, "%c %s ", n + 1 == context->count && violation->number ? '>' : ' ',
				   line->time);
		put_who(out, found->trace, line->cpu, line->thread);
		base_output_format(out, " %s %s\n", line->name, line->text);
	}
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void put_rule_text(struct base_output *out, const struct violations *found, uint32_t n)
{
	const struct rule *rule = &found->rules->rule[n];
	const struct check_result *result = &found->result[n];

	if (rule->form == RULE_DEPTH)
		return;
	if (!rule->checked) {
		base_output_format(out, "%s: not checked: %s\n", rule->name, rule->why);
		return;
	}
	if (result->violated) {
		base_output_format(out, "%s: VIOLATED %" PRIu64 " time%s, first at ", rule->name,
				   result->violated, plural(result->violated));
		put_place(out, found, &result->first);
		base_output_format(out, " (%s:%" PRIu32 ")\n", found->path, rule->line);
	} else if (result->held || !(result->undecided || result->unknown || result->unordered)) {
		base_output_format(out, "%s: holds", rule->name);
		if (result->held)
			base_output_format(out, ", %" PRIu64 " time%s", result->held, plural(result->held));
		base_output_text(out, "\n");
	}
	if (result->uncertain)
		base_output_format(out,
				   "%s: uncertain: %" PRIu64
				   " of these depend on the order of events of different CPUs, "
				   "whose clocks were not measured\n",
				   rule->name, result->uncertain);
	if (result->unordered)
		base_output_format(out,
				   "%s: not decided: %" PRIu64
				   " time%s because events of different CPUs were closer "
				   "than their clocks are known\n",
				   rule->name, result->unordered, plural(result->unordered));
	if (result->undecided)
		base_output_format(out, "%s: not decided: %" PRIu64 " time%s because of %s\n", rule->name,
				   result->undecided, plural(result->undecided),
				   rule->form == RULE_BROKEN ? "what was broken first on that CPU"
							     : "lost slots");
	if (result->unknown)
		base_output_format(out,
				   "%s: not decided: %" PRIu64
				   " time%s because sched.switch gives state 0 every "
				   "time, and so does not say whether threads sleep\n",
				   rule->name, result->unknown, plural(result->unknown));
	if (result->left_out)
		base_output_format(
			out, "%s: left out: %" PRIu64 " event%s without the fields, or too many at once\n",
			rule->name, result->left_out, plural(result->left_out));
}

int violations_write_text(struct base_output *out, const struct violations *found)
{
	const struct check_violation *first = violations_first(found);
	struct context context;
	int status = 0;

	for (uint32_t n = 0; n < found->rules->count; n++)
		put_rule_text(out, found, n);
	if (first)
		status = read_context(found->trace, first, &context);
	if (first && status >= 0)
		put_context_text(out, found, &context, first);
	return status;
}

static void put_json_name(struct base_output *out, const char *member, const char *name)
{
	char *at;

	base_output_format(out, "\"%s\":", member);
	at = base_output_line(out);
	base_output_done(out, base_json_string(at, name, strlen(name)));
}

void violations_put_json(struct base_output *out, const struct violations *found,
			 const struct check_violation *violation, bool first)
{
	char time[STATS_TIME];

	base_output_text(out, first ? "{" : ",\n{");
	put_json_name(out, "rule", found->rules->rule[violation->rule].name);
	base_output_format(out, ",\"time\":%s,\"cpu\":%" PRIu32 ",\"thread\":%" PRIu32 ",\"overdue\":%s",
			   stats_time(found->trace, violation->stamp, time), violation->cpu,
			   violation->thread, violation->number || violation->in_state ? "false" : "true");
	if (violation->in_state)
		base_output_format(out, ",\"pc\":\"0x%" PRIx64 "\"", violation->pc);
	if (violation->object)
		base_output_format(out, ",\"lock\":\"0x%" PRIx64 "\"", violation->object);
	if (violation->count)
		base_output_format(out, ",\"count\":%" PRIu64, violation->count);
	if (violation->has_cause)
		base_output_format(out, ",\"since\":{\"time\":%s,\"cpu\":%" PRIu32 ",\"thread\":%" PRIu32 "}",
				   stats_time(found->trace, violation->cause_stamp, time),
				   violation->cause_cpu, violation->cause_thread);
	base_output_text(out, "}");
}

static void put_rule_json(struct base_output *out, const struct violations *found, uint32_t n)
{
	const struct rule *rule = &found->rules->rule[n];
	const struct check_result *result = &found->result[n];

	base_output_text(out, "{");
	put_json_name(out, "name", rule->name);
	base_output_format(out, ",\"line\":%" PRIu32 ",\"checked\":%s", rule->line,
			   rule->checked ? "true" : "false");
	if (!rule->checked) {
		base_output_text(out, ",");
		put_json_name(out, "why", rule->why);
	}
	base_output_format(out,
			   ",\"held\":%" PRIu64 ",\"violated\":%" PRIu64 ",\"undecided\":%" PRIu64
			   ",\"left_out\":%" PRIu64,
			   result->held, result->violated,
			   result->undecided + result->unknown + result->unordered, result->left_out);
	if (result->uncertain)
		base_output_format(out, ",\"uncertain\":%" PRIu64, result->uncertain);
	if (result->violated) {
		base_output_text(out, ",\"first\":");
		violations_put_json(out, found, &result->first, true);
	}
	base_output_text(out, "}");
}

static void put_context_json(struct base_output *out, const struct context *context)
{
	uint64_t from = context->count > CONTEXT ? context->count - CONTEXT : 0;

	base_output_text(out, ",\n\"before\":[");
	for (uint64_t n = from; n < context->count; n++) {
		const struct context_line *line = &context->line[n % CONTEXT];

		base_output_format(out, "%s{\"time\":%s,\"cpu\":%" PRIu32 ",\"thread\":%" PRIu32 ",",
				   n == from ? "" : ",\n", line->time, line->cpu, line->thread);
		put_json_name(out, "event", line->name);
		base_output_text(out, ",");
		put_json_name(out, "text", line->text);
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
	base_output_text(out, "]");
	if (first)
		status = read_context(found->trace, first, &context);
	if (first && status >= 0)
		put_context_json(out, &context);
	return status;
}
