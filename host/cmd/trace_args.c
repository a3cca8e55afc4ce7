/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/trace_args.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/machine.h"
#include "base/ticks.h"
#include "cmd/command.h"
#include "cmd/terminal.h"

const char *trace_read_number(const char *text, uint64_t *number)
{
	const bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	*number = strtoull(text, &end, is_hex ? 16 : 10);
	return errno ? NULL : end;
}

int trace_parse_number(const char *text, uint64_t limit, uint64_t *number)
{
	const char *end = trace_read_number(text, number);

	return end && *end == '\0' && *number <= limit ? 0 : -1;
}

int trace_parse_time(const char *text, uint64_t *nanoseconds)
{
	static const struct {
		const char *name;
		uint64_t scale;
	} units[] = {
		{ "", 1000000000 }, { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 }
	};
	char *end;
	uint64_t whole, part = 0, digits = 1;

	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	whole = strtoull(text, &end, 10);
	if (errno)
		return -1;
	if (*end == '.')
		for (end++; *end >= '0' && *end <= '9'; end++)
			if (digits < 1000000000) {
				part = part * 10 + (uint64_t)(*end - '0');
				digits *= 10;
			}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(units[i].name, end) != 0)
			continue;
		if (__builtin_mul_overflow(whole, units[i].scale, nanoseconds))
			return -1;
		return __builtin_add_overflow(*nanoseconds, part * units[i].scale / digits, nanoseconds) ? -1
													 : 0;
	}
	return -1;
}

int trace_parse_ticks(const char *text, uint64_t frequency, enum trace_moment moment, uint64_t *ticks)
{
	unsigned __int128 product;
	uint64_t nanoseconds;

	if (frequency == 0)
		return trace_parse_number(text, UINT64_MAX, ticks);
	if (trace_parse_time(text, &nanoseconds))
		return -1;
	if (moment != TRACE_MOMENT) {
		*ticks = moment == TRACE_MOMENT_FIRST ? base_ticks_first(nanoseconds, frequency)
						      : base_ticks_last(nanoseconds, frequency);
		return 0;
	}
	product = (unsigned __int128)nanoseconds * frequency / 1000000000u;
	*ticks = product >> 64 ? UINT64_MAX : (uint64_t)product;
	return 0;
}

int trace_parse_cpus(const char *list, uint8_t *map, uint32_t limit)
{
	const char *at = list;

	memset(map, 0, (limit + 7) / 8);
	for (;;) {
		char *end;
		unsigned long first, last;

		if (*at < '0' || *at > '9')
			return -1;
		first = last = strtoul(at, &end, 10);
		if (*end == '-') {
			at = end + 1;
			if (*at < '0' || *at > '9')
				return -1;
			last = strtoul(at, &end, 10);
		}
		if (first > last || last >= limit)
			return -1;
		for (unsigned long cpu = first; cpu <= last; cpu++)
			map[cpu / 8] |= (uint8_t)(1u << cpu % 8);
		if (*end == '\0')
			return 0;
		if (*end != ',')
			return -1;
		at = end + 1;
	}
}

int trace_parse_machine(const char *name, const char **machine)
{
	*machine = base_machine_name(base_machine_number(name));
	return *machine ? 0 : -1;
}

const char *trace_set_machine(void *to, const char *value, const struct option_row *row)
{
	(void)row;
	return trace_parse_machine(value, to) ? "is not one of x86_64, aarch64 and riscv64" : NULL;
}

/* the words are in the same order as the constants of enum ktread_form */
static const char *set_form(void *to, const char *value, const struct option_row *row)
{
	static const struct option_row forms = { .argument = "auto|v1|v2|bare|ram|core|stream|proc" };

	(void)row;
	return options_set_choice(to, value, &forms)
		       ? "is not one of auto, v1, v2, bare, ram, core, stream and proc"
		       : NULL;
}

static const char *set_raw_clock(void *to, const char *value, const struct option_row *row)
{
	(void)value;
	(void)row;
	*(int *)to = 1;
	return NULL;
}

static const char *set_cpus(void *to, const char *value, const struct option_row *row)
{
	struct trace_args *args = to;
	const char *wrong = options_set_joined(&args->cpu_list, value, row);

	if (wrong)
		return wrong;
	return trace_parse_cpus(args->cpu_list, args->cpus, TRACE_CPUS_MAX) ? TRACE_CPUS_WANTED : NULL;
}

#define AT(member) .to = offsetof(struct trace_args, member)

const struct option_row trace_file_options[] = {
	{ "form", 0, "FORM",
	  "read the file as FORM: auto (default), v1, v2, bare, ram, core, stream or proc (a "
	  "process trace)",
	  set_form, AT(options.form) },
	{ "with", 0, "FILE",
	  "merge a process trace of the same boot; "
	  "'ktrace show' and 'ktrace export' also merge a hardware trace (see ktrace hwt) "
	  "and show the functions that are entered",
	  options_set_text, AT(with) },
	{ "raw-clock", 0, NULL,
	  "show timestamps as recorded, without the clock offsets that the guest measured", set_raw_clock,
	  AT(options.raw_clock) },
	{ "align", 0, NULL,
	  "correct the CPUs' clocks so that no effect comes before its cause; reads the file "
	  "several times",
	  options_set_flag, AT(align), .instead = true },
	{ 0 },
};

const struct option_row trace_hardware_options[] = {
	{ "with-elf", 0, "FILE[@BASE]",
	  "take code and names for the hardware trace from this ELF file: the kernel or a program",
	  options_set_list, AT(with_elf), .most = OPTIONS_WORDS },
	{ "with-root", 0, "ROOT", "look up the files named in the hardware trace below this directory",
	  options_set_text, AT(with_root) },
	{ "branches", 0, NULL, "show all branches of the hardware trace, instead of functions",
	  options_set_flag, AT(branches) },
	{ 0 },
};

const struct option_row trace_machine_options[] = {
	{ "frequency", 0, "HZ", "use this clock frequency, instead of the one in the trace, if any",
	  options_set_number, AT(options.frequency), .least = 1, .most = KTREAD_FREQUENCY_MOST },
	{ "machine", 0, "ARCH",
	  "use this architecture if the trace does not name one: x86_64, aarch64 or riscv64",
	  trace_set_machine, AT(options.machine) },
	{ 0 },
};

const struct option_row trace_layout_options[] = {
	{ "v1-layout", 0, "kevlar|spec",
	  "choose the layout of payloads in version 1: kevlar (default), as in real traces; spec, "
	  "as in the published text of that version",
	  options_set_choice, AT(options.v1_layout) },
	{ 0 },
};

const struct option_row trace_calls_options[] = {
	{ "calls", 0, "TABLE",
	  "take the names of system calls from TABLE, not from the trace: a file, or linux, "
	  "freebsd or dragonfly",
	  options_set_text, AT(calls) },
	{ 0 },
};

const struct option_row trace_thread_options[] = {
	{ "pid", 0, "N", "select events of the thread with this id", options_set_number, AT(pid),
	  .most = UINT32_MAX, .once = true },
	{ "cpu", 0, "LIST", "select events of these CPUs: 0,2-5", set_cpus, .to = 0 },
	{ 0 },
};

const struct option_row trace_event_options[] = {
	{ "event", 0, "PATTERNS",
	  "select these events: syscall, sched.switch, 'net.*'; separate several by commas",
	  options_set_joined, AT(events) },
	{ "since", 0, "TIME",
	  "select events from TIME on; TIME is in seconds since the first event, or has a unit: "
	  "250ms, 20us; it is in ticks if the frequency is unknown",
	  options_set_text, AT(since), .once = true },
	{ "until", 0, "TIME", "select events up to TIME, which is given as for --since", options_set_text,
	  AT(until), .once = true },
	{ 0 },
};

int trace_bad_time(const char *name, const char *option, const char *value, uint64_t frequency)
{
	return command_bad_value(name, option, value,
				 frequency ? "a time such as 1.5, 250ms or 20us"
					   : "a number of ticks, because the frequency is unknown");
}

const char *trace_input(const char *path)
{
	return strcmp(path, "-") == 0 ? "/dev/stdin" : path;
}

/*
 * Chooses the trace file: the argument that follows the options or, if there is none, TRACE_USUAL_FILE if it
 * exists. Returns -1 to continue; otherwise EXIT_USAGE.
 */
static int take_file(struct trace_args *args, int argc, char **argv)
{
	if (args->word && optind + 1 < argc)
		*args->word = argv[optind + 1];
	if (optind + 1 + (args->word != NULL) < argc)
		return options_refuse(&args->line, args->word ? "too many words: put quotes around the query"
							      : "only one file can be given");
	if (optind < argc && !*argv[optind])
		return options_refuse(&args->line, OPTIONS_NO_NAME);
	if (optind < argc)
		args->path = trace_input(argv[optind]);
	else if (!args->path && !args->file_needed && access(TRACE_USUAL_FILE, F_OK) == 0)
		args->path = TRACE_USUAL_FILE;
	if (args->path)
		return -1;
	return options_refuse(&args->line,
			      args->file_needed
				      ? "no file given"
				      : "no file given, and this directory contains no " TRACE_USUAL_FILE);
}

int trace_args_parse(struct trace_args *args, int argc, char **argv)
{
	const char *hardware;
	int status;

	args->line.to = args;
	status = options_parse(&args->line, argc, argv);
	if (status >= 0)
		return status;
	status = budget_begin(args->name);
	if (status >= 0)
		return status;
	hardware = options_given(&args->line, TRACE_HARDWARE_OPTIONS);
	if (hardware && !args->with) {
		command_message(args->name, "%s needs --with and a hardware trace", hardware);
		return command_usage(args->name);
	}
	if (!args->elsewhere)
		return take_file(args, argc, argv);
	return optind == argc ? -1 : options_refuse(&args->line, "give a file or a machine, not both");
}

int trace_output_status(const char *name, const char *to, int error)
{
	if (error == 0 || (error == EPIPE && pager_is_started()))
		return 0;
	if (error != EPIPE)
		command_message(name, "%s: %s", to, strerror(error));
	return EXIT_BAD_INPUT;
}

/* ---- --where: the expression that selects events, and the messages about errors in it ---- */

#define SHOWN 72u /* maximum number of bytes of the expression that a message contains */

const struct option_row trace_where_options[] = {
	{ "where", 0, "EXPRESSION",
	  "select events for which EXPRESSION is true: 'event ~ \"sched.*\" and cpu == 1'; see "
	  "ktrace-filter(7)",
	  options_set_text, .to = offsetof(struct trace_args, where), .once = true },
	{ 0 },
};

/* Prints the expression, or the part of it around a column, and a caret under the column. */
static void print_place(const char *text, uint32_t column)
{
	const size_t length = strlen(text), at = column - 1;
	const size_t from = at > SHOWN - 8 ? at - (SHOWN - 8) : 0;
	const char *before = from ? "..." : "", *after = from + SHOWN < length ? "..." : "";

	fprintf(stderr, "  %s", before);
	for (size_t n = from; n < length && n < from + SHOWN; n++)
		fputc(isprint((unsigned char)text[n])	? text[n]
		      : isspace((unsigned char)text[n]) ? ' '
							: '?',
		      stderr);
	fprintf(stderr, "%s\n  %*s^\n", after, (int)(strlen(before) + at - from), "");
}

/* Reports an error in the expression. Returns the exit status. */
static int report(const char *name, const char *text, int status, const struct filter_error *error)
{
	char safe[BASE_ESCAPE_TEXT_GROWTH * sizeof(error->text)];

	if (status == KTREAD_E_MEMORY) {
		command_message(name, "out of memory");
		return EXIT_BAD_INPUT;
	}
	*base_escape_text(safe, error->text, strlen(error->text), sizeof(safe) - 1) = '\0';
	command_message(name, "--where: column %u: %s", error->column, safe);
	print_place(text, error->column);
	return EXIT_USAGE;
}

int trace_where_parse(const char *name, const char *text, struct filter **filter)
{
	struct filter_error error;
	int status = filter_parse(filter, text, &error);

	return status ? report(name, text, status, &error) : 0;
}

int trace_where_open(struct trace_args *args)
{
	return args->where ? trace_where_parse(args->name, args->where, &args->filter) : 0;
}

int trace_where_follow(struct trace_args *args)
{
	int status = trace_where_open(args);

	if (status || !args->where || !filter_uses_time(args->filter))
		return status;
	command_message(args->name, "--where: the events of a running guest cannot be selected by time");
	trace_where_close(args);
	return command_usage(args->name);
}

void trace_where_close(struct trace_args *args)
{
	filter_free(args->filter);
	args->filter = NULL;
}

int trace_where_bind(const char *name, const char *text, struct filter *filter, struct ktread *trace)
{
	struct filter_error error;
	int status = filter_bind(filter, trace, &error);

	return status ? report(name, text, status, &error) : 0;
}

static int accept(void *context, const struct ktread_event *event)
{
	return filter_accepts(context, event);
}

/*
 * Computes the intersection of two bit maps. If the first bit map does not exist yet, copies the second bit
 * map.
 */
static const uint8_t *narrow(const uint8_t *given, uint8_t *to, const uint8_t *from, size_t bytes)
{
	for (size_t n = 0; n < bytes; n++)
		to[n] = given ? given[n] & from[n] : from[n];
	return to;
}

void trace_where_narrow(struct trace_args *args, struct ktread_filter *filter)
{
	struct filter_window window;

	filter_narrow(args->filter, &window);
	if (filter->since < window.since)
		filter->since = window.since;
	if (filter->until == 0 || filter->until > window.until)
		filter->until = window.until;
	/* `until` 1 matches no event; 0 cannot be used, because an `until` of 0 means that there is no end */
	if (filter->since > filter->until)
		filter->since = UINT64_MAX, filter->until = 1;
	if (window.only_time)
		return;
	filter->events = narrow(filter->events, args->event_map, window.events, sizeof(args->event_map));
	if (window.some_cpus) {
		filter->cpus = narrow(filter->cpus, args->cpus, window.cpus, sizeof(args->cpus));
		filter->cpu_count = TRACE_CPUS_MAX;
	}
	filter->accept = accept;
	filter->context = args->filter;
}
