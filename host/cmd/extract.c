/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace extract: a trace out of a RAM file, a core or a machine that runs. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/error.h"
#include "capture/extract.h"
#include "capture/qemu_line.h"
#include "cmd/command.h"

#define DEFAULT_OUT    "ktrace.ktrx"
#define EXIT_NO_KTRACE 15

#define DEFAULT_MS 5000

static const char usage[] =
	"usage: ktrace extract [OPTION]... FILE\n"
	"       ktrace extract [OPTION]... --qmp ADDRESS | --gdb ADDRESS\n"
	"Takes the trace out of a guest's memory: a RAM file, also of a running guest, or an ELF core; or a "
	"machine\n"
	"that runs, which is halted for a moment and goes on. ADDRESS is a socket's path or HOST:PORT.\n"
	"\n"
	"  -o, --out FILE         where the trace goes (" DEFAULT_OUT ")\n"
	"      --qmp ADDRESS      a QEMU with -qmp unix:PATH,server=on,wait=off\n"
	"      --gdb ADDRESS      gdb's remote protocol: QEMU's -s, a debug probe\n"
	"      --elf KERNEL       the kernel's file: its symbol says where to look, nothing is searched\n"
	"      --range START:SIZE with --gdb: memory to search; may be given 16 times\n"
	"      --boot N           0 the last boot that memory shows (usual), 1 the one before, ...\n"
	"      --previous         the same as --boot 1\n"
	"      --timeout SECONDS  wait so long for each answer (5)\n"
	"      --machine ARCH     architecture of a RAM file: x86_64, aarch64, riscv64 (by content)\n"
	"      --form FORM        ram or core (by content)\n"
	"      --json             what was done as one JSON object on standard output\n";

enum {
	OPTION_QMP = 256,
	OPTION_GDB,
	OPTION_ELF,
	OPTION_RANGE,
	OPTION_BOOT,
	OPTION_PREVIOUS,
	OPTION_TIMEOUT,
	OPTION_JSON,
};

static const struct option long_options[] = {
	{ "boot", required_argument, NULL, OPTION_BOOT },
	{ "elf", required_argument, NULL, OPTION_ELF },
	{ "form", required_argument, NULL, 'f' },
	{ "gdb", required_argument, NULL, OPTION_GDB },
	{ "help", no_argument, NULL, 'h' },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "machine", required_argument, NULL, 'm' },
	{ "out", required_argument, NULL, 'o' },
	{ "previous", no_argument, NULL, OPTION_PREVIOUS },
	{ "qmp", required_argument, NULL, OPTION_QMP },
	{ "range", required_argument, NULL, OPTION_RANGE },
	{ "timeout", required_argument, NULL, OPTION_TIMEOUT },
	{ NULL, 0, NULL, 0 },
};

struct extract {
	const char *name;
	struct capture_extract_options options;
	unsigned sources; /* given */
	bool json;
	/* What is not for every source is NULL unless it was given. */
	const char *form, *machine, *range, *timeout, *boot, *previous;
};

static int parse_form(const char *name, const char *text, enum ktread_form *form)
{
	if (strcmp(text, "ram") == 0)
		*form = KTREAD_FORM_RAM;
	else if (strcmp(text, "core") == 0)
		*form = KTREAD_FORM_CORE;
	else {
		command_message(name, "--form: '%s' is neither ram nor core", text);
		return EXIT_USAGE;
	}
	return 0;
}

static int parse_range(const char *name, const char *text, struct capture_ranges *ranges)
{
	struct ktread_range range = { 0 };
	char *end = NULL;

	if (ranges->count == sizeof(ranges->range) / sizeof(ranges->range[0])) {
		command_message(name, "--range: too many");
		return EXIT_USAGE;
	}
	errno = 0;
	if (isdigit((unsigned char)text[0]))
		range.physical = strtoull(text, &end, 0);
	if (end && *end == ':' && isdigit((unsigned char)end[1]))
		range.length = strtoull(end + 1, &end, 0);
	if (!range.length || *end || errno || range.length > UINT64_MAX - range.physical) {
		command_message(name, "--range: '%s' is not START:SIZE in bytes, as in 0x80000000:0x8000000",
				text);
		return EXIT_USAGE;
	}
	ranges->range[ranges->count++] = range;
	return 0;
}

/* A whole number from `least` to `most`. */
static int parse_number(const char *name, const char *option, unsigned long least, unsigned long most,
			unsigned long *number)
{
	char *end = optarg;

	errno = 0;
	*number = isdigit((unsigned char)*optarg) ? strtoul(optarg, &end, 10) : 0;
	if (end != optarg && !*end && !errno && *number >= least && *number <= most)
		return 0;
	command_message(name, "%s: '%s' is no number from %lu to %lu", option, optarg, least, most);
	return EXIT_USAGE;
}

static void say_events(const struct extract *extract, const struct capture_extract_report *report)
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
						      : "--boot 1 for the earlier");
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

	printf("{\"events\":%" PRIu64 ",\"cpus\":%" PRIu32 ",\"overwritten\":%" PRIu64
	       ",\"unreadable\":%" PRIu64 ",\"refused\":%" PRIu64 ",\"boots\":%" PRIu32
	       ",\"paused\":%s,\"pause_ms\":%.3f,\"located_ms\":%.3f,\"total_ms\":%.3f}\n",
	       summary->events, summary->cpus, summary->overwritten, summary->unreadable, summary->refused,
	       report->boots, report->paused ? "true" : "false", report->paused ? report->pause * 1e3 : 0.0,
	       report->located * 1e3, report->total * 1e3);
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
	say_events(extract, &report);
	if (extract->json)
		print_report(&report);
	return EXIT_SUCCESS;
}

static void set_source(struct extract *extract, enum capture_source source, const char *path)
{
	extract->options.source = source;
	extract->options.path = path;
	extract->sources++;
}

/* 0, or the exit status for what cannot be meant. */
static int take_option(struct extract *extract, int option)
{
	struct capture_extract_options *options = &extract->options;
	unsigned long number;
	int status;

	switch (option) {
	case 'f':
		extract->form = optarg;
		return parse_form(extract->name, optarg, &options->form);
	case 'm':
		extract->machine = optarg;
		options->machine = capture_qemu_architecture(optarg);
		return 0;
	case 'o':
		options->out = optarg;
		return 0;
	case OPTION_QMP:
	case OPTION_GDB:
		set_source(extract, option == OPTION_QMP ? CAPTURE_FROM_QMP : CAPTURE_FROM_GDB, optarg);
		return 0;
	case OPTION_ELF:
		options->elf = optarg;
		return 0;
	case OPTION_RANGE:
		extract->range = optarg;
		return parse_range(extract->name, optarg, &options->ranges);
	case OPTION_BOOT:
		extract->boot = optarg;
		status = parse_number(extract->name, "--boot", 0, 15, &number);
		options->boot = (uint32_t)number;
		return status;
	case OPTION_PREVIOUS:
		extract->previous = "";
		options->boot = 1;
		return 0;
	case OPTION_TIMEOUT:
		extract->timeout = optarg;
		status = parse_number(extract->name, "--timeout", 1, 3600, &number);
		options->timeout_ms = (int)number * 1000;
		return status;
	case OPTION_JSON:
		extract->json = true;
		return 0;
	default:
		return command_usage(extract->name);
	}
}

/* 0, or an exit status for what the source has no use for. */
static int check_options(const struct extract *extract)
{
	const bool file = extract->options.source == CAPTURE_FROM_FILE;
	const char *why = NULL;

	if (extract->boot && extract->previous)
		why = "--previous is --boot 1: give one of them";
	else if (file && extract->timeout)
		why = "--timeout is for --qmp and --gdb: a file answers at once";
	else if (!file && (extract->form || extract->machine))
		why = extract->form ? "--form is for a file: --qmp and --gdb ask a machine"
				    : "--machine is for a RAM file: --qmp and --gdb ask the machine";
	else if (extract->range && extract->options.source != CAPTURE_FROM_GDB)
		why = "--range is for --gdb: other sources say themselves where memory is";
	if (!why)
		return 0;
	command_message(extract->name, "%s", why);
	return command_usage(extract->name);
}

static int run(int argc, char **argv)
{
	struct extract extract = { .name = argv[0],
				   .options = { .out = DEFAULT_OUT, .timeout_ms = DEFAULT_MS } };
	int option, status;

	while ((option = getopt_long(argc, argv, "o:", long_options, NULL)) != -1) {
		if (option == 'h')
			return command_help(usage);
		status = take_option(&extract, option);
		if (status)
			return status;
	}
	for (; optind < argc; optind++)
		set_source(&extract, CAPTURE_FROM_FILE, argv[optind]);
	if (extract.sources != 1) {
		command_message(argv[0], "one file is needed, or --qmp, or --gdb");
		return command_usage(argv[0]);
	}
	status = check_options(&extract);
	return status ? status : extract_trace(&extract);
}

const struct command command_extract = {
	.name = "extract",
	.purpose = "take a trace out of a RAM file, a core or a running machine",
	.run = run,
};
