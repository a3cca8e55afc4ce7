/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Detects the format of a file, and opens it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "layout.h"
#include "versions.h"
#include "source.h"
#include "stream.h"
#include "trace.h"

/* if all rings together have at most this number of bytes, they are copied before they are read */
#define FREEZE_LIMIT (UINT64_C(64) << 20)
#define RAM_LEAST    (UINT64_C(1) << 20)
#define RAM_PAGE     4096u

/*
 * Returns true if `form`, the format that the caller of ktread wants, is a format of dumps, but of a version
 * other than `version`.
 */
static bool is_other_version(enum ktread_form form, uint32_t version)
{
	return (form == KTREAD_FORM_V1 && version == KTRX2_VERSION) ||
	       (form == KTREAD_FORM_V2 && version != KTRX2_VERSION);
}

static int open_dump(struct ktread *trace)
{
	struct ktread_dumps dumps;
	int status = ktread_dumps_find(trace->memory, &dumps);

	if (status < 0)
		return status;
	if (is_other_version(trace->options.form, dumps.last.version))
		return ktread_fail(KTREAD_E_FORMAT,
				   "%s: the last dump is of version %d, but version %d was requested",
				   trace->memory->name, trace->options.form == KTREAD_FORM_V1 ? 2 : 1,
				   trace->options.form == KTREAD_FORM_V1 ? 1 : 2);
	trace->info.offset = dumps.last.offset;
	trace->info.dumps = trace->is_lossy ? 0 : dumps.complete;
	trace->info.skipped_bytes = dumps.skipped;
	if (dumps.skipped)
		ktread_warn(trace, "%s: %" PRIu64 " bytes belong to no dump and are skipped",
			    trace->memory->name, dumps.skipped);
	if (dumps.last.truncated)
		ktread_warn(trace,
			    "%s: the dump at offset %" PRIu64 " is cut short: only its first part is read",
			    trace->memory->name, dumps.last.offset);
	trace->info.form = dumps.last.version == KTRX2_VERSION ? KTREAD_FORM_V2 : KTREAD_FORM_V1;
	if (trace->info.form == KTREAD_FORM_V2)
		return ktread_v2_open_dump(trace, dumps.last.offset);
	return ktread_v1_open(trace, &dumps.last);
}

static uint64_t ring_bytes(const struct ktread_layout *layout)
{
	uint64_t sum = 0;

	for (uint32_t n = 0; n < layout->rings; n++)
		sum += ktread_region_readable(&layout->ring[n].slots);
	return sum;
}

/*
 * Makes a dump of memory that may be changing, and reads that dump, so that a slow reader loses nothing. If
 * the dump cannot be made, reads the memory itself.
 */
static int freeze(struct ktread *trace)
{
	struct ktread_memory *frozen;
	int descriptor = ktread_file_temporary(), status = descriptor;

	if (descriptor >= 0)
		status = ktread_image_write(trace->image, descriptor, NULL, 0);
	if (status < 0) {
		ktread_warn(
			trace,
			"%s: reading in place, where a running guest may overwrite records, because no copy "
			"can be made: %s",
			trace->memory->name, ktread_fail_text());
		if (descriptor >= 0)
			close(descriptor);
		return ktread_v2_open(trace, trace->image->layout);
	}
	status = ktread_source_open_descriptor(&frozen, descriptor, trace->memory->name);
	if (status < 0)
		return status;
	ktread_image_close(trace->image);
	trace->image = NULL;
	ktread_memory_close(trace->memory);
	trace->memory = frozen;
	return ktread_v2_open_dump(trace, 0);
}

/* Warns about rings whose reserve word was not found. */
static void warn_guesses(struct ktread *trace)
{
	for (uint32_t n = 0; n < trace->image->layout->rings; n++)
		if (trace->image->layout->ring[n].guessed)
			ktread_warn(
				trace,
				"%s: ring %u: reserve word not found: its end is estimated from its slots",
				trace->memory->name, n);
}

/*
 * Returns whether to copy the rings before they are read. Not needed for a time window of a guest that has
 * ended: nothing changes the memory, and copying the rings would take longer than reading the window.
 */
static bool must_freeze(const struct ktread *trace)
{
	if (!trace->memory->live || ring_bytes(trace->image->layout) > FREEZE_LIMIT)
		return false;
	return !trace->options.window || ktread_memory_ended(trace->memory) != 1;
}

/* Opens a memory that contains a root. */
static int open_memory(struct ktread *trace, enum ktread_form form)
{
	int status = ktread_image_find_boot(&trace->image, trace->memory, 0);

	if (status < 0)
		return status;
	trace->info.form = form;
	trace->info.dumps = 1;
	trace->info.offset = trace->image->position;
	warn_guesses(trace);
	if (must_freeze(trace))
		return freeze(trace);
	return ktread_v2_open(trace, trace->image->layout);
}

static int open_ram(struct ktread *trace)
{
	int status = ktread_ram_map(trace->memory, trace->options.machine, trace->options.ram_base);

	return status < 0 ? status : open_memory(trace, KTREAD_FORM_RAM);
}

static int open_core(struct ktread *trace)
{
	int status = ktread_core_map(trace->memory);

	if (status == 0 && trace->memory->missing)
		ktread_warn(trace,
			    "%s: the core is cut short: %" PRIu64 " bytes of the guest's memory are missing",
			    trace->memory->name, trace->memory->missing);
	return status < 0 ? status : open_memory(trace, KTREAD_FORM_CORE);
}

/*
 * Returns true if the file may be a memory: it is large, its size is a multiple of the page size, and it does
 * not begin with a dump.
 */
static bool may_be_ram(struct ktread_memory *memory)
{
	struct ktread_dump dump;

	return memory->size >= RAM_LEAST && memory->size % RAM_PAGE == 0 && !ktread_dump_at(memory, 0, &dump);
}

/*
 * Returns an error if the file has a known format of another program, so that the user must convert the file
 * first. Otherwise returns 0.
 */
static int refuse_foreign(struct ktread_memory *memory)
{
	static const struct {
		const char *magic;
		size_t size;
		const char *advice;
	} foreign[] = {
		{ "KDUMP   ", 8, "a kdump-compressed core: write an ELF core with dump-guest-memory" },
		{ "makedumpfile", 12, "a flattened kdump core: write an ELF core with dump-guest-memory" },
		{ "\x1f\x8b", 2, "compressed with gzip: unpack it first" },
		{ "\xfd"
		  "7zXZ",
		  5, "compressed with xz: unpack it first" },
		{ "QFI\xfb", 4, "a qcow2 disk image, not guest memory" },
	};
	char head[12];

	if (ktread_memory_run(memory, 0) < sizeof(head) ||
	    ktread_memory_read(memory, 0, head, sizeof(head)) < 0)
		return 0;
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
		if (memcmp(head, foreign[i].magic, foreign[i].size) == 0)
			return ktread_fail(KTREAD_E_UNSUPPORTED, "%s: %s", memory->name, foreign[i].advice);
	return 0;
}

static int open_bare(struct ktread *trace)
{
	trace->info.form = KTREAD_FORM_BARE;
	return ktread_bare_open(trace);
}

static int open_stream(struct ktread *trace)
{
	uint32_t inside;
	int status;

	if (!ktread_stream_is(trace->memory))
		return ktread_fail(KTREAD_E_FORMAT, "%s: not a stream", trace->memory->name);
	status = ktread_stream_enter(trace, &inside);
	if (status < 0)
		return status;
	status = inside == KTRX_STREAM_BARE ? open_bare(trace) : open_dump(trace);
	trace->info.form = KTREAD_FORM_STREAM;
	ktread_stream_expect(trace->memory, trace->cursors);
	if (status == KTREAD_E_FORMAT)
		return ktread_fail(status,
				   "%s: the stream lacks the header of its dump, so nothing can be read",
				   trace->memory->name);
	return status;
}

/*
 * Opens a dump or, if the file is not a dump, a process trace of a BSD. Process traces of the BSDs have no
 * magic, so they are tried last. If the file is neither, the error message is about a dump.
 */
static int open_dump_or_processes(struct ktread *trace, const char *path)
{
	int status = open_dump(trace);
	char *text;

	if (status != KTREAD_E_FORMAT || trace->cursor || trace->memory->size == 0)
		return status;
	text = strdup(ktread_fail_text());
	if (!text)
		return ktread_fail_memory();
	if (ktread_processes_open(trace, path) == 0)
		status = 0;
	else
		ktread_fail(status, "%s", text);
	free(text);
	return status;
}

static int open_by_content(struct ktread *trace, const char *path)
{
	int status = refuse_foreign(trace->memory);

	if (status < 0)
		return status;
	if (ktread_processes_is(trace->memory))
		return ktread_processes_open(trace, path);
	if (ktread_stream_is(trace->memory))
		return open_stream(trace);
	if (ktread_core_is(trace->memory))
		return open_core(trace);
	if (!may_be_ram(trace->memory))
		return open_dump_or_processes(trace, path);
	status = open_ram(trace);
	if (status != KTREAD_E_ABSENT)
		return status;
	/* the file is not a memory, but it may contain dumps after other data */
	trace->memory->live = trace->memory->ram = false;
	if (open_dump(trace) == 0)
		return 0;
	return ktread_fail(KTREAD_E_ABSENT, "%s: neither a trace nor guest memory with ktrace in it",
			   trace->memory->name);
}

static int open_as(struct ktread *trace, const char *path)
{
	int status = 0;

	if (ktread_unpack_is_packed(trace->memory))
		status = ktread_unpack(trace);
	if (status < 0)
		return status;
	switch (trace->options.form) {
	case KTREAD_FORM_BARE:
		return open_bare(trace);
	case KTREAD_FORM_RAM:
		return open_ram(trace);
	case KTREAD_FORM_CORE:
		return open_core(trace);
	case KTREAD_FORM_STREAM:
		return open_stream(trace);
	case KTREAD_FORM_PROCESSES:
		return ktread_processes_open(trace, path);
	case KTREAD_FORM_V1:
	case KTREAD_FORM_V2:
		return open_dump(trace);
	default:
		return open_by_content(trace, path);
	}
}

static int take_options(struct ktread *trace, const struct ktread_options *options)
{
	if (!options)
		return 0;
	if (options->size != sizeof(*options) || (int)options->form < KTREAD_FORM_AUTO ||
	    options->form > KTREAD_FORM_PROCESSES || options->frequency > KTREAD_FREQUENCY_MOST)
		return ktread_fail(KTREAD_E_ARGUMENT,
				   "invalid options: wrong size, unknown form or impossible frequency");
	trace->options = *options;
	return 0;
}

uint64_t ktread_settle_frequency(struct ktread *trace, uint64_t recorded)
{
	const uint64_t frequency = ktread_frequency(trace->options.frequency, recorded);

	if (frequency == 0 && recorded != 0)
		ktread_warn(trace, "%s: the trace states an impossible clock frequency, %" PRIu64 " Hz",
			    trace->memory->name, recorded);
	return frequency;
}

int ktread_open(struct ktread **trace, const char *path, const struct ktread_options *options)
{
	struct ktread *opened = calloc(1, sizeof(*opened));
	int status;

	*trace = NULL;
	if (!opened)
		return ktread_fail_memory();
	opened->info.kernel = opened->info.note = opened->info.registers = "";
	status = take_options(opened, options);
	if (status == 0)
		status = ktread_source_open_file(&opened->memory, path);
	if (status == 0)
		status = open_as(opened, path);
	if (status == 0) {
		opened->info.frequency = ktread_settle_frequency(opened, opened->info.frequency);
		status = ktread_rewind(opened);
	}
	if (status < 0) {
		ktread_close(opened);
		return status;
	}
	*trace = opened;
	return 0;
}

void ktread_open_release(struct ktread *trace)
{
	if (trace->image)
		ktread_image_close(trace->image); /* this closes also the image's layout */
	else
		ktread_layout_close(trace->layout);
	ktread_clocks_free(&trace->measured);
	ktread_clocks_free(&trace->aligned);
	free(trace->build_id);
	free(trace->note);
	free(trace->registers);
	ktread_memory_close(trace->memory);
}
