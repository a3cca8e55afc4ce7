/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Watches a running guest, with one thread and one poll(). To end a run, asks QEMU to quit, and kills QEMU if
 * it does not quit. When QEMU has ended, ends the command in the same way.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ktrx/v2.h"
#include "error.h"
#include "plan.h"
#include "run_state.h"

/* The search for the expected text on the console. */

/* maximum number of reads per call, so that a guest that never stops writing blocks nothing else */
#define TURNS 16

/*
 * Prepares the search by the algorithm of Knuth, Morris and Pratt, which examines each byte once, and finds a
 * text even if it arrives in several pieces.
 */
int capture_expect_set(struct capture_expect *expect, const char *text)
{
	size_t length = 0;

	for (; *text; text++) {
		if (*text == '\r')
			continue;
		if (length == CAPTURE_EXPECT_MAX)
			return capture_fail(CAPTURE_E_USAGE, "--expect: more than %u bytes",
					    CAPTURE_EXPECT_MAX);
		expect->text[length++] = *text;
	}
	if (length == 0)
		return capture_fail(CAPTURE_E_USAGE, "--expect: the text is empty");
	expect->length = length;
	expect->matched = 0;
	expect->seen = false;
	expect->back[0] = 0;
	for (size_t n = 1, same = 0; n < length; n++) {
		while (same > 0 && expect->text[n] != expect->text[same])
			same = expect->back[same - 1];
		same += expect->text[n] == expect->text[same];
		expect->back[n] = (uint16_t)same;
	}
	return 0;
}

void capture_expect_feed(struct capture_expect *expect, const char *bytes, size_t length)
{
	for (size_t n = 0; n < length && !expect->seen; n++) {
		if (bytes[n] == '\r')
			continue;
		while (expect->matched > 0 && bytes[n] != expect->text[expect->matched])
			expect->matched = expect->back[expect->matched - 1];
		expect->matched += bytes[n] == expect->text[expect->matched];
		expect->seen = expect->matched == expect->length;
	}
}

int capture_expect_open(struct capture_expect *expect, const char *text)
{
	int ends[2], error;

	expect->from = expect->into = -1;
	if (!text)
		return 0;
	error = capture_expect_set(expect, text);
	if (error)
		return error;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return capture_fail_errno("pipe");
	expect->from = ends[0];
	expect->into = ends[1];
	fcntl(expect->from, F_SETFL, O_NONBLOCK);
	return 0;
}

void capture_expect_started(struct capture_expect *expect)
{
	if (expect->into >= 0)
		close(expect->into);
	expect->into = -1;
}

/* Returns true if some bytes have not been written to our standard output yet. */
static bool expect_has_pending(const struct capture_expect *expect)
{
	return expect->begin < expect->end;
}

/* Returns the poll() event that has to occur before capture_expect_read() can continue. */
static struct pollfd expect_wait(const struct capture_expect *expect)
{
	return expect_has_pending(expect) ? (struct pollfd){ .fd = STDOUT_FILENO, .events = POLLOUT }
					  : (struct pollfd){ .fd = expect->from, .events = POLLIN };
}

/*
 * Writes the pending bytes to our standard output. Returns true if no byte is left. A descriptor that is
 * ready for writing takes PIPE_BUF bytes without blocking. If standard output was closed, the bytes are
 * dropped and the guest continues.
 */
static bool pass_on(struct capture_expect *expect)
{
	while (expect_has_pending(expect) && !expect->output_closed) {
		struct pollfd room = { .fd = STDOUT_FILENO, .events = POLLOUT };
		size_t left = expect->end - expect->begin;
		ssize_t written;

		if (poll(&room, 1, 0) <= 0)
			return false;
		written = write(STDOUT_FILENO, expect->piece + expect->begin,
				left < PIPE_BUF ? left : PIPE_BUF);
		if (written >= 0)
			expect->begin += (size_t)written;
		else if (errno == EAGAIN || errno == EINTR)
			return false;
		else
			expect->output_closed = true;
	}
	expect->begin = expect->end = 0;
	return true;
}

/* Reads the available output, searches it and passes it on, without waiting. */
static void capture_expect_read(struct capture_expect *expect)
{
	for (unsigned turn = 0; pass_on(expect) && turn < TURNS && expect->from >= 0; turn++) {
		ssize_t got = read(expect->from, expect->piece, sizeof(expect->piece));

		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (got <= 0) {
			close(expect->from);
			expect->from = -1;
			return;
		}
		expect->end = (size_t)got;
		capture_expect_feed(expect, expect->piece, expect->end);
	}
}

void capture_expect_close(struct capture_expect *expect)
{
	capture_expect_started(expect);
	if (expect->from >= 0)
		close(expect->from);
	expect->from = -1;
}

#define TICK_MS		20
#define PROGRESS_EVERY	0.25 /* seconds between two reports of progress */
#define QUIT_PATIENCE	3.0  /* seconds after which a QEMU that was asked to quit is killed */
#define ORPHAN_PATIENCE 10.0 /* maximum seconds until a process left by the command executes QEMU */
/* maximum time in seconds that QEMU may take to exit after its SHUTDOWN event */
#define END_PATIENCE 2.0
/* time in seconds without activity, after a recorded exit or panic, after which ktrace ends the run */
#define END_SILENCE 2.0
/* maximum seconds to wait for the reader of our output if ktrace has ended the run */
#define READER_PATIENCE 2.0

static const char *kernel_file(const struct capture_run *run)
{
	return run->options->elf ? run->options->elf : run->guest.line.kernel_path;
}

/*
 * Returns whether the kernel's file has changed since QEMU loaded it, for example because it was built again.
 */
static bool is_kernel_rebuilt(const struct capture_run *run)
{
	const struct stat *then = &run->kernel;
	struct stat now;

	return then->st_nlink == 0 || stat(kernel_file(run), &now) != 0 || now.st_dev != then->st_dev ||
	       now.st_ino != then->st_ino || now.st_size != then->st_size ||
	       now.st_mtim.tv_sec != then->st_mtim.tv_sec || now.st_mtim.tv_nsec != then->st_mtim.tv_nsec;
}

/* Continues the inspection of the CPUs. Returns true when it is done. */
static bool inspect(struct capture_run *run)
{
	if (run->inspection.begun == 0)
		capture_inspection_set_kernel(&run->inspection, &run->view,
					      is_kernel_rebuilt(run) ? NULL : kernel_file(run),
					      run->options->elf ? &run->file : NULL);
	return capture_inspection_step(&run->inspection, &run->machine);
}

/* Ends QEMU: reads the CPUs' registers, asks QEMU to quit, and kills QEMU if it does not quit. */
static void stop_guest(struct capture_run *run)
{
	double now = capture_now();

	if (run->machine.ended)
		return;
	if (run->connected > 0 && run->quit == 0) {
		if (run->view.memory && !inspect(run))
			return;
		capture_machine_quit(&run->machine);
		run->quit = now;
	} else if (run->connected > 0 && now - run->quit >= QUIT_PATIENCE && run->guest.pid > 0) {
		kill(run->guest.pid, SIGKILL);
	}
}

static void end_run(struct capture_run *run, enum capture_end end)
{
	if (run->end == CAPTURE_END_NONE)
		run->end = end;
	stop_guest(run);
}

/* the first signal ends the run in an orderly way, a later signal kills QEMU and the command */
static void take_signals(struct capture_run *run)
{
	unsigned before = run->interrupts;
	int signal = capture_child_signals(&run->child, &run->interrupts);

	if (signal == 0)
		return;
	if (before == 0) {
		run->signal = signal;
		end_run(run, CAPTURE_END_SIGNAL);
		return;
	}
	if (run->connected > 0 && !run->machine.ended && run->guest.pid > 0)
		kill(run->guest.pid, SIGKILL);
	if (!run->child.ended)
		kill(run->child.pid, SIGKILL);
}

/* Reads the record that the shim writes before it executes QEMU. */
static int read_guest(struct capture_run *run)
{
	int error = run->has_guest ? 0 : capture_shim_guest(run->place.directory, &run->guest);

	if (!error) {
		run->has_guest = true;
		run->child.guest = run->guest.pid;
	}
	return error;
}

static int connect_machine(struct capture_run *run)
{
	int error = read_guest(run);

	if (!error)
		error = capture_machine_connect(&run->machine, run->guest.backend, run->guest.starts);
	if (!error) {
		run->connected = capture_now();
		if (stat(kernel_file(run), &run->kernel) != 0)
			run->kernel.st_nlink = 0;
	}
	if (!error && run->guest.hazards[0])
		capture_run_say(run, "runs may differ because of %s", run->guest.hazards);
	return error == CAPTURE_E_ABSENT ? 0 : error;
}

/* Checks the version of QEMU, because a run can only be repeated with the same version. */
static int check_version(const struct capture_run *run)
{
	const char *wanted = run->options->qemu, *version = run->machine.version;

	if (!wanted || !version[0] || strcmp(wanted, version) == 0 || run->options->force)
		return 0;
	return capture_fail(CAPTURE_E_USAGE,
			    "this QEMU is version %s, and the run was recorded with %s: a repeated run may "
			    "differ; --force repeats the run nevertheless",
			    version, wanted);
}

/* Opens the guest's RAM. Called after the guest has started: QEMU has then reported where the RAM is. */
static int open_view(struct capture_run *run)
{
	if (run->view.memory || run->options->transport != CAPTURE_RAM || !run->machine.ran)
		return 0;
	if (run->options->hooks.ram)
		run->options->hooks.ram(run->options->hooks.context, run->guest.path);
	return capture_view_open(&run->view, run->guest.path, &run->machine.map,
				 run->guest.line.architecture);
}

static void look_at_guest(struct capture_run *run)
{
	const double lost =
		capture_share_lost(&run->share, run->guest.pid, capture_now(), run->view.watch.last_moved);

	if (run->view.memory && capture_view_look(&run->view, run->machine.running, lost) &&
	    run->view.watch.boots == 2)
		capture_run_say(run, "the guest booted again: the trace will have only its last boot");
}

/*
 * Returns whether the guest has recorded exit or panic and then stopped recording. Returns false if a person
 * at the terminal or with a debugger may still use the guest.
 */
static bool is_silent_after_end(const struct capture_run *run, double silence)
{
	const struct capture_watch *watch = &run->view.watch;

	return watch->seen && watch->last.outcome != KTRX_OUTCOME_RUNNING && silence >= END_SILENCE &&
	       !run->guest.line.gdb && !(run->guest.line.uses_terminal && isatty(STDIN_FILENO));
}

/*
 * Returns whether the guest has stalled. Without --stall, the result is true only for kernels with
 * heartbeats, and only if stdin is not a terminal: a kernel may sleep without ticks and without reporting
 * that it idles, and must not be ended while a person uses it. Does not apply to a run with a virtual
 * deadline, which ends at the same event each time.
 */
static bool has_stalled(const struct capture_run *run)
{
	double limit = run->options->stall;
	double silence = capture_watch_silence(&run->view.watch, run->view.looked);
	double stuck = capture_watch_stuck(&run->view.watch, run->view.looked);

	if (limit >= 0)
		return limit > 0 && (silence >= limit || stuck >= limit);
	if (!run->view.watch.has_heartbeats || run->guest.line.gdb || isatty(STDIN_FILENO) ||
	    run->options->schedule.deadline)
		return false;
	return silence >= CAPTURE_STALL_DEFAULT ||
	       (stuck >= CAPTURE_STALL_DEFAULT && run->view.watch.last.quiet_stamp != 0);
}

/* Handles a stall by the rule that the user has chosen. */
static void handle_stall(struct capture_run *run)
{
	bool reported = run->stalling;

	run->stalling = true;
	run->stalled = run->view.watch.last;
	if (run->options->on_stall == CAPTURE_ON_STALL_KILL) {
		end_run(run, CAPTURE_END_STALL);
		return;
	}
	run->stays_paused = run->options->on_stall == CAPTURE_ON_STALL_KEEP;
	run->inspecting = run->stays_paused || !reported;
}

/* Halts a guest that has stalled, writes its trace, and then resumes the guest or leaves it paused. */
static void inspect_stalled_guest(struct capture_run *run)
{
	const char *out = run->options->out;

	if (!inspect(run))
		return;
	if (capture_run_save(run) != 0)
		capture_run_say(run, "%s", capture_message());
	run->inspecting = false;
	if (run->stays_paused) {
		capture_run_say(run,
				"the guest (process %ld) has stalled and is paused; to see why: "
				"ktrace why %s, or the debugger or monitor on its QEMU line; "
				"Ctrl-C ends it",
				(long)run->guest.pid, out);
		return;
	}
	capture_inspection_reset(&run->inspection);
	capture_machine_resume(&run->machine);
	capture_run_say(run, "the guest has stalled; it is left running; to see why: ktrace why %s", out);
}

/*
 * Returns true if the stall continues. Compares pulses for this. The measured time of silence cannot be used,
 * because it restarts at 0 when the guest is halted.
 */
static bool is_still_stalled(const struct capture_run *run)
{
	const struct ktread_pulse *then = &run->stalled, *now = &run->view.watch.last;
	bool still =
		then->nonce == now->nonce && then->slots == now->slots && then->heartbeats == now->heartbeats;

	return still || (then->quiet_cpu != KTRX_NO_CPU && then->quiet_cpu == now->quiet_cpu &&
			 then->quiet_stamp == now->quiet_stamp);
}

/* if another program has resumed a guest that ktrace keeps paused, watch the guest like any running guest */
static void notice_resumed(struct capture_run *run)
{
	if (!run->stays_paused || run->inspecting || !run->machine.running)
		return;
	run->stays_paused = false;
	capture_inspection_reset(&run->inspection);
}

/* Returns true if the plugin has halted the machine because the virtual deadline was reached. */
static bool is_at_deadline(const struct capture_run *run)
{
	return run->place.control && run->place.control->end == SCHEDULE_DEADLINE && !run->machine.running;
}

/*
 * Handles a write to the watched word: reads the registers and stacks, lets a debugger connect, and ends the
 * run.
 */
static void show_halted_guest(struct capture_run *run)
{
	const struct capture_hooks *hooks = &run->options->hooks;
	char socket[sizeof(run->place.directory) + 8], arguments[sizeof(socket) + 80];

	if (run->serving && !run->machine.answered)
		return;
	if (!inspect(run))
		return;
	if (hooks->halted) {
		snprintf(socket, sizeof(socket), "%s/gdb", run->place.directory);
		if (!run->serving) {
			snprintf(arguments, sizeof(arguments),
				 "{\"command-line\":\"gdbserver unix:%s,server=on,wait=off\"}", socket);
			capture_machine_ask(&run->machine, "human-monitor-command", arguments);
			run->serving = true;
			return;
		}
		hooks->halted(hooks->context, socket);
	}
	end_run(run, CAPTURE_END_WORD);
}

static void decide(struct capture_run *run)
{
	const struct capture_run_options *options = run->options;
	double now = capture_now();
	double silence = capture_watch_silence(&run->view.watch, run->view.looked);

	if (run->started == 0 && run->machine.ran)
		run->started = now;
	if (run->machine.ended) {
		run->ended = run->ended == 0 ? now : run->ended;
		return;
	}
	if (run->end == CAPTURE_END_NONE && run->machine.running) {
		run->silence = capture_watch_still(&run->view.watch, run->view.looked);
		run->stuck = run->view.watch.last.quiet_stamp
				     ? capture_watch_stuck(&run->view.watch, run->view.looked)
				     : 0;
	}
	if (run->end != CAPTURE_END_NONE) {
		stop_guest(run);
	} else if (run->machine.shutdown != CAPTURE_SHUTDOWN_NONE || run->machine.stopped_for_good) {
		run->ending_since = run->ending_since == 0 ? now : run->ending_since;
		if (run->machine.stopped_for_good || now - run->ending_since >= END_PATIENCE)
			stop_guest(run);
	} else if (run->inspecting) {
		inspect_stalled_guest(run);
	} else if (run->place.control && run->place.control->end == SCHEDULE_WORD && !run->machine.running) {
		show_halted_guest(run);
	} else if (is_at_deadline(run)) {
		end_run(run, CAPTURE_END_DEADLINE);
	} else if (options->timeout > 0 && run->connected > 0 && now - run->connected >= options->timeout) {
		end_run(run, CAPTURE_END_TIMEOUT);
	} else if (run->machine.running && is_silent_after_end(run, silence)) {
		end_run(run, CAPTURE_END_SILENT);
	} else if (run->started > 0 && run->expect.seen && !options->expect_continue) {
		end_run(run, CAPTURE_END_SEEN);
	} else if (run->machine.running && !run->stays_paused && has_stalled(run)) {
		handle_stall(run);
	} else {
		run->stalling = run->stalling && is_still_stalled(run);
	}
}

/*
 * Ends the command after ktrace has ended the run: first by SIGTERM, then by SIGKILL. If the command's QEMU
 * has just ended, first waits for the command to end by itself.
 */
static void end_command(struct capture_run *run)
{
	double now = capture_now();
	bool waiting = run->end != CAPTURE_END_NONE && !run->child.ended &&
		       (run->connected == 0 || run->machine.ended);

	if (!waiting || now - run->end_requested < QUIT_PATIENCE)
		return;
	run->end_requested = now;
	run->end_requests += run->connected > 0 || run->end_requests ? 1 : 2;
	if (run->end_requests > 1)
		kill(run->child.pid, run->end_requests == 2 ? SIGTERM : SIGKILL);
}

static void show_progress(struct capture_run *run)
{
	const struct capture_hooks *hooks = &run->options->hooks;
	double now = capture_now();

	if (!hooks->progress || run->started == 0 || run->machine.ended || now < run->next_progress)
		return;
	run->next_progress = now + PROGRESS_EVERY;
	hooks->progress(hooks->context, now - run->started, run->guest.line.uses_terminal,
			run->view.image ? &run->view.watch.last : NULL);
}

static int turn(struct capture_run *run)
{
	struct pollfd wait[] = {
		{ .fd = run->child.signals.from, .events = POLLIN },
		{ .fd = capture_machine_descriptor(&run->machine), .events = POLLIN },
		expect_wait(&run->expect),
	};
	int error = 0;

	if (poll(wait, 3, TICK_MS) < 0 && errno != EINTR)
		return capture_fail_errno("poll");
	if (wait[0].revents)
		take_signals(run);
	if (wait[2].revents)
		capture_expect_read(&run->expect);
	if (wait[1].revents && run->connected == 0)
		error = connect_machine(run);
	else if (wait[1].revents)
		capture_machine_receive(&run->machine);
	if (!error)
		error = check_version(run);
	if (!error)
		error = open_view(run);
	if (error)
		return error;
	look_at_guest(run);
	capture_shared_look(run);
	notice_resumed(run);
	decide(run);
	end_command(run);
	show_progress(run);
	return 0;
}

/*
 * Returns true if QEMU's status is known, or if ktrace has waited long enough for it. The status arrives a
 * moment later than the end of the connection, because QEMU's parent, the shim, records it.
 */
static bool guest_is_gone(const struct capture_run *run)
{
	int status;

	return run->guest.pid == run->child.pid || run->child.guest_ended ||
	       capture_shim_status(run->place.directory, &status) == 0 ||
	       capture_now() - run->ended >= END_PATIENCE;
}

/*
 * Returns whether the command has ended and none of its QEMUs is left, even one that did not connect. A
 * script that ends immediately may have left a process running that will execute QEMU.
 */
static bool is_over(struct capture_run *run)
{
	if (!run->child.ended)
		return false;
	if (run->command_ended == 0)
		run->command_ended = capture_now();
	if (run->connected > 0)
		return run->machine.ended && guest_is_gone(run);
	if (read_guest(run) != 0)
		return run->child.alone || run->end != CAPTURE_END_NONE ||
		       capture_now() - run->command_ended >= ORPHAN_PATIENCE;
	return run->guest.refused || run->child.guest_ended || kill(run->guest.pid, 0) != 0;
}

/*
 * Passes on the output of the command that has not been passed on yet. Waits for the reader of our output:
 * READER_PATIENCE seconds if ktrace ended the run, otherwise without limit. Ctrl-C ends the wait.
 */
static void pass_remaining_output(struct capture_run *run)
{
	const int patience = run->end == CAPTURE_END_NONE ? -1 : (int)(READER_PATIENCE * 1000);
	const unsigned before = run->interrupts;

	capture_expect_read(&run->expect);
	while (expect_has_pending(&run->expect) && run->interrupts == before) {
		struct pollfd wait[] = { { .fd = run->child.signals.from, .events = POLLIN },
					 expect_wait(&run->expect) };

		if (poll(wait, 2, patience) == 0)
			return;
		if (wait[0].revents)
			capture_child_signals(&run->child, &run->interrupts);
		capture_expect_read(&run->expect);
	}
}

int capture_run_loop(struct capture_run *run)
{
	int error = 0;

	run->begin = capture_cycles_now();
	while (!error && !is_over(run))
		error = turn(run);
	pass_remaining_output(run);
	if (error && run->connected > 0 && !run->machine.ended && run->guest.pid > 0)
		kill(run->guest.pid, SIGKILL);
	return error;
}
