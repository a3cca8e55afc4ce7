/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ktrace-decode: has the same command line as the version 1 decoder. For an intact version 1 dump, it prints
 * the same timeline and summary as that decoder, byte for byte, with two exceptions: events that had no name
 * in version 1, and system calls. System calls have names only with --calls, because their numbers depend on
 * the kernel that wrote the dump. Traces of other versions are read as well.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/output.h"
#include "cmd/command.h"
#include "cmd/trace_args.h"
#include "export/views.h"

struct decode {
	struct trace_args args;
	bool summary, timeline;
	const char *perfetto;
};

#define AT(member) .to = offsetof(struct decode, member)
static const struct option_row rows[] = {
	{ "timeline", 0, NULL, "print a timeline, one line per event (default)", options_set_flag,
	  AT(timeline) },
	{ "summary", 0, NULL, "print the number of events by type, PID and CPU, always of the whole trace",
	  options_set_flag, AT(summary), .instead = true },
	{ "perfetto", 0, "OUT", "write JSON for ui.perfetto.dev to OUT", options_set_text, AT(perfetto),
	  .instead = true },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace-decode [OPTION]... FILE",
	.about = "Prints a version 1 dump as a timeline, a summary or JSON. "
		 "'ktrace show', 'ktrace summary' and 'ktrace export' can do more.",
	.lists = { rows, trace_thread_options, trace_file_options, trace_machine_options,
		   trace_layout_options, trace_calls_options },
	.end = "Examples:\n"
	       "  ktrace-decode ktrace.bin --pid 4\n"
	       "  ktrace-decode ktrace.bin --perfetto trace.json\n",
};

static int write_summary(struct ktread *trace, struct base_output *out)
{
	struct tally *tally;
	int result = tally_trace(&tally, trace);

	if (tally && tally->events > 0 && classic_summary(out, trace, tally) < 0)
		result = KTREAD_E_MEMORY;
	tally_free(tally);
	return result;
}

static int write_timeline(const struct decode *decode, struct ktread *trace, struct base_output *out)
{
	struct timeline timeline = {
		.trace = trace,
		.out = out,
		.cpus = decode->args.cpu_list ? decode->args.cpus : NULL,
		.filtered = trace_args_filtered(&decode->args),
		.zero_ticks = 1,
	};

	return classic_timeline(&timeline);
}

static int is_empty(struct ktread *trace)
{
	for (uint32_t n = 0; n < ktread_info(trace)->rings; n++)
		if (ktread_ring(trace, n)->records)
			return 0;
	return 1;
}

static int run_decode(int argc, char **argv)
{
	struct decode decode = { .args = { TRACE_ARGS(&syntax, argv[0]), .shows_calls = true, .whole = true,
					   .file_needed = true } };
	struct ktread *trace;
	struct base_output out;
	int status = trace_args_parse(&decode.args, argc, argv), result, error;

	if (status >= 0)
		return status;
	if (decode.summary + decode.timeline + (decode.perfetto != NULL) > 1)
		return options_refuse(&decode.args.line,
				      "only one of --timeline, --summary and --perfetto can be given");
	if (decode.summary && trace_args_filtered(&decode.args))
		command_message(decode.args.name,
				"--summary counts the whole trace: --pid and --cpu are ignored");
	if (decode.summary) {
		decode.args.shows_calls = false;
		decode.args.pid = -1;
		decode.args.cpu_list = NULL;
	}
	status = trace_args_open(&decode.args, &trace);
	if (status)
		return status;
	if (decode.perfetto && !decode.summary)
		return write_export(&decode.args, trace, export_format_find("json"), decode.perfetto);
	if (base_output_open(&out, STDOUT_FILENO) < 0) {
		command_message(decode.args.name, "out of memory");
		return trace_args_close(&decode.args, trace, 0) | EXIT_BAD_INPUT;
	}
	result = decode.summary ? write_summary(trace, &out) : write_timeline(&decode, trace, &out);
	error = base_output_close(&out);
	if (result == 0 && !error && is_empty(trace))
		command_message(decode.args.name, "No trace events found.");
	status = trace_args_close(&decode.args, trace, result);
	return trace_output_status(decode.args.name, "standard output", error) | status;
}

const struct command command_decode = {
	.name = "decode",
	.tool = "ktrace-decode",
	.purpose = "print a version 1 dump as timeline, summary or JSON; same as ktrace-decode",
	.run = run_decode,
};
