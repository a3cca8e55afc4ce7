/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace stats: prints durations, values of fields, and how often events occur. */
#include "export/views.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/event_name.h"
#include "analyze/histogram.h"
#include "analyze/note.h"
#include "base/escape.h"
#include "cmd/command.h"
#include "cmd/terminal.h"
#include "cmd/trace_args.h"
#include "ktrx/v2.h"

#define TITLE_MAX	 512u
#define DEFAULT_INTERVAL "10ms"
/* interval of --rate, in ticks, that is used if the frequency is unknown */
#define DEFAULT_TICKS "10000000"

struct stats_command {
	struct trace_args args;
	const char *begin, *end, *by, *value, *interval, *svg;
	bool rate, json, subtract;
	uint64_t worst; /* value of --worst; 0: the option was not given */
	unsigned of;	/* value of --of, as an index in `kinds` */
	char *keys;	/* copy of `by` (the value of --by), split into words */
	char title[TITLE_MAX];
};

#define AT(member) .to = offsetof(struct stats_command, member)
static const struct option_row rows[] = {
	{ "begin", 0, "PATTERNS", "measure from events that match PATTERNS, which are given as for --event",
	  options_set_text, AT(begin) },
	{ "end", 0, "PATTERNS", "measure to events that match PATTERNS", options_set_text, AT(end) },
	{ "by", 0, "KEYS",
	  "pair events that have the same value of KEYS: thread, cpu, a FIELD of both events, or "
	  "BEGIN=END for fields of different names; separate several by commas (default: the "
	  "thread; in interrupts, the CPU)",
	  options_set_text, AT(by) },
	{ "value", 0, "EVENT.FIELD", "print the distribution of the values of a field", options_set_text,
	  AT(value) },
	{ "worst", 0, "N", "print the N longest durations, and for each what the thread did or waited for",
	  options_set_number, AT(worst), .least = 1, .most = WORST_MOST },
	{ "of", 0, "syscall|fault|lock-wait|lock-held|run-queue",
	  "choose the kind of durations for --worst (syscall)", options_set_choice, AT(of) },
	{ "rate", 0, NULL, "print the number of events per interval and CPU; with --event, of these events",
	  options_set_flag, AT(rate) },
	{ "interval", 0, "TIME", "set the length of the intervals of --rate (10ms)", options_set_text,
	  AT(interval) },
	{ "svg", 0, "OUT", "draw the histogram as SVG into OUT", options_set_text, AT(svg) },
	{ "subtract-cost", 0, NULL, "subtract from each duration the cost of recording the events within it",
	  options_set_flag, AT(subtract) },
	{ "json", 0, NULL, "print JSON instead of text", options_set_flag, AT(json) },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace stats [OPTION]... [FILE]\n"
		 "ktrace stats --begin PATTERNS --end PATTERNS [--by KEYS] [--svg OUT] [OPTION]... [FILE]\n"
		 "ktrace stats --value EVENT.FIELD [--svg OUT] [OPTION]... [FILE]\n"
		 "ktrace stats --worst N [--of KIND] [OPTION]... [FILE]\n"
		 "ktrace stats --rate [--interval TIME] [OPTION]... [FILE]",
	.about = "Without options, shows a table of the durations of system calls, interrupts, faults, "
		 "locks and run queues. With options, shows the time between two events of your choice, "
		 "the distribution of a field's values, or the rate of events.",
	.lists = { rows, budget_options, trace_thread_options, trace_event_options, trace_where_options,
		   trace_file_options, trace_machine_options, trace_layout_options, trace_calls_options,
		   terminal_options },
	.end = "Examples:\n"
	       "  ktrace stats boot.ktrx\n"
	       "  ktrace stats --begin sched.wake --end sched.switch --by thread=next boot.ktrx\n"
	       "  ktrace stats --worst 3 --of lock-wait boot.ktrx\n"
	       "  ktrace stats --value syscall.exit.result boot.ktrx\n"
	       "  ktrace stats --rate --interval 100ms --event irq.enter boot.ktrx\n",
};

/* Checks that the options are compatible. Returns 0 or EXIT_USAGE. */
static int check_command(const struct stats_command *stats)
{
	const char *why = NULL;

	if (!stats->begin != !stats->end)
		why = "--begin and --end must be given together";
	else if (stats->by && !stats->begin)
		why = "--by needs --begin and --end";
	else if (stats->interval && !stats->rate)
		why = "--interval needs --rate";
	else if ((stats->begin != NULL) + (stats->value != NULL) + (stats->worst != 0) + stats->rate > 1)
		why = "only one of --begin with --end, --value, --worst and --rate can be given";
	else if (!stats->worst && options_given(&stats->args.line, "of"))
		why = "--of needs --worst";
	else if (stats->subtract && (stats->value || stats->rate || stats->worst))
		why = "--subtract-cost is for durations: "
		      "it cannot be combined with --value, --worst or --rate";
	else if (stats->svg && !stats->begin && !stats->value)
		why = "--svg draws one histogram: it needs --begin and --end, or --value";
	return why ? options_refuse(&stats->args.line, why) : 0;
}

static bool has_field(const struct ktread_type *type, const char *field)
{
	for (uint32_t n = 0; n < type->fields; n++)
		if (strcmp(type->field[n].name, field) == 0)
			return true;
	return false;
}

/*
 * Checks that every event in the bit map `map` has the field or, if `any` is set, that at least one of them
 * has it. Returns 0 or EXIT_USAGE.
 */
static int check_field(const struct stats_command *stats, const struct ktread *trace, const uint8_t *map,
		       const char *field, bool any)
{
	const struct ktread_type *lacks = NULL;
	char name[ANALYZE_EVENT_NAME_MOST + 1], list[2 * ANALYZE_EVENT_NAME_MOST + 1], *end = list;

	for (uint32_t id = 0; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(trace, id);

		if (!type || !(map[id / 8] >> id % 8 & 1))
			continue;
		if (!has_field(type, field))
			lacks = type;
		else if (any)
			return 0;
	}
	if (!lacks)
		return 0;
	*analyze_event_name_put(name, lacks) = '\0';
	for (uint32_t n = 0; n < lacks->fields; n++) {
		const char *has = lacks->field[n].name;

		if ((size_t)(list + sizeof(list) - end) < ANALYZE_EVENT_NAME_MOST + sizeof(", ..., ")) {
			end = stpcpy(end, ", ...");
			break;
		}
		end = base_escape_text(stpcpy(end, n ? ", " : ""), has, strlen(has), ANALYZE_EVENT_NAME_MOST);
	}
	*end = '\0';
	command_message(stats->args.name, "%s has no field '%s'; %s%s", name, field,
			lacks->fields ? "its fields are: " : "it has no fields", list);
	return EXIT_USAGE;
}

static int parse_key(struct stats_command *stats, const struct ktread *trace, struct pairs_rule *rule,
		     char *word)
{
	struct pairs_key *key = &rule->key[rule->keys];
	char *equals = strchr(word, '=');
	int status;

	if (*word == '\0' || rule->keys == PAIRS_KEYS)
		return command_bad_value(stats->args.name, "--by", stats->by,
					 "up to 4 keys, none of them empty");
	rule->keys++;
	key->by = strcmp(word, "thread") == 0 ? PAIRS_BY_THREAD
		  : strcmp(word, "cpu") == 0  ? PAIRS_BY_CPU
					      : PAIRS_BY_FIELD;
	if (key->by != PAIRS_BY_FIELD)
		return 0;
	if (equals)
		*equals = '\0';
	key->begin_field = word;
	key->end_field = equals ? equals + 1 : word;
	status = check_field(stats, trace, rule->begins, key->begin_field, false);
	return status ? status : check_field(stats, trace, rule->ends, key->end_field, false);
}

/* Makes the rule for pairs of events from --begin, --end and --by. Returns 0 or an exit status. */
static int make_rule(struct stats_command *stats, struct ktread *trace, struct pairs_rule *rule)
{
	int status = trace_mark_events(&stats->args, trace, stats->begin, rule->begins);
	char *rest, *word;

	if (!status)
		status = trace_mark_events(&stats->args, trace, stats->end, rule->ends);
	if (status)
		return status;
	snprintf(stats->title, sizeof(stats->title), "%s to %s, by %s", stats->begin, stats->end,
		 stats->by ? stats->by : "thread or CPU");
	if (!stats->by) {
		rule->key[0].by = PAIRS_BY_OWNER;
		rule->keys = 1;
		return 0;
	}
	rest = stats->keys = strdup(stats->by);
	if (!rest) {
		command_message(stats->args.name, "out of memory");
		return EXIT_BAD_INPUT;
	}
	while (!status && (word = strsep(&rest, ",")))
		status = parse_key(stats, trace, rule, word);
	return status;
}

/* Writes the picture if the user has asked for one. Returns an exit status. */
static int write_picture(const struct stats_command *stats, const struct stats *figures)
{
	struct base_output out;
	int fd;

	if (!stats->svg)
		return 0;
	fd = output_file_open(&stats->args, stats->svg);
	if (fd < 0)
		return EXIT_BAD_INPUT;
	if (base_output_open(&out, fd) < 0)
		return output_file_close(&stats->args, stats->svg, fd, ENOMEM);
	stats_write_svg(&out, figures);
	return output_file_close(&stats->args, stats->svg, fd, base_output_close(&out));
}

/* Writes the results, even if the trace could not be read to its end. */
static int write_figures(struct stats_command *stats, struct base_output *out, const struct stats *figures)
{
	if (stats->json)
		stats_write_json(out, figures);
	else if (!stats->svg || strcmp(stats->svg, "-") != 0)
		stats_write_text(out, figures);
	return write_picture(stats, figures);
}

/*
 * Each function show_…() returns the result of reading the trace. If something else fails, it stores an exit
 * status in `exit_status`.
 */
static int show_pairs(struct stats_command *stats, struct ktread *trace, struct base_output *out,
		      int *exit_status)
{
	struct pairs_rule rule = { .cost = stats->subtract ? cost_of(trace) : 0 };
	struct stats figures = { .trace = trace, .title = stats->title };
	struct pairs *pairs = NULL;
	int status = 0;

	*exit_status = make_rule(stats, trace, &rule);
	if (!*exit_status)
		status = pairs_read(&pairs, trace, &rule);
	if (pairs) {
		figures.pairs = pairs_result(pairs);
		figures.distribution =
			distribution_of_ticks(&pairs_result(pairs)->ticks, ktread_info(trace)->frequency);
		*exit_status = write_figures(stats, out, &figures);
	}
	pairs_free(pairs);
	return status;
}

/* Returns the unit of the first field with that name; "" if there is none. */
static const char *unit_of(const struct ktread *trace, const uint8_t *map, const char *field)
{
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(trace, id);

		for (uint32_t n = 0; type && (map[id / 8] >> id % 8 & 1) && n < type->fields; n++)
			if (strcmp(type->field[n].name, field) == 0)
				return type->field[n].unit;
	}
	return "";
}

/* Checks that the field is a number in at least one event. Returns 0 or EXIT_USAGE. */
static int check_numbers(const struct stats_command *stats, const struct ktread *trace, const uint8_t *map,
			 const char *field)
{
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(trace, id);

		for (uint32_t n = 0; type && (map[id / 8] >> id % 8 & 1) && n < type->fields; n++)
			if (type->field[n].type != KTRX_TYPE_STRING &&
			    strcmp(type->field[n].name, field) == 0)
				return 0;
	}
	command_message(stats->args.name, "--value: %s is a string: only numbers have a distribution",
			stats->value);
	return EXIT_USAGE;
}

static int show_values(struct stats_command *stats, struct ktread *trace, struct base_output *out,
		       int *exit_status)
{
	uint8_t map[(KTRX_EVENT_MAX + 1) / 8] = { 0 };
	struct values values = { .missing = 0 };
	struct stats figures = { .trace = trace, .title = stats->value };
	char *event = strdup(stats->value), *dot = event ? strrchr(event, '.') : NULL;
	int status = event ? 0 : KTREAD_E_MEMORY;

	if (!dot || dot == event || dot[1] == '\0') {
		*exit_status = command_bad_value(stats->args.name, "--value", stats->value, "EVENT.FIELD");
		free(event);
		return status;
	}
	*dot = '\0';
	*exit_status = trace_mark_events(&stats->args, trace, event, map);
	if (!*exit_status)
		*exit_status = check_field(stats, trace, map, dot + 1, true);
	if (!*exit_status)
		*exit_status = check_numbers(stats, trace, map, dot + 1);
	if (!*exit_status) {
		status = values_read(&values, trace, map, dot + 1);
		figures.missing = values.missing;
		figures.distribution = (struct distribution){ .values = &values.positive,
							      .negative = &values.negative,
							      .unit = unit_of(trace, map, dot + 1) };
		*exit_status = write_figures(stats, out, &figures);
	}
	values_free(&values);
	free(event);
	return status;
}

static int show_table(struct stats_command *stats, struct ktread *trace, struct base_output *out,
		      int *exit_status)
{
	struct stats_table table = { .trace = trace };
	int status = latencies_read(&table.latencies, trace, stats->subtract ? cost_of(trace) : 0);

	*exit_status = 0;
	if (!table.latencies)
		return status;
	if (stats->json)
		stats_table_write_json(out, &table);
	else
		stats_table_write_text(out, &table);
	latencies_free(table.latencies);
	return status;
}

static int show_worst(struct stats_command *stats, struct ktread *trace, struct base_output *out,
		      int *exit_status)
{
	static const enum latencies_kind kinds[] = { LATENCIES_SYSCALL, LATENCIES_FAULT, LATENCIES_LOCK_WAIT,
						     LATENCIES_LOCK_HELD, LATENCIES_RUN_QUEUE };
	struct worst *worst;
	int status = worst_read(&worst, trace, kinds[stats->of], (uint32_t)stats->worst);

	*exit_status = 0;
	if (worst && worst_is_cut(worst))
		command_message(stats->args.name, "%s: too many events in this time: some causes are unknown",
				stats->args.path);
	if (worst && !worst_at(worst, 0))
		command_message(stats->args.name, "%s: no duration of this kind; --of selects another kind",
				stats->args.path);
	if (worst && stats->json)
		stats_worst_write_json(out, trace, worst);
	else if (worst)
		stats_worst_write_text(out, trace, worst);
	worst_free(worst);
	return status;
}

static int show_rates(struct stats_command *stats, struct ktread *trace, struct base_output *out,
		      int *exit_status)
{
	struct rates_options options = { .json = stats->json };
	uint64_t frequency = ktread_info(trace)->frequency;
	const char *interval = stats->interval;

	if (!interval)
		interval = frequency ? DEFAULT_INTERVAL : DEFAULT_TICKS;
	*exit_status = 0;
	if (trace_parse_ticks(interval, frequency, TRACE_MOMENT, &options.interval) ||
	    options.interval == 0) {
		*exit_status = trace_bad_time(stats->args.name, "--interval", interval, frequency);
		return 0;
	}
	return rates_write(out, trace, &options);
}

static int run_stats(int argc, char **argv)
{
	struct stats_command stats = { .args = { TRACE_ARGS(&syntax, argv[0]), .shows_calls = true } };
	struct ktread *trace;
	struct base_output out;
	int status = trace_args_parse(&stats.args, argc, argv), failed, error;

	if (status >= 0)
		return status;
	status = check_command(&stats);
	if (!status)
		status = trace_args_open(&stats.args, &trace);
	if (status)
		return status;
	if (stats.subtract)
		trace_warn_of_cost(&stats.args, trace);
	if (base_output_open(&out, STDOUT_FILENO) < 0) {
		command_message(stats.args.name, "out of memory");
		return trace_args_close(&stats.args, trace, 0) | EXIT_BAD_INPUT;
	}
	if (!stats.json)
		terminal_prepare(&out, true);
	base_output_schema(&out, stats.json ? "ktrace-stats/1" : NULL);
	progress_start(stats.args.name, trace, &out);
	status = stats.begin   ? show_pairs(&stats, trace, &out, &failed)
		 : stats.value ? show_values(&stats, trace, &out, &failed)
		 : stats.worst ? show_worst(&stats, trace, &out, &failed)
		 : stats.rate  ? show_rates(&stats, trace, &out, &failed)
			       : show_table(&stats, trace, &out, &failed);
	free(stats.keys);
	error = base_output_close(&out);
	status = trace_args_close(&stats.args, trace, status);
	status = trace_output_status(stats.args.name, "standard output", error) | status;
	return failed ? failed : status;
}

const struct command command_stats = {
	.name = "stats",
	.purpose = "show durations, values and rates: percentiles and histograms",
	.run = run_stats,
};
