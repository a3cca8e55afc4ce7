/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace why: prints what is wrong with a machine, and the evidence for it. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analyze/note.h"
#include "analyze/symbols.h"
#include "capture/cpu_state.h"
#include "capture/error.h"
#include "capture/extract.h"
#include "capture/kernel_elf.h"
#include "capture/watch.h"
#include "cmd/command.h"
#include "cmd/terminal.h"
#include "cmd/trace_args.h"
#include "observe/observe.h"
#include "why/ids.h"
#include "why/report.h"

#define EXPLAIN_EARLIER 16u

struct explain_options {
	const char *name; /* text that begins each message */
	/* path of the kernel's file; NULL: use the kernel named in the trace's note */
	const char *elf;
	/* earlier traces: the order of locks is learned from these traces as well */
	struct options_list earlier;
	bool json;
	bool all;
	bool brief; /* true: print only the verdict */
	bool ids;   /* print the ids of events */
	/* path of the trace, quoted for a shell; NULL: the trace is not from a file */
	const char *path;
};

#define EXPLAIN_PROBLEM 10 /* exit status if something is wrong; 0 if nothing is wrong */
#define EXPLAIN_UNKNOWN 11 /* exit status if ktrace cannot find out whether something is wrong */

/* Adds the lock orders of the earlier traces. Returns 0 or EXIT_BAD_INPUT. */
static int add_earlier(const struct explain_options *options, struct why_evidence *evidence)
{
	const struct ktread_options reading = { .size = sizeof(reading) };
	struct ktread *trace;

	for (unsigned n = 0; n < options->earlier.count; n++) {
		int error = ktread_open(&trace, options->earlier.word[n], &reading);

		if (!error)
			error = why_evidence_add_earlier(evidence, trace, n + 1);
		if (error)
			command_message(options->name, "%s", ktread_message(trace));
		ktread_close(trace);
		if (error)
			return EXIT_BAD_INPUT;
	}
	return 0;
}

static int status_of(const struct why_findings *findings)
{
	const enum finding_mark mark = why_findings_at(findings, 0)->base.mark;

	return mark == FINDING_OK ? 0 : mark == FINDING_WRONG ? EXPLAIN_PROBLEM : EXPLAIN_UNKNOWN;
}

static void report(const struct explain_options *options, struct base_output *out,
		   const struct why_evidence *evidence, const struct why_findings *findings, bool repeatable)
{
	if (options->json)
		why_report_json(out, evidence, findings);
	else if (options->brief)
		why_report_verdict(out, findings);
	else
		why_report(out, evidence, findings,
			   &(struct why_style){ .all = options->all,
						.ids = options->ids || repeatable,
						.trace = repeatable ? options->path : NULL });
}

/*
 * Writes the findings. Sets *exit_status to the status of the verdict, or to EXIT_BAD_INPUT after a message.
 * Returns 0 or an error of reading the trace.
 */
static int explain(const struct explain_options *options, struct ktread *trace, struct base_output *out,
		   int *exit_status)
{
	struct why_evidence *evidence = NULL;
	struct why_findings *findings = NULL;
	struct symbols *symbols;
	size_t length;
	const bool repeatable = note_find(ktread_info(trace)->note, "recipe", &length);
	int status = 0;

	*exit_status = trace_symbols_open(options->name, options->elf, trace, &symbols);
	if (!*exit_status)
		status = why_evidence_read(&evidence, trace, symbols);
	if (!*exit_status && status == 0)
		*exit_status = add_earlier(options, evidence);
	if (!*exit_status && status == 0)
		status = why_find(&findings, evidence);
	if (!*exit_status && status == 0 && !options->brief && (options->json || options->ids || repeatable))
		status = why_ids_find(findings, evidence);
	if (!*exit_status && status == 0) {
		report(options, out, evidence, findings, repeatable);
		*exit_status = status_of(findings);
	}
	why_findings_free(findings);
	why_evidence_free(evidence);
	symbols_close(symbols);
	return status;
}

void explain_file(const char *name, const char *path, const char *elf)
{
	const struct explain_options options = { .name = name, .elf = elf, .brief = true };
	const struct ktread_options reading = { .size = sizeof(reading) };
	struct ktread *trace;
	struct base_output out;
	int status = ktread_open(&trace, path, &reading), verdict;

	if (!status && base_output_open(&out, STDERR_FILENO) < 0)
		status = KTREAD_E_MEMORY;
	if (!status) {
		terminal_prepare(&out, false);
		status = explain(&options, trace, &out, &verdict);
		base_output_close(&out);
	}
	if (status)
		command_message(name, "%s", ktread_message(trace));
	ktread_close(trace);
}

#define ANSWER_MS 5000

struct why {
	struct trace_args args;
	struct explain_options options;
	const char *peer; /* address of --qmp or --gdb; NULL: read a file */
	enum capture_source source;
};

static const char *set_peer(struct why *why, enum capture_source source, const char *value)
{
	if (why->peer)
		return "is a second machine: only one --qmp or --gdb can be given";
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
	{ "json", 0, NULL, "print one JSON object", options_set_flag, AT(options.json) },
	{ "all", 0, NULL, "show all findings in full, and all threads", options_set_flag, AT(options.all),
	  .instead = true },
	{ "ids", 0, NULL,
	  "after each line that refers to an event, print the event's id, RING.SLOT, for 'ktrace goto' "
	  "(default if the run can be repeated)",
	  options_set_flag, AT(options.ids) },
	{ "elf", 0, "KERNEL",
	  "take names and lines from this ELF file of the kernel (the file that 'ktrace run' "
	  "booted, if it is still the same build)",
	  options_set_text, AT(options.elf) },
	{ "earlier", 0, "TRACE",
	  "also compare the order of locks with this trace of an earlier run; may be given up to "
	  "16 times",
	  options_set_list, AT(options.earlier), .most = EXPLAIN_EARLIER },
	{ "qmp", 0, "ADDRESS",
	  "examine a running QEMU, started with -qmp unix:PATH,server=on,wait=off; the guest is "
	  "paused for a moment",
	  set_qmp, .to = 0 },
	{ "gdb", 0, "ADDRESS",
	  "examine a running machine through gdb's remote protocol: QEMU's -s, or a debug probe", set_gdb,
	  .to = 0 },
	{ 0 },
};

/* there are no options for filters, because missing events would lead to wrong conclusions */
static const struct options_syntax syntax = {
	.forms = "ktrace why [OPTION]... [FILE]\n"
		 "ktrace why [OPTION]... --qmp ADDRESS | --gdb ADDRESS",
	.about = "Finds out what is wrong with a machine: which threads and CPUs wait for each other, "
		 "which spin, and which wait for something that does not happen. "
		 "Prints the verdict, then the evidence. "
		 "FILE as for 'ktrace show'; without FILE, reads ktrace.ktrx, which 'ktrace run' writes. "
		 "Exit status: 0 nothing is wrong, 10 something is wrong, 11 unknown.",
	.lists = { rows, budget_options, trace_file_options, trace_machine_options, trace_layout_options,
		   trace_calls_options, terminal_options },
	.end = "Examples:\n"
	       "  ktrace why\n"
	       "  ktrace why --elf kernel.elf boot.ktrx\n"
	       "  ktrace why --qmp qmp.sock\n"
	       "  ktrace why --earlier monday.ktrx --earlier tuesday.ktrx today.ktrx\n",
};

/*
 * If the trace is a core dump, adds the CPUs' registers from the notes of the core, because the trace in its
 * memory does not contain them. On errors, prints a message and continues without registers.
 */
static void add_registers(const struct why *why, struct ktread *trace)
{
	char *text;

	if (ktread_info(trace)->form != KTREAD_FORM_CORE)
		return;
	if (capture_core_cpus_read(why->args.path, why->options.elf, &text) != 0)
		command_message(why->args.name, "%s", capture_message());
	else if (text && ktread_set_registers(trace, text) < 0)
		command_message(why->args.name, "%s", ktread_message(trace));
	free(text);
}

/*
 * If the trace is a RAM file, watches the file for a moment before it is read, to find out for how long the
 * guest has recorded nothing. Returns that time in seconds, negative if unknown.
 */
static double watch(const struct why *why)
{
	const enum ktread_form form = why->args.options.form;
	double seconds = -1;

	if (!why->peer && (form == KTREAD_FORM_AUTO || form == KTREAD_FORM_RAM))
		capture_stillness_of_file(why->args.path, why->args.options.machine, &seconds);
	return seconds;
}

/*
 * If the trace is a RAM file, sets the note to two facts that are not in this file: for how long the guest
 * has recorded nothing, and the path of its kernel.
 */
static void note_machine(struct ktread *trace, const char *ram, double seconds)
{
	char note[PATH_MAX + 128], kernel[PATH_MAX];
	int length = 0;

	if (ktread_info(trace)->form != KTREAD_FORM_RAM)
		return;
	if (seconds >= 0)
		length = snprintf(note, sizeof(note), "silent: %.1f s%s\n", seconds,
				  seconds > 0 ? " or more" : "");
	if (capture_ram_kernel(ram, kernel, sizeof(kernel)))
		length += snprintf(note + length, sizeof(note) - (size_t)length, "kernel: %s\n", kernel);
	if (length)
		/* ignore that memory runs out, because `explain` then fails, too */
		ktread_set_note(trace, note);
}

static int explain_trace(struct why *why)
{
	const double silence = watch(why);
	struct ktread *trace;
	char path[2 * PATH_MAX];
	struct base_output out;
	int status, verdict = 0, error;

	status = trace_args_open(&why->args, &trace);
	/* a temporary file: remove its name, because only the open file is read from here on */
	if (why->peer)
		unlink(why->args.path);
	if (status)
		return status;
	note_machine(trace, why->args.path, silence);
	if (base_output_open(&out, STDOUT_FILENO) < 0) {
		command_message(why->args.name, "out of memory");
		return trace_args_close(&why->args, trace, 0) | EXIT_BAD_INPUT;
	}
	if (!why->options.json)
		terminal_prepare(&out, true);
	base_output_schema(&out, why->options.json ? "ktrace-why/1" : NULL);
	progress_start(why->args.name, trace, &out);
	add_registers(why, trace);
	if (!why->peer)
		why->options.path = command_word(why->args.path, path, sizeof(path));
	status = explain(&why->options, trace, &out, &verdict);
	error = base_output_close(&out);
	status = trace_args_close(&why->args, trace, status);
	status = trace_output_status(why->args.name, "standard output", error) | status;
	return status ? status : verdict;
}

/*
 * Explains a machine whose kernel has no ktrace, from samples of its CPUs' registers. Returns an exit status,
 * as for a trace.
 */
static int explain_outside(const struct why *why)
{
	static struct observe observe;
	struct findings findings = { 0 };
	struct profile_names *names = NULL;
	struct base_output out;
	const char *reason;
	int status, error;

	command_message(why->args.name,
			"no ktrace in the guest's memory: sampling the registers of its CPUs");
	if (observe_take(&observe, why->peer, ANSWER_MS, why->options.elf, &names, &reason) != 0) {
		command_message(why->args.name, "%s", capture_message());
		profile_names_close(names);
		return EXIT_BAD_INPUT;
	}
	if (!names && reason)
		command_message(why->args.name, "%s", reason);
	observe_judge(&findings, &observe, names);
	status = findings.marks[FINDING_WRONG] ? EXPLAIN_PROBLEM : EXPLAIN_UNKNOWN;
	if (findings.failed || base_output_open(&out, STDOUT_FILENO) < 0) {
		command_message(why->args.name, "out of memory");
		status = EXIT_BAD_INPUT;
	} else {
		if (!why->options.json)
			terminal_prepare(&out, true);
		base_output_schema(&out, why->options.json ? "ktrace-why/1" : NULL);
		if (why->options.json)
			observe_report_json(&out, &findings, &observe, names);
		else
			observe_report(&out, &findings);
		error = base_output_close(&out);
		if (error)
			status = trace_output_status(why->args.name, "standard output", error);
	}
	findings_free(&findings);
	profile_names_close(names);
	return status;
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
	int error;

	error = capture_extract_temporary(&options, path, &report);
	if (error == CAPTURE_E_ABSENT && why->source == CAPTURE_FROM_QMP && report.lacks_ktrace)
		return explain_outside(why);
	if (error) {
		command_message(why->args.name, "%s", capture_message());
		return EXIT_BAD_INPUT;
	}
	/* report.warning is about the kernel's file; the same problem is reported when names are looked up */
	why->args.path = path;
	why->args.shown = "the machine";
	if (report.frequency && !why->args.options.frequency)
		command_message(
			why->args.name,
			"the machine: the kernel does not know its clock frequency; measured while the "
			"guest runs: %" PRIu64 " Hz (--frequency HZ sets it)",
			report.frequency);
	return explain_trace(why);
}

/* Checks that the options are compatible. Returns 0 or EXIT_USAGE. */
static int check_command(const struct why *why)
{
	const char *option = options_given(&why->args.line, "form v1-layout machine");

	if (why->options.json && why->options.all)
		return options_refuse(&why->args.line, "--all is for text: --json always shows everything");
	if (!why->peer || !option)
		return 0;
	command_message(why->args.name, "%s is for files: it cannot be combined with --qmp or --gdb", option);
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
	.purpose = "find out what is wrong with a machine: deadlocks, lost wakeups, spinning",
	.run = run_why,
};
