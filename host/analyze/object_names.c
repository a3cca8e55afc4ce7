/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/object_names.h"

#include <string.h>

/*
 * Upper bits of the key of an interrupt. Interrupt numbers are small, so the key is never the address of a
 * lock.
 */
#define INTERRUPT (UINT64_C(0xfff) << 52)

/* Returns whether the event is about a lock, a queue or an interrupt, and stores its key. */
static bool key_of(const struct ktread_event *event, const struct wellknown *known, uint64_t *key)
{
	switch (known->kind) {
	case WELLKNOWN_LOCK_CONTEND:
	case WELLKNOWN_LOCK_ACQUIRE:
	case WELLKNOWN_LOCK_RELEASE:
	case WELLKNOWN_LOCK_FAIL:
	case WELLKNOWN_BLOCK:
	case WELLKNOWN_WAKE_QUEUE:
	case WELLKNOWN_WAKE_NOBODY:
		return wellknown_number(known, event, WELLKNOWN_OBJECT, key) && *key != 0;
	case WELLKNOWN_IRQ_ENTER:
	case WELLKNOWN_IRQ_EXIT:
	case WELLKNOWN_IRQ_EOI:
		if (!wellknown_number(known, event, WELLKNOWN_NUMBER, key) || *key > UINT32_MAX)
			return false;
		*key |= INTERRUPT;
		return true;
	default:
		return false;
	}
}

struct object_name object_names_event(struct object_names *names, const struct ktread_event *event,
				      const struct wellknown *known)
{
	struct object_name name = { NULL, 0 };
	struct ktread_value recorded;
	uint64_t key, n;

	if (!key_of(event, known, &key))
		return name;
	n = key * UINT64_C(0x9e3779b97f4a7c15) >> 55;
	if (wellknown_string(known, event, WELLKNOWN_NAME, &recorded) && recorded.length > 0) {
		names->entry[n].key = key;
		names->entry[n].length =
			(uint8_t)(recorded.length < OBJECT_NAMES_MOST ? recorded.length : OBJECT_NAMES_MOST);
		memcpy(names->entry[n].name, recorded.string, names->entry[n].length);
	} else if (names->entry[n].length > 0 && names->entry[n].key == key) {
		name.bytes = names->entry[n].name;
		name.length = names->entry[n].length;
	}
	return name;
}
