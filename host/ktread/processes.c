/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "versions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktread/proc.h"
#include "ktrx/v2.h"
#include "message.h"
#include "trace.h"

/*
 * number of records that are sorted together; sorting is needed because a kernel may write a queued record
 * after later records
 */
#define BATCH		   128u
#define NAMES		   (1u << 14)
#define NAME_TRIES	   64u
#define ABIS		   1024u
#define PROCESS_TYPES_MOST 32u

struct item {
	uint64_t stamp;
	uint32_t event; /* index of the item's event in processes->event[] */
	uint32_t padding[5];
};
_Static_assert(sizeof(struct item) == KTREAD_ITEM_SIZE, "the merge needs items of this size");

struct processes {
	struct ktread_proc *records;
	uint32_t first_id; /* id of this source's first event type in the trace's table of event types */
	bool beside;
	bool borrowed; /* true if the caller owns `records`, reads it, and passes each record on */
	struct {
		uint32_t tid, abi;
		/*
		 * the ABI of each thread's last call; the thread's number determines the index, and a call of
		 * another thread with the same index replaces the entry
		 */
	} last_call[ABIS];
	uint64_t lost; /* number of records lost since the last event */
	struct item item[BATCH];
	struct ktread_processes_event event[BATCH];
};

bool ktread_processes_is(struct ktread_memory *memory)
{
	char magic[4];

	return ktread_memory_run(memory, 0) >= sizeof(magic) &&
	       ktread_memory_read(memory, 0, magic, sizeof(magic)) == 0 &&
	       memcmp(magic, KTRX_PROC_MAGIC, sizeof(magic)) == 0;
}

/* ---- Reading the records as a ring -------------------------------------------------------------- */

/*
 * Sorts items by timestamp. Items with equal timestamps keep their order. The items are nearly always in
 * order before the sort.
 */
static void sort(struct item *item, uint32_t count)
{
	for (uint32_t n = 1; n < count; n++) {
		const struct item moved = item[n];
		uint32_t at = n;

		for (; at > 0 && item[at - 1].stamp > moved.stamp; at--)
			item[at] = item[at - 1];
		item[at] = moved;
	}
}

/*
 * Reads the next record. Warns about damage, counts it as one lost record, and continues after it if
 * possible. Returns 1 with a record, 0 at the end, or an error.
 */
static int next_record(struct ktread *trace, struct processes *processes,
		       const struct ktread_proc_record **record)
{
	int status = ktread_proc_next(processes->records, record);

	while (status == KTREAD_E_FORMAT) {
		ktread_warn(trace, "%s", ktread_proc_message(processes->records));
		processes->lost++;
		status = ktread_proc_next(processes->records, record);
	}
	return status < 0 ? ktread_fail(status, "%s", ktread_proc_message(processes->records)) : status;
}

/*
 * Returns the ABI of a thread's last call. Returns 0 if it is the kernel's own ABI, or if the format is not
 * KTRX.
 */
static uint32_t abi_of(struct processes *processes, const struct ktread_proc_record *record)
{
	const unsigned n = record->tid % ABIS;

	if (ktread_proc_info(processes->records)->format != KTREAD_PROC_KTRX)
		return 0;
	if (record->type == KTRX_PROC_SYSCALL) {
		processes->last_call[n].tid = record->tid;
		processes->last_call[n].abi = record->syscall.abi;
	}
	return processes->last_call[n].tid == record->tid ? processes->last_call[n].abi : 0;
}

static int refill(struct ktread *trace, struct ktread_cursor *cursor)
{
	struct processes *processes = cursor->state;
	const struct ktread_proc_record *record;
	uint32_t count = 0;
	int status = 1;

	while (count < BATCH && (status = next_record(trace, processes, &record)) > 0) {
		struct ktread_processes_event *event = &processes->event[count];

		processes->lost += record->lost;
		if (!ktread_processes_make(event, record, abi_of(processes, record),
					   processes->beside ? &trace->syscalls : NULL))
			continue;
		event->lost = processes->lost;
		cursor->ring.invalid += processes->lost;
		processes->lost = 0;
		processes->item[count] = (struct item){
			.stamp = ktread_corrected(trace, record->cpu, record->stamp),
			.event = count,
		};
		count++;
	}
	if (count == 0) {
		cursor->ring.cut = processes->lost;
		cursor->ring.invalid += processes->lost;
		processes->lost = 0;
		cursor->ring.decoded = cursor->ring.records;
		cursor->ring.head = cursor->ring.slots = cursor->ring.decoded + cursor->ring.invalid;
		return status;
	}
	sort(processes->item, count);
	cursor->item = (const unsigned char *)processes->item;
	cursor->end = cursor->item + count * sizeof(struct item);
	return 1;
}

static bool decode(struct ktread *trace, struct ktread_cursor *cursor)
{
	struct processes *processes = cursor->state;
	const struct item *item = (const struct item *)cursor->item;
	const struct ktread_processes_event *made = &processes->event[item->event];
	struct ktread_event *event = &cursor->event;

	cursor->item += sizeof(*item);
	event->index = cursor->ring.records++;
	event->stamp = item->stamp;
	event->lost = made->lost;
	event->cpu = made->cpu;
	event->thread = made->thread;
	event->id = (uint16_t)(processes->first_id + made->type);
	event->type = ktread_types_get(&trace->types, event->id);
	event->payload = made->payload;
	event->payload_size = made->size;
	return ktread_wanted(&trace->selection, event);
}

static void rewind_records(struct ktread *trace, struct ktread_cursor *cursor)
{
	struct processes *processes = cursor->state;

	(void)trace;
	cursor->ring.cut = processes->lost = 0;
	ktread_proc_rewind(processes->records);
}

static void destroy(struct ktread_cursor *cursor)
{
	struct processes *processes = cursor->state;

	if (!processes)
		return;
	if (!processes->borrowed)
		ktread_proc_close(processes->records);
	free(processes);
}

static const struct ktread_version version = { refill, decode, NULL, rewind_records, NULL, destroy };

/* ---- Opening the file -------------------------------------------------------------------------- */

/*
 * Stores a thread's newest name in a hash table, whose rows have the form of the rows of the THREADS section.
 */
static void store_name(struct ktrx_thread *row, uint32_t thread, const char *name)
{
	uint32_t at = thread * UINT32_C(2654435761) % NAMES;

	for (uint32_t tries = 0; tries < NAME_TRIES; tries++, at = (at + 1) % NAMES) {
		if (row[at].id != 0 && row[at].id != thread + 1)
			continue;
		row[at].id = thread + 1;
		snprintf(row[at].name, sizeof(row[at].name), "%.*s", (int)sizeof(row[at].name) - 1, name);
		return;
	}
}

/* Reads the whole trace once to find the names of threads and the number of CPUs. */
static int survey(struct ktread *trace, struct processes *processes, uint32_t *cpus)
{
	struct ktrx_thread *row = calloc(NAMES, sizeof(*row));
	const struct ktread_proc_record *record;
	int status;

	if (!row)
		return ktread_fail_memory();
	while ((status = next_record(trace, processes, &record)) > 0) {
		if (record->name[0])
			store_name(row, ktread_processes_thread(record), record->name);
		if (record->cpu < KTRX_MAX_RINGS && record->cpu >= *cpus)
			*cpus = record->cpu + 1;
	}
	if (status == 0)
		status = ktread_proc_rewind(processes->records);
	if (status < 0 || trace->threads.row) {
		free(row);
		return status;
	}
	return ktread_names_load_threads(&trace->threads, (char *)row, NAMES * sizeof(*row), sizeof(*row));
}

/* Loads the trace's own table of system calls, unless it has been loaded already. */
static int load_calls(struct ktread *trace, const struct processes *processes)
{
	char *table;

	if (trace->syscalls.row)
		return 0;
	table = strdup(ktread_proc_table(processes->records));
	return table ? ktread_names_load_calls(&trace->syscalls, &trace->errors, table, strlen(table))
		     : ktread_fail_memory();
}

static int load_types(struct ktread *trace, struct processes *processes)
{
	struct ktread_type type[PROCESS_TYPES_MOST];
	const uint32_t count = ktread_processes_types;

	for (uint32_t n = 0; n < count && n < PROCESS_TYPES_MOST; n++)
		type[n] = *ktread_processes_type(n, processes->beside);
	return ktread_beside_types(trace, type, count, &processes->first_id);
}

static int open_ring(struct ktread *trace, struct ktread_cursor *cursor, const char *path, bool beside)
{
	const struct ktread_proc_options options = { .size = sizeof(options) };
	struct processes *processes = calloc(1, sizeof(*processes));
	uint32_t cpus = 0;
	int status;

	if (!processes)
		return ktread_fail_memory();
	cursor->state = processes;
	cursor->version = &version;
	cursor->ring.cpu = KTRX_NO_CPU;
	cursor->ring.kind = KTREAD_RING_PROCESSES;
	processes->beside = beside;
	status = ktread_proc_open(&processes->records, path, &options);
	if (status < 0)
		return status; /* ktread_proc_open() has set the error message */
	status = survey(trace, processes, &cpus);
	if (status == 0)
		status = load_types(trace, processes);
	if (status == 0)
		status = load_calls(trace, processes);
	if (cpus > trace->info.cpus)
		trace->info.cpus = cpus;
	return status;
}

static const struct ktread_proc_info *info_of(const struct ktread_cursor *cursor)
{
	const struct processes *processes = cursor->state;

	return ktread_proc_info(processes->records);
}

/*
 * Returns the name of the kernel whose system calls are in the trace. Returns "" if the trace itself contains
 * the names of the calls.
 */
static const char *kernel_of(const struct processes *processes)
{
	if (*ktread_proc_table(processes->records))
		return "";
	switch (ktread_proc_info(processes->records)->format) {
	case KTREAD_PROC_DRAGONFLY:
		return "dragonfly";
	case KTREAD_PROC_KTRX:
		return "linux"; /* a file of `ktrace record`, which runs on Linux */
	default:
		return "freebsd";
	}
}

/* Sets what is known about the trace from the file's head, except its frequency. */
static void describe(struct ktread *trace, const struct ktread_proc_info *info)
{
	trace->info.form = KTREAD_FORM_PROCESSES;
	trace->info.version = KTRX2_VERSION;
	trace->info.dumps = 1;
	trace->info.nonce = info->nonce;
	trace->info.wall_stamp = info->wall_stamp;
	trace->info.wall_ns = info->wall_ns;
	trace->info.kernel = kernel_of(trace->cursor[0].state);
	/*
	 * Set the machine only for our own format. If a trace has no names of system calls, its machine
	 * decides which names of Linux's calls are used. For the calls of the BSDs, these names would be
	 * wrong.
	 */
	trace->info.machine = info->format == KTREAD_PROC_KTRX ? info->machine : 0;
}

int ktread_processes_open(struct ktread *trace, const char *path)
{
	const struct ktread_proc_info *info;
	int status = ktread_cursors_create(trace, 1);

	trace->version = &version;
	if (status == 0)
		status = open_ring(trace, &trace->cursor[0], path, false);
	if (status < 0)
		return status;
	info = info_of(&trace->cursor[0]);
	describe(trace, info);
	trace->info.frequency = ktread_settle_frequency(trace, info->frequency ? info->frequency
									       : info->impossible_frequency);
	return 0;
}

/*
 * Checks that two traces are of the same boot. Only traces of one boot have the same clock and can be shown
 * in one timeline.
 */
static int check_pair(const struct ktread *trace, const struct ktread_proc_info *info, const char *path)
{
	if (info->nonce != 0 && trace->info.nonce != 0 && info->nonce != trace->info.nonce)
		return ktread_fail(KTREAD_E_UNSUPPORTED, "%s: is of another boot than the trace", path);
	if (info->nonce == 0 || trace->info.nonce == 0)
		return ktread_fail(KTREAD_E_UNSUPPORTED,
				   "%s: this file or the trace contains no boot number: "
				   "they may be from different boots",
				   path);
	return 0;
}

int ktread_beside(struct ktread *trace, const char *path)
{
	struct ktread_cursor *cursor;
	int status;

	if (trace->info.version != KTRX2_VERSION || trace->info.form == KTREAD_FORM_PROCESSES)
		return ktread_keep_message(trace, ktread_fail(KTREAD_E_UNSUPPORTED,
							      "%s: can only be added to a trace of version 2",
							      path));
	status = ktread_beside_cursor(trace);
	cursor = &trace->cursor[trace->cursors - 1];
	if (status == 0)
		status = open_ring(trace, cursor, path, true);
	if (status == 0)
		status = check_pair(trace, info_of(cursor), path);
	return status < 0 ? ktread_keep_message(trace, status) : ktread_rewind(trace);
}

/* ---- Events of records that the caller reads ------------------------------------------------------ */

/* Prepares a trace whose only cursor makes events of records that the caller reads. */
static int open_borrowed(struct ktread *trace, struct ktread_proc *records)
{
	struct processes *processes = calloc(1, sizeof(*processes));
	int status;

	trace->version = &version;
	trace->threads.row = calloc(1, sizeof(*trace->threads.row));
	trace->threads.text = calloc(1, sizeof(((struct ktread_proc_record *)0)->name));
	status = processes && trace->threads.row && trace->threads.text ? ktread_cursors_create(trace, 1)
									: ktread_fail_memory();
	if (status < 0) {
		free(processes);
		return status;
	}
	trace->cursor[0].state = processes;
	processes->records = records;
	processes->borrowed = true;
	describe(trace, ktread_proc_info(records));
	trace->info.frequency = ktread_proc_info(records)->frequency;
	status = load_types(trace, processes);
	for (uint32_t n = 0; n < KTREAD_PROCESSES_CALLS && status == 0; n++) {
		trace->types.row[processes->first_id + n] = ktread_processes_called[n];
		trace->types.row[processes->first_id + n].id = (uint16_t)(processes->first_id + n);
	}
	return status < 0 ? status : load_calls(trace, processes);
}

int ktread_proc_events(struct ktread **trace, struct ktread_proc *records, uint64_t first)
{
	struct ktread *opened = calloc(1, sizeof(*opened));
	int status = opened ? 0 : ktread_fail_memory();

	*trace = NULL;
	if (opened) {
		opened->info.kernel = opened->info.note = opened->info.registers = "";
		opened->first_stamp = first;
		status = open_borrowed(opened, records);
	}
	if (status < 0)
		ktread_close(opened);
	else
		*trace = opened;
	return status;
}

int ktread_proc_event(struct ktread *trace, const struct ktread_proc_record *record,
		      struct ktread_event *event)
{
	struct processes *processes = trace->cursor[0].state;
	struct ktread_processes_event *made = &processes->event[0];

	if (!ktread_processes_make(made, record, abi_of(processes, record), NULL))
		return 0;
	if (made->type < KTREAD_PROCESSES_CALLS)
		ktread_processes_add_call(made, &trace->syscalls);
	memcpy(trace->threads.text, record->name, sizeof(record->name));
	trace->threads.row[0] = (struct ktread_name){ made->thread, trace->threads.text, NULL };
	trace->threads.rows = record->name[0] != '\0';
	*event = (struct ktread_event){ .stamp = record->stamp,
					.cpu = made->cpu,
					.thread = made->thread,
					.id = (uint16_t)(processes->first_id + made->type),
					.payload = made->payload,
					.payload_size = made->size };
	event->type = ktread_types_get(&trace->types, event->id);
	return 1;
}
