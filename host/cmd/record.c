/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace record: what Linux programs ask of their kernel, as ktrace(1) of the BSDs has it. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/command.h"
#include "record/content.h"
#include "record/control.h"
#include "record/tracer.h"

#define USUAL_FILE "ktrace.out"

struct record_command {
	const char *name;
	struct record_plan plan;
	bool clear, clear_all, file_given, letters; /* given */
};

static void print_usage(FILE *to)
{
	fputs("usage: ktrace record [-adi] [-f FILE] [-t LETTERS] COMMAND [ARGUMENT]...\n"
	      "       ktrace record [-adi] [-f FILE] [-t LETTERS] -p PID | -g GROUP\n"
	      "       ktrace record -c [-d] [-t LETTERS] -p PID | -g GROUP | -f FILE\n"
	      "       ktrace record -C\n\n"
	      "Records what a program asks of the kernel: system calls with all arguments and results, "
	      "paths,\n"
	      "data, signals, faults. 'kdump' shows the file. As the first argument of ktrace, an option "
	      "means\n"
	      "record: ktrace -f OUT ls -la.\n\n"
	      "  -f FILE     where to; " USUAL_FILE " if not given. It is made anew, mode 0600\n"
	      "  -a          goes behind what FILE holds, which must be a trace of your own\n"
	      "  -i          processes that are made by it are recorded, too\n"
	      "  -p PID      a process that runs: returns at once, and goes on in the background\n"
	      "  -g GROUP    all of a process group\n"
	      "  -d          with -p, -g: those descended from them as well\n"
	      "  -t LETTERS  what: c calls, n paths, i data, s signals, u what it says by utrace(), t "
	      "structures,\n"
	      "              f faults, w waiting, + all but w (the default); p and y are taken, and nothing "
	      "here\n"
	      "  -c          ends the recording of that process, group, or into that file\n"
	      "  -C          ends all recordings of yours\n"
	      "  --help      this text\n\n"
	      "Status: the command's; 126 or 127 if it cannot be run; 1 if nothing could be recorded.\n\n"
	      "Examples:\n"
	      "  ktrace record -i -f build.out make\n"
	      "  ktrace record -t ci -p 1234; sleep 5; ktrace record -c -p 1234; kdump -f ktrace.out\n",
	      to);
}

static const struct {
	char letter;
	uint32_t facilities;
} letters[] = {
#define F(type) RECORD_FACILITY(KTRX_PROC_##type)
	{ 'c', F(SYSCALL) | F(SYSRET) },
	{ 'n', F(NAMEI) },
	{ 'i', F(GENIO) },
	{ 's', F(PSIG) },
	{ 'u', F(USER) },
	{ 't', F(STRUCT) | F(STRUCT_ARRAY) },
	{ 'f', F(FAULT) | F(FAULTEND) },
	{ 'w', F(CSW) },
	{ 'p', F(CAPFAIL) },
	{ 'y', F(SYSCTL) },
	{ '+', RECORD_ALL & ~F(CSW) },
};
static int take_letters(struct record_command *command, const char *text)
{
	uint32_t facilities = RECORD_LIVES;

	for (; *text; text++) {
		size_t n = 0;

		while (n < sizeof(letters) / sizeof(letters[0]) && letters[n].letter != *text)
			n++;
		if (n == sizeof(letters) / sizeof(letters[0])) {
			command_message(command->name, "-t: there is no letter '%c'", *text);
			return command_usage(command->name);
		}
		facilities |= letters[n].facilities;
	}
	command->plan.facilities = facilities;
	command->letters = true;
	return 0;
}

static int take_number(struct record_command *command, char option, const char *text, pid_t *number)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (end == text || *end || errno || value <= 0 || value > INT32_MAX) {
		command_message(command->name, "-%c: '%s' is no number of a process", option, text);
		return command_usage(command->name);
	}
	*number = (pid_t)value;
	return 0;
}

/* 0, an exit status, or -1: help was given. */
static int take_option(struct record_command *command, int option)
{
	switch (option) {
	case 'a':
		command->plan.append = true;
		return 0;
	case 'C':
		command->clear_all = true;
		return 0;
	case 'c':
		command->clear = true;
		return 0;
	case 'd':
		command->plan.descend = true;
		return 0;
	case 'f':
		command->plan.path = optarg;
		command->file_given = true;
		return 0;
	case 'g':
		return take_number(command, 'g', optarg, &command->plan.group);
	case 'i':
		command->plan.inherit = true;
		return 0;
	case 'p':
		return take_number(command, 'p', optarg, &command->plan.pid);
	case 't':
		return take_letters(command, optarg);
	case 'h':
		print_usage(stdout);
		return -1;
	default:
		return command_usage(command->name);
	}
}

static int say_count(const struct record_command *command, int count)
{
	if (count < 0) {
		command_message(command->name, "recorders cannot be asked: %s", strerror(-count));
		return EXIT_BAD_INPUT;
	}
	if (count == 0 && !command->clear_all) {
		command_message(command->name, "none of your recorders records that");
		return EXIT_BAD_INPUT;
	}
	return EXIT_SUCCESS;
}

static int clear(const struct record_command *command)
{
	const struct record_plan *plan = &command->plan;
	struct record_request request = { .facilities = plan->facilities & ~RECORD_LIVES,
					  .descend = plan->descend };
	struct stat file;

	/* All but waiting was what began without -t, too; it all ends. */
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
	return say_count(command, record_control_ask_all(&request));
}

/* What an errno means of a file or a process here. */
static const char *reason(int error, bool of_file)
{
	switch (error) {
	case EACCES:
		return of_file ? "not a regular file that may be written" : strerror(error);
	case EINVAL:
		return of_file ? "holds something else than a trace" : strerror(error);
	case EPERM:
		return of_file ? "belongs to somebody else"
			       : "belongs to somebody else, or is traced already";
	case ESRCH:
		return "there is none";
	default:
		return strerror(error);
	}
}

static int say_outcome(const struct record_command *command, const struct record_outcome *outcome, int error)
{
	const char *troubles = record_sink_troubles();

	for (const char *end; (end = strchr(troubles, '\n')); troubles = end + 1)
		command_message(command->name, "%.*s", (int)(end - troubles), troubles);
	if (record_became_privileged() > 0)
		command_message(command->name,
				"%u processes gained privileges, and are not recorded from there on",
				record_became_privileged());
	if (error)
		command_message(command->name, "%s: %s", outcome->what,
				reason(error, outcome->what == command->plan.path));
	return error || *record_sink_troubles() ? EXIT_BAD_INPUT : EXIT_SUCCESS;
}

static int record(const struct record_command *command, char **argv)
{
	struct record_outcome outcome = { .what = NULL };
	int error = record_command(&command->plan, argv, &outcome), status;

	status = say_outcome(command, &outcome, error);
	if (error)
		return outcome.what == argv[0] ? (error == ENOENT ? 127 : 126) : status;
	if (status)
		return status;
	if (outcome.status == -1) /* we were ended before the command was */
		return 128 + SIGTERM;
	return WIFSIGNALED(outcome.status) ? 128 + WTERMSIG(outcome.status) : WEXITSTATUS(outcome.status);
}

/* Refuses what has no use beside other options. 0 or EXIT_USAGE. */
static int check_options(const struct record_command *command, bool targets)
{
	const struct record_plan *plan = &command->plan;
	const char *why = NULL;

	if (command->clear_all && (command->clear || targets || command->file_given || command->letters ||
				   plan->append || plan->descend || plan->inherit))
		why = "-C ends all recordings of yours: it stands alone";
	else if (command->clear && (plan->append || plan->inherit))
		why = "-a and -i begin a recording, -c ends one";
	else if (command->clear && targets && command->file_given)
		why = "-c wants one of -p, -g and -f";
	else if (plan->descend && !targets)
		why = "-d is for -p and -g: -i records what a command makes";
	if (!why)
		return 0;
	command_message(command->name, "%s", why);
	return command_usage(command->name);
}

static int run(int argc, char **argv)
{
	static const struct option options[] = { { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 } };
	struct record_command command = {
		.name = argv[0],
		.plan = { .path = USUAL_FILE, .facilities = RECORD_ALL & ~RECORD_FACILITY(KTRX_PROC_CSW) }
	};
	struct record_outcome outcome = { .what = NULL };
	bool targets;
	int option, status = 0;

	while (!status && (option = getopt_long(argc, argv, "+aCcdf:g:ip:t:", options, NULL)) != -1)
		status = take_option(&command, option);
	if (status)
		return status < 0 ? EXIT_SUCCESS : status;
	targets = command.plan.pid || command.plan.group;
	status = check_options(&command, targets);
	if (status)
		return status;
	if (command.clear_all || command.clear) {
		if (optind < argc || (command.clear && !targets && !command.file_given)) {
			command_message(command.name, "-c wants one of -p, -g, -f, and no command");
			return command_usage(command.name);
		}
		return clear(&command);
	}
	if (targets == (optind < argc) || (command.plan.pid && command.plan.group)) {
		command_message(command.name, "one of a command, -p and -g is wanted");
		return command_usage(command.name);
	}
	if (!targets)
		return record(&command, &argv[optind]);
	return say_outcome(&command, &outcome, record_targets(&command.plan, &outcome));
}

const struct command command_record = {
	.name = "record",
	.purpose = "records what Linux programs ask of their kernel",
	.run = run,
};
