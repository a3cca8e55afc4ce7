/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Opens, finds, references and closes sinks. A sink can be found only after the beginning of a session was
 * written to its file.
 */
#include "proc.h"

/* Maximum number of bytes of text in one TABLE record. A longer table is split into several records. */
#define KTRACE_TABLE_PIECE KTRACE_PROC_DATA_MAX

/*
 * Maximum size of a ring. Larger buffers are used only up to this size, because offsets in the ring have 32
 * bits.
 */
#define KTRACE_BUFFER_MAX (KTRX_U32(1) << 30)

struct ktrace_proc_state ktrace_proc_state;

int ktrace_proc_init(const struct ktrace_proc_kernel *kernel)
{
	if (!kernel || kernel->size != sizeof(*kernel) || !kernel->lock || !kernel->unlock ||
	    !kernel->table_lock || !kernel->table_unlock || !kernel->next || !kernel->parent ||
	    !kernel->identity || !kernel->name || !kernel->copy_in)
		return KTRACE_ERROR_ARGUMENT;
	if (ktrace_proc_state.kernel)
		return KTRACE_ERROR_STATE;
	ktrace_proc_state.kernel = kernel;
	return KTRACE_OK;
}

/* ---- Opening a sink --------------------------------------------------------------------------- */

/* Returns how many bytes of the file's maximum size are left for records, without head and END record. */
static uint64_t room_of(const struct ktrace_proc_sink_config *config)
{
	uint64_t around = sizeof(struct ktrx_proc_head) + sizeof(struct ktrx_proc_record) +
			  sizeof(struct ktrx_proc_end);

	if (config->limit == 0)
		return KTRX_U64_MAX;
	if (config->format != KTRACE_PROC_FORMAT_KTRX)
		return config->limit;
	return config->limit > around ? config->limit - around : 0;
}

static int is_valid(const struct ktrace_proc_sink_config *config)
{
	const struct ktrace_proc_sink_operations *operations;

	if (!config || config->size != sizeof(*config))
		return 0;
	operations = config->operations;
	return config->format <= KTRACE_PROC_FORMAT_DRAGONFLY && config->on_error <= KTRACE_PROC_RETRY &&
	       config->data_max <= KTRACE_PROC_DATA_MAX && room_of(config) > 0 && config->buffer &&
	       (uintptr_t)config->buffer % 8 == 0 && operations && operations->write && operations->lock &&
	       operations->unlock;
}

/*
 * Returns the number of waiting bytes at which the ring is written to the file. It is at most half of the
 * ring's size, because the other half is needed for records that are made during the write.
 */
static uint32_t drain_at_of(const struct ktrace_proc_sink_config *config, uint32_t size)
{
	if (config->drain_at == 0)
		return 1;
	return config->drain_at < size / 2 ? (uint32_t)config->drain_at : size / 2;
}

static void sink_fill(struct ktrace_proc_sink *sink, const struct ktrace_proc_sink_config *config)
{
	size_t size = config->buffer_size < KTRACE_BUFFER_MAX ? config->buffer_size : KTRACE_BUFFER_MAX;

	sink->file = config->file;
	sink->records = 0;
	sink->lost = 0;
	sink->bytes = 0;
	sink->state = KTRACE_PROC_SINK_OPENING;
	sink->reason = 0;
	sink->error = 0;
	sink->references = 0;
	sink->lost_now = 0;
	sink->format = config->format;
	sink->on_error = config->on_error;
	sink->data_max = config->data_max ? config->data_max : KTRACE_PROC_DATA_MAX;
	sink->size = (uint32_t)(size - KTRACE_PROC_DATA_MAX) & ~KTRX_U32(7);
	sink->drain_at = drain_at_of(config, sink->size);
	sink->head = 0;
	sink->tail = 0;
	sink->wrap = 0;
	sink->torn = 0;
	sink->end_recorded = 0;
	sink->cleared = 0;
	sink->room = room_of(config);
	sink->copy = config->buffer;
	sink->ring = sink->copy + KTRACE_PROC_DATA_MAX;
	sink->operations = config->operations;
}

/* Adds the sink to the list. If its file already has another sink, does nothing and returns 0. */
static int sink_link(struct ktrace_proc_sink *sink)
{
	unsigned long saved = ktrace_proc_lock();
	struct ktrace_proc_sink *other = ktrace_proc_state.sinks;

	while (other && other->file != sink->file)
		other = other->next;
	if (!other) {
		sink->next = ktrace_proc_state.sinks;
		ktrace_proc_state.sinks = sink;
	}
	ktrace_proc_unlock(saved);
	return other == KTRACE_NULL;
}

static int write_head(struct ktrace_proc_sink *sink)
{
	struct ktrx_proc_head head;

	if (sink->format != KTRACE_PROC_FORMAT_KTRX)
		return 1;
	ktrace_proc_fill_head(&head);
	return ktrace_proc_write(sink, &head, sizeof(head));
}

/* Puts the next part of the table into the ring. Returns the size of this part; 0 if there is no room. */
static uint32_t put_table(struct ktrace_proc_sink *sink, const char *text)
{
	static const struct ktrace_proc nobody;
	struct ktrace_proc_pending pending;
	enum ktrace_proc_outcome outcome;
	unsigned long saved;

	ktrace_proc_pending_init(&pending, KTRX_PROC_TABLE, 0, KTRACE_NULL, 0);
	pending.text = text;
	pending.text_size = ktrace_length(text, KTRACE_TABLE_PIECE);
	saved = ktrace_proc_lock();
	outcome = ktrace_proc_compose(sink, &nobody, &pending);
	ktrace_proc_unlock(saved);
	return outcome == KTRACE_PROC_RECORDED ? pending.text_size : 0;
}

/*
 * Writes the beginning of a session, a head and TABLE records, before any other record.
 * Requires: the sink is locked.
 */
static int sink_begin(struct ktrace_proc_sink *sink)
{
	const char *text =
		sink->format == KTRACE_PROC_FORMAT_KTRX ? ktrace_proc_state.kernel->table : KTRACE_NULL;

	if (!write_head(sink))
		return KTRACE_ERROR_DEVICE;
	while (text && *text) {
		text += put_table(sink, text);
		ktrace_proc_drain_locked(sink);
		if (sink->state == KTRACE_PROC_SINK_ENDED)
			return sink->reason == KTRX_PROC_ENDED_LIMIT ? KTRACE_ERROR_ARGUMENT
								     : KTRACE_ERROR_DEVICE;
		if (ktrace_proc_waiting(sink) > 0)
			return KTRACE_ERROR_DEVICE;
	}
	return KTRACE_OK;
}

int ktrace_proc_sink_open(struct ktrace_proc_sink *sink, const struct ktrace_proc_sink_config *config,
			  struct ktrace_proc_thread *thread)
{
	int error;

	if (!sink || !is_valid(config))
		return KTRACE_ERROR_ARGUMENT;
	if (!ktrace_proc_state.kernel)
		return KTRACE_ERROR_STATE;
	if (config->buffer_size < KTRACE_PROC_BUFFER_MIN)
		return KTRACE_ERROR_MEMORY;
	sink_fill(sink, config);
	if (!sink_link(sink))
		return KTRACE_ERROR_BUSY;
	ktrace_proc_enter(thread);
	sink->operations->lock(sink);
	error = sink_begin(sink);
	if (error)
		ktrace_proc_take_back(sink, sink->bytes);
	sink->operations->unlock(sink);
	ktrace_proc_leave(thread);
	ktrace_proc_set_state(sink, error ? KTRACE_PROC_SINK_CLOSED : KTRACE_PROC_SINK_OPEN);
	return error;
}

/* ---- References to sinks ----------------------------------------------------------------------- */

void ktrace_proc_hold(struct ktrace_proc_sink *sink)
{
	sink->references++;
}

void ktrace_proc_drop(struct ktrace_proc_sink *sink)
{
	if (--sink->references > 0)
		return;
	sink->next_idle = ktrace_proc_state.idle;
	ktrace_proc_state.idle = sink;
}

void ktrace_proc_end(struct ktrace_proc_sink *sink, uint32_t reason)
{
	if (sink->state == KTRACE_PROC_SINK_ENDED)
		return;
	sink->state = KTRACE_PROC_SINK_ENDED;
	sink->reason = reason;
}

struct ktrace_proc_sink *ktrace_proc_sink_find(const void *file)
{
	struct ktrace_proc_sink *sink;
	unsigned long saved;

	if (!ktrace_proc_state.kernel)
		return KTRACE_NULL;
	saved = ktrace_proc_lock();
	for (sink = ktrace_proc_state.sinks; sink; sink = sink->next)
		if (sink->file == file && sink->state == KTRACE_PROC_SINK_OPEN && sink->references > 0)
			break;
	if (sink)
		ktrace_proc_hold(sink);
	ktrace_proc_unlock(saved);
	return sink;
}

/* ---- Closing sinks ----------------------------------------------------------------------------- */

static void unlink_sink(struct ktrace_proc_sink *sink)
{
	struct ktrace_proc_sink **link = &ktrace_proc_state.sinks;

	while (*link != sink)
		link = &(*link)->next;
	*link = sink->next;
}

void ktrace_proc_set_state(struct ktrace_proc_sink *sink, uint32_t state)
{
	unsigned long saved = ktrace_proc_lock();

	if (state == KTRACE_PROC_SINK_CLOSED)
		unlink_sink(sink);
	else
		ktrace_proc_hold(sink);
	sink->state = state;
	ktrace_proc_unlock(saved);
}

/* Requires: the sink has no references and cannot be found any more. */
static void close_sink(struct ktrace_proc_sink *sink)
{
	unsigned long saved = ktrace_proc_lock();

	ktrace_proc_end(sink, KTRX_PROC_ENDED_CLOSED);
	ktrace_proc_unlock(saved);
	sink->operations->lock(sink);
	ktrace_proc_drain_locked(sink);
	sink->operations->unlock(sink);
	ktrace_proc_set_state(sink, KTRACE_PROC_SINK_CLOSED);
	if (sink->operations->close)
		sink->operations->close(sink);
}

void ktrace_proc_close_idle(struct ktrace_proc_thread *thread)
{
	for (;;) {
		unsigned long saved = ktrace_proc_lock();
		struct ktrace_proc_sink *sink = ktrace_proc_state.idle;

		if (sink)
			ktrace_proc_state.idle = sink->next_idle;
		ktrace_proc_unlock(saved);
		if (!sink)
			return;
		ktrace_proc_enter(thread);
		close_sink(sink);
		ktrace_proc_leave(thread);
	}
}

void ktrace_proc_sink_release(struct ktrace_proc_sink *sink, struct ktrace_proc_thread *thread)
{
	unsigned long saved = ktrace_proc_lock();

	ktrace_proc_drop(sink);
	ktrace_proc_unlock(saved);
	ktrace_proc_close_idle(thread);
}

/*
 * Searches the list, from `sink` on, for a sink that has references. Returns it and takes a reference for the
 * caller; NULL if there is none.
 */
static struct ktrace_proc_sink *hold_first(struct ktrace_proc_sink *sink)
{
	while (sink && sink->references == 0)
		sink = sink->next;
	if (sink)
		ktrace_proc_hold(sink);
	return sink;
}

void ktrace_proc_flush(struct ktrace_proc_thread *thread)
{
	struct ktrace_proc_sink *sink;
	unsigned long saved;

	if (!ktrace_proc_state.kernel)
		return;
	saved = ktrace_proc_lock();
	sink = hold_first(ktrace_proc_state.sinks);
	ktrace_proc_unlock(saved);
	while (sink) {
		struct ktrace_proc_sink *next;

		ktrace_proc_drain(sink, thread);
		saved = ktrace_proc_lock();
		next = hold_first(sink->next);
		ktrace_proc_unlock(saved);
		ktrace_proc_sink_release(sink, thread);
		sink = next;
	}
}
