/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ktrace life: prints the history of one object. If the object's id was used again for a new object, divides
 * the history there.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/event_name.h"
#include "base/json.h"
#include "cmd/command.h"
#include "cmd/terminal.h"
#include "cmd/trace_args.h"
#include "export/views.h"
#include "export/timeline.h"
#include "ktrx/v2.h"

#define EXPRESSION_MOST 1024u
#define FIELDS_MOST	64u
#define TEXT_MOST	2048u /* maximum number of bytes of an event's text in JSON */
#define OFF_NAMED	3u    /* maximum number of events that are off and are named */

/*
 * A kind of object: the events and fields that identify such an object, and the events that begin and end its
 * life.
 */
struct kind {
	const char *name;
	const char *events;	   /* pattern of the events that concern such an object */
	const char *fields;	   /* names of the fields that identify the object, separated by spaces */
	const char *begins, *ends; /* last parts of the names of events, separated by spaces */
};

static const struct kind kinds[] = {
	{ "thread", "sched.*", "thread prev next", "create", "exit" },
	{ "process", "*", "process child pid", "fork", "exit" },
	{ "lock", "*", "lock", "create init", "destroy free" },
	{ "page", "*", "page pfn frame", "alloc create", "free release" },
	{ "file", "*", "file", "open create", "close" },
	{ "space", "*", "space asid mm", "create alloc new", "destroy free exit" },
	{ "packet", "*", "packet skb mbuf", "alloc", "free drop" },
	{ "socket", "*", "socket", "socket create", "close" },
};
/* The kind that is used for an object given as FIELD=VALUE. */
static const struct kind any_kind = { "field", "*", "", "create alloc new", "exit free destroy delete" };

struct life {
	struct trace_args args;
	bool json;
	const struct kind *kind;
	uint64_t id;
	char expression[EXPRESSION_MOST];
	/*
	 * names of the fields that identify the object in events of any group; "": only well-known events do
	 */
	char matched[FIELDS_MOST];
	struct base_output out;
	struct ktread *trace;
	struct timeline timeline;
	struct timeline_writer *writer;
	uint64_t *seen; /* for each ring: timestamp of its last event; 0: it had none */
	/* number of slots that were lost since the last event of the object, and the time of the loss */
	uint64_t lost, lost_from, lost_to;
	/* The current life of the object. */
	uint64_t lives, events;
	/* `ended`: an event has ended the life; `begins_now`: the last event has begun it */
	bool ended, begins_now;
	/* number of lives; computed when the trace is read for the first time, needed the second time */
	uint64_t total;
};

#define AT(member) .to = offsetof(struct life, member)
static const struct option_row rows[] = {
	{ "json", 0, NULL, "print one JSON object per event", options_set_flag, AT(json) },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace life [OPTION]... KIND ID [FILE]\n"
		 "ktrace life [OPTION]... FIELD=VALUE [FILE]",
	.about = "Prints each event that concerns one object, in order of time. A new life of the object "
		 "begins when it is created, and when its id is used again after it was destroyed. KIND is "
		 "thread, process, lock, page, file, space (address space), packet or socket. FIELD=VALUE "
		 "is for any other object.",
	.lists = { rows, budget_list_options, trace_file_options, trace_machine_options, trace_layout_options,
		   trace_calls_options, terminal_options },
	.end = "Examples:\n"
	       "  ktrace life thread 12 boot.ktrx\n"
	       "  ktrace life lock 0xffff800000123400 boot.ktrx\n"
	       "  ktrace life inode=5 boot.ktrx\n",
};

/* ---- Selecting the object's events ---- */

static bool has_word(const char *words, const char *word, size_t length)
{
	for (size_t n; *words; words += n + (words[n] != '\0')) {
		n = strcspn(words, " ");
		if (n == length && memcmp(words, word, n) == 0)
			return true;
	}
	return false;
}

/*
 * Returns whether at least one event selected by the kind's pattern has the field. If no event has it, a
 * filter with this field would be an error.
 */
static bool is_declared(struct ktread *trace, const char *events, const char *field, size_t length)
{
	char text[EXPRESSION_MOST];
	struct filter_error error;
	struct filter *filter;
	bool declared;

	snprintf(text, sizeof(text), "has(%s.%.*s)", events, (int)length, field);
	declared = filter_parse(&filter, text, &error) == 0 && filter_bind(filter, trace, &error) == 0;
	filter_free(filter);
	return declared;
}

/*
 * Adds the events sched.* that the thread itself recorded and that name no thread: sched.exit and sched.block
 * may have no fields.
 */
static void add_bare_events(struct life *life, size_t used)
{
	static const char *const fields[] = { "prev", "thread" };

	used += (size_t)snprintf(life->expression + used, sizeof(life->expression) - used,
				 " or event ~ \"sched.*\" and thread == %" PRIu64, life->id);
	for (size_t n = 0; n < sizeof(fields) / sizeof(fields[0]); n++)
		if (is_declared(life->trace, "sched.*", fields[n], strlen(fields[n])))
			used += (size_t)snprintf(life->expression + used, sizeof(life->expression) - used,
						 " and not has(sched.*.%s)", fields[n]);
}

/*
 * Writes the expression that selects the object's events. Uses only fields that the trace declares. Returns 0
 * or EXIT_USAGE.
 */
static int make_expression(struct life *life)
{
	const struct kind *kind = life->kind;
	size_t used = 0;

	for (const char *field = kind->fields, *end; *field; field = *end ? end + 1 : end) {
		end = field + strcspn(field, " ");
		if (!is_declared(life->trace, kind->events, field, (size_t)(end - field)))
			continue;
		used += (size_t)snprintf(life->expression + used, sizeof(life->expression) - used,
					 "%s%s.%.*s == %" PRIu64, used ? " or " : "", kind->events,
					 (int)(end - field), field, life->id);
		if (kind->events[0] == '*')
			snprintf(life->matched + strlen(life->matched),
				 sizeof(life->matched) - strlen(life->matched), "%s%.*s",
				 *life->matched ? ", " : "", (int)(end - field), field);
	}
	if (used && strcmp(kind->name, "thread") == 0)
		add_bare_events(life, used);
	if (used)
		return 0;
	command_message(life->args.name, "%s: no event has a field for a %s: %s (use FIELD=VALUE)",
			life->args.path, kind->name, kind->fields);
	return EXIT_USAGE;
}

/* Parses KIND ID or FIELD=VALUE, and the file. Returns 0 or EXIT_USAGE. */
static int take_words(struct life *life, int argc, char **argv)
{
	const char *equals = optind < argc ? strchr(argv[optind], '=') : NULL;
	int words = equals ? 1 : 2;
	uint64_t number;

	if (argc - optind < words)
		return options_refuse(&life->args.line, "expected KIND ID or FIELD=VALUE");
	if (argc - optind > words + 1)
		return options_refuse(&life->args.line, "only one file can be given");
	if (equals) {
		const bool is_number =
			trace_parse_number(equals + 1, UINT64_MAX, &number) == 0 || equals[1] == '-';

		life->kind = &any_kind;
		snprintf(life->expression, sizeof(life->expression),
			 is_number ? "*.%.*s == %s" : "*.%.*s == \"%s\"", (int)(equals - argv[optind]),
			 argv[optind], equals + 1);
	} else {
		for (size_t n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++)
			if (strcmp(kinds[n].name, argv[optind]) == 0)
				life->kind = &kinds[n];
		if (!life->kind)
			return command_bad_value(
				life->args.name, "KIND", argv[optind],
				"thread, process, lock, page, file, space, packet or socket");
		if (trace_parse_number(argv[optind + 1], UINT64_MAX, &life->id))
			return command_bad_value(life->args.name, "ID", argv[optind + 1], "a number");
	}
	if (argc - optind == words + 1)
		life->args.path = trace_input(argv[argc - 1]);
	else if (access(TRACE_USUAL_FILE, F_OK) == 0)
		life->args.path = TRACE_USUAL_FILE;
	if (life->args.path && !*life->args.path)
		return options_refuse(&life->args.line, OPTIONS_NO_NAME);
	if (life->args.path)
		return 0;
	return options_refuse(&life->args.line,
			      "no file given, and this directory contains no " TRACE_USUAL_FILE);
}

/* ---- Dividing the events into lives ---- */

/* Returns whether one of the event's fields has this number as its value. */
static bool has_id(const struct life *life, const struct ktread_event *event, const char *field)
{
	struct ktread_value value;

	return ktread_value_named(event, field, &value) == 0 && value.type != KTRX_TYPE_STRING &&
	       value.number == life->id;
}

static bool has_field(const struct ktread_event *event, const char *field)
{
	for (uint32_t n = 0; n < event->type->fields; n++)
		if (strcmp(event->type->field[n].name, field) == 0)
			return true;
	return false;
}

static bool is_begin(const struct life *life, const struct ktread_event *event)
{
	/*
	 * in an event with a field `child`, this field identifies the new process, and the other ids in the
	 * event are those of the parent
	 */
	return has_word(life->kind->begins, event->type->name, strlen(event->type->name)) &&
	       (!has_field(event, "child") || has_id(life, event, "child"));
}

/* Processes an event of the object. Returns whether a new life begins with this event. */
static bool step(struct life *life, const struct ktread_event *event)
{
	const bool begins = is_begin(life, event);
	/* a thread's last switch comes after its sched.exit */
	const bool leaves = life->ended && has_field(event, "prev") && has_id(life, event, "prev");
	const bool is_new = life->lives == 0 || (life->ended && !leaves) || (begins && !life->begins_now);

	if (is_new) {
		life->lives++;
		life->events = 0;
		life->ended = false;
	}
	life->begins_now = begins;
	life->ended |= has_word(life->kind->ends, event->type->name, strlen(event->type->name));
	life->events++;
	return is_new;
}

/* Counts the slots of any ring that were lost before an event. */
static void see_losses(struct life *life, const struct ktread_event *event)
{
	const uint64_t from = life->seen[event->ring];

	if (event->lost) {
		if (life->lost == 0 || from < life->lost_from)
			life->lost_from = from;
		life->lost_to = event->stamp;
		life->lost += event->lost;
	}
	life->seen[event->ring] = event->stamp;
}

/* ---- Output of the lives ---- */

static void put_losses(struct life *life)
{
	struct base_output *out = &life->out;
	char from[STATS_TIME], to[STATS_TIME];

	if (life->lost == 0)
		return;
	stats_time(life->trace, life->lost_from, from);
	stats_time(life->trace, life->lost_to, to);
	if (life->json) {
		base_output_text(out, "{");
		base_json_put_number(out, "lost", life->lost);
		base_json_put_format(out, "from", "%s", life->lost_from ? from : "null");
		base_json_put_format(out, "to", "%s", to);
		base_output_text(out, "}\n");
	} else if (life->lost_from) {
		base_output_format(
			out, "--- between %s and %s, %" PRIu64 " slot%s lost; what happened is unknown ---\n",
			from, to, life->lost, life->lost == 1 ? " was" : "s were");
	} else {
		base_output_format(out,
				   "--- before %s, %" PRIu64 " slot%s lost; what happened is unknown ---\n",
				   to, life->lost, life->lost == 1 ? " was" : "s were");
	}
	life->lost = 0;
}

static void put_json(struct life *life, const struct ktread_event *event)
{
	struct base_output *out = &life->out;
	char text[TEXT_MOST], name[2 * BASE_JSON_NAME];

	base_output_text(out, "{");
	base_json_put_number(out, "life", life->lives);
	base_json_put_number(out, "lives", life->total);
	base_json_put_format(out, "time", "%s", stats_time(life->trace, event->stamp, text));
	base_json_put_format(out, "id", "\"%" PRIu32 ".%" PRIu64 "\"", event->ring, event->index);
	base_json_put_known(out, "cpu", event->cpu != KTRX_NO_CPU, event->cpu);
	base_json_put_known(out, "thread", event->thread != KTREAD_NO_THREAD, event->thread);
	snprintf(name, sizeof(name), "%.60s%s%.60s", event->type->group, *event->type->group ? "." : "",
		 event->type->name);
	base_json_put_text(out, "event", name);
	ktread_format(event, text, sizeof(text));
	base_json_put_text(out, "text", text);
	base_output_text(out, "}\n");
}

static void put_event(struct life *life, const struct ktread_event *event, bool is_new)
{
	put_losses(life);
	if (life->json) {
		put_json(life, event);
		return;
	}
	if (is_new)
		base_output_format(&life->out, "%slife %" PRIu64 " of %" PRIu64 ": %s\n",
				   life->lives > 1 ? "\n" : "", life->lives, life->total,
				   life->begins_now ? "from its beginning" : "its beginning is not recorded");
	timeline_writer_event(life->writer, event);
}

/* Reads the trace. If `prints` is false, only counts the lives. Returns the result of ktread_next(). */
static int read_lives(struct life *life, bool prints)
{
	const struct ktread_event *event;
	int status;

	life->lives = life->events = life->lost = 0;
	life->ended = life->begins_now = false;
	while ((status = ktread_next(life->trace, &event)) > 0 && !life->out.error) {
		bool is_new;

		see_losses(life, event);
		if (!filter_accepts(life->args.filter, event))
			continue;
		is_new = step(life, event);
		if (prints)
			put_event(life, event, is_new);
	}
	if (prints)
		put_losses(life);
	return status;
}

/*
 * Prints a note that every event with a field of this name was selected, because the name may mean something
 * else in some events.
 */
static void put_matched(struct life *life)
{
	if (!*life->matched)
		return;
	if (life->json) {
		base_output_text(&life->out, "{");
		base_json_put_text(&life->out, "matched_by", life->matched);
		base_output_text(&life->out, "}\n");
	} else {
		base_output_format(&life->out, "matched by field name: %s\n", life->matched);
	}
}

/* Returns whether the event was off even while recording was not stopped. */
static bool is_off(const struct ktread_type *type)
{
	return !((type->wanted | type->state) & KTRX_STATE_RECORD);
}

/* Returns whether the event concerns objects of this kind: one of its fields identifies them. */
static bool names_kind(const struct ktread_type *type, const struct kind *kind)
{
	const size_t group = strcspn(kind->events, ".*");

	if (group && (strlen(type->group) != group || memcmp(type->group, kind->events, group) != 0))
		return false;
	for (unsigned n = 0; n < type->fields; n++)
		if (has_word(kind->fields, type->field[n].name, strlen(type->field[n].name)))
			return true;
	return false;
}

/* Reports that no event concerns the object, and which events that could do so are off. */
static void say_nothing(const struct life *life)
{
	char names[OFF_NAMED * (ANALYZE_EVENT_NAME_MOST + 2) + 1] = "", *at = names;
	uint32_t named = 0;

	for (uint32_t id = 1; id <= ktread_info(life->trace)->types && named < OFF_NAMED; id++) {
		const struct ktread_type *type = ktread_type(life->trace, id);
		char name[ANALYZE_EVENT_NAME_MOST + 1];

		if (!type || !is_off(type) || !names_kind(type, life->kind))
			continue;
		*analyze_event_name_put(name, type) = '\0';
		if (!strstr(names, name)) /* several events may have one name */
			at += sprintf(at, "%s%s", named++ ? ", " : "", name);
	}
	if (named)
		command_message(
			life->args.name,
			"%s: no event concerns this object; events of a %s are off in this trace, such as %s",
			life->args.path, life->kind->name, names);
	else
		command_message(life->args.name, "%s: no event concerns this object", life->args.path);
}

/* Counts the lives, then prints them. */
static int print_lives(struct life *life)
{
	const size_t rings = ktread_info(life->trace)->rings;
	int status;

	life->timeline = (struct timeline){ .trace = life->trace, .out = &life->out };
	timeline_begin(&life->timeline);
	life->writer = timeline_writer_open(&life->timeline);
	life->seen = calloc(rings + 1, sizeof(*life->seen));
	if (!life->writer || !life->seen)
		return KTREAD_E_MEMORY;
	status = read_lives(life, false);
	if (status < 0)
		return status;
	life->total = life->lives;
	if (life->total == 0)
		say_nothing(life);
	else
		put_matched(life);
	memset(life->seen, 0, rings * sizeof(*life->seen));
	status = ktread_rewind(life->trace);
	return status ? status : read_lives(life, true);
}

/* Checks that at least one event has the field of FIELD=VALUE. Returns 0 or EXIT_USAGE. */
static int check_field(const struct life *life)
{
	const char *field = life->expression + strlen("*.");
	const size_t length = strcspn(field, " ");

	if (is_declared(life->trace, "*", field, length))
		return 0;
	command_message(life->args.name, "%s: no event has a field '%.*s'", life->args.path,
			length < 64 ? (int)length : 64, field);
	return EXIT_USAGE;
}

static int run_open(struct life *life)
{
	int status = life->kind == &any_kind ? check_field(life) : make_expression(life);

	life->args.where = life->expression;
	if (!status)
		status = trace_where_open(&life->args);
	if (!status)
		status = trace_where_bind(life->args.name, life->args.where, life->args.filter, life->trace);
	if (status || base_output_open(&life->out, STDOUT_FILENO) < 0) {
		trace_args_close(&life->args, life->trace, 0);
		return status ? status : EXIT_BAD_INPUT;
	}
	if (!life->json)
		terminal_prepare(&life->out, true);
	base_output_schema(&life->out, life->json ? "ktrace-life/1" : NULL);
	progress_start(life->args.name, life->trace, &life->out);
	status = print_lives(life);
	if (life->writer)
		timeline_writer_close(life->writer);
	free(life->seen);
	status = trace_args_close(&life->args, life->trace, status);
	return trace_output_status(life->args.name, "standard output", base_output_close(&life->out)) |
	       status;
}

static int run_life(int argc, char **argv)
{
	struct life *life = calloc(1, sizeof(*life));
	int status;

	if (!life) {
		command_message(argv[0], "out of memory");
		return EXIT_BAD_INPUT;
	}
	life->args = (struct trace_args){ TRACE_ARGS(&syntax, argv[0]) };
	life->args.line.to = life;
	status = options_parse(&life->args.line, argc, argv);
	if (status < 0)
		status = budget_begin(life->args.name);
	if (status < 0) {
		status = take_words(life, argc, argv);
		if (!status)
			status = trace_args_open(&life->args, &life->trace);
		if (!status)
			status = run_open(life);
	}
	free(life);
	return status;
}

const struct command command_life = {
	.name = "life",
	.purpose = "show the history of one object: a thread, a lock, a file, a page",
	.run = run_life,
};
