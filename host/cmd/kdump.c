/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* kdump: what processes asked of their kernel, with the options of the BSDs' kdump(1). */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/foreign_calls.h"
#include "cmd/trace_args.h"
#include "kdump/views.h"
#include "ktread/ktread.h"

#define USUAL_FILE    "ktrace.out" /* what ktrace(1) leaves */
#define USUAL_COLUMNS 80
#define LEAST_COLUMNS 9
#define LOOK_AGAIN    100000000 /* ns between looks at a file that may grow */
#define LETTERS	      "AEHRSTcdf:jlm:np:rst:"

enum {
	OPTION_HELP = 256,
	OPTION_FORMAT,
	OPTION_TABLE,
	OPTION_ONELINE,
	OPTION_COUNT,
	OPTION_NAMES,
	OPTION_JSON,
};

static const struct option long_options[] = {
	{ "help", no_argument, NULL, OPTION_HELP },
	{ "format", required_argument, NULL, OPTION_FORMAT },
	{ "table", required_argument, NULL, OPTION_TABLE },
	{ "oneline", no_argument, NULL, OPTION_ONELINE },
	{ "count", no_argument, NULL, OPTION_COUNT },
	{ "names", no_argument, NULL, OPTION_NAMES },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ NULL, 0, NULL, 0 },
};

static const char usage[] =
	"usage: kdump [-AEHRSTcdjlnrs] [-f file] [-m maxdata] [-p pid] [-t letters]\n"
	"             [--format name] [--table file] [--names] [--oneline | --count | --json] [file]\n"
	"\n"
	"Prints a process trace (" USUAL_FILE "): ktrace's own, DragonFly's, FreeBSD's.\n"
	"\n"
	"  -A           the ABI of the process\n"
	"  -c           the CPU; with --oneline as --count\n"
	"  -d           numbers in decimal\n"
	"  -E           time since the first record\n"
	"  -f file      the trace; - is standard input\n"
	"  -H           thread numbers\n"
	"  -j           fixed columns: PID:TID in all lines\n"
	"  -l           go on with what is appended to the file\n"
	"  -m maxdata   show at most so many bytes of data, 0 for all of them (64; all of FreeBSD's)\n"
	"  -n           numbers instead of names\n"
	"  -p pid       only this process; of FreeBSD's files also this thread\n"
	"  -R           time since the record before\n"
	"  -r           modes, users, groups and dates in structs in words\n"
	"  -S           numbers of system calls behind their names\n"
	"  -s           no data\n"
	"  -T           time since 1970\n"
	"  -t letters   only these: c calls, f faults, i data, l lives of processes, n names looked up,\n"
	"               p denied, s signals, t structs, u user, w context switches, y settings,\n"
	"               + the usual ones: all but f, l and w\n"
	"  --format NAME  the file is ktrx, dragonfly, freebsd0, freebsd0-i386 or freebsd1 (found out)\n"
	"  --table FILE   names and types of calls: a file, or linux, freebsd, dragonfly\n"
	"  --names      the names of arguments\n"
	"  --oneline    a line a call, as strace(1)\n"
	"  --count      how often each call was made, how long it took, how often it failed\n"
	"  --json       an object a record\n"
	"\n"
	"Examples:\n"
	"  kdump -T -t cn\n"
	"  kdump --oneline -p 17 ktrace.out\n";

struct kdump {
	const char *name, *path;
	struct kdump_options options;
	struct kdump_select select;
	struct ktread_proc_options reading;
	const struct kdump_form *form;
	const char *table;
	bool oneline, count, json, letter_c;
	char given[40]; /* letters */
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

/* ---- the command line ---- */

static int bad_value(const struct kdump *kdump, const char *option, const char *value)
{
	command_message(kdump->name, "unusable value for %s: '%s'", option, value);
	return command_usage(kdump->name);
}

static void take_flag(struct kdump *kdump, int option)
{
	struct kdump_options *options = &kdump->options;

	options->abi = options->abi || option == 'A';
	options->elapsed = options->elapsed || option == 'E';
	options->threads = options->threads || option == 'H';
	options->relative = options->relative || option == 'R';
	options->numbers = options->numbers || option == 'S';
	options->absolute = options->absolute || option == 'T';
	kdump->letter_c = kdump->letter_c || option == 'c';
	options->decimal = options->decimal || option == 'd';
	options->fixed = options->fixed || option == 'j';
	kdump->reading.follow = kdump->reading.follow || option == 'l';
	options->raw = options->raw || option == 'n';
	options->resolve = options->resolve || option == 'r';
	options->no_data = options->no_data || option == 's';
	options->arguments = options->arguments || option == OPTION_NAMES;
	kdump->oneline = kdump->oneline || option == OPTION_ONELINE;
	kdump->count = kdump->count || option == OPTION_COUNT;
	kdump->json = kdump->json || option == OPTION_JSON;
}

/*
 * Which of the options that shape lines a form has no use for; NULL: none of those given. One object a record
 * names everything, and a table of counts has no lines.
 */
static const char *useless(const struct kdump *kdump)
{
	const char *none = kdump->count	    ? "AcdEHjmnRrsT"
			   : kdump->json    ? "AcdEHjRrT"
			   : kdump->oneline ? "AdHj"
					    : "";
	static char text[] = "-x";

	for (; *none; none++) {
		const bool as_count = *none == 'c' && kdump->oneline;

		text[1] = *none;
		if (strchr(kdump->given, *none) && !as_count)
			return text;
	}
	return kdump->options.arguments && (kdump->count || kdump->json) ? "--names" : NULL;
}

static int take_value(struct kdump *kdump, int option, const char *value)
{
	uint64_t number;

	switch (option) {
	case 'f':
		kdump->path = value;
		return 0;
	case 'm':
		return trace_parse_number(value, UINT64_MAX - 1, &kdump->options.data_most)
			       ? bad_value(kdump, "-m", value)
			       : 0;
	case 'p':
		if (trace_parse_number(value, UINT32_MAX, &number))
			return bad_value(kdump, "-p", value);
		kdump->select.one = true;
		kdump->select.pid = (uint32_t)number;
		return 0;
	case 't':
		return kdump_select_letters(&kdump->select, value) ? 0 : bad_value(kdump, "-t", value);
	case OPTION_FORMAT:
		kdump->reading.format = ktread_proc_format_named(value);
		return kdump->reading.format == KTREAD_PROC_AUTO ? bad_value(kdump, "--format", value) : 0;
	default:
		kdump->table = value;
		return 0;
	}
}

/* What goes together. 0 or EXIT_USAGE. */
static int check_options(struct kdump *kdump)
{
	kdump->options.cpus = kdump->letter_c && !kdump->oneline;
	kdump->count = kdump->count || (kdump->letter_c && kdump->oneline);
	if (kdump->json && (kdump->oneline || kdump->count))
		command_message(kdump->name, "--json stands for itself: not with --oneline or --count");
	else if (kdump->count && kdump->reading.follow)
		command_message(kdump->name, "--count comes to an end: not with -l");
	else if (useless(kdump))
		command_message(kdump->name, "%s changes nothing with %s", useless(kdump),
				kdump->count  ? "--count"
				: kdump->json ? "--json"
					      : "--oneline");
	else
		return 0;
	return command_usage(kdump->name);
}

static void note_given(struct kdump *kdump, int option)
{
	const size_t length = strlen(kdump->given);

	if (option < 128 && !strchr(kdump->given, option) && length + 1 < sizeof(kdump->given))
		kdump->given[length] = (char)option;
}

/* -1: go on; otherwise the exit status. */
static int parse(struct kdump *kdump, int argc, char **argv)
{
	int option, status;

	while ((option = getopt_long(argc, argv, LETTERS, long_options, NULL)) != -1) {
		if (option == '?')
			return command_usage(kdump->name);
		if (option == OPTION_HELP) {
			fputs(usage, stdout);
			return trace_output_status(kdump->name, "standard output",
						   fflush(stdout) == 0 ? 0 : errno);
		}
		take_flag(kdump, option);
		note_given(kdump, option);
		status = optarg ? take_value(kdump, option, optarg) : 0;
		if (status)
			return status;
		optarg = NULL;
	}
	if (optind < argc && !kdump->path)
		kdump->path = argv[optind++];
	if (optind < argc) {
		command_message(kdump->name, "what is '%s'? There is one file", argv[optind]);
		return command_usage(kdump->name);
	}
	if (!kdump->path)
		kdump->path = USUAL_FILE;
	status = check_options(kdump);
	kdump->form = kdump->count     ? &kdump_form_counts
		      : kdump->oneline ? &kdump_form_oneline
		      : kdump->json    ? &kdump_form_json
				       : &kdump_form_lines;
	return status ? status : -1;
}

/* As wide as the terminal, if there is one; -n wants the same everywhere. */
static unsigned screen_columns(bool raw)
{
	struct winsize size;

	if (raw || ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < LEAST_COLUMNS)
		return USUAL_COLUMNS;
	return size.ws_col;
}

/* ---- running ---- */

/* More of the file may come later; what there is by now is shown. */
static void wait_for_more(struct base_output *out)
{
	const struct timespec time = { .tv_nsec = LOOK_AGAIN };

	base_output_flush(out);
	nanosleep(&time, NULL);
}

/* All records. What is wrong with the file is said where it comes up, behind all that was before it. */
static int show(struct kdump *kdump, struct ktread_proc *trace, struct kdump_context *context, void *state)
{
	const struct ktread_proc_record *record;
	int result, status = EXIT_SUCCESS;

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
		if (result == 0)
			result = kdump->form->record(
				state, context, record,
				kdump_select_wants(&kdump->select, record,
						   !context->ktrx && !context->dragonfly));
		if (result < 0) {
			command_message(kdump->name, "out of memory");
			return EXIT_BAD_INPUT;
		}
	}
	return status;
}

/* What the lines could not say. */
static void sum_up(const struct kdump *kdump, const struct ktread_proc_info *info)
{
	if (info->unknown)
		command_message(kdump->name, "%s: records of types that are not known: %llu", kdump->path,
				(unsigned long long)info->unknown);
	if (info->broken)
		command_message(kdump->name, "%s: records that are not what their type says: %llu",
				kdump->path, (unsigned long long)info->broken);
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
	/* A blocking call is to come back. */
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
	if (kdump->reading.follow)
		catch_signals();
	status = show_all(kdump, trace, &out);
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
	if (kdump.table) {
		status = kdump_table_read(kdump.name, kdump.table, &table, &kdump.options.table);
		if (status)
			return status;
	}
	status = show_file(&kdump);
	free(table);
	return status;
}

const struct command command_kdump = {
	.name = "kdump",
	.tool = "kdump",
	.purpose = "as kdump(1) of the BSDs: what processes asked of their kernel",
	.run = run_kdump,
};
