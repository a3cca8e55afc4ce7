/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/explain.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "analyze/note.h"
#include "analyze/symbols.h"
#include "cmd/command.h"
#include "why/report.h"

/*
 * A file that was asked for and cannot be used is an error; one that was only found is not. Names of another
 * build would point at the wrong code: then there are none. 0 or EXIT_BAD_INPUT.
 */
static int open_symbols(const struct explain_options *options, const struct ktread *trace,
			struct symbols **symbols)
{
	char found[PATH_MAX];
	const char *elf = options->elf;
	int status;

	*symbols = NULL;
	if (!elf && note_kernel(ktread_info(trace)->note, found, sizeof(found)))
		elf = found;
	if (!elf)
		return 0;
	status = symbols_open(symbols, elf, ktread_info(trace));
	if (status == SYMBOLS_OTHER_BUILD) {
		command_message(options->name,
				"WARNING: %s is of another build than the traced kernel: addresses are "
				"shown without names",
				elf);
		symbols_close(*symbols);
		*symbols = NULL;
	} else if (status == SYMBOLS_E_MACHINE) {
		command_message(options->name, "WARNING: %s: addresses are shown without names",
				symbols_message());
	} else if (status != SYMBOLS_OK && options->elf) {
		command_message(options->name, "%s", symbols_message());
	}
	return status < 0 && status != SYMBOLS_E_MACHINE && options->elf ? EXIT_BAD_INPUT : 0;
}

/* 0 or EXIT_BAD_INPUT. */
static int add_earlier(const struct explain_options *options, struct why_evidence *evidence)
{
	const struct ktread_options reading = { .size = sizeof(reading) };
	struct ktread *trace;

	for (unsigned n = 0; n < options->earlier.count; n++) {
		int error = ktread_open(&trace, options->earlier.word[n], &reading);

		if (!error)
			error = why_evidence_add_earlier(evidence, trace, n + 1);
		if (error)
			command_message(options->name, "%s: %s", options->earlier.word[n],
					ktread_message(trace));
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
		   const struct why_evidence *evidence, const struct why_findings *findings)
{
	if (options->json)
		why_report_json(out, evidence, findings);
	else if (options->brief)
		why_report_verdict(out, findings);
	else
		why_report(out, evidence, findings, options->all);
}

int explain(const struct explain_options *options, struct ktread *trace, struct base_output *out,
	    int *exit_status)
{
	struct why_evidence *evidence = NULL;
	struct why_findings *findings = NULL;
	struct symbols *symbols;
	int status = 0;

	*exit_status = open_symbols(options, trace, &symbols);
	if (!*exit_status)
		status = why_evidence_read(&evidence, trace, symbols);
	if (!*exit_status && status == 0)
		*exit_status = add_earlier(options, evidence);
	if (!*exit_status && status == 0)
		status = why_find(&findings, evidence);
	if (!*exit_status && status == 0) {
		report(options, out, evidence, findings);
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
		status = explain(&options, trace, &out, &verdict);
		base_output_close(&out);
	}
	if (status)
		command_message(name, "%s", ktread_message(trace));
	ktread_close(trace);
}
