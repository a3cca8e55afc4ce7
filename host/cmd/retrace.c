/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ktrace retrace: repeats a run, and shows what the trace does not contain: each access to some memory, the
 * functions that were called, or the branches.
 */
#include "cmd/retrace.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/compare.h"
#include "capture/error.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/run_schedule.h"
#include "cmd/trace_args.h"

#define DEFAULT_OUT  "retrace.ktrx"
#define DEFAULT_LAST 20u
#define NANOSECONDS  1e9

struct retrace_command {
	const char *name;
	struct options_list wrote, read, only;
	bool list_functions;
	uint64_t cpu;
	struct retrace_window window;
	struct retrace_form form;
	struct capture_run_options run;
	struct run_schedule schedule;
	char elf[PATH_MAX]; /* the kernel's ELF file; "": unknown */
	struct symbols *symbols;
	struct retrace_ranges ranges;
	struct retrace_accesses accesses;
	struct retrace_functions functions;
	struct retrace_branches branches;
	bool recorded; /* the run was repeated, and `accesses` or `functions` contains the results */
};

#define AT(member) .to = offsetof(struct retrace_command, member)
static const struct option_row rows[] = {
	{ "who-wrote", 0, "ADDRESS[,LENGTH]", "print each write to this memory; may be repeated",
	  options_set_list, AT(wrote), .most = SCHEDULE_WATCHES },
	{ "who-read", 0, "ADDRESS[,LENGTH]", "print each read of this memory; may be repeated",
	  options_set_list, AT(read), .most = SCHEDULE_WATCHES },
	{ "functions", 0, NULL, "print each function of the kernel that is called", options_set_flag,
	  AT(list_functions) },
	{ "only", 0, "PATTERN",
	  "with --functions: print only functions whose name matches PATTERN, such as 'sched_*'; "
	  "may be repeated",
	  options_set_list, AT(only), .most = 16 },
	{ "cpu", 0, "N", "with --functions: print only functions that this CPU runs", options_set_number,
	  AT(cpu), .most = TRACE_CPUS_MAX - 1 },
	{ "summary", 0, NULL, "with --functions: print only how often each function was called",
	  options_set_flag, AT(form.summary) },
	{ "since", 0, "TIME",
	  "with --functions: begin after the first event at or after this time of the trace",
	  options_set_text, AT(window.since) },
	{ "since-event", 0, "RING.SLOT", "with --functions: begin after this event", options_set_text,
	  AT(window.since_event), .instead = true },
	{ "until", 0, "TIME", "end the run at the first event at or after this time of the trace",
	  options_set_text, AT(window.until) },
	{ "until-event", 0, "RING.SLOT", "end the run at this event", options_set_text,
	  AT(window.until_event), .instead = true },
	{ "branches", 0, "FILE", "record the code that each CPU runs into FILE, which ktrace hwt shows",
	  options_set_text, AT(run.branches) },
	{ "last", 'n', "N", "print only the last N accesses (20) or functions (all)", options_set_number,
	  AT(form.last), .least = 1, .most = SCHEDULE_RECORDS_MOST },
	{ "json", 0, NULL, "print one JSON object per line", options_set_flag, AT(form.json) },
	{ "elf", 0, "KERNEL",
	  "take names from this ELF file of the kernel (default: the file that the trace names)",
	  options_set_text, AT(run.elf) },
	{ "out", 'o', "FILE", "write the trace of the repeated run to FILE (" DEFAULT_OUT ")",
	  options_set_text, AT(run.out) },
	{ "force", 0, NULL, "continue even if a file or the version of QEMU has changed since the first run",
	  options_set_flag, AT(run.force) },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace retrace [OPTION]... TRACE",
	.about = "Repeats the run that TRACE was recorded from, and prints which instructions wrote or read "
		 "some memory, or which functions were called, or records which code ran. "
		 "ADDRESS is a virtual address of the kernel, or "
		 "a name in its ELF file: NAME or "
		 "NAME+OFFSET. LENGTH is at most 4096; the default is the size of the variable, or 8. "
		 "The run must have been recorded with --seed or --deterministic.",
	.lists = { rows },
	.end = "Status: 0 the run is the same as the first, 17 the run differs, 1 error, 2 usage error, "
	       "128 + N ended by signal N.\n",
};

/* ---- The ranges of memory ------------------------------------------------------------------------ */

/* Opens the kernel's ELF file, if it is known. Without the file, ranges can be given only by numbers. */
static int open_symbols(struct retrace_command *command, const struct ktread_info *info)
{
	int status;

	if (command->run.elf) {
		if (capture_path_absolute(command->elf, command->run.elf) != 0) {
			command_message(command->name, "%s", capture_message());
			return EXIT_BAD_INPUT;
		}
		command->run.elf = command->elf;
	} else if (!run_schedule_kernel(&command->schedule, info->note, command->elf, sizeof(command->elf))) {
		return 0;
	}
	status = symbols_open(&command->symbols, command->elf, info);
	if (status == SYMBOLS_OK)
		return 0;
	if (status != SYMBOLS_UNCHECKED || command->run.elf)
		command_message(command->name, "%s", symbols_message());
	return status < 0 && command->run.elf ? EXIT_BAD_INPUT : 0;
}

/* Opens the kernel's ELF file, and uses it to find the names in the options. */
static int choose(struct retrace_command *command, const char *path)
{
	struct ktread *trace = NULL;
	int status;

	if (ktread_open(&trace, path, NULL) != 0) {
		command_message(command->name, "%s", ktread_message(trace));
		ktread_close(trace);
		return EXIT_BAD_INPUT;
	}
	status = open_symbols(command, ktread_info(trace));
	ktread_close(trace);
	if (!status)
		status = retrace_add_ranges(&command->ranges, command->name, "--who-wrote", &command->wrote,
					    SCHEDULE_WRITE, command->symbols);
	if (!status)
		status = retrace_add_ranges(&command->ranges, command->name, "--who-read", &command->read,
					    SCHEDULE_READ, command->symbols);
	if (!status && command->list_functions)
		status = retrace_functions_choose(&command->functions, command->name, &command->only,
						  command->symbols);
	return status;
}

/* ---- The repeated run ---------------------------------------------------------------------------- */

static void say(void *context, const char *sentence)
{
	struct retrace_command *command = context;

	command_message(command->name, "%s", sentence);
}

static void take_records(void *context, const struct schedule_control *control)
{
	struct retrace_command *command = context;

	command->branches.mark = control->mark;
	command->recorded = command->list_functions ? retrace_functions_take(&command->functions, control)
						    : retrace_copy(&command->accesses, control);
}

/*
 * Prints a command that shows the events around the last access: its time is not relative to the first event,
 * as the times of other commands are.
 */
static void report_events(const struct retrace_command *command)
{
	const struct retrace_accesses *accesses = &command->accesses;
	const char *path = command->schedule.recipe.path;
	const struct ktread_options raw = { .size = sizeof(raw), .raw_clock = 1 };
	struct ktread *trace = NULL;
	struct around around = { 0 };
	double last;

	if (accesses->count && ktread_open(&trace, path, &raw) == 0 && ktread_info(trace)->frequency) {
		last = (double)accesses->access[accesses->count - 1].time / NANOSECONDS;
		around_find(&around, trace, last, last);
	}
	ktread_close(trace);
	if (around.before.known)
		command_message(command->name,
				"to see the events around the last access: ktrace show --id %" PRIu32
				".%" PRIu64 " --around 8 %s",
				around.before.ring, around.before.slot, path);
}

static void report_accesses(const struct retrace_command *command)
{
	const struct retrace_accesses *accesses = &command->accesses;

	if (accesses->all == 0)
		command_message(command->name, "no access by an instruction of a CPU");
	else if (accesses->all > accesses->count)
		command_message(command->name,
				"%" PRIu64 " accesses; the last %" PRIu32 " are printed, %" PRIu64
				" were overwritten: see --last",
				accesses->all, accesses->count, accesses->all - accesses->count);
	else
		command_message(command->name, "%" PRIu64 " access%s", accesses->all,
				accesses->all == 1 ? "" : "es");
}

/* Prints the recorded accesses or functions. Returns the exit status. */
static int print_records(const struct retrace_command *command)
{
	int status, missing;

	if (!command->list_functions && !command->ranges.count)
		return 0;
	if (!command->list_functions) {
		status = retrace_print(command->name, &command->accesses, &command->ranges, command->symbols,
				       command->form.json);
		report_accesses(command);
		report_events(command);
		return status;
	}
	status =
		retrace_functions_print(command->name, &command->functions, command->symbols, &command->form);
	missing = retrace_functions_report(command->name, &command->functions, &command->form);
	return status ? status : missing;
}

static int retrace(struct retrace_command *command)
{
	struct capture_result result;
	int output, status, printed, branches = 0;

	command->run.hooks =
		(struct capture_hooks){ .say = say, .recorded = take_records, .context = command };
	status = run_schedule_repeat(command->name, &command->run, true, &output, &result);
	if (status)
		return status;
	if (!command->recorded) {
		command_message(command->name, "the records are lost: %s", result.text);
		return EXIT_BAD_INPUT;
	}
	printed = print_records(command);
	if (command->run.branches)
		branches = retrace_branches_finish(&command->branches, command->name, command->run.branches);
	if (!printed)
		printed = branches;
	if (result.status == CAPTURE_QEMU_DIED || result.status >= CAPTURE_SIGNALLED) {
		command_message(command->name, "the run ended early: %s%s", result.text,
				command->run.branches && result.status == CAPTURE_QEMU_DIED
					? "; is the disk with the file of --branches full?"
					: "");
		return result.status >= CAPTURE_SIGNALLED ? result.status : EXIT_BAD_INPUT;
	}
	if (!result.written) {
		command_message(command->name, "no trace was written, so the runs cannot be compared: %s",
				result.text);
		return EXIT_BAD_INPUT;
	}
	result.status = printed; /* how the guest ended was already reported for the first run */
	return run_schedule_compare(command->name, &command->schedule, command->run.out, &result);
}

/* Sets what the plugin has to record. */
static void set_schedule(struct retrace_command *command)
{
	struct capture_schedule *schedule = &command->run.schedule;
	const struct retrace_functions *functions = &command->functions;

	memcpy(schedule->watch, command->ranges.watch, sizeof(command->ranges.watch));
	schedule->watches = command->ranges.count;
	schedule->records = command->ranges.count ? (uint32_t)command->form.last : 0;
	schedule->functions = (struct schedule_functions){ .begin = functions->begin,
							   .end = functions->end,
							   .word = command->window.begin.word,
							   .position = command->window.begin.position,
							   .cpu = (uint32_t)command->cpu,
							   .listed = functions->count > 0 };
	schedule->addresses = functions->address;
	schedule->address_count = functions->count;
	schedule->mark = command->branches.mark;
	schedule->word = command->window.end.word;
	schedule->position = command->window.end.position;
}

static int check_options(struct retrace_command *command, const struct options *line)
{
	const bool accesses = command->wrote.count || command->read.count;

	if (!accesses && !command->list_functions && !command->run.branches)
		return options_refuse(line, "expected --who-wrote, --who-read, --functions or --branches");
	if (accesses && command->list_functions)
		return options_refuse(line, "--functions cannot be combined with --who-wrote and --who-read");
	if (!command->list_functions && options_given(line, "only cpu summary since since-event"))
		return options_refuse(line, "--only, --cpu, --summary and --since need --functions");
	if (command->form.summary && command->form.last)
		return options_refuse(line, "--summary cannot be combined with --last");
	if (!command->form.last && accesses)
		command->form.last = DEFAULT_LAST;
	return 0;
}

static int retrace_run(int argc, char **argv)
{
	struct retrace_command command = { .name = argv[0],
					   .cpu = SCHEDULE_ANY_CPU,
					   .run = { .events = "", .stall = 0 } };
	struct options line = { .syntax = &syntax, .by = argv[0], .to = &command };
	int status = options_parse(&line, argc, argv);

	if (status >= 0)
		return status;
	if (argc - optind != 1)
		return options_refuse(&line, "expected a trace");
	status = check_options(&command, &line);
	if (status)
		return status;
	command.schedule.replay = argv[optind];
	command.schedule.adds_branches = command.run.virtual_branches = true;
	if (!command.run.out)
		command.run.out = DEFAULT_OUT;
	status = run_schedule_prepare(&command.schedule, &line, &command.run, 0, NULL);
	if (!status)
		status = choose(&command, command.schedule.recipe.path);
	if (!status)
		status = retrace_window_find(&command.window, command.name, &command.schedule.recipe);
	if (!status && command.run.branches)
		status = retrace_branches_prepare(&command.branches, command.name, &command.schedule.recipe,
						  &command.window.end);
	if (!status) {
		set_schedule(&command);
		status = retrace(&command);
	}
	run_schedule_free(&command.schedule);
	symbols_close(command.symbols);
	free(command.accesses.access);
	retrace_functions_free(&command.functions);
	return status;
}

const struct command command_retrace = {
	.name = "retrace",
	.purpose = "repeat a run and show which code wrote some memory, or which functions ran",
	.run = retrace_run,
};
