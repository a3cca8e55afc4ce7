/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Functions that read the trace inside the kernel while writers may be active. */
#include "reader.h"

#include "../base/bytes.h"

/* ---- rings and their slots -------------------------------------------------------------------- */

const struct ktrx_ring *ktrace_root_rings(const struct ktrx_root *root, uint32_t *rings)
{
	for (uint32_t i = 0; i < KTRX_SECTIONS; i++) {
		const struct ktrx_section *section = &root->section[i];

		if (section->type == KTRX_SECTION_RINGS && section->where == KTRX_WHERE_VIRTUAL &&
		    section->extents == 1) {
			*rings = (uint32_t)(section->length / sizeof(struct ktrx_ring));
			return (const struct ktrx_ring *)(uintptr_t)section->address;
		}
	}
	return NULL;
}

static uint64_t reserve_word(const struct ktrx_ring *ring)
{
	const uint64_t *at = ring->head ? (const uint64_t *)(uintptr_t)ring->head : &ring->word;

	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

uint32_t ktrace_ring_number(const struct ktrx_ring *ring)
{
	return ring->kind == KTRX_RING_PER_CPU ? ring->cpu + 1 : KTRX_WORD_RING(reserve_word(ring));
}

uint64_t ktrace_ring_head(const struct ktrx_ring *ring)
{
	uint64_t word = reserve_word(ring);

	if (ring->kind == KTRX_RING_PER_CPU && KTRX_WORD_RING(word) != ring->cpu + 1)
		return ring->first;
	return KTRX_WORD_INDEX(word);
}

/* ---- descriptors in the event table ----------------------------------------------------------- */

static bool is_table(const struct ktrx_section *section)
{
	return section->type == KTRX_SECTION_EVENTS && section->where == KTRX_WHERE_VIRTUAL &&
	       section->extents == 1;
}

/* Returns true if the strings that every event descriptor has (group, name, text, file) end within it. */
static bool row_is_whole(const struct ktrx_event *row)
{
	const char *at = (const char *)(row + 1);
	const char *end = (const char *)row + row->size;
	uint32_t strings = 0;

	for (; at < end && strings < KTRACE_DESCRIPTOR_FIELDS; at++)
		strings += *at == '\0';
	return strings == KTRACE_DESCRIPTOR_FIELDS;
}

/*
 * An item of the event table: a descriptor, with its size and magic; or 8 bytes that are not part of a
 * descriptor, with magic 0.
 */
struct item {
	const unsigned char *at;
	uint32_t bytes;
	uint16_t magic;
};

static void look(struct item *item, const unsigned char *at, uint64_t left)
{
	/* Magic and size are at the same offsets in descriptors of events and of places. */
	const struct ktrx_event *row = (const struct ktrx_event *)at;
	const uint32_t least = row->magic == KTRX_EVENT_MAGIC	? (uint32_t)sizeof(struct ktrx_event)
			       : row->magic == KTRX_PLACE_MAGIC ? (uint32_t)sizeof(struct ktrx_place)
								: 0;

	item->at = at;
	item->magic = 0;
	item->bytes = sizeof(uint64_t);
	if (least == 0 || row->size < least || row->size % 8 != 0 || row->size > left)
		return;
	item->magic = row->magic;
	item->bytes = row->size;
}

/*
 * Calls `is_it` for each item of the table until a call returns true. Returns the descriptor in that item;
 * NULL if no call returns true.
 */
static const void *search(const struct ktrx_root *root, bool (*is_it)(const struct item *, uint32_t *),
			  uint32_t id)
{
	for (uint32_t i = 0; i < KTRX_SECTIONS; i++) {
		const struct ktrx_section *section = &root->section[i];
		const unsigned char *at = (const unsigned char *)(uintptr_t)section->address;
		uint64_t left = is_table(section) ? section->length : 0;
		struct item item;

		for (; left >= sizeof(struct ktrx_place); at += item.bytes, left -= item.bytes) {
			look(&item, at, left);
			if (is_it(&item, &id))
				return at;
		}
	}
	return NULL;
}

/*
 * Counts event descriptors: decrements *id at each of them. Returns true at the descriptor of the event whose
 * id was in *id before the search.
 */
static bool is_event(const struct item *item, uint32_t *id)
{
	return item->magic == KTRX_EVENT_MAGIC && --*id == 0;
}

static bool is_place(const struct item *item, uint32_t *id)
{
	const struct ktrx_place *place = (const struct ktrx_place *)(const void *)item->at;

	return item->magic == KTRX_PLACE_MAGIC && place->id == *id && place->event != 0;
}

const struct ktrx_event *ktrace_descriptor_find(const struct ktrx_root *root, uint32_t id)
{
	const struct ktrx_event *row = id ? search(root, is_event, id) : NULL;

	return row && row_is_whole(row) ? row : NULL;
}

const struct ktrx_event *ktrace_descriptor_of(const struct ktrx_root *root, uint32_t id,
					      const struct ktrx_place **place)
{
	const struct ktrx_event *row = ktrace_descriptor_find(root, id);

	*place = row || !id ? NULL : search(root, is_place, id);
	return *place ? ktrace_descriptor_find(root, (*place)->event) : row;
}

const char *ktrace_descriptor_file(const struct ktrx_event *row, const struct ktrx_place *place)
{
	const char *file = (const char *)(place + 1);

	if (!place)
		return ktrace_descriptor_string(row, KTRACE_DESCRIPTOR_FILE);
	for (uint32_t i = 0; i < place->size - sizeof(*place); i++)
		if (file[i] == '\0')
			return file;
	return "";
}

const char *ktrace_descriptor_string(const struct ktrx_event *row, uint32_t n)
{
	const char *start = (const char *)(row + 1);
	const char *end = (const char *)row + row->size;

	for (const char *at = start; at < end; at++) {
		if (*at)
			continue;
		if (n-- == 0)
			return start;
		start = at + 1;
	}
	return "";
}

uint32_t ktrace_field_bytes(uint8_t type)
{
	static const uint8_t bytes[] = {
		[KTRX_TYPE_U8] = 1,   [KTRX_TYPE_U16] = 2,  [KTRX_TYPE_U32] = 4,     [KTRX_TYPE_U64] = 8,
		[KTRX_TYPE_I8] = 1,   [KTRX_TYPE_I16] = 2,  [KTRX_TYPE_I32] = 4,     [KTRX_TYPE_I64] = 8,
		[KTRX_TYPE_BOOL] = 1, [KTRX_TYPE_CHAR] = 1, [KTRX_TYPE_POINTER] = 8,
	};

	return type < sizeof(bytes) ? bytes[type] : 0;
}

uint64_t ktrace_field_value(const uint8_t *from, uint8_t type)
{
	uint32_t bytes = ktrace_field_bytes(type);
	uint64_t value = 0;

	for (uint32_t i = 0; i < bytes; i++)
		value |= (uint64_t)from[i] << 8 * i;
	if (type >= KTRX_TYPE_I8 && type < KTRX_TYPE_I64 && (from[bytes - 1] & 0x80u))
		value |= ~(uint64_t)0 << 8 * bytes;
	return value;
}

/* ---- walks of the records of a ring ----------------------------------------------------------- */

/*
 * How a slot is read: the slot is copied first, then the head is read. If that head shows that no writer has
 * reserved the slot for a later lap, the copy belongs to the lap in its tag. A backward walk ends at the
 * first slot that was reserved again, because all older slots have been reserved again as well.
 */

#define KTRACE_ANCHOR_PREVIOUS 8u /* offset of the previous anchor's timestamp in an anchor's payload */

union slot {
	uint64_t word[KTRX_SLOT_SIZE / sizeof(uint64_t)];
	uint8_t byte[KTRX_SLOT_SIZE];
};

static uint64_t load64(const uint8_t *bytes)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < sizeof(value); i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

static bool is_overwritten(const struct ktrx_ring *ring, uint64_t index)
{
	return ktrace_ring_head(ring) - index > (uint64_t)ring->mask + 1;
}

static bool is_of_lap(const struct ktrx_ring *ring, uint64_t index, const union slot *slot)
{
	return KTRX_TAG_GENERATION(slot->word[0]) == ktrx_generation(index, ring->shift);
}

static bool is_of_kinds(const union slot *slot, uint32_t kinds)
{
	return (kinds >> KTRX_TAG_KIND(slot->word[0]) & 1u) != 0;
}

/*
 * Copies slot `index`. Returns false if the slot does not contain data of the lap of `index` (not yet, or no
 * longer), or if its kind is not in the mask `kinds`.
 */
static bool slot_copy(const struct ktrx_ring *ring, uint64_t index, uint32_t kinds, union slot *slot)
{
	const unsigned char *base = (const unsigned char *)(uintptr_t)ring->base;

	ktrace_copy_slots(slot, base + ((index & ring->mask) << KTRX_SLOT_SHIFT), 1);
	return !is_overwritten(ring, index) && is_of_kinds(slot, kinds) && is_of_lap(ring, index, slot);
}

static uint32_t lap_of(const struct ktrx_ring *ring, uint64_t index)
{
	return ktrx_lap(ktrace_ring_number(ring), index, ring->shift);
}

/*
 * Returns true if the check in the first slot of a record is right. `index`: the slot's position. `rest`:
 * what the record's other slots contribute to the check.
 */
static bool is_checked(const struct ktrx_ring *ring, uint64_t index, const union slot *slot, uint64_t rest)
{
	return ktrx_first_is_checked(slot->word, lap_of(ring, index), rest);
}

/*
 * Copies a first slot. A SINGLE slot is checked here, a FIRST slot together with the other slots of its
 * record.
 */
static bool first_copy(const struct ktrx_ring *ring, uint64_t index, union slot *slot)
{
	return slot_copy(ring, index, 1u << KTRX_KIND_SINGLE | 1u << KTRX_KIND_FIRST, slot) &&
	       (KTRX_TAG_KIND(slot->word[0]) == KTRX_KIND_FIRST || is_checked(ring, index, slot, 0));
}

/* Copies a continuation slot. Stores in *check what this slot contributes to the check of its record. */
static bool more_copy(const struct ktrx_ring *ring, uint64_t index, union slot *slot, uint64_t *check)
{
	if (!slot_copy(ring, index, 1u << KTRX_KIND_MORE | 1u << KTRX_KIND_LAST, slot))
		return false;
	*check = ktrx_check_more(slot->word, lap_of(ring, index));
	return ((*check ^ slot->word[0]) & KTRX_TAG_CHECK_MASK) == 0;
}

static bool is_anchor(const union slot *slot)
{
	return KTRX_TAG_KIND(slot->word[0]) == KTRX_KIND_SINGLE &&
	       KTRX_W0_EVENT(slot->word[0]) == KTRX_EVENT_ANCHOR;
}

/*
 * Returns the timestamp of the anchor to which the oldest records are relative. That anchor may be
 * overwritten, but the next anchor in the ring contains its timestamp. If the ring contains no anchor any
 * more, all records in it are relative to the newest anchor, whose timestamp is in ring->anchor_stamp.
 */
static uint64_t first_reference(const struct ktrace_walk *walk)
{
	for (uint64_t index = walk->index; index < walk->head; index++) {
		union slot slot;

		if (first_copy(walk->ring, index, &slot) && is_anchor(&slot))
			return load64(slot.byte + KTRX_FIRST_OFFSET + KTRACE_ANCHOR_PREVIOUS);
	}
	return walk->ring->anchor_stamp;
}

/* Limits the walk to the valid slots below `head`. */
static void walk_window(struct ktrace_walk *walk, const struct ktrx_ring *ring, uint64_t head)
{
	uint64_t slots = (uint64_t)ring->mask + 1;

	walk->ring = ring;
	walk->head = head;
	walk->index = head > slots ? head - slots : 0;
	if (walk->index < ring->first)
		walk->index = ring->first;
	walk->overwritten = 0;
	walk->unreadable = 0;
}

void ktrace_walk_start(struct ktrace_walk *walk, const struct ktrx_ring *ring, uint64_t head)
{
	walk_window(walk, ring, head);
	walk->reference = first_reference(walk);
}

/* Reads the head and the newest anchor as a pair: repeats if an anchor was written between the two reads. */
void ktrace_walk_start_newest(struct ktrace_walk *walk, const struct ktrx_ring *ring)
{
	uint64_t anchor;

	do {
		anchor = __atomic_load_n(&ring->anchor_index, __ATOMIC_ACQUIRE);
		walk_window(walk, ring, ktrace_ring_head(ring));
		walk->reference = __atomic_load_n(&ring->anchor_stamp, __ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&ring->anchor_index, __ATOMIC_ACQUIRE) != anchor);
}

/* Returns the full timestamp that has the low bits `stamp` and is nearest to the reference. */
static uint64_t whole_stamp(uint64_t reference, uint64_t stamp)
{
	uint64_t ahead = (stamp - reference) << (64 - KTRX_STAMP_BITS);

	return reference + (uint64_t)((int64_t)ahead >> (64 - KTRX_STAMP_BITS));
}

/* Removes the extension block from the front of the payload. */
static void take_extension(struct ktrace_walk_record *record)
{
	uint8_t *bytes = record->payload;
	uint32_t size = bytes[0] < record->bytes ? bytes[0] : record->bytes;
	uint32_t parts = bytes[1], at = sizeof(struct ktrx_extension);

	if (parts & KTRX_EXT_CPU)
		record->cpu = bytes[2] | (uint32_t)bytes[3] << 8;
	for (uint32_t n = 0; n < 2; n++) {
		if (!(parts & KTRX_EXT_CALLER1 << n) || at + sizeof(uint64_t) > size)
			continue;
		record->caller[n] = load64(record->payload + at);
		at += sizeof(uint64_t);
	}
	record->bytes -= size;
	ktrace_copy(bytes, bytes + size, record->bytes);
}

static void append(struct ktrace_walk_record *record, const uint8_t *bytes, uint32_t count)
{
	ktrace_copy(record->payload + record->bytes, bytes, count);
	record->bytes += count;
}

/*
 * Adds the payload of the continuation slots. Returns false if one of these slots is missing or belongs to
 * another record.
 */
static bool take_rest(const struct ktrx_ring *ring, const union slot *first,
		      struct ktrace_walk_record *record)
{
	uint64_t check[KTRX_RECORD_MAX_SLOTS], rest = 0;
	union slot slot;

	for (uint32_t n = 1; n < KTRX_RECORD_MAX_SLOTS; n++) {
		if (!more_copy(ring, record->index + n, &slot, &check[n]))
			return false;
		append(record, slot.byte + KTRX_MORE_OFFSET, KTRX_MORE_PAYLOAD);
		if (KTRX_TAG_KIND(slot.word[0]) != KTRX_KIND_LAST)
			continue;
		for (; n > 0; n--)
			rest = ktrx_check_rest(rest, check[n]);
		return is_checked(ring, record->index, first, rest);
	}
	return false;
}

static bool take_record(const struct ktrace_walk *walk, uint64_t index, const union slot *first,
			struct ktrace_walk_record *record)
{
	record->ring = walk->ring;
	record->index = index;
	record->stamp = whole_stamp(walk->reference, KTRX_W0_STAMP(first->word[0]));
	record->event = KTRX_W0_EVENT(first->word[0]);
	record->thread = KTRX_W1_THREAD(first->word[1]);
	record->cpu = walk->ring->cpu;
	record->caller[0] = 0;
	record->caller[1] = 0;
	record->bytes = 0;
	append(record, first->byte + KTRX_FIRST_OFFSET, KTRX_FIRST_PAYLOAD);
	if (KTRX_TAG_KIND(first->word[0]) == KTRX_KIND_FIRST && !take_rest(walk->ring, first, record))
		return false;
	if (KTRX_W1_EXTENDED(first->word[1]))
		take_extension(record);
	return true;
}

bool ktrace_walk_next(struct ktrace_walk *walk, struct ktrace_walk_record *record)
{
	while (walk->index < walk->head) {
		uint64_t index = walk->index++;
		union slot slot;

		if (!first_copy(walk->ring, index, &slot))
			continue;
		if (is_anchor(&slot))
			walk->reference = load64(slot.byte + KTRX_FIRST_OFFSET);
		else if (take_record(walk, index, &slot, record))
			return true;
	}
	return false;
}

/*
 * Returns true if the slot is a part of a record that begins before it. A backward walk has not reached the
 * beginning of that record yet.
 */
static bool is_silent(const struct ktrx_ring *ring, uint64_t index, const union slot *slot)
{
	return is_of_lap(ring, index, slot) && is_of_kinds(slot, 1u << KTRX_KIND_MORE | 1u << KTRX_KIND_LAST);
}

bool ktrace_walk_previous(struct ktrace_walk *walk, struct ktrace_walk_record *record)
{
	while (walk->index < walk->head) {
		uint64_t index = --walk->head, previous;
		union slot slot;
		bool whole = first_copy(walk->ring, index, &slot);

		if (whole && is_anchor(&slot)) {
			previous = load64(slot.byte + KTRX_FIRST_OFFSET + KTRACE_ANCHOR_PREVIOUS);
			walk->reference = previous ? previous : walk->reference;
		} else if (whole && take_record(walk, index, &slot, record)) {
			return true;
		} else if (is_overwritten(walk->ring, index)) {
			walk->overwritten += index + 1 - walk->index;
			walk->head = walk->index;
		} else if (whole || !is_silent(walk->ring, index, &slot)) {
			walk->unreadable++;
		}
	}
	return false;
}
