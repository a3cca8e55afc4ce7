/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ktrace hwt: records and shows hardware trace, with the options of FreeBSD's hwt(8). This file reads the
 * command line and records.
 */
#include "cmd/hwt.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "capture/error.h"
#include "capture/plan.h"
#include "capture/qemu_line.h"
#include "cmd/command.h"
#include "cmd/trace_args.h"
#include "hwt/binary.h"

/*
 * Reports that this host cannot record with args->backend, because recording needs ktrace's driver and
 * /dev/hwt.
 */
static int refuse(const struct hwt_args *args)
{
	const char *what = strcmp(args->backend, "pt") == 0 ? "Intel PT, x86_64"
			   : strcmp(args->backend, "spe") == 0
				   ? "the Statistical Profiling Extension, AArch64"
				   : "CoreSight with an ETMv4, AArch64";

	command_message(
		args->name,
		"recording with %s needs a kernel with ktrace's driver for it (%s) and /dev/hwt, "
		"which this host does not have; record there and show the file here; -c qemu records guests",
		args->backend, what);
	return EXIT_BAD_INPUT;
}

/*
 * Finds the address range of the function that -f names, in the kernel that QEMU starts or in another file.
 */
static int find_range(const struct hwt_args *args, const char *kernel, struct capture_trace_unit *unit)
{
	const char *path = strcmp(args->image, "kernel") == 0 ? kernel : args->image;
	const struct hwt_function *function = NULL;
	struct hwt_names *names = NULL;
	struct hwt_binary *binary;

	if (!*path) {
		command_message(args->name, "-i kernel means the file given by -kernel, "
					    "and the QEMU command line has no -kernel");
		return EXIT_USAGE;
	}
	if (hwt_binary_open(&binary, path) < 0) {
		command_message(args->name, "%s: not a readable ELF file", path);
		return EXIT_BAD_INPUT;
	}
	names = hwt_names_open(path, binary->machine);
	function = names ? hwt_names_named(names, args->function) : NULL;
	if (function) {
		unit->begin = function->address;
		unit->end = function->address + (function->size ? function->size : 1);
	} else {
		command_message(args->name, "%s: there is no function '%s' in it", path, args->function);
	}
	hwt_names_close(names);
	hwt_binary_close(binary);
	return function ? 0 : EXIT_BAD_INPUT;
}

/* Builds the command line of QEMU. Returns 0, or an exit status after a message. */
static int prepare(const struct hwt_args *args, struct capture_words *words)
{
	struct capture_trace_unit unit, range = { 0 };
	struct capture_qemu_line line;
	char self[PATH_MAX];
	int error = capture_qemu_line_read(&line, args->command), status = 0;

	command_self(self);
	if (!error)
		error = capture_trace_unit_check(line.accelerator);
	if (!error && args->function)
		status = find_range(args, line.kernel_path, &range);
	if (status)
		return status;
	/* from here on, an older recording with the name of the new recording is deleted */
	if (!error)
		error = capture_trace_unit_find(&unit, self, args->output);
	for (size_t n = 0; !error && args->command[n]; n++)
		capture_words_add(words, args->command[n]);
	if (!error) {
		unit.ring_bytes = args->bytes;
		unit.begin = range.begin;
		unit.end = range.end;
		error = capture_trace_unit_add(&unit, words, line.architecture, "");
	}
	if (!error && words->failed)
		error = capture_fail(CAPTURE_E_SYSTEM, "out of memory");
	if (!error)
		return 0;
	command_message(args->name, "%s", capture_message());
	return error == CAPTURE_E_USAGE ? EXIT_USAGE : EXIT_BAD_INPUT;
}

/* Replaces this process by the command. Returns only on failure: the exit status, after a message. */
static int hwt_record(const struct hwt_args *args)
{
	struct capture_words words = { 0 };
	int status;

	if (strcmp(args->backend, "qemu") != 0)
		return refuse(args);
	if (!capture_qemu_program(args->command[0])) {
		command_message(args->name, "-c qemu records guests of QEMU, and '%s' is not qemu-system-…",
				args->command[0]);
		return EXIT_USAGE;
	}
	status = prepare(args, &words);
	if (!status) {
		execvp(words.word[0], words.word);
		command_message(args->name, "%s: %s", words.word[0], strerror(errno));
		status = EXIT_BAD_INPUT;
	}
	capture_words_free(&words);
	return status;
}

/* ---- Reading the command line ---- */

#define BACKENDS "coresight, spe, pt, qemu"

/* Minimum and maximum size, in bytes, of a ring of the software trace unit. */
#define RING_LEAST UINT64_C(65536)
#define RING_MOST  (UINT64_C(1) << 40)

/* Parses a number of bytes: 65536, 64K, 16M, 1G. */
static const char *set_bytes(void *to, const char *value, const struct option_row *row)
{
	static const char units[] = "KMG";
	uint64_t bytes;
	const char *end = trace_read_number(value, &bytes), *unit = end && *end ? strchr(units, *end) : NULL;
	const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;

	(void)row;
	if (!end || end[unit != NULL] || bytes > RING_MOST >> shift || bytes << shift < RING_LEAST ||
	    (bytes << shift & ((bytes << shift) - 1)))
		return "is not a power of two from 64K to 1024G";
	*(uint64_t *)to = bytes << shift;
	return NULL;
}

static const char *set_cpus(void *to, const char *value, const struct option_row *row)
{
	struct hwt_args *args = to;
	const char *wrong = options_set_joined(&args->cpu_list, value, row);

	if (wrong)
		return wrong;
	return trace_parse_cpus(args->cpu_list, args->cpus, TRACE_CPUS_MAX) ? TRACE_CPUS_WANTED : NULL;
}

static const char *set_view(void *to, const char *value, const struct option_row *row)
{
	static const char *const names[] = {
		[HWT_VIEW_CALLS] = "calls",	    [HWT_VIEW_FOLDED] = "folded",
		[HWT_VIEW_DURATIONS] = "durations", [HWT_VIEW_COVERAGE] = "coverage",
		[HWT_VIEW_FUNCTIONS] = "functions",
	};
	struct hwt_args *args = to;

	args->views++;
	args->view = row->letter == 'g' ? HWT_VIEW_PACKETS : HWT_VIEW_RAW;
	for (unsigned n = HWT_VIEW_CALLS; row->name && n <= HWT_VIEW_FUNCTIONS; n++)
		if (strcmp(names[n], row->name) == 0)
			args->view = n;
	if (args->view != HWT_VIEW_FOLDED)
		return NULL;
	args->weight = value && strcmp(value, "time") == 0 ? FLOW_BY_TIME : FLOW_BY_INSTRUCTIONS;
	return args->weight == FLOW_BY_TIME || !value || strcmp(value, "instructions") == 0
		       ? NULL
		       : "is neither time nor instructions";
}

#define AT(member) .to = offsetof(struct hwt_args, member)
static const struct option_row rows[] = {
	{ .help = "Views; the default prints one line for each run of instructions up to a branch:" },
	{ NULL, 'g', NULL, "print the packets as the trace unit wrote them", set_view, .to = 0 },
	{ NULL, 'r', NULL, "write the bytes of the trace unit, unchanged, to the file of -w", set_view,
	  .to = 0, .instead = true },
	{ "calls", 0, NULL, "print calls as an indented tree, with durations", set_view, .to = 0,
	  .instead = true },
	{ "folded", 0, "[=UNIT]",
	  "print stacks for flame graphs, each with its number of instructions (default) or, with "
	  "=time, of nanoseconds",
	  set_view, .to = 0, .instead = true },
	{ "durations", 0, NULL, "print the number of calls and the durations of each function", set_view,
	  .to = 0, .instead = true },
	{ "coverage", 0, NULL, "print how often each source line was run, in lcov's .info format", set_view,
	  .to = 0, .instead = true },
	{ "functions", 0, NULL, "print a sorted list of the functions that were run", set_view, .to = 0,
	  .instead = true },
	{ NULL, 'o', "COLUMNS",
	  "print these columns; possible columns: " FLOW_COLUMNS_ALL " (default: " FLOW_COLUMNS_USUAL ")",
	  options_set_text, AT(columns) },
	{ "json", 0, NULL, "print one JSON object per line", options_set_flag, AT(json) },
	{ .help = "Selection:" },
	{ "last", 0, "N", "print only the last N branches of each CPU or thread", options_set_number,
	  AT(last.count), .least = 1, .most = FLOW_LAST_MOST },
	{ "before", 0, "FUNCTION",
	  "with --last: print only branches before FUNCTION was entered, as in --calls --last "
	  "10000 --before panic",
	  options_set_text, AT(last.before) },
	{ NULL, 's', "CPUS", "print only these CPUs: 0,2-5", set_cpus, .to = 0 },
	{ NULL, 't', "THREAD", "print only the thread with this index, in a recording of threads",
	  options_set_number, AT(thread), .most = UINT32_MAX, .once = true },
	{ NULL, 'P', "PID", "print only this process", options_set_number, AT(pid), .most = UINT32_MAX,
	  .once = true },
	{ NULL, 'i', "IMAGE",
	  "look for FUNCTION of -f in this image: a file name as ktrace prints it, or 'kernel'",
	  options_set_text, AT(image), .once = true },
	{ NULL, 'f', "FUNCTION", "print only this function of IMAGE", options_set_text, AT(function),
	  .once = true },
	{ NULL, 'c', "BACKEND", "print only what this backend recorded: " BACKENDS, options_set_text,
	  AT(backend) },
	{ "from", 0, "TIME",
	  "print only steps from TIME on; TIME is in seconds since the first step, or has a unit: "
	  "250ms, 20us; it is in ticks if the frequency is unknown",
	  options_set_text, AT(from), .once = true },
	{ "to", 0, "TIME", "print only steps up to TIME, which is given as for --from", options_set_text,
	  AT(to), .once = true },
	{ .help = "Code, in addition to what the recording contains:" },
	{ NULL, 'R', "ROOT", "look up the images below this directory", options_set_text, AT(root) },
	{ "elf", 0, "FILE[@BASE]",
	  "take code and names from this ELF file, the kernel or a program, moved by BASE or "
	  "located by its code; may be given several times",
	  options_set_list, AT(elf), .most = OPTIONS_WORDS },
	{ "symbols", 0, "FILE[@BASE]",
	  "take names of the kernel's functions from a System.map or a copy of /proc/kallsyms, "
	  "moved by BASE",
	  options_set_text, AT(symbols), .once = true },
	{ "memory", 0, "FILE", "take code from the memory of the machine: a RAM file or a core",
	  options_set_text, AT(snapshot) },
	{ .help = "Output:" },
	{ NULL, 'w', "OUTPUT",
	  "write to this file instead of standard output; with -c qemu: record into this file",
	  options_set_text, AT(output) },
	{ NULL, 'b', "BYTES",
	  "when recording, set the size of each CPU's buffer: a power of two from 64K to 1024G, "
	  "with K, M or G (16M)",
	  set_bytes, AT(bytes) },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace hwt [OPTION]... [--last N [--before FUNCTION]] [-c BACKEND] [-i IMAGE -f FUNCTION] "
		 "[-w OUTPUT] FILE\n"
		 "ktrace hwt -c qemu -w OUTPUT [-b BYTES] [-i IMAGE -f FUNCTION] -- qemu-system-ARCH...",
	.about = "Shows which instructions CPUs ran, as recorded by a trace unit: "
		 "Intel PT, CoreSight, SPE, or the software unit for QEMU. "
		 "FILE contains records, or the rings of the software unit. "
		 "With -c qemu, runs QEMU with that unit and records all its CPUs.",
	.lists = { rows },
	.in_order = true,
	.end = "Examples:\n"
	       "  ktrace hwt --elf kernel.elf --calls --last 10000 --before panic branches.rings\n"
	       "  ktrace hwt --calls -t 0 recording.ktrp\n"
	       "  ktrace hwt -c qemu -w branches.rings -- qemu-system-x86_64 -kernel kernel.elf\n",
};

static int is_backend(const char *name)
{
	return strcmp(name, "coresight") == 0 || strcmp(name, "spe") == 0 || strcmp(name, "pt") == 0 ||
	       strcmp(name, "qemu") == 0;
}

/*
 * Returns whether the view shows packets or bytes. Such a view does not decode instructions, so it needs no
 * code.
 */
static int reads_no_code(const struct hwt_args *args)
{
	return args->view == HWT_VIEW_PACKETS || args->view == HWT_VIEW_RAW;
}

/* Returns whether the options name files with code or symbols in addition to the recording. */
static int brings_code(const struct hwt_args *args)
{
	return args->elf.count || args->symbols || args->snapshot || args->root;
}

/* Checks that the options are compatible. Returns 0 or EXIT_USAGE. */
static int check(const struct hwt_args *args, const struct options *line)
{
	struct flow_columns columns;
	const char *why = NULL;

	if (flow_columns_parse(&columns, args->columns ? args->columns : FLOW_COLUMNS_USUAL) != 0)
		return command_bad_value(args->name, "-o", args->columns, FLOW_COLUMNS_ALL);
	if (args->backend && !is_backend(args->backend))
		return command_bad_value(args->name, "-c", args->backend, BACKENDS);
	if (args->views > 1)
		why = "only one view can be given";
	else if (!args->image != !args->function)
		why = "-i and -f must be given together";
	else if (args->last.count && (args->view == HWT_VIEW_PACKETS || args->view == HWT_VIEW_RAW))
		why = "--last counts branches: it cannot be combined with -g or -r";
	else if (args->last.before && !args->last.count)
		why = "--before needs --last";
	else if (args->columns && args->view != HWT_VIEW_COLUMNS)
		why = "-o selects columns of the default view: it cannot be combined with another view";
	else if (args->view == HWT_VIEW_RAW && !args->output)
		why = "-r writes bytes: it needs a file, given with -w";
	else if (args->json && (args->view == HWT_VIEW_RAW || args->view == HWT_VIEW_COVERAGE ||
				args->view == HWT_VIEW_FOLDED || args->view == HWT_VIEW_PACKETS))
		why = "--json cannot be combined with a view that has its own format";
	else if (reads_no_code(args) && brings_code(args))
		why = "-g and -r show what the unit wrote, without code: "
		      "they cannot be combined with --elf, --symbols, --memory or -R";
	else if (reads_no_code(args) && (args->function || args->pid >= 0 || args->from || args->to))
		why = "-g and -r show whole streams: select them by -s, -t and -c, not by -i, -f, -P, "
		      "--from or --to";
	else if (args->command && brings_code(args))
		why = "--elf, --symbols, --memory and -R are for showing a recording, not for making one";
	else if (args->command && (!args->backend || !args->output))
		why = "recording needs a backend and an output file (-c qemu -w FILE)";
	else if (args->command && (args->views || args->last.count || args->json || args->columns))
		why = "a recording cannot be shown while it is made: record first, then show the file";
	else if (args->command &&
		 (args->cpu_list || args->thread >= 0 || args->pid >= 0 || args->from || args->to))
		why = "all CPUs are recorded: select what to see when the file is shown";
	else if (!args->command && args->bytes)
		why = "-b is only for recording";
	return why ? options_refuse(line, why) : 0;
}

/* Parses the command line. Returns -1 to continue; otherwise the exit status, also for --help. */
static int parse(struct hwt_args *args, int argc, char **argv)
{
	struct options line = { .syntax = &syntax, .by = args->name, .to = args };
	int status;

	while ((status = options_parse(&line, argc, argv)) == OPTIONS_WORD && optind < argc && !args->path)
		args->path = argv[optind++]; /* more options may follow the file name */
	if (status >= 0)
		return status;
	if (args->path && !*args->path)
		return options_refuse(&line, OPTIONS_NO_NAME);
	if (args->path && optind < argc)
		return options_refuse(&line, "only one file can be given");
	if (!args->path && optind == argc)
		return options_refuse(&line, status == OPTIONS_DASHES ? "no command given" : "no file given");
	if (!args->path)
		args->command = argv + optind;
	status = check(args, &line);
	if (!args->columns)
		args->columns = FLOW_COLUMNS_USUAL;
	return status ? status : -1;
}

static int run_hwt(int argc, char **argv)
{
	struct hwt_args args = { .name = argv[0], .thread = -1, .pid = -1 };
	int status = parse(&args, argc, argv);

	if (status >= 0)
		return status;
	return args.command ? hwt_record(&args) : hwt_view(&args);
}

const struct command command_hwt = {
	.name = "hwt",
	.tool = "hwt",
	.purpose = "show hardware traces: executed instructions, calls, coverage",
	.run = run_hwt,
};
