/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ktrace record: records the system calls and other requests of Linux programs, like ktrace(1) of the BSDs.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/trace_args.h"
#include "record/tracer.h"

#define USUAL_FILE "ktrace.out"

struct record_command {
	const char *name;
	struct record_plan plan;
	bool clear, clear_all;
};

#define F(type) RECORD_FACILITY(KTRX_PROC_##type)

/* The letters of -t; facilities_of[] contains the facilities that each letter selects. */
static const char letters[] = "cnisutfwpy+";
static const uint32_t facilities_of[] = {
	F(SYSCALL) | F(SYSRET),		       /* c */
	F(NAMEI),			       /* n */
	F(GENIO),			       /* i */
	F(PSIG),			       /* s */
	F(USER),			       /* u */
	F(STRUCT) | F(STRUCT_ARRAY),	       /* t */
	F(FAULT) | F(FAULTEND) | RECORD_PAGES, /* f */
	F(CSW),				       /* w */
	F(CAPFAIL),			       /* p */
	F(SYSCTL),			       /* y */
	RECORD_ALL & ~F(CSW),		       /* + */
};

static const char *set_letters(void *to, const char *value, const struct option_row *row)
{
	static char wrong[64];
	uint32_t facilities = RECORD_LIVES;

	(void)row;
	for (; *value; value++) {
		const char *letter = strchr(letters, *value);

		if (!letter) {
			snprintf(wrong, sizeof(wrong), "contains the letter '%c', which is not one of %s",
				 *value, letters);
			return wrong;
		}
		facilities |= facilities_of[letter - letters];
	}
	*(uint32_t *)to = facilities;
	return NULL;
}

static const char *set_process(void *to, const char *value, const struct option_row *row)
{
	uint64_t number;

	(void)row;
	if (trace_parse_number(value, INT32_MAX, &number) || number == 0)
		return "is not a number from 1 to 2147483647";
	*(pid_t *)to = (pid_t)number;
	return NULL;
}

#define AT(member) .to = offsetof(struct record_command, member)
static const struct option_row rows[] = {
	{ NULL, 'f', "FILE", "record into FILE, which is replaced, with mode 0600 (" USUAL_FILE ")",
	  options_set_text, AT(plan.path) },
	{ NULL, 'a', NULL, "append to FILE, which must be a trace that belongs to you", options_set_flag,
	  AT(plan.append) },
	{ NULL, 'i', NULL, "also record the processes that recorded processes create", options_set_flag,
	  AT(plan.inherit) },
	{ NULL, 'p', "PID", "record a running process: returns at once and continues in the background",
	  set_process, AT(plan.pid) },
	{ NULL, 'g', "GROUP", "record all processes of a process group", set_process, AT(plan.group) },
	{ NULL, 'd', NULL, "with -p or -g: also record all descendants", options_set_flag, AT(plan.descend) },
	{ NULL, 't', "LETTERS",
	  "record these types: c system calls, n paths, i data, s signals, u data from utrace(), t "
	  "structures, f page faults, w number of waits; + means the default: all except w and "
	  "page faults without a signal; p and y are accepted and have no effect",
	  set_letters, AT(plan.facilities) },
	{ NULL, 'c', NULL,
	  "end the recording of the process of -p, of the group of -g, or into the file of -f",
	  options_set_flag, AT(clear) },
	{ NULL, 'C', NULL, "end all recordings that you have started", options_set_flag, AT(clear_all) },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace record [-adi] [-f FILE] [-t LETTERS] COMMAND [ARGUMENT]...\n"
		 "ktrace record [-adi] [-f FILE] [-t LETTERS] -p PID | -g GROUP\n"
		 "ktrace record -c [-d] [-t LETTERS] -p PID | -g GROUP | -f FILE\n"
		 "ktrace record -C\n"
		 "ktrace -f FILE COMMAND [ARGUMENT]...",
	.about = "Records what a program requests from the kernel: "
		 "system calls with all arguments and results, paths, data, signals, faults. "
		 "'kdump' shows the file. "
		 "'ktrace -f OUT ls -la' is short for 'ktrace record -f OUT ls -la'.",
	.lists = { rows },
	.in_order = true,
	.end = "Status: the status of the command; 126 or 127 if it cannot be run; "
	       "1 if nothing could be recorded.\n"
	       "\n"
	       "Examples:\n"
	       "  ktrace record -i -f build.out make\n"
	       "  ktrace record -t ci -p 1234; sleep 5; ktrace record -c -p 1234; kdump -f ktrace.out\n",
};

static int print_count(const struct record_command *command, int count)
{
	if (count < 0) {
		command_message(command->name, "recorders cannot be reached: %s", strerror(-count));
		return EXIT_BAD_INPUT;
	}
	if (count == 0 && !command->clear_all) {
		command_message(command->name, "none of your recorders records this process, group or file");
		return EXIT_BAD_INPUT;
	}
	return EXIT_SUCCESS;
}

static int clear(const struct record_command *command)
{
	const struct record_plan *plan = &command->plan;
	struct record_request request = { .facilities = plan->facilities & ~RECORD_LIVES,
					  .descend = plan->descend,
					  .namespace = record_proc_namespace() };
	struct stat file;

	/*
	 * Without -t, plan->facilities contains every facility except context switches. But a request to stop
	 * recording without -t must also stop recording context switches, so it selects all facilities.
	 */
	if (plan->facilities == (RECORD_ALL & ~F(CSW)))
		request.facilities = RECORD_ALL;
	if (command->clear_all) {
		request.whose = RECORD_WHOSE_ALL;
	} else if (plan->pid) {
		request.whose = RECORD_WHOSE_PROCESS;
		request.pid = plan->pid;
	} else if (plan->group) {
		request.whose = RECORD_WHOSE_GROUP;
		request.pid = plan->group;
	} else {
		if (stat(plan->path, &file) != 0) {
			command_message(command->name, "%s: %s", plan->path, strerror(errno));
			return EXIT_BAD_INPUT;
		}
		request.whose = RECORD_WHOSE_FILE;
		request.device = file.st_dev;
		request.inode = file.st_ino;
	}
	return print_count(command, record_control_ask_all(&request));
}

/* Returns a message for the errno of a failed operation of this command on a file or a process. */
static const char *reason(int error, bool of_file)
{
	switch (error) {
	case EACCES:
		return of_file ? "not a regular file that can be written" : strerror(error);
	case EINVAL:
		return of_file ? "contains something other than a trace" : strerror(error);
	case EPERM:
		return of_file ? "belongs to another user" : "belongs to another user, or is traced already";
	case ENODEV:
		return of_file ? strerror(error)
			       : "not mounted, or of another PID namespace: "
				 "it is needed to find running processes";
	case ESRCH:
		return "does not exist";
	default:
		return strerror(error);
	}
}

static int print_outcome(const struct record_command *command, const struct record_outcome *outcome,
			 int error)
{
	const char *troubles = record_sink_troubles();
	int missed_error;

	for (const char *end; (end = strchr(troubles, '\n')); troubles = end + 1)
		command_message(command->name, "%.*s", (int)(end - troubles), troubles);
	if (record_became_privileged() > 0)
		command_message(command->name,
				"%u processes gained privileges and were not recorded after that",
				record_became_privileged());
	if (record_memory_denied() > 0 || record_descriptors_denied() > 0)
		command_message(command->name,
				"the kernel refused %lu reads of memory and %lu look-ups of descriptors: "
				"only root may read a program that does not allow core dumps",
				record_memory_denied(), record_descriptors_denied());
	if (!error && !record_proc_is_usable())
		command_message(command->name,
				"/proc is not mounted, or of another PID namespace: "
				"names of programs, files of descriptors and waits are not recorded");
	if (record_without_memory() > 0)
		command_message(command->name, "out of memory: %u threads continued without being recorded",
				record_without_memory());
	if (record_faults_missed(&missed_error) > 0)
		command_message(command->name, "page faults of %u threads were not recorded: %s",
				record_faults_missed(&missed_error), strerror(missed_error));
	if (error == ESRCH && (command->plan.pid || command->plan.group))
		command_message(command->name, "process%s %d does not exist",
				command->plan.group ? " group" : "",
				(int)(command->plan.group ? command->plan.group : command->plan.pid));
	else if (error)
		command_message(command->name, "%s: %s", outcome->what,
				reason(error, outcome->what == command->plan.path));
	return error || *record_sink_troubles() || record_without_memory() ||
			       record_faults_missed(&missed_error)
		       ? EXIT_BAD_INPUT
		       : EXIT_SUCCESS;
}

static int record(const struct record_command *command, char **argv)
{
	struct record_outcome outcome = { .what = NULL };
	int error = record_command(&command->plan, argv, &outcome), status;

	status = print_outcome(command, &outcome, error);
	if (error)
		return outcome.what == argv[0] ? (error == ENOENT ? 127 : 126) : status;
	if (status)
		return status;
	if (outcome.status == -1) /* the recorder was killed before the command ended */
		return 128 + SIGTERM;
	return WIFSIGNALED(outcome.status) ? 128 + WTERMSIG(outcome.status) : WEXITSTATUS(outcome.status);
}

/* Refuses options that are incompatible. Returns 0 or EXIT_USAGE. */
static int check_options(const struct record_command *command, const struct options *line, bool targets)
{
	const struct record_plan *plan = &command->plan;
	const char *why = NULL;

	if (command->clear_all && options_given(line, "c p g f t a d i"))
		why = "-C ends all your recordings: it cannot be combined with other options";
	else if (command->clear && (plan->append || plan->inherit))
		why = "-a and -i begin a recording, -c ends one";
	else if (command->clear && targets && options_given(line, "f"))
		why = "-c needs exactly one of -p, -g and -f";
	else if (plan->descend && !targets)
		why = "-d needs -p or -g; for a command, -i records the processes that the command creates";
	return why ? options_refuse(line, why) : 0;
}

static int run(int argc, char **argv)
{
	struct record_command command = {
		.name = argv[0],
		.plan = { .path = USUAL_FILE, .facilities = RECORD_ALL & ~RECORD_FACILITY(KTRX_PROC_CSW) }
	};
	struct options line = { .syntax = &syntax, .by = argv[0], .to = &command };
	struct record_outcome outcome = { .what = NULL };
	bool targets;
	int status = options_parse(&line, argc, argv);

	if (status >= 0)
		return status;
	targets = command.plan.pid || command.plan.group;
	status = check_options(&command, &line, targets);
	if (status)
		return status;
	if (command.clear_all || command.clear) {
		if (optind < argc || (command.clear && !options_given(&line, "p g f")))
			return options_refuse(&line, "-c needs exactly one of -p, -g and -f, and no command");
		return clear(&command);
	}
	if (targets == (optind < argc) || (command.plan.pid && command.plan.group))
		return options_refuse(&line, "give exactly one of a command, -p and -g");
	if ((command.plan.facilities & RECORD_PAGES) && record_faults_allowed() != 0) {
		command_message(command.name,
				"-t f: page faults cannot be recorded: %s: see kernel.perf_event_paranoid",
				strerror(record_faults_allowed()));
		return EXIT_BAD_INPUT;
	}
	if (!targets)
		return record(&command, &argv[optind]);
	return print_outcome(&command, &outcome, record_targets(&command.plan, &outcome));
}

const struct command command_record = {
	.name = "record",
	.purpose = "record the system calls of Linux programs",
	.run = run,
};
