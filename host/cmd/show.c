/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace show: the timeline. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/trace_args.h"
#include "export/lines.h"
#include "export/output.h"
#include "export/syscalls.h"
#include "export/timeline.h"

enum {
	OPTION_LIMIT = TRACE_OPTION_END,
	OPTION_JSON,
};

struct show {
	struct trace_args args;
	uint64_t limit;
	int json;
};

static void print_help(void)
{
	fputs("usage: ktrace show [OPTION]... FILE\n\n"
	      "Shows a trace as a timeline, a line an event, merged over all CPUs. FILE is a dump of either\n"
	      "version, the RAM file of a guest that runs or has died, or an ELF core of one.\n\n",
	      stdout);
	fputs(trace_filter_help, stdout);
	fputs("  --limit N            stop after N events\n"
	      "  --json               a JSON object a line\n",
	      stdout);
	fputs(trace_read_help, stdout);
	fputs("\nExamples:\n"
	      "  ktrace show boot.ktrx\n"
	      "  ktrace show --cpu 1 --event 'sched.*,irq' --since 1.25 --until 1.30 boot.ktrx\n"
	      "  ktrace show --form bare --frequency 2600000000 --pid 12 records.bin\n",
	      stdout);
}

/* -1: go on; otherwise the exit status. */
static int parse_options(struct show *show, int argc, char **argv)
{
	static const struct option options[] = {
		TRACE_READ_OPTIONS,
		TRACE_FILTER_OPTIONS,
		{ "limit", required_argument, NULL, OPTION_LIMIT },
		{ "json", no_argument, NULL, OPTION_JSON },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option, status;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case 'h':
			print_help();
			return fflush(stdout) ? EXIT_BAD_INPUT : EXIT_SUCCESS;
		case OPTION_JSON:
			show->json = 1;
			break;
		case OPTION_LIMIT:
			if (trace_parse_number(optarg, UINT64_MAX, &show->limit) || show->limit == 0) {
				command_message(show->args.name, "unusable value for --limit: '%s'", optarg);
				return command_usage(show->args.name);
			}
			break;
		default:
			status = trace_args_take(&show->args, option, optarg);
			if (status)
				return status;
		}
	}
	status = trace_args_file(&show->args, argc, argv);
	return status ? status : -1;
}

static int show_trace(struct show *show, struct ktread *trace, struct output *out)
{
	struct syscalls calls;
	struct timeline timeline = {
		.trace = trace,
		.out = out,
		.calls = &calls,
		.layout = show->args.options.v1_layout,
		.limit = show->limit,
		.cpus = show->args.has_cpus ? show->args.cpus : NULL,
		.filtered = trace_args_filtered(&show->args),
		.colour = isatty(STDOUT_FILENO),
	};
	int result;

	syscalls_open(&calls, trace, show->args.options.machine);
	result = show->json ? lines_write(&timeline) : timeline_write(&timeline);
	syscalls_close(&calls);
	return result;
}

static int run_show(int argc, char **argv)
{
	struct show show = { .args = TRACE_ARGS(argv[0]) };
	struct ktread *trace;
	struct output out;
	int status = parse_options(&show, argc, argv), error;

	if (status >= 0)
		return status;
	status = trace_args_open(&show.args, &trace);
	if (status)
		return status;
	if (output_open(&out, STDOUT_FILENO) < 0) {
		command_message(show.args.name, "out of memory");
		return trace_args_close(&show.args, trace, 0) | EXIT_BAD_INPUT;
	}
	status = show_trace(&show, trace, &out);
	error = output_close(&out);
	status = trace_args_close(&show.args, trace, status);
	return trace_output_status(show.args.name, "standard output", error) | status;
}

const struct command command_show = {
	.name = "show",
	.purpose = "timeline of a trace",
	.run = run_show,
};
