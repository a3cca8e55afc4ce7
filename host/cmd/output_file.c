/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The output file of a command that reads a trace. The file is either completed or removed, even if a signal
 * ends the command.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/terminal.h"
#include "cmd/trace_args.h"

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))

/* The output that is removed if a signal arrives while the output is incomplete. */
static struct {
	int fd;		  /* descriptor of the output, which is a regular file or a directory */
	const char *path; /* path of the output; NULL: there is none */
	/* if the output is a directory: list of the exported files, to remove them */
	struct export_report *report;
	char message[128];
	struct sigaction before[SIGNALS];
} output;

/*
 * Removes an incomplete output file. If `path` is a symbolic link to the file, empties the file instead.
 * Does nothing if the output is a device or a pipe.
 */
static void remove_incomplete(int fd, const char *path)
{
	struct stat opened, named;

	if (fstat(fd, &opened) != 0 || !S_ISREG(opened.st_mode))
		return;
	if (lstat(path, &named) == 0 && named.st_dev == opened.st_dev && named.st_ino == opened.st_ino)
		unlink(path);
	else if (ftruncate(fd, 0) != 0)
		return; /* print no message here, because the caller reports the first error */
}

/* Blocks the signals, so that none arrives between the creation of an output and guard(). */
static void block_signals(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t n = 0; n < SIGNALS; n++)
		sigaddset(&set, signals[n]);
	sigprocmask(SIG_BLOCK, &set, before);
}

/* Ends the process by a signal that was caught, so that the shell sees which signal it was. */
static void end_by(int number)
{
	signal(number, SIG_DFL);
	raise(number);
}

/* Removes the incomplete file and ends the process. Uses only functions that signal handlers may call. */
static void interrupt(int number)
{
	const int error = errno;

	if (output.report) {
		output.report->interrupted = number;
		errno = error;
		return;
	}
	remove_incomplete(output.fd, output.path);
	progress_clear();
	(void)!write(STDERR_FILENO, output.message, strlen(output.message));
	end_by(number);
}

/* signals that the caller of ktrace ignores, as nohup(1) does, stay ignored */
static void guard(const char *name, const char *path, int fd, struct export_report *report)
{
	struct sigaction action = { .sa_handler = interrupt, .sa_flags = SA_RESTART };
	struct stat status;

	if (fstat(fd, &status) != 0 || !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
		return;
	output.fd = fd;
	output.report = report;
	snprintf(output.message, sizeof(output.message),
		 "%s: interrupted: the incomplete output is removed\n", name);
	output.path = path;
	sigemptyset(&action.sa_mask);
	for (size_t n = 0; n < SIGNALS; n++)
		sigaddset(&action.sa_mask, signals[n]);
	for (size_t n = 0; n < SIGNALS; n++) {
		sigaction(signals[n], NULL, &output.before[n]);
		if (output.before[n].sa_handler != SIG_IGN)
			sigaction(signals[n], &action, NULL);
	}
}

static void end_guard(void)
{
	for (size_t n = 0; output.path && n < SIGNALS; n++)
		sigaction(signals[n], &output.before[n], NULL);
	output.path = NULL;
}

int output_file_is(const char *to, const char *from)
{
	struct stat from_status, to_status;

	return stat(from, &from_status) == 0 && stat(to, &to_status) == 0 &&
	       from_status.st_dev == to_status.st_dev && from_status.st_ino == to_status.st_ino &&
	       S_ISREG(to_status.st_mode);
}

int output_file_create(const char *name, const char *to)
{
	int fd;

	if (strcmp(to, "-") == 0)
		return STDOUT_FILENO;
	fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		command_message(name, "%s: %s", to, strerror(errno));
	return fd;
}

/* Returns whether `to` is an input file: the trace, or a file that is read with it. */
static bool is_input(const struct trace_args *args, const char *to)
{
	bool is = output_file_is(to, args->path) || (args->with && output_file_is(to, args->with)) ||
		  (args->calls && output_file_is(to, args->calls));

	for (unsigned n = 0; n < args->with_elf.count; n++)
		is |= trace_output_is_based(to, args->with_elf.word[n]);
	return is;
}

int output_file_open(const struct trace_args *args, const char *to)
{
	struct stat status;
	sigset_t before;
	int fd;

	if (strcmp(to, "-") != 0 && is_input(args, to)) {
		command_message(args->name, "%s is an input file: choose another output file", to);
		return -1;
	}
	/* opening a FIFO waits for a reader, and a signal must be able to end the program while it waits */
	sigprocmask(SIG_SETMASK, NULL, &before);
	if (stat(to, &status) != 0 || S_ISREG(status.st_mode))
		block_signals(&before);
	fd = output_file_create(args->name, to);
	if (fd >= 0 && fd != STDOUT_FILENO)
		guard(args->name, to, fd, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return fd;
}

/* Does the same as output_file_close(). `failed` is the name of the file to which `error` belongs. */
static int close_output(const struct trace_args *args, const char *to, int fd, int error, const char *failed)
{
	end_guard();
	if (fd == STDOUT_FILENO)
		return trace_output_status(args->name, failed, error);
	if (error)
		remove_incomplete(fd, to);
	if (close(fd) < 0 && !error)
		error = errno;
	return trace_output_status(args->name, failed, error);
}

int output_file_close(const struct trace_args *args, const char *to, int fd, int error)
{
	return close_output(args, to, fd, error, fd == STDOUT_FILENO ? "standard output" : to);
}

/*
 * Closes and removes an output that is still empty. `made`: the output is a directory, and was created by
 * this command.
 */
static void discard(const char *to, int fd, bool made)
{
	end_guard();
	if (fd == STDOUT_FILENO)
		return;
	remove_incomplete(fd, to);
	close(fd);
	if (made)
		rmdir(to);
}

/*
 * Opens the directory `to`. Creates it if it does not exist, and then sets *made. Returns -1 after a
 * message.
 */
static int output_folder_open(const char *name, const char *to, bool empty, bool *made)
{
	const struct dirent *entry;
	int fd = -1;
	DIR *folder;

	*made = mkdir(to, 0777) == 0;
	if (*made || errno == EEXIST)
		fd = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	folder = fd < 0 ? NULL : opendir(to);
	if (!folder) {
		command_message(name, "%s: %s", to, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while (empty && fd >= 0 && (entry = readdir(folder)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
			command_message(name, "%s is not empty: choose a new directory", to);
			close(fd);
			fd = -1;
		}
	closedir(folder);
	return fd;
}

static int stop_reading(void *report)
{
	return ((struct export_report *)report)->interrupted;
}

/* Opens the output of an export. Returns -1 after a message. */
static int open_export(struct trace_args *args, struct ktread *trace, const struct export_format *format,
		       const char *to, struct export_report *report, bool *made)
{
	sigset_t before;
	int fd;

	*made = false;
	if (format->place == EXPORT_FILE || format->place == EXPORT_DATABASE)
		return output_file_open(args, to);
	block_signals(&before);
	fd = output_folder_open(args->name, to, format->place == EXPORT_NEW_FOLDER, made);
	if (fd >= 0) {
		ktread_set_stop(trace, stop_reading, report);
		guard(args->name, to, fd, report);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return fd;
}

static void report_export(const struct trace_args *args, const struct export_report *report, const char *to)
{
	if (!report->output_error)
		command_message(args->name, "%llu events written to %s", (unsigned long long)report->events,
				to);
	if (report->too_late)
		command_message(
			args->name,
			"%llu of them are later than the format can express: they have the latest time",
			(unsigned long long)report->too_late);
	if (report->states_unknown)
		command_message(args->name,
				"note: sched.switch gives state 0 every time, "
				"so whether a thread that left a CPU slept or was runnable is %s",
				report->announced ? "taken from sched.block only" : "unknown");
}

int write_export(struct trace_args *args, struct ktread *trace, const struct export_format *format,
		 const char *to)
{
	struct export_report report = { 0 };
	bool made;
	int fd = open_export(args, trace, format, to, &report, &made);
	const char *const name = fd == STDOUT_FILENO ? "standard output" : to;
	int result, status, failed;

	if (fd < 0)
		return trace_args_close(args, trace, 0) | EXIT_BAD_INPUT;
	progress_start(args->name, trace, NULL);
	result = format->write(trace, fd, &report);
	progress_stop();
	if (report.output_error && report.interrupted) {
		discard(to, fd, made);
		trace_args_close(args, trace, 0);
		fputs(output.message, stderr);
		end_by(report.interrupted);
	}
	if (result < 0 && report.events == 0 && !report.output_error) {
		discard(to, fd, made);
		return trace_args_close(args, trace, result);
	}
	failed = close_output(args, to, fd, report.output_error, report.failed ? report.failed : name);
	if (made && failed)
		rmdir(to);
	status = trace_args_close(args, trace, failed ? 0 : result);
	report_export(args, &report, name);
	return failed | status;
}
