/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace summary: prints the numbers of events, CPUs and threads in a trace, and how much was lost. */
#include "export/summary.h"

#include <stdlib.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/terminal.h"
#include "cmd/trace_args.h"

struct summary_command {
	struct trace_args args;
	bool json;
};

static const struct option_row rows[] = {
	{ "json", 0, NULL, "print one JSON object", options_set_flag,
	  .to = offsetof(struct summary_command, json) },
	{ 0 },
};

/* this command has neither --v1-layout nor --calls, because it does not decode payloads */
static const struct options_syntax syntax = {
	.forms = "ktrace summary [OPTION]... [FILE]",
	.about = "Counts the events of a trace by type, thread and CPU, "
		 "and accounts for the slots of each ring: produced = overwritten + decoded + unreadable.",
	.lists = { rows, budget_options, trace_thread_options, trace_event_options, trace_where_options,
		   trace_file_options, trace_machine_options, terminal_options },
	.end = "Examples:\n"
	       "  ktrace summary boot.ktrx\n"
	       "  ktrace summary --cpu 2 --json boot.ktrx\n",
};

/* Writes the summary, even if the trace could not be read to its end. Returns the result of reading. */
static int write_summary(const struct trace_args *args, struct ktread *trace, struct base_output *out,
			 bool json)
{
	struct tally *tally;
	struct summary summary;
	int result = tally_trace(&tally, trace);

	if (result >= 0)
		result = tally_rates(tally, trace);
	if (tally && summary_init(&summary, trace, tally) == 0) {
		if (json)
			summary_write_json(out, &summary);
		else
			summary_write_text(out, &summary, args->path);
		summary_free(&summary);
	} else {
		result = KTREAD_E_MEMORY;
	}
	tally_free(tally);
	return result;
}

static int run_summary(int argc, char **argv)
{
	struct summary_command command = { .args = { TRACE_ARGS(&syntax, argv[0]), .reports_order = true,
						     .whole = true } };
	struct trace_args *args = &command.args;
	struct ktread *trace;
	struct base_output out;
	int status = trace_args_parse(args, argc, argv), error;

	if (status >= 0)
		return status;
	status = trace_args_open(args, &trace);
	if (status)
		return status;
	if (base_output_open(&out, STDOUT_FILENO) < 0) {
		command_message(args->name, "out of memory");
		return trace_args_close(args, trace, 0) | EXIT_BAD_INPUT;
	}
	if (!command.json)
		terminal_prepare(&out, true);
	base_output_schema(&out, command.json ? "ktrace-summary/1" : NULL);
	progress_start(args->name, trace, &out);
	status = write_summary(args, trace, &out, command.json);
	error = base_output_close(&out);
	status = trace_args_close(args, trace, status);
	return trace_output_status(args->name, "standard output", error) | status;
}

const struct command command_summary = {
	.name = "summary",
	.purpose = "count the events of a trace, and what was lost",
	.run = run_summary,
};
