/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "ktread/beside.h"

#include <stdlib.h>
#include <string.h>

#include "ktrx/v2.h"
#include "message.h"
#include "trace.h"

#define BATCH 64u

struct item {
	uint64_t stamp;
	uint32_t event; /* index of the item's event in ring->event[] */
	uint32_t padding[5];
};
_Static_assert(sizeof(struct item) == KTREAD_ITEM_SIZE, "the merge needs items of this size");

/*
 * An additional source of events, whose rings are merged into a trace. All rings of the source share this
 * struct.
 */
struct beside {
	struct ktread_beside_source source;
	uint32_t first_id; /* id of the source's first event type in the trace's table of types */
	/*
	 * reference count: each ring of the source holds one reference, and ktread_beside_source() holds one
	 * reference while it runs
	 */
	uint32_t references;
};

struct ring {
	struct beside *beside;
	uint32_t number;
	uint64_t last;
	int status; /* result of the last rewind(); the next refill() reports it if it is an error */
	struct item item[BATCH];
	struct ktread_beside_event event[BATCH];
};

static int source_error(const struct ring *ring, int status)
{
	const struct ktread_beside_source *source = &ring->beside->source;

	return ktread_fail(status, "%s: %s", source->path, source->message(source->state));
}

static int refill(struct ktread *trace, struct ktread_cursor *cursor)
{
	struct ring *ring = cursor->state;
	const struct ktread_beside_source *source = &ring->beside->source;
	uint32_t count = 0;
	int status = ring->status < 0 ? ring->status : 1;

	while (count < BATCH && status > 0) {
		struct ktread_beside_event *event = &ring->event[count];
		uint64_t stamp;

		status = source->next(source->state, ring->number, event);
		if (status <= 0)
			break;
		if (event->type >= source->types || event->size > sizeof(event->payload))
			return ktread_fail(KTREAD_E_ARGUMENT, "%s: invalid event: type %u, %u bytes",
					   source->path, event->type, event->size);
		stamp = ktread_corrected(trace, event->cpu, event->stamp);
		if (stamp > ring->last)
			ring->last = stamp;
		ring->item[count] = (struct item){ .stamp = ring->last, .event = count };
		count++;
	}
	if (status < 0 && count == 0)
		return source_error(ring, status);
	if (count == 0) {
		cursor->ring.head = cursor->ring.slots = cursor->ring.decoded = cursor->ring.records;
		return 0;
	}
	cursor->item = (const unsigned char *)ring->item;
	cursor->end = cursor->item + count * sizeof(struct item);
	return 1;
}

static bool decode(struct ktread *trace, struct ktread_cursor *cursor)
{
	struct ring *ring = cursor->state;
	const struct item *item = (const struct item *)cursor->item;
	const struct ktread_beside_event *made = &ring->event[item->event];
	struct ktread_event *event = &cursor->event;

	cursor->item += sizeof(*item);
	event->index = cursor->ring.records++;
	event->stamp = item->stamp;
	event->lost = 0;
	event->cpu = made->cpu;
	event->thread = made->thread;
	event->id = (uint16_t)(ring->beside->first_id + made->type);
	event->type = ktread_types_get(&trace->types, event->id);
	event->payload = made->payload;
	event->payload_size = made->size;
	return ktread_wanted(&trace->selection, event);
}

static void rewind_ring(struct ktread *trace, struct ktread_cursor *cursor)
{
	struct ring *ring = cursor->state;
	const struct ktread_beside_source *source = &ring->beside->source;

	(void)trace;
	ring->last = 0;
	ring->status = source->rewind(source->state, ring->number);
}

static void beside_put(struct beside *beside)
{
	if (--beside->references)
		return;
	beside->source.close(beside->source.state);
	free(beside);
}

static void destroy(struct ktread_cursor *cursor)
{
	struct ring *ring = cursor->state;

	if (!ring)
		return;
	beside_put(ring->beside);
	free(ring);
}

static const struct ktread_version version = { refill, decode, NULL, rewind_ring, NULL, destroy };

static int add_ring(struct ktread *trace, struct beside *beside, uint32_t number)
{
	struct ktread_cursor *cursor;
	struct ring *ring = calloc(1, sizeof(*ring));
	int status = ring ? ktread_beside_cursor(trace) : ktread_fail_memory();

	if (status < 0) {
		free(ring);
		return status;
	}
	beside->references++;
	ring->beside = beside;
	ring->number = number;
	cursor = &trace->cursor[trace->cursors - 1];
	cursor->state = ring;
	cursor->version = &version;
	cursor->ring.cpu = KTRX_NO_CPU;
	cursor->ring.kind = KTREAD_RING_BESIDE;
	return 0;
}

int ktread_beside_source(struct ktread *trace, const struct ktread_beside_source *source)
{
	struct beside *beside = calloc(1, sizeof(*beside));
	int status = 0;

	if (!beside) {
		source->close(source->state);
		return ktread_keep_message(trace, ktread_fail_memory());
	}
	beside->source = *source;
	/* ktread_beside_source() holds this reference and drops it before it returns */
	beside->references = 1;
	if (trace->info.version != KTRX2_VERSION || trace->info.form == KTREAD_FORM_PROCESSES)
		status = ktread_fail(KTREAD_E_UNSUPPORTED, "%s: can only be added to a trace of version 2",
				     source->path);
	if (status == 0)
		status = ktread_beside_types(trace, source->type, source->types, &beside->first_id);
	for (uint32_t n = 0; n < source->rings && status == 0; n++)
		status = add_ring(trace, beside, n);
	beside_put(beside);
	return status < 0 ? ktread_keep_message(trace, status) : ktread_rewind(trace);
}

/* ---- Adding rings and event types to a trace --------------------------------------------------------- */

int ktread_beside_cursor(struct ktread *trace)
{
	struct ktread_cursor *grown = realloc(trace->cursor, (trace->cursors + 1) * sizeof(*grown));

	if (!grown)
		return ktread_fail_memory();
	trace->cursor = grown;
	memset(&grown[trace->cursors], 0, sizeof(*grown));
	grown[trace->cursors].event.ring = trace->cursors;
	trace->info.rings = ++trace->cursors;
	ktread_merge_free(&trace->merge);
	return ktread_merge_init(&trace->merge, trace->cursors);
}

int ktread_beside_types(struct ktread *trace, const struct ktread_type *type, uint32_t count, uint32_t *id)
{
	const struct ktread_types *types = &trace->types;
	uint32_t first = KTREAD_TYPE_ROWS - count;
	const int status = ktread_types_init(&trace->types);

	if (status < 0)
		return status;
	/*
	 * Find the lowest id such that it and all higher ids are free. Id 0 is never used, and ids of places
	 * are not free.
	 */
	while (first > 1 && !types->row[first - 1].name && !ktread_types_place(types, first - 1))
		first--;
	if (first + count > KTREAD_TYPE_ROWS || trace->types.row[first].name)
		return ktread_fail(KTREAD_E_UNSUPPORTED, "the trace has no room for %u more event types",
				   count);
	for (uint32_t n = 0; n < count; n++) {
		ktread_types_set(&trace->types, first + n, &type[n]);
		trace->types.row[first + n].id = (uint16_t)(first + n);
	}
	trace->info.types += count;
	*id = first;
	return 0;
}
