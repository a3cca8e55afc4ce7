/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Records out of line: events whose state or flags demand more than a plain record, records with several
 * slots or strings, and events that fire before any ring but the boot ring exists.
 */
#include "core.h"

KTRACE_DECLARE(1, ktrace_event_ktrace_repeat, "ktrace\0repeat", KTRX_STATE_RECORD, 0, KTRX_V1_NONE,
	       "event %u: %llu more, from %llu to %llu", (uint16_t, event), (unsigned long long, more),
	       (unsigned long long, first), (unsigned long long, last));
#define KTRACE_REPEAT_BYTES 26u

/*
 * Attaches, so that event descriptors get their ids. Returns 0, and counts the event as lost, if it has no id
 * because there are too many events.
 */
static int attach_or_lose(const struct ktrx_event *event)
{
	ktrace_attach();
	if (event->id != 0)
		return 1;
	ktrace_arch_fetch_add(&ktrace_root.lost_events, 1);
	return 0;
}

static void count_event(struct ktrx_event *event, uint32_t ring)
{
	uint64_t *shared = &event->count;

	if (ktrace_state.counters)
		shared = &ktrace_state.counters[ring * (ktrace_state.events + 1) + event->id];
	ktrace_arch_fetch_add(shared, 1);
}

/*
 * The place and the call site of a record, and its flags. The flags are requested by the event, or by a
 * setting for all events.
 */
struct ktrace_origin {
	uint32_t wanted; /* KTRX_EVENT_* flags */
	uint16_t id;	 /* id of the place; 0: the records have the event's id */
	uintptr_t site;
};

static uint32_t flags_wanted(const struct ktrx_event *event)
{
	return *(const volatile uint8_t *)&event->flags | (ktrace_state.callers ? 2u : 0u) |
	       (ktrace_state.sites ? KTRX_EVENT_SITE : 0);
}

/* Returns the number of the ring for an event with the flags `wanted`, on the CPU with this reserve word. */
static uint32_t ring_for(uint64_t word, uint32_t wanted)
{
	uint32_t ring = KTRX_WORD_RING(word);

	return ring != 0 && ktrace_state.rare != 0 && wanted & KTRX_EVENT_RARE ? ktrace_state.rare : ring;
}

static int is_shared(uint32_t ring)
{
	return ring == 0 || ring == ktrace_state.rare;
}

/*
 * Returns the first word of an extension block, without the block's size and without flags for addresses.
 * Returns 0 for the ring of a single CPU, because records there do not contain the number of the CPU.
 */
static uint32_t extension_head(uint32_t ring, uint64_t word)
{
	uint32_t own = KTRX_WORD_RING(word);

	if (!is_shared(ring))
		return 0;
	return KTRX_EXT_CPU << 8 | (own ? ktrace_ring[own].cpu : ktrace_arch_early_cpu()) << 16;
}

/*
 * Writes a string field to to[at]: 2 bytes for the length, then at most `room` and at most KTRACE_STRING_MAX
 * bytes of the string. Returns the offset after the field.
 */
static uint32_t pack_string(uint8_t *to, uint32_t at, uint32_t room, const char *string)
{
	static const char null[] = "(null)";
	const char *from = string ? string : null;
	uint32_t most = room < KTRACE_STRING_MAX ? room : KTRACE_STRING_MAX;
	uint32_t length = 0;

	while (length < most && from[length]) {
		ktrace_put8(to, at + 2 + length, (uint8_t)from[length]);
		length++;
	}
	ktrace_put8(to, at, length);
	ktrace_put8(to, at + 1, (length | (length == most && from[length] ? KTRX_STRING_CUT : 0)) >> 8);
	return at + 2 + length;
}

/* Size in bytes of a field of each KTRX_TYPE_*; for a string, the size of its length word. */
static const uint8_t type_bytes[] = { 0, 1, 2, 4, 8, 1, 2, 4, 8, 8, 2, 1, 1 };

/*
 * Packs the fields of an event to `to`. Returns the payload's length.
 * `to` must be aligned to 4 bytes and have room for KTRACE_CAPACITY(payload) + 8 bytes: each field is stored
 * as eight bytes, and the next field overwrites the excess.
 */
static uint32_t pack_values(uint8_t *to, const struct ktrx_event *event, const uint64_t *values)
{
	uint32_t fields = event->fields, room = KTRACE_PAYLOAD_MAX, at = 0;

	for (uint32_t n = 0; n < fields; n++)
		room -= type_bytes[event->type[n]];
	for (uint32_t n = 0; n < fields; n++) {
		uint32_t type = event->type[n], end = at + type_bytes[type];

		if (type == KTRX_TYPE_STRING) {
			end = pack_string(to, at, room, (const char *)(uintptr_t)values[n]);
			room -= end - at - 2;
		} else {
			ktrace_put64(to, at, values[n]);
		}
		at = end;
	}
	ktrace_put64(to, at, 0);
	return at;
}

/*
 * Records the repetitions that an entry has counted, into the ring of the repeated record. Returns 0 if that
 * ring is full.
 */
__attribute__((__noinline__)) static int repeat_record(const struct ktrx_fold *row, uint64_t word)
{
	uint32_t buffer[(KTRACE_CAPACITY(sizeof(struct ktrx_extension) + KTRACE_REPEAT_BYTES) + 7) / 4];
	uint32_t head = is_shared(row->ring) ? sizeof(struct ktrx_extension) : 0;
	const uint64_t values[] = { row->event, row->count, row->first, row->last };
	struct ktrace_pending pending;

	buffer[0] = extension_head(row->ring, word) | head;
	pending.bytes =
		head + pack_values((uint8_t *)buffer + head, &ktrace_event_ktrace_repeat.event, values);
	pending.payload = buffer;
	pending.second = (row->second & ~KTRX_W1_EXTENDED_BIT) | (head ? KTRX_W1_EXTENDED_BIT : 0);
	pending.ring = is_shared(row->ring) ? row->ring : KTRX_WORD_RING(word);
	pending.event = ktrace_event_ktrace_repeat.event.id;
	pending.place = 0;
	return ktrace_write(&pending) != 0;
}

/*
 * If the record equals the last record of its event, counts it instead of writing it, and returns 1.
 * Otherwise returns 0, after it has recorded the old count and made the entry count repetitions of this
 * record. If the ring is full, the entry keeps its old record and count.
 */
static int is_folded(const struct ktrace_pending *pending, uint64_t word)
{
	struct ktrx_fold *row;
	uint64_t stamp;
	int is_same;

	if (!(*(volatile uint8_t *)&ktrace_event_ktrace_repeat.event.state & KTRX_STATE_RECORD) ||
	    KTRX_WORD_RING(word) == 0)
		return 0;
	row = ktrace_fold_hold(KTRX_WORD_RING(word) - 1, pending->event);
	if (!row)
		return 0;
	ktrace_pending_end(pending);
	stamp = ktrace_arch_clock();
	is_same = ktrace_fold_is(row, pending);
	if (is_same)
		ktrace_fold_count(row, stamp);
	else if (row->count == 0 || repeat_record(row, word))
		ktrace_fold_set(row, pending, stamp);
	ktrace_fold_release(row);
	return is_same;
}

static uint32_t put_address(uint32_t *to, uint32_t at, uint64_t address)
{
	to[at] = (uint32_t)address;
	to[at + 1] = (uint32_t)(address >> 32);
	return at + 2;
}

/*
 * Adds addresses to the head of an extension block, if a payload of `bytes` bytes leaves room for them.
 * Returns the block's size in words.
 */
static uint32_t extension_make(uint32_t *to, uint32_t bytes, const struct ktrace_origin *origin)
{
	uint32_t wanted = origin->wanted, parts = 0, at = 1, callers = 0;
	uint64_t caller[2];

	if (bytes > KTRX_RECORD_MAX_PAYLOAD - KTRACE_EXTENSION_MAX)
		wanted = 0;
	if (wanted & KTRX_EVENT_CALLERS)
		callers = ktrace_callers(origin->site, caller, (wanted & KTRX_EVENT_CALLERS) == 1 ? 1 : 2);
	for (uint32_t n = 0; n < callers; n++) {
		parts |= KTRX_EXT_CALLER1 << n;
		at = put_address(to, at, caller[n]);
	}
	if (wanted & KTRX_EVENT_SITE) {
		parts |= KTRX_EXT_SITE;
		at = put_address(to, at, origin->site);
	}
	to[0] |= at * 4 | parts << 8;
	return at;
}

/*
 * Writes the record, or counts it as a repetition. Returns the result of ktrace_write(); 0 if the record was
 * counted.
 */
static uint64_t write_or_fold(const struct ktrace_pending *pending, uint64_t word, uint32_t wanted)
{
	if (wanted & KTRX_EVENT_FOLD && is_folded(pending, word))
		return 0;
	return ktrace_write(pending);
}

/* Writes or counts a record with an extension block. Every record of a shared ring has an extension block. */
static uint64_t record_extended(struct ktrace_pending *pending, uint64_t word,
				const struct ktrace_origin *origin)
{
	uint32_t extended[(KTRX_RECORD_MAX_PAYLOAD + 3) / 4];
	uint32_t words;

	extended[0] = extension_head(pending->ring, word);
	words = extension_make(extended, pending->bytes, origin);
	for (uint32_t i = 0; i < (pending->bytes + 3) / 4; i++)
		((volatile uint32_t *)extended)[words + i] = pending->payload[i];
	pending->payload = extended;
	pending->bytes += words * 4;
	pending->second |= KTRX_W1_EXTENDED_BIT;
	return write_or_fold(pending, word, origin->wanted);
}

/*
 * Records into the right ring. If `reserved` is nonzero, the call site has already reserved a slot: the
 * record goes into that slot, without addresses, because the slot has no room for them.
 */
static uint64_t record(const struct ktrx_event *event, uint32_t *payload, uint32_t bytes, uint64_t word,
		       int reserved, uint64_t stamp, const struct ktrace_origin *origin)
{
	struct ktrace_pending pending;

	pending.payload = payload;
	pending.bytes = bytes;
	pending.event = event->id;
	pending.place = origin->id;
	pending.ring = reserved ? KTRX_WORD_RING(word) : ring_for(word, origin->wanted);
	pending.second = pending.ring ? ktrace_arch_thread() : KTRX_CONTEXT_EARLY << KTRX_W1_CONTEXT_SHIFT;
	if (reserved && pending.ring != 0)
		return ktrace_write_reserved(&pending, word, stamp);
	if (is_shared(pending.ring) || origin->wanted & (KTRX_EVENT_CALLERS | KTRX_EVENT_SITE))
		return record_extended(&pending, word, origin);
	return write_or_fold(&pending, word, origin->wanted);
}

/*
 * Does what the event's state demands. A slot that the call site has reserved is filled even if the event was
 * turned off after the reservation. Returns the record's timestamp; 0 if there is no record.
 */
static uint64_t emit(struct ktrx_event *event, uint32_t *payload, uint32_t bytes, uint64_t word, int reserved,
		     uint64_t stamp, const struct ktrace_origin *origin)
{
	uint8_t state = *(volatile uint8_t *)&event->state;

	if (state & KTRX_STATE_COUNT)
		count_event(event, KTRX_WORD_RING(word));
	stamp = state & KTRX_STATE_RECORD || reserved
			? record(event, payload, bytes, word, reserved, stamp, origin)
			: 0;
	if (state & KTRX_STATE_STOP)
		ktrace_stop();
	return stamp;
}

/* Passes a record that was just made to the console sink. */
static void print_to_console(const struct ktrx_event *event, const struct ktrx_place *place,
			     const void *payload, uint32_t bytes, uint32_t ring, uint64_t stamp)
{
	void (*hook)(const struct ktrace_console_record *) = ktrace_state.print;
	struct ktrace_console_record made;

	if (!hook || !ktrace_state.verbose || stamp == 0)
		return;
	made.event = event;
	made.place = place;
	made.payload = payload;
	made.bytes = bytes;
	made.cpu = ring ? ktrace_ring[ring].cpu : ktrace_arch_early_cpu();
	made.thread = ring ? ktrace_arch_thread() : KTRX_CONTEXT_EARLY << KTRX_W1_CONTEXT_SHIFT;
	made.stamp = stamp;
	hook(&made);
}

/*
 * Returns the id of the place for its records; 0 if they carry the event's id. Requires: the event has an id.
 */
static uint16_t place_id(struct ktrx_place *place, const struct ktrx_event *event)
{
	if (!place)
		return 0;
	if (ktrace_place_number(place) == 0) {
		ktrace_place_join(place, event);
		ktrace_place_follow(place, event);
	}
	return (uint16_t)(ktrace_place_number(place) == event->id ? 0 : ktrace_place_number(place));
}

/* Handles events whose state or flags demand more than a plain record, and the first event that fires. */
static void emit_slowly(struct ktrx_event *event, struct ktrx_place *place, uint32_t *payload, uint32_t bytes,
			uint64_t word, uint64_t stamp, uintptr_t address)
{
	int reserved = word != KTRACE_WORD_NONE;
	struct ktrace_origin origin;

	if (!attach_or_lose(event))
		return;
	origin.wanted = flags_wanted(event);
	origin.id = place_id(place, event);
	origin.site = address;
	if (!reserved)
		word = ktrace_state.initialised ? ktrace_arch_reserve_read() : 0;
	stamp = emit(event, payload, bytes, word, reserved, stamp, &origin);
	print_to_console(event, place, payload, bytes, KTRX_WORD_RING(word), stamp);
}

/*
 * Handles events whose state and flags demand only a plain record. Such events exist only after
 * ktrace_init(). Long records regularly take this path.
 */
static void emit_plainly(const struct ktrx_event *event, struct ktrx_place *place, uint32_t *payload,
			 uint32_t bytes)
{
	uint64_t word = ktrace_arch_reserve_read();
	struct ktrace_origin unasked;
	struct ktrace_pending pending;

	unasked.wanted = 0;
	unasked.id = place_id(place, event);
	unasked.site = 0;
	pending.ring = KTRX_WORD_RING(word);
	if (pending.ring == 0) {
		record(event, payload, bytes, word, 0, 0, &unasked);
		return;
	}
	pending.payload = payload;
	pending.bytes = bytes;
	pending.event = event->id;
	pending.place = unasked.id;
	pending.second = ktrace_arch_thread();
	ktrace_write_own(&pending);
}

static void emit_at(struct ktrx_event *event, struct ktrx_place *place, void *payload, uint32_t bytes,
		    uint64_t word, uint64_t stamp, uintptr_t site)
{
	uint8_t state = *(volatile uint8_t *)&event->state;

	if (state == KTRX_STATE_RECORD && word == KTRACE_WORD_NONE)
		emit_plainly(event, place, payload, bytes);
	else
		emit_slowly(event, place, payload, bytes, word, stamp, site);
}

static void emit_early(struct ktrx_event *event, void *payload, uint32_t bytes, uintptr_t site)
{
	struct ktrace_origin origin;

	if (!attach_or_lose(event))
		return;
	origin.wanted = flags_wanted(event) & KTRX_EVENT_SITE;
	origin.id = 0;
	origin.site = site;
	emit(event, payload, bytes, 0, 0, 0, &origin);
}

void ktrace_emit_long(struct ktrace_packer *fields, uintptr_t site)
{
	struct ktrx_event *event = fields->event;
	uint32_t payload[(KTRACE_CAPACITY(KTRACE_PAYLOAD_MAX) + 8 + 7) / 8 * 2]
		__attribute__((__aligned__(8)));
	void *whole = fields->word;
	uint32_t bytes = fields->at;
	unsigned long pinned;

	if (fields->size >= KTRACE_STRING_SIZE) {
		bytes = pack_values((uint8_t *)payload, event, fields->word);
		whole = payload;
	}
	if (fields->early) {
		emit_early(event, whole, bytes, site);
		return;
	}
	pinned = ktrace_arch_pin();
	emit_at(event, fields->place, whole, bytes, KTRACE_WORD_NONE, 0, site);
	ktrace_arch_unpin(pinned);
}

__attribute__((__noinline__)) void ktrace_emit_here(struct ktrace_packer *fields)
{
	ktrace_emit_long(fields, KTRACE_RETURN_ADDRESS);
}

__attribute__((__noinline__)) void ktrace_emit_packed(struct ktrx_event *event, void *payload, uint32_t bytes)
{
	emit_at(event, KTRACE_NULL, payload, bytes, KTRACE_WORD_NONE, 0, KTRACE_RETURN_ADDRESS);
}

void ktrace_emit_words(struct ktrx_event *event, struct ktrx_place *place, uint64_t first, uint64_t second,
		       uint64_t third, uint64_t word, uint64_t stamp, uintptr_t site)
{
	uint32_t payload[KTRX_FIRST_PAYLOAD / 4 + 1] __attribute__((__aligned__(8)));

	payload[0] = (uint32_t)first;
	payload[1] = (uint32_t)(first >> 32);
	payload[2] = (uint32_t)second;
	payload[3] = (uint32_t)(second >> 32);
	payload[4] = (uint32_t)third;
	payload[5] = 0;
	emit_at(event, place, payload, (uint32_t)(third >> 32), word, stamp, site);
}

__attribute__((__noinline__)) void ktrace_emit_short(struct ktrx_event *event, uint64_t first,
						     uint64_t second, uint64_t third, uint64_t word,
						     uint64_t stamp)
{
	ktrace_emit_words(event, KTRACE_NULL, first, second, third, word, stamp, KTRACE_RETURN_ADDRESS);
}

__attribute__((__noinline__)) void ktrace_emit_place(struct ktrx_event *event, uint64_t first,
						     uint64_t second, uint64_t third, uint64_t word,
						     uint64_t stamp, struct ktrx_place *place)
{
	ktrace_emit_words(event, place, first, second, third, word, stamp, KTRACE_RETURN_ADDRESS);
}
