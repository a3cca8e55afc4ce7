/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/command.h"

/* Is it a file that nobody would miss half of? Devices and pipes are left alone. */
static void remove_half(int fd, const char *path)
{
	struct stat status;

	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		unlink(path);
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

int output_file_open(const struct trace_args *args, const char *to)
{
	if (strcmp(to, "-") != 0 && output_file_is(to, args->path)) {
		command_message(args->name, "%s is the trace itself", to);
		return -1;
	}
	return output_file_create(args->name, to);
}

int output_file_close(const struct trace_args *args, const char *to, int fd, int error)
{
	if (fd == STDOUT_FILENO)
		return trace_output_status(args->name, "standard output", error);
	if (error)
		remove_half(fd, to);
	if (close(fd) < 0 && !error)
		error = errno;
	return trace_output_status(args->name, to, error);
}

/* Closes and removes an output to which nothing was written. Prints no message. */
static void output_file_discard(const char *to, int fd)
{
	if (fd == STDOUT_FILENO)
		return;
	remove_half(fd, to);
	close(fd);
}

int write_export(struct trace_args *args, struct ktread *trace, const struct export_format *format,
		 const char *to)
{
	struct export_report report = { 0 };
	int fd = output_file_open(args, to), result, status, failed;

	if (fd < 0)
		return trace_args_close(args, trace, 0) | EXIT_BAD_INPUT;
	result = format->write(trace, fd, &report);
	if (result < 0 && report.events == 0 && !report.output_error) {
		output_file_discard(to, fd);
		return trace_args_close(args, trace, result);
	}
	failed = output_file_close(args, to, fd, report.output_error);
	status = trace_args_close(args, trace, failed ? 0 : result);
	if (!failed)
		command_message(args->name, "%llu events written to %s", (unsigned long long)report.events,
				fd == STDOUT_FILENO ? "standard output" : to);
	if (report.states_unknown)
		command_message(args->name,
				"note: sched.switch gives state 0 every time, so whether a thread that left "
				"a CPU slept or "
				"could run is %s",
				report.announced ? "taken from sched.block alone" : "not known");
	return failed | status;
}
