/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reads the sections and rings that a v2 root describes, and checks slots. */
#include <inttypes.h>
#include <stdlib.h>

#include "ktrx/slot.h"
#include "layout.h"
#include "message.h"
#include "trace.h"

/*
 * Number of slots that one call reads. The search for a ring's head also uses this number: if as many
 * consecutive slots do not have the expected generation, the head is before these slots.
 */
#define GUESS_SLOTS  64u
#define WORD_GUESSES 64u /* maximum number of addresses at which the reader looks for a reserve word */
#define SLOT_WORDS   (KTRX_SLOT_SIZE / sizeof(uint64_t))
#define MAX_SHIFT    30u
#define GENERATIONS  256u
#define NO_WORD	     UINT64_MAX

/* Refuses extents that overlap, because copies of them would need more memory than the file has bytes. */
static int refuse_overlap(const struct ktread_layout *layout, const struct ktrx_section *row)
{
	return ktread_fail(KTREAD_E_FORMAT,
			   "%s: ktrace root at 0x%" PRIx64 ": extents overlap: the list at 0x%" PRIx64
			   " for section %u names more than the %" PRIu64 " bytes of memory",
			   layout->memory->name, layout->physical, row->address, (unsigned)row->type,
			   layout->memory->size);
}

static int open_sections(struct ktread_layout *layout, const struct ktread_resolver *resolver)
{
	struct ktrx_section row[KTREAD_SECTION_MAX];
	uint64_t budget = layout->memory->size;
	int count = ktread_root_sections(layout->memory, layout->physical, &layout->root, row);

	for (int i = 0; i < count; i++) {
		struct ktread_section *section = &layout->section[layout->sections];
		int status;

		if (row[i].type == KTRX_SECTION_NONE)
			continue;
		layout->unknown += row[i].type > KTRX_SECTION_FOLDS;
		section->row = row[i];
		layout->sections++;
		status = ktread_region_open(&section->region, layout->memory, resolver, row[i].where,
					    row[i].extents, row[i].address, row[i].length);
		if (status < 0)
			return status;
		if (row[i].extents > 1 && !ktread_region_take(&section->region, &budget))
			return refuse_overlap(layout, &row[i]);
	}
	if (count >= 0)
		layout->unknown += layout->root.sections - (uint32_t)count;
	return count < 0 ? count : 0;
}

const struct ktread_section *ktread_layout_section(const struct ktread_layout *layout, uint32_t type,
						   uint32_t n)
{
	const struct ktread_section *found = NULL;
	uint64_t beyond = 0;

	/*
	 * In each of n + 1 rounds, find the section with the lowest index that was not found in an earlier
	 * round.
	 */
	for (uint32_t round = 0; round <= n; round++) {
		found = NULL;
		for (uint32_t i = 0; i < layout->sections; i++) {
			const struct ktread_section *section = &layout->section[i];

			if (section->row.type == type && section->row.index >= beyond &&
			    (!found || section->row.index < found->row.index))
				found = section;
		}
		if (!found)
			return NULL;
		beyond = (uint64_t)found->row.index + 1;
	}
	return found;
}

/*
 * Returns the physical address of byte `offset` of a region. Returns UINT64_MAX if that byte cannot be read.
 */
static uint64_t region_physical(const struct ktread_region *region, uint64_t offset)
{
	for (uint32_t i = 0; i < region->pieces; i++) {
		const struct ktread_piece *piece = &region->piece[i];

		if (offset >= piece->offset && offset - piece->offset < piece->readable)
			return piece->physical + (offset - piece->offset);
	}
	return UINT64_MAX;
}

static bool word_names(struct ktread_memory *memory, uint64_t physical, uint32_t ring)
{
	uint64_t word;

	return ktread_memory_run(memory, physical) >= sizeof(word) &&
	       ktread_memory_read(memory, physical, &word, sizeof(word)) == 0 && KTRX_WORD_RING(word) == ring;
}

/*
 * Searches for a ring's reserve word. Tries each possible physical address for the address in the ring's
 * descriptor. Accepts a word if it contains the ring's number. Returns false if no word is found.
 */
static bool find_word(struct ktread_layout *layout, const struct ktread_resolver *resolver, uint32_t n)
{
	struct ktread_ring_place *place = &layout->ring[n];
	const struct ktrx_ring *row = &place->row;
	uint32_t attempt = 0;

	while (attempt < WORD_GUESSES &&
	       resolver->resolve(resolver->context, row->head_where, row->head_address, sizeof(row->word),
				 attempt++, &place->word_physical) == 0)
		if (word_names(layout->memory, place->word_physical, n))
			return true;
	place->word_physical = NO_WORD;
	return false;
}

/* Reads up to GUESS_SLOTS slots from `index` on, but not past the end of the ring's memory. */
static int read_some(const struct ktread_ring_place *place, uint64_t index, uint64_t (*slot)[SLOT_WORDS],
		     uint64_t *count)
{
	uint64_t slots = ktread_ring_slots(place), position = index & (slots - 1);

	*count = slots - position < GUESS_SLOTS ? slots - position : GUESS_SLOTS;
	return ktread_region_read(&place->slots, position * KTRX_SLOT_SIZE, slot, *count * KTRX_SLOT_SIZE);
}

/*
 * If the newest lap of the ring is later than the lap of *index, moves *index to the start of the newest lap.
 * The generations of the ring's first slots show the newest lap. Requires: the ring's head is not before
 * *index.
 */
static int guess_lap(const struct ktread_ring_place *place, uint64_t *index)
{
	uint64_t slot[GUESS_SLOTS][SLOT_WORDS], count, known = *index >> place->row.shift;
	uint32_t slots[GENERATIONS] = { 0 }, most = 0;
	int status = read_some(place, 0, slot, &count);

	for (uint64_t n = 0; n < count && status == 0; n++)
		if (KTRX_TAG_KIND(slot[n][0]) != KTRX_KIND_EMPTY)
			slots[(KTRX_TAG_GENERATION(slot[n][0]) - known) % GENERATIONS]++;
	/*
	 * ignore the lap before the lap of *index, because the ring may still contain slots of that lap
	 */
	for (uint64_t later = 0; later < GENERATIONS - 1; later++)
		if (slots[later] > most) {
			most = slots[later];
			if (later > 0)
				*index = (known + later) << place->row.shift;
		}
	return status;
}

/*
 * Finds the head of a ring from the ring's slots. Used if its reserve word cannot be read or is out of date.
 * The slots before the head have the generation of the newest lap, except for a few slots that a writer has
 * not finished. Slots before index `reached` are not examined. If the newest lap began only a moment ago,
 * most of the ring's first slots still belong to the previous lap.
 */
static int guess_head(struct ktread_ring_place *place, uint64_t reached)
{
	const struct ktrx_ring *row = &place->row;
	uint64_t index = row->anchor_index > row->first ? row->anchor_index : row->first, end, misses = 0;
	int status;

	index = index > reached ? index : reached;
	status = guess_lap(place, &index);
	place->head = index;
	end = index + 2 * ktread_ring_slots(place);
	while (index < end && misses < GUESS_SLOTS && status == 0) {
		uint64_t slot[GUESS_SLOTS][SLOT_WORDS], count;

		status = read_some(place, index, slot, &count);
		for (uint64_t n = 0; n < count && status == 0; n++, index++) {
			misses++;
			if (KTRX_TAG_KIND(slot[n][0]) == KTRX_KIND_EMPTY ||
			    KTRX_TAG_GENERATION(slot[n][0]) != ktrx_generation(index, place->row.shift))
				continue;
			place->head = index + 1;
			misses = 0;
		}
	}
	return status;
}

/*
 * Returns the head of a ring, as its reserve word states it. If the word does not contain the ring's number,
 * the ring's CPU is not online. In this case, the word counts slots of the boot ring, and this ring is empty.
 */
static uint64_t word_head(const struct ktread_ring_place *place, uint32_t ring, uint64_t word)
{
	return ring > 0 && KTRX_WORD_RING(word) != ring ? place->row.first : KTRX_WORD_INDEX(word);
}

/* Finds a ring's head by the reserve word if it is usable, otherwise by the slots. */
static int place_head(struct ktread_layout *layout, const struct ktread_resolver *resolver, uint32_t n)
{
	struct ktread_ring_place *place = &layout->ring[n];

	place->word_physical = NO_WORD;
	place->head = word_head(place, n, place->row.word);
	if (ktread_root_is_persistent(&layout->root))
		return guess_head(place, place->head);
	if (place->row.head_where == KTRX_WHERE_NONE) {
		place->word_physical = layout->memory->live ? place->row_physical : NO_WORD;
	} else if (!find_word(layout, resolver, n)) {
		place->guessed = true;
		return guess_head(place, place->row.first);
	}
	return ktread_layout_head(layout, n, &place->head);
}

int ktread_layout_head(const struct ktread_layout *layout, uint32_t ring, uint64_t *head)
{
	const struct ktread_ring_place *place = &layout->ring[ring];
	uint64_t word;
	int status;

	*head = place->head;
	if (place->word_physical == NO_WORD)
		return 0;
	status = ktread_memory_read(layout->memory, place->word_physical, &word, sizeof(word));
	if (status == 0)
		*head = word_head(place, ring, word);
	return status;
}

static int open_ring(struct ktread_layout *layout, const struct ktread_resolver *resolver, uint32_t n,
		     const struct ktread_section *section, uint64_t stride, uint64_t *budget)
{
	struct ktread_ring_place *place = &layout->ring[n];
	struct ktrx_ring *row = &place->row;
	int status = ktread_region_read(&section->region, n * stride, row, sizeof(*row));

	if (status < 0)
		return status;
	place->usable = row->shift <= MAX_SHIFT && row->mask == (UINT32_C(1) << row->shift) - 1 &&
			row->where != KTRX_WHERE_NONE;
	if (!place->usable)
		return 0;
	place->form = (struct ktread_slot_form){ layout->root.slot_format, n, row->shift };
	place->row_physical = region_physical(&section->region, n * stride);
	status = ktread_region_open(&place->slots, layout->memory, resolver, row->where, row->extents,
				    row->address, ktread_ring_slots(place) * KTRX_SLOT_SIZE);
	if (status < 0)
		return status;
	/*
	 * Valid rings do not overlap, so their total size is not larger than the memory. Without this check,
	 * overlapping rings could keep a reader busy forever.
	 */
	if (!ktread_region_take(&place->slots, budget)) {
		ktread_region_close(&place->slots);
		place->usable = false;
		return 0;
	}
	return place_head(layout, resolver, n);
}

static int open_rings(struct ktread_layout *layout, const struct ktread_resolver *resolver)
{
	const struct ktread_section *section = ktread_layout_section(layout, KTRX_SECTION_RINGS, 0);
	uint64_t stride, rings, budget = layout->memory->size;
	int status = 0;

	if (!section)
		return 0;
	stride = section->row.entry_size ? section->row.entry_size : sizeof(struct ktrx_ring);
	if (stride < sizeof(struct ktrx_ring))
		return ktread_fail(KTREAD_E_FORMAT, "%s: the ring table has rows of %u bytes instead of %zu",
				   layout->memory->name, section->row.entry_size, sizeof(struct ktrx_ring));
	rings = section->region.length / stride;
	if (rings > KTRX_MAX_RINGS)
		rings = KTRX_MAX_RINGS;
	layout->ring = calloc(rings ? rings : 1, sizeof(*layout->ring));
	if (!layout->ring)
		return ktread_fail_memory();
	layout->rings = (uint32_t)rings;
	for (uint32_t n = 0; n < layout->rings && status == 0; n++)
		status = open_ring(layout, resolver, n, section, stride, &budget);
	return status;
}

int ktread_layout_open(struct ktread_layout **layout, struct ktread_memory *memory, uint64_t physical,
		       const struct ktread_resolver *resolver)
{
	struct ktread_layout *opened = calloc(1, sizeof(*opened));
	int status;

	if (!opened)
		return ktread_fail_memory();
	opened->memory = memory;
	opened->physical = physical;
	status = ktread_root_read(memory, physical, &opened->root);
	if (status == 0)
		status = open_sections(opened, resolver);
	if (status == 0)
		status = open_rings(opened, resolver);
	if (status == 0)
		status = ktread_settings_read(opened, resolver);
	if (status < 0) {
		ktread_layout_close(opened);
		return status;
	}
	*layout = opened;
	return 0;
}

/* Resolves an address in a dump, which is an offset from the root. */
static int resolve_offset(void *context, uint16_t where, uint64_t address, uint64_t length, uint32_t attempt,
			  uint64_t *physical)
{
	const uint64_t *root = context;

	if (attempt || where != KTRX_WHERE_FILE || address > UINT64_MAX - *root ||
	    length > UINT64_MAX - *root - address)
		return KTREAD_E_FORMAT;
	*physical = *root + address;
	return 0;
}

int ktread_layout_open_dump(struct ktread_layout **layout, struct ktread_memory *memory, uint64_t offset)
{
	struct ktread_resolver resolver = { resolve_offset, &offset };

	return ktread_layout_open(layout, memory, offset, &resolver);
}

void ktread_layout_close(struct ktread_layout *layout)
{
	if (!layout)
		return;
	for (uint32_t i = 0; i < layout->sections; i++)
		ktread_region_close(&layout->section[i].region);
	for (uint32_t i = 0; i < layout->rings; i++)
		ktread_region_close(&layout->ring[i].slots);
	free(layout->ring);
	free(layout->setting);
	free(layout);
}

/* Checks whether a slot has the expected kind and generation, and the right checksum. */

static uint32_t lap_of(const struct ktread_slot_form *form, uint64_t index)
{
	return ktrx_lap(form->ring, index, form->shift);
}

static bool is_of_generation(const struct ktread_slot_form *form, const uint64_t *slot, uint64_t index)
{
	return KTRX_TAG_GENERATION(slot[0]) == ktrx_generation(index, form->shift);
}

/*
 * ---- KTRX_SLOTS_COPIED: first slots have two copies of the generation, continuation slots a checksum ----
 */

static bool copied_is_first(const uint64_t *slot)
{
	return (slot[0] & KTRX_TAG_CHECK_MASK) == 0 &&
	       KTRX_W1_CHECK(slot[1]) == (KTRX_TAG_GENERATION(slot[0]) & 0x7fu);
}

static bool copied_is_continuation(const uint64_t *slot)
{
	return KTRX_TAG_CHECK(slot[0]) == ktrx_check_copied(slot[0], slot[1], slot[2], slot[3]);
}

/* ---- Both slot formats ---- */

bool ktread_slot_is_first(const struct ktread_slot_form *form, const uint64_t *slot, uint64_t index)
{
	uint32_t kind = KTRX_TAG_KIND(slot[0]);

	if ((kind != KTRX_KIND_SINGLE && kind != KTRX_KIND_FIRST) || !is_of_generation(form, slot, index))
		return false;
	if (form->format == KTRX_SLOTS_COPIED)
		return copied_is_first(slot);
	return kind == KTRX_KIND_FIRST || ktrx_first_is_checked(slot, lap_of(form, index), 0);
}

bool ktread_slot_is_continuation(const struct ktread_slot_form *form, const uint64_t *slot, uint64_t index)
{
	uint32_t kind = KTRX_TAG_KIND(slot[0]);

	if ((kind != KTRX_KIND_MORE && kind != KTRX_KIND_LAST) || !is_of_generation(form, slot, index))
		return false;
	if (form->format == KTRX_SLOTS_COPIED)
		return copied_is_continuation(slot);
	return ((ktrx_check_more(slot, lap_of(form, index)) ^ slot[0]) & KTRX_TAG_CHECK_MASK) == 0;
}

/* Returns true if the checksum in a FIRST slot is right for its record, whose other slots it covers. */
static bool agrees_with_rest(const struct ktread_slot_form *form, uint64_t (*slot)[4], uint64_t index,
			     uint32_t slots)
{
	uint64_t rest = 0;

	for (uint32_t n = slots; --n > 0;)
		rest = ktrx_check_rest(rest, ktrx_check_more(slot[n], lap_of(form, index + n)));
	return ktrx_first_is_checked(slot[0], lap_of(form, index), rest);
}

uint32_t ktread_slot_record(const struct ktread_slot_form *form, uint64_t (*slot)[4], uint64_t index,
			    uint64_t most)
{
	if (KTRX_TAG_KIND(slot[0][0]) == KTRX_KIND_SINGLE)
		return 1;
	if (most > KTRX_RECORD_MAX_SLOTS)
		most = KTRX_RECORD_MAX_SLOTS;
	for (uint32_t n = 1; n < most; n++) {
		if (!ktread_slot_is_continuation(form, slot[n], index + n))
			return 0;
		if (KTRX_TAG_KIND(slot[n][0]) != KTRX_KIND_LAST)
			continue;
		return form->format == KTRX_SLOTS_COPIED || agrees_with_rest(form, slot, index, n + 1) ? n + 1
												       : 0;
	}
	return 0;
}

/* Reads single slots, and returns their bytes unchanged. */

int ktread_slot(const struct ktread *trace, uint32_t ring, uint64_t index, unsigned char *slot)
{
	const struct ktread_layout *layout = trace->layout;
	const struct ktread_ring_place *place;

	if (!layout)
		return KTREAD_E_UNSUPPORTED;
	if (ring >= layout->rings || !layout->ring[ring].usable)
		return KTREAD_E_ARGUMENT;
	place = &layout->ring[ring];
	index &= ktread_ring_slots(place) - 1;
	return ktread_region_read(&place->slots, index << KTRX_SLOT_SHIFT, slot, KTRX_SLOT_SIZE);
}
