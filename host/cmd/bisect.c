/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace bisect: its options and the output of its result. host/hunt does the work. */
#include "hunt/hunt.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/compare.h"
#include "base/open.h"
#include "capture/error.h"
#include "capture/json_text.h"
#include "capture/plan.h"
#include "capture/wait.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/run_schedule.h"
#include "ktread/ktread.h"

#define DEFAULT_RUNS 8u
#define RUNS_MOST    1000u
#define JOBS_MOST    512u
#define TIMEOUT	     120.0 /* time limit of a run, in seconds of real time */
#define NANOSECONDS  1e9
#define STATUS_NONE  17

struct command_bisect {
	const char *name;
	uint64_t runs, jobs;
	bool json, quiet;
	struct capture_run_options run;
	struct run_schedule schedule;
};

#define AT(member) .to = offsetof(struct command_bisect, member)
static const struct option_row rows[] = {
	{ "runs", 0, "K", "make K continuations from each time (8)", options_set_number, AT(runs), .least = 2,
	  .most = RUNS_MOST },
	{ "jobs", 'j', "N", "run N QEMUs at a time (number of CPUs)", options_set_number, AT(jobs),
	  .least = 1, .most = JOBS_MOST },
	{ "ram-dir", 0, "DIR",
	  "put the guests' RAM files into this directory (default: a temporary directory)", options_set_text,
	  AT(run.ram_dir) },
	{ "force", 0, NULL, "continue even if a file or the version of QEMU has changed since the first run",
	  options_set_flag, AT(run.force) },
	{ "json", 0, NULL, "print the result as one JSON object", options_set_flag, AT(json) },
	{ "quiet", 'q', NULL, "print the result and errors only", options_set_flag, AT(quiet) },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace bisect [OPTION]... TRACE",
	.about = "Finds when the failure of a run became inevitable. TRACE is the recording of this run. "
		 "Repeats the run up to a virtual time T, and continues it with K other seeds. Searches for "
		 "the T from which on all K continuations fail in the same way. The run must have been "
		 "recorded with --seed or --deterministic.",
	.lists = { rows },
	.end = "The result is statistical: K continuations are a small sample. It shows where to look, "
	       "but proves nothing.\n"
	       "Status: 0 found, 17 the run does not fail, 1 error, 2 usage error.\n",
};

static void print_step(void *context, uint64_t time, uint64_t failed, uint64_t runs)
{
	const struct command_bisect *command = context;

	if (!command->quiet)
		command_message(command->name,
				"from %.9f s on: %" PRIu64 " of %" PRIu64 " continuations fail the same way",
				(double)time / NANOSECONDS, failed, runs);
}

/*
 * Prints commands that show what happened between two virtual times. No event may be between these times, so
 * the commands name the events just before and after them.
 */
static void print_window(const char *path, double before, double from)
{
	const struct ktread_options raw = { .size = sizeof(raw), .raw_clock = 1 };
	struct ktread *trace = NULL;
	struct around around = { 0 };

	printf("  these are virtual times, from the start of the machine\n");
	if (ktread_open(&trace, path, &raw) == 0 && ktread_info(trace)->frequency)
		around_find(&around, trace, before, from);
	ktread_close(trace);
	if (!around.before.known)
		return;
	printf("  to see the events around it: ktrace show --id %" PRIu32 ".%" PRIu64 " --around 8 %s\n",
	       around.before.ring, around.before.slot, path);
	if (around.after.known)
		printf("  to see the functions there: ktrace retrace --functions --since-event %" PRIu32
		       ".%" PRIu64 " --until-event %" PRIu32 ".%" PRIu64 " %s\n",
		       around.before.ring, around.before.slot, around.after.ring, around.after.slot, path);
}

static int print_result(const struct command_bisect *command, const struct bisect *bisect)
{
	const struct hunt_run *run = &bisect->failure.first;
	const char *what = run->wrong ? run->what : run->text;
	const double from = (double)bisect->from / NANOSECONDS, before = (double)bisect->before / NANOSECONDS;

	if (command->json) {
		json_t *json = json_pack(
			"{s:s, s:s, s:i, s:s, s:s, s:I, s:I, s:I, s:I}", "schema", "ktrace-bisect/1",
			"strings", "untrusted", "version", 1, "verdict", run->verdict, "what", what, "runs",
			(json_int_t)bisect->runs, "from_ns", (json_int_t)bisect->from, "before_ns",
			(json_int_t)bisect->before, "before_failed", (json_int_t)bisect->before_failed);

		capture_json_write(json, 0, stdout);
		json_decref(json);
		return command_flush(command->name);
	}
	printf("%s%s%s\n", run->verdict, run->wrong ? ": " : "", what);
	if (bisect->before == 0) {
		printf("fails in %" PRIu64 " of %" PRIu64 " runs, whatever the schedule is\n", bisect->runs,
		       bisect->runs);
		return command_flush(command->name);
	}
	printf("fails in %" PRIu64 " of %" PRIu64 " runs from %.9f s on, in %" PRIu64 " of %" PRIu64
	       " from %.9f s on\n",
	       bisect->runs, bisect->runs, from, bisect->before_failed, bisect->runs, before);
	print_window(command->schedule.recipe.path, before, from);
	return command_flush(command->name);
}

static void remove_folder(const char *folder)
{
	char path[PATH_MAX];

	if (capture_path_join(path, folder, "results.jsonl") == 0)
		unlink(path);
	rmdir(folder);
}

static int search_and_report(struct command_bisect *command)
{
	char self[PATH_MAX], folder[PATH_MAX];
	struct hunt_options options = { .run = &command->run, .self = self, .folder = folder };
	struct bisect bisect = {
		.options = &options, .runs = command->runs, .step = print_step, .context = command
	};
	int error, status = EXIT_BAD_INPUT;

	command_self(self);
	command->run.self = self;
	command->run.version = command_version();
	options.jobs = command->jobs ? (unsigned)command->jobs : (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	if (capture_path_join(folder, base_temporary_folder(), "ktrace-bisect-XXXXXX") < 0 ||
	    !mkdtemp(folder)) {
		command_message(command->name, "%s: no directory can be created there: %s",
				base_temporary_folder(), strerror(errno));
		return EXIT_BAD_INPUT;
	}
	error = bisect_run(&bisect);
	remove_folder(folder);
	if (error < 0)
		command_message(command->name, "%s", bisect.error);
	if (error > 0) {
		command_message(command->name, "the run does not fail");
		return STATUS_NONE;
	}
	if (bisect.tried)
		status = print_result(command, &bisect);
	else if (!error)
		command_message(command->name, bisect.signal ? "there is no result so far"
							     : "the time at which the run ended is unknown");
	if (error)
		return EXIT_BAD_INPUT;
	return bisect.signal ? 128 + bisect.signal : status;
}

/*
 * Blocks signals until the result was printed: a signal that arrives between two runs must not end the
 * command.
 */
static int search(struct command_bisect *command)
{
	struct capture_signals signals;
	unsigned late = 0;
	int status;

	if (capture_signals_open(&signals) != 0) {
		command_message(command->name, "%s", capture_message());
		return EXIT_BAD_INPUT;
	}
	status = search_and_report(command);
	/* the result has been printed, and the exit status is known */
	capture_signals_take(&signals, &late);
	capture_signals_close(&signals);
	return status;
}

static int bisect_command(int argc, char **argv)
{
	struct command_bisect command = {
		.name = argv[0],
		.runs = DEFAULT_RUNS,
		.run = { .events = "", .stall = 0, .timeout = TIMEOUT, .may_lack_ktrace = true, .out = "" },
	};
	struct options line = { .syntax = &syntax, .by = argv[0], .to = &command };
	int status = options_parse(&line, argc, argv);

	if (status >= 0)
		return status;
	if (argc - optind != 1)
		return options_refuse(&line, "expected a trace");
	command.schedule.replay = argv[optind];
	status = run_schedule_prepare(&command.schedule, &line, &command.run, 0, NULL);
	if (!status)
		status = search(&command);
	run_schedule_free(&command.schedule);
	return status;
}

const struct command command_bisect = {
	.name = "bisect",
	.purpose = "find when the failure of a repeatable run became inevitable",
	.run = bisect_command,
};
