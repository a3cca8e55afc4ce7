/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/trace_args.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/machine.h"
#include "cmd/command.h"

int trace_parse_number(const char *text, uint64_t limit, uint64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	*number = strtoull(text, &end, 0);
	return errno || *end || *number > limit ? -1 : 0;
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

int trace_parse_ticks(const char *text, uint64_t frequency, int64_t slack, uint64_t *ticks)
{
	unsigned __int128 product;
	uint64_t nanoseconds;

	if (frequency == 0)
		return trace_parse_number(text, UINT64_MAX, ticks);
	if (trace_parse_time(text, &nanoseconds))
		return -1;
	if (slack < 0 && nanoseconds < (uint64_t)-slack)
		nanoseconds = 0;
	else if (slack < 0 || nanoseconds < UINT64_MAX - (uint64_t)slack)
		nanoseconds += (uint64_t)slack;
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

int trace_parse_form(const char *name, enum ktread_form *form)
{
	static const struct {
		const char *name;
		enum ktread_form form;
	} forms[] = {
		{ "auto", KTREAD_FORM_AUTO },	  { "v1", KTREAD_FORM_V1 },
		{ "v2", KTREAD_FORM_V2 },	  { "bare", KTREAD_FORM_BARE },
		{ "ram", KTREAD_FORM_RAM },	  { "core", KTREAD_FORM_CORE },
		{ "stream", KTREAD_FORM_STREAM }, { "proc", KTREAD_FORM_PROCESSES },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (strcmp(forms[i].name, name) == 0) {
			*form = forms[i].form;
			return 0;
		}
	}
	return -1;
}

int trace_parse_layout(const char *name, enum ktread_v1_layout *layout)
{
	*layout = strcmp(name, "spec") == 0 ? KTREAD_V1_SPEC : KTREAD_V1_KEVLAR;
	return *layout == KTREAD_V1_SPEC || strcmp(name, "kevlar") == 0 ? 0 : -1;
}

int trace_parse_machine(const char *name, const char **machine)
{
	*machine = base_machine_name(base_machine_number(name));
	return *machine ? 0 : -1;
}

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

int trace_output_status(const char *name, const char *to, int error)
{
	if (error == 0)
		return 0;
	if (error != EPIPE)
		command_message(name, "%s: %s", to, strerror(error));
	return EXIT_BAD_INPUT;
}
