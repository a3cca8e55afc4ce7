/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/open.h"
#include "cpu_state.h"
#include "wait.h"
#include "error.h"
#include "extract.h"
#include "kernel_elf.h"
#include "memory.h"
#include "output.h"
#include "plan.h"
#include "watch.h"

#define TRIES 3u

#define NOTE		"captured by: ktrace extract\n"
#define NOTE_PERSISTENT NOTE "kept: yes\n"
#define NOTE_RESET	NOTE_PERSISTENT "ended: by a reset; these records survived it\nreset: yes\n"

/*
 * Fails if options->elf is the file of another kernel, because the names and source lines in that file would
 * be wrong for this trace.
 */
static int check_kernel(const struct capture_extract_options *options, struct ktread_memory *memory,
			const char *trace, struct capture_extract_report *report)
{
	int error = options->elf ? capture_kernel_check(options->elf, memory, trace, report->warning,
							sizeof(report->warning))
				 : 0;

	return error == CAPTURE_E_FORMAT ? capture_fail(error, "%s", report->warning) : 0;
}

/*
 * Writes the note for the trace. A trace in persistent memory usually belongs to a boot that was ended by a
 * reset. If the memory is read through gdb, this is uncertain for the newest trace: its boot may still be
 * running, with its root outside of the searched ranges.
 */
static void write_note(const struct ktread_image *image, const struct capture_extract_options *options,
		       const struct capture_extract_report *report, char *note, size_t size)
{
	const bool kept = ktread_image_is_kept(image);
	const bool reset = kept && (options->boot > 0 || options->source != CAPTURE_FROM_GDB);
	int length = snprintf(note, size, "%s", reset ? NOTE_RESET : kept ? NOTE_PERSISTENT : NOTE);

	if (report->silence >= 0)
		length += snprintf(note + length, size - (size_t)length, "silent: %.1f s%s\n",
				   report->silence, report->silence > 0 ? " or more" : "");
	if (report->frequency)
		snprintf(note + length, size - (size_t)length,
			 "frequency: %" PRIu64 " Hz, measured by the host while the guest ran\n",
			 report->frequency);
}

/*
 * Writes the image to options->out, completely or not at all. Fails if options->elf is the file of another
 * kernel.
 */
static int write_image(struct ktread_image *image, const struct capture_extract_options *options,
		       struct ktread_memory *memory, struct capture_extract_report *report)
{
	struct capture_output output;
	char note[400];
	int error = capture_output_open(&output, options->out);

	if (error)
		return error;
	write_note(image, options, report, note, sizeof(note));
	error = capture_output_dump(&output, image, note, report->frequency);
	if (!error)
		error = check_kernel(options, memory, output.fresh, report);
	if (error) {
		capture_output_abandon(&output);
		return error;
	}
	return capture_output_commit(&output);
}

/*
 * Extraction from a running machine: find the trace while the machine runs, halt the machine, copy the trace,
 * resume the machine.
 */

struct session {
	const struct capture_extract_options *options;
	struct capture_extract_report *report;
	struct capture_peer *peer;
	/*
	 * copy of the needed memory; NULL if no copy is needed because the machine stays halted during all
	 * reads
	 */
	struct capture_snapshot *snapshot;
	struct ktread_memory *memory;
	struct ktread_image *image;
	double begin;
};

/*
 * Converts a KTREAD_E_* to a CAPTURE_E_*, and stores a message. For KTREAD_E_SYSTEM, stores none, because the
 * peer has stored one already.
 */
static int fail_reading(const struct session *session, int status)
{
	if (status == KTREAD_E_SYSTEM)
		return CAPTURE_E_SYSTEM;
	return capture_fail(status == KTREAD_E_ABSENT ? CAPTURE_E_ABSENT : CAPTURE_E_FORMAT, "%s: %s",
			    session->options->path, ktread_image_message());
}

/* Opens the trace at the address of the symbol ktrace_root in the kernel's file. */
static int open_peer_by_symbol(struct session *session)
{
	const char *elf = session->options->elf;
	struct capture_kernel kernel;
	uint64_t place;
	int error = capture_kernel_read(&kernel, elf), status = KTREAD_E_ABSENT;

	if (error)
		return error;
	if (!kernel.root_address)
		return capture_fail(CAPTURE_E_FORMAT,
				    "%s: no symbol ktrace_root: the file is stripped or has no ktrace", elf);
	place = session->peer->by_virtual ? kernel.root_address : kernel.root_physical;
	/* try again: a ring may look invalid for a moment while the guest records */
	for (unsigned i = 0; i < TRIES; i++) {
		status = ktread_image_open(&session->image, session->memory, place);
		if (status != KTREAD_E_ABSENT || !session->peer->reads_running)
			break;
	}
	if (status == KTREAD_E_SYSTEM)
		return CAPTURE_E_SYSTEM;
	if (status == 0)
		return 0;
	return capture_fail(
		CAPTURE_E_FORMAT,
		"%s: %s; ktrace_root is there in %s: is that another build, or was the kernel moved? "
		"'ktrace extract --range START:SIZE' searches memory",
		session->options->path, ktread_image_message(), elf);
}

static int locate(struct session *session)
{
	int status, error;

	if (session->options->elf && session->options->boot == 0) {
		error = open_peer_by_symbol(session);
		/*
		 * After CAPTURE_E_FORMAT, search all memory: a search may also find rings in memory that the
		 * kernel has given to ktrace.
		 */
		if (error != CAPTURE_E_FORMAT || !session->peer->searchable)
			return error;
	}
	if (!session->peer->searchable)
		return capture_fail(CAPTURE_E_USAGE,
				    "%s: this connection is too slow to search all memory: "
				    "give --elf KERNEL or --range START:SIZE",
				    session->options->path);
	status = ktread_image_find_boot(&session->image, session->memory, session->options->boot);
	session->report->lacks_ktrace = status == KTREAD_E_ABSENT;
	return status < 0 ? fail_reading(session, status) : 0;
}

/* Writes a dump to /dev/null, so that the snapshot records which parts of the memory a dump reads. */
static int record_dump_reads(struct session *session)
{
	int status, fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return capture_fail_errno("/dev/null");
	capture_snapshot_remember(session->snapshot);
	status = ktread_image_write(session->image, fd, NULL, 0);
	close(fd);
	return status < 0 ? fail_reading(session, status) : 0;
}

static int read_pages(void *context, struct capture_stack_page *page, unsigned pages)
{
	struct capture_peer *peer = context;

	return peer->ops->read_pages(peer, page, pages);
}

static int take_registers(struct session *session)
{
	struct capture_stack_kernel kernel = { .elf = session->options->elf,
					       .self = ktread_image_virtual(session->image) };
	char *text = NULL;
	uint16_t machine = ktread_image_machine(session->image);
	int error = 0;

	if (!session->options->boot &&
	    /*
	     * the CPUs' registers belong to the newest boot, so they are not stored in the trace of an
	     * earlier boot
	     */
	    !ktread_image_is_kept(session->image))
		error = session->peer->ops->registers(session->peer, machine, &text);
	if (!error && text) {
		capture_build_id_find_by_file(&kernel.id, session->image, session->memory, kernel.elf);
		error = capture_stacks_add(&text, read_pages, session->peer, &kernel);
	}
	if (!error && text && ktread_image_set_registers(session->image, text) < 0)
		error = capture_fail(CAPTURE_E_SYSTEM, "%s", ktread_image_message());
	free(text);
	return error;
}

static int resume(struct session *session)
{
	int error = session->peer->ops->resume(session->peer);

	session->report->paused = !session->peer->was_halted;
	session->report->pause = session->peer->pause;
	return error;
}

static int let_run(void *context, int ms)
{
	struct session *session = context;

	return session->peer->ops->let_run(session->peer, ms);
}

/* Returns whether the machine runs now, and the trace is that of its newest boot. */
static bool is_running(const struct session *session)
{
	return !session->peer->was_halted && !session->options->boot && !ktread_image_is_kept(session->image);
}

/*
 * Lets the machine run and measures the time without a new record or heartbeat, as report->silence. Does
 * nothing if the machine was halted before we connected, if it cannot run during the measurement, or if an
 * earlier boot is wanted.
 */
static int watch(struct session *session)
{
	const bool by_itself = session->peer->reads_running;
	int error;

	if (!is_running(session) ||
	    !(by_itself || (session->peer->was_running && session->peer->ops->let_run)))
		return 0;
	error = capture_stillness(session->image, by_itself ? NULL : let_run, session,
				  &session->report->silence);
	/* a CPU that counts as idle may hang in a handler */
	if (!error && by_itself && session->report->silence < 0)
		error = capture_idle_moves(session->image, NULL, NULL, &session->report->silence);
	return error;
}

/* Copies while the machine is halted, resumes the machine, and then writes the trace. */
static int extract_running(struct session *session)
{
	int error = record_dump_reads(session), resumed;

	if (error)
		return error;
	capture_snapshot_prepare(session->snapshot);
	error = session->peer->ops->halt(session->peer);
	if (!error)
		error = capture_snapshot_take(session->snapshot);
	if (!error)
		error = take_registers(session);
	if (error) /* if a step failed, the machine is still halted; it is resumed when the peer is closed */
		return error;
	resumed = resume(session);
	error = write_image(session->image, session->options, session->memory, session->report);
	return error ? error : resumed;
}

static int extract_halted(struct session *session)
{
	int error = take_registers(session);

	if (!error)
		error = write_image(session->image, session->options, session->memory, session->report);
	return error ? error : resume(session);
}

static int extract_from_peer(struct session *session)
{
	int error = 0;

	session->memory = session->peer->memory;
	if (session->peer->reads_running)
		error = capture_snapshot_open(&session->snapshot, session->peer->memory);
	if (error)
		return error;
	if (session->snapshot)
		session->memory = capture_snapshot_memory(session->snapshot);
	error = locate(session);
	session->report->located = capture_now() - session->begin;
	if (error)
		return error;
	session->report->boots = ktread_image_boots(session->image);
	error = watch(session);
	if (error)
		return error;
	if (session->peer->reads_running && is_running(session))
		session->report->frequency = capture_measure_image(session->image);
	return session->snapshot ? extract_running(session) : extract_halted(session);
}

static int open_peer(struct session *session)
{
	const struct capture_extract_options *options = session->options;

	return options->source == CAPTURE_FROM_QMP
		       ? capture_peer_open_qmp(&session->peer, options->path, options->timeout_ms)
		       : capture_peer_open_gdb(&session->peer, options->path, &options->ranges,
					       options->timeout_ms);
}

static int extract_peer(const struct capture_extract_options *options, struct capture_extract_report *report)
{
	struct session session = { .options = options, .report = report, .begin = capture_now() };
	char why[400];
	sigset_t before;
	int error, signal;

	capture_hold_signals(&before);
	error = open_peer(&session);
	if (!error)
		error = extract_from_peer(&session);
	snprintf(why, sizeof(why), "%s", error ? capture_message() : "");
	ktread_image_close(session.image);
	capture_snapshot_close(session.snapshot);
	/*
	 * the reading may have been ended by Ctrl-C; this signal takes effect after the machine was resumed
	 */
	signal = capture_take_signal();
	capture_peer_close(session.peer);
	capture_release_signals(&before, signal);
	return error ? capture_fail(error, "%s", why) : 0;
}

/* Extraction from a file: a RAM file or a core dump. */

static int refuse_trace(const char *path)
{
	return capture_fail(CAPTURE_E_FORMAT, "%s: is already a trace; to show it: ktrace show %s", path,
			    path);
}

/*
 * Examines the first bytes of the file. Fails if the file is a trace already. If *form is KTREAD_FORM_AUTO,
 * sets it to the form that was detected.
 */
static int detect_form(const char *path, enum ktread_form *form)
{
	Elf64_Ehdr header = { 0 };
	ssize_t got = -1;
	int fd = base_open_regular(path, O_RDONLY);

	if (fd < 0 && (errno == ENOTSUP || errno == EISDIR))
		capture_fail(CAPTURE_E_FORMAT,
			     "%s: not a regular file: the memory must be readable at any offset", path);
	else if (fd < 0 || (got = pread(fd, &header, sizeof(header), 0)) < 0)
		capture_fail_errno("%s", path);
	else if (got == 0)
		capture_fail(CAPTURE_E_FORMAT, "%s: the file is empty", path), got = -1;
	if (fd >= 0)
		close(fd);
	if (got < 0)
		return CAPTURE_E_FORMAT;
	if (memcmp(&header, KTRX_MAGIC, 4) == 0)
		return refuse_trace(path);
	if (*form == KTREAD_FORM_AUTO)
		*form = memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_type == ET_CORE
				? KTREAD_FORM_CORE
				: KTREAD_FORM_RAM;
	return 0;
}

/*
 * Reports that the file contains no ktrace. If the file is a trace in another format, the message states how
 * to show it.
 */
static int fail_to_find(const char *path)
{
	struct ktread_options options = { .size = sizeof(options) };
	struct ktread *trace;
	bool is_trace;

	capture_fail(CAPTURE_E_ABSENT, "%s", ktread_image_message());
	is_trace = ktread_open(&trace, path, &options) == 0;
	/*
	 * The guest may have started to record after the search failed. If so, ktread_open() succeeds,
	 * although the file is RAM or a core dump and not a trace file.
	 */
	if (is_trace) {
		enum ktread_form form = ktread_info(trace)->form;

		is_trace = form != KTREAD_FORM_RAM && form != KTREAD_FORM_CORE;
	}
	ktread_close(trace);
	return is_trace ? refuse_trace(path) : CAPTURE_E_ABSENT;
}

/*
 * Opens the trace at the root's address according to the kernel's file. Returns false if the caller must
 * search for the root instead.
 */
static bool open_by_symbol(const struct capture_extract_options *options, struct ktread_memory **memory,
			   struct ktread_image **image)
{
	struct capture_kernel kernel;
	const char *machine;

	if (!options->elf || options->boot || capture_kernel_read(&kernel, options->elf) != 0)
		return false;
	machine = options->machine ? options->machine : capture_kernel_machine(&kernel);
	if (!kernel.root_physical || !machine || ktread_memory_open_ram(memory, options->path, machine) != 0)
		return false;
	if (ktread_image_open(image, *memory, kernel.root_physical) == 0)
		return true;
	ktread_memory_close(*memory);
	*memory = NULL;
	return false;
}

static int open_by_search(const struct capture_extract_options *options, enum ktread_form form,
			  struct ktread_memory **memory, struct ktread_image **image)
{
	int status = form == KTREAD_FORM_CORE
			     ? ktread_memory_open_core(memory, options->path)
			     : ktread_memory_open_ram(memory, options->path, options->machine);

	return status ? status : ktread_image_find_boot(image, *memory, options->boot);
}

/* Adds the registers and stacks of a core dump's CPUs to the image. */
static int add_registers(struct ktread_image *image, struct ktread_memory *memory, const char *path)
{
	char *text;
	int error = capture_core_cpus(path, memory, image, NULL, &text);

	if (!error && text && ktread_image_set_registers(image, text) < 0)
		error = capture_fail(CAPTURE_E_SYSTEM, "%s", ktread_image_message());
	free(text);
	return error;
}

/* Fails if the file that --elf names is missing, or if an option has no effect on files of this format. */
static int check_options(const struct capture_extract_options *options, enum ktread_form form)
{
	if (options->elf && access(options->elf, R_OK) != 0)
		return capture_fail_errno("%s", options->elf);
	if (form != KTREAD_FORM_CORE || (!options->elf && !options->machine))
		return 0;
	return capture_fail(CAPTURE_E_USAGE, "%s: is a core: %s", options->path,
			    options->elf
				    ? "--elf is only for a RAM file or a machine; a core is always searched"
				    : "--machine is only for a RAM file; a core states its machine");
}

/* Fails if --machine contradicts the machine that is recorded in the trace. */
static int check_machine(const struct capture_extract_options *options, const struct ktread_image *image)
{
	const struct capture_kernel kernel = { .machine = ktread_image_machine(image) };
	const char *is = capture_kernel_machine(&kernel);

	if (!options->machine || !is || strcmp(options->machine, is) == 0)
		return 0;
	return capture_fail(CAPTURE_E_USAGE, "%s: the trace in it is of %s, not of --machine %s",
			    options->path, is, options->machine);
}

static int extract_file(const struct capture_extract_options *options, struct capture_extract_report *report)
{
	enum ktread_form form = options->form;
	struct ktread_memory *memory = NULL;
	struct ktread_image *image = NULL;
	int error = detect_form(options->path, &form);

	if (!error)
		error = check_options(options, form);
	if (error)
		return error;
	if (form == KTREAD_FORM_CORE || !open_by_symbol(options, &memory, &image))
		error = open_by_search(options, form, &memory, &image);
	if (error == KTREAD_E_ABSENT) {
		error = fail_to_find(options->path);
	} else if (error) {
		error = capture_fail(CAPTURE_E_FORMAT, "%s", ktread_image_message());
	} else {
		report->boots = ktread_image_boots(image);
		error = check_machine(options, image);
		if (!error && form == KTREAD_FORM_CORE && !options->boot)
			error = add_registers(image, memory, options->path);
		if (!error)
			error = write_image(image, options, memory, report);
	}
	ktread_image_close(image);
	ktread_memory_close(memory);
	return error;
}

int capture_extract(const struct capture_extract_options *options, struct capture_extract_report *report)
{
	double begin = capture_now();
	int error = capture_output_check(options->out);

	*report = (struct capture_extract_report){ .silence = -1 };
	if (error)
		return error;
	error = options->source == CAPTURE_FROM_FILE ? extract_file(options, report)
						     : extract_peer(options, report);
	report->total = capture_now() - begin;
	return error ? error : capture_summary_read(&report->summary, options->out);
}

/* Creates an empty file in the directory for temporary files. `path` is "" on error. */
static int make_temporary(char path[PATH_MAX])
{
	const char *folder = base_temporary_folder();
	int error = capture_path_join(path, folder, "ktrace-trace-XXXXXX"), fd = -1;

	if (!error && (fd = mkstemp(path)) < 0)
		error = capture_fail_errno("%s: cannot create a file for the trace", folder);
	if (error)
		path[0] = '\0';
	else
		close(fd);
	return error;
}

int capture_extract_temporary(const struct capture_extract_options *options, char path[PATH_MAX],
			      struct capture_extract_report *report)
{
	struct capture_extract_options own = *options;
	sigset_t before;
	int error;

	/* signals stay blocked until the file is removed, or the caller knows its path */
	capture_hold_signals(&before);
	error = make_temporary(path);
	own.out = path;
	if (!error)
		error = capture_extract(&own, report);
	if (!error)
		error = capture_check_interrupt(options->path);
	if (error && path[0]) {
		unlink(path);
		path[0] = '\0';
	}
	capture_release_signals(&before, 0);
	return error;
}
