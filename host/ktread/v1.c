/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reads version 1 dumps, and records without a header, as the rings of a trace. */
#include <inttypes.h>
#include <stdlib.h>

#include "ktrx/v2.h"
#include "message.h"
#include "versions.h"

/* maximum size in bytes of a dump for which the order of all records is checked when the dump is opened */
#define THOROUGH_LIMIT (UINT64_C(64) << 20)

/*
 * The events of version 1. Some of these events have one layout in the published text (SPEC), and another
 * layout in real traces (KEVLAR).
 */

#define OF(type, name, unit)                 \
	{                                    \
		name, unit, KTRX_TYPE_##type \
	}
#define U32(name)     OF(U32, name, "")
#define U64(name)     OF(U64, name, "")
#define I64(name)     OF(I64, name, "")
#define ADDRESS(name) OF(POINTER, name, "")
#define WORDS_TEXT    "d0=0x%x d1=0x%x d2=0x%x d3=0x%x d4=0x%x"
#define WORDS	      WORDS_TEXT, U32("d0"), U32("d1"), U32("d2"), U32("d3"), U32("d4")
#define V1_FIELDS     5

enum layouts {
	BOTH = -1,
	KEVLAR = KTREAD_V1_KEVLAR,
	SPEC = KTREAD_V1_SPEC,
};

struct well_known {
	uint16_t id;
	int8_t layout;
	const char *group, *name, *text;
	/* fields of the event; a field without a name ends the array */
	struct ktread_field field[V1_FIELDS + 1];
};

#define ROW(name, layout, group, ...) ROW_OF(name, layout, group, __VA_ARGS__)
#define ROW_OF(name, layout, group, text, ...)            \
	{                                                 \
		KTRX1_##name, layout, group, #name, text, \
		{                                         \
			__VA_ARGS__                       \
		}                                         \
	}
static const struct well_known table[] = {
	ROW(SYSCALL_ENTER, BOTH, "syscall", "nr=%u a1=0x%llx a2=0x%llx", U32("nr"), U64("a1"), U64("a2")),
	ROW(SYSCALL_EXIT, BOTH, "syscall", "nr=%u result=%lld", U32("nr"), I64("result")),
	ROW(CTX_SWITCH, BOTH, "sched", "from_pid=%u to_pid=%u", U32("from_pid"), U32("to_pid")),
	ROW(PAGE_FAULT, SPEC, "mm", "addr=0x%llx error=0x%x", ADDRESS("addr"), U32("error")),
	ROW(PAGE_FAULT, KEVLAR, "mm", "addr=0x%llx rip=0x%llx reason=0x%x", ADDRESS("addr"), ADDRESS("rip"),
	    U32("reason")),
	ROW(PTE_MAP, BOTH, "mm", WORDS),
	ROW(PTE_MAP_EXISTING, BOTH, "mm", WORDS),
	ROW(PAGE_CONTENT, BOTH, "mm", WORDS),
	ROW(SIGNAL_SEND, BOTH, "signal", WORDS),
	ROW(SIGNAL_CHECK, BOTH, "signal", WORDS),
	ROW(SIGNAL_DELIVER, BOTH, "signal", WORDS),
	ROW(WAITQ_SLEEP, BOTH, "sched", "waitq=0x%x", U32("waitq")),
	ROW(WAITQ_WAKE, BOTH, "sched", "waitq=0x%x woken=%u", U32("waitq"), U32("woken")),
	ROW(NET_CONNECT, SPEC, "net", "ip=0x%x port=%u", OF(U32, "ip", "ipv4"), U32("port")),
	ROW(NET_CONNECT, KEVLAR, "net", "fd=%u ip=0x%x port=%u result=%u", U32("fd"), OF(U32, "ip", "ipv4"),
	    U32("port"), U32("result")),
	ROW(NET_SEND, SPEC, "net", "len=%u", OF(U32, "len", "bytes")),
	ROW(NET_SEND, KEVLAR, "net", "fd=%u len=%u result=%u", U32("fd"), OF(U32, "len", "bytes"),
	    U32("result")),
	ROW(NET_RECV, SPEC, "net", "len=%u", OF(U32, "len", "bytes")),
	ROW(NET_RECV, KEVLAR, "net", "fd=%u len=%u result=%u", U32("fd"), OF(U32, "len", "bytes"),
	    U32("result")),
	ROW(NET_POLL, SPEC, "net", "events=0x%x", U32("events")),
	ROW(NET_POLL, KEVLAR, "net", "fd=%u unused=%u revents=0x%x", U32("fd"), U32("unused"),
	    U32("revents")),
	ROW(NET_RX_PACKET, BOTH, "net", "frame_len=%u protocol=%u", OF(U32, "frame_len", "bytes"),
	    U32("protocol")),
	ROW(NET_TX_PACKET, BOTH, "net", "frame_len=%u protocol=%u", OF(U32, "frame_len", "bytes"),
	    U32("protocol")),
	ROW(NET_TCP_STATE, SPEC, "net", "old=%u new=%u", U32("old"), U32("new")),
	ROW(NET_TCP_STATE, KEVLAR, "net", "handle=%u old=%u new=%u", U32("handle"), U32("old"), U32("new")),
	ROW(NET_DNS_QUERY, BOTH, "net", "id=%u", U32("id")),
};

/* Adds the event types of version 1, in this layout, to the table. Returns the number of types added. */
static uint32_t load_types(struct ktread_types *types, enum ktread_v1_layout layout)
{
	uint32_t loaded = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct well_known *known = &table[i];
		struct ktread_type type;
		uint8_t fields = 0;

		if (known->layout != BOTH && known->layout != (int)layout)
			continue;
		while (known->field[fields].name)
			fields++;
		type = (struct ktread_type){
			.id = known->id,
			.fields = fields,
			.state = KTRX_STATE_RECORD,
			.wanted = KTRX_STATE_RECORD,
			.name_alone = 1,
			.thread_bits = KTRX1_PID_MASK,
			.group = known->group,
			.name = known->name,
			.text = known->text,
			.file = "",
			.field = known->field,
		};
		ktread_types_set(types, known->id, &type);
		loaded++;
	}
	return loaded;
}

/* Functions that read records. */

static bool in_order(const struct ktrx1_record *record, int count, uint64_t stamp)
{
	bool order = true;

	for (int i = 0; i < count; i++) {
		order &= record[i].stamp >= stamp;
		stamp = record[i].stamp;
	}
	return order;
}

static void hand_out(struct ktread_cursor *cursor, const struct ktrx1_record *record, uint64_t count)
{
	((struct ktread_v1_ring *)cursor->state)->handed = record;
	cursor->item = (const unsigned char *)record;
	cursor->end = cursor->item + count * KTREAD_ITEM_SIZE;
}

static int sort_rest(struct ktread *trace, struct ktread_cursor *cursor, uint32_t held)
{
	struct ktread_v1_ring *ring = cursor->state;
	int64_t count;

	ktread_warn(trace,
		    "%s: ring %u is not in order of timestamps: sorting it takes %" PRIu64 " KiB of memory",
		    trace->memory->name, cursor->event.ring,
		    2 * (held + ring->end - ring->taken) * (KTRX1_RECORD_SIZE + sizeof(*ring->place)) >> 10);
	count = ktread_v1_ring_sort(ring, held);
	if (count <= 0)
		return (int)count;
	hand_out(cursor, ring->sorted, (uint64_t)count);
	return 1;
}

static int v1_refill(struct ktread *trace, struct ktread_cursor *cursor)
{
	struct ktread_v1_ring *ring = cursor->state;
	int count;

	if (ring->sort_first) {
		ring->sort_first = false;
		return sort_rest(trace, cursor, 0);
	}
	count = ktread_v1_ring_read(ring);
	if (count > 0 && !in_order(ring->window, count, ring->stamp))
		return sort_rest(trace, cursor, (uint32_t)count);
	if (count > 0) {
		ring->stamp = ring->window[count - 1].stamp;
		hand_out(cursor, ring->window, (uint64_t)count);
		return 1;
	}
	cursor->ring.head = cursor->ring.decoded = cursor->ring.records;
	return count;
}

/*
 * Completes an event in the slow case: its type is unknown, or the filter may reject it. Returns false if the
 * filter rejects it.
 */
static __attribute__((noinline)) bool decode_slowly(struct ktread *trace, struct ktread_event *event)
{
	event->type = ktread_types_get(&trace->types, event->id);
	return ktread_wanted(&trace->selection, event);
}

static bool v1_decode(struct ktread *trace, struct ktread_cursor *cursor)
{
	const struct ktrx1_record *record = (const struct ktrx1_record *)cursor->item;
	const struct ktread_v1_ring *ring = cursor->state;
	struct ktread_event *event = &cursor->event;
	uint32_t header = record->header;

	cursor->item += KTREAD_ITEM_SIZE;
	cursor->ring.records++;
	event->index = ktread_v1_ring_place(ring, (uint64_t)(record - ring->handed));
	event->stamp = record->stamp;
	event->id = KTRX1_EVENT(header);
	event->cpu = KTRX1_CPU(header);
	event->thread = KTRX1_PID(header);
	event->type = &trace->types.row[event->id];
	event->payload = (const unsigned char *)record->data;
	if (__builtin_expect(!event->type->name || trace->selection.active, 0))
		return decode_slowly(trace, event);
	return true;
}

static uint16_t v1_brief(struct ktread_cursor *cursor, struct ktread_brief *brief, uint16_t room)
{
	const struct ktrx1_record *record = (const struct ktrx1_record *)cursor->item;
	uint64_t held = (uint64_t)(cursor->end - cursor->item) / KTREAD_ITEM_SIZE;
	uint16_t count = held < room ? (uint16_t)held : room;

	for (uint16_t n = 0; n < count; n++) {
		uint32_t header = record[n].header;

		brief[n] = (struct ktread_brief){ record[n].stamp, KTRX1_CPU(header), KTRX1_PID(header),
						  KTRX1_EVENT(header) };
	}
	cursor->item += count * KTREAD_ITEM_SIZE;
	cursor->ring.records += count;
	return count;
}

static void v1_rewind(struct ktread *trace, struct ktread_cursor *cursor)
{
	struct ktread_v1_ring *ring = cursor->state;

	(void)trace;
	ktread_v1_ring_forget(ring);
	ring->taken = 0;
	ring->end = ring->slots;
	ring->sort_first = ring->unsorted;
	ring->stamp = 0;
}

static int v1_seek(struct ktread *trace, struct ktread_cursor *cursor)
{
	const struct ktread_selection *want = &trace->selection;
	struct ktread_v1_ring *ring = cursor->state;
	int status = want->since == 0 && want->until == UINT64_MAX
			     ? 0
			     : ktread_v1_ring_seek(ring, want->since, want->until, trace->seek_spacing);

	/* this counts each slot before the time window as a record */
	cursor->ring.records = ring->taken;
	return status;
}

static void v1_destroy(struct ktread_cursor *cursor)
{
	struct ktread_v1_ring *ring = cursor->state;

	if (!ring)
		return;
	ktread_v1_ring_forget(ring);
	free(ring->window);
	free(ring);
}

static const struct ktread_version version1 = {
	v1_refill, v1_decode, v1_brief, v1_rewind, v1_seek, v1_destroy
};

static int open_ring(struct ktread *trace, uint32_t n, uint64_t position, uint64_t slots, bool thorough)
{
	struct ktread_cursor *cursor = &trace->cursor[n];
	struct ktread_v1_ring *ring = calloc(1, sizeof(*ring));

	cursor->state = ring;
	if (!ring)
		return ktread_fail_memory();
	ring->memory = trace->memory;
	ring->position = position;
	ring->slots = slots;
	ring->window_slots = ktread_window_slots(trace->cursors);
	if (slots < ring->window_slots)
		ring->window_slots = slots ? (uint32_t)slots : 1;
	ring->window = malloc(ring->window_slots * sizeof(*ring->window));
	if (!ring->window)
		return ktread_fail_memory();
	cursor->event.payload_size = sizeof(ring->window->data);
	return ktread_v1_ring_survey(ring, thorough);
}

/* Makes `rings` cursors and the table of event types. Returns 0 or an error. */
static int describe(struct ktread *trace, uint32_t cpus, uint32_t rings)
{
	int status = ktread_cursors_create(trace, rings);

	if (status == 0)
		status = ktread_types_init(&trace->types);
	if (status < 0)
		return status;
	trace->version = &version1;
	trace->info.version = KTRX1_VERSION;
	trace->info.records_only = 1;
	trace->info.cpus = cpus;
	trace->info.types = load_types(&trace->types, trace->options.v1_layout);
	return 0;
}

/* Warns about unusual values in a header. The records can be read nevertheless. */
static void check_header(struct ktread *trace, const struct ktrx1_header *header, uint64_t offset)
{
	const char *name = trace->memory->name;

	if (header->slots & (header->slots - 1))
		ktread_warn(trace, "%s: offset %" PRIu64 ": %u slots in a ring is not a power of two", name,
			    offset, header->slots);
	if (header->flags != 0)
		ktread_warn(trace, "%s: offset %" PRIu64 ": unknown flags 0x%x in the header", name, offset,
			    header->flags);
	if (header->cpus > KTRX1_MAX_CPUS)
		ktread_warn(trace, "%s: %u rings, but records of version 1 can only name %u CPUs", name,
			    header->cpus, KTRX1_MAX_CPUS);
}

int ktread_v1_open(struct ktread *trace, const struct ktread_dump *dump)
{
	struct ktrx1_header header;
	uint64_t at = dump->offset + sizeof(header), left;
	int status = ktread_memory_read(trace->memory, dump->offset, &header, sizeof(header));

	if (status == 0)
		status = describe(trace, header.cpus, header.cpus);
	if (status < 0)
		return status;
	trace->info.frequency = header.frequency;
	check_header(trace, &header, dump->offset);
	left = ktread_memory_run(trace->memory, at) / KTRX1_RECORD_SIZE;
	for (uint32_t n = 0; n < header.cpus && status == 0; n++) {
		uint64_t slots = header.slots < left ? header.slots : left;

		trace->cursor[n].ring.cpu = n;
		trace->cursor[n].ring.slots = header.slots;
		status = open_ring(trace, n, at, slots, dump->length <= THOROUGH_LIMIT);
		at += slots * KTRX1_RECORD_SIZE;
		left -= slots;
	}
	return status;
}

/*
 * Marks a ring of bare records as unsorted if it seems to wrap around. Bare records have no header, and
 * cannot wrap around. If they seem to wrap around, they are not in order.
 */
static void forbid_rotation(struct ktread_v1_ring *ring)
{
	ring->unsorted |= ring->start != 0;
	ring->start = 0;
}

int ktread_bare_open(struct ktread *trace)
{
	uint64_t size = ktread_memory_run(trace->memory, 0);
	uint64_t slots = size / KTRX1_RECORD_SIZE;
	int status;

	if (trace->options.frequency == 0)
		return ktread_fail(KTREAD_E_ARGUMENT,
				   "%s: bare records do not contain the counter frequency: give --frequency",
				   trace->memory->name);
	if (slots == 0)
		return ktread_fail(KTREAD_E_FORMAT, "%s: %" PRIu64 " bytes are less than one record",
				   trace->memory->name, size);
	status = describe(trace, 0, 1);
	if (status < 0)
		return status;
	trace->cursor[0].ring.cpu = KTRX_NO_CPU;
	trace->cursor[0].ring.slots = slots;
	if (size % KTRX1_RECORD_SIZE) {
		trace->info.skipped_bytes = size % KTRX1_RECORD_SIZE;
		ktread_warn(trace, "%s: the last record is cut off and skipped", trace->memory->name);
	}
	status = open_ring(trace, 0, 0, slots, size <= THOROUGH_LIMIT);
	if (status == 0)
		forbid_rotation(trace->cursor[0].state);
	return status;
}
