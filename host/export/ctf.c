/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* CTF: streams, packets and events. */
#include "export/ctf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "export/export.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

#define PACKET	    ((size_t)256 << 10)
#define PACKET_HEAD 76u
#define MAGIC	    0xc1fc1fc1u
/* Maximum size of an event without its fields: header, context, and the fields of LTTng. */
#define EVENT_MORE 512u
#define RAW_MOST   8192u

/* ---- Writing packets ---- */

static void put(struct ctf_stream *stream, const void *bytes, size_t size)
{
	memcpy(stream->packet + stream->used, bytes, size);
	stream->used += size;
}

static void put_number(struct ctf_stream *stream, uint64_t number, size_t size)
{
	put(stream, &number, size);
}

static void write_all(struct ctf *ctf, const unsigned char *bytes, size_t size)
{
	while (size > 0 && !ctf->error) {
		const ssize_t wrote = write(ctf->stream.fd, bytes, size);

		if (wrote < 0 && errno != EINTR)
			ctf->error = errno;
		if (wrote > 0) {
			bytes += wrote;
			size -= (size_t)wrote;
		}
	}
}

/* Writes the packet. A packet without events only reports that slots were lost. */
static void write_packet(struct ctf *ctf)
{
	struct ctf_stream *stream = &ctf->stream;
	const size_t size = stream->used;

	stream->used = 0;
	put_number(stream, MAGIC, 4);
	put(stream, ctf->uuid, sizeof(ctf->uuid));
	put_number(stream, 0, 4);
	put_number(stream, stream->first, 8);
	put_number(stream, stream->last, 8);
	put_number(stream, size * 8, 8);
	put_number(stream, size * 8, 8);
	put_number(stream, stream->sequence++, 8);
	put_number(stream, stream->discarded, 8);
	put_number(stream, stream->cpu, 4);
	write_all(ctf, stream->packet, size);
	stream->used = PACKET_HEAD;
}

/* Adds lost slots to the count, which is limited to CTF_MOST. */
static void discard(struct ctf_stream *stream, uint64_t slots)
{
	stream->discarded = slots < CTF_MOST - stream->discarded ? stream->discarded + slots : CTF_MOST;
}

static void flush(struct ctf *ctf)
{
	if (ctf->stream.used > PACKET_HEAD)
		write_packet(ctf);
}

static void open_stream(struct ctf *ctf, uint32_t ring)
{
	char name[32];

	snprintf(name, sizeof(name), "ring_%u", ring);
	ctf->stream.fd = openat(ctf->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (ctf->stream.fd < 0)
		ctf->error = errno;
}

/*
 * Closes the stream. If slots are missing after the last event of the ring, first reports them by a packet
 * that has no events.
 */
static void close_stream(struct ctf *ctf, uint32_t n)
{
	const struct ktread_ring *ring = ktread_ring(ctf->trace, n);
	struct ctf_stream *stream = &ctf->stream;
	const uint64_t lost = ring->overwritten + ring->invalid - ring->outside;

	if (stream->fd < 0)
		return;
	flush(ctf);
	if (lost > stream->seen)
		discard(stream, lost - stream->seen);
	discard(stream, ring->dropped);
	if (lost > stream->seen || ring->dropped > 0) {
		stream->first = stream->last;
		write_packet(ctf);
	}
	if (close(stream->fd) < 0 && !ctf->error)
		ctf->error = errno;
	stream->fd = -1;
}

/* ---- Writing events ---- */

/* Returns the escaped name of a thread; its length is 0 if it is unknown. */
static const struct ctf_name *name_of(struct ctf *ctf, uint32_t thread)
{
	struct ctf_name *name = &ctf->name[thread % CTF_NAMES];
	const char *text;
	char *end;

	if (name->known && name->thread == thread)
		return name;
	text = ktread_thread_name(ctf->trace, thread);
	end = base_escape_utf8(name->text, text ? text : "", text ? strlen(text) : 0, CTF_NAME);
	*end = '\0';
	name->length = (uint32_t)(end - name->text);
	name->thread = thread;
	name->known = true;
	return name;
}

static void put_name(struct ctf *ctf, uint32_t thread)
{
	const struct ctf_name *name = name_of(ctf, thread);

	put(&ctf->stream, name->text, name->length + 1);
}

static void put_text(struct ctf *ctf, const char *text, size_t length)
{
	struct ctf_stream *stream = &ctf->stream;

	/* a CTF string ends at a NUL, so a NUL in the string becomes \x00 */
	stream->used = (size_t)((unsigned char *)base_escape_utf8((char *)stream->packet + stream->used, text,
								  length, BASE_ESCAPE_TEXT_GROWTH * length) -
				stream->packet);
	put_number(stream, 0, 1);
}

/* Converts a thread state to Linux's number for it. */
static uint64_t linux_state(uint64_t state)
{
	static const uint8_t states[] = { [WELLKNOWN_STATE_RUNNABLE] = 0,
					  [WELLKNOWN_STATE_SLEEP] = 1,
					  [WELLKNOWN_STATE_WAIT] = 2,
					  [WELLKNOWN_STATE_STOPPED] = 4,
					  [WELLKNOWN_STATE_DEAD] = 64 };

	return state < sizeof(states) ? states[state] : 0;
}

static uint64_t number_of(const struct wellknown *known, const struct ktread_event *event,
			  enum wellknown_role role)
{
	uint64_t number = 0;

	wellknown_number(known, event, role, &number);
	return number;
}

/* Writes name, id and priority of a thread. No trace has priorities. */
static void put_thread(struct ctf *ctf, uint32_t thread)
{
	put_name(ctf, thread);
	put_number(&ctf->stream, thread, 4);
	put_number(&ctf->stream, 0, 4);
}

/* Writes the fields of LTTng; ctf_metadata.c declares them. */
static void put_shape(struct ctf *ctf, const struct ktread_event *event, const struct wellknown *known,
		      enum ctf_shape shape)
{
	struct ctf_stream *stream = &ctf->stream;
	const uint32_t mask = known->thread_bits;
	struct ktread_value name;

	switch (shape) {
	case CTF_SWITCH:
		put_thread(ctf, (uint32_t)number_of(known, event, WELLKNOWN_PREV) & mask);
		put_number(stream, linux_state(number_of(known, event, WELLKNOWN_STATE)), 8);
		put_thread(ctf, (uint32_t)number_of(known, event, WELLKNOWN_NEXT) & mask);
		break;
	case CTF_WAKEUP:
		put_thread(ctf, (uint32_t)number_of(known, event, WELLKNOWN_THREAD) & mask);
		break;
	case CTF_FORK:
		put_name(ctf, event->thread);
		put_number(stream, event->thread, 4);
		put_name(ctf, (uint32_t)number_of(known, event, WELLKNOWN_THREAD) & mask);
		put_number(stream, number_of(known, event, WELLKNOWN_THREAD) & mask, 4);
		break;
	case CTF_EXIT:
		put_thread(ctf, event->thread);
		break;
	case CTF_SYSCALL_EXIT:
		put_number(stream, number_of(known, event, WELLKNOWN_RESULT), 8);
		break;
	case CTF_IRQ_ENTRY:
		put_number(stream, number_of(known, event, WELLKNOWN_NUMBER), 4);
		if (!wellknown_string(known, event, WELLKNOWN_NAME, &name))
			name = (struct ktread_value){ .string = "" };
		put_text(ctf, name.string, name.length < CTF_NAME ? name.length : CTF_NAME);
		break;
	case CTF_IRQ_EXIT:
		put_number(stream, number_of(known, event, WELLKNOWN_NUMBER), 4);
		break;
	default:
		break;
	}
}

static const uint8_t widths[] = {
	[KTRX_TYPE_U8] = 1,	 [KTRX_TYPE_U16] = 2,	 [KTRX_TYPE_U32] = 4,  [KTRX_TYPE_U64] = 8,
	[KTRX_TYPE_I8] = 1,	 [KTRX_TYPE_I16] = 2,	 [KTRX_TYPE_I32] = 4,  [KTRX_TYPE_I64] = 8,
	[KTRX_TYPE_POINTER] = 8, [KTRX_TYPE_STRING] = 0, [KTRX_TYPE_BOOL] = 1, [KTRX_TYPE_CHAR] = 1
};

/* Returns whether all fields of the event are within its payload. */
static bool is_whole(const struct ktread_event *event)
{
	struct ktread_value value;

	return event->type->fields == 0 || ktread_value(event, event->type->fields - 1u, &value) == 0;
}

static void put_fields(struct ctf *ctf, const struct ktread_event *event)
{
	struct ktread_value value;

	for (uint32_t n = 0; n < event->type->fields; n++) {
		if (ktread_value(event, n, &value) < 0)
			break;
		if (value.type == KTRX_TYPE_STRING)
			put_text(ctf, value.string, value.length);
		else
			put_number(&ctf->stream, value.number,
				   value.type < sizeof(widths) ? widths[value.type] : 8);
	}
}

static void put_raw(struct ctf_stream *stream, const struct ktread_event *event)
{
	const uint32_t size = event->payload_size < RAW_MOST ? event->payload_size : RAW_MOST;

	put_number(stream, event->id, 2);
	put_number(stream, size, 2);
	put(stream, event->payload, size);
}

/* Returns the LTTng event with the same meaning, if the event has the fields that it needs. */
static enum ctf_shape shape_of(const struct wellknown *known)
{
	static const struct {
		uint8_t kind, shape;
		int8_t needs[2]; /* an enum wellknown_role; -1: none */
	} shapes[] = {
		{ WELLKNOWN_SWITCH, CTF_SWITCH, { WELLKNOWN_PREV, WELLKNOWN_NEXT } },
		{ WELLKNOWN_WAKE, CTF_WAKEUP, { WELLKNOWN_THREAD, -1 } },
		{ WELLKNOWN_CREATE, CTF_FORK, { WELLKNOWN_THREAD, -1 } },
		{ WELLKNOWN_EXIT, CTF_EXIT, { -1, -1 } },
		{ WELLKNOWN_SYSCALL_ENTER, CTF_SYSCALL_ENTRY, { WELLKNOWN_NUMBER, -1 } },
		{ WELLKNOWN_SYSCALL_EXIT, CTF_SYSCALL_EXIT, { WELLKNOWN_NUMBER, WELLKNOWN_RESULT } },
		{ WELLKNOWN_IRQ_ENTER, CTF_IRQ_ENTRY, { WELLKNOWN_NUMBER, -1 } },
		{ WELLKNOWN_IRQ_EXIT, CTF_IRQ_EXIT, { WELLKNOWN_NUMBER, -1 } },
	};

	for (size_t n = 0; n < sizeof(shapes) / sizeof(shapes[0]); n++) {
		const int8_t *needs = shapes[n].needs;

		if (shapes[n].kind == known->kind && (needs[0] < 0 || known->field[needs[0]] >= 0) &&
		    (needs[1] < 0 || known->field[needs[1]] >= 0))
			return (enum ctf_shape)shapes[n].shape;
	}
	return CTF_OWN;
}

/* Returns true if events of this type are named by their system calls. There is only one such type. */
static bool is_calls(const struct ktread_type **calls, const struct ktread_type *type)
{
	if (!*calls)
		*calls = type;
	return *calls == type;
}

/* Determines how events of a type are written. */
static void ctf_type_learn(struct ctf *ctf, const struct ktread_type *type, const struct wellknown *known)
{
	struct ctf_type *learned = &ctf->type[type->id];
	uint32_t size = 0;

	learned->form = CTF_FIXED;
	learned->shape = (uint8_t)shape_of(known);
	if ((learned->shape == CTF_SYSCALL_ENTRY && !is_calls(&ctf->entry, type)) ||
	    (learned->shape == CTF_SYSCALL_EXIT && !is_calls(&ctf->exit, type)))
		learned->shape = CTF_OWN;
	for (uint32_t n = 0; n < type->fields; n++) {
		const uint8_t of = type->field[n].type;

		if (of == 0 || of >= sizeof(widths))
			learned->form = CTF_RAW;
		else if (of == KTRX_TYPE_STRING && learned->form == CTF_FIXED)
			learned->form = CTF_STRINGS;
		else
			size += widths[of];
	}
	learned->size = (uint16_t)size;
	if (ktread_type(ctf->trace, type->id) != type)
		learned->form = CTF_RAW;
}

/* Returns the number of the event's class, and records that the class occurred. */
static uint32_t class_of(struct ctf *ctf, const struct ktread_event *event, const struct wellknown *known,
			 struct ctf_type *type)
{
	uint8_t *const seen = type->shape == CTF_SYSCALL_ENTRY ? ctf->entries : ctf->exits;
	uint64_t number;

	if (type->shape != CTF_SYSCALL_ENTRY && type->shape != CTF_SYSCALL_EXIT) {
		type->used = true;
		return event->type->id;
	}
	number = number_of(known, event, WELLKNOWN_NUMBER);
	if (number >= CTF_CALLS)
		number = CTF_CALLS - 1;
	seen[number / 8] |= (uint8_t)(1u << number % 8);
	return (type->shape == CTF_SYSCALL_ENTRY ? CTF_CLASS_ENTRY : CTF_CLASS_EXIT) + (uint32_t)number;
}

/* Writes the event's header and context. */
static void put_head(struct ctf_stream *stream, const struct ktread_event *event, uint32_t class)
{
	const uint32_t callers = event->callers < 2 ? event->callers : 2;

	put_number(stream, class, 2);
	put_number(stream, stream->last, 8);
	put_number(stream, event->thread, 4);
	put_number(stream, event->context, 1);
	put_number(stream, callers + (event->site != 0), 1);
	put(stream, event->caller, 8 * (size_t)callers);
	if (event->site)
		put(stream, &event->site, 8);
}

/* slots missing at the beginning of a ring were overwritten by design, so they are not reported as lost */
static void note_loss(struct ctf *ctf, const struct ktread_event *event)
{
	struct ctf_stream *stream = &ctf->stream;

	if (!stream->begun)
		stream->seen = event->lost ? event->lost : ktread_ring(ctf->trace, event->ring)->overwritten;
	else if (event->lost)
		stream->seen += event->lost;
	if (stream->begun)
		discard(stream, event->lost);
	stream->begun = true;
}

/*
 * Begins a new packet if slots were lost, if the CPU changes, or if the event does not fit into the current
 * packet.
 */
static void make_room(struct ctf *ctf, const struct ktread_event *event)
{
	struct ctf_stream *stream = &ctf->stream;
	/* escaping can make a string four times as long */
	const size_t need = EVENT_MORE + BASE_ESCAPE_TEXT_GROWTH * (size_t)event->payload_size;

	if (event->lost || event->cpu != stream->cpu || stream->used + need > PACKET)
		flush(ctf);
	note_loss(ctf, event);
	stream->cpu = event->cpu;
	ctf->too_late += event->stamp > ctf->stamp_most;
	if (event->stamp > stream->last)
		stream->last = event->stamp < ctf->stamp_most ? event->stamp : ctf->stamp_most;
	if (stream->used == PACKET_HEAD)
		stream->first = stream->last;
}

static void put_event(struct ctf *ctf, const struct ktread_event *event)
{
	const struct wellknown *known = wellknown_of(&ctf->known, event);
	struct ctf_type *type = &ctf->type[event->type->id % CTF_TYPES];
	struct ctf_stream *stream = &ctf->stream;

	make_room(ctf, event);
	if (__builtin_expect(type->form == CTF_UNKNOWN && event->type->id < CTF_TYPES, 0))
		ctf_type_learn(ctf, event->type, known);
	ctf->events++;
	if (event->type->id >= CTF_TYPES || type->form == CTF_RAW || event->payload_size < type->size ||
	    (type->form == CTF_STRINGS && !is_whole(event)) || event->payload_size > RAW_MOST) {
		put_head(stream, event, CTF_CLASS_RAW);
		put_raw(stream, event);
		return;
	}
	put_head(stream, event, class_of(ctf, event, known, type));
	if (type->shape != CTF_OWN)
		put_shape(ctf, event, known, (enum ctf_shape)type->shape);
	if (type->form == CTF_FIXED)
		put(stream, event->payload, type->size);
	else
		put_fields(ctf, event);
}

static int write_streams(struct ctf *ctf)
{
	const struct ktread_event *event;
	uint32_t ring = UINT32_MAX;
	int status;

	while ((status = ktread_next_by_ring(ctf->trace, &event)) > 0 && !ctf->error) {
		if (event->ring != ring) {
			if (ring != UINT32_MAX)
				close_stream(ctf, ring);
			ring = event->ring;
			ctf->stream = (struct ctf_stream){ .fd = -1,
							   .packet = ctf->stream.packet,
							   .used = PACKET_HEAD };
			open_stream(ctf, ring);
		}
		put_event(ctf, event);
	}
	if (ring != UINT32_MAX)
		close_stream(ctf, ring);
	return status;
}

/*
 * Removes the files of a trace that could not be written. The directory contained no other files, unless
 * another command writes into it at the same time (EEXIST).
 */
static void remove_files(struct ctf *ctf)
{
	char name[32];

	if (ctf->error == EEXIST)
		return;
	for (uint32_t ring = 0; ring < ktread_info(ctf->trace)->rings; ring++) {
		snprintf(name, sizeof(name), "ring_%u", ring);
		unlinkat(ctf->folder, name, 0);
	}
	unlinkat(ctf->folder, "metadata", 0);
}

static uint64_t stamp_most(uint64_t frequency)
{
	const unsigned __int128 most =
		(unsigned __int128)CTF_NS_MOST * (frequency ? frequency : 1000000000u) / 1000000000u;

	return most < CTF_MOST ? (uint64_t)most : CTF_MOST;
}

static int ctf_write(struct ktread *trace, int fd, struct export_report *report)
{
	const struct ktread_info *info = ktread_info(trace);
	const uint64_t first = ktread_first_stamp(trace);
	struct ctf *ctf = calloc(1, sizeof(*ctf));
	int error = KTREAD_E_MEMORY;

	if (!ctf)
		return KTREAD_E_MEMORY;
	ctf->trace = trace;
	ctf->folder = fd;
	ctf->stamp_most = stamp_most(info->frequency);
	ctf->stream.packet = malloc(PACKET);
	memcpy(ctf->uuid, &info->nonce, 8);
	memcpy(ctf->uuid + 8, &first, 8);
	if (ctf->stream.packet) {
		error = write_streams(ctf);
		if (report->interrupted && !ctf->error)
			ctf->error = EINTR;
		if (!ctf->error)
			ctf_write_metadata(ctf);
	}
	report->events = ctf->events;
	report->too_late = ctf->too_late;
	report->output_error = ctf->error;
	if (ctf->error) {
		remove_files(ctf);
		error = KTREAD_E_SYSTEM;
	}
	free(ctf->stream.packet);
	free(ctf);
	return error;
}

const struct export_format export_ctf = {
	.name = "ctf",
	.purpose = "directory in Common Trace Format 1.8 (Trace Compass, babeltrace2)",
	.place = EXPORT_NEW_FOLDER,
	.write = ctf_write,
};
