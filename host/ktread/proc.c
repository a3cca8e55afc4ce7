/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Process traces: opens them, reads records, and contains the code that is the same for all formats. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "proc_state.h"

/*
 * The table of processes consists of sets of PLACES rows. The number of a process determines its set. The
 * process may be in any row of its set.
 */

/*
 * number of sets, a power of two; the low bits of the process number select the set, because process numbers
 * are mostly consecutive
 */
#define SETS   4096u
#define PLACES 4u

static void processes_free(struct ktread_proc_processes *processes)
{
	free(processes->row);
}

void ktread_proc_processes_forget(struct ktread_proc_processes *processes)
{
	processes->session++;
}

static struct ktread_proc_process *set_of(const struct ktread_proc_processes *processes, uint32_t pid)
{
	return &processes->row[(pid & (SETS - 1)) * PLACES];
}

const struct ktread_proc_process *ktread_proc_process_look(struct ktread_proc_processes *processes,
							   uint32_t pid)
{
	const struct ktread_proc_process *set;

	if (!processes->row)
		return NULL;
	set = set_of(processes, pid);
	for (uint32_t i = 0; i < PLACES; i++)
		if (set[i].pid == pid && set[i].session == processes->session)
			return processes->last = &set[i];
	return NULL;
}

struct ktread_proc_process *ktread_proc_process_enter(struct ktread_proc_processes *processes, uint32_t pid)
{
	struct ktread_proc_process *set, *chosen = NULL;

	if (!processes->row)
		processes->row = calloc((size_t)SETS * PLACES, sizeof(*processes->row));
	if (!processes->row)
		return NULL;
	set = set_of(processes, pid);
	for (uint32_t i = 0; i < PLACES; i++) {
		if (set[i].session != processes->session)
			chosen = &set[i];
		else if (set[i].pid == pid)
			return &set[i];
	}
	if (!chosen)
		chosen = &set[processes->victim++ % PLACES];
	*chosen = (struct ktread_proc_process){ .pid = pid, .session = processes->session };
	return chosen;
}

/* A process trace that is being read. */

static int keep_message(struct ktread_proc *trace, int status)
{
	snprintf(trace->message, sizeof(trace->message), "%s", ktread_fail_text());
	return status;
}

int ktread_proc_stop(struct ktread_proc *trace, uint64_t offset, const char *format, ...)
{
	char what[KTREAD_MESSAGE_SIZE / 2];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	trace->ended = true;
	return ktread_fail(KTREAD_E_FORMAT, "%s: offset %" PRIu64 ": %s", trace->input.name, offset, what);
}

/*
 * Sets the message to the input's error, and returns the error. Requires: all buffered bytes have been used.
 */
static int input_error(struct ktread_proc *trace)
{
	trace->ended = true;
	return ktread_fail(trace->input.failed, "%s", trace->input.failure);
}

int ktread_proc_cut_short(struct ktread_proc *trace, uint64_t bytes)
{
	if (trace->input.failed)
		return input_error(trace);
	if (ktread_proc_may_grow(&trace->input))
		return 0;
	return ktread_proc_stop(trace, trace->input.offset,
				"cut short: only %zu of at least %" PRIu64 " bytes are present",
				ktread_proc_at_hand(&trace->input), bytes);
}

bool ktread_proc_set_structure(struct ktread_proc_record *record, uint32_t at)
{
	const uint8_t *name = record->payload + at, *end = NULL;

	if (at < record->payload_size)
		end = memchr(name, 0, record->payload_size - at);
	if (!end)
		return false;
	ktread_proc_set_data(record, (uint32_t)(end + 1 - record->payload));
	record->structure.name = (const char *)name;
	record->structure.element_size = record->data_size;
	record->structure.count = 1;
	return true;
}

void ktread_proc_set_elements(struct ktread_proc_record *record, uint64_t size)
{
	record->structure.element_size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
	record->structure.count = size ? (uint32_t)(record->data_size / size) : 0;
}

static const struct ktread_proc_reader *reader_of(enum ktread_proc_format format)
{
	const struct ktread_proc_reader *reader = ktread_proc_bsd;

	if (format == KTREAD_PROC_KTRX)
		return &ktread_proc_ktrx;
	while (reader->format != KTREAD_PROC_AUTO && reader->format != format)
		reader++;
	return reader->format == KTREAD_PROC_AUTO ? NULL : reader;
}

enum ktread_proc_format ktread_proc_format_named(const char *name)
{
	const struct ktread_proc_reader *reader = ktread_proc_bsd;

	if (strcmp(name, ktread_proc_ktrx.name) == 0)
		return KTREAD_PROC_KTRX;
	while (reader->format != KTREAD_PROC_AUTO && strcmp(name, reader->name) != 0)
		reader++;
	return reader->format;
}

/*
 * Finds the reader for the trace's format. Returns 1 on success, 0 if there are too few bytes to decide, or
 * an error.
 */
static int settle(struct ktread_proc *trace)
{
	int status;

	if (trace->reader)
		return 1;
	trace->reader = reader_of(trace->options.format);
	status = trace->reader ? 1 : ktread_proc_detect(trace, &trace->reader);
	if (status <= 0)
		return status;
	trace->info.format = trace->reader->format;
	trace->info.format_name = trace->reader->name;
	trace->info.machine = trace->reader->machine;
	trace->info.address_size = trace->reader->address_size;
	status = trace->reader->begin(trace);
	return status < 0 ? status : 1;
}

/* Begins a trace at the input's current position: forgets the format and all that was known before. */
static int begin(struct ktread_proc *trace)
{
	int status;

	trace->info = (struct ktread_proc_info){ .format_name = "" };
	trace->reader = NULL;
	trace->used = 0;
	trace->ended = trace->damaged = false;
	trace->torn = 0;
	ktread_proc_processes_forget(&trace->processes);
	status = settle(trace);
	if (status >= 0 && trace->input.failed && ktread_proc_at_hand(&trace->input) == 0)
		return input_error(trace);
	return status < 0 ? status : 0;
}

int ktread_proc_open(struct ktread_proc **trace, const char *path, const struct ktread_proc_options *options)
{
	struct ktread_proc *opened;
	int status;

	*trace = NULL;
	if (options && (options->size != sizeof(*options) || (int)options->format < KTREAD_PROC_AUTO ||
			options->format > KTREAD_PROC_FREEBSD1))
		return ktread_fail(KTREAD_E_ARGUMENT, "invalid options: wrong size or unknown format");
	opened = calloc(1, sizeof(*opened));
	if (!opened)
		return ktread_fail_memory();
	if (options)
		opened->options = *options;
	status = ktread_proc_input_open(&opened->input, path, opened->options.follow);
	if (status == 0)
		status = begin(opened);
	if (status < 0) {
		ktread_proc_close(opened);
		return status;
	}
	*trace = opened;
	return 0;
}

void ktread_proc_close(struct ktread_proc *trace)
{
	if (!trace)
		return;
	ktread_proc_input_close(&trace->input);
	processes_free(&trace->processes);
	free(trace->table);
	free(trace);
}

static int count_record(struct ktread_proc *trace, const struct ktread_proc_record **record)
{
	trace->info.records++;
	trace->info.lost += trace->record.lost;
	if (trace->record.type >= KTREAD_PROC_BROKEN) {
		trace->info.unknown += trace->record.type == KTREAD_PROC_UNKNOWN;
		trace->info.broken += trace->record.type == KTREAD_PROC_BROKEN;
	}
	*record = &trace->record;
	return 1;
}

/*
 * Called if no record was found. `status` is an error, or 0 if the input has ended; an input that is followed
 * may grow later.
 */
static int handle_end(struct ktread_proc *trace, int status)
{
	if (status == 0 && trace->input.failed)
		status = input_error(trace);
	if (status == 0)
		trace->info.over = !ktread_proc_may_grow(&trace->input);
	return status < 0 ? keep_message(trace, status) : 0;
}

int ktread_proc_next(struct ktread_proc *trace, const struct ktread_proc_record **record)
{
	int status = 1;

	ktread_proc_skip(&trace->input, trace->used);
	trace->used = 0;
	if (trace->ended) {
		trace->info.over = 1;
		return 0;
	}
	if (!trace->reader) {
		status = settle(trace);
		trace->ended = status < 0;
	}
	if (status == 1)
		status = trace->reader->next(trace, trace->reader);
	return status == 1 ? count_record(trace, record) : handle_end(trace, status);
}

int ktread_proc_rewind(struct ktread_proc *trace)
{
	int status = ktread_proc_input_rewind(&trace->input);

	if (status == 0)
		status = begin(trace);
	return status < 0 ? keep_message(trace, status) : 0;
}

const struct ktread_proc_info *ktread_proc_info(const struct ktread_proc *trace)
{
	return &trace->info;
}

const char *ktread_proc_table(const struct ktread_proc *trace)
{
	return trace->table_size ? trace->table : "";
}

const char *ktread_proc_message(const struct ktread_proc *trace)
{
	return trace && trace->message[0] ? trace->message : ktread_fail_text();
}
