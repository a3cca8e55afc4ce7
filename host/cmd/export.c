/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace export: a trace in another program's format. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/trace_args.h"
#include "cmd/write_export.h"

enum {
	OPTION_FORMAT = TRACE_OPTION_END,
};

struct export
{
	struct trace_args args;
	const struct export_format *format;
	const char *to;
};

static void print_formats(FILE *to)
{
	const struct export_format *format;

	for (unsigned n = 0; (format = export_format_at(n)); n++)
		fprintf(to, "    %-12s %s\n", format->name, format->purpose);
}

static void print_help(void)
{
	fputs("usage: ktrace export --format FORMAT [OPTION]... FILE -o OUT\n\n"
	      "Writes a trace in the format of another program. '-o -' writes to standard output. "
	      "Formats:\n\n",
	      stdout);
	print_formats(stdout);
	fputs("\n  -f, --format FORMAT\n  -o, --output OUT\n", stdout);
	fputs(trace_filter_help, stdout);
	fputs(trace_read_help, stdout);
	fputs("\nExamples:\n"
	      "  ktrace export --format json boot.ktrx -o boot.json\n"
	      "  ktrace export --format json --cpu 0 --until 2 boot.ktrx -o - | gzip > boot.json.gz\n",
	      stdout);
}

/* -1: go on; otherwise the exit status. */
static int parse_options(struct export *export, int argc, char **argv)
{
	static const struct option options[] = {
		TRACE_READ_OPTIONS,
		TRACE_FILTER_OPTIONS,
		{ "format", required_argument, NULL, 'f' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *name = export->args.name, *format = NULL;
	int option, status;

	while ((option = getopt_long(argc, argv, "f:o:h", options, NULL)) != -1) {
		switch (option) {
		case 'h':
			print_help();
			return fflush(stdout) ? EXIT_BAD_INPUT : EXIT_SUCCESS;
		case 'f':
			format = optarg;
			break;
		case 'o':
			export->to = optarg;
			break;
		default:
			status = trace_args_take(&export->args, option, optarg);
			if (status)
				return status;
		}
	}
	if (!format || !export->to) {
		command_message(name, format ? "where to? (-o OUT)" : "which format? (--format FORMAT)");
		return command_usage(name);
	}
	export->format = export_format_find(format);
	if (!export->format) {
		command_message(name, "there is no format '%s', only:", format);
		print_formats(stderr);
		return command_usage(name);
	}
	status = trace_args_file(&export->args, argc, argv);
	return status ? status : -1;
}

static int run_export(int argc, char **argv)
{
	struct export export = { .args = TRACE_ARGS(argv[0]) };
	struct ktread *trace;
	int status = parse_options(&export, argc, argv);

	if (status >= 0)
		return status;
	status = trace_args_open(&export.args, &trace);
	if (status)
		return status;
	return write_export(&export.args, trace, export.format, export.to);
}

const struct command command_export = {
	.name = "export",
	.purpose = "a trace for other programs: Perfetto, Chrome",
	.run = run_export,
};
