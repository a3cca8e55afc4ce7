/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Process traces: opens them, reads records, and contains the code that is the same for all formats. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "ktrx/v2.h"
#include "proc_state.h"

/* ---- The format of a trace ---- */

/*
 * Detects the format of a process trace. Our own format has a magic. The files of the BSDs have no magic, and
 * two of their formats have heads of the same size. So the reader tries each format, and chooses the format
 * in which the most consecutive records are plausible. In a wrong format, one record may be plausible by
 * chance, but the records after it are not.
 */

#define HEAD_LONGEST	64
#define LEAST_BYTES	(sizeof(struct ktrx_proc_head) + KTREAD_PROC_MARKED_LEAST)
#define TRIED_BYTES	65536u
#define TRIED_RECORDS	64u
#define PAYLOAD_LIKELY	(INT32_C(1) << 28)
#define SECONDS_LIKELY	(INT64_C(1) << 34)
#define SECONDS_BETWEEN 86400

/*
 * NetBSD's head (struct ktr_header in its sys/ktrace.h, revision 1.62): the type is at offset 4, the version
 * at 6, and the name at 12. In versions 1 and 2, the 32 bits at 40 are nanoseconds or a thread number.
 */
#define NETBSD_VERSION	   6u
#define NETBSD_VERSIONS	   2u /* versions 1 and 2 are recognized; version 0 looks like FreeBSD's */
#define NETBSD_NAME	   12u
#define NETBSD_NAME_SIZE   17u
#define NETBSD_NANOSECONDS 40u

/*
 * Points for a plausible record. A record gets one more point for a known type, one for a right size, and one
 * for a plausible time. A record that ends where the file ends gets POINTS_END.
 */
#define POINTS_NAME    2
#define POINTS_NO_NAME 1
#define POINTS_LIKELY  4
#define POINTS_END     2

/*
 * Returns the points for the name field of a head. A name that ends in a NUL gets the most points. An empty
 * field (a process without a name) and a name without a NUL are possible, but less likely. A name with
 * control characters gets 0.
 */
static int points_of_name(const uint8_t *name, uint32_t size)
{
	uint32_t length = (uint32_t)strnlen((const char *)name, size);

	for (uint32_t i = 0; i < length; i++)
		if (name[i] < 0x20 || name[i] == 0x7f)
			return 0;
	for (uint32_t i = length; length == 0 && i < size; i++)
		if (name[i] != 0)
			return 0;
	return length > 0 && length < size ? POINTS_NAME : POINTS_NO_NAME;
}

/*
 * Returns the points of a head, which show how plausible the head is. `left` is the number of bytes after the
 * head. `before` is the time of the previous head in seconds, or negative if there is no previous head.
 */
static int points_of(const struct ktread_proc_layout *layout, const uint8_t *bytes,
		     const struct ktread_proc_bsd_head *head, size_t left, int64_t before)
{
	const uint64_t parts = layout->nanoseconds ? 1000000000 : 1000000;
	int points = 0;

	if (head->size < 0 || head->size > PAYLOAD_LIKELY || head->part >= parts || head->seconds < 0 ||
	    head->seconds > SECONDS_LIKELY || head->pid > INT32_MAX)
		return 0;
	if (layout->cpu && (ktread_bsd_16(bytes + 6) != 1 || head->cpu > UINT16_MAX))
		return 0;
	if (layout->flags && ktread_bsd_16(bytes + layout->flags) & 0xfe)
		return 0;
	if (head->type < 32 && layout->types >> head->type & 1)
		points += 1 + ktread_proc_bsd_fits(layout, head, bytes + layout->head, left);
	points += points_of_name(bytes + layout->comm, layout->comm_size);
	points += before < 0 ||
		  (head->seconds >= before - SECONDS_BETWEEN && head->seconds <= before + SECONDS_BETWEEN);
	return points;
}

/*
 * Returns the sum of the points of all records if the file is read in this format. Returns 0 if the file
 * cannot have this format, or there are too few bytes.
 */
static int points_by(struct ktread_proc *trace, const struct ktread_proc_reader *reader)
{
	const uint8_t *bytes = ktread_proc_bytes(&trace->input), *end = bytes;
	bool versioned = !reader->versioned, enough;
	int64_t before = -1;
	int sum = 0;

	end += ktread_proc_at_hand(&trace->input);
	enough = end - bytes >= HEAD_LONGEST;
	for (uint32_t n = 0; n < TRIED_RECORDS && end - bytes >= reader->layout->head; n++) {
		const struct ktread_proc_layout *layout = ktread_proc_bsd_layout(reader, bytes);
		struct ktread_proc_bsd_head head;
		ptrdiff_t left = end - bytes - layout->head;
		int points;

		if (left < 0)
			break;
		ktread_proc_bsd_take_head(layout, bytes, &head);
		points = points_of(layout, bytes, &head, (size_t)left, before);
		if (points < POINTS_LIKELY)
			break;
		versioned |= layout == reader->versioned;
		before = head.seconds;
		sum += points + (left == head.size ? POINTS_END : 0);
		enough |= left == head.size;
		if (left <= head.size)
			break;
		bytes += layout->head + head.size;
	}
	return versioned && enough ? sum : 0;
}

static int undecided(struct ktread_proc *trace, const char *names)
{
	return ktread_fail(
		KTREAD_E_FORMAT,
		"%s: its first records fit more than one format (%s): choose one with kdump --format",
		trace->input.name, names);
}

/*
 * Chooses the format with the most points. Returns 1 if one format has more points than all others. Returns 0
 * if no format has points. If several formats have the most points, returns 0 if `more` is set, otherwise an
 * error, because no more bytes will come.
 */
static int choose(struct ktread_proc *trace, const struct ktread_proc_reader **reader, bool more)
{
	char names[128] = "";
	int most = 0;

	for (const struct ktread_proc_reader *tried = ktread_proc_bsd; tried->format; tried++) {
		int points = points_by(trace, tried);
		size_t used = strlen(names);

		if (points == 0 || points < most)
			continue;
		if (points > most)
			used = 0;
		snprintf(names + used, sizeof(names) - used, "%s%s", used ? " or " : "", tried->name);
		*reader = points > most ? tried : NULL;
		most = points;
	}
	if (most && !*reader && !more)
		return undecided(trace, names);
	return *reader != NULL;
}

static bool is_ktrx(const uint8_t *bytes, size_t left)
{
	const size_t record = sizeof(struct ktrx_proc_head);

	if (left >= 4 && ktread_proc_ktrx_is_magic(bytes))
		return true;
	/* the session's head may be damaged, but the first record after it may still show the format */
	return left >= record + KTREAD_PROC_MARKED_LEAST && ktread_proc_ktrx_is_record(bytes + record);
}

static bool is_rings(const uint8_t *bytes, size_t left)
{
	return left >= 4 && memcmp(bytes, KTRX_MAGIC, 4) == 0;
}

/* Returns whether `left` bytes are records of NetBSD with a head of `size` bytes. */
static bool is_netbsd_with(const uint8_t *bytes, size_t left, size_t size)
{
	unsigned records = 0;

	for (; records < TRIED_RECORDS && left >= size; records++) {
		const uint32_t payload = ktread_bsd_32(bytes);
		const uint16_t version = ktread_bsd_16(bytes + NETBSD_VERSION);

		if (version == 0 || version > NETBSD_VERSIONS || payload > PAYLOAD_LIKELY ||
		    ktread_bsd_16(bytes + 4) >= 32 ||
		    points_of_name(bytes + NETBSD_NAME, NETBSD_NAME_SIZE) == 0 ||
		    ktread_bsd_32(bytes + NETBSD_NANOSECONDS) >= 1000000000)
			return false;
		if (payload >= left - size)
			return true;
		bytes += size + payload;
		left -= size + payload;
	}
	return records > 0;
}

/*
 * Returns whether the records are NetBSD's. Some of its heads have the size of a head of FreeBSD, and pass
 * for it, with wrong times and arguments. FreeBSD has padding in place of the version. DragonFly has flags
 * there, which may look like a version. Requires: the trace is not DragonFly's.
 */
static bool is_netbsd(const uint8_t *bytes, size_t left)
{
	static const uint8_t sizes[] = { 56, 48, 44 }; /* 64-bit; 32-bit, version 2; 32-bit, version 1 */

	for (size_t n = 0; n < sizeof(sizes); n++)
		if (is_netbsd_with(bytes, left, sizes[n]))
			return true;
	return false;
}

/*
 * Chooses a format of the BSDs. Returns 1 on success, 0 if there are too few bytes to decide, or an error. If
 * `more` is set, more bytes may come.
 */
static int choose_bsd(struct ktread_proc *trace, const struct ktread_proc_reader **reader, bool more)
{
	const int status = choose(trace, reader, more);
	const struct ktread_proc_reader *found = status == 1 ? *reader : NULL;

	if ((!found || found->layout->comm == NETBSD_NAME) &&
	    is_netbsd(ktread_proc_bytes(&trace->input), ktread_proc_at_hand(&trace->input)))
		return ktread_fail(KTREAD_E_UNSUPPORTED,
				   "%s: a process trace of NetBSD, which cannot be read: use NetBSD's kdump; "
				   "if it is another system's trace, choose its format with kdump --format",
				   trace->input.name);
	return status;
}

/*
 * Finds the format of the trace from the buffered bytes. Returns 1 on success, 0 if there are too few bytes
 * to decide, now or ever, or an error.
 */
static int ktread_proc_detect(struct ktread_proc *trace, const struct ktread_proc_reader **reader)
{
	struct ktread_proc_input *input = &trace->input;
	const size_t before = ktread_proc_at_hand(input);
	bool more;
	int status;

	*reader = NULL;
	/*
	 * From a pipe, wait only for as many bytes as are needed to recognize a magic. From an input that is
	 * followed, read only the bytes that have been written so far.
	 */
	ktread_proc_want(input, before < LEAST_BYTES ? LEAST_BYTES : before + 1);
	if (is_ktrx(ktread_proc_bytes(input), ktread_proc_at_hand(input))) {
		*reader = &ktread_proc_ktrx;
		return 1;
	}
	if (!input->follow)
		ktread_proc_want(input, TRIED_BYTES);
	more = ktread_proc_may_grow(input) && ktread_proc_at_hand(input) < TRIED_BYTES;
	if (ktread_proc_at_hand(input) < (more ? HEAD_LONGEST : 1))
		return 0;
	if (is_rings(ktread_proc_bytes(input), ktread_proc_at_hand(input)))
		return ktread_fail(
			KTREAD_E_FORMAT,
			"%s: a trace of a kernel's events, not a process trace or a hardware trace",
			input->name);
	status = choose_bsd(trace, reader, more);
	if (status != 0 || more)
		return status;
	return ktread_fail(KTREAD_E_FORMAT,
			   "%s: not a process trace: its first %zu bytes fit no known format", input->name,
			   ktread_proc_at_hand(input));
}

/* ---- Traces and records ---- */

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
