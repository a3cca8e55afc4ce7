/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/hwt.h"

#include <getopt.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/trace_args.h"

enum {
	OPTION_HELP = 256,
	OPTION_CALLS,
	OPTION_FOLDED,
	OPTION_DURATIONS,
	OPTION_COVERAGE,
	OPTION_FUNCTIONS,
	OPTION_LAST,
	OPTION_BEFORE,
	OPTION_JSON,
	OPTION_FROM,
	OPTION_TO,
	OPTION_ELF,
	OPTION_MEMORY,
};

#define RING_LEAST 65536u /* of the unit in software */
#define LETTERS	   "+b:c:f:gi:o:P:rR:s:t:w:"

static const struct option long_options[] = {
	{ "help", no_argument, NULL, OPTION_HELP },
	{ "calls", no_argument, NULL, OPTION_CALLS },
	{ "folded", optional_argument, NULL, OPTION_FOLDED },
	{ "durations", no_argument, NULL, OPTION_DURATIONS },
	{ "coverage", no_argument, NULL, OPTION_COVERAGE },
	{ "functions", no_argument, NULL, OPTION_FUNCTIONS },
	{ "last", required_argument, NULL, OPTION_LAST },
	{ "before", required_argument, NULL, OPTION_BEFORE },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "from", required_argument, NULL, OPTION_FROM },
	{ "to", required_argument, NULL, OPTION_TO },
	{ "elf", required_argument, NULL, OPTION_ELF },
	{ "memory", required_argument, NULL, OPTION_MEMORY },
	{ NULL, 0, NULL, 0 },
};

static const char usage[] =
	"usage: ktrace hwt [OPTION]... FILE\n"
	"       ktrace hwt -c qemu -w FILE [-b BYTES] [OPTION]... -- qemu-system-… …\n"
	"\n"
	"Shows which instructions CPUs ran, as a trace unit (Intel PT, CoreSight, SPE, or the one in "
	"software\n"
	"for QEMU) has recorded it. FILE is a file of records, or of the rings of the unit in software. With "
	"-c\n"
	"qemu, runs QEMU with that unit and records all its CPUs.\n"
	"\n"
	"What is shown, by default a line for each run of instructions up to a branch:\n"
	"  -o COLUMNS           of: " FLOW_COLUMNS_ALL "\n"
	"                       (" FLOW_COLUMNS_USUAL ")\n"
	"  -g                   packets as the unit wrote them\n"
	"  -r                   the unit's bytes, into the file that -w names\n"
	"  --calls              calls as an indented tree, with how long they took\n"
	"  --folded[=time]      stacks and how many instructions, or nanoseconds, were spent on each, for\n"
	"                       flame graphs\n"
	"  --durations          how often each function was called and how long that took\n"
	"  --coverage           how often each source line was run, as lcov's .info\n"
	"  --functions          which functions were run, sorted\n"
	"  --json               a JSON object a line\n"
	"\n"
	"Of what:\n"
	"  --last N             the last N branches of each CPU or thread …\n"
	"  --before FUNCTION    … before that function was entered: --calls --last 10000 --before panic\n"
	"  -s CPUS              only these: 0,2-5\n"
	"  -t THREAD            only the thread with that index, where threads were traced\n"
	"  -P PID               only this process\n"
	"  -i IMAGE -f FUNCTION only that function; IMAGE is a file name as shown, or 'kernel'\n"
	"  -c BACKEND           only of this: coresight, spe, pt, qemu\n"
	"  --from T, --to T     seconds since the first step, or with a unit: 250ms, 20us; ticks if the\n"
	"                       frequency is unknown\n"
	"\n"
	"Where code is found, beside what the recording tells:\n"
	"  -R ROOT              images are below this folder\n"
	"  --elf FILE[@BASE]    an ELF file, moved by BASE: the kernel, a program; several times\n"
	"  --memory FILE        the machine's memory: a RAM file or a core\n"
	"\n"
	"  -b BYTES             of a CPU's buffer when recording (16M); K, M and G may follow\n"
	"  -w FILE              writes to FILE instead of standard output; the recording, with -c\n"
	"\n"
	"Examples:\n"
	"  ktrace hwt --elf kernel.elf --calls --last 10000 --before panic branches.rings\n"
	"  ktrace hwt --calls -t 0 recording.ktrp\n"
	"  ktrace hwt -c qemu -w branches.rings -- qemu-system-x86_64 -kernel kernel.elf\n";

int hwt_bad_value(const struct hwt_args *args, const char *option, const char *value)
{
	command_message(args->name, "unusable value for %s: '%s'", option, value);
	return command_usage(args->name);
}

static void choose(struct hwt_args *args, enum hwt_view view)
{
	args->view = view;
	args->views++;
}

/* A number of bytes: 65536, 64K, 16M, 1G. */
static int parse_bytes(const char *text, uint64_t *bytes)
{
	const size_t length = strlen(text);
	const char *const units = "KMG", *unit = length ? strchr(units, text[length - 1]) : NULL;
	char digits[24];

	if (length == 0 || length >= sizeof(digits))
		return -1;
	memcpy(digits, text, length + 1);
	if (unit)
		digits[length - 1] = '\0';
	if (trace_parse_number(digits, UINT64_C(1) << 33, bytes) != 0 || *bytes == 0)
		return -1;
	if (unit)
		*bytes <<= 10 * (unit - units + 1);
	return 0;
}

static int parse_id(const char *text, int64_t *id)
{
	uint64_t number;

	if (trace_parse_number(text, UINT32_MAX, &number) != 0)
		return -1;
	*id = (int64_t)number;
	return 0;
}

/* One range is looked at, and recorded: a second one must not go by without a word. 0 or EXIT_USAGE. */
static int take_once(const struct hwt_args *args, const char *option, const char **to, const char *value)
{
	if (*to) {
		command_message(args->name, "%s can be given once here", option);
		return command_usage(args->name);
	}
	*to = value;
	return 0;
}

/* Options of one letter. 0, or the exit status; -1: not such an option. */
static int take_letter(struct hwt_args *args, int option, const char *value)
{
	switch (option) {
	case 'b':
		return parse_bytes(value, &args->bytes) ? hwt_bad_value(args, "-b", value) : 0;
	case 'c':
		args->backend = value;
		return 0;
	case 'f':
		return take_once(args, "-f", &args->function, value);
	case 'g':
		choose(args, HWT_VIEW_PACKETS);
		return 0;
	case 'i':
		return take_once(args, "-i", &args->image, value);
	case 'o':
		args->columns = value;
		return 0;
	case 'P':
		return parse_id(value, &args->pid) ? hwt_bad_value(args, "-P", value) : 0;
	case 'r':
		choose(args, HWT_VIEW_RAW);
		return 0;
	case 'R':
		args->root = value;
		return 0;
	case 's':
		args->cpu_list = value;
		return trace_parse_cpus(value, args->cpus, HWT_CPUS_MOST) ? hwt_bad_value(args, "-s", value)
									  : 0;
	case 't':
		return parse_id(value, &args->thread) ? hwt_bad_value(args, "-t", value) : 0;
	case 'w':
		args->output = value;
		return 0;
	default:
		return -1;
	}
}

static int take_view(struct hwt_args *args, int option, const char *value)
{
	switch (option) {
	case OPTION_CALLS:
		choose(args, HWT_VIEW_CALLS);
		return 0;
	case OPTION_FOLDED:
		choose(args, HWT_VIEW_FOLDED);
		args->weight = value ? FLOW_BY_TIME : FLOW_BY_INSTRUCTIONS;
		return value && strcmp(value, "time") != 0 && strcmp(value, "instructions") != 0
			       ? hwt_bad_value(args, "--folded", value)
			       : 0;
	case OPTION_DURATIONS:
		choose(args, HWT_VIEW_DURATIONS);
		return 0;
	case OPTION_COVERAGE:
		choose(args, HWT_VIEW_COVERAGE);
		return 0;
	case OPTION_FUNCTIONS:
		choose(args, HWT_VIEW_FUNCTIONS);
		return 0;
	case OPTION_LAST:
		return trace_parse_number(value, FLOW_LAST_MOST, &args->last.count) || !args->last.count
			       ? hwt_bad_value(args, "--last", value)
			       : 0;
	default:
		return -1;
	}
}

static int take_rest(struct hwt_args *args, int option, const char *value)
{
	switch (option) {
	case OPTION_BEFORE:
		args->last.before = value;
		return 0;
	case OPTION_JSON:
		args->json = 1;
		return 0;
	case OPTION_FROM:
		args->from = value;
		return 0;
	case OPTION_TO:
		args->to = value;
		return 0;
	case OPTION_MEMORY:
		args->snapshot = value;
		return 0;
	default:
		if (args->elfs == HWT_ELFS_MOST)
			return hwt_bad_value(args, "--elf", value);
		args->elf[args->elfs++] = value;
		return 0;
	}
}

static int is_backend(const char *name)
{
	return strcmp(name, "coresight") == 0 || strcmp(name, "spe") == 0 || strcmp(name, "pt") == 0 ||
	       strcmp(name, "qemu") == 0;
}

/* Bytes and packets are shown as they are. */
static int reads_no_code(const struct hwt_args *args)
{
	return args->view == HWT_VIEW_PACKETS || args->view == HWT_VIEW_RAW;
}

/* What goes together. 0 or EXIT_USAGE. */
static int check(const struct hwt_args *args)
{
	struct flow_columns columns;
	const char *why = NULL;

	if (flow_columns_parse(&columns, args->columns ? args->columns : FLOW_COLUMNS_USUAL) != 0)
		return hwt_bad_value(args, "-o", args->columns);
	if (args->backend && !is_backend(args->backend))
		return hwt_bad_value(args, "-c", args->backend);
	if (args->views > 1)
		why = "one view at a time";
	else if (!args->image != !args->function)
		why = "-i and -f go together";
	else if (args->last.count && (args->view == HWT_VIEW_PACKETS || args->view == HWT_VIEW_RAW))
		why = "--last counts branches, which -g and -r do not look for";
	else if (args->last.before && !args->last.count)
		why = "--before says where --last N ends";
	else if (args->columns && args->view != HWT_VIEW_COLUMNS)
		why = "-o chooses columns of steps: not with another view";
	else if (args->view == HWT_VIEW_RAW && !args->output)
		why = "-r writes bytes: name a file with -w";
	else if (args->json && (args->view == HWT_VIEW_RAW || args->view == HWT_VIEW_COVERAGE ||
				args->view == HWT_VIEW_FOLDED || args->view == HWT_VIEW_PACKETS))
		why = "--json is not for what has a format of its own";
	else if (reads_no_code(args) && (args->elfs || args->snapshot || args->root))
		why = "-g and -r show what the unit wrote, without code: not with --elf, --memory or -R";
	else if (reads_no_code(args) && (args->function || args->pid >= 0 || args->from || args->to))
		why = "-g and -r show whole streams: -s, -t and -c choose among them, not -i, -f, -P, --from "
		      "or --to";
	else if (args->command && (args->elfs || args->snapshot || args->root))
		why = "--elf, --memory and -R say where code is found when a recording is shown";
	else if (args->command && (!args->backend || !args->output))
		why = "which backend, and where to? (-c qemu -w FILE)";
	else if (args->command && (args->views || args->last.count || args->json || args->columns))
		why = "first record, then show";
	else if (args->command &&
		 (args->cpu_list || args->thread >= 0 || args->pid >= 0 || args->from || args->to))
		why = "all CPUs are recorded: choose when it is shown";
	else if (args->command && args->bytes &&
		 (args->bytes < RING_LEAST || args->bytes & (args->bytes - 1)))
		why = "-b: a power of two from 64K on";
	else if (!args->command && args->bytes)
		why = "-b is the size of a buffer: for recording";
	if (!why)
		return 0;
	command_message(args->name, "%s", why);
	return command_usage(args->name);
}

/* The file, or behind "--" the command. -1: go on. */
static int take_words(struct hwt_args *args, int argc, char **argv)
{
	const int dashes = optind > 1 && strcmp(argv[optind - 1], "--") == 0;

	if (optind == argc) {
		command_message(args->name, dashes ? "which command?" : "which file?");
		return command_usage(args->name);
	}
	if (dashes) {
		args->command = argv + optind;
		return -1;
	}
	args->path = argv[optind++];
	return -1;
}

int hwt_args_parse(struct hwt_args *args, int argc, char **argv)
{
	int option, status = 0;

	for (;;) {
		option = getopt_long(argc, argv, LETTERS, long_options, NULL);
		if (option == -1 && optind < argc && !args->path && strcmp(argv[optind - 1], "--") != 0) {
			args->path = argv[optind++]; /* options may follow it */
			continue;
		}
		if (option == -1)
			break;
		if (option == '?') /* getopt_long() has said why */
			return command_usage(args->name);
		if (option == OPTION_HELP)
			return command_help(usage);
		status = take_letter(args, option, optarg);
		if (status < 0)
			status = take_view(args, option, optarg);
		if (status < 0)
			status = take_rest(args, option, optarg);
		if (status)
			return status;
	}
	if (args->path && optind < argc) {
		command_message(args->name, "one file at a time");
		return command_usage(args->name);
	}
	status = args->path ? -1 : take_words(args, argc, argv);
	if (status < 0)
		status = check(args);
	if (!args->columns)
		args->columns = FLOW_COLUMNS_USUAL;
	return status ? status : -1;
}
