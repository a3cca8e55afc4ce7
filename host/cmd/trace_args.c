/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/trace_args.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/align.h"
#include "analyze/cost.h"
#include "analyze/order.h"
#include "analyze/near.h"
#include "analyze/pattern.h"
#include "capture/measure.h"
#include "cmd/command.h"
#include "cmd/foreign_calls.h"
#include "cmd/kdump_table.h"
#include "cmd/trace_values.h"
#include "cmd/trace_with.h"
#include "export/machine.h"

enum {
	OPTION_FORM = 256,
	OPTION_WITH,
	OPTION_WITH_ELF,
	OPTION_WITH_ROOT,
	OPTION_BRANCHES,
	OPTION_V1_LAYOUT,
	OPTION_FREQUENCY,
	OPTION_MACHINE,
	OPTION_RAW_CLOCK,
	OPTION_ALIGN,
	OPTION_CALLS,
	OPTION_HELP,
	OPTION_PID,
	OPTION_CPU,
	OPTION_EVENT,
	OPTION_SINCE,
	OPTION_UNTIL,
};

/* Of these every command takes the first ones, up to READING_OPTIONS, and most take them all. */
static const struct option shared[] = {
	{ "form", required_argument, NULL, OPTION_FORM },
	{ "with", required_argument, NULL, OPTION_WITH },
	{ "with-elf", required_argument, NULL, OPTION_WITH_ELF },
	{ "with-root", required_argument, NULL, OPTION_WITH_ROOT },
	{ "branches", no_argument, NULL, OPTION_BRANCHES },
	{ "v1-layout", required_argument, NULL, OPTION_V1_LAYOUT },
	{ "frequency", required_argument, NULL, OPTION_FREQUENCY },
	{ "machine", required_argument, NULL, OPTION_MACHINE },
	{ "raw-clock", no_argument, NULL, OPTION_RAW_CLOCK },
	{ "align", no_argument, NULL, OPTION_ALIGN },
	{ "calls", required_argument, NULL, OPTION_CALLS },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ "pid", required_argument, NULL, OPTION_PID },
	{ "cpu", required_argument, NULL, OPTION_CPU },
	{ "event", required_argument, NULL, OPTION_EVENT },
	{ "since", required_argument, NULL, OPTION_SINCE },
	{ "until", required_argument, NULL, OPTION_UNTIL },
};
#define ALL_OPTIONS	(sizeof(shared) / sizeof(shared[0]))
#define PID_CPU_OPTIONS 14u
#define READING_OPTIONS 12u

static const char form_help[] =
	"  --form FORM          what the file is: auto (default), v1, v2, bare, ram, core,\n"
	"                       stream, proc (what kdump reads)\n"
	"  --with FILE          a process trace of the same boot, in the same timeline\n";

static const char hardware_help[] =
	"                       or hardware trace (ktrace hwt): functions that are entered\n"
	"  --with-elf FILE[@BASE]  where hardware trace finds code and names: the kernel, programs\n"
	"  --with-root ROOT     and the files that the hardware trace names: below this folder\n"
	"  --branches           all branches of hardware trace instead of functions\n";

static const char read_help[] =
	"  --v1-layout LAYOUT   payloads of version 1, and of no other: kevlar (default; as traces carry "
	"them) or spec\n"
	"  --frequency HZ       counter frequency, where the trace does not know it\n"
	"  --machine ARCH       x86_64, aarch64 or riscv64, where the trace does not say\n"
	"  --raw-clock          stamps as recorded, without what the guest measured of its CPUs' clocks\n"
	"  --align              clocks put right until no effect comes before its cause; reads the file\n"
	"                       several times\n";

static const char calls_help[] = "  --calls TABLE        names of system calls, where the trace has none or "
				 "others: a file, or linux,\n"
				 "                       freebsd, dragonfly\n";

static const char pid_cpu_help[] = "  --pid N              only this thread\n"
				   "  --cpu LIST           only these CPUs: 0,2-5\n";

static const char filter_help[] =
	"  --event PATTERNS     only these events: syscall, sched.switch, 'net.*'; several with commas\n"
	"  --since T, --until T seconds since the first event, or with a unit: 250ms, 20us; ticks if the\n"
	"                       frequency is unknown\n";

int trace_bad_value(const struct trace_args *args, const char *option, const char *value)
{
	command_message(args->name, "unusable value for %s: '%s'", option, value);
	return command_usage(args->name);
}

static int print_help(const struct trace_args *args, const struct trace_syntax *syntax)
{
	fputs(syntax->usage, stdout);
	if (syntax->describe)
		syntax->describe();
	fputc('\n', stdout);
	fputs(syntax->help, stdout);
	if (syntax->filters != TRACE_FILTERS_NONE)
		fputs(pid_cpu_help, stdout);
	if (syntax->filters == TRACE_FILTERS_ALL)
		fputs(filter_help, stdout);
	fputs(form_help, stdout);
	if (syntax->beside != TRACE_BESIDE_NOTHING)
		fputs(hardware_help, stdout);
	fputs(read_help, stdout);
	if (syntax->calls != TRACE_CALLS_IGNORED)
		fputs(calls_help, stdout);
	fprintf(stdout, "\nExamples:\n%s", syntax->examples);
	return trace_output_status(args->name, "standard output", fflush(stdout) == 0 ? 0 : errno);
}

/* How the file is to be read. -1: not such an option. */
static int take_reading(struct trace_args *args, int option, const char *value)
{
	struct ktread_options *options = &args->options;

	switch (option) {
	case OPTION_FORM:
		return trace_parse_form(value, &options->form) ? trace_bad_value(args, "--form", value) : 0;
	case OPTION_WITH:
		args->with = value;
		return 0;
	case OPTION_WITH_ELF:
		if (args->with_elfs == TRACE_ELFS_MOST)
			return trace_bad_value(args, "--with-elf", value);
		args->with_elf[args->with_elfs++] = value;
		return 0;
	case OPTION_WITH_ROOT:
		args->with_root = value;
		return 0;
	case OPTION_BRANCHES:
		args->branches = 1;
		return 0;
	case OPTION_V1_LAYOUT:
		return trace_parse_layout(value, &options->v1_layout)
			       ? trace_bad_value(args, "--v1-layout", value)
			       : 0;
	case OPTION_MACHINE:
		return trace_parse_machine(value, &options->machine)
			       ? trace_bad_value(args, "--machine", value)
			       : 0;
	case OPTION_FREQUENCY:
		if (trace_parse_number(value, UINT64_MAX, &options->frequency) || options->frequency == 0)
			return trace_bad_value(args, "--frequency", value);
		return 0;
	case OPTION_RAW_CLOCK:
		options->raw_clock = 1;
		return 0;
	case OPTION_ALIGN:
		args->align = 1;
		return 0;
	case OPTION_CALLS:
		args->calls = value;
		return 0;
	default:
		return -1;
	}
}

/* Which events are wanted. -1: not such an option. */
static int take_filter(struct trace_args *args, int option, const char *value)
{
	uint64_t number;

	switch (option) {
	case OPTION_PID:
		if (trace_parse_number(value, UINT32_MAX, &number))
			return trace_bad_value(args, "--pid", value);
		args->pid = (int64_t)number;
		return 0;
	case OPTION_CPU:
		args->cpu_list = value;
		return trace_parse_cpus(value, args->cpus, TRACE_CPUS_MAX)
			       ? trace_bad_value(args, "--cpu", value)
			       : 0;
	case OPTION_EVENT:
		args->events = value;
		return 0;
	case OPTION_SINCE:
		args->since = value;
		return 0;
	case OPTION_UNTIL:
		args->until = value;
		return 0;
	default:
		return -1;
	}
}

const char *trace_args_gave(const struct trace_args *args, const char *names)
{
	for (size_t length; *names; names += length + (names[length] == ' ')) {
		length = strcspn(names, " ");
		for (size_t n = 0; n < ALL_OPTIONS; n++)
			if (strlen(shared[n].name) == length && memcmp(shared[n].name, names, length) == 0 &&
			    args->given >> n & 1)
				return shared[n].name;
	}
	return NULL;
}

/* -1: go on. */
static int check_useless(const struct trace_args *args, const struct trace_syntax *syntax)
{
	const char *option = syntax->useless ? trace_args_gave(args, syntax->useless) : NULL;

	if (!option && syntax->calls == TRACE_CALLS_IGNORED)
		option = trace_args_gave(args, "calls");
	if (!option)
		return -1;
	command_message(args->name, "--%s would change nothing here", option);
	return command_usage(args->name);
}

/* What goes together among the shared options. -1: go on. */
static int check_hardware(const struct trace_args *args)
{
	const char *option = trace_args_gave(args, TRACE_HARDWARE_OPTIONS);

	if (option && args->beside == TRACE_BESIDE_NOTHING)
		command_message(args->name,
				"--%s is for hardware trace, which stands beside events in 'ktrace show' and "
				"'ktrace export' only",
				option);
	else if (option && !args->with)
		command_message(args->name, "--%s is for the hardware trace that --with names", option);
	else
		return -1;
	return command_usage(args->name);
}

/* The one file that may be left. -1: go on. */
static int take_file(struct trace_args *args, const struct trace_syntax *syntax, int argc, char **argv)
{
	const char *usual = syntax->usual_file;

	if (optind + 1 < argc) {
		command_message(args->name, "one file at a time");
		return command_usage(args->name);
	}
	args->path = optind < argc ? argv[optind] : usual;
	if (args->path && (optind < argc || access(args->path, F_OK) == 0))
		return -1;
	if (usual)
		command_message(args->name, "which file? There is no %s here", usual);
	else
		command_message(args->name, "which file?");
	return command_usage(args->name);
}

int trace_args_parse(struct trace_args *args, const struct trace_syntax *syntax, void *command, int argc,
		     char **argv)
{
	struct option options[ALL_OPTIONS + TRACE_OWN_MAX + 1] = { { NULL, 0, NULL, 0 } };
	size_t count = syntax->filters == TRACE_FILTERS_ALL    ? ALL_OPTIONS
		       : syntax->filters == TRACE_FILTERS_NONE ? READING_OPTIONS
							       : PID_CPU_OPTIONS;
	int option, status;

	args->beside = syntax->beside;
	args->shows_calls = syntax->calls == TRACE_CALLS_SHOWN;
	memcpy(options, shared, count * sizeof(shared[0]));
	for (const struct option *own = syntax->own; own->name; own++)
		options[count++] = *own;
	while ((option = getopt_long(argc, argv, syntax->letters, options, NULL)) != -1) {
		if (option == '?') /* getopt_long() has said why */
			return command_usage(args->name);
		if (option == OPTION_HELP)
			return print_help(args, syntax);
		status = take_reading(args, option, optarg);
		if (option >= OPTION_FORM && option <= OPTION_UNTIL)
			args->given |= UINT32_C(1) << (option - OPTION_FORM);
		if (status < 0)
			status = take_filter(args, option, optarg);
		if (status < 0)
			status = syntax->take(command, option, optarg);
		if (status)
			return status;
	}
	status = check_useless(args, syntax);
	if (status < 0)
		status = check_hardware(args);
	if (status >= 0)
		return status;
	if (!syntax->no_file || !syntax->no_file(command))
		return take_file(args, syntax, argc, argv);
	if (optind == argc)
		return -1;
	command_message(args->name, "a file or a machine, not both");
	return command_usage(args->name);
}

static int mark_events(const struct ktread *trace, const char *pattern, uint8_t *map)
{
	uint64_t number;
	int found = 0;

	if (trace_parse_number(pattern, KTRX_EVENT_MAX, &number) == 0) {
		map[number / 8] |= (uint8_t)(1u << number % 8);
		return 1;
	}
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(trace, id);

		if (type && pattern_means(pattern, type)) {
			map[id / 8] |= (uint8_t)(1u << id % 8);
			found = 1;
		}
	}
	return found;
}

int trace_mark_events(const struct trace_args *args, const struct ktread *trace, const char *patterns,
		      uint8_t *map)
{
	char *list = strdup(patterns), *rest = list, *pattern, text[NEAR_TEXT];
	struct near near;
	int status = 0;

	if (!list) {
		command_message(args->name, "out of memory");
		return EXIT_BAD_INPUT;
	}
	while (!status && (pattern = strsep(&rest, ","))) {
		if (*pattern && mark_events(trace, pattern, map))
			continue;
		near_start(&near, pattern, strlen(pattern));
		near_offer_events(&near, trace);
		near_text(&near, text, sizeof(text));
		command_message(args->name, "%s has no event '%s'%s", args->path, pattern, text);
		status = EXIT_USAGE;
	}
	free(list);
	return status;
}

/*
 * A time on the command line as a stamp. Timelines show microseconds, rounded: what was copied from one has
 * to find its event again, so both ends are pushed out by `slack` nanoseconds.
 */
int trace_stamp(struct ktread *trace, const char *text, int64_t slack, uint64_t *stamp)
{
	uint64_t frequency = ktread_info(trace)->frequency, base = ktread_first_stamp(trace);
	uint64_t ticks;

	if (trace_parse_ticks(text, frequency, slack, &ticks))
		return -1;
	if (__builtin_add_overflow(base, ticks, stamp))
		*stamp = UINT64_MAX;
	return 0;
}

int trace_args_filtered(const struct trace_args *args)
{
	return args->pid >= 0 || args->cpu_list || args->events || args->since || args->until;
}

/* A list may reach beyond the last CPU, but one that names none at all is a mistake. */
static int check_cpus(const struct trace_args *args, const struct ktread *trace)
{
	const struct ktread_info *info = ktread_info(trace);

	if (info->version == 1 && info->cpus == 0) /* bare records have no list of their CPUs */
		return 0;
	for (uint32_t n = 0; n < info->rings; n++) {
		uint32_t cpu = ktread_ring(trace, n)->cpu;

		if (cpu < TRACE_CPUS_MAX && args->cpus[cpu / 8] >> cpu % 8 & 1)
			return 0;
	}
	for (uint32_t cpu = 0; cpu < info->cpus && cpu < TRACE_CPUS_MAX; cpu++)
		if (args->cpus[cpu / 8] >> cpu % 8 & 1)
			return 0;
	command_message(args->name, "%s has %u CPU%s and none of --cpu %s", args->path, info->cpus,
			info->cpus == 1 ? "" : "s", args->cpu_list);
	return EXIT_USAGE;
}

/* What is asked for may be nowhere, which looks like a trace of nothing. Stops reading at the first event. */
static int say_if_nothing(const struct trace_args *args, struct ktread *trace)
{
	const struct ktread_event *event;
	char pid[32] = "";

	if (ktread_next(trace, &event) == 0) {
		if (args->pid >= 0)
			snprintf(pid, sizeof(pid), " --pid %" PRId64, args->pid);
		command_message(args->name, "%s: no event matches all of:%s%s%s%s%s%s%s%s%s", args->path, pid,
				args->cpu_list ? " --cpu " : "", args->cpu_list ? args->cpu_list : "",
				args->events ? " --event " : "", args->events ? args->events : "",
				args->since ? " --since " : "", args->since ? args->since : "",
				args->until ? " --until " : "", args->until ? args->until : "");
	}
	if (ktread_rewind(trace) == 0)
		return 0;
	command_message(args->name, "%s", ktread_message(trace));
	return EXIT_BAD_INPUT;
}

static int set_filter(struct trace_args *args, struct ktread *trace)
{
	struct ktread_filter filter = { .size = sizeof(filter), .thread = args->pid };
	int status;

	if (!trace_args_filtered(args))
		return 0;
	if (args->cpu_list) {
		status = check_cpus(args, trace);
		if (status)
			return status;
		filter.cpus = args->cpus;
		filter.cpu_count = TRACE_CPUS_MAX;
	}
	if (args->events) {
		status = trace_mark_events(args, trace, args->events, args->event_map);
		if (status)
			return status;
		filter.events = args->event_map;
	}
	if (args->since && trace_stamp(trace, args->since, -500, &filter.since))
		return trace_bad_value(args, "--since", args->since);
	if (args->until && trace_stamp(trace, args->until, 500, &filter.until))
		return trace_bad_value(args, "--until", args->until);
	if (args->since && args->until && filter.since > filter.until) {
		command_message(args->name, "the window ends before it begins: %s to %s", args->since,
				args->until);
		return EXIT_USAGE;
	}
	if (ktread_set_filter(trace, &filter) < 0) {
		command_message(args->name, "%s", ktread_message(trace));
		return EXIT_BAD_INPUT;
	}
	return say_if_nothing(args, trace);
}

static void print_warnings(const struct trace_args *args, struct ktread *trace)
{
	const char *warning;

	while ((warning = ktread_warning(trace)))
		command_message(args->name, "%s", warning);
}

static int align(const struct trace_args *args, struct ktread *trace)
{
	struct align_report report;
	int status;

	if (args->options.raw_clock) {
		command_message(args->name, "--raw-clock and --align contradict each other");
		return EXIT_USAGE;
	}
	status = align_clocks(trace, &report);
	if (status == KTREAD_E_UNSUPPORTED) {
		command_message(args->name, "%s: --align: nothing to go by: shown as it is", args->path);
		return 0;
	}
	if (status < 0) {
		command_message(args->name, "%s", ktread_message(trace));
		return EXIT_BAD_INPUT;
	}
	command_message(args->name,
			"%s: --align: %" PRIu64
			" effects on other CPUs; of these before their cause: %" PRIu64 " as it was, %" PRIu64
			" now",
			args->path, report.pairs, report.before, report.kept ? report.before : report.after);
	if (report.kept)
		command_message(args->name,
				"%s: --align: nothing was found that brings more of them into order, so the "
				"clocks are left as they were",
				args->path);
	else if (report.given_up)
		command_message(args->name,
				"%s: --align: %" PRIu64 " causes contradict others and were not gone by",
				args->path, report.given_up);
	return 0;
}

/* 0 or EXIT_USAGE. */
static int check_layout(const struct trace_args *args, const struct ktread *trace)
{
	if (ktread_info(trace)->version == 1 || !trace_args_gave(args, "v1-layout"))
		return 0;
	command_message(args->name, "%s: not a trace of version 1, and --v1-layout is for no other",
			args->path);
	return EXIT_USAGE;
}

/* What a trace says of its machine counts, so that another word is a mistake. 0 or EXIT_USAGE. */
static int check_machine(const struct trace_args *args, const struct ktread *trace)
{
	const struct ktread_info *info = ktread_info(trace);

	if (!args->options.machine || info->version == 1 || !info->machine ||
	    info->machine == machine_number(args->options.machine))
		return 0;
	command_message(args->name, "%s: is of another machine than --machine %s, and says so", args->path,
			args->options.machine);
	return EXIT_USAGE;
}

/* Of a guest that runs, the host measures what the kernel does not know. Opens the trace anew then. */
static int measure(struct trace_args *args, struct ktread **trace)
{
	uint64_t hz;

	if (ktread_info(*trace)->frequency || ktread_info(*trace)->form != KTREAD_FORM_RAM)
		return 0;
	hz = capture_measure(args->path, args->options.machine);
	if (!hz)
		return 0;
	command_message(
		args->name,
		"%s: the kernel does not know its counter's frequency; measured while the guest runs: "
		"%" PRIu64 " Hz (--frequency HZ sets it)",
		args->path, hz);
	args->options.frequency = hz;
	ktread_close(*trace);
	return ktread_open(trace, args->path, &args->options);
}

/* Whether the trace may hold system calls, and there is no name for any. */
static bool has_nameless_calls(const struct ktread *trace)
{
	return ktread_syscall_names(trace) == 0 &&
	       (ktread_info(trace)->version == 1 || ktread_type_find(trace, "syscall", "enter") ||
		ktread_type_find(trace, "syscall", "exit"));
}

/* Numbers of calls mean what their kernel says; nothing is assumed where the trace does not say it. 0 or EXIT_BAD_INPUT. */
static int name_calls(const struct trace_args *args, struct ktread *trace)
{
	const char *text;
	char *owned;
	int status = 0;

	if (args->calls) {
		status = kdump_table_read(args->name, args->calls, &owned, &text);
		if (status)
			return status;
		status = foreign_calls_set_table(
			trace, text, args->options.machine ? machine_number(args->options.machine) : 0);
		free(owned);
		if (status > 0)
			command_message(args->name, "%s: system calls are named by %s for %s", args->path,
					args->calls, machine_name((uint16_t)status));
		else if (status == 0)
			command_message(args->name, "%s: system calls are named by %s", args->path,
					args->calls);
	} else {
		status = foreign_calls_set(trace);
		if (status == 0 && args->shows_calls && has_nameless_calls(trace))
			command_message(args->name,
					"%s: system calls are shown by number: the trace does not name them "
					"(--calls TABLE)",
					args->path);
	}
	if (status < 0)
		command_message(args->name, "%s", ktread_message(trace));
	return status < 0 ? EXIT_BAD_INPUT : 0;
}

static int is_one_cpu(const struct trace_args *args)
{
	const uint8_t *cpus = args->cpus;
	unsigned count = 0;

	for (uint32_t cpu = 0; args->cpu_list && cpu < TRACE_CPUS_MAX; cpu++)
		count += cpus[cpu / 8] >> cpu % 8 & 1;
	return count == 1;
}

static void say_order(const struct trace_args *args, const struct ktread *trace)
{
	char order[ORDER_TEXT];

	if (!args->reports_order && !is_one_cpu(args) && order_say(trace, order) > 0)
		command_message(args->name, "%s: %s", args->path, order);
}

int trace_args_open(struct trace_args *args, struct ktread **trace)
{
	int status = ktread_open(trace, args->path, &args->options);

	if (status == 0)
		status = measure(args, trace);
	if (status < 0) {
		command_message(args->name, "%s", ktread_message(*trace));
		return EXIT_BAD_INPUT;
	}
	status = name_calls(args, *trace);
	if (!status)
		status = check_layout(args, *trace);
	if (!status)
		status = check_machine(args, *trace);
	if (!status && args->with)
		status = trace_with(args, *trace);
	if (status) {
		ktread_close(*trace);
		return status;
	}
	print_warnings(args, *trace);
	if (ktread_info(*trace)->frequency == 0)
		command_message(
			args->name,
			"%s: the counter's frequency is unknown, so seconds cannot be shown (--frequency HZ)",
			args->path);
	if (ktread_is_coarse(ktread_info(*trace)))
		command_message(args->name,
				"%s: a coarse clock, %" PRIu64
				" ticks a second: events of one tick are in order within a CPU only",
				args->path, ktread_info(*trace)->frequency);
	status = args->align ? align(args, *trace) : 0;
	if (!status)
		status = set_filter(args, *trace);
	if (!status)
		say_order(args, *trace);
	if (status)
		ktread_close(*trace);
	return status;
}

void trace_warn_of_cost(const struct trace_args *args, const struct ktread *trace)
{
	if (cost_of(trace) == 0)
		command_message(args->name,
				"%s: what an event cost is unknown, the kernel has not probed it; nothing is "
				"taken off",
				args->path);
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
