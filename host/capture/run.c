/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "run.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "kernel_elf.h"
#include "output.h"
#include "run_state.h"

static void capture_terminal_save(struct capture_terminal *terminal)
{
	terminal->flags = fcntl(STDIN_FILENO, F_GETFL);
	terminal->present = tcgetattr(STDIN_FILENO, &terminal->state) == 0;
}

static void capture_terminal_restore(const struct capture_terminal *terminal)
{
	sigset_t blocked, before;

	if (terminal->flags >= 0)
		fcntl(STDIN_FILENO, F_SETFL, terminal->flags);
	if (!terminal->present || tcgetpgrp(STDIN_FILENO) != getpgrp())
		return;
	/* Having been put into the background since the question must not stop us. */
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTTOU);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	tcsetattr(STDIN_FILENO, TCSANOW, &terminal->state);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/*
 * Life of a run:
 *  1. what could go wrong later is tried first: the output's folder, the kernel's file;
 *  2. a private directory with the shim and the plan for it, the file for the guest's RAM;
 *  3. the command is started; on its way it becomes, or starts, a QEMU that dials back;
 *  4. the guest is watched until it is gone, or has to go (run_loop.c);
 *  5. whatever happened, the file is read once more: the trace, and the verdict (run_finish.c);
 *  6. everything but the trace is taken away.
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

static int check_options(const struct capture_run_options *options)
{
	struct capture_kernel kernel;
	int error = capture_output_check(options->out);

	if (!error && options->elf)
		error = capture_kernel_read(&kernel, options->elf);
	return error;
}

/* Steps 3 to 5. */
static int observe(struct capture_run *run, struct capture_result *result)
{
	struct capture_terminal terminal;
	int error = capture_child_open(&run->child);

	if (!error)
		error = capture_expect_open(&run->expect, run->options->expect);
	run->child.output = run->expect.into;
	run->inspection.directory = run->place.directory;
	capture_terminal_save(&terminal);
	if (!error)
		error = capture_machine_open(&run->machine, run->place.qmp);
	if (!error) {
		error = capture_child_start(&run->child, run->place.directory, run->options->command);
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
	capture_child_close(&run->child);
	return error;
}

int capture_run(const struct capture_run_options *options, struct capture_result *result)
{
	struct capture_run run = { .options = options, .expect = { .from = -1, .into = -1 } };
	struct capture_plan plan = {
		.transport = options->transport,
		.allow_reboot = options->allow_reboot,
		.force = options->force,
	};
	int error = check_options(options);

	*result = (struct capture_result){ 0 };
	if (error)
		return error;
	if (strpbrk(options->events, " \t\n"))
		return capture_fail(CAPTURE_E_USAGE,
				    "--events: '%s': words are separated by commas, not blanks",
				    options->events);
	if (snprintf(plan.events, sizeof(plan.events), "%s", options->events) >= (int)sizeof(plan.events))
		return capture_fail(CAPTURE_E_USAGE, "--events: list too long");
	if (options->trace_unit)
		error = capture_trace_unit_find(&plan.unit, options->self, options->branches);
	if (error)
		return error;
	error = capture_workplace_open(&run.place, &plan, options->out, options->ram_dir, options->self,
				       options->command);
	if (error)
		return error;
	error = observe(&run, result);
	snprintf(result->kernel, sizeof(result->kernel), "%s", run.guest.line.kernel_path);
	run.place.keep |= options->keep_ram && run.started > 0 && options->transport == CAPTURE_RAM &&
			  !run.guest.own_path;
	if (run.place.keep)
		snprintf(result->kept, sizeof(result->kept), "%s", run.place.file);
	capture_workplace_close(&run.place);
	return error;
}
