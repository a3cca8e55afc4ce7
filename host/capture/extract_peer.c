/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "error.h"
#include "extract.h"
#include "frequency.h"
#include "dial.h"
#include "kernel_elf.h"
#include "output.h"
#include "cpu_state.h"
#include "watch.h"

#define TRIES 3u

#define NOTE	   "captured by: ktrace extract\n"
#define NOTE_KEPT  NOTE "kept: yes\n"
#define NOTE_RESET NOTE_KEPT "ended: by a reset; this is what was kept of that boot\nreset: yes\n"

struct visit {
	const struct capture_extract_options *options;
	struct capture_extract_report *report;
	struct capture_peer *peer;
	struct capture_snapshot *snapshot; /* NULL where the machine is halted all the time */
	struct ktread_memory *memory;
	struct ktread_image *image;
	double begin;
};

/* What a reading error was about: the peer's own words where it has some. */
static int fail_reading(const struct visit *visit, int status)
{
	if (status == KTREAD_E_SYSTEM)
		return CAPTURE_E_SYSTEM;
	return capture_fail(status == KTREAD_E_ABSENT ? CAPTURE_E_ABSENT : CAPTURE_E_FORMAT, "%s: %s",
			    visit->options->path, ktread_image_message());
}

/* Where the kernel's file says the root is. */
static int open_by_symbol(struct visit *visit)
{
	const char *elf = visit->options->elf;
	struct capture_kernel kernel;
	uint64_t place;
	int error = capture_kernel_read(&kernel, elf), status = KTREAD_E_ABSENT;

	if (error)
		return error;
	if (!kernel.root_address)
		return capture_fail(CAPTURE_E_FORMAT,
				    "%s: no symbol ktrace_root: stripped, or without ktrace", elf);
	place = visit->peer->by_virtual ? kernel.root_address : kernel.root_physical;
	for (unsigned i = 0; i < TRIES; i++) { /* rings that move meanwhile may look wrong */
		status = ktread_image_open(&visit->image, visit->memory, place);
		if (status != KTREAD_E_ABSENT || !visit->peer->reads_running)
			break;
	}
	if (status == KTREAD_E_SYSTEM)
		return CAPTURE_E_SYSTEM;
	if (status == 0)
		return 0;
	return capture_fail(CAPTURE_E_FORMAT,
			    "%s: %s; %s has its ktrace_root there: is it another build, or loaded elsewhere? "
			    "Without --elf all memory is searched",
			    visit->options->path, ktread_image_message(), elf);
}

static int locate(struct visit *visit)
{
	int status, error;

	if (visit->options->elf && visit->options->boot == 0) {
		error = open_by_symbol(visit);
		/* Rings in memory that was lent elsewhere are found by a search alone. */
		if (error != CAPTURE_E_FORMAT || !visit->peer->searchable)
			return error;
	}
	if (!visit->peer->searchable)
		return capture_fail(
			CAPTURE_E_USAGE,
			"%s: memory is too slow to be searched as a whole: --elf KERNEL or --range "
			"START:SIZE says where",
			visit->options->path);
	status = ktread_image_find_boot(&visit->image, visit->memory, visit->options->boot);
	return status < 0 ? fail_reading(visit, status) : 0;
}

/* Finds out what will have to be read, by reading it. */
static int rehearse(struct visit *visit)
{
	int status, fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return capture_fail_errno("/dev/null");
	capture_snapshot_remember(visit->snapshot);
	status = ktread_image_write(visit->image, fd, NULL, 0);
	close(fd);
	return status < 0 ? fail_reading(visit, status) : 0;
}

static int read_pages(void *context, struct capture_stack_page *page, unsigned pages)
{
	struct capture_peer *peer = context;

	return peer->ops->read_pages(peer, page, pages);
}

static int take_registers(struct visit *visit)
{
	char *text = NULL;
	uint16_t machine = ktread_image_machine(visit->image);
	int error = 0;

	if (!visit->options->boot &&
	    !ktread_image_is_kept(visit->image)) /* they are those of the last boot */
		error = visit->peer->ops->registers(visit->peer, machine, &text);
	if (!error && text)
		error = capture_stacks_add(&text, read_pages, visit->peer);
	if (!error && text && ktread_image_set_registers(visit->image, text) < 0)
		error = capture_fail(CAPTURE_E_SYSTEM, "%s", ktread_image_message());
	free(text);
	return error;
}

static int resume(struct visit *visit)
{
	int error = visit->peer->ops->resume(visit->peer);

	visit->report->paused = !visit->peer->was_halted;
	visit->report->pause = visit->peer->pause;
	return error;
}

static int let_run(void *context, int ms)
{
	struct visit *visit = context;

	return visit->peer->ops->let_run(visit->peer, ms);
}

/*
 * How long nothing has come from the machine, as far as that can be seen: not of one that was halted before.
 */
static int watch(struct visit *visit)
{
	const bool by_itself = visit->peer->reads_running;

	if (visit->peer->was_halted || visit->options->boot || ktread_image_is_kept(visit->image) ||
	    !(by_itself || (visit->peer->ran && visit->peer->ops->let_run)))
		return 0;
	return capture_stillness(visit->image, by_itself ? NULL : let_run, visit, &visit->report->silence);
}

/* Copies while the machine is halted, writes the trace when it runs again. */
static int visit_running(struct visit *visit)
{
	int error = rehearse(visit), resumed;

	if (error)
		return error;
	capture_snapshot_prepare(visit->snapshot);
	error = visit->peer->ops->halt(visit->peer);
	if (!error)
		error = capture_snapshot_take(visit->snapshot);
	if (!error)
		error = take_registers(visit);
	if (error) /* closing the peer lets it go on */
		return error;
	resumed = resume(visit);
	error = capture_extract_write(visit->image, visit->options, visit->memory, visit->report);
	return error ? error : resumed;
}

static int visit_halted(struct visit *visit)
{
	int error = take_registers(visit);

	if (!error)
		error = capture_extract_write(visit->image, visit->options, visit->memory, visit->report);
	return error ? error : resume(visit);
}

static int visit_peer(struct visit *visit)
{
	int error = 0;

	visit->memory = visit->peer->memory;
	if (visit->peer->reads_running)
		error = capture_snapshot_open(&visit->snapshot, visit->peer->memory);
	if (error)
		return error;
	if (visit->snapshot)
		visit->memory = capture_snapshot_memory(visit->snapshot);
	error = locate(visit);
	visit->report->located = capture_now() - visit->begin;
	if (error)
		return error;
	visit->report->boots = ktread_image_boots(visit->image);
	error = watch(visit);
	if (error)
		return error;
	return visit->snapshot ? visit_running(visit) : visit_halted(visit);
}

static int open_peer(struct visit *visit)
{
	const struct capture_extract_options *options = visit->options;

	return options->source == CAPTURE_FROM_QMP
		       ? capture_peer_open_qmp(&visit->peer, options->path, options->timeout_ms)
		       : capture_peer_open_gdb(&visit->peer, options->path, &options->ranges,
					       options->timeout_ms);
}

int capture_extract_peer(const struct capture_extract_options *options, struct capture_extract_report *report)
{
	struct visit visit = { .options = options, .report = report, .begin = capture_now() };
	char why[400];
	sigset_t before;
	int error, signal;

	capture_hold_signals(&before);
	error = open_peer(&visit);
	if (!error)
		error = visit_peer(&visit);
	snprintf(why, sizeof(why), "%s", error ? capture_message() : "");
	ktread_image_close(visit.image);
	capture_snapshot_close(visit.snapshot);
	/*
	 * Ctrl-C has ended the reading; that the machine goes on is worth waiting for, and then it takes
	 * effect.
	 */
	signal = capture_take_signal();
	capture_peer_close(visit.peer);
	capture_release_signals(&before, signal);
	return error ? capture_fail(error, "%s", why) : 0;
}

/* A file that was said to be the kernel's and is not: names and places by it would be wrong. */
static int check_kernel(const struct capture_extract_options *options, struct ktread_memory *memory,
			const char *trace, struct capture_extract_report *report)
{
	int error = options->elf ? capture_kernel_check(options->elf, memory, trace, report->warning,
							sizeof(report->warning))
				 : 0;

	return error == CAPTURE_E_FORMAT ? capture_fail(error, "%s", report->warning) : 0;
}

/* What was kept is of a boot that is over, unless its root lies where nobody has looked. */
static void write_note(const struct ktread_image *image, const struct capture_extract_options *options,
		       const struct capture_extract_report *report, char *note, size_t size)
{
	const bool kept = ktread_image_is_kept(image);
	const bool reset = kept && (options->boot > 0 || options->source != CAPTURE_FROM_GDB);
	int length = snprintf(note, size, "%s", reset ? NOTE_RESET : kept ? NOTE_KEPT : NOTE);

	if (report->silence >= 0)
		snprintf(note + length, size - (size_t)length, "silent: %.1f s%s\n", report->silence,
			 report->silence > 0 ? " or more" : "");
}

int capture_extract_write(struct ktread_image *image, const struct capture_extract_options *options,
			  struct ktread_memory *memory, struct capture_extract_report *report)
{
	struct capture_output output;
	char note[400];
	int error = capture_output_open(&output, options->out);

	if (error)
		return error;
	write_note(image, options, report, note, sizeof(note));
	error = capture_output_dump(&output, image, note, 0);
	if (!error)
		error = check_kernel(options, memory, output.fresh, report);
	if (error) {
		capture_output_abandon(&output);
		return error;
	}
	return capture_output_commit(&output);
}
