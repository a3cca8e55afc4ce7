/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/show.h"

#include <errno.h>

#include "cmd/command.h"
#include "cmd/output_file.h"
#include "export/window.h"

/* Draws into an open file. Returns what reading returned; *error is that of writing. */
static int draw(struct window *window, int fd, int *error)
{
	struct base_output out;
	int status;

	if (base_output_open(&out, fd) < 0) {
		*error = ENOMEM;
		return 0;
	}
	window->out = &out;
	status = window_write(window);
	*error = base_output_close(&out);
	return status;
}

/* The window's ends, once the trace is open. 0 or EXIT_USAGE. */
static int find_ends(const struct trace_args *args, struct window *window, const char *from, const char *to)
{
	const uint64_t frequency = ktread_info(window->trace)->frequency;

	if (from && trace_stamp(window->trace, from, 0, &window->from))
		return trace_bad_time(args->name, "--from", from, frequency);
	if (to && trace_stamp(window->trace, to, 0, &window->to))
		return trace_bad_time(args->name, "--to", to, frequency);
	if (window->from <= window->to)
		return 0;
	command_message(args->name, "the window ends before it begins");
	return EXIT_USAGE;
}

int show_window(struct trace_args *args, const char *to)
{
	const char *from = args->since, *until = args->until;
	struct window window = { .to = UINT64_MAX };
	int status, failed, fd, error;

	args->since = args->until = NULL; /* what was before the window has made what is in it */
	status = trace_args_open(args, &window.trace);
	if (status)
		return status;
	window.from = ktread_first_stamp(window.trace);
	status = find_ends(args, &window, from, until);
	fd = status ? -1 : output_file_open(args, to);
	if (fd < 0) {
		failed = trace_args_close(args, window.trace, 0);
		return status ? status : failed | EXIT_BAD_INPUT;
	}
	status = draw(&window, fd, &error);
	failed = output_file_close(args, to, fd, error);
	status = trace_args_close(args, window.trace, status);
	if (!failed && window.events == 0)
		command_message(args->name, "no event is in this window, which is empty in the picture");
	else if (!failed)
		command_message(args->name, "%llu events; %llu pieces too close together, %llu left out",
				(unsigned long long)window.events, (unsigned long long)window.close,
				(unsigned long long)window.left_out);
	return failed | status;
}
