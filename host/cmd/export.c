/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace export: writes a trace in another program's format. */
#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/trace_args.h"
#include "sql/sql.h"

struct export_command {
	struct trace_args args;
	const char *format, *to; /* values of --format and --output; NULL if not given */
};

/* Writes the tables of `ktrace sql` into a database file. */
static int write_sqlite(struct ktread *trace, int fd, struct export_report *report)
{
	const struct sql_options options = { .timeout = 0 };
	char path[32];
	struct sql *sql;
	int status;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	status = sql_open(&sql, trace, &options);
	if (!status)
		status = sql_export(sql, path, &report->events, &report->output_error);
	sql_close(sql);
	return status;
}

/* this format is not in host/export, because host/sql uses functions of host/export */
static const struct export_format sqlite = {
	.name = "sqlite",
	.purpose = "SQLite database with the tables of 'ktrace sql'",
	.refuses = "pid cpu event since until where with",
	.why_refused = "a database has the whole trace: select in the query",
	.place = EXPORT_DATABASE,
	.write = write_sqlite,
};

static void print_formats(FILE *to)
{
	const struct export_format *format;

	for (unsigned n = 0; (format = export_format_at(n)); n++)
		fprintf(to, "    %-12s %s\n", format->name, format->purpose);
	fprintf(to, "    %-12s %s\n", sqlite.name, sqlite.purpose);
}

static const struct export_format *find_format(const char *name)
{
	return strcmp(name, sqlite.name) == 0 ? &sqlite : export_format_find(name);
}

static void list_formats(void)
{
	print_formats(stdout);
}

#define AT(member) .to = offsetof(struct export_command, member)
static const struct option_row rows[] = {
	{ "format", 'f', "FORMAT", "write one of the formats above", options_set_text, AT(format) },
	{ "output", 'o', "OUT", "write to OUT; - is standard output", options_set_text, AT(to) },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace export --format FORMAT [OPTION]... [FILE] -o OUT",
	.about = "Writes a trace in the format of another program. '-o -' writes to standard output. "
		 "Formats:\n\n",
	.describe = list_formats,
	.lists = { rows, trace_thread_options, trace_event_options, trace_where_options, trace_file_options,
		   trace_hardware_options, trace_machine_options, trace_layout_options, trace_calls_options },
	.end = "Examples:\n"
	       "  ktrace export --format json boot.ktrx -o boot.json\n"
	       "  ktrace export --format json --cpu 0 --until 2 boot.ktrx -o - | gzip > boot.json.gz\n",
};

/* Returns the format, or NULL after a message. */
static const struct export_format *choose_format(const struct export_command *export)
{
	const struct export_format *format = export->format ? find_format(export->format) : NULL;
	const char *option;

	if (!export->format) {
		command_message(export->args.name, "no format given (--format FORMAT)");
	} else if (!export->to) {
		command_message(export->args.name, "no output file given (-o OUT)");
	} else if (!format) {
		command_message(export->args.name,
				"there is no format '%s'; the formats are:", export->format);
		print_formats(stderr);
	} else if (format->place != EXPORT_FILE && strcmp(export->to, "-") == 0) {
		command_message(export->args.name, "format %s cannot be written to standard output (-o OUT)",
				format->name);
	} else if (format->refuses && (option = options_given(&export->args.line, format->refuses))) {
		command_message(export->args.name, "%s: %s", option, format->why_refused);
	} else {
		return format;
	}
	command_usage(export->args.name);
	return NULL;
}

static int run_export(int argc, char **argv)
{
	struct export_command export = { .args = { TRACE_ARGS(&syntax, argv[0]), .beside = TRACE_BESIDE_CALLS,
						   .shows_calls = true } };
	const struct export_format *format;
	struct ktread *trace;
	int status = trace_args_parse(&export.args, argc, argv);

	if (status >= 0)
		return status;
	format = choose_format(&export);
	if (!format)
		return EXIT_USAGE;
	status = trace_args_open(&export.args, &trace);
	if (status)
		return status;
	return write_export(&export.args, trace, format, export.to);
}

const struct command command_export = {
	.name = "export",
	.purpose = "convert a trace for other programs: Perfetto, Tracy, DuckDB and others",
	.run = run_export,
};
