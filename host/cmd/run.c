/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace run: options, and what is said while and after a guest runs. The work is done in host/capture. */
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/error.h"
#include "capture/kernel_elf.h"
#include "capture/run.h"
#include "capture/shim.h"
#include "capture/verdict.h"
#include "cmd/command.h"
#include "cmd/explain.h"

#define DEFAULT_OUT "ktrace.ktrx"

static const char usage[] =
	"usage: ktrace run [OPTION]... -- COMMAND...\n"
	"Runs a QEMU command line, or anything that starts one (make qemu, a script), and leaves a trace.\n"
	"\n"
	"  --out FILE        where the trace goes (" DEFAULT_OUT ")\n"
	"  --timeout S       end the run S seconds after QEMU started\n"
	"  --stall S         end it after S seconds without event or heartbeat (30; 0: never)\n"
	"  --on-stall WHAT   what becomes of a guest that stalls: kill (default), report or keep\n"
	"  --expect TEXT     end the run, with success, when the command writes TEXT on standard output\n"
	"  --expect-continue go on then; it is enough that TEXT comes at all\n"
	"  --events LIST     append debug=LIST to the kernel's arguments\n"
	"  --branches[=FILE] record which code every CPU runs (beside the trace); ktrace hwt shows it\n"
	"  --trace-unit      give the guest a trace unit to drive, without that record\n"
	"  --elf KERNEL      warn unless the trace is of this kernel\n"
	"  --transport NAME  ram (default), debugcon, semihosting, ivshmem or virtio\n"
	"  --ram-dir DIR     folder of the file behind the guest's RAM (beside the trace)\n"
	"  --keep-ram        leave that file behind\n"
	"  --why             say at the end what went wrong, as 'ktrace why' does, if something did\n"
	"  --allow-reboot    do not end at a guest's reset, which wipes the rings\n"
	"  --force           go on where free disk space is short, or --events names no event of the kernel\n"
	"  -q, --quiet       errors only\n"
	"\n"
	"Status: 0 clean exit, 10 panic, 11 stall, 12 timeout, 13 reset or triple fault, 14 QEMU died,\n"
	"15 no ktrace in the guest, or nothing dumped; 16 TEXT of --expect not seen; 1 error or a guest that "
	"failed, 2 usage.\n";

enum {
	OPTION_ALLOW_REBOOT = 256,
	OPTION_BRANCHES,
	OPTION_ELF,
	OPTION_EVENTS,
	OPTION_EXPECT,
	OPTION_EXPECT_CONTINUE,
	OPTION_FORCE,
	OPTION_HELP,
	OPTION_KEEP_RAM,
	OPTION_ON_STALL,
	OPTION_OUT,
	OPTION_RAM_DIR,
	OPTION_STALL,
	OPTION_TIMEOUT,
	OPTION_TRACE_UNIT,
	OPTION_TRANSPORT,
	OPTION_WHY,
};

static const struct option long_options[] = {
	{ "allow-reboot", no_argument, NULL, OPTION_ALLOW_REBOOT },
	{ "branches", optional_argument, NULL, OPTION_BRANCHES },
	{ "elf", required_argument, NULL, OPTION_ELF },
	{ "events", required_argument, NULL, OPTION_EVENTS },
	{ "expect", required_argument, NULL, OPTION_EXPECT },
	{ "expect-continue", no_argument, NULL, OPTION_EXPECT_CONTINUE },
	{ "force", no_argument, NULL, OPTION_FORCE },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ "keep-ram", no_argument, NULL, OPTION_KEEP_RAM },
	{ "on-stall", required_argument, NULL, OPTION_ON_STALL },
	{ "out", required_argument, NULL, OPTION_OUT },
	{ "quiet", no_argument, NULL, 'q' },
	{ "ram-dir", required_argument, NULL, OPTION_RAM_DIR },
	{ "stall", required_argument, NULL, OPTION_STALL },
	{ "timeout", required_argument, NULL, OPTION_TIMEOUT },
	{ "trace-unit", no_argument, NULL, OPTION_TRACE_UNIT },
	{ "transport", required_argument, NULL, OPTION_TRANSPORT },
	{ "why", no_argument, NULL, OPTION_WHY },
	{ NULL, 0, NULL, 0 },
};

/* What the hooks need to know, and whether a line of progress is on the screen. */
struct talk {
	const char *name;
	bool quiet;
	bool why;
	bool painted;
	bool announced;
	bool on_stall; /* was given */
};

static void clear_progress(struct talk *talk)
{
	if (talk->painted)
		fputs("\r\033[K", stderr);
	talk->painted = false;
}

static void say(void *context, const char *sentence)
{
	struct talk *talk = context;

	clear_progress(talk);
	command_message(talk->name, "%s", sentence);
}

static void say_ram(void *context, const char *path)
{
	struct talk *talk = context;

	if (talk->quiet)
		return;
	clear_progress(talk);
	command_message(talk->name, "the guest runs, its RAM is %s", path);
}

/* A line that wraps could not be painted over. */
static int terminal_width(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* "<before>2 CPUs" that are online; "" as long as none has a ring of its own. */
static const char *put_cpus(const struct ktread_pulse *pulse, const char *before, char *text, size_t size)
{
	text[0] = '\0';
	if (pulse->online)
		snprintf(text, size, "%s%" PRIu32 " CPU%s", before, pulse->online,
			 pulse->online == 1 ? "" : "s");
	return text;
}

/* The guest's own screen is never painted over: where it has the terminal, one line must do. */
static void show_progress(void *context, double seconds, bool guest_uses_terminal,
			  const struct ktread_pulse *pulse)
{
	struct talk *talk = context;
	bool shared = guest_uses_terminal && isatty(STDOUT_FILENO);
	char line[160], cpus[40];

	if (talk->quiet || !isatty(STDERR_FILENO))
		return;
	if (shared && pulse && !talk->announced) {
		command_message(talk->name, "recording%s", put_cpus(pulse, " from ", cpus, sizeof(cpus)));
		talk->announced = true;
	}
	if (shared)
		return;
	if (pulse)
		snprintf(line, sizeof(line), "%s: %.1f s%s, %" PRIu64 " slots", talk->name, seconds,
			 put_cpus(pulse, ", ", cpus, sizeof(cpus)), pulse->slots);
	else
		snprintf(line, sizeof(line), "%s: %.1f s, no ktrace seen yet", talk->name, seconds);
	clear_progress(talk);
	fprintf(stderr, "%.*s", terminal_width() - 1, line);
	talk->painted = true;
}

static int parse_seconds(const char *name, const char *option, const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	if (end != text && *end == '\0' && isfinite(*seconds) && *seconds >= 0)
		return 0;
	command_message(name, "--%s: '%s' is not a number of seconds", option, text);
	return EXIT_USAGE;
}

static int parse_on_stall(const char *name, const char *text, enum capture_on_stall *on_stall)
{
	static const char *const words[] = {
		[CAPTURE_ON_STALL_KILL] = "kill",
		[CAPTURE_ON_STALL_REPORT] = "report",
		[CAPTURE_ON_STALL_KEEP] = "keep",
	};

	for (size_t n = 0; n < sizeof(words) / sizeof(words[0]); n++) {
		if (strcmp(text, words[n]) != 0)
			continue;
		*on_stall = (enum capture_on_stall)n;
		return 0;
	}
	command_message(name, "--on-stall: '%s' is none of kill, report and keep", text);
	return EXIT_USAGE;
}

/* 0, or the exit status. */
static int parse_option(const char *name, int option, struct capture_run_options *options, struct talk *talk)
{
	switch (option) {
	case OPTION_ALLOW_REBOOT:
		options->allow_reboot = true;
		return 0;
	case OPTION_BRANCHES:
		options->trace_unit = true;
		options->branches = optarg ? optarg : "";
		return 0;
	case OPTION_TRACE_UNIT:
		options->trace_unit = true;
		return 0;
	case OPTION_ELF:
		options->elf = optarg;
		return 0;
	case OPTION_EVENTS:
		options->events = optarg;
		return 0;
	case OPTION_EXPECT:
		options->expect = optarg;
		return 0;
	case OPTION_EXPECT_CONTINUE:
		options->expect_continue = true;
		return 0;
	case OPTION_FORCE:
		options->force = true;
		return 0;
	case OPTION_KEEP_RAM:
		options->keep_ram = true;
		return 0;
	case OPTION_ON_STALL:
		talk->on_stall = true;
		return parse_on_stall(name, optarg, &options->on_stall);
	case OPTION_OUT:
		options->out = optarg;
		return 0;
	case OPTION_RAM_DIR:
		options->ram_dir = optarg;
		return 0;
	case OPTION_STALL:
		return parse_seconds(name, "stall", optarg, &options->stall);
	case OPTION_TIMEOUT:
		return parse_seconds(name, "timeout", optarg, &options->timeout);
	case OPTION_TRANSPORT:
		if (capture_transport_named(&options->transport, optarg) == 0)
			return 0;
		command_message(name, "--transport: %s", capture_message());
		return EXIT_USAGE;
	case OPTION_WHY:
		talk->why = true;
		return 0;
	case 'q':
		talk->quiet = true;
		return 0;
	default:
		return command_usage(name);
	}
}

/* Beside the trace, under its name: ktrace.ktrx, ktrace.branches. */
static void name_branches(const char *out, char *path, size_t size)
{
	size_t length = strlen(out), suffix = strlen(".ktrx");

	if (length > suffix && strcmp(out + length - suffix, ".ktrx") == 0)
		length -= suffix;
	snprintf(path, size, "%.*s.branches", (int)length, out);
}

/* The command that shows what is wanted first: of a panic, what led to it. */
static void say_branches(const struct talk *talk, const struct capture_run_options *options,
			 const struct capture_result *result)
{
	const char *elf = options->elf ? options->elf : result->kernel;
	struct capture_kernel kernel;

	if (!*elf || capture_kernel_read(&kernel, elf) != 0) /* QEMU starts other files, too */
		elf = "KERNEL";
	command_message(talk->name, "which code ran: ktrace hwt --elf %s %s%s", elf,
			result->status == CAPTURE_PANIC ? "--calls --last 10000 --before panic " : "",
			options->branches);
}

/* What is worth a look first: where something went wrong, what that was. */
static const char *next_command(const struct talk *talk, const struct capture_result *result)
{
	const bool wrong = result->status == CAPTURE_PANIC || result->status == CAPTURE_STALL ||
			   result->status == CAPTURE_TIMEOUT || result->status == CAPTURE_RESET ||
			   result->status == CAPTURE_NOT_SEEN;

	return wrong && !talk->why ? "why" : "show";
}

/*
 * A dump says nothing of what came after it: " in a dump that covers 0.012 s, taken 4.90 s before the end".
 */
static void describe_dump(const struct capture_result *result, char *text, size_t size)
{
	size_t length = 0;

	*text = '\0';
	if (!result->sent)
		return;
	length += (size_t)snprintf(text, size,
				   result->summary.cut ? " in a dump that is cut short" : " in a dump");
	if (result->summary.seconds > 0)
		length += (size_t)snprintf(text + length, size - length, "%s covers %.3f s",
					   result->summary.cut ? " and" : " that", result->summary.seconds);
	if (result->taken >= 0)
		snprintf(text + length, size - length, ", taken %.2f s before the end", result->taken);
	else if (result->summary.outcome != KTRX_OUTCOME_RUNNING)
		snprintf(text + length, size - length, ", taken as the guest ended");
	else
		snprintf(text + length, size - length, ", taken at an unknown time");
}

static void conclude(struct talk *talk, const struct capture_run_options *options,
		     const struct capture_result *result)
{
	const struct capture_summary *summary = &result->summary;
	char loss[CAPTURE_LOSS_TEXT], dump[160];

	clear_progress(talk);
	if (talk->quiet)
		return;
	if (result->kept[0])
		command_message(talk->name, "the guest's RAM is in %s", result->kept);
	if (!result->written) {
		command_message(talk->name, "%s; no trace was written%s%s", result->text,
				access(options->out, F_OK) == 0 ? ", and this one is from before: " : "",
				access(options->out, F_OK) == 0 ? options->out : "");
		return;
	}
	capture_summary_loss(summary, loss, sizeof(loss));
	if (summary->cut)
		snprintf(loss, sizeof(loss), "an unknown part lost");
	describe_dump(result, dump, sizeof(dump));
	command_message(
		talk->name,
		"%s; guest ran %.2f s, %" PRIu64 " events of %" PRIu32 " CPU%s, %s%s: %s; next: ktrace %s %s",
		result->text, result->seconds, summary->events, summary->cpus, summary->cpus == 1 ? "" : "s",
		loss, dump, options->out, next_command(talk, result), options->out);
}

/* The end of a QEMU, passed on to who waits for it. */
static int end_like(int wait_status)
{
	struct rlimit no_core = { 0, 0 };

	if (WIFEXITED(wait_status))
		return WEXITSTATUS(wait_status);
	setrlimit(RLIMIT_CORE, &no_core); /* QEMU's own is enough */
	signal(WTERMSIG(wait_status), SIG_DFL);
	raise(WTERMSIG(wait_status));
	return CAPTURE_SIGNALLED + WTERMSIG(wait_status);
}

/* As `ktrace run --shim DIRECTORY QEMU …` this process stands in for that QEMU. */
static int run_shim(const char *name, int argc, char **argv)
{
	int wait_status, result;

	if (argc < 4)
		return command_usage(name);
	result = capture_shim_attend(argv[2], &wait_status);
	if (result == 0)
		return end_like(wait_status);
	if (result > 0)
		capture_shim_become(argv[2], argv + 3);
	command_message(name, "%s", capture_message());
	return EXIT_USAGE;
}

/* Refuses what has no use beside other options. 0 or EXIT_USAGE. */
static int check_options(const char *name, const struct capture_run_options *options, const struct talk *talk)
{
	const char *why = NULL;

	if (options->expect_continue && !options->expect)
		why = "--expect-continue is for --expect";
	else if (options->transport != CAPTURE_RAM && options->keep_ram)
		why = "--keep-ram is for --transport ram";
	else if (talk->on_stall && options->stall == 0)
		why = "--on-stall is for a guest that may stall: not with --stall 0";
	if (!why)
		return 0;
	command_message(name, "%s", why);
	return command_usage(name);
}

static int run(int argc, char **argv)
{
	struct talk talk = { .name = argv[0] };
	struct capture_run_options options = {
		.out = DEFAULT_OUT,
		.events = "",
		.stall = -1,
		.hooks = { say, say_ram, show_progress, &talk },
	};
	struct capture_result result;
	char self[PATH_MAX], branches[PATH_MAX];
	int option, status;

	if (argc > 1 && strcmp(argv[1], "--shim") == 0)
		return run_shim(argv[0], argc, argv);
	while ((option = getopt_long(argc, argv, "+q", long_options, NULL)) != -1) {
		if (option == OPTION_HELP) {
			return command_help(usage);
		}
		status = parse_option(argv[0], option, &options, &talk);
		if (status)
			return status;
	}
	status = check_options(argv[0], &options, &talk);
	if (status)
		return status;
	if (optind == argc) {
		command_message(argv[0], "no command given");
		return command_usage(argv[0]);
	}
	command_self(self);
	options.self = self;
	if (options.branches && !options.branches[0]) {
		name_branches(options.out, branches, sizeof(branches));
		options.branches = branches;
	}
	options.command = argv + optind;
	status = capture_run(&options, &result);
	clear_progress(&talk);
	if (status) {
		command_message(argv[0], "%s", capture_message());
		return status == CAPTURE_E_USAGE ? EXIT_USAGE : EXIT_BAD_INPUT;
	}
	conclude(&talk, &options, &result);
	if (options.branches && !talk.quiet)
		say_branches(&talk, &options, &result);
	if (talk.why && result.written && result.status != CAPTURE_CLEAN)
		explain_file(argv[0], options.out, options.elf);
	return result.status;
}

const struct command command_run = {
	.name = "run",
	.purpose = "boot a kernel under QEMU and leave a trace of it",
	.run = run,
};
