/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Single slots as they lie in a ring, for those that want to see the bytes. */
#include "ktrx/slot.h"
#include "layout.h"
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
