/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace why: what is wrong with a machine, and how one can tell. */
#include "why/finding.h"

#include <stdlib.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/show_symbols.h"
#include "cmd/trace_args.h"
#include "why/report.h"

#define EXIT_PROBLEM 10
#define EXIT_UNKNOWN 11

enum {
	OPTION_JSON = TRACE_OPTION_OWN,
	OPTION_ALL,
	OPTION_ELF,
};

struct why {
	struct trace_args args;
	int json, all;
	const char *elf;
};

static int take_option(void *command, int option, const char *value)
{
	struct why *why = command;

	if (option == OPTION_JSON)
		why->json = 1;
	else if (option == OPTION_ALL)
		why->all = 1;
	else if (option == OPTION_ELF)
		why->elf = value;
	return 0;
}

static const struct option own_options[] = {
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "all", no_argument, NULL, OPTION_ALL },
	{ "elf", required_argument, NULL, OPTION_ELF },
	{ NULL, 0, NULL, 0 },
};

static const struct trace_syntax syntax = {
	.usage = "usage: ktrace why [OPTION]... [FILE]\n\n"
		 "Says what is wrong with a machine: who waits for whom, what spins, what never came; then "
		 "the\n"
		 "evidence. FILE as for 'ktrace show'; without it, ktrace.ktrx, which is what 'ktrace run' "
		 "leaves.\n",
	.help = "  --json               one JSON object\n"
		"  --all                all findings at length\n"
		"  --elf KERNEL         the kernel's file: names and lines for addresses\n",
	.examples = "  ktrace why\n"
		    "  ktrace why --elf kernel.elf boot.ktrx\n",
	.own = own_options,
	.usual_file = TRACE_USUAL_FILE,
	.letters = "",
	.filters = TRACE_FILTERS_NONE,
	.take = take_option,
};

static int status_of(const struct why_findings *findings)
{
	const struct why_finding *verdict = why_findings_at(findings, 0);

	if (verdict->verdict == WHY_UNKNOWN)
		return EXIT_UNKNOWN;
	return why_verdict_is_healthy(verdict->verdict) ? 0 : EXIT_PROBLEM;
}

/* What reading returned; *exit_status is what the findings are worth. */
static int explain(const struct why *why, struct ktread *trace, struct symbols *symbols, struct output *out,
		   int *exit_status)
{
	struct why_evidence *evidence;
	struct why_findings *findings = NULL;
	int status = why_evidence_read(&evidence, trace, symbols);

	if (status == 0)
		status = why_find(&findings, evidence);
	if (status == 0) {
		if (why->json)
			why_report_json(out, evidence, findings);
		else
			why_report(out, evidence, findings, why->all);
		*exit_status = status_of(findings);
	}
	why_findings_free(findings);
	why_evidence_free(evidence);
	return status;
}

static int run_why(int argc, char **argv)
{
	struct why why = { .args = TRACE_ARGS(argv[0]) };
	struct symbols *symbols;
	struct ktread *trace;
	struct output out;
	int status = trace_args_parse(&why.args, &syntax, &why, argc, argv), found = 0, error;

	if (status >= 0)
		return status;
	status = trace_args_open(&why.args, &trace);
	if (status)
		return status;
	status = show_symbols_open(&symbols, why.elf, trace, why.args.name);
	if (status)
		return trace_args_close(&why.args, trace, 0) | status;
	if (output_open(&out, STDOUT_FILENO) < 0) {
		command_message(why.args.name, "out of memory");
		symbols_close(symbols);
		return trace_args_close(&why.args, trace, 0) | EXIT_BAD_INPUT;
	}
	status = explain(&why, trace, symbols, &out, &found);
	error = output_close(&out);
	symbols_close(symbols);
	status = trace_args_close(&why.args, trace, status);
	status = trace_output_status(why.args.name, "standard output", error) | status;
	return status ? status : found;
}

const struct command command_why = {
	.name = "why",
	.purpose = "what is wrong with a machine, and who waits for whom",
	.run = run_why,
};
