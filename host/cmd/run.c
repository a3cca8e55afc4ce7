/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace run: its options, and the messages during and after a run. host/capture does the work. */
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
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
#include "capture/plan.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/run_schedule.h"
#include "cmd/trace_args.h"

#define DEFAULT_OUT	   "ktrace.ktrx"
#define DEFAULT_REPLAY_OUT "replay.ktrx"

/* State of the messages during a run. */
struct talk {
	const char *name;
	bool quiet;
	bool why;
	bool painted;
	bool announced;	     /* true if a message has reported that the guest is recording */
	bool announced_cpus; /* true if a message has stated the number of CPUs */
};

static void clear_progress(struct talk *talk)
{
	if (talk->painted)
		fputs("\r\033[K", stderr);
	talk->painted = false;
}

static void print_sentence(void *context, const char *sentence)
{
	struct talk *talk = context;

	clear_progress(talk);
	command_message(talk->name, "%s", sentence);
}

static void print_ram(void *context, const char *path)
{
	struct talk *talk = context;

	if (talk->quiet)
		return;
	clear_progress(talk);
	command_message(talk->name, "the guest runs, its RAM is %s", path);
}

/* Returns the width of the terminal. A longer progress line would wrap and could not be overwritten. */
static int terminal_width(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* Writes `before`, and then the number of online CPUs: "2 CPUs". Writes "" if no CPU has a ring yet. */
static const char *put_cpus(const struct ktread_pulse *pulse, const char *before, char *text, size_t size)
{
	text[0] = '\0';
	if (pulse->online)
		snprintf(text, size, "%s%" PRIu32 " CPU%s", before, pulse->online,
			 pulse->online == 1 ? "" : "s");
	return text;
}

/*
 * Prints a progress line. If the guest's output is on the terminal, prints separate lines instead, which do
 * not overwrite the guest's output.
 */
static void show_progress(void *context, double seconds, bool guest_uses_terminal,
			  const struct ktread_pulse *pulse)
{
	struct talk *talk = context;
	bool shared = guest_uses_terminal && isatty(STDOUT_FILENO);
	char line[160], cpus[40];

	if (talk->quiet || !isatty(STDERR_FILENO))
		return;
	/* no CPU has a ring early in a boot, so a second line states the number of CPUs later */
	if (shared && pulse && (!talk->announced || (!talk->announced_cpus && pulse->online))) {
		command_message(talk->name, "recording%s", put_cpus(pulse, " from ", cpus, sizeof(cpus)));
		talk->announced = true;
		talk->announced_cpus = pulse->online != 0;
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

/*
 * Writes the path of the file for branches. The file is in the directory of the trace: ktrace.branches for
 * ktrace.ktrx.
 */
static void name_branches(const char *out, char *path, size_t size)
{
	size_t length = strlen(out), suffix = strlen(".ktrx");

	if (length > suffix && strcmp(out + length - suffix, ".ktrx") == 0)
		length -= suffix;
	snprintf(path, size, "%.*s.branches", (int)length, out);
}

/*
 * Prints a command that shows which code was executed. After a panic, this is a command that shows the code
 * that led to the panic.
 */
static void print_branches(const struct talk *talk, const struct capture_run_options *options,
			   const struct capture_result *result)
{
	const char *elf = options->elf ? options->elf : result->kernel;
	struct capture_kernel kernel;

	/* QEMU also boots kernel files that are not ELF; for such a file, print KERNEL instead of its name */
	if (!*elf || capture_kernel_read(&kernel, elf) != 0)
		elf = "KERNEL";
	command_message(talk->name, "which code ran: ktrace hwt --elf %s %s%s", elf,
			result->status == CAPTURE_PANIC ? "--calls --last 10000 --before panic " : "",
			options->branches);
}

/* Returns the subcommand to try next: "why" if something went wrong, otherwise "show". */
static const char *next_command(const struct capture_result *result)
{
	const bool wrong = result->stalled || result->status == CAPTURE_PANIC ||
			   result->status == CAPTURE_STALL || result->status == CAPTURE_TIMEOUT ||
			   result->status == CAPTURE_RESET || result->status == CAPTURE_NOT_SEEN;

	return wrong ? "why" : "show";
}

/* Describes what a dump covers: " in a dump that covers 0.012 s, taken 4.90 s before the end". */
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
	if (talk->quiet && result->written)
		return;
	if (result->kept[0] && !talk->quiet)
		command_message(talk->name, "the guest's RAM is in %s", result->kept);
	if (!result->written) {
		command_message(talk->name, "%s; no trace was written%s%s", result->text,
				access(options->out, F_OK) == 0 ? ", and this file is from an earlier run: "
								: "",
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
		loss, dump, options->out, next_command(result), options->out);
	if (options->schedule.on)
		run_schedule_report(talk->name, options, result);
}

/* Ends this process as QEMU ended, so that the parent process gets the same status. */
static int end_like(int wait_status)
{
	struct rlimit no_core = { 0, 0 };

	if (WIFEXITED(wait_status))
		return WEXITSTATUS(wait_status);
	/* do not write a core dump of this process, because QEMU has already written one */
	setrlimit(RLIMIT_CORE, &no_core);
	signal(WTERMSIG(wait_status), SIG_DFL);
	raise(WTERMSIG(wait_status));
	return CAPTURE_SIGNALLED + WTERMSIG(wait_status);
}

/* Runs if `ktrace run --shim DIRECTORY QEMU …` was started instead of QEMU. */
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

struct run_command {
	struct talk talk;
	struct capture_run_options options;
	struct run_schedule schedule;
	const char *page; /* value of --page; NULL if not given */
};

#define AT(member) .to = offsetof(struct run_command, member)
static const struct option_row rows[] = {
	{ "out", 'o', "FILE",
	  "write the trace to FILE (" DEFAULT_OUT "; with --replay " DEFAULT_REPLAY_OUT ")", options_set_text,
	  AT(options.out) },
	{ "timeout", 0, "SECONDS", "end the run this long after QEMU has started (0, the default: never)",
	  options_set_seconds, AT(options.timeout) },
	{ "stall", 0, "SECONDS",
	  "end the run if the guest stalls: no event or heartbeat for this time (30; 0: never)",
	  options_set_seconds, AT(options.stall) },
	{ "on-stall", 0, "kill|report|keep", "choose what to do with a guest that stalls (kill)",
	  options_set_choice, AT(options.on_stall) },
	{ "expect", 0, "TEXT", "end the run successfully when the command writes TEXT to standard output",
	  options_set_text, AT(options.expect) },
	{ "expect-continue", 0, NULL,
	  "let the guest continue after TEXT; the exit status then depends on how the guest ends",
	  options_set_flag, AT(options.expect_continue) },
	{ "deterministic", 0, NULL, "make the run the same each time; CPUs take turns", options_set_flag,
	  AT(schedule.deterministic) },
	{ "seed", 0, "N",
	  "make the run the same each time; N chooses which CPU runs, and for how long (0: CPUs take turns)",
	  options_set_number, AT(schedule.noise.seed), .most = INT64_MAX },
	{ "noise", 0, "KIND,TIME",
	  "choose what ends the slices of CPUs: 'timers' (default), 'hooks' of ktrace in the "
	  "guest, or 'both', each for half of the seeds; TIME is the mean length of slices, or of "
	  "delays at hooks (chosen by the seed)",
	  run_schedule_set_noise, AT(schedule.noise) },
	{ "then", 0, "TIME,SEED", "from this virtual time on, use another seed", options_set_text,
	  AT(schedule.later) },
	{ "input", 0, "FILE",
	  "type the lines of FILE on the serial line; a line \"SECONDS TEXT\" is typed at this "
	  "virtual time",
	  options_set_text, AT(schedule.input) },
	{ "deadline", 0, "TIME", "end the run at this virtual time", options_set_time, AT(schedule.deadline),
	  .least = 1, .most = INT64_MAX },
	{ "replay", 0, "TRACE", "repeat the run that TRACE was recorded from, and compare the events",
	  options_set_text, AT(schedule.replay) },
	{ "events", 0, "LIST", "append debug=LIST to the kernel's arguments", options_set_text,
	  AT(options.events) },
	{ "branches", 0, "[=FILE]",
	  "record the code that every CPU runs into FILE, which ktrace hwt shows (a file next to "
	  "the trace)",
	  options_set_text, AT(options.branches) },
	{ "trace-unit", 0, NULL,
	  "give the guest a trace unit for its own use; unlike --branches, this records nothing",
	  options_set_flag, AT(options.trace_unit) },
	{ "elf", 0, "KERNEL",
	  "use this ELF file for --noise, --why and --page, and print a warning if the trace is of "
	  "another kernel",
	  options_set_text, AT(options.elf) },
	{ "transport", 0, CAPTURE_TRANSPORTS, "choose how the trace leaves the guest (ram)",
	  options_set_choice, AT(options.transport) },
	{ "ram-dir", 0, "DIR", "put the guest's RAM file into this directory (the directory of the trace)",
	  options_set_text, AT(options.ram_dir) },
	{ "keep-ram", 0, NULL, "do not remove the guest's RAM file", options_set_flag, AT(options.keep_ram) },
	{ "why", 0, NULL, "if something went wrong, explain it at the end, as 'ktrace why' does",
	  options_set_flag, AT(talk.why) },
	{ "page", 0, "FILE", "also write the trace as a page, as 'ktrace html' does", options_set_text,
	  AT(page) },
	{ "allow-reboot", 0, NULL, "do not end the run when the guest resets; a reset erases the rings",
	  options_set_flag, AT(options.allow_reboot) },
	{ "force", 0, NULL,
	  "continue even if there is too little disk space, if --events names an event that the "
	  "kernel does not have, or if a file or the version of QEMU has changed since the run of "
	  "--replay",
	  options_set_flag, AT(options.force) },
	{ "quiet", 'q', NULL, "print errors only", options_set_flag, AT(talk.quiet) },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace run [OPTION]... [--expect TEXT [--expect-continue]] -- COMMAND...\n"
		 "ktrace run [OPTION]... --replay TRACE",
	.about = "Runs a QEMU command line, or anything that starts one (make qemu, a script), "
		 "and saves a trace.",
	.lists = { rows },
	.in_order = true,
	.end = "Status: 0 clean exit, 10 panic, 11 stall, 12 timeout, 13 reset or triple fault, "
	       "14 QEMU died, 15 no ktrace in the guest, or nothing dumped, 16 TEXT of --expect not seen, "
	       "17 the run differs from the run of --replay, 1 error or a guest that failed, "
	       "2 usage error.\n",
};

/* Refuses options that are incompatible. Returns 0 or EXIT_USAGE. */
static int check_options(const struct options *line, const struct capture_run_options *options)
{
	if (options->expect_continue && !options->expect)
		return options_refuse(line, "--expect-continue needs --expect");
	if (options->transport != CAPTURE_RAM && options->keep_ram)
		return options_refuse(line, "--keep-ram needs --transport ram");
	if (options->stall == 0 && options_given(line, "on-stall"))
		return options_refuse(line, "--on-stall cannot be combined with --stall 0");
	return 0;
}

/* Runs the guest, prints what happened, and returns the exit status. */
static int run_guest(struct run_command *command)
{
	struct capture_run_options *options = &command->options;
	struct talk *talk = &command->talk;
	struct capture_result result;
	char self[PATH_MAX], branches[PATH_MAX];
	int status;

	options->hooks = (struct capture_hooks){
		.say = print_sentence, .ram = print_ram, .progress = show_progress, .context = talk
	};
	options->trace_unit = options->trace_unit || options->branches;
	command_self(self);
	options->self = self;
	options->version = command_version();
	if (options->branches && !options->branches[0]) {
		name_branches(options->out, branches, sizeof(branches));
		options->branches = branches;
	}
	status = capture_run(options, &result);
	clear_progress(talk);
	if (status) {
		command_message(talk->name, "%s", capture_message());
		return status == CAPTURE_E_USAGE ? EXIT_USAGE : EXIT_BAD_INPUT;
	}
	conclude(talk, options, &result);
	if (options->branches && !talk->quiet)
		print_branches(talk, options, &result);
	if (talk->why && result.written && result.status != CAPTURE_CLEAN)
		explain_file(talk->name, options->out, options->elf);
	if (command->page && result.written)
		html_file(&(struct trace_args){ TRACE_ARGS(NULL, talk->name), .path = options->out },
			  options->elf, command->page);
	if (command->schedule.replay && result.written)
		return run_schedule_compare(talk->name, &command->schedule, options->out, &result);
	return result.status;
}

static int run(int argc, char **argv)
{
	struct run_command command = { .talk = { .name = argv[0] },
				       .options = { .events = "", .stall = -1 } };
	struct options line = { .syntax = &syntax, .by = argv[0], .to = &command };
	struct capture_run_options *options = &command.options;
	int status;

	if (argc > 1 && strcmp(argv[1], "--shim") == 0)
		return run_shim(argv[0], argc, argv);
	status = options_parse(&line, argc, argv);
	if (status >= 0)
		return status;
	status = check_options(&line, options);
	if (status)
		return status;
	if (!options->out)
		options->out = command.schedule.replay ? DEFAULT_REPLAY_OUT : DEFAULT_OUT;
	status = run_schedule_prepare(&command.schedule, &line, options, argc - optind, argv + optind);
	if (!status)
		status = run_guest(&command);
	run_schedule_free(&command.schedule);
	return status;
}

const struct command command_run = {
	.name = "run",
	.purpose = "boot a kernel under QEMU and save a trace of it",
	.run = run,
};
