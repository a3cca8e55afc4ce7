/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace retrace: repeats a run, and shows what the trace does not have: each access to some memory. */
#include "cmd/retrace.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/note.h"
#include "capture/error.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/run_schedule.h"
#include "cmd/trace_args.h"

#define DEFAULT_OUT  "retrace.ktrx"
#define DEFAULT_LAST 20u

struct retrace_command {
	const char *name;
	struct options_list wrote, read;
	uint64_t last;
	bool json;
	struct capture_run_options run;
	struct run_schedule schedule;
	char elf[PATH_MAX]; /* the kernel's ELF file; "": unknown */
	struct symbols *symbols;
	struct retrace_ranges ranges;
	struct retrace_accesses accesses;
	bool recorded; /* `accesses` is set */
};

#define AT(member) .to = offsetof(struct retrace_command, member)
static const struct option_row rows[] = {
	{ "who-wrote", 0, "ADDRESS[,LENGTH]", "print each write to this memory; may be repeated",
	  options_set_list, AT(wrote), .most = SCHEDULE_WATCHES },
	{ "who-read", 0, "ADDRESS[,LENGTH]", "print each read of this memory; may be repeated",
	  options_set_list, AT(read), .most = SCHEDULE_WATCHES },
	{ "last", 'n', "N", "print only the last N accesses (20)", options_set_number, AT(last), .least = 1,
	  .most = SCHEDULE_RECORDS_MOST },
	{ "json", 0, NULL, "one JSON object per line", options_set_flag, AT(json) },
	{ "elf", 0, "KERNEL", "the kernel's ELF file (the file that the trace names)", options_set_text,
	  AT(run.elf) },
	{ "out", 'o', "FILE", "trace of the repeated run (" DEFAULT_OUT ")", options_set_text, AT(run.out) },
	{ "force", 0, NULL, "continue although a file or QEMU has changed since the first run",
	  options_set_flag, AT(run.force) },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace retrace [OPTION]... TRACE",
	.about =
		"Repeats the run that TRACE was recorded from, and prints which instructions wrote or read "
		"some memory. ADDRESS is a virtual address of the kernel, or a name in its ELF file: NAME or "
		"NAME+OFFSET. LENGTH is at most 4096; the default is the size of what has the name, or 8. "
		"The run must have been recorded with --seed or --deterministic.",
	.lists = { rows },
	.end = "Status: 0 the run is the same as the first, 17 it is another run, 1 error, 2 usage error.\n",
};

/* ---- The ranges ---------------------------------------------------------------------------------- */

/* Opens the kernel's ELF file, if it is known. Without it, ranges must be numbers. */
static int open_symbols(struct retrace_command *command, const struct ktread_info *info)
{
	int status;

	if (command->run.elf) {
		if (capture_path_absolute(command->elf, command->run.elf) != 0) {
			command_message(command->name, "%s", capture_message());
			return EXIT_BAD_INPUT;
		}
		/* The run changes to the folder of the first run. */
		command->run.elf = command->elf;
	} else if (!note_kernel(info->note, command->elf, sizeof(command->elf))) {
		return 0;
	}
	status = symbols_open(&command->symbols, command->elf, info);
	if (status == SYMBOLS_OK)
		return 0;
	if (status != SYMBOLS_UNCHECKED || command->run.elf)
		command_message(command->name, "%s", symbols_message());
	return status < 0 && command->run.elf ? EXIT_BAD_INPUT : 0;
}

static int choose_ranges(struct retrace_command *command, const char *path)
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
	return status;
}

/* ---- The run ------------------------------------------------------------------------------------- */

static void say(void *context, const char *sentence)
{
	struct retrace_command *command = context;

	command_message(command->name, "%s", sentence);
}

static void take_accesses(void *context, const struct schedule_control *control)
{
	struct retrace_command *command = context;

	command->recorded = retrace_copy(&command->accesses, control);
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

static int retrace(struct retrace_command *command)
{
	struct capture_result result;
	int output, status, printed;

	command->run.hooks =
		(struct capture_hooks){ .say = say, .recorded = take_accesses, .context = command };
	status = run_schedule_repeat(command->name, &command->run, true, &output, &result);
	if (status)
		return status;
	if (!command->recorded) {
		command_message(command->name, "the accesses are lost: %s", result.text);
		return EXIT_BAD_INPUT;
	}
	printed = retrace_print(command->name, &command->accesses, &command->ranges, command->symbols,
				command->json);
	report_accesses(command);
	if (!result.written) {
		command_message(command->name, "no trace was written, so the runs cannot be compared: %s",
				result.text);
		return EXIT_BAD_INPUT;
	}
	result.status = printed; /* what the guest ended with was reported by the first run */
	return run_schedule_compare(command->name, &command->schedule, command->run.out, &result);
}

static int retrace_run(int argc, char **argv)
{
	struct retrace_command command = { .name = argv[0],
					   .last = DEFAULT_LAST,
					   .run = { .events = "", .stall = 0 } };
	struct options line = { .syntax = &syntax, .by = argv[0], .to = &command };
	int status = options_parse(&line, argc, argv);

	if (status >= 0)
		return status;
	if (argc - optind != 1)
		return options_refuse(&line, "expected a trace");
	if (!command.wrote.count && !command.read.count)
		return options_refuse(&line, "expected --who-wrote or --who-read");
	command.schedule.replay = argv[optind];
	if (!command.run.out)
		command.run.out = DEFAULT_OUT;
	status = choose_ranges(&command, argv[optind]);
	if (!status)
		status = run_schedule_prepare(&command.schedule, &line, &command.run, 0, NULL);
	if (!status) {
		memcpy(command.run.schedule.watch, command.ranges.watch, sizeof(command.ranges.watch));
		command.run.schedule.watches = command.ranges.count;
		command.run.schedule.records = (uint32_t)command.last;
		status = retrace(&command);
	}
	run_schedule_free(&command.schedule);
	symbols_close(command.symbols);
	free(command.accesses.access);
	return status;
}

const struct command command_retrace = {
	.name = "retrace",
	.purpose = "repeat a run and show which code wrote or read some memory",
	.run = retrace_run,
};
