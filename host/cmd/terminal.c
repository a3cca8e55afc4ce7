/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/output.h"
#include "base/put.h"

/* ---- Progress ---- */

/*
 * The signal handler of a timer looks at the counters of the rings and writes the line, so that the loops
 * that read a trace need no code for it and do not become slower. The handler only reads numbers and calls
 * functions that signal handlers may call.
 */

#define FIRST_US 1000000 /* time in microseconds after which the line appears */
#define NEXT_US	 250000
#define LINE	 160u
#define ERASE	 "\r\033[K"

static struct {
	const char *name; /* text that begins the line; NULL: no progress is shown */
	const struct ktread *trace;
	uint64_t pass_began; /* ns */
	uint64_t done;	     /* number of slots that had been read when the line was last written */
	uint32_t passes;     /* number of times that reading began again from the start */
	volatile sig_atomic_t painted;
} progress;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * Adds to the totals: the number of slots read, the number of slots in the trace (0: unknown), and the number
 * of events.
 */
static void count(uint64_t *done, uint64_t *all, uint64_t *events)
{
	const uint32_t rings = ktread_info(progress.trace)->rings;

	*done = *all = *events = 0;
	for (uint32_t n = 0; n < rings; n++) {
		const struct ktread_ring *ring = ktread_ring(progress.trace, n);

		*done += ring->overwritten + ring->decoded + ring->invalid;
		*all += ring->head;
		*events += ring->records;
	}
}

static char *put_text(char *at, const char *text)
{
	const size_t length = strlen(text);

	memcpy(at, text, length);
	return at + length;
}

/* Writes the line into `text`, which has LINE bytes. Returns its end. */
static char *make_line(char *text)
{
	uint64_t done, all, events, now = now_ns(), ns;
	char *at = text;

	count(&done, &all, &events);
	if (done < progress.done) {
		progress.passes++;
		progress.pass_began = now;
	}
	progress.done = done;
	ns = now - progress.pass_began;
	at = put_text(at, ERASE);
	at = put_text(put_text(at, progress.name), ": ");
	if (progress.passes)
		at = put_text(base_put_decimal(put_text(at, "pass "), progress.passes + 1), ", ");
	if (all && done <= all)
		at = put_text(base_put_decimal(at, done * 100 / all), "%, ");
	at = put_text(base_put_decimal(at, events * 1000 / (ns / 1000000 + 1)), " events/s");
	if (all && done && done <= all && ns > 500000000) {
		at = put_text(at, ", ");
		at = base_put_decimal(
			at, (uint64_t)((double)ns / 1e9 * (double)(all - done) / (double)done + 0.5));
		at = put_text(at, " s left");
	}
	return at;
}

static void tick(int number)
{
	const int error = errno;
	char text[LINE];
	char *end;

	(void)number;
	if (progress.name) {
		end = make_line(text);
		progress.painted = 1;
		if (write(STDERR_FILENO, text, (size_t)(end - text)) < 0)
			progress.name = NULL;
	}
	errno = error;
}

static void set_timer(time_t first_us)
{
	const struct itimerval timer = {
		.it_value = { first_us / 1000000, first_us % 1000000 },
		.it_interval = { 0, first_us ? NEXT_US : 0 },
	};

	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Removes the line. Called before the first bytes are written to `out`. */
static void begin_output(struct base_output *out)
{
	if (isatty(out->fd))
		progress_stop();
}

void progress_start(const char *name, struct ktread *trace, struct base_output *out)
{
	const struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };

	if (!isatty(STDERR_FILENO) || strlen(name) > LINE / 4)
		return;
	progress_stop();
	progress.trace = trace;
	progress.pass_began = now_ns();
	progress.done = 0;
	progress.passes = 0;
	progress.name = name;
	if (out && !out->begin)
		out->begin = begin_output;
	sigaction(SIGALRM, &action, NULL);
	set_timer(FIRST_US);
}

void progress_clear(void)
{
	static const char erase[] = ERASE;

	if (progress.painted && write(STDERR_FILENO, erase, sizeof(erase) - 1) > 0)
		progress.painted = 0;
}

void progress_stop(void)
{
	if (!progress.name)
		return;
	set_timer(0);
	progress.name = NULL;
	progress_clear();
}

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

/*
 * Starts a pager that reads standard output and, if standard error is a terminal, also standard error. Does
 * nothing if there is no pager. At the end of the program, waits until the user ends the pager.
 */
static void start_pager(void)
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

const struct option_row terminal_options[] = {
	{ "color", 0, "auto|always|never", "use colours; auto (default): only on a terminal", set_color,
	  .to = 0 },
	{ "no-pager", 0, NULL, "do not start a pager for output on a terminal", set_no_pager, .to = 0 },
	{ 0 },
};

static void begin(struct base_output *out)
{
	(void)out;
	progress_stop();
	start_pager();
}

void terminal_prepare(struct base_output *out, bool paged)
{
	if (base_paint_wanted(chosen.color, out->fd))
		base_output_paint(out);
	if (paged && !chosen.no_pager && isatty(out->fd))
		out->begin = begin;
}
