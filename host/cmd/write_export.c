/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/write_export.h"

#include <unistd.h>

#include "cmd/command.h"
#include "cmd/output_file.h"

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
