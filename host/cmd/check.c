/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace check: checks a trace against rules. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/note.h"
#include "analyze/order.h"
#include "base/escape.h"
#include "cmd/command.h"
#include "cmd/terminal.h"
#include "cmd/trace_args.h"
#include "export/views.h"

#define EXIT_VIOLATED 1
/* exit status if the trace is unreadable or the output cannot be written */
#define EXIT_UNREADABLE 3
/* path of the rules, relative to the program's directory */
#define DEFAULT_RULES "/../share/ktrace/default.rules"

/* Finds the file with the rules that every kernel must obey. Returns 0, or -1 after a message. */
static int default_rules_path(const char *name, char path[PATH_MAX])
{
	char self[PATH_MAX], *slash;

	command_self(self);
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	if (slash && snprintf(path, PATH_MAX, "%s" DEFAULT_RULES, self) < PATH_MAX)
		return 0;
	command_message(name, "the default rules cannot be found: the program's own path is unknown");
	return -1;
}

/* Returns the text of a rule file, which the caller frees; NULL after a message. */
static char *rules_read(const char *name, const char *path, size_t *length)
{
	FILE *file = fopen(path, "re");
	char *text = file ? malloc(RULES_TEXT_MAX + 1) : NULL;

	if (text)
		*length = fread(text, 1, RULES_TEXT_MAX + 1, file);
	if (!text || ferror(file)) {
		command_message(name, "%s: %s", path, strerror(errno));
		free(text);
		text = NULL;
	} else if (*length > RULES_TEXT_MAX) {
		command_message(name, "%s: larger than 1 MiB: not a file of rules", path);
		free(text);
		text = NULL;
	}
	if (file)
		fclose(file);
	return text;
}

/*
 * Prints an error in the rules, with its position. The text may contain any bytes of the file, so it is
 * escaped.
 */
static int print_error(const char *name, const char *path, int status, const struct rules_error *error)
{
	char text[4 * sizeof(error->text)];

	if (status == KTREAD_E_MEMORY) {
		command_message(name, "out of memory");
		return EXIT_UNREADABLE;
	}
	*base_escape_text(text, error->text, strlen(error->text), sizeof(text) - 1) = '\0';
	command_message(name, "%s:%" PRIu32 ":%" PRIu32 ": %s", path, error->line, error->column, text);
	return EXIT_USAGE;
}

int trace_rules_load(const char *name, const char *path, struct rules **rules)
{
	struct rules_error error = { .line = 0 };
	size_t length = 0;
	char *text = rules_read(name, path, &length);
	int status;

	*rules = NULL;
	if (!text)
		return EXIT_USAGE;
	status = rules_parse(rules, text, length, &error);
	free(text);
	if (!status)
		return 0;
	free(*rules);
	*rules = NULL;
	return print_error(name, path, status, &error);
}

struct rules *default_rules(const char *name)
{
	struct rules *rules = NULL;
	char path[PATH_MAX];

	if (default_rules_path(name, path) == 0)
		trace_rules_load(name, path, &rules);
	return rules;
}

struct check_command {
	struct trace_args args;
	const char *path;
	const char *page;  /* value of --page; NULL if not given */
	const char *where; /* value of --where; NULL: all events are judged */
	struct filter *filter;
	uint64_t accepted; /* number of times that --where has accepted an event */
	char usual[PATH_MAX];
	bool all, json, ids, listed;
	struct rules *rules;
	struct check_result result[RULES_MAX];
	struct base_output out;
	struct violations found;
};

#define AT(member) .to = offsetof(struct check_command, member)
static const struct option_row rows[] = {
	{ "rules", 0, "FILE",
	  "read the rules from FILE; ktrace-check(1) and doc/rules.md describe the format", options_set_text,
	  AT(path) },
	{ "all", 0, NULL, "list every violation", options_set_flag, AT(all) },
	{ "page", 0, "FILE", "if a rule is violated, write the trace as a page, as 'ktrace html' does",
	  options_set_text, AT(page) },
	{ "where", 0, "EXPRESSION",
	  "judge only events for which EXPRESSION is true; all events still count as causes, ends and "
	  "states; see ktrace-filter(7)",
	  options_set_text, AT(where), .once = true },
	{ "json", 0, NULL, "print JSON instead of text", options_set_flag, AT(json) },
	{ "ids", 0, NULL,
	  "print the id of each event, RING.SLOT, for 'ktrace goto' (default if the run can be repeated)",
	  options_set_flag, AT(ids) },
	{ 0 },
};

/*
 * There are no options that hide events, because a rule could then report violations that do not exist.
 */
static const struct options_syntax syntax = {
	.forms = "ktrace check [OPTION]... [TRACE]",
	.about = "Checks a trace against rules: forbidden orders of events, states of threads and CPUs, "
		 "latencies, values and rates. Without --rules, "
		 "uses rules that hold for every kernel with the well-known events. "
		 "TRACE is ktrace.ktrx if not given.",
	.lists = { rows, budget_options, trace_file_options, trace_machine_options, trace_layout_options,
		   terminal_options },
	.end = "Examples:\n"
	       "  ktrace check boot.ktrx\n"
	       "  ktrace check --rules kernel.rules boot.ktrx || exit 1\n"
	       "\n"
	       "Status: 0 no rule is violated, 1 a rule is violated, 2 usage error or invalid rule, "
	       "3 the trace or all of its records are unreadable.\n",
};

/* Loads the rules. Returns 0 or an exit status. */
static int load_rules(struct check_command *command)
{
	if (!command->path && default_rules_path(command->args.name, command->usual) < 0)
		return EXIT_USAGE;
	if (!command->path)
		command->path = command->usual;
	return trace_rules_load(command->args.name, command->path, &command->rules);
}

static void list(void *context, const struct check_violation *violation)
{
	struct check_command *command = context;

	if (!command->all)
		return;
	if (command->json)
		violations_put_json(&command->out, &command->found, violation, !command->listed);
	else
		violations_put_text(&command->out, &command->found, violation);
	command->listed = true;
}

/*
 * Returns whether the trace is so damaged that no record can be read. A trace without records need not be
 * damaged.
 */
static bool nothing_was_read(struct ktread *trace, bool unread)
{
	const struct ktread_info *info = ktread_info(trace);
	const struct ktread_event *event;
	bool damaged = unread || info->unusable;

	for (uint32_t n = 0; n < info->rings && !damaged; n++)
		damaged = ktread_ring(trace, n)->invalid > 0;
	return damaged && (ktread_rewind(trace) < 0 || ktread_next(trace, &event) <= 0);
}

static bool judges(void *context, const struct ktread_event *event)
{
	struct check_command *command = context;
	const bool accepted = filter_accepts(command->filter, event);

	command->accepted += accepted;
	return accepted;
}

/* Binds the rules and the expression of --where to the trace. Returns 0 or an exit status. */
static int bind(struct check_command *command, struct ktread *trace)
{
	struct rules_error error;
	int status = rules_bind(command->rules, trace, &error);

	if (status)
		return print_error(command->args.name, command->path, status, &error);
	if (!command->where)
		return 0;
	command->rules->judges = judges;
	command->rules->context = command;
	return trace_where_bind(command->args.name, command->where, command->filter, trace);
}

/* Reads and checks the trace. Returns the result of reading it. */
static int check_trace(struct check_command *command, struct ktread *trace)
{
	struct base_output *out = &command->out;
	char order[ORDER_TEXT], path[2 * PATH_MAX];
	int status, again, unfound;
	size_t length;

	command->found = (struct violations){
		.trace = trace, .rules = command->rules, .result = command->result, .path = command->path
	};
	if (note_find(ktread_info(trace)->note, "recipe", &length))
		command->found.repeatable = command_word(command->args.path, path, sizeof(path));
	command->found.ids = !command->json && (command->ids || command->found.repeatable);
	if (command->json)
		base_output_text(out, command->all ? "{\"violations\":[" : "{");
	status = check_read(command->rules, trace, 0, command->result, list, command);
	command->found.unread = status < 0 || check_lacks_end(trace);
	command->found.nothing = status >= 0 && nothing_was_read(trace, command->found.unread);
	unfound = violations_find_events(&command->found);
	status = status < 0 ? status : unfound;
	if (command->json) {
		base_output_text(out, command->all ? "],\n" : "");
		again = violations_write_json(out, &command->found);
		if (order_say_json(trace, order) > 0)
			base_output_format(out, ",\n%s", order);
		base_output_text(out, "}\n");
	} else {
		again = violations_write_text(out, &command->found);
	}
	return status < 0 ? status : again;
}

static int run_loaded(struct check_command *command)
{
	struct ktread *trace;
	int status = 0;
	bool violated, failed;

	if (command->where)
		status = trace_where_parse(command->args.name, command->where, &command->filter);
	if (!status)
		status = trace_args_open(&command->args, &trace);
	if (!status && (status = bind(command, trace)) != 0)
		trace_args_close(&command->args, trace, 0);
	if (status)
		return status == EXIT_BAD_INPUT ? EXIT_UNREADABLE : status;
	if (base_output_open(&command->out, STDOUT_FILENO) < 0) {
		command_message(command->args.name, "out of memory");
		trace_args_close(&command->args, trace, 0);
		return EXIT_UNREADABLE;
	}
	if (!command->json)
		terminal_prepare(&command->out, true);
	base_output_schema(&command->out, command->json ? "ktrace-check/1" : NULL);
	progress_start(command->args.name, trace, &command->out);
	status = check_trace(command, trace);
	violated = violations_first(&command->found) != NULL;
	if (command->where && !command->accepted)
		command_message(command->args.name, "--where selects no event that a rule judges");
	failed = trace_output_status(command->args.name, "standard output",
				     base_output_close(&command->out)) != 0;
	failed |= trace_args_close(&command->args, trace, status) != 0;
	if (violated && command->page)
		failed |= html_file(&command->args, NULL, command->page) != 0;
	/* if a rule is violated, the exit status shows this, even if a part of the trace was unreadable */
	return violated ? EXIT_VIOLATED : failed || command->found.nothing ? EXIT_UNREADABLE : 0;
}

static int run_check(int argc, char **argv)
{
	struct check_command *command = calloc(1, sizeof(*command));
	int status;

	if (!command) {
		command_message(argv[0], "out of memory");
		return EXIT_UNREADABLE;
	}
	command->args = (struct trace_args){ TRACE_ARGS(&syntax, argv[0]) };
	status = trace_args_parse(&command->args, argc, argv);
	if (status < 0) {
		status = load_rules(command);
		status = status ? status : run_loaded(command);
	}
	filter_free(command->filter);
	free(command->rules);
	free(command);
	return status;
}

const struct command command_check = {
	.name = "check",
	.purpose = "check a trace against rules; status 1 if a rule is violated",
	.run = run_check,
	.unreadable = EXIT_UNREADABLE,
};
