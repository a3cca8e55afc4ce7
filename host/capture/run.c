/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "error.h"
#include "kernel_elf.h"
#include "output.h"
#include "qemu_line.h"
#include "run_state.h"
#include "plan.h"

/* Starting and ending the command of `ktrace run`. */

#define EXIT_NOT_FOUND 127

/* Blocks the signals that end a run until capture_child_close(). */
static int child_open(struct capture_child *child)
{
	int error;

	*child = (struct capture_child){ .output = -1 };
	error = capture_signals_open(&child->signals);
	if (!error)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	return error;
}

/* Executes the command in the new process. Returns only on failure. */
static int become(const struct capture_child *child, const char *directory, char *const *command)
{
	const char *program = capture_qemu_program(command[0]);
	struct capture_words words = { 0 };
	char *path;

	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &child->signals.before, NULL);
	path = capture_shim_path(directory);
	if (!path || setenv("PATH", path, 1) != 0)
		return capture_fail_errno("PATH");
	if (child->output >= 0 && dup2(child->output, STDOUT_FILENO) < 0)
		return capture_fail_errno("standard output");
	if (!program) {
		execvp(command[0], command);
		return capture_fail_errno("%s", command[0]);
	}
	capture_words_add(&words, program);
	for (size_t i = 1; command[i]; i++)
		capture_words_add(&words, command[i]);
	if (words.failed)
		return capture_fail(CAPTURE_E_SYSTEM, "out of memory");
	/* make the kernel end this QEMU if ktrace ends, because then no process waits for this QEMU */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	return capture_shim_become(directory, words.word);
}

struct refusal {
	int error;
	char message[1024];
};

/* Ends the new process after the command could not be executed, and sends the reason to the parent. */
static void send_refusal(int pipe_end, int error)
{
	struct refusal refusal = { .error = error };
	ssize_t written;

	strncpy(refusal.message, capture_message(), sizeof(refusal.message) - 1);
	do
		written = write(pipe_end, &refusal, sizeof(refusal));
	while (written < 0 && errno == EINTR);
	_exit(EXIT_NOT_FOUND);
}

/*
 * Starts `command`, with the shim's directory in `directory` first in its PATH. Returns 0 when the program
 * runs; CAPTURE_E_USAGE if the shim refused the QEMU command line; CAPTURE_E_SYSTEM if the program cannot
 * be started.
 */
static int child_start(struct capture_child *child, const char *directory, char *const *command)
{
	struct refusal refusal;
	int ends[2];
	ssize_t got;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return capture_fail_errno("pipe");
	child->pid = fork();
	if (child->pid == 0)
		send_refusal(ends[1], become(child, directory, command));
	close(ends[1]);
	if (child->pid < 0) {
		capture_fail_errno("fork");
		close(ends[0]);
		return CAPTURE_E_SYSTEM;
	}
	do
		got = read(ends[0], &refusal, sizeof(refusal));
	while (got < 0 && errno == EINTR);
	close(ends[0]);
	if (got != (ssize_t)sizeof(refusal))
		return 0;
	waitpid(child->pid, &child->status, 0);
	child->ended = child->alone = true;
	return capture_fail(refusal.error, "%s", refusal.message);
}

static void reap(struct capture_child *child)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == child->pid) {
			child->ended = true;
			child->status = status;
		}
		if (pid == child->guest) {
			child->guest_ended = true;
			child->guest_status = status;
		}
	}
	child->alone = pid < 0 && errno == ECHILD;
}

int capture_child_signals(struct capture_child *child, unsigned *count)
{
	int last = capture_signals_take(&child->signals, count);

	reap(child);
	return last;
}

static void capture_child_close(struct capture_child *child)
{
	capture_signals_close(&child->signals);
}

/* The terminal, and the steps of a run. */

static void capture_terminal_save(struct capture_terminal *terminal)
{
	terminal->flags = fcntl(STDIN_FILENO, F_GETFL);
	terminal->present = tcgetattr(STDIN_FILENO, &terminal->state) == 0;
}

static void capture_terminal_restore(const struct capture_terminal *terminal)
{
	static const char wrap[] = "\033[?7h"; /* turn on line wrapping, which a PC's firmware turns off */
	sigset_t blocked, before;

	if (isatty(STDOUT_FILENO) && write(STDOUT_FILENO, wrap, sizeof(wrap) - 1) < 0)
		return; /* the terminal no longer exists */
	if (terminal->flags >= 0)
		fcntl(STDIN_FILENO, F_SETFL, terminal->flags);
	if (!terminal->present || tcgetpgrp(STDIN_FILENO) != getpgrp())
		return;
	/* if ktrace is moved to the background after this check, SIGTTOU must not stop it */
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTTOU);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	tcsetattr(STDIN_FILENO, TCSANOW, &terminal->state);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/*
 * Steps of a run:
 *  1. Check early what would make the run fail later: the directory of the output, the kernel's file.
 *  2. Create a private directory with the shim and its plan, and the file for the guest's RAM.
 *  3. Start the command, which becomes or starts a QEMU. QEMU connects back to us.
 *  4. Watch the guest until it has ended or must be ended (run_loop.c).
 *  5. In any case read the file once more; write the trace and the verdict (run_finish.c).
 *  6. Remove everything but the trace.
 */

void capture_run_say(const struct capture_run *run, const char *format, ...)
{
	char sentence[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence, sizeof(sentence), format, arguments);
	va_end(arguments);
	run->options->hooks.say(run->options->hooks.context, sentence);
}

static int check_options(const struct capture_run_options *options, struct capture_kernel *kernel)
{
	int error = capture_output_check(options->out);

	if (!error && options->elf)
		error = capture_kernel_read(kernel, options->elf);
	return error;
}

/* Performs steps 3 to 5 of a run. */
static int observe(struct capture_run *run, struct capture_result *result)
{
	struct capture_terminal terminal;
	int error = capture_expect_open(&run->expect, run->options->expect);

	run->child.output = run->expect.into;
	run->inspection.directory = run->place.directory;
	capture_terminal_save(&terminal);
	if (!error)
		error = capture_machine_open(&run->machine, run->place.qmp);
	if (!error) {
		error = child_start(&run->child, run->place.directory, run->options->command);
		capture_expect_started(&run->expect);
		if (!error)
			error = capture_run_loop(run);
		capture_terminal_restore(&terminal);
		if (!error)
			error = capture_run_finish(run, result);
		capture_view_close(&run->view);
		capture_inspection_reset(&run->inspection);
		capture_machine_close(&run->machine);
	}
	capture_expect_close(&run->expect);
	return error;
}

/*
 * Creates the private directory and the RAM file, runs the command, and removes the files that need not be
 * kept.
 */
static int run_in_workplace(struct capture_run *run, struct capture_plan *plan, struct capture_result *result)
{
	const struct capture_run_options *options = run->options;
	int error = capture_workplace_open(&run->place, plan, options->out, options->ram_dir, options->self,
					   options->command);

	if (error)
		return error;
	error = observe(run, result);
	if (!error && run->place.control && options->hooks.recorded)
		options->hooks.recorded(options->hooks.context, run->place.control);
	snprintf(result->kernel, sizeof(result->kernel), "%s", run->guest.line.kernel_path);
	run->place.keep |= options->keep_ram && run->started > 0 && options->transport == CAPTURE_RAM &&
			   !run->guest.own_path;
	if (run->place.keep)
		snprintf(result->kept, sizeof(result->kept), "%s", run->place.file);
	capture_workplace_close(&run->place);
	return error;
}

int capture_run(const struct capture_run_options *options, struct capture_result *result)
{
	struct capture_run run = { .options = options, .expect = { .from = -1, .into = -1 } };
	struct capture_plan plan = {
		.transport = options->transport,
		.allow_reboot = options->allow_reboot,
		.force = options->force,
		.wanted = options->schedule.on ? &options->schedule : NULL,
	};
	int error = check_options(options, &run.file);

	*result = (struct capture_result){ 0 };
	if (error)
		return error;
	if (strpbrk(options->events, " \t\n"))
		return capture_fail(CAPTURE_E_USAGE, "--events: '%s': separate names by commas, not blanks",
				    options->events);
	if (snprintf(plan.events, sizeof(plan.events), "%s", options->events) >= (int)sizeof(plan.events))
		return capture_fail(CAPTURE_E_USAGE, "--events: list too long");
	if (options->trace_unit || options->branches)
		error = capture_trace_unit_find(&plan.unit, options->self, options->branches);
	plan.unit.hidden = options->branches && !options->trace_unit;
	plan.unit.is_virtual = options->branches && options->virtual_branches;
	if (error)
		return error;
	/*
	 * Block signals before a file is created: a signal must not end ktrace before the RAM file is
	 * removed.
	 */
	error = child_open(&run.child);
	if (!error)
		error = run_in_workplace(&run, &plan, result);
	capture_child_close(&run.child);
	return error;
}
