/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <recording.h>

#include <program.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PIECE 32768u /* maximum number of trace bytes in a record */
#define ROUND 8u

/* ---- Opening a recording ----------------------------------------------------------------------- */

/* Opens and maps the file of a trace unit. `number` is the number of a CPU, or the index of a thread. */
static int open_unit(struct recording *recording, uint32_t number, uint32_t tid)
{
	struct recording_unit *unit = &recording->unit[recording->units];
	bool by_cpu = recording->mode == KTRX_HWT_MODE_CPU;
	int64_t mapped = 0;
	char path[32];

	if (recording->units == RECORDING_UNITS_MAX)
		return -EMFILE;
	format(path, sizeof(path), HWT_PATH "_%u_%u", recording->ident, by_cpu ? number : recording->pid);
	*unit = (struct recording_unit){ .fd = open(path, O_RDWR | O_CLOEXEC, 0),
					 .number = number,
					 .tid = tid };
	if (unit->fd < 0)
		return unit->fd;
	if (!by_cpu)
		mapped = ioctl(unit->fd, HWT_IOC_UNIT, &number);
	if (mapped == 0)
		mapped = mmap(NULL, recording->buffer_size, PROT_READ, MAP_SHARED, unit->fd, 0);
	if (mapped < 0) {
		close(unit->fd);
		return (int)mapped;
	}
	unit->bytes = (const unsigned char *)(uintptr_t)mapped;
	recording->units++;
	return 0;
}

/*
 * Opens the trace unit of a new thread. For the first thread (index 0) only stores the thread's id, because
 * its unit is already open.
 */
static void add_thread(struct recording *recording, const struct ktrx_proc_record *record,
		       const struct ktrx_hwt_thread *thread)
{
	int error = 0;

	if (recording->mode == KTRX_HWT_MODE_CPU || record->size < sizeof(*thread))
		return;
	if (thread->index == 0)
		recording->unit[0].tid = record->tid;
	else
		error = thread->index == KTRX_HWT_NO_UNIT ? -ENOMEM
							  : open_unit(recording, thread->index, record->tid);
	if (error)
		recording->unit_error = error;
}

static int open_units(struct recording *recording, const struct abi_hwt_alloc *wanted)
{
	int error = 0;

	if (wanted->mode == KTRX_HWT_MODE_THREAD)
		return open_unit(recording, 0, wanted->pid);
	for (uint32_t cpu = 0; cpu < RECORDING_UNITS_MAX && !error; cpu++)
		if (wanted->cpus >> cpu & 1)
			error = open_unit(recording, cpu, 0);
	return error;
}

int recording_open(struct recording *recording, const struct abi_hwt_alloc *wanted)
{
	struct abi_hwt_alloc made = *wanted;
	int error;

	recording->file = -1;
	recording->mode = wanted->mode;
	recording->pid = wanted->pid;
	recording->buffer_size = wanted->buffer_size;
	recording->device = open(HWT_PATH, O_RDWR | O_CLOEXEC, 0);
	if (recording->device < 0)
		return recording->device;
	error = ioctl(recording->device, HWT_IOC_ALLOC, &made);
	recording->ident = made.ident;
	if (!error)
		error = open_units(recording, wanted);
	if (error)
		recording_close(recording);
	return error;
}

void recording_close(struct recording *recording)
{
	while (recording->units > 0) {
		struct recording_unit *unit = &recording->unit[--recording->units];

		munmap((void *)(uintptr_t)unit->bytes, recording->buffer_size);
		close(unit->fd);
	}
	close(recording->device);
}

int recording_request(struct recording *recording, unsigned request, void *argument)
{
	return ioctl(recording->unit[0].fd, (int)request, argument);
}

/* ---- Trace data -------------------------------------------------------------------------------- */

static void append(struct recording *recording, const void *bytes, size_t size)
{
	int64_t n = recording->error || recording->file < 0 ? (int64_t)size
							    : write_all(recording->file, bytes, size);

	if (n != (int64_t)size)
		recording->error = n < 0 ? (int)n : -ENOSPC;
}

/* Copies trace bytes from the unit's ring buffer, from a position on, to `to`. */
static void copy_ring(const struct recording *recording, const struct recording_unit *unit, uint64_t position,
		      unsigned char *to, size_t size)
{
	uint64_t at = position % recording->buffer_size, first = recording->buffer_size - at;

	if (first > size)
		first = size;
	memcpy(to, unit->bytes + at, first);
	memcpy(to + first, unit->bytes, size - first);
}

struct data {
	struct ktrx_proc_record record;
	struct ktrx_hwt_data data;
	unsigned char bytes[PIECE + ROUND];
};

static void append_piece(struct recording *recording, const struct recording_unit *unit, struct data *data,
			 size_t size, bool is_torn)
{
	size_t payload = sizeof(data->data) + size, whole = (payload + ROUND - 1) / ROUND * ROUND;

	data->record = (struct ktrx_proc_record){
		.size = (uint32_t)payload,
		.type = KTRX_HWT_DATA,
		.flags = is_torn ? KTRX_HWT_FLAG_TORN : 0,
		.stamp = recording->stamp,
		.pid = recording->pid,
		.tid = unit->tid,
		.cpu = KTRX_PROC_NO_CPU,
		.mark = KTRX_PROC_MARK,
	};
	if (recording->mode == KTRX_HWT_MODE_CPU)
		data->record.cpu = (uint16_t)unit->number;
	data->data = (struct ktrx_hwt_data){ recording->ident, unit->number, unit->taken };
	memset(data->bytes + size, 0, ROUND);
	append(recording, data, sizeof(data->record) + whole);
}

/* Skips trace bytes that were overwritten before they were copied. Returns their number. */
static uint64_t skip_lost(struct recording *recording, struct recording_unit *unit)
{
	uint64_t first = unit->place.position > recording->buffer_size
				 ? unit->place.position - recording->buffer_size
				 : 0;
	uint64_t lost = first > unit->taken ? first - unit->taken : 0;

	unit->missed += lost;
	unit->taken += lost;
	return lost;
}

/*
 * Copies the unit's trace to the file, up to unit->place.position. Leaves out bytes that have been
 * overwritten.
 */
static int take_trace(struct recording *recording, struct recording_unit *unit)
{
	static struct data data;
	uint64_t end = unit->place.position;
	bool is_torn = false;
	int error = 0;

	while (!error && unit->taken < end) {
		uint64_t left;
		size_t size;

		is_torn |= skip_lost(recording, unit) > 0;
		left = end > unit->taken ? end - unit->taken : 0;
		size = left < PIECE ? (size_t)left : PIECE;
		copy_ring(recording, unit, unit->taken, data.bytes, size);
		error = ioctl(unit->fd, HWT_IOC_BUFPTR_GET, &unit->place);
		if (error || skip_lost(recording, unit) > 0) {
			is_torn = true;
			continue;
		}
		append_piece(recording, unit, &data, size, is_torn);
		is_torn = false;
		unit->taken += size;
		error = ioctl(unit->fd, HWT_IOC_SVC_BUF, &unit->taken);
	}
	return error;
}

/* ---- Records of the kernel --------------------------------------------------------------------- */

/*
 * Handles the records in the first `size` bytes of recording->bytes. A file head may be between two records.
 */
static void look_at(struct recording *recording, size_t size, recording_seen *seen, void *context)
{
	size_t at = 0;

	while (size - at >= sizeof(struct ktrx_proc_record)) {
		const struct ktrx_proc_record *record = (const void *)(recording->bytes + at);

		if (memcmp(record, KTRX_PROC_MAGIC, 4) == 0) {
			at += sizeof(struct ktrx_proc_head);
			continue;
		}
		recording->records++;
		recording->lost += record->lost;
		recording->stamp = record->stamp;
		if (record->type == KTRX_HWT_THREAD_CREATE)
			add_thread(recording, record, (const void *)(record + 1));
		seen(context, record, record + 1);
		at += sizeof(*record) + (record->size + ROUND - 1) / ROUND * ROUND;
	}
	if (size > 0)
		seen(context, NULL, NULL);
}

/*
 * Takes records from the kernel's queue, and writes and handles them. Returns the number of bytes, or -errno;
 * -ESRCH: there will be no more records.
 */
static int take_records(struct recording *recording, unsigned timeout_ms, recording_seen *seen, void *context)
{
	struct abi_hwt_records wanted = {
		.buffer = (uintptr_t)recording->bytes,
		.size = sizeof(recording->bytes),
		.most = 1024,
		.timeout_ms = timeout_ms,
	};
	int error = recording_request(recording, HWT_IOC_RECORD_GET, &wanted);

	if (error)
		return error;
	append(recording, recording->bytes, wanted.bytes);
	look_at(recording, wanted.bytes, seen, context);
	return (int)wanted.bytes;
}

static int look_at_units(struct recording *recording)
{
	int error = 0;

	for (unsigned i = 0; i < recording->units && !error; i++)
		error = ioctl(recording->unit[i].fd, HWT_IOC_BUFPTR_GET, &recording->unit[i].place);
	return error;
}

static int take_traces(struct recording *recording)
{
	int error = 0;

	for (unsigned i = 0; i < recording->units && !error; i++)
		error = take_trace(recording, &recording->unit[i]);
	return error;
}

/*
 * Writes to the file the trace data that exists at the time of the call. First writes all records in the
 * queue, because they are needed to decode this data.
 */
static int take_what_is_there(struct recording *recording, recording_seen *seen, void *context)
{
	int result = 1, trace = look_at_units(recording);

	while (result > 0)
		result = take_records(recording, 0, seen, context);
	if (!trace)
		trace = take_traces(recording);
	return trace ? trace : result;
}

int recording_stop(struct recording *recording)
{
	int error = recording_request(recording, HWT_IOC_STOP, NULL);

	if (!error)
		error = look_at_units(recording);
	return error ? error : take_traces(recording);
}

int recording_take(struct recording *recording, unsigned timeout_ms, recording_seen *seen, void *context)
{
	int first = take_records(recording, timeout_ms, seen, context);
	int error = take_what_is_there(recording, seen, context);

	if (error != -ESRCH)
		return error ? error : first < 0 ? first : 0;
	/*
	 * The target has ended, perhaps after its units' positions were read: they must be read again.
	 */
	recording->is_over = true;
	error = look_at_units(recording);
	return error ? error : take_traces(recording);
}
