/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reads version 2 traces as the rings of a trace. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "trace.h"
#include "versions.h"

#define NAMES_LIMIT   (UINT64_C(128) << 20) /* maximum number of bytes that are read of a table of names */
#define BUILD_ID_MOST 64u
#define NOTE_MOST     (UINT64_C(64) << 10)
/* maximum number of bytes of a section that are copied for a caller */
#define SECTION_MOST   (UINT64_C(16) << 20)
#define REGISTERS_MOST (UINT64_C(8) << 20)
#define QUIET_BYTES    (UINT64_C(4) << 20)

/*
 * Returns how many slots after the ring's last record are missing because the file does not contain all bytes
 * of the ring. For example, the file may have been truncated.
 */
static uint64_t cut_off(const struct ktread *trace, const struct ktread_v2_ring *ring)
{
	const uint64_t used = ring->head - ring->begin;
	const bool whole = ktread_region_readable(&ring->place->slots) / KTRX_SLOT_SIZE >= used;

	return whole && !trace->is_lossy ? 0 : ring->lost + ring->rejected_lost;
}

static int v2_refill(struct ktread *trace, struct ktread_cursor *cursor)
{
	struct ktread_v2_ring *ring = cursor->state;
	int status = ring ? ktread_v2_ring_fill(ring) : 0;

	if (!ring)
		return 0;
	cursor->ring.decoded = ring->decoded;
	cursor->ring.invalid = ring->invalid;
	if (status > 0) {
		cursor->item = (const unsigned char *)ring->item;
		cursor->end = (const unsigned char *)(ring->item + ring->ready);
	}
	if (status == 0) {
		cursor->ring.cut = ring->stop == ring->head ? cut_off(trace, ring) : 0;
		cursor->ring.outside = ring->outside + (ring->passed ? ring->lost : 0);
	}
	if (status == 0 && ring->disordered)
		ktread_warn(trace, "%s: ring %u: %" PRIu64 " records are out of order", trace->memory->name,
			    ring->ring, ring->disordered);
	return status;
}

/*
 * Reads an optional part of an extension block: `part` is the part's bit in extension->parts, `size` its size
 * in bytes, *at its offset in the payload. If the block has the part, sets *value, moves *at after the part
 * and returns 1. If the block does not have the part, or is too short, returns 0.
 */
static int take_part(const struct ktread_event *event, const struct ktrx_extension *extension, uint8_t part,
		     uint32_t size, uint32_t *at, uint64_t *value)
{
	*value = 0;
	if (!(extension->parts & part) || *at + size > extension->size)
		return 0;
	memcpy(value, event->payload + *at, size);
	*at += size;
	return 1;
}

void ktread_v2_take_extension(struct ktread_event *event)
{
	struct ktrx_extension extension;
	uint32_t at = sizeof(extension);
	uint64_t value;

	memcpy(&extension, event->payload, sizeof(extension));
	if (extension.size < sizeof(extension) || extension.size > event->payload_size)
		extension.size = sizeof(extension);
	if (extension.parts & KTRX_EXT_CPU)
		event->cpu = extension.cpu;
	for (uint8_t part = KTRX_EXT_CALLER1; part <= KTRX_EXT_CALLER2; part = (uint8_t)(part << 1))
		if (take_part(event, &extension, part, sizeof(value), &at, &value))
			event->caller[event->callers++] = value;
	take_part(event, &extension, KTRX_EXT_REPEAT, sizeof(uint32_t), &at, &value);
	take_part(event, &extension, KTRX_EXT_SITE, sizeof(event->site), &at, &event->site);
	event->payload += extension.size;
	event->payload_size -= extension.size;
}

/*
 * Counts the slots that were lost before an event that the filter rejects. These slots are added to the lost
 * slots of the next event, unless all of them were lost before or after the filter's time window. Overwritten
 * slots are always added, because they are the first slots of a ring, and the next event may be any later
 * event.
 */
static void reject(const struct ktread *trace, struct ktread_cursor *cursor, uint64_t lost)
{
	const struct ktread_event *event = &cursor->event;
	struct ktread_v2_ring *ring = cursor->state;
	uint64_t kept = event->lost;

	if (event->stamp < trace->selection.since && kept > cursor->ring.overwritten) {
		kept = cursor->ring.overwritten;
	} else if (event->stamp > trace->selection.until) {
		kept -= ring->passed ? lost : 0;
		ring->passed = true;
	}
	ring->outside += event->lost - kept;
	ring->rejected_lost = kept;
}

static bool v2_decode(struct ktread *trace, struct ktread_cursor *cursor)
{
	const struct ktread_v2_item *item = (const struct ktread_v2_item *)(const void *)cursor->item;
	struct ktread_v2_ring *ring = cursor->state;
	struct ktread_event *event = &cursor->event;
	const uint64_t *slot = ring->buffer[item->slot];
	bool selected;

	cursor->item += KTREAD_ITEM_SIZE;
	cursor->ring.records++;
	event->stamp = item->stamp;
	event->index = item->index;
	event->lost = item->lost + ring->rejected_lost;
	event->thread = KTRX_W1_THREAD(slot[1]);
	event->context = KTRX_W1_CONTEXT(slot[1]);
	event->cpu = cursor->ring.cpu;
	event->callers = 0;
	event->site = 0;
	event->payload = ktread_v2_ring_payload(ring, item, &event->payload_size);
	if (KTRX_W1_EXTENDED(slot[1]))
		ktread_v2_take_extension(event);
	ktread_types_identify(&trace->types, event, KTRX_W0_EVENT(slot[0]));
	selected = ktread_wanted(&trace->selection, event);
	if (selected)
		ring->rejected_lost = 0;
	else
		reject(trace, cursor, item->lost);
	return selected;
}

static void v2_rewind(struct ktread *trace, struct ktread_cursor *cursor)
{
	(void)trace;
	if (cursor->state)
		ktread_v2_ring_restart(cursor->state);
}

static int v2_seek(struct ktread *trace, struct ktread_cursor *cursor)
{
	const struct ktread_selection *want = &trace->selection;
	const struct ktread_ring *place = &cursor->ring;
	struct ktread_v2_ring *ring = cursor->state;

	if (!ring)
		return 0;
	/* only shared rings contain events of several CPUs (spec/ktrx.md, section 5) */
	if (want->cpus && place->cpu != KTRX_NO_CPU &&
	    (place->cpu >= want->cpu_count || !(want->cpus[place->cpu / 8] >> (place->cpu % 8) & 1))) {
		ring->stop = ring->index;
		return 0;
	}
	if (want->since == 0 && want->until == UINT64_MAX)
		return 0;
	return ktread_v2_ring_seek(ring, want->since, want->until, trace->seek_spacing);
}

static void v2_destroy(struct ktread_cursor *cursor)
{
	if (cursor->state)
		ktread_v2_ring_free(cursor->state);
	free(cursor->state);
}

static const struct ktread_version version2 = { v2_refill, v2_decode, NULL, v2_rewind, v2_seek, v2_destroy };

/*
 * Returns the number of slots that were lost when the ring was cleared. The nonce of a boot determines the
 * index at which that boot begins (spec/ktrx.md, section 4).
 */
static uint64_t slots_cleared(const struct ktrx_ring *row, uint64_t nonce)
{
	const uint64_t begin = row->shift < 32 ? (nonce & 0xff) << row->shift : 0;

	return row->first > begin ? row->first - begin : 0;
}

static void describe_ring(struct ktread_ring *ring, const struct ktread_ring_place *place, uint64_t nonce)
{
	uint64_t slots = ktread_ring_slots(place);

	ring->cleared = slots_cleared(&place->row, nonce);

	ring->cpu = place->row.kind == KTRX_RING_SHARED ? KTRX_NO_CPU : place->row.cpu;
	ring->kind = place->row.kind;
	ring->slots = slots;
	ring->head = place->head > place->row.first ? place->head - place->row.first : 0;
	ring->overwritten = ring->head > slots ? ring->head - slots : 0;
	ring->dropped = place->row.dropped;
	ring->lapped = place->row.lapped;
}

#define UNUSABLE_WARNINGS 4u /* maximum number of warnings about unusable rings */

static int open_ring(struct ktread *trace, uint32_t n)
{
	const struct ktread_ring_place *place = &trace->layout->ring[n];
	struct ktread_cursor *cursor = &trace->cursor[n];
	struct ktread_v2_ring *ring;
	int status;

	cursor->ring.cpu = KTRX_NO_CPU;
	if (!place->usable) {
		if (trace->info.unusable++ < UNUSABLE_WARNINGS)
			ktread_warn(trace,
				    "%s: ring %u is skipped: its mask 0x%x or its shift %u is wrong, "
				    "or it overlaps another ring",
				    trace->memory->name, n, place->row.mask, place->row.shift);
		return 0;
	}
	describe_ring(&cursor->ring, place, trace->info.nonce);
	if (cursor->ring.head == 0)
		return 0;
	cursor->state = ring = calloc(1, sizeof(*ring));
	if (!ring)
		return ktread_fail_memory();
	ring->layout = trace->layout;
	ring->place = place;
	ring->ring = n;
	ring->head = place->head;
	ring->begin = ktread_ring_begin(place, place->head);
	ring->trace = trace;
	status = ktread_v2_ring_init(ring, trace->cursors);
	if (status == 0)
		status = ktread_stamp_find_start(trace->layout, n, ring->begin, ring->head, &ring->start);
	if (status == 0 && ring->start.broken)
		ktread_warn(trace, "%s: ring %u: a full timestamp is missing: some timestamps are estimated",
			    trace->memory->name, n);
	return status;
}

/*
 * Copies the bytes of a section, at most `limit`. If there is no such section, sets *copy to NULL and *size
 * to 0. Returns 0 or an error.
 */
static int section_copy(const struct ktread *trace, uint32_t type, uint64_t limit, char **copy,
			uint64_t *size)
{
	const struct ktread_section *section = ktread_layout_section(trace->layout, type, 0);

	*copy = NULL;
	*size = 0;
	return section ? ktread_region_copy(&section->region, limit, copy, size) : 0;
}

int ktread_section_copy(const struct ktread *trace, uint32_t type, char **bytes, uint64_t *size)
{
	const struct ktread_section *section =
		trace->layout ? ktread_layout_section(trace->layout, type, 0) : NULL;

	*bytes = NULL;
	*size = 0;
	if (!section || ktread_region_readable(&section->region) < section->region.length)
		return KTREAD_E_ABSENT;
	return section_copy(trace, type, SECTION_MOST, bytes, size);
}

int ktread_v2_load_threads(struct ktread *trace)
{
	const struct ktread_section *threads = ktread_layout_section(trace->layout, KTRX_SECTION_THREADS, 0);
	uint32_t stride =
		threads && threads->row.entry_size ? threads->row.entry_size : sizeof(struct ktrx_thread);
	char *bytes;
	uint64_t size;
	int status = section_copy(trace, KTRX_SECTION_THREADS, NAMES_LIMIT, &bytes, &size);

	if (status == 0 && bytes && stride >= sizeof(struct ktrx_thread)) {
		ktread_names_free(&trace->threads);
		return ktread_names_load_threads(&trace->threads, bytes, size, stride);
	}
	free(bytes);
	return status;
}

static int load_names(struct ktread *trace)
{
	char *bytes;
	uint64_t size;
	int status = ktread_v2_load_threads(trace);

	if (status == 0)
		status = section_copy(trace, KTRX_SECTION_SYSCALLS, NAMES_LIMIT, &bytes, &size);
	if (status == 0 && bytes)
		status = ktread_names_load_calls(&trace->syscalls, &trace->errors, bytes, size);
	return status;
}

/*
 * Returns true if all bytes are zero. If so, the kernel reserved room for a build id, but no build id was
 * written there.
 */
static bool is_zero(const char *bytes, uint64_t size)
{
	for (uint64_t i = 0; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

static int load_build_id(struct ktread *trace)
{
	char *bytes;
	uint64_t size;
	int status = section_copy(trace, KTRX_SECTION_BUILD_ID, BUILD_ID_MOST, &bytes, &size);

	trace->build_id = (unsigned char *)bytes;
	trace->info.build_id = trace->build_id;
	trace->info.build_id_size = bytes && !is_zero(bytes, size) ? (uint32_t)size : 0;
	return status;
}

static int load_note(struct ktread *trace)
{
	uint64_t size;
	int status = section_copy(trace, KTRX_SECTION_NOTE, NOTE_MOST, &trace->note, &size);

	if (trace->note)
		trace->info.note = trace->note;
	if (status == 0)
		status =
			section_copy(trace, KTRX_SECTION_REGISTERS, REGISTERS_MOST, &trace->registers, &size);
	if (trace->registers)
		trace->info.registers = trace->registers;
	return status;
}

static void describe(struct ktread *trace)
{
	const struct ktrx_root *root = &trace->layout->root;
	struct ktread_info *info = &trace->info;

	info->version = KTRX2_VERSION;
	info->frequency = root->frequency;
	info->cpus = root->cpus < KTRX_MAX_RINGS ? root->cpus : KTRX_MAX_RINGS - 1;
	info->machine = root->machine;
	info->outcome = root->outcome;
	info->status = root->status;
	info->nonce = root->nonce;
	info->self = root->self;
	info->wall_stamp = root->wall_stamp;
	info->wall_ns = root->wall_ns;
	info->kernel = root->kernel;
	info->lost_events = root->lost_events;
	info->stopped = (root->flags & KTRX_FLAG_STOPPED) != 0;
	info->unknown_sections = trace->layout->unknown;
}

/*
 * Warns about event types whose text does not match their fields. Their events are shown nevertheless, as far
 * as possible.
 */
static void check_texts(struct ktread *trace)
{
	uint32_t bad = 0, first = 0;

	for (uint32_t id = 1; id < KTREAD_TYPE_ROWS; id++) {
		const struct ktread_type *type = ktread_types_known(&trace->types, id);

		if (!type || ktread_text_fits(type))
			continue;
		first = first ? first : id;
		bad++;
	}
	if (bad)
		ktread_warn(
			trace,
			"%s: %u event%s with a text that does not match the fields, the first is number %u",
			trace->memory->name, bad, bad == 1 ? "" : "s", first);
}

static int load_types(struct ktread *trace)
{
	uint32_t damaged;
	int rows = ktread_types_init(&trace->types);

	if (rows == 0)
		rows = ktread_types_load_v2(&trace->types, trace->layout, &damaged);
	if (rows < 0)
		return rows;
	trace->info.types = (uint32_t)rows;
	if (damaged)
		ktread_warn(trace, "%s: %u event descriptors are damaged and skipped", trace->memory->name,
			    damaged);
	check_texts(trace);
	return 0;
}

/* Warns if reading the trace needs much memory, because it has many rings. */
static void warn_memory(struct ktread *trace)
{
	uint64_t bytes = 0;

	for (uint32_t n = 0; n < trace->cursors; n++) {
		bytes += sizeof(struct ktread_cursor) + sizeof(struct ktread_ring_place);
		if (trace->cursor[n].state)
			bytes += ktread_v2_ring_bytes(trace->cursor[n].state);
	}
	if (bytes > QUIET_BYTES)
		ktread_warn(trace, "%s: reading %u rings takes %" PRIu64 " MiB of memory",
			    trace->memory->name, trace->cursors, bytes >> 20);
}

/*
 * Counts the CPUs that have run: CPUs whose row states that they are online, and CPUs whose ring has records.
 */
static void count_online(struct ktread *trace)
{
	struct ktrx_cpu row;

	for (uint32_t cpu = 0; cpu < trace->info.cpus; cpu++) {
		bool ran = ktread_layout_cpus(trace->layout, cpu, &row, 1) > 0 && row.online;

		for (uint32_t n = 0; n < trace->cursors && !ran; n++)
			ran = trace->cursor[n].ring.cpu == cpu && trace->cursor[n].ring.head;
		trace->info.online += ran;
	}
}

int ktread_v2_open(struct ktread *trace, struct ktread_layout *layout)
{
	int status;

	trace->layout = layout;
	trace->version = &version2;
	describe(trace);
	status = ktread_cursors_create(trace, layout->rings);
	if (status == 0)
		status = load_types(trace);
	if (status == 0)
		status = load_names(trace);
	if (status == 0)
		status = ktread_clock_load(trace);
	if (status == 0)
		status = ktread_folds_check(trace);
	if (status == 0)
		status = load_build_id(trace);
	if (status == 0)
		status = load_note(trace);
	for (uint32_t n = 0; n < layout->rings && status == 0; n++)
		status = open_ring(trace, n);
	if (status == 0) {
		count_online(trace);
		warn_memory(trace);
	}
	return status;
}

int ktread_v2_open_dump(struct ktread *trace, uint64_t offset)
{
	struct ktread_layout *layout;
	int status = ktread_layout_open_dump(&layout, trace->memory, offset);

	return status < 0 ? status : ktread_v2_open(trace, layout);
}
