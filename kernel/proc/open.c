/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Sinks are begun: nobody finds one before its file has what a session starts with. */
#include "proc.h"
#include "ring.h"

/* Text of one TABLE record; several add up. */
#define KTRACE_TABLE_PIECE KTRACE_PROC_DATA_MAX

/* More than this of a buffer is not used: places in the ring have 32 bits. */
#define KTRACE_BUFFER_MAX (UINT32_C(1) << 30)

/* What is left of the limit for records. */
static uint64_t room_of(const struct ktrace_proc_sink_config *config)
{
	uint64_t around = sizeof(struct ktrx_proc_head) + sizeof(struct ktrx_proc_record) +
			  sizeof(struct ktrx_proc_end);

	if (config->limit == 0)
		return UINT64_MAX;
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
 * Half of the ring has to be enough to wait for: the other half is for what is recorded while it is written.
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
	sink->size = (uint32_t)(size - KTRACE_PROC_DATA_MAX) & ~UINT32_C(7);
	sink->drain_at = drain_at_of(config, sink->size);
	sink->head = 0;
	sink->tail = 0;
	sink->wrap = 0;
	sink->torn = 0;
	sink->told = 0;
	sink->cleared = 0;
	sink->room = room_of(config);
	sink->copy = config->buffer;
	sink->ring = sink->copy + KTRACE_PROC_DATA_MAX;
	sink->operations = config->operations;
}

/* Enters it among all, if its file has no other. */
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

/* Puts some of the table into the ring; returns how much: 0 if there is no room. */
static uint32_t put_table(struct ktrace_proc_sink *sink, const char *text)
{
	static const struct ktrace_proc nobody;
	struct ktrace_proc_draft draft;
	enum ktrace_proc_outcome outcome;
	unsigned long saved;

	ktrace_proc_draft(&draft, KTRX_PROC_TABLE, 0, KTRACE_NULL, 0);
	draft.text = text;
	draft.text_size = ktrace_length(text, KTRACE_TABLE_PIECE);
	saved = ktrace_proc_lock();
	outcome = ktrace_proc_compose(sink, &nobody, &draft);
	ktrace_proc_unlock(saved);
	return outcome == KTRACE_PROC_RECORDED ? draft.text_size : 0;
}

/* What a session starts with: a head and TABLE, in the file before anything else. Sink locked. */
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
