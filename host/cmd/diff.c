/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace diff: compares two traces by the events in them. */
#include "diff/diff.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/terminal.h"
#include "cmd/trace_args.h"

#define EXIT_DIFFERS 1
/* exit status if a trace is unreadable or the output cannot be written */
#define EXIT_UNREADABLE 3
/* exit status if no difference was found, but a part could not be compared */
#define EXIT_UNDECIDED 4

#define DEFAULT_LIMIT  5
#define DEFAULT_SLOWER 20
#define MOST_SLOWER    1000000

struct diff_command {
	struct trace_args args; /* `args`: options of the first trace and of the command itself */
	struct trace_args other;
	bool json;
	const char *page; /* value of --page; NULL if not given */
	uint64_t limit, slower;
	struct ktread *trace[2]; /* the two traces; NULL: the input is text from strace */
	struct diff_trace *read[2];
	struct diff_result result;
};

#define AT(member) .to = offsetof(struct diff_command, member)
static const struct option_row rows[] = {
	{ "json", 0, NULL, "print JSON instead of text", options_set_flag, AT(json) },
	{ "page", 0, "FILE", "if the traces differ, write B as a page, as 'ktrace html' does",
	  options_set_text, AT(page) },
	{ "limit", 'n', "N", "list at most N differences of each kind; 0 lists all (5)", options_set_number,
	  AT(limit), .most = UINT32_MAX },
	{ "slower", 0, "PERCENT",
	  "list system calls that take at least PERCENT longer in B (20); with this option, slower "
	  "calls count as differences",
	  options_set_number, AT(slower), .most = MOST_SLOWER },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace diff [OPTION]... A B",
	.about = "Compares two traces, thread by thread and call by call. "
		 "Times, addresses, process ids and the order of independent threads may differ. "
		 "Prints the earliest difference first. "
		 "A and B are traces of kernels, process traces, or the output of 'strace -f -ttt'.",
	.lists = { rows, budget_options, trace_machine_options, trace_layout_options, trace_calls_options,
		   terminal_options },
	.end = "Examples:\n"
	       "  ktrace diff good.ktrx bad.ktrx\n"
	       "  ktrace diff linux.out strace.txt\n"
	       "\n"
	       "Status: 0 the traces are the same, 1 they differ, 2 usage error, "
	       "3 a trace is unreadable, "
	       "4 undecided: no difference found, but a part could not be compared.\n",
};

/* Parses the command line. Returns -1 to continue; otherwise the exit status. */
static int parse(struct diff_command *command, int argc, char **argv)
{
	int status;

	command->args.line.to = command;
	status = options_parse(&command->args.line, argc, argv);
	if (status >= 0)
		return status;
	if (argc - optind != 2)
		return options_refuse(&command->args.line, "two traces are needed");
	if (!*argv[optind] || !*argv[optind + 1])
		return options_refuse(&command->args.line, OPTIONS_NO_NAME);
	if (strcmp(argv[optind], "-") == 0 && strcmp(argv[optind + 1], "-") == 0)
		return options_refuse(&command->args.line, "only one trace can be standard input");
	status = budget_begin(command->args.name);
	if (status >= 0)
		return status;
	command->args.path = trace_input(argv[optind]);
	command->other = command->args;
	command->other.path = trace_input(argv[optind + 1]);
	if (command->page && diff_is_strace(command->other.path))
		return options_refuse(&command->args.line,
				      "--page needs a trace as B, not the output of strace");
	return -1;
}

/* Reads a trace. Returns 0 or an exit status. */
static int read_one(struct diff_command *command, int which)
{
	struct trace_args *args = which == 0 ? &command->args : &command->other;
	int status;

	if (diff_is_strace(args->path)) {
		status = diff_read_strace(&command->read[which], args->path);
		if (status == 0)
			return 0;
		command_message(args->name, "%s: %s", args->path,
				status == KTREAD_E_SYSTEM ? strerror(errno) : "out of memory");
		return EXIT_UNREADABLE;
	}
	status = trace_args_open(args, &command->trace[which]);
	if (status) {
		command->trace[which] = NULL; /* trace_args_open() has closed the trace */
		return status == EXIT_BAD_INPUT ? EXIT_UNREADABLE : status;
	}
	progress_start(args->name, command->trace[which], NULL);
	status = diff_read(&command->read[which], command->trace[which], args->path);
	progress_stop();
	if (status == 0)
		return 0;
	if (status == KTREAD_E_MEMORY)
		command_message(args->name, "%s: out of memory", args->path);
	else
		command_message(args->name, "%s", ktread_message(command->trace[which]));
	return EXIT_UNREADABLE;
}

static int write_report(struct diff_command *command)
{
	const struct diff_report report = { .trace = { command->read[0], command->read[1] },
					    .result = &command->result,
					    .limit = command->limit };
	struct base_output out;
	int status;

	if (base_output_open(&out, STDOUT_FILENO) < 0) {
		command_message(command->args.name, "out of memory");
		return EXIT_UNREADABLE;
	}
	if (!command->json)
		terminal_prepare(&out, true);
	base_output_schema(&out, command->json ? "ktrace-diff/1" : NULL);
	status = command->json ? diff_write_json(&out, &report) : diff_write_text(&out, &report);
	if (status < 0)
		command_message(command->args.name,
				"a trace cannot be read again: it has changed, or memory runs out");
	if (trace_output_status(command->args.name, "standard output", base_output_close(&out)) || status < 0)
		return EXIT_UNREADABLE;
	switch (diff_verdict(&command->result)) {
	case DIFF_VERDICT_DIFFERS:
		return EXIT_DIFFERS;
	case DIFF_VERDICT_UNDECIDED:
		return EXIT_UNDECIDED;
	default:
		return 0;
	}
}

static int run_loaded(struct diff_command *command)
{
	int status = read_one(command, 0);

	if (!status)
		status = read_one(command, 1);
	if (!status &&
	    diff_compare(command->read, command->slower, options_given(&command->args.line, "slower") != NULL,
			 &command->result) < 0) {
		command_message(command->args.name, "out of memory");
		status = EXIT_UNREADABLE;
	}
	if (!status)
		status = write_report(command);
	for (int which = 0; which < 2; which++) {
		diff_trace_free(command->read[which]);
		if (command->trace[which])
			trace_args_close(which ? &command->other : &command->args, command->trace[which], 0);
	}
	free(command->result.item);
	if (status == EXIT_DIFFERS && command->page && command->trace[1])
		html_file(&command->other, NULL, command->page);
	return status;
}

static int run_diff(int argc, char **argv)
{
	struct diff_command *command = calloc(1, sizeof(*command));
	int status;

	if (!command) {
		command_message(argv[0], "out of memory");
		return EXIT_UNREADABLE;
	}
	command->args = (struct trace_args){ TRACE_ARGS(&syntax, argv[0]) };
	command->limit = DEFAULT_LIMIT;
	command->slower = DEFAULT_SLOWER;
	status = parse(command, argc, argv);
	if (status < 0)
		status = run_loaded(command);
	free(command);
	return status;
}

const struct command command_diff = {
	.name = "diff",
	.purpose = "compare two traces by their meaning; status 1 if they differ",
	.run = run_diff,
	.unreadable = EXIT_UNREADABLE,
};
