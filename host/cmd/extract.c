/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace extract: extracts the trace from a RAM file, a core dump or a running machine. */
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "capture/error.h"
#include "capture/extract.h"
#include "capture/qemu_line.h"
#include "cmd/command.h"
#include "cmd/trace_args.h"

#define DEFAULT_OUT	"ktrace.ktrx"
#define EXIT_NO_KTRACE	15
#define DEFAULT_SECONDS 5

struct extract {
	const char *name;
	struct capture_extract_options options;
	unsigned sources; /* number of sources that were given on the command line */
	uint64_t boot, timeout;
	bool previous, json;
};

static const char *set_form(void *to, const char *value, const struct option_row *row)
{
	enum ktread_form *form = to;

	(void)row;
	if (strcmp(value, "ram") == 0)
		*form = KTREAD_FORM_RAM;
	else if (strcmp(value, "core") == 0)
		*form = KTREAD_FORM_CORE;
	else
		return "is neither ram nor core";
	return NULL;
}

static const char *set_range(void *to, const char *value, const struct option_row *row)
{
	struct capture_ranges *ranges = to;
	struct ktread_range range = { 0 };
	const char *end;

	(void)row;
	if (ranges->count == sizeof(ranges->range) / sizeof(ranges->range[0]))
		return "is too many: at most 16 can be given";
	end = trace_read_number(value, &range.physical);
	if (end && *end == ':')
		end = trace_read_number(end + 1, &range.length);
	if (!end || *end || !range.length || range.length > UINT64_MAX - range.physical)
		return "is not START:SIZE in bytes, such as 0x80000000:0x8000000";
	ranges->range[ranges->count++] = range;
	return NULL;
}

static void set_source(struct extract *extract, enum capture_source source, const char *path)
{
	extract->options.source = source;
	extract->options.path = path;
	extract->sources++;
}

static const char *set_peer(void *to, const char *value, const struct option_row *row)
{
	set_source(to, *row->name == 'q' ? CAPTURE_FROM_QMP : CAPTURE_FROM_GDB, value);
	return NULL;
}

#define AT(member) .to = offsetof(struct extract, member)
static const struct option_row rows[] = {
	{ "out", 'o', "FILE", "write the trace to FILE (" DEFAULT_OUT ")", options_set_text,
	  AT(options.out) },
	{ "qmp", 0, "ADDRESS", "read a running QEMU, started with -qmp unix:PATH,server=on,wait=off",
	  set_peer, .to = 0 },
	{ "gdb", 0, "ADDRESS",
	  "read a running machine through gdb's remote protocol: QEMU's -s, or a debug probe", set_peer,
	  .to = 0 },
	{ "elf", 0, "KERNEL",
	  "find the trace by the symbol ktrace_root of the kernel's ELF file, instead of searching "
	  "the memory",
	  options_set_text, AT(options.elf) },
	{ "range", 0, "START:SIZE", "with --gdb: search this memory; may be given up to 16 times", set_range,
	  AT(options.ranges) },
	{ "boot", 0, "N",
	  "extract this boot: 0 is the last boot in memory (default), 1 the boot before it, ...",
	  options_set_number, AT(boot), .most = 15 },
	{ "previous", 0, NULL, "the same as --boot 1", options_set_flag, AT(previous), .instead = true },
	{ "timeout", 0, "SECONDS", "wait at most this long for each answer (5)", options_set_number,
	  AT(timeout), .least = 1, .most = 3600 },
	{ "machine", 0, "ARCH",
	  "set the architecture of a RAM file: x86_64, aarch64 or riscv64 (default: detected)",
	  options_set_text, AT(options.machine) },
	{ "form", 0, "FORM", "set the type of the file: ram or core (default: detected)", set_form,
	  AT(options.form) },
	{ "json", 0, NULL, "print the result as one JSON object on standard output", options_set_flag,
	  AT(json) },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace extract [OPTION]... FILE\n"
		 "ktrace extract [OPTION]... --qmp ADDRESS | --gdb ADDRESS [--range START:SIZE] [--timeout "
		 "SECONDS]",
	.about = "Extracts the trace from a guest's memory: "
		 "a RAM file (also of a running guest), an ELF core, or a running machine, "
		 "which is paused for a moment. ADDRESS is the path of a socket, or HOST:PORT.",
	.lists = { rows },
};

static void print_events(const struct extract *extract, const struct capture_extract_report *report)
{
	const struct capture_summary *summary = &report->summary;
	char loss[CAPTURE_LOSS_TEXT];

	capture_summary_loss(summary, loss, sizeof(loss));
	if (report->warning[0])
		command_message(extract->name, "%s", report->warning);
	if (report->boots > 1)
		command_message(extract->name, "%" PRIu32 " boots found, this is boot %" PRIu32 "; %s",
				report->boots, extract->options.boot,
				extract->options.boot ? "the last one is --boot 0"
						      : "--boot 1 extracts the previous one");
	if (report->paused)
		command_message(extract->name, "paused for %.1f ms", report->pause * 1e3);
	command_message(extract->name,
			"%" PRIu64 " events of %" PRIu32 " CPU%s, %s: %s; next: ktrace show %s",
			summary->events, summary->cpus, summary->cpus == 1 ? "" : "s", loss,
			extract->options.out, extract->options.out);
}

static void print_report(const struct capture_extract_report *report)
{
	const struct capture_summary *summary = &report->summary;

	printf("{" BASE_OUTPUT_SCHEMA ",\"events\":%" PRIu64 ",\"cpus\":%" PRIu32 ",\"overwritten\":%" PRIu64
	       ",\"unreadable\":%" PRIu64 ",\"refused\":%" PRIu64 ",\"boots\":%" PRIu32
	       ",\"paused\":%s,\"pause_ms\":%.3f,\"located_ms\":%.3f,\"total_ms\":%.3f}\n",
	       "ktrace-extract/1", summary->events, summary->cpus, summary->overwritten, summary->unreadable,
	       summary->refused, report->boots, report->paused ? "true" : "false",
	       report->paused ? report->pause * 1e3 : 0.0, report->located * 1e3, report->total * 1e3);
}

static int extract_trace(const struct extract *extract)
{
	struct capture_extract_report report;
	int error = capture_extract(&extract->options, &report);

	if (error) {
		command_message(extract->name, "%s", capture_message());
		if (error == CAPTURE_E_USAGE)
			return command_usage(extract->name);
		return error == CAPTURE_E_ABSENT && extract->options.source == CAPTURE_FROM_FILE
			       ? EXIT_NO_KTRACE
			       : EXIT_BAD_INPUT;
	}
	print_events(extract, &report);
	if (!extract->json)
		return EXIT_SUCCESS;
	print_report(&report);
	return command_flush(extract->name);
}

/* Checks that the source supports the options. Returns 0 or an exit status. */
static int check_options(const struct extract *extract, const struct options *line)
{
	const bool file = extract->options.source == CAPTURE_FROM_FILE;
	const char *why = NULL;

	if (options_given(line, "boot") && extract->previous)
		why = "--previous means --boot 1: give only one of them";
	else if (file && extract->timeout)
		why = "--timeout needs --qmp or --gdb";
	else if (!file && extract->options.form != KTREAD_FORM_AUTO)
		why = "--form is for files: it cannot be combined with --qmp or --gdb";
	else if (!file && extract->options.machine)
		why = "--machine is for RAM files: it cannot be combined with --qmp or --gdb";
	else if (extract->options.ranges.count && extract->options.source != CAPTURE_FROM_GDB)
		why = "--range needs --gdb: the addresses of memory are known for all other sources";
	return why ? options_refuse(line, why) : 0;
}

static int run(int argc, char **argv)
{
	struct extract extract = { .name = argv[0], .options = { .out = DEFAULT_OUT } };
	struct options line = { .syntax = &syntax, .by = argv[0], .to = &extract };
	int status = options_parse(&line, argc, argv);

	if (status >= 0)
		return status;
	for (; optind < argc; optind++)
		set_source(&extract, CAPTURE_FROM_FILE, argv[optind]);
	if (extract.sources != 1)
		return options_refuse(&line, "give exactly one of FILE, --qmp and --gdb");
	status = check_options(&extract, &line);
	if (status)
		return status;
	if (extract.options.machine)
		extract.options.machine = capture_qemu_architecture(extract.options.machine);
	extract.options.boot = extract.previous ? 1 : (uint32_t)extract.boot;
	extract.options.timeout_ms = 1000 * (int)(extract.timeout ? extract.timeout : DEFAULT_SECONDS);
	return extract_trace(&extract);
}

const struct command command_extract = {
	.name = "extract",
	.purpose = "extract a trace from a RAM file, a core or a running machine",
	.run = run,
};
