/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace why: what is wrong with a machine, and how one can tell. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/cpu_state.h"
#include "capture/error.h"
#include "capture/extract.h"
#include "capture/watch.h"
#include "cmd/command.h"
#include "cmd/explain.h"
#include "cmd/trace_args.h"

#define ANSWER_MS 5000

struct why {
	struct trace_args args;
	struct explain_options options;
	const char *peer; /* --qmp, --gdb; NULL: a file is read */
	enum capture_source source;
};

static const char *set_peer(struct why *why, enum capture_source source, const char *value)
{
	if (why->peer)
		return "is a second machine: --qmp or --gdb can be given, and only once";
	why->args.elsewhere = true;
	why->source = source;
	why->peer = value;
	return NULL;
}

static const char *set_qmp(void *to, const char *value, const struct option_row *row)
{
	(void)row;
	return set_peer(to, CAPTURE_FROM_QMP, value);
}

static const char *set_gdb(void *to, const char *value, const struct option_row *row)
{
	(void)row;
	return set_peer(to, CAPTURE_FROM_GDB, value);
}

#define AT(member) .to = offsetof(struct why, member)
static const struct option_row rows[] = {
	{ "json", 0, NULL, "one JSON object", options_set_flag, AT(options.json) },
	{ "all", 0, NULL, "all findings at length, all threads", options_set_flag, AT(options.all),
	  .instead = true },
	{ "elf", 0, "KERNEL",
	  "the kernel's file: names and lines for addresses (usual: the one that 'ktrace run' has booted, if "
	  "it is still the same build)",
	  options_set_text, AT(options.elf) },
	{ "earlier", 0, "TRACE", "lock order also by this trace; may be given 16 times", options_set_list,
	  AT(options.earlier), .most = EXPLAIN_EARLIER },
	{ "qmp", 0, "ADDRESS",
	  "a machine that runs: QEMU with -qmp unix:PATH,server=on,wait=off; it is halted for a moment and "
	  "goes on",
	  set_qmp, .to = 0 },
	{ "gdb", 0, "ADDRESS", "a machine that runs, by gdb's remote protocol: QEMU's -s, a debug probe",
	  set_gdb, .to = 0 },
	{ 0 },
};

/* No filters: a missing event would mislead. */
static const struct options_syntax syntax = {
	.forms = "ktrace why [OPTION]... [FILE]\n"
		 "ktrace why [OPTION]... --qmp ADDRESS | --gdb ADDRESS",
	.about = "Says what is wrong with a machine: who waits for whom, what spins, what never came. First "
		 "the verdict, then what it rests on. FILE as for 'ktrace show'; without it, ktrace.ktrx, "
		 "which is what 'ktrace run' leaves. Exit status: 0 nothing is wrong, 10 something is, 11 "
		 "that is not known.",
	.lists = { rows, trace_file_options, trace_machine_options, trace_layout_options,
		   trace_calls_options },
	.end = "Examples:\n"
	       "  ktrace why\n"
	       "  ktrace why --elf kernel.elf boot.ktrx\n"
	       "  ktrace why --qmp qmp.sock\n"
	       "  ktrace why --earlier monday.ktrx --earlier tuesday.ktrx today.ktrx\n",
};

/*
 * The notes of a core are no part of what ktrace left in its memory. Without them there is less to go by, but
 * enough.
 */
static void add_registers(const struct why *why, struct ktread *trace)
{
	char *text;

	if (ktread_info(trace)->form != KTREAD_FORM_CORE)
		return;
	if (capture_core_cpus_read(why->args.path, &text) != 0)
		command_message(why->args.name, "%s", capture_message());
	else if (text && ktread_set_registers(trace, text) < 0)
		command_message(why->args.name, "%s", ktread_message(trace));
	free(text);
}

/*
 * The newest stamp of a machine that still runs is its now only if it goes on: so it is watched before its
 * RAM is read.
 */
static double watch(const struct why *why)
{
	const enum ktread_form form = why->args.options.form;
	double seconds = -1;

	if (!why->peer && (form == KTREAD_FORM_AUTO || form == KTREAD_FORM_RAM))
		capture_stillness_of_file(why->args.path, why->args.options.machine, &seconds);
	return seconds;
}

static void note_silence_of(struct ktread *trace, double seconds)
{
	char note[64];

	if (seconds < 0 || ktread_info(trace)->form != KTREAD_FORM_RAM)
		return;
	snprintf(note, sizeof(note), "silent: %.1f s%s\n", seconds, seconds > 0 ? " or more" : "");
	ktread_set_note(trace, note); /* without memory for it, `explain` fails as well */
}

static int explain_trace(struct why *why)
{
	const double silence = watch(why);
	struct ktread *trace;
	struct base_output out;
	int status, verdict = 0, error;

	status = trace_args_open(&why->args, &trace);
	if (why->peer) /* a file of our own, which is read from here on */
		unlink(why->args.path);
	if (status)
		return status;
	note_silence_of(trace, silence);
	if (base_output_open(&out, STDOUT_FILENO) < 0) {
		command_message(why->args.name, "out of memory");
		return trace_args_close(&why->args, trace, 0) | EXIT_BAD_INPUT;
	}
	add_registers(why, trace);
	status = explain(&why->options, trace, &out, &verdict);
	error = base_output_close(&out);
	status = trace_args_close(&why->args, trace, status);
	status = trace_output_status(why->args.name, "standard output", error) | status;
	return status ? status : verdict;
}

static int explain_machine(struct why *why)
{
	const struct capture_extract_options options = {
		.source = why->source,
		.path = why->peer,
		.elf = why->options.elf,
		.timeout_ms = ANSWER_MS,
	};
	struct capture_extract_report report;
	char path[PATH_MAX];

	if (capture_extract_temporary(&options, path, &report) != 0) {
		command_message(why->args.name, "%s", capture_message());
		return EXIT_BAD_INPUT;
	}
	if (report.warning[0])
		command_message(why->args.name, "%s", report.warning);
	why->args.path = path;
	return explain_trace(why);
}

/* What goes together. 0 or EXIT_USAGE. */
static int check_command(const struct why *why)
{
	const char *option = options_given(&why->args.line, "form v1-layout machine");

	if (why->options.json && why->options.all)
		return options_refuse(&why->args.line, "--all is for the text: --json always has all");
	if (!why->peer || !option)
		return 0;
	command_message(why->args.name, "%s says how a file is to be read: not with --qmp or --gdb", option);
	return command_usage(why->args.name);
}

static int run_why(int argc, char **argv)
{
	struct why why = { .args = { TRACE_ARGS(&syntax, argv[0]), .reports_order = true },
			   .options = { .name = argv[0] } };
	int status = trace_args_parse(&why.args, argc, argv);

	if (status >= 0)
		return status;
	status = check_command(&why);
	if (status)
		return status;
	return why.peer ? explain_machine(&why) : explain_trace(&why);
}

const struct command command_why = {
	.name = "why",
	.purpose = "what is wrong with a machine, and who waits for whom",
	.run = run_why,
};
