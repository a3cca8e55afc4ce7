/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/write_export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Writing over the trace would leave neither. */
static int open_output(const struct trace_args *args, const char *to)
{
	struct stat from_status, to_status;
	int fd;

	if (strcmp(to, "-") == 0)
		return STDOUT_FILENO;
	if (stat(args->path, &from_status) == 0 && stat(to, &to_status) == 0 &&
	    from_status.st_dev == to_status.st_dev && from_status.st_ino == to_status.st_ino) {
		command_message(args->name, "%s is the trace itself", to);
		return -1;
	}
	fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		command_message(args->name, "%s: %s", to, strerror(errno));
	return fd;
}

int write_export(struct trace_args *args, struct ktread *trace, const struct export_format *format,
		 const char *to)
{
	struct export_report report = { 0 };
	int fd = open_output(args, to), to_stdout = fd == STDOUT_FILENO, result, status, failed;

	if (fd < 0)
		return trace_args_close(args, trace, 0) | EXIT_BAD_INPUT;
	result = format->write(trace, fd, &report);
	if (!to_stdout && report.output_error)
		remove_half(fd, to);
	if (!to_stdout && close(fd) < 0 && !report.output_error)
		report.output_error = errno;
	failed = trace_output_status(args->name, to_stdout ? "standard output" : to, report.output_error);
	status = trace_args_close(args, trace, report.output_error ? 0 : result);
	if (!failed)
		command_message(args->name, "%llu events written to %s", (unsigned long long)report.events,
				to_stdout ? "standard output" : to);
	return failed | status;
}
