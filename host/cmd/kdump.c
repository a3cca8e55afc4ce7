/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* kdump: prints what processes requested from their kernel, with the options of the BSDs' kdump(1). */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/terminal.h"
#include "cmd/trace_args.h"
#include "kdump/views.h"
#include "ktread/ktread.h"

#define USUAL_FILE    "ktrace.out" /* name of the file that ktrace(1) writes */
#define USUAL_COLUMNS 80
#define LEAST_COLUMNS 9
/* interval, in ns, at which the program checks whether the file has grown */
#define LOOK_AGAIN 100000000

struct kdump {
	const char *name, *path;
	struct kdump_options options;
	struct kdump_select select;
	struct ktread_proc_options reading;
	const struct kdump_form *form;
	const char *table;
	const char *where; /* value of --where; NULL if not given */
	struct filter *filter;
	struct ktread *events; /* trace to which `filter` is bound; NULL until the first record */
	/* the table of calls for which `events` was made; only compared, because it may have been freed */
	const struct calls_table *bound;
	uint64_t first; /* timestamp of the first record */
	bool oneline, count, json, letter_c, follow;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

/* ---- Reading the command line ---- */

static const char *set_pid(void *to, const char *value, const struct option_row *row)
{
	struct kdump_select *select = to;
	uint64_t number;

	(void)row;
	if (trace_parse_number(value, UINT32_MAX, &number))
		return "";
	select->one = true;
	select->pid = (uint32_t)number;
	return NULL;
}

static const char *set_letters(void *to, const char *value, const struct option_row *row)
{
	(void)row;
	return kdump_select_letters(to, value) ? NULL : "contains a letter that is not one of cfilnpstuwy+";
}

static const char *set_format(void *to, const char *value, const struct option_row *row)
{
	struct ktread_proc_options *reading = to;

	(void)row;
	reading->format = ktread_proc_format_named(value);
	return reading->format == KTREAD_PROC_AUTO
		       ? "is not one of ktrx, dragonfly, freebsd0, freebsd0-i386 and freebsd1"
		       : NULL;
}

#define AT(member) .to = offsetof(struct kdump, member)
static const struct option_row rows[] = {
	{ NULL, 'A', NULL, "print the ABI of the process", options_set_flag, AT(options.abi) },
	{ NULL, 'c', NULL, "print the CPU; with --oneline: the same as --count", options_set_flag,
	  AT(letter_c) },
	{ NULL, 'd', NULL, "print numbers in decimal", options_set_flag, AT(options.decimal) },
	{ NULL, 'E', NULL, "print the time since the first record", options_set_flag, AT(options.elapsed) },
	{ NULL, 'f', "FILE", "read FILE; - is standard input", options_set_text, AT(path) },
	{ NULL, 'H', NULL, "print thread ids", options_set_flag, AT(options.threads) },
	{ NULL, 'j', NULL, "print fixed columns, with PID:TID in all lines", options_set_flag,
	  AT(options.fixed) },
	{ NULL, 'l', NULL, "at the end of the file, wait for further records and print them",
	  options_set_flag, AT(follow) },
	{ NULL, 'm', "MAXDATA",
	  "print at most MAXDATA bytes of data; 0 prints all (default: 64; FreeBSD's files: all)",
	  options_set_number, AT(options.data_most), .most = UINT64_MAX - 1 },
	{ NULL, 'n', NULL, "print numbers instead of names", options_set_flag, AT(options.raw) },
	{ NULL, 'p', "PID", "print only this process, or, in FreeBSD's files, this thread", set_pid,
	  AT(select), .once = true },
	{ NULL, 'R', NULL, "print the time since the previous record", options_set_flag,
	  AT(options.relative) },
	{ NULL, 'r', NULL,
	  "print modes, users, groups and dates in structures in readable form, not as numbers",
	  options_set_flag, AT(options.resolve) },
	{ NULL, 'S', NULL, "print the numbers of system calls after their names", options_set_flag,
	  AT(options.numbers) },
	{ NULL, 's', NULL, "do not print data", options_set_flag, AT(options.no_data) },
	{ NULL, 'T', NULL, "print the time since 1970", options_set_flag, AT(options.absolute) },
	{ NULL, 't', "LETTERS",
	  "print only these types of records: c system calls, f page faults, i data, l creation "
	  "and exit of processes, n paths, p denied rights, s signals, t structures, u data from "
	  "utrace(), w context switches, y settings; + means all types except f, l and w "
	  "(without -t: all types)",
	  set_letters, AT(select) },
	{ "where", 0, "EXPRESSION",
	  "print only records for which EXPRESSION is true: 'call == \"openat\" and pid == 17'; see "
	  "ktrace-filter(7)",
	  options_set_text, AT(where), .once = true },
	{ "format", 0, "NAME",
	  "read the file in this format: ktrx, dragonfly, freebsd0, freebsd0-i386 or freebsd1 "
	  "(default: detected)",
	  set_format, AT(reading) },
	{ "table", 0, "FILE",
	  "take names and types of system calls from a file, or from a built-in table: linux, "
	  "freebsd, dragonfly",
	  options_set_text, AT(table) },
	{ "names", 0, NULL, "print the names of arguments", options_set_flag, AT(options.arguments) },
	{ "oneline", 0, NULL, "print one line per system call, as strace(1) does", options_set_flag,
	  AT(oneline) },
	{ "count", 0, NULL, "print a table of system calls: number, duration and failures", options_set_flag,
	  AT(count), .instead = true },
	{ "json", 0, NULL, "print one JSON object per record", options_set_flag, AT(json), .instead = true },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "kdump [OPTION]... [FILE]",
	.about = "Prints a process trace (" USUAL_FILE ") in the format of ktrace, DragonFly or FreeBSD.",
	.lists = { rows, terminal_options },
	.end = "Examples:\n"
	       "  kdump -T -t cn\n"
	       "  kdump --oneline -p 17 ktrace.out\n",
};

/*
 * Returns the first given option that has no effect with the selected output; NULL if there is none. With
 * --json, every value has a name already. A table of counts has no lines that an option could change.
 */
static const char *useless(const struct kdump *kdump, const struct options *line)
{
	if (kdump->count)
		return options_given(line, kdump->oneline ? "A d E H j m n R r s T names"
							  : "A c d E H j m n R r s T names");
	if (kdump->json)
		return options_given(line, "A c d E H j R r T names");
	return kdump->oneline ? options_given(line, "A d H j") : NULL;
}

/* Checks that the options are compatible. Returns 0 or EXIT_USAGE. */
static int check_options(struct kdump *kdump, const struct options *line)
{
	const char *option;

	kdump->options.cpus = kdump->letter_c && !kdump->oneline;
	kdump->count = kdump->count || (kdump->letter_c && kdump->oneline);
	if (kdump->json && (kdump->oneline || kdump->count))
		return options_refuse(line, "--json cannot be combined with --oneline or --count");
	if (kdump->count && kdump->follow)
		return options_refuse(line, "--count needs a complete trace: it cannot be combined with -l");
	if (kdump->where && (kdump->oneline || kdump->count))
		return options_refuse(line, "--where selects records: it cannot be combined with --oneline "
					    "or --count, which join several records");
	option = useless(kdump, line);
	if (!option)
		return kdump->where ? trace_where_parse(kdump->name, kdump->where, &kdump->filter) : 0;
	command_message(kdump->name, "%s has no effect with %s", option,
			kdump->count  ? "--count"
			: kdump->json ? "--json"
				      : "--oneline");
	return command_usage(kdump->name);
}

/* Parses the command line. Returns -1 to continue; otherwise the exit status. */
static int parse(struct kdump *kdump, int argc, char **argv)
{
	struct options line = { .syntax = &syntax, .by = kdump->name, .to = kdump };
	int status = options_parse(&line, argc, argv);

	if (status >= 0)
		return status;
	if (optind < argc && !kdump->path)
		kdump->path = argv[optind++];
	if (optind < argc) {
		command_message(kdump->name, "unexpected argument '%s': only one file can be given",
				argv[optind]);
		return command_usage(kdump->name);
	}
	if (!kdump->path)
		kdump->path = USUAL_FILE;
	if (!*kdump->path)
		return options_refuse(&line, OPTIONS_NO_NAME);
	kdump->reading.follow = kdump->follow;
	status = check_options(kdump, &line);
	kdump->form = kdump->count     ? &kdump_form_counts
		      : kdump->oneline ? &kdump_form_oneline
		      : kdump->json    ? &kdump_form_json
				       : &kdump_form_lines;
	return status ? status : -1;
}

/*
 * Returns the width of the terminal to which standard error is connected. Without a terminal, or with -n,
 * returns a fixed width, so that the output does not depend on the terminal.
 */
static unsigned screen_columns(bool raw)
{
	struct winsize size;

	if (raw || ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < LEAST_COLUMNS)
		return USUAL_COLUMNS;
	return size.ws_col;
}

/* ---- Reading the file and printing its records ---- */

/* Writes the buffered output, and waits a moment, so that the file can grow. */
static void wait_for_more(struct base_output *out)
{
	const struct timespec time = { .tv_nsec = LOOK_AGAIN };

	base_output_flush(out);
	nanosleep(&time, NULL);
}

/*
 * Binds --where to the events that records are made into, when the first record is known, and again when a
 * session has another table of calls.
 */
static int bind(struct kdump *kdump, struct ktread_proc *trace)
{
	int status;

	if (kdump->events) {
		ktread_close(kdump->events);
		kdump->events = NULL;
		filter_free(kdump->filter);
		kdump->filter = NULL;
		status = trace_where_parse(kdump->name, kdump->where, &kdump->filter);
		if (status)
			return status;
	}
	status = ktread_proc_events(&kdump->events, trace, kdump->first);
	if (status == 0 && kdump->options.table)
		status = foreign_calls_set_table(kdump->events, kdump->options.table, 0);
	else if (status == 0)
		status = foreign_calls_set(kdump->events);
	if (status < 0) {
		command_message(kdump->name, "out of memory");
		return EXIT_BAD_INPUT;
	}
	return trace_where_bind(kdump->name, kdump->where, kdump->filter, kdump->events);
}

static int update_where(struct kdump *kdump, struct ktread_proc *trace, const struct kdump_context *context,
			const struct ktread_proc_record *record)
{
	if (!kdump->where || (kdump->events && kdump->bound == context->table))
		return 0;
	if (!kdump->events)
		kdump->first = record->stamp;
	kdump->bound = context->table;
	return bind(kdump, trace);
}

/* Returns whether --where accepts a record. */
static bool accepts(const struct kdump *kdump, const struct ktread_proc_record *record)
{
	struct ktread_event event;

	if (!kdump->where)
		return true;
	filter_set_process(kdump->filter, record->pid);
	return ktread_proc_event(kdump->events, record, &event) && filter_accepts(kdump->filter, &event);
}

/* Prints all records. Reports an error in the file after all records before the error were printed. */
static int show(struct kdump *kdump, struct ktread_proc *trace, struct kdump_context *context, void *state)
{
	const struct ktread_proc_record *record;
	int result, unbound, status = EXIT_SUCCESS;

	while (!context->out->error && !interrupted) {
		result = ktread_proc_next(trace, &record);
		if (result == 0 && ktread_proc_info(trace)->over)
			break;
		if (result == 0) {
			wait_for_more(context->out);
			continue;
		}
		if (result < 0 && interrupted)
			break;
		if (result < 0) {
			base_output_flush(context->out);
			command_message(kdump->name, "%s", ktread_proc_message(trace));
			status = EXIT_BAD_INPUT;
			if (result != KTREAD_E_FORMAT)
				break;
			continue;
		}
		result = kdump_context_update(context, record);
		if (result == 0) {
			unbound = update_where(kdump, trace, context, record);
			if (unbound)
				return unbound;
			result = kdump->form->record(
				state, context, record,
				accepts(kdump, record) &
					kdump_select_wants(&kdump->select, record,
							   !context->ktrx && !context->dragonfly));
		}
		if (result < 0) {
			command_message(kdump->name, "out of memory");
			return EXIT_BAD_INPUT;
		}
	}
	return status;
}

/* Reports records that could not be shown, and a clock frequency that could not be used. */
static void sum_up(const struct kdump *kdump, const struct ktread_proc_info *info)
{
	if (info->unknown)
		command_message(kdump->name, "%s: %llu record%s an unknown type", kdump->path,
				(unsigned long long)info->unknown, info->unknown == 1 ? " has" : "s have");
	if (info->broken)
		command_message(kdump->name, "%s: %llu record%s an invalid payload", kdump->path,
				(unsigned long long)info->broken, info->broken == 1 ? " has" : "s have");
	if (info->impossible_frequency)
		command_message(kdump->name, "%s: the trace states an impossible clock frequency, %llu Hz",
				kdump->path, (unsigned long long)info->impossible_frequency);
}

static int show_all(struct kdump *kdump, struct ktread_proc *trace, struct base_output *out)
{
	struct kdump_context context;
	void *state = NULL;
	int status;

	if (kdump_context_open(&context, &kdump->options, trace, out, kdump->form->style) < 0 ||
	    kdump->form->open(&state, &context) < 0) {
		command_message(kdump->name, "out of memory");
		kdump_context_close(&context);
		return EXIT_BAD_INPUT;
	}
	status = show(kdump, trace, &context, state);
	kdump->form->close(state, &context);
	base_output_flush(out);
	sum_up(kdump, context.info);
	kdump_context_close(&context);
	return status;
}

static void catch_signals(void)
{
	/* SA_RESTART is not set, because a signal must interrupt a blocking call */
	const struct sigaction action = { .sa_handler = interrupt };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static int show_file(struct kdump *kdump)
{
	struct ktread_proc *trace;
	struct base_output out;
	int status;

	if (ktread_proc_open(&trace, kdump->path, &kdump->reading) < 0) {
		command_message(kdump->name, "%s", ktread_proc_message(NULL));
		return EXIT_BAD_INPUT;
	}
	if (base_output_open(&out, STDOUT_FILENO) < 0) {
		command_message(kdump->name, "out of memory");
		ktread_proc_close(trace);
		return EXIT_BAD_INPUT;
	}
	if (!kdump->json)
		terminal_prepare(&out, !kdump->follow);
	base_output_schema(&out, kdump->json ? "ktrace-kdump/1" : NULL);
	if (kdump->reading.follow)
		catch_signals();
	status = show_all(kdump, trace, &out);
	ktread_close(kdump->events);
	ktread_proc_close(trace);
	return trace_output_status(kdump->name, "standard output", base_output_close(&out)) | status;
}

static int run_kdump(int argc, char **argv)
{
	struct kdump kdump = { .name = argv[0],
			       .select = KDUMP_SELECT_ALL,
			       .options = { .data_most = KDUMP_DATA_USUAL },
			       .reading = { .size = sizeof(struct ktread_proc_options) } };
	char *table = NULL;
	int status = parse(&kdump, argc, argv);

	if (status >= 0)
		return status;
	kdump.options.columns = screen_columns(kdump.options.raw);
	status = kdump.table ? kdump_table_read(kdump.name, kdump.table, &table, &kdump.options.table) : 0;
	if (!status)
		status = show_file(&kdump);
	free(table);
	filter_free(kdump.filter);
	return status;
}

const struct command command_kdump = {
	.name = "kdump",
	.tool = "kdump",
	.purpose = "show a process trace, as kdump(1) of the BSDs does",
	.run = run_kdump,
};
