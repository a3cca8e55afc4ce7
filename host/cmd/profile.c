/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace profile: shows in which functions a guest of QEMU spends its time. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "capture/wait.h"
#include "capture/error.h"
#include "capture/output.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/trace_args.h"
#include "profile/profile.h"

#define ANSWER_MS     10000
#define DEFAULT_RATE  100u
#define MOST_RATE     1000u
#define DEFAULT_LIMIT 30u

struct profile_command {
	const char *name;
	const char *qmp, *kernel, *svg, *out;
	/* path of the file from which the names of functions are taken; "": there is none */
	char path[PATH_MAX];
	double seconds;
	uint64_t samples, rate, limit;
	bool folded, json;
	struct profile profile;
	int signals;
	sigset_t before; /* signals that were already blocked when the command began */
};

#define AT(member) .to = offsetof(struct profile_command, member)
static const struct option_row rows[] = {
	{ "qmp", 0, "ADDRESS", "profile a running QEMU, started with -qmp unix:PATH,server=on,wait=off",
	  options_set_text, AT(qmp) },
	{ "kernel", 'k', "FILE", "take names from this ELF file of the kernel (the file of QEMU's -kernel)",
	  options_set_text, AT(kernel) },
	{ "elf", 0, "FILE", "the same as --kernel", options_set_text, AT(kernel) },
	{ "seconds", 's', "N", "end after N seconds", options_set_seconds, AT(seconds), .least = 1 },
	{ "samples", 0, "N", "end after N samples of each CPU", options_set_number, AT(samples), .least = 1 },
	{ "rate", 'r', "N", "take N samples of each CPU per second (100)", options_set_number, AT(rate),
	  .least = 1, .most = MOST_RATE },
	{ "folded", 0, NULL, "print one line per stack, for flamegraph.pl", options_set_flag, AT(folded) },
	{ "json", 0, NULL, "print one JSON object", options_set_flag, AT(json), .instead = true },
	{ "svg", 0, "FILE", "also draw a flame graph into FILE", options_set_text, AT(svg) },
	{ "limit", 'n', "N", "print at most N functions (30)", options_set_number, AT(limit), .least = 1,
	  .most = UINT32_MAX },
	{ "out", 'o', "FILE",
	  "write the result to FILE, not to standard output, which the guest's console may use",
	  options_set_text, AT(out) },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace profile [OPTION]... -- QEMU [ARGUMENT]...\n"
		 "ktrace profile [OPTION]... --qmp ADDRESS",
	.about =
		"Shows in which functions a guest spends its time. Halts the guest about 100 times a second, "
		"and reads the registers and the stack of each CPU. The kernel does not need ktrace, but "
		"must be compiled with -g or -fno-omit-frame-pointer. Ends when QEMU ends, after --seconds "
		"or --samples, or at Ctrl-C, and then prints the result. Architectures: x86_64, aarch64, "
		"riscv64.",
	.lists = { rows },
	.end = "Status: 0 there are samples, 1 no samples, or an error, 2 usage error.\n"
	       "\n"
	       "Examples:\n"
	       "  ktrace profile -- qemu-system-x86_64 -nographic -kernel kernel.elf\n"
	       "  ktrace profile --qmp qmp.sock --seconds 10 --svg flame.svg\n"
	       "  ktrace profile --qmp qmp.sock --seconds 10 --folded | flamegraph.pl >flame.svg\n",
	.in_order = true,
};

/* ---- Output of the report ------------------------------------------------------------------------ */

static void put_report(const struct profile_command *command, struct profile *profile,
		       struct base_output *out)
{
	if (command->folded)
		profile_put_folded(out, profile);
	else if (command->json) {
		base_output_schema(out, "ktrace-profile/1");
		profile_put_json(out, profile);
	} else
		profile_put_table(out, profile, (uint32_t)command->limit);
}

static void put_svg(const struct profile_command *command, struct profile *profile, struct base_output *out)
{
	(void)command;
	profile_put_svg(out, profile);
}

typedef void put_function(const struct profile_command *command, struct profile *profile,
			  struct base_output *out);

/* Writes to the file `path`, or to standard output if `path` is NULL. Returns an exit status. */
static int write_to(struct profile_command *command, const char *path, put_function *put)
{
	struct capture_output file = { .fd = STDOUT_FILENO };
	struct base_output out;
	int error;

	if (path && capture_output_open(&file, path) != 0) {
		command_message(command->name, "%s", capture_message());
		return EXIT_BAD_INPUT;
	}
	if (base_output_open(&out, file.fd) < 0) {
		command_message(command->name, "out of memory");
		if (path)
			capture_output_abandon(&file);
		return EXIT_BAD_INPUT;
	}
	put(command, &command->profile, &out);
	error = base_output_close(&out);
	if (!path || error) {
		if (path)
			capture_output_abandon(&file);
		return trace_output_status(command->name, path ? path : "standard output", error);
	}
	if (capture_output_commit(&file) == 0)
		return EXIT_SUCCESS;
	command_message(command->name, "%s", capture_message());
	return EXIT_BAD_INPUT;
}

static void advise(const struct profile_command *command)
{
	const struct profile *profile = &command->profile;
	char text[512];

	profile_put_summary(profile, text, sizeof(text));
	if (command->folded || command->json)
		command_message(command->name, "%s", text);
	if (command->path[0] && profile->unnamed > profile->kernel / 2)
		command_message(command->name,
				"%s has no name for most of the code that ran: is it the kernel's ELF file? "
				"(--kernel FILE)",
				command->path);
	else if (profile->alone > profile->kernel / 2)
		command_message(command->name, "most stacks have no callers: compile the kernel with "
					       "-g or -fno-omit-frame-pointer");
}

static int report(struct profile_command *command)
{
	int status;

	if (!command->profile.rounds) {
		command_message(command->name, "nothing was sampled%s",
				command->profile.paused ? ": the guest is paused" : "");
		return EXIT_BAD_INPUT;
	}
	status = write_to(command, command->out, put_report);
	if (command->svg)
		status |= write_to(command, command->svg, put_svg);
	advise(command);
	return status;
}

/* ---- Taking samples ------------------------------------------------------------------------------ */

/* Opens the kernel's file. Fails only if the user specified a file that cannot be used. */
static int open_names(struct profile_command *command, struct profile_target *target)
{
	const char *path = command->kernel ? command->kernel : profile_target_kernel(target), *why;

	if (!*path) {
		command_message(command->name,
				"the kernel's file is unknown: functions have no names (--kernel FILE)");
		return 0;
	}
	if (profile_names_open(&command->profile.names, path, profile_target_machine(target), &why) == 0) {
		profile_target_set_frames(target, profile_names_frame, command->profile.names);
		snprintf(command->path, sizeof(command->path), "%s", path);
		return 0;
	}
	command_message(command->name, command->kernel ? "%s" : "%s: functions have no names (--kernel FILE)",
			why);
	return command->kernel ? EXIT_BAD_INPUT : 0;
}

static void say_paused(void *context)
{
	const struct profile_command *command = context;

	command_message(command->name,
			"the guest is paused: waiting until it runs (to continue it, type cont in "
			"QEMU's monitor)");
}

static int sample(struct profile_command *command, const char *qmp, bool starts)
{
	const struct profile_options options = { .rate = (double)command->rate,
						 .seconds = command->seconds,
						 .samples = command->samples,
						 .signals = command->signals,
						 .on_pause = say_paused,
						 .context = command };
	struct profile_target *target;
	int status = profile_target_open(&target, qmp, ANSWER_MS, starts), stop;

	if (status) {
		command_message(command->name, "%s", capture_message());
		status = status == CAPTURE_E_USAGE ? EXIT_USAGE : EXIT_BAD_INPUT;
	} else {
		status = open_names(command, target);
	}
	if (!status) {
		stop = profile_run(&command->profile, target, &options);
		if (stop < 0)
			command_message(command->name, "%s", capture_message());
		status = stop < 0 ? EXIT_BAD_INPUT : EXIT_SUCCESS;
	}
	capture_take_signal();
	if (target && starts)
		profile_target_quit(target);
	profile_target_close(target);
	return status;
}

static int profile_started(struct profile_command *command, char **words)
{
	struct profile_child child;
	int status = profile_child_start(&child, words, &command->before);

	if (!status)
		status = profile_child_await(&child);
	if (status) {
		command_message(command->name, "%s", capture_message());
		status = status == CAPTURE_E_USAGE ? EXIT_USAGE : EXIT_BAD_INPUT;
	} else {
		status = sample(command, child.qmp, child.starts);
	}
	if (child.pid)
		kill(child.pid, SIGTERM);
	profile_child_end(&child);
	return status;
}

static int check_outputs(const struct profile_command *command)
{
	if ((!command->out || capture_output_check(command->out) == 0) &&
	    (!command->svg || capture_output_check(command->svg) == 0))
		return 0;
	command_message(command->name, "%s", capture_message());
	return EXIT_BAD_INPUT;
}

static void catch_signals(struct profile_command *command)
{
	sigset_t taken;

	capture_hold_signals(&command->before);
	sigemptyset(&taken);
	sigaddset(&taken, SIGINT);
	sigaddset(&taken, SIGTERM);
	sigaddset(&taken, SIGHUP);
	command->signals = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int run_profile(int argc, char **argv)
{
	struct profile_command command = { .name = argv[0], .rate = DEFAULT_RATE, .limit = DEFAULT_LIMIT };
	struct options line = { .syntax = &syntax, .by = argv[0], .to = &command };
	int status = options_parse(&line, argc, argv), reported;

	if (status >= 0)
		return status;
	if (command.qmp && optind < argc)
		return options_refuse(&line,
				      "--qmp is for a QEMU that runs: it cannot be combined with a command");
	if (!command.qmp && optind >= argc)
		return options_refuse(&line, "expected -- and a QEMU command line, or --qmp");
	if (command.folded && command.json)
		return options_refuse(&line, "--folded cannot be combined with --json");
	if (options_given(&line, "limit") && (command.folded || command.json))
		return options_refuse(
			&line, "--limit is for the table: it cannot be combined with --folded or --json");
	status = check_outputs(&command);
	if (status)
		return status;
	catch_signals(&command);
	status =
		command.qmp ? sample(&command, command.qmp, false) : profile_started(&command, argv + optind);
	if (status == EXIT_SUCCESS || command.profile.rounds) {
		reported = report(&command);
		status = status ? status : reported;
	}
	profile_free(&command.profile);
	capture_release_signals(&command.before, 0);
	if (command.signals >= 0)
		close(command.signals);
	return status;
}

const struct command command_profile = {
	.name = "profile",
	.purpose = "show in which functions a guest of QEMU spends its time",
	.run = run_profile,
};
