/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Single slots as they lie in a ring, for those that want to see the bytes. */
#include "layout.h"

#include "ktrx/slot.h"
#include "trace.h"

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

/* Which slots are taken for what they say. */

static uint32_t lap_of(const struct ktread_slot_form *form, uint64_t index)
{
	return ktrx_lap(form->ring, index, form->shift);
}

static bool is_of_generation(const struct ktread_slot_form *form, const uint64_t *slot, uint64_t index)
{
	return KTRX_TAG_GENERATION(slot[0]) == ktrx_generation(index, form->shift);
}

/* ---- KTRX_SLOTS_COPIED: a first slot has its generation twice, a continuation a check of its own ---- */

static bool copied_is_first(const uint64_t *slot)
{
	return (slot[0] & KTRX_TAG_CHECK_MASK) == 0 &&
	       KTRX_W1_CHECK(slot[1]) == (KTRX_TAG_GENERATION(slot[0]) & 0x7fu);
}

static bool copied_is_continuation(const uint64_t *slot)
{
	return KTRX_TAG_CHECK(slot[0]) == ktrx_check_copied(slot[0], slot[1], slot[2], slot[3]);
}

/* ---- Either format ------------------------------------------------------------------------------------- */

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

/* Does the check of a FIRST slot agree with its record's other slots? */
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
