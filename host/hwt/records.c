/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads records of hardware trace from a process trace. An ident (number of a context) belongs to one context
 * until another context gets it, for example in a file to which several sessions were appended. Records that
 * are not damaged are read even if others are damaged.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "file.h"
#include "ktread/proc.h"
#include "pt.h"

#define CONTEXTS_MOST 4096u
#define PATH_MOST     4096u

struct context {
	/*
	 * number of contexts that were read before this one; it distinguishes contexts that have the same
	 * ident
	 */
	uint32_t session;
	struct ktrx_hwt_context context;
	struct ktrx_hwt_pt pt;
	struct ktrx_hwt_etm4 etm4;
};

/*
 * Contents of a THREAD record. A THREAD record may come before the record of its context, and stays valid if
 * the context is configured again.
 */
struct thread_record {
	uint32_t context, unit, pid, tid;
	char name[sizeof(((struct hwt_stream *)NULL)->name)];
};

/* maximum number of THREAD records that are stored; streams of other threads get no name */
#define THREADS_MOST 4096

struct reading {
	struct hwt_file *file;
	struct ktread_proc *trace;
	const struct ktread_proc_record *record;
	struct context *context;
	size_t contexts;
	uint32_t context_room;
	struct thread_record *thread;
	size_t threads;
	uint32_t thread_room;
	size_t last; /* index of the stream that was used last */
	uint64_t broken, without_context;
};

/* Copies the first `size` bytes of the payload. Returns false if the payload has fewer bytes. */
static bool take(struct reading *reading, void *to, size_t size)
{
	if (reading->record->payload_size < size) {
		reading->broken++;
		return false;
	}
	memcpy(to, reading->record->payload, size);
	return true;
}

static const struct context *find_context(struct reading *reading, uint32_t ident)
{
	for (size_t i = reading->contexts; i-- > 0;)
		if (reading->context[i].context.ident == ident)
			return &reading->context[i];
	reading->without_context++;
	return NULL;
}

/*
 * Returns true if the context was already recorded. Records are repeated for two reasons: the first may be
 * lost, and tracing may be restarted with the same configuration.
 */
static bool is_repeated(struct reading *reading, const struct context *context)
{
	for (size_t i = reading->contexts; i-- > 0;) {
		const struct context *other = &reading->context[i];

		if (other->context.ident == context->context.ident)
			return memcmp(&other->context, &context->context, sizeof(other->context)) == 0 &&
			       memcmp(&other->pt, &context->pt, sizeof(other->pt)) == 0 &&
			       memcmp(&other->etm4, &context->etm4, sizeof(other->etm4)) == 0;
	}
	return false;
}

static void check_cpu(struct hwt_file *file, const struct ktrx_hwt_pt *pt)
{
	const struct pt_cpu cpu = pt_newer_cpu(pt);
	struct pt_errata errata;

	if (cpu.vendor == pcv_intel && !pt_newer_errata(&errata, &cpu))
		hwt_file_warn(file,
			      "%s: CPU family %u model %#x: its errata are not known: "
			      "packets that are wrong because of an erratum are not corrected",
			      file->path, cpu.family, cpu.model);
}

static int take_context(struct reading *reading)
{
	const struct ktread_proc_record *record = reading->record;
	struct context context = { .session = (uint32_t)reading->contexts }, *grown;
	const size_t head = sizeof(context.context);

	if (!take(reading, &context.context, head))
		return 0;
	if (context.context.encoding == KTRX_HWT_ENCODING_PT &&
	    record->payload_size >= head + sizeof(context.pt))
		memcpy(&context.pt, record->payload + head, sizeof(context.pt));
	if (context.context.encoding == KTRX_HWT_ENCODING_ETM4 &&
	    record->payload_size >= head + KTRX_HWT_ETM4_LEAST)
		memcpy(&context.etm4, record->payload + head,
		       record->payload_size - head < sizeof(context.etm4) ? KTRX_HWT_ETM4_LEAST
									  : sizeof(context.etm4));
	if (context.context.ranges > sizeof(context.context.range) / sizeof(context.context.range[0])) {
		hwt_file_damage(reading->file, "%s: offset %" PRIu64 ": %" PRIu32 " ranges in a context",
				reading->file->path, record->offset, context.context.ranges);
		context.context.ranges = 0;
	}
	if (is_repeated(reading, &context))
		return 0;
	if (reading->contexts == CONTEXTS_MOST)
		return hwt_file_fail(reading->file, KTREAD_E_FORMAT, "%s: more than %u contexts",
				     reading->file->path, CONTEXTS_MOST);
	grown = base_grow(reading->context, &reading->context_room, reading->contexts + 1, sizeof(*grown));
	if (!grown)
		return hwt_file_no_memory(reading->file);
	reading->context = grown;
	reading->context[reading->contexts++] = context;
	if (context.context.encoding == KTRX_HWT_ENCODING_PT)
		check_cpu(reading->file, &context.pt);
	return 0;
}

static bool belongs_to(const struct hwt_unit_stream *stream, const struct context *context, uint32_t unit)
{
	return stream->session == context->session && stream->stream.unit == unit;
}

static struct thread_record *find_thread(const struct reading *reading, uint32_t context, uint32_t unit)
{
	for (size_t i = 0; i < reading->threads; i++)
		if (reading->thread[i].context == context && reading->thread[i].unit == unit)
			return &reading->thread[i];
	return NULL;
}

static void name_stream(struct hwt_stream *stream, const struct thread_record *thread)
{
	stream->pid = thread->pid;
	stream->tid = thread->tid;
	memcpy(stream->name, thread->name, sizeof(stream->name));
}

/* Returns the position after the last byte that this unit wrote for earlier contexts with the same ident. */
static uint64_t begin_of(const struct hwt_file *file, const struct context *context, uint32_t unit)
{
	uint64_t begins = 0;

	for (size_t i = 0; i < file->streams; i++) {
		const struct hwt_unit_stream *stream = &file->stream[i];
		const struct hwt_chunk *last = stream->chunks ? &stream->chunk[stream->chunks - 1] : NULL;

		if (last && stream->stream.context.ident == context->context.ident &&
		    stream->stream.unit == unit && last->position + last->size > begins)
			begins = last->position + last->size;
	}
	return begins;
}

/* Finds the stream of a unit, or adds it. Returns NULL after an error, whose message is in `file`. */
static struct hwt_unit_stream *find_stream(struct reading *reading, const struct context *context,
					   uint32_t unit)
{
	const struct thread_record *thread;
	struct hwt_file *file = reading->file;
	struct hwt_unit_stream *stream;
	uint64_t begins;

	if (reading->last < file->streams && belongs_to(&file->stream[reading->last], context, unit))
		return &file->stream[reading->last];
	for (size_t i = 0; i < file->streams; i++)
		if (belongs_to(&file->stream[i], context, unit)) {
			reading->last = i;
			return &file->stream[i];
		}
	begins = begin_of(file, context, unit);
	stream = hwt_file_add_stream(file);
	if (!stream)
		return NULL;
	reading->last = file->streams - 1;
	stream->stream.begins = begins;
	stream->session = context->session;
	stream->stream.context = context->context;
	stream->stream.pt = context->pt;
	stream->stream.etm4 = context->etm4;
	stream->stream.unit = unit;
	stream->stream.cpu = context->context.mode == KTRX_HWT_MODE_CPU ? unit : HWT_NO_CPU;
	stream->stream.pid = context->context.mode == KTRX_HWT_MODE_CPU ? 0 : context->context.target;
	thread = find_thread(reading, context->context.ident, unit);
	if (thread)
		name_stream(&stream->stream, thread);
	return stream;
}

static int take_data(struct reading *reading)
{
	const struct ktread_proc_record *record = reading->record;
	struct ktrx_hwt_data data;
	const struct context *context;
	struct hwt_unit_stream *stream;
	struct hwt_chunk chunk = { 0 };

	if (!take(reading, &data, sizeof(data)) || !(context = find_context(reading, data.context)))
		return 0;
	stream = find_stream(reading, context, data.unit);
	if (!stream)
		return KTREAD_E_FORMAT;
	chunk.size = record->payload_size - sizeof(data);
	if (chunk.size == 0 || data.position > UINT64_MAX - chunk.size) {
		reading->broken += chunk.size != 0;
		return 0;
	}
	chunk.position = data.position;
	chunk.torn = record->flags & KTRX_HWT_FLAG_TORN;
	chunk.offset = record->payload_offset + sizeof(data);
	if (hwt_store_put(&reading->file->store, &chunk.offset, record->payload + sizeof(data),
			  (size_t)chunk.size) != 0)
		return hwt_file_fail(reading->file, KTREAD_E_SYSTEM, "%s: temporary file: %m",
				     reading->file->path);
	return hwt_file_add_chunk(reading->file, stream, &chunk);
}

static int take_code(struct reading *reading)
{
	const struct ktread_proc_record *record = reading->record;
	struct ktrx_hwt_code head;
	struct hwt_code code;

	if (!take(reading, &head, sizeof(head)) || record->payload_size == sizeof(head))
		return 0;
	code = (struct hwt_code){ .stamp = record->stamp,
				  .address = head.address,
				  .space = head.space,
				  .offset = record->payload_offset + sizeof(head),
				  .size = record->payload_size - (uint32_t)sizeof(head) };
	if (code.address > UINT64_MAX - code.size) {
		reading->broken++;
		return 0;
	}
	if (hwt_store_put(&reading->file->store, &code.offset, record->payload + sizeof(head), code.size) !=
	    0)
		return hwt_file_fail(reading->file, KTREAD_E_SYSTEM, "%s: temporary file: %m",
				     reading->file->path);
	return hwt_file_add_code(reading->file, &code);
}

static int add_mapping(struct reading *reading, const struct ktrx_hwt_image *image, size_t head)
{
	const struct ktread_proc_record *record = reading->record;
	struct hwt_file *file = reading->file;
	size_t length = record->payload_size - head;
	struct hwt_mapping *grown =
		base_grow(file->mapping, &file->mapping_room, file->mappings + 1, sizeof(*grown));
	char *path;

	if (!grown)
		return hwt_file_no_memory(file);
	file->mapping = grown;
	path = strndup((const char *)record->payload + head, length < PATH_MOST ? length : PATH_MOST);
	if (!path)
		return hwt_file_no_memory(file);
	file->mapping[file->mappings++] = (struct hwt_mapping){ .type = record->type,
								.pid = record->pid,
								.stamp = record->stamp,
								.address = image->address,
								.size = image->size,
								.offset = image->offset,
								.access = image->access,
								.path = path };
	return 0;
}

static int take_image(struct reading *reading)
{
	struct ktrx_hwt_image image;

	return take(reading, &image, sizeof(image)) ? add_mapping(reading, &image, sizeof(image)) : 0;
}

static int take_unmap(struct reading *reading)
{
	struct ktrx_hwt_unmap unmap;

	if (!take(reading, &unmap, sizeof(unmap)))
		return 0;
	return add_mapping(reading, &(struct ktrx_hwt_image){ .address = unmap.address, .size = unmap.size },
			   reading->record->payload_size);
}

/*
 * Returns the entry for this unit of the context, which is added if necessary. Returns NULL if there are too
 * many entries, or if out of memory.
 */
static struct thread_record *keep_thread(struct reading *reading, uint32_t context, uint32_t unit)
{
	struct thread_record *thread = find_thread(reading, context, unit), *grown;

	if (thread || reading->threads == THREADS_MOST)
		return thread;
	grown = base_grow(reading->thread, &reading->thread_room, reading->threads + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	reading->thread = grown;
	return &grown[reading->threads++];
}

static int take_thread(struct reading *reading)
{
	const struct ktread_proc_record *record = reading->record;
	const char *name = (const char *)record->payload + sizeof(struct ktrx_hwt_thread);
	struct ktrx_hwt_thread head;
	struct thread_record *thread;

	if (!take(reading, &head, sizeof(head)))
		return 0;
	thread = keep_thread(reading, head.context, head.index);
	if (!thread)
		return 0;
	*thread = (struct thread_record){ head.context, head.index, record->pid, record->tid, "" };
	snprintf(thread->name, sizeof(thread->name), "%.*s", (int)(record->payload_size - sizeof(head)),
		 name);
	for (size_t i = reading->file->streams; i-- > 0;) {
		struct hwt_stream *stream = &reading->file->stream[i].stream;

		if (stream->context.ident != head.context || stream->unit != head.index)
			continue;
		name_stream(stream, thread);
		break;
	}
	return 0;
}

static int take_fill(struct reading *reading)
{
	struct ktrx_hwt_fill fill;
	const struct context *context;
	struct hwt_unit_stream *stream;

	if (!take(reading, &fill, sizeof(fill)) || !(context = find_context(reading, fill.context)))
		return 0;
	stream = find_stream(reading, context, fill.unit);
	if (!stream)
		return KTREAD_E_FORMAT;
	if (fill.position > stream->written)
		stream->written = fill.position;
	return 0;
}

static int take_clock(struct reading *reading)
{
	struct hwt_file *file = reading->file;
	struct ktrx_hwt_clock clock;
	struct hwt_clock_record *grown;

	if (!take(reading, &clock, sizeof(clock)))
		return 0;
	grown = base_grow(file->clock, &file->clock_room, file->clock_records + 1, sizeof(*grown));
	if (!grown)
		return hwt_file_no_memory(file);
	file->clock = grown;
	file->clock[file->clock_records++] =
		(struct hwt_clock_record){ .moment = { clock.unit_time, clock.stamp, clock.unit_frequency },
					   .context = clock.context,
					   .unit = clock.unit };
	return 0;
}

static int take_record(struct reading *reading)
{
	const uint16_t type = reading->record->type;

	/*
	 * of a truncated record, only bytes of trace or code can be used, because a part of a text or number
	 * would be wrong
	 */
	if (reading->record->torn && type != KTRX_HWT_DATA && type != KTRX_HWT_CODE)
		return 0;
	switch (type) {
	case KTRX_HWT_MMAP:
	case KTRX_HWT_EXECUTABLE:
	case KTRX_HWT_KERNEL:
		return take_image(reading);
	case KTRX_HWT_MUNMAP:
		return take_unmap(reading);
	case KTRX_HWT_THREAD_CREATE:
	case KTRX_HWT_THREAD_NAME:
		return take_thread(reading);
	case KTRX_HWT_BUFFER:
		return take_fill(reading);
	case KTRX_HWT_CONTEXT:
		return take_context(reading);
	case KTRX_HWT_DATA:
		return take_data(reading);
	case KTRX_HWT_CODE:
		return take_code(reading);
	case KTRX_HWT_CLOCK:
		return take_clock(reading);
	default:
		return 0;
	}
}

static int read_all(struct reading *reading)
{
	struct hwt_file *file = reading->file;
	int status, taken = 0;

	while (taken == 0 && (status = ktread_proc_next(reading->trace, &reading->record)) != 0) {
		if (status == KTREAD_E_FORMAT)
			hwt_file_damage(file, "%s", ktread_proc_message(reading->trace));
		else if (status < 0)
			return hwt_file_fail(file, status, "%s", ktread_proc_message(reading->trace));
		else
			taken = take_record(reading);
	}
	return taken;
}

static void conclude(struct reading *reading)
{
	const struct ktread_proc_info *info = ktread_proc_info(reading->trace);
	struct hwt_file *file = reading->file;

	file->frequency = info->frequency;
	file->nonce = info->nonce;
	file->machine = info->machine;
	if (info->lost)
		hwt_file_warn(file, "%s: %" PRIu64 " records were lost during recording", file->path,
			      info->lost);
	if (reading->broken)
		hwt_file_damage(file, "%s: %" PRIu64 " records of hardware trace are damaged", file->path,
				reading->broken);
	if (reading->without_context)
		hwt_file_warn(file, "%s: %" PRIu64 " records refer to contexts that are not in the file",
			      file->path, reading->without_context);
}

/*
 * Reports why the file cannot be opened. If the file is not a KTR file, ktread's own message would only state
 * that it is not a process trace.
 */
static int cannot_open(struct hwt_file *file, int status)
{
	char first[4];

	if (status != KTREAD_E_FORMAT ||
	    hwt_store_read(&file->store, 0, first, sizeof(first)) != sizeof(first) ||
	    memcmp(first, "KTR", 3) == 0)
		return hwt_file_fail(file, status, "%s", ktread_proc_message(NULL));
	return hwt_file_fail(
		file, status,
		"%s: not a hardware trace: neither a file of records nor the rings of a trace unit",
		file->path);
}

int hwt_records_read(struct hwt_file *file)
{
	const struct ktread_proc_options options = { .size = sizeof(options), .torn = 1 };
	struct reading reading = { .file = file };
	int status = ktread_proc_open(&reading.trace, file->path, &options);

	if (status < 0)
		return cannot_open(file, status);
	if (ktread_proc_info(reading.trace)->format != KTREAD_PROC_KTRX &&
	    ktread_proc_info(reading.trace)->format != KTREAD_PROC_AUTO)
		status = hwt_file_fail(file, KTREAD_E_FORMAT, "%s: not a file with hardware trace",
				       file->path);
	else
		status = read_all(&reading);
	conclude(&reading);
	ktread_proc_close(reading.trace);
	free(reading.context);
	free(reading.thread);
	return status;
}
