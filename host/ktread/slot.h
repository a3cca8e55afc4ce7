/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Is a slot what the reader expects at an index? What was written before slots had checks (KTRX_SLOTS_COPIED)
 * is read here, and in columns_*.c, and nowhere else.
 */
#ifndef KTREAD_SLOT_H
#define KTREAD_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "ktrx/slot.h"

/* How the slots of a ring are written. */
struct ktread_slot_form {
	uint32_t format; /* KTRX_SLOTS_* */
	uint32_t ring;	 /* number */
	uint32_t shift;	 /* log2 of its slots */
};

/*
 * Is it a first slot, SINGLE or FIRST, of the generation of `index`? The check of a SINGLE is right as well;
 * that of a FIRST covers its whole record: see ktread_slot_record().
 */
bool ktread_slot_is_first(const struct ktread_slot_form *form, const uint64_t *slot, uint64_t index);
/* Is it a MORE or LAST slot of the generation of `index`, with the right check? */
bool ktread_slot_is_continuation(const struct ktread_slot_form *form, const uint64_t *slot, uint64_t index);
/*
 * Slots of the record whose first slot lies at slot[0], of at most `most`; 0 if it is not whole, or a slot of
 * it is not its own. Requires: ktread_slot_is_first() of slot[0].
 */
uint32_t ktread_slot_record(const struct ktread_slot_form *form, uint64_t (*slot)[4], uint64_t index,
			    uint64_t most);

#endif
