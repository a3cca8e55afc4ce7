/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/trace_args.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"

const char trace_read_help[] =
	"  --form FORM          what the file is: auto (default), v1, v2, bare, ram, core\n"
	"  --v1-layout LAYOUT   payloads of version 1: kevlar (default; as traces carry them) or spec\n"
	"  --frequency HZ       counter frequency, where the trace does not know it\n"
	"  --machine ARCH       x86_64, aarch64 or riscv64, where the trace does not say\n";

const char trace_filter_help[] =
	"  --pid N              only this thread\n"
	"  --cpu LIST           only these CPUs: 0,2-5\n"
	"  --event PATTERNS     only these events: syscall, sched.switch, 'net.*'; several with commas\n"
	"  --since T, --until T seconds since the first event, or with a unit: 250ms, 20us; ticks if the\n"
	"                       frequency is unknown\n";

int trace_parse_number(const char *text, uint64_t limit, uint64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	*number = strtoull(text, &end, 0);
	return errno || *end || *number > limit ? -1 : 0;
}

static int bad_value(const struct trace_args *args, const char *option, const char *value)
{
	command_message(args->name, "unusable value for %s: '%s'", option, value);
	return command_usage(args->name);
}

/* "0,2-5" */
static int parse_cpus(struct trace_args *args, const char *list)
{
	const char *at = list;

	memset(args->cpus, 0, sizeof(args->cpus));
	do {
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
		if (first > last || last >= TRACE_CPUS_MAX)
			return -1;
		for (unsigned long cpu = first; cpu <= last; cpu++)
			args->cpus[cpu / 8] |= (uint8_t)(1u << cpu % 8);
		at = end + 1;
		if (*end == '\0')
			return 0;
		if (*end != ',')
			return -1;
	} while (1);
}

static int parse_form(const char *name, enum ktread_form *form)
{
	static const struct {
		const char *name;
		enum ktread_form form;
	} forms[] = {
		{ "auto", KTREAD_FORM_AUTO }, { "v1", KTREAD_FORM_V1 },	  { "v2", KTREAD_FORM_V2 },
		{ "bare", KTREAD_FORM_BARE }, { "ram", KTREAD_FORM_RAM }, { "core", KTREAD_FORM_CORE },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (strcmp(forms[i].name, name) == 0) {
			*form = forms[i].form;
			return 0;
		}
	}
	return -1;
}

static int parse_layout(const char *name, enum ktread_v1_layout *layout)
{
	*layout = strcmp(name, "spec") == 0 ? KTREAD_V1_SPEC : KTREAD_V1_KEVLAR;
	return *layout == KTREAD_V1_SPEC || strcmp(name, "kevlar") == 0 ? 0 : -1;
}

static int parse_machine(const char *name, const char **machine)
{
	static const char *const machines[][2] = { { "x86_64", "x86_64" },   { "x64", "x86_64" },
						   { "aarch64", "aarch64" }, { "arm64", "aarch64" },
						   { "riscv64", "riscv64" }, { "riscv", "riscv64" } };

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (strcmp(machines[i][0], name) == 0) {
			*machine = machines[i][1];
			return 0;
		}
	}
	return -1;
}

int trace_args_take(struct trace_args *args, int option, const char *value)
{
	uint64_t number;

	switch (option) {
	case TRACE_OPTION_FORM:
		return parse_form(value, &args->options.form) ? bad_value(args, "--form", value) : 0;
	case TRACE_OPTION_V1_LAYOUT:
		return parse_layout(value, &args->options.v1_layout) ? bad_value(args, "--v1-layout", value)
								     : 0;
	case TRACE_OPTION_MACHINE:
		return parse_machine(value, &args->options.machine) ? bad_value(args, "--machine", value) : 0;
	case TRACE_OPTION_FREQUENCY:
		if (trace_parse_number(value, UINT64_MAX, &args->options.frequency) ||
		    !args->options.frequency)
			return bad_value(args, "--frequency", value);
		return 0;
	case TRACE_OPTION_PID:
		if (trace_parse_number(value, UINT32_MAX, &number))
			return bad_value(args, "--pid", value);
		args->pid = (int64_t)number;
		return 0;
	case TRACE_OPTION_CPU:
		args->has_cpus = 1;
		return parse_cpus(args, value) ? bad_value(args, "--cpu", value) : 0;
	case TRACE_OPTION_EVENT:
		args->events = value;
		return 0;
	case TRACE_OPTION_SINCE:
		args->since = value;
		return 0;
	case TRACE_OPTION_UNTIL:
		args->until = value;
		return 0;
	default: /* getopt_long() has said why */
		return command_usage(args->name);
	}
}

int trace_args_file(struct trace_args *args, int argc, char **argv)
{
	if (optind + 1 != argc) {
		command_message(args->name, optind >= argc ? "which file?" : "one file at a time");
		return command_usage(args->name);
	}
	args->path = argv[optind];
	return 0;
}

/* Does `pattern` mean this event: by "group.name", name or group alone, whatever the case? */
static int type_matches(const struct ktread_type *type, const char *pattern)
{
	char full[256];

	snprintf(full, sizeof(full), "%s.%s", type->group, type->name);
	return fnmatch(pattern, full, FNM_CASEFOLD) == 0 || fnmatch(pattern, type->name, FNM_CASEFOLD) == 0 ||
	       fnmatch(pattern, type->group, FNM_CASEFOLD) == 0;
}

static int mark_events(struct trace_args *args, const struct ktread *trace, const char *pattern)
{
	uint64_t number;
	int found = 0;

	if (trace_parse_number(pattern, KTRX_EVENT_MAX, &number) == 0) {
		args->event_map[number / 8] |= (uint8_t)(1u << number % 8);
		return 1;
	}
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(trace, id);

		if (type && type_matches(type, pattern)) {
			args->event_map[id / 8] |= (uint8_t)(1u << id % 8);
			found = 1;
		}
	}
	return found;
}

/* The patterns can be told only once the trace has said which events there are. */
static int select_events(struct trace_args *args, const struct ktread *trace)
{
	char *list = strdup(args->events), *rest = list, *pattern;
	int status = 0;

	if (!list) {
		command_message(args->name, "out of memory");
		return EXIT_BAD_INPUT;
	}
	while (!status && (pattern = strsep(&rest, ","))) {
		if (*pattern && mark_events(args, trace, pattern))
			continue;
		command_message(args->name, "%s has no event '%s'", args->path, pattern);
		status = EXIT_USAGE;
	}
	free(list);
	return status;
}

/* "1.5", "250ms": billionths of a second; -1 if it is neither. */
static int parse_time(const char *text, uint64_t *nanoseconds)
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

/*
 * A time on the command line as a stamp. Timelines show microseconds, rounded: what was copied from one has
 * to find its event again, so both ends are pushed out by `slack` nanoseconds.
 */
static int parse_stamp(struct ktread *trace, const char *text, int64_t slack, uint64_t *stamp)
{
	uint64_t frequency = ktread_info(trace)->frequency, base = ktread_first_stamp(trace);
	uint64_t nanoseconds, ticks;

	if (frequency == 0) {
		if (trace_parse_number(text, UINT64_MAX, &ticks))
			return -1;
	} else {
		unsigned __int128 product;

		if (parse_time(text, &nanoseconds))
			return -1;
		if (slack < 0 && nanoseconds < (uint64_t)-slack)
			nanoseconds = 0;
		else if (slack < 0 || nanoseconds < UINT64_MAX - (uint64_t)slack)
			nanoseconds += (uint64_t)slack;
		product = (unsigned __int128)nanoseconds * frequency / 1000000000u;
		ticks = product >> 64 ? UINT64_MAX : (uint64_t)product;
	}
	if (__builtin_add_overflow(base, ticks, stamp))
		*stamp = UINT64_MAX;
	return 0;
}

int trace_args_filtered(const struct trace_args *args)
{
	return args->pid >= 0 || args->has_cpus || args->events || args->since || args->until;
}

static int set_filter(struct trace_args *args, struct ktread *trace)
{
	struct ktread_filter filter = { .size = sizeof(filter), .thread = args->pid };
	int status;

	if (!trace_args_filtered(args))
		return 0;
	if (args->has_cpus) {
		filter.cpus = args->cpus;
		filter.cpu_count = TRACE_CPUS_MAX;
	}
	if (args->events) {
		status = select_events(args, trace);
		if (status)
			return status;
		filter.events = args->event_map;
	}
	if (args->since && parse_stamp(trace, args->since, -500, &filter.since))
		return bad_value(args, "--since", args->since);
	if (args->until && parse_stamp(trace, args->until, 500, &filter.until))
		return bad_value(args, "--until", args->until);
	if (ktread_set_filter(trace, &filter) < 0) {
		command_message(args->name, "%s", ktread_message(trace));
		return EXIT_BAD_INPUT;
	}
	return 0;
}

static void print_warnings(const struct trace_args *args, struct ktread *trace)
{
	const char *warning;

	while ((warning = ktread_warning(trace)))
		command_message(args->name, "%s", warning);
}

int trace_args_open(struct trace_args *args, struct ktread **trace)
{
	int status;

	if (ktread_open(trace, args->path, &args->options) < 0) {
		command_message(args->name, "%s", ktread_message(*trace));
		return EXIT_BAD_INPUT;
	}
	print_warnings(args, *trace);
	if (ktread_info(*trace)->frequency == 0)
		command_message(
			args->name,
			"%s: the counter's frequency is unknown, so seconds cannot be shown (--frequency HZ)",
			args->path);
	status = set_filter(args, *trace);
	if (status)
		ktread_close(*trace);
	return status;
}

int trace_args_close(struct trace_args *args, struct ktread *trace, int result)
{
	print_warnings(args, trace);
	if (result < 0)
		command_message(args->name, "%s", ktread_message(trace));
	ktread_close(trace);
	return result < 0 ? EXIT_BAD_INPUT : EXIT_SUCCESS;
}

int trace_output_status(const char *name, const char *to, int error)
{
	if (error == 0)
		return 0;
	if (error != EPIPE)
		command_message(name, "%s: %s", to, strerror(error));
	return EXIT_BAD_INPUT;
}
