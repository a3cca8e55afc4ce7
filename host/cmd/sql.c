/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace sql: answers queries in SQL about a trace. */
#include "sql/sql.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "cmd/budget.h"
#include "cmd/command.h"
#include "cmd/terminal.h"
#include "cmd/sql_prompt.h"
#include "cmd/trace_args.h"

#define EXIT_LIMIT     3
#define TIMEOUT	       60.0  /* default of --timeout, in seconds */
#define MEMORY	       1024u /* default of --memory, in MB */
#define MEMORY_LEAST   16u
#define MEMORY_MOST    (1u << 20)
#define STATEMENT_MOST (1u << 20) /* maximum size of a statement on standard input, in bytes */

struct sql_command {
	struct trace_args args;
	const char *query;
	enum sql_form form;
	bool json;
	double timeout;
	uint64_t memory;
};

#define AT(member) .to = offsetof(struct sql_command, member)
static const struct option_row rows[] = {
	{ "format", 'f', "table|csv|json",
	  "print the rows in this format (table); json prints one JSON object per row", options_set_choice,
	  AT(form) },
	{ "json", 0, NULL, "the same as --format json", options_set_flag, AT(json), .instead = true },
	{ "timeout", 0, "SECONDS", "end a query that runs longer than this (60)", options_set_seconds,
	  AT(timeout), .least = 1 },
	{ "memory", 0, "MB", "limit the memory of a query to MB megabytes (1024)", options_set_number,
	  AT(memory), .least = MEMORY_LEAST, .most = MEMORY_MOST },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace sql [OPTION]... [FILE [QUERY]]",
	.about =
		"Runs queries in SQL (SQLite) over a trace, which is not changed. Tables: events, and one "
		"for each kind of event, such as \"sched.switch\"; slices, syscalls, irqs, faults, locks, "
		"wakeups, thread_states, threads, processes, losses, counts. Times are in ns since the first "
		"event. Without QUERY, reads statements from standard input. '.tables' lists the tables, "
		"'.schema TABLE' the columns of a table, '.help' explains more.",
	.lists = { rows, budget_list_options, trace_file_options, trace_machine_options, trace_layout_options,
		   trace_calls_options, terminal_options },
	.end = "Exit status: 0 success, 1 the trace could not be read, 2 wrong usage or a wrong statement, "
	       "3 a limit was reached.\n\n"
	       "Examples:\n"
	       "  ktrace sql boot.ktrx 'SELECT name, count(*) FROM events GROUP BY name'\n"
	       "  ktrace sql boot.ktrx 'SELECT * FROM syscalls ORDER BY duration DESC LIMIT 10'\n"
	       "  ktrace sql boot.ktrx 'SELECT * FROM \"sched.switch\" WHERE ts < 1000000'\n"
	       "  ktrace sql --format csv boot.ktrx 'SELECT * FROM locks' > locks.csv\n",
};

static struct sql *running; /* the session whose statement SIGINT interrupts */

static void on_interrupt(int signal)
{
	(void)signal;
	if (running)
		sql_interrupt(running);
}

/* Runs statements. Returns an exit status. */
static int run_text(const struct sql_command *command, struct sql *sql, const char *text,
		    struct base_output *out)
{
	static const int statuses[] = { [SQL_DONE] = EXIT_SUCCESS,
					[SQL_REFUSED] = EXIT_USAGE,
					[SQL_LIMIT] = EXIT_LIMIT,
					[SQL_UNREAD] = EXIT_BAD_INPUT };
	enum sql_status status;

	status = sql_run(sql, text, out);
	base_output_flush(out);
	if (status != SQL_DONE)
		command_message(command->args.name, "%s", sql_message(sql));
	return statuses[status];
}

static bool is_quit(const char *text)
{
	text += strspn(text, " \t\r\n");
	return strncmp(text, ".quit", 5) == 0 && text[5 + strspn(text + 5, " \t\r\n;")] == '\0';
}

/* A statement that is being read. */
struct pending {
	char *text;
	uint32_t length, room;
};

/* Appends a line to the statement. Returns 0, or an exit status after a message. */
static int append(const struct sql_command *command, struct pending *pending, const char *line, size_t length)
{
	char *larger;

	if (pending->length + length + 1 > STATEMENT_MOST) {
		command_message(command->args.name,
				"a statement has more than 1 MB: does it lack a semicolon?");
		return EXIT_USAGE;
	}
	larger = base_grow(pending->text, &pending->room, pending->length + length + 1, 1);
	if (!larger) {
		command_message(command->args.name, "out of memory");
		return EXIT_BAD_INPUT;
	}
	pending->text = larger;
	memcpy(larger + pending->length, line, length);
	pending->length += (uint32_t)length;
	larger[pending->length] = '\0';
	return 0;
}

/*
 * Runs the statements on standard input. An invalid statement ends the program, unless standard input is a
 * terminal. Returns an exit status.
 */
static int run_input(const struct sql_command *command, struct sql *sql, struct base_output *out)
{
	const bool person = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
	struct pending pending = { .text = NULL };
	struct sql_prompt *prompt = person ? sql_prompt_open() : NULL;
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	int status = 0;

	while ((!status || person) && !out->error) {
		length = prompt ? sql_prompt_line(prompt, pending.length ? "   ...> " : "ktrace> ", &line,
						  &room)
				: getline(&line, &room, stdin);
		if (length < 0 || (pending.length == 0 && is_quit(line)))
			break;
		status = append(command, &pending, line, (size_t)length);
		if (status || !sql_is_complete(pending.text)) {
			pending.length = status ? 0 : pending.length;
			continue;
		}
		status = run_text(command, sql, pending.text, out);
		pending.length = 0;
	}
	if (pending.length && !status)
		status = run_text(command, sql, pending.text, out);
	sql_prompt_close(prompt);
	free(pending.text);
	free(line);
	return person ? 0 : status;
}

static struct ktread *reopen(void *context, bool window)
{
	return trace_args_reopen(context, window);
}

static int run_queries(struct sql_command *command, struct ktread *trace)
{
	const struct sql_options options = {
		.timeout = command->timeout,
		.memory = command->memory << 20,
		.form = command->json ? SQL_JSON : command->form,
		.reopen = reopen,
		.context = &command->args,
	};
	const struct sigaction action = { .sa_handler = on_interrupt };
	struct base_output out;
	struct sql *sql = NULL;
	int status;

	if (base_output_open(&out, STDOUT_FILENO) < 0 || sql_open(&sql, trace, &options) < 0) {
		command_message(command->args.name, "out of memory");
		sql_close(sql);
		return EXIT_BAD_INPUT;
	}
	if (options.form == SQL_TABLE)
		terminal_prepare(&out, command->query != NULL);
	base_output_schema(&out, options.form == SQL_JSON ? "ktrace-sql/1" : NULL);
	if (command->query)
		progress_start(command->args.name, trace, &out);
	running = sql;
	if (!command->query && isatty(STDIN_FILENO))
		sigaction(SIGINT, &action, NULL);
	status =
		command->query ? run_text(command, sql, command->query, &out) : run_input(command, sql, &out);
	running = NULL;
	progress_stop();
	sql_close(sql);
	return trace_output_status(command->args.name, "standard output", base_output_close(&out)) | status;
}

static int run_sql(int argc, char **argv)
{
	struct sql_command command = { .args = { TRACE_ARGS(&syntax, argv[0]), .shows_calls = true },
				       .timeout = TIMEOUT,
				       .memory = MEMORY };
	struct ktread *trace;
	int status;

	command.args.word = &command.query;
	status = trace_args_parse(&command.args, argc, argv);
	if (status >= 0)
		return status;
	if (command.json && options_given(&command.args.line, "format"))
		return options_refuse(&command.args.line, "--json and --format cannot be used together");
	status = trace_args_open(&command.args, &trace);
	if (status)
		return status;
	status = run_queries(&command, trace);
	return trace_args_close(&command.args, trace, 0) | status;
}

const struct command command_sql = {
	.name = "sql",
	.purpose = "answer queries in SQL over events, durations, states and losses",
	.run = run_sql,
};
