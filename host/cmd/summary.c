/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace summary: what is in a trace, in numbers. */
#include "export/summary.h"

#include <stdlib.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/trace_args.h"

enum {
	OPTION_JSON = TRACE_OPTION_OWN,
};

static int take_option(void *command, int option, const char *value)
{
	int *json = command;

	(void)option;
	(void)value;
	*json = 1;
	return 0;
}

static const struct option own_options[] = {
	{ "json", no_argument, NULL, OPTION_JSON },
	{ NULL, 0, NULL, 0 },
};

static const struct trace_syntax syntax = {
	.usage = "usage: ktrace summary [OPTION]... [FILE]\n\n"
		 "Counts a trace by event, thread and CPU, and says of every ring where its slots went:\n"
		 "produced = overwritten + decoded + unreadable.\n",
	.help = "  --json               one JSON object\n",
	.examples = "  ktrace summary boot.ktrx\n"
		    "  ktrace summary --cpu 2 --json boot.ktrx\n",
	.own = own_options,
	.usual_file = TRACE_USUAL_FILE,
	.letters = "",
	.useless = "v1-layout", /* counts do not look into payloads */
	.take = take_option,
};

/* What could be read is shown even if reading failed halfway. Returns what reading returned. */
static int write_summary(const struct trace_args *args, struct ktread *trace, struct base_output *out,
			 int json)
{
	struct tally *tally;
	struct summary summary;
	int result = tally_trace(&tally, trace);

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
	struct trace_args args = TRACE_ARGS(argv[0]);
	struct ktread *trace;
	struct base_output out;
	int json = 0, status = trace_args_parse(&args, &syntax, &json, argc, argv), error;

	if (status >= 0)
		return status;
	args.reports_order = 1;
	status = trace_args_open(&args, &trace);
	if (status)
		return status;
	if (base_output_open(&out, STDOUT_FILENO) < 0) {
		command_message(args.name, "out of memory");
		return trace_args_close(&args, trace, 0) | EXIT_BAD_INPUT;
	}
	status = write_summary(&args, trace, &out, json);
	error = base_output_close(&out);
	status = trace_args_close(&args, trace, status);
	return trace_output_status(args.name, "standard output", error) | status;
}

const struct command command_summary = {
	.name = "summary",
	.purpose = "what is in a trace, in numbers; what was lost, exactly",
	.run = run_summary,
};
