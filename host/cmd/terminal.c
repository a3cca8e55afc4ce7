/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/output.h"

/* ---- The pager ---- */

/*
 * The pager is started in the same way as by git(1): the program is KTRACE_PAGER, PAGER or less; LESS is set
 * to FRX if it is not set.
 */

static pid_t pager; /* process id of the pager; 0: none was started */

/*
 * Closes the pipe to the pager, and waits until the pager has ended. Signal handlers may call this function.
 */
static void wait_for_pager(void)
{
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}

/* ktrace itself has finished, so Ctrl-C is only for the pager */
static void finish(void)
{
	signal(SIGINT, SIG_IGN);
	fflush(stdout);
	wait_for_pager();
}

/* Waits for the pager, which restores the terminal, and then ends the process by the signal. */
static void end_by_signal(int number)
{
	wait_for_pager();
	signal(number, SIG_DFL);
	raise(number);
}

/*
 * Executes the pager in the child. On failure, writes to the pipe `failed`. On success, the pipe is closed
 * without data.
 */
_Noreturn static void run_pager(const char *command, int in, int failed)
{
	dup2(in, STDIN_FILENO);
	signal(SIGPIPE, SIG_DFL);
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	if (command)
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	else
		execlp("less", "less", (char *)NULL);
	_exit(write(failed, "", 1) == 1 ? 127 : 126);
}

/* Starts the pager. Returns the descriptor to write to, or -1. */
static int start(const char *command)
{
	int pipe_in[2], failed[2];
	char byte;

	if (pipe2(pipe_in, O_CLOEXEC) < 0)
		return -1;
	if (pipe2(failed, O_CLOEXEC) < 0) {
		close(pipe_in[0]);
		close(pipe_in[1]);
		return -1;
	}
	pager = fork();
	if (pager == 0)
		run_pager(command, pipe_in[0], failed[1]);
	close(pipe_in[0]);
	close(failed[1]);
	if (pager < 0 || read(failed[0], &byte, 1) == 1) {
		if (pager > 0)
			waitpid(pager, NULL, 0);
		pager = 0;
		close(pipe_in[1]);
		pipe_in[1] = -1;
	}
	close(failed[0]);
	return pipe_in[1];
}

void pager_start(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	const char *command = getenv("KTRACE_PAGER");
	int to;

	if (!command)
		command = getenv("PAGER");
	if (pager || (command && (!*command || strcmp(command, "cat") == 0)))
		return;
	to = start(command);
	if (to < 0)
		return;
	fflush(stdout);
	if (isatty(STDERR_FILENO))
		dup2(to, STDERR_FILENO);
	dup2(to, STDOUT_FILENO);
	close(to);
	for (size_t n = 0; n < sizeof(signals) / sizeof(signals[0]); n++)
		signal(signals[n], end_by_signal);
	atexit(finish);
}

bool pager_is_started(void)
{
	return pager != 0;
}

/* ---- Options, and colours ---- */

static struct {
	enum base_paint_when color;
	bool no_pager;
} chosen;

static const char *set_color(void *to, const char *value, const struct option_row *row)
{
	(void)to;
	return options_set_choice(&chosen.color, value, row);
}

static const char *set_no_pager(void *to, const char *value, const struct option_row *row)
{
	(void)to;
	return options_set_flag(&chosen.no_pager, value, row);
}

#define COLOR                                                                                       \
	{                                                                                           \
		"color", 0, "auto|always|never", "use colours; auto (default): only on a terminal", \
			set_color, .to = 0                                                          \
	}

const struct option_row terminal_color_options[] = { COLOR, { 0 } };
const struct option_row terminal_options[] = {
	COLOR,
	{ "no-pager", 0, NULL, "do not start a pager for output on a terminal", set_no_pager, .to = 0 },
	{ 0 },
};

static void begin(struct base_output *out)
{
	(void)out;
	progress_stop();
	pager_start();
}

void terminal_prepare(struct base_output *out, bool paged)
{
	if (base_paint_wanted(chosen.color, out->fd))
		base_output_paint(out);
	if (paged && !chosen.no_pager && isatty(out->fd))
		out->begin = begin;
}
