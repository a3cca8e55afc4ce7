/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The end of a run: reads what the guest left, determines the verdict, writes the trace. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ktrx/v2.h"
#include "error.h"
#include "kernel_elf.h"
#include "output.h"
#include "schedule.h"
#include "run_state.h"

/*
 * The disk counts as full if it has less free space than this number of bytes, because QEMU cannot store
 * another page of its guest's RAM then.
 */
#define FULL_DISK ((uint64_t)1 << 20)
#define SILENCE	  0.2 /* minimum time of silence, in seconds, that is reported */
/* seconds without a heartbeat after which a CPU that is not idle counts as stuck */
#define STUCK	    5.0
#define NANOSECONDS 1e9
/* frequency in Hz of x86 counters with -icount, which count virtual nanoseconds */
#define ICOUNT_HZ 1000000000u

/* Returns whether the kernel's file, if it is known, contains ktrace. */
static bool is_linked(const struct capture_run *run)
{
	const char *path = run->options->elf ? run->options->elf : run->guest.line.kernel_path;
	struct capture_kernel kernel;

	return *path && capture_kernel_read(&kernel, path) == 0 && kernel.root_address != 0;
}

/* Collects the facts for the verdict. `outcome` and `status` are those of the trace. */
static struct capture_facts gather(const struct capture_run *run, bool found, uint32_t outcome,
				   int32_t status)
{
	struct capture_facts facts = {
		.ran = run->machine.ran,
		.shutdown = run->machine.shutdown,
		.stopped_for_good = run->machine.stopped_for_good,
		.state = run->machine.state,
		.found = found,
		.linked = !found && is_linked(run),
		.sent = run->options->transport == CAPTURE_RAM
				? NULL
				: capture_transport_name(run->options->transport),
		.outcome = outcome,
		.status = status,
		.end = run->stays_paused || run->inspecting ? CAPTURE_END_STALL : run->end,
		.unseen = run->options->expect && !run->expect.seen,
		.signal = run->signal,
		.may_lack_ktrace = run->options->may_lack_ktrace,
		.ends_without_event =
			run->guest.line.ends_without_event || run->options->transport == CAPTURE_SEMIHOSTING,
	};

	facts.stuck = capture_watch_stuck(&run->view.watch, capture_now()) > 0
			      ? run->view.watch.last.quiet_cpu
			      : KTRX_NO_CPU;
	facts.limit = facts.end == CAPTURE_END_TIMEOUT ? run->options->timeout
		      : facts.end == CAPTURE_END_DEADLINE
			      ? (double)run->options->schedule.deadline / NANOSECONDS
		      : run->options->stall > 0 ? run->options->stall
						: CAPTURE_STALL_DEFAULT;
	if (run->has_guest && run->guest.pid == run->child.pid) {
		facts.has_wait_status = true;
		facts.wait_status = run->child.status;
	} else if (capture_shim_status(run->place.directory, &facts.wait_status) == 0) {
		facts.has_wait_status = true;
	} else if (run->child.guest_ended) {
		facts.has_wait_status = true;
		facts.wait_status = run->child.guest_status;
	}
	return facts;
}

/*
 * Returns the frequency of the guest's counter. Returns 0 if it is unknown, or if the kernel itself has
 * recorded it.
 */
static uint64_t find_frequency(const struct capture_run *run, const char **source)
{
	const struct capture_qemu_line *line = &run->guest.line;
	uint64_t frequency = run->machine.timebase;

	*source = "QEMU's timer";
	if (run->view.watch.last.frequency)
		return 0;
	if (!frequency && capture_qemu_is_x86(line->architecture)) {
		*source = line->own_clock ? "-icount" : "the host's cycle counter";
		frequency = line->own_clock ? ICOUNT_HZ : capture_cycles_frequency(&run->begin);
	}
	if (frequency)
		return frequency;
	*source = "timestamps compared with the host's clock";
	return capture_frequency_get(&run->view.frequency);
}

/*
 * Returns the line of the note that reports a reset, a stall or a timeout in a form for programs, which then
 * need not interpret the text after "ended:". Returns "" if the run ended in another way.
 */
static const char *mark_of(const struct capture_run *run, const struct capture_result *result)
{
	if (result->status == CAPTURE_RESET)
		return "reset: yes\n";
	if (result->status == CAPTURE_STALL)
		return "stalled: yes\n";
	return run->end == CAPTURE_END_TIMEOUT || run->end == CAPTURE_END_DEADLINE ? "timeout: yes\n" : "";
}

/*
 * Returns for how long the guest had recorded nothing when the run ended. In a run with a schedule, this is
 * virtual time, because the timestamps are virtual.
 */
static double find_silence(const struct capture_run *run, uint64_t frequency)
{
	const struct schedule_control *control = run->place.control;
	uint64_t known = run->view.watch.last.frequency ? run->view.watch.last.frequency : frequency;
	double newest;

	if (!control)
		return run->silence;
	if (!control->now || !known)
		return 0;
	newest = (double)capture_newest_stamp(run->view.image) / (double)known;
	return newest > 0 ? (double)control->now / NANOSECONDS - newest : 0;
}

/*
 * Adds the recipe to the note. If the note is then too long, leaves the recipe out, and the run cannot be
 * repeated.
 */
static void write_recipe(const struct capture_run *run, char *note, size_t size, size_t length)
{
	const struct capture_run_options *options = run->options;
	const struct schedule_control *control = run->place.control;
	struct capture_recipe_run facts = {
		.schedule = options->schedule,
		.ktrace = options->version ? options->version : "",
		.qemu = run->machine.version,
		.events = options->events,
		.transport = capture_transport_name(options->transport),
		.trace_unit = options->trace_unit,
		.allow_reboot = options->allow_reboot,
		.image = run->view.image,
		.map = &run->machine.map,
		.mean = control->mean,
		/* a QEMU that was killed did not store the time of its end, which is in the last slice */
		.ended = control->now ? control->now : control->slice_end,
	};
	char path[PATH_MAX], *line;
	int error = capture_path_join(path, run->place.directory, CAPTURE_RECIPE_FILE);

	facts.schedule.hooks = control->hooks;
	if (!error)
		error = capture_recipe_finish(path, &facts, &line);
	if (error) {
		capture_run_say(run, "the trace does not contain how to repeat the run: %s",
				capture_message());
		return;
	}
	if (snprintf(note + length, size - length, "\nrecipe: %s\n", line) >= (int)(size - length)) {
		note[length] = '\0';
		capture_run_say(run, "the trace does not contain how to repeat the run: "
				     "QEMU's command line is too long");
	}
	free(line);
}

/*
 * Returns the path of the kernel's file: the file of --elf or, without that option, the file that QEMU loads;
 * "" if it is unknown.
 */
static const char *kernel_file(const struct capture_run *run, char path[PATH_MAX])
{
	if (run->options->elf && capture_path_absolute(path, run->options->elf) == 0)
		return path;
	return run->guest.line.kernel_path;
}

/* Writes the note for the trace: how it was captured and how the run ended. */
static void write_note(const struct capture_run *run, const struct capture_result *result, uint64_t frequency,
		       const char *source, char *note, size_t size)
{
	const double silence = find_silence(run, frequency);
	char path[PATH_MAX];
	const char *kernel = kernel_file(run, path);
	int length =
		snprintf(note, size, "captured by: ktrace run\nended: %s\n%sguest ran: %.3f s\nboots: %u\n",
			 result->text, mark_of(run, result), result->seconds, run->view.watch.boots);

	if (silence >= SILENCE && length > 0 && (size_t)length < size)
		length += snprintf(note + length, size - (size_t)length, "silent: %.1f s\n", silence);
	if (frequency && length > 0 && (size_t)length < size)
		length +=
			snprintf(note + length, size - (size_t)length,
				 "frequency: %" PRIu64 " Hz, measured by the host: %s\n", frequency, source);
	if (length > 0 && (size_t)length + strlen(kernel) < size / 2 && kernel[0])
		length += snprintf(note + length, size - (size_t)length, "kernel: %s\n", kernel);
	for (size_t i = 0; run->options->command[i] && length > 0 && (size_t)length < size; i++)
		length += snprintf(note + length, size - (size_t)length, "%s%s",
				   i ? " " : "command: ", run->options->command[i]);
	if (run->place.control && length > 0 && (size_t)length < size)
		write_recipe(run, note, size, (size_t)length);
}

/* If a kernel was moved in memory, its hooks are at other addresses than in its file. */
static void check_hooks(const struct capture_run *run, struct capture_result *result)
{
	const struct schedule_control *control = run->place.control;

	result->no_hooks = control && capture_schedule_has_hooks(&control->noise, &control->later) &&
			   control->hook_calls == 0;
	if (result->no_hooks)
		capture_run_say(run, "WARNING: " CAPTURE_NO_HOOKS);
}

static void check_kernel(const struct capture_run *run, const char *trace)
{
	char warning[512];

	if (run->options->elf &&
	    capture_kernel_check(run->options->elf, run->view.memory, trace, warning, sizeof(warning)) != 0)
		capture_run_say(run, "%s", warning);
}

/* Writes the rings from the guest's RAM to the trace file. */
static int write_dump(struct capture_run *run, const struct capture_result *result)
{
	struct capture_output output;
	const char *source;
	uint64_t frequency = find_frequency(run, &source);
	static char note[64 << 10];
	int error = capture_output_open(&output, run->options->out);

	if (error)
		return error;
	write_note(run, result, frequency, source, note, sizeof(note));
	if (run->inspection.text && ktread_image_set_registers(run->view.image, run->inspection.text) < 0)
		error = capture_fail(CAPTURE_E_SYSTEM, "%s", ktread_image_message());
	if (!error)
		error = capture_output_dump(&output, run->view.image, note, frequency);
	if (error) {
		capture_output_abandon(&output);
		return error;
	}
	return capture_output_commit(&output);
}

int capture_run_save(struct capture_run *run)
{
	const struct ktread_pulse *last = &run->view.watch.last;
	struct capture_facts facts = gather(run, true, last->outcome, last->status);
	struct capture_result now = { .seconds = capture_now() - run->started };

	if (!run->view.image)
		return capture_fail(CAPTURE_E_ABSENT, "the guest's memory has no trace any more");
	now.status = capture_verdict(&facts, now.text, sizeof(now.text));
	return write_dump(run, &now);
}

/*
 * Reports why the root is no longer in the guest's memory. Reports nothing if the verdict is a reset, because
 * the reset is the explanation.
 */
static void explain_loss(const struct capture_run *run, struct capture_result *result)
{
	char text[400];

	result->lost = run->view.root;
	capture_view_explain_loss(&run->view, run->options->allow_reboot, text, sizeof(text));
	if (text[0] && result->status != CAPTURE_RESET)
		capture_run_say(run, "%s", text);
}

static int finish_ram(struct capture_run *run, struct capture_result *result)
{
	struct capture_facts facts;
	int error = run->view.memory ? capture_view_search_again(&run->view) : CAPTURE_E_ABSENT;

	if (error && error != CAPTURE_E_ABSENT)
		return error;
	if (!error)
		facts = gather(run, true, run->view.watch.last.outcome, run->view.watch.last.status);
	else /* `found` stays true for a trace that a reset has erased after it was found */
		facts = gather(run, run->view.watch.boots > 0, KTRX_OUTCOME_RUNNING, 0);
	result->status = capture_verdict(&facts, result->text, sizeof(result->text));
	result->linked = facts.linked;
	if (error) {
		explain_loss(run, result);
		return 0;
	}
	result->search = run->view.search_seconds;
	result->root = ktread_image_physical(run->view.image);
	error = write_dump(run, result);
	if (error)
		return error;
	result->written = true;
	return capture_summary_read(&result->summary, run->options->out);
}

/*
 * Returns the seconds from the last write to the guest's dump to the end of the run. Negative: unknown.
 */
static double age_of_dump(struct capture_run *run, const struct stat *status)
{
	const double now = capture_now();
	struct timespec time;
	double age;

	if (run->options->transport == CAPTURE_IVSHMEM) {
		/* a write to shared memory does not change the file's time */
		capture_shared_look(run);
		age = (run->ended > 0 ? run->ended : now) - run->shared.changed;
		return run->shared.changed == 0 ? -1 : age > 0 ? age : 0;
	}
	if (clock_gettime(CLOCK_REALTIME, &time) != 0)
		return -1;
	age = (double)(time.tv_sec - status->st_mtim.tv_sec) +
	      (double)(time.tv_nsec - status->st_mtim.tv_nsec) / 1e9;
	age -= run->ended > 0 ? now - run->ended : 0;
	return age > 0 ? age : 0;
}

/*
 * Adds the host's note to a dump that the guest sent. The note has no line such as "reset: yes", because such
 * a line describes the end of the run, and the dump was made before the end.
 */
static int write_dump_note(const struct capture_run *run, const struct capture_result *result)
{
	char note[2048], taken[64] = "", ended[96] = "", path[PATH_MAX];
	const char *kernel = kernel_file(run, path);
	int length;

	if (result->taken >= SILENCE)
		snprintf(ended, sizeof(ended), "; the guest dumped this %.1f s before the end",
			 result->taken);
	if (result->taken >= 0)
		snprintf(taken, sizeof(taken), "taken: %.3f s before the end\n", result->taken);
	length = snprintf(note, sizeof(note),
			  "captured by: ktrace run\nended: %s%s\ndumped over: %s\n%sguest ran: %.3f s\n",
			  result->text, ended, capture_transport_name(run->options->transport), taken,
			  result->seconds);
	if (kernel[0] && strlen(kernel) < sizeof(note) - (size_t)length - 16)
		snprintf(note + length, sizeof(note) - (size_t)length, "kernel: %s\n", kernel);
	return capture_dump_note(run->place.file, note);
}

/* Finishes a run whose guest has sent its trace: adds a note and renames the file. */
static int finish_sent(struct capture_run *run, struct capture_result *result)
{
	struct capture_facts facts;
	struct stat status;
	bool sent = stat(run->place.file, &status) == 0 && status.st_size > 0 &&
		    capture_summary_read(&result->summary, run->place.file) == 0;

	facts = gather(run, sent, result->summary.outcome, result->summary.status);
	result->status = capture_verdict(&facts, result->text, sizeof(result->text));
	result->linked = facts.linked;
	if (!sent)
		return 0;
	result->sent = true;
	result->taken = age_of_dump(run, &status);
	if (write_dump_note(run, result) != 0)
		return CAPTURE_E_SYSTEM;
	if (capture_output_rename(run->place.file, run->options->out) != 0)
		return CAPTURE_E_SYSTEM;
	result->written = true;
	return 0;
}

static void explain_death(const struct capture_run *run, const struct capture_result *result)
{
	struct statvfs disk;

	if (result->status == CAPTURE_QEMU_DIED && run->options->transport == CAPTURE_RAM &&
	    statvfs(run->place.file, &disk) == 0 && (uint64_t)disk.f_bavail * disk.f_frsize < FULL_DISK)
		capture_run_say(run,
				"%s: the disk is full: QEMU could not store the guest's RAM; "
				"choose another disk with --ram-dir",
				run->place.file);
}

/* Explains why the command ended without a traced guest. */
static int explain_absence(const struct capture_run *run, struct capture_result *result)
{
	int status = run->child.status;

	if (run->end == CAPTURE_END_SIGNAL) {
		result->status = CAPTURE_SIGNALLED + run->signal;
		snprintf(result->text, sizeof(result->text), "stopped by signal %d before a QEMU was started",
			 run->signal);
		return 0;
	}
	/* the shim has already printed the reason, which is in the command's output */
	if (run->has_guest && run->guest.refused)
		return capture_fail(CAPTURE_E_USAGE, "the QEMU line that '%s' started cannot be traced",
				    run->options->command[0]);
	if (WIFSIGNALED(status))
		return capture_fail(CAPTURE_E_ABSENT, "'%s' was killed by signal %d before it started a QEMU",
				    run->options->command[0], WTERMSIG(status));
	return capture_fail(CAPTURE_E_ABSENT,
			    "'%s' ended with status %d and never started a QEMU guest "
			    "(with a command qemu-system-* that is found in PATH)",
			    run->options->command[0], WEXITSTATUS(status));
}

/* Requires: the run has a schedule. */
static void hash_files(const struct capture_run *run, struct capture_result *result)
{
	char path[PATH_MAX];

	if (run->machine.version[0] &&
	    capture_path_join(path, run->place.directory, CAPTURE_RECIPE_FILE) == 0)
		capture_recipe_hash(path, run->machine.version, result->files);
}

int capture_run_finish(struct capture_run *run, struct capture_result *result)
{
	unsigned untraced = capture_shim_untraced(run->place.directory);
	int error;

	if (!run->has_guest || run->guest.refused)
		return explain_absence(run, result);
	if (run->started > 0)
		result->seconds = (run->ended > 0 ? run->ended : capture_now()) - run->started;
	result->gave_up = run->end == CAPTURE_END_TIMEOUT;
	if (run->place.control) {
		result->ended = run->place.control->now;
		hash_files(run, result);
	}
	result->stalled = run->stalling || run->stuck >= STUCK;
	error = run->options->transport == CAPTURE_RAM ? finish_ram(run, result) : finish_sent(run, result);
	if (error && run->options->transport == CAPTURE_RAM && !run->guest.own_path) {
		/* do not remove the file: it is the only copy of the events */
		run->place.keep = true;
		capture_run_say(run, "the guest's RAM was kept; to read it: ktrace extract %s",
				run->place.file);
	}
	if (!error && result->written)
		check_kernel(run, run->options->out);
	check_hooks(run, result);
	explain_death(run, result);
	if (untraced)
		capture_run_say(run, "%u more QEMU%s ran untraced: only the first is traced", untraced,
				untraced == 1 ? "" : "s");
	return error;
}
