/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Encodes slots as columns. */
#include <stdbool.h>
#include <string.h>

#include "stream.h"

static inline uint64_t zigzag_wide(uint64_t difference)
{
	return difference << 1 ^ -(difference >> 63);
}

static uint32_t add_group(struct ktread_columns *columns, uint32_t coding, uint32_t key)
{
	columns->group[columns->groups] =
		(struct ktread_columns_group){ .key = (uint16_t)key,
					       .shape = (uint16_t)ktread_columns_shape_of(coding, key) };
	columns->group_of_key[key] = (uint16_t)++columns->groups;
	return columns->groups - 1;
}

static inline void join_group(struct ktread_columns *columns, uint32_t coding, uint32_t n, uint32_t key)
{
	uint32_t group = columns->group_of_key[key];

	group = group ? group - 1 : add_group(columns, coding, key);
	columns->member[n] = group;
	columns->group[group].slots++;
}

static inline void add_stamp(struct ktread_columns *columns, uint64_t difference, uint32_t lead)
{
	uint64_t value = zigzag_wide(difference);

	columns->stamp[0][columns->stamps] = (uint32_t)value;
	columns->stamp[1][columns->stamps] = (uint32_t)(value >> 32);
	columns->lead[columns->stamps++] = lead;
}

static uint32_t odd_key(const uint32_t *slot)
{
	uint32_t any = 0;

	for (unsigned i = 0; i < 8; i++)
		any |= slot[i];
	return any ? KTRX_STREAM_KEY_ODD : KTRX_STREAM_KEY_EMPTY;
}

static void survey_v1(struct ktread_columns *columns, const uint32_t (*slot)[8], uint32_t slots)
{
	uint64_t last = 0;
	uint32_t last_lead = 0;

	for (uint32_t n = 0; n < slots; n++) {
		uint64_t stamp = ktread_words(slot[n]);
		uint32_t word = slot[n][2], lead = word / KTRX_STREAM_KEY_V1_EVENTS;

		if (stamp == 0) {
			join_group(columns, KTRX_STREAM_SLOTS_V1, n, odd_key(slot[n]));
			continue;
		}
		join_group(columns, KTRX_STREAM_SLOTS_V1, n, word % KTRX_STREAM_KEY_V1_EVENTS);
		if (columns->stamps == 0) {
			columns->head.stamp = last = stamp;
			columns->head.lead = last_lead = lead;
		}
		add_stamp(columns, stamp - last, lead ^ last_lead);
		last = stamp;
		last_lead = lead;
	}
}

/*
 * Returns true if a first slot of KTRX_SLOTS_COPIED is exactly as a kernel writes it: the kind, the zero bits
 * and both copies of the generation are right.
 */
static bool is_copied_first(const uint32_t *slot)
{
	uint32_t kind = KTRX_TAG_KIND(slot[0]);

	return (kind == KTRX_KIND_SINGLE || kind == KTRX_KIND_FIRST) && KTRX_TAG_CHECK(slot[0]) == 0 &&
	       slot[2] >> KTREAD_LEAD_BITS == (KTRX_TAG_GENERATION(slot[0]) & 0x7f);
}

static bool is_copied_more(const uint32_t *slot)
{
	uint32_t kind = KTRX_TAG_KIND(slot[0]);

	return (kind == KTRX_KIND_MORE || kind == KTRX_KIND_LAST) &&
	       KTRX_TAG_CHECK(slot[0]) == ktrx_check_copied(ktread_words(slot), ktread_words(slot + 2),
							    ktread_words(slot + 4), ktread_words(slot + 6));
}

static void find_regular_copied(struct ktread_columns *columns, const uint32_t (*slot)[8], uint32_t slots)
{
	for (uint32_t n = 0; n < slots; n++) {
		columns->regular[n] = is_copied_first(slot[n]) || is_copied_more(slot[n]);
		columns->lap[n] = KTRX_TAG_GENERATION(slot[n][0]);
	}
}

/*
 * Sets *lap to the newest lap in which the slot can have been written, according to its generation. Returns
 * false if this lap is 127 or more laps before the newest possible lap: the difference between the laps of
 * two slots may then not fit into a signed 8-bit number.
 */
static bool find_lap(const struct ktread_columns_ring *ring, uint32_t n, const uint32_t *slot, uint32_t *lap)
{
	uint64_t newest = ring->head - 1, mask = (UINT64_C(1) << ring->form.shift) - 1;
	uint64_t index = newest - ((newest - (ring->position + n)) & mask);
	uint32_t now = ktrx_lap(ring->form.ring, index, ring->form.shift);
	uint32_t age = (now - KTRX_TAG_GENERATION(slot[0])) & 0xffu;

	*lap = now - age;
	return age < 127;
}

/*
 * Facts about the later slots of the current slot's record. The encoder visits slots from the last to the
 * first, so it has visited them already.
 */
struct rest {
	uint64_t check;
	/* true if the LAST slot of the record was visited, and all slots visited since then are regular */
	bool whole;
};

static bool is_checked_more(const uint64_t *word, uint32_t lap, struct rest *rest)
{
	uint64_t check = ktrx_check_more(word, lap);
	bool last = KTRX_TAG_KIND(word[0]) == KTRX_KIND_LAST;

	rest->whole = (last || rest->whole) && ((check ^ word[0]) & KTRX_TAG_CHECK_MASK) == 0;
	rest->check = ktrx_check_rest(last ? 0 : rest->check, check);
	return ((check ^ word[0]) & KTRX_TAG_CHECK_MASK) == 0;
}

static bool is_checked_first(const uint64_t *word, uint32_t lap, const struct rest *rest)
{
	if (KTRX_TAG_KIND(word[0]) == KTRX_KIND_FIRST)
		return rest->whole && ktrx_first_is_checked(word, lap, rest->check);
	return KTRX_TAG_KIND(word[0]) == KTRX_KIND_SINGLE && ktrx_first_is_checked(word, lap, 0);
}

static void find_regular_checked(struct ktread_columns *columns, const struct ktread_columns_ring *ring,
				 const uint32_t (*slot)[8], uint32_t slots)
{
	struct rest rest = { 0 };

	for (uint32_t n = slots; n-- > 0;) {
		uint32_t kind = KTRX_TAG_KIND(slot[n][0]), lap;
		uint64_t word[4];

		ktread_columns_words(slot[n], word);
		columns->regular[n] = false;
		if (!find_lap(ring, n, slot[n], &lap)) {
			rest.whole = false;
		} else if (kind == KTRX_KIND_MORE || kind == KTRX_KIND_LAST) {
			columns->regular[n] = is_checked_more(word, lap, &rest);
		} else {
			columns->regular[n] = is_checked_first(word, lap, &rest);
			rest.whole = false;
		}
		columns->lap[n] = lap;
	}
}

static void add_lap(struct ktread_columns *columns, struct ktread_columns_trail *last, uint32_t lap)
{
	if (columns->generations == 0) {
		columns->head.generation = (uint16_t)(lap & 0xff);
		columns->first_lap = last->lap = lap;
	}
	columns->generation[columns->generations++] = (lap - last->lap) & 0xff;
	last->lap = lap;
}

static void add_first(struct ktread_columns *columns, struct ktread_columns_trail *last, const uint32_t *slot)
{
	uint64_t stamp = KTRX_W0_STAMP(ktread_words(slot));
	uint32_t lead = slot[2] & KTREAD_LEAD_MASK;

	if (columns->stamps == 0) {
		columns->head.stamp = last->stamp = stamp;
		columns->head.lead = last->lead = lead;
	}
	/* the difference between the timestamps has 36 bits: extend its sign */
	add_stamp(columns,
		  (uint64_t)((int64_t)((stamp - last->stamp) << KTREAD_STAMP_SHIFT) >> KTREAD_STAMP_SHIFT),
		  lead ^ last->lead);
	last->stamp = stamp;
	last->lead = lead;
	last->event = KTRX_W0_EVENT(slot[0]);
}

/* Divides the slots into groups. Requires: regular[] and lap[] are set. */
static void survey_v2(struct ktread_columns *columns, const uint32_t (*slot)[8], uint32_t slots)
{
	struct ktread_columns_trail last = { 0 };

	columns->first_lap = 0;
	for (uint32_t n = 0; n < slots; n++) {
		uint32_t kind = KTRX_TAG_KIND(slot[n][0]), key;

		if (!columns->regular[n]) {
			join_group(columns, KTRX_STREAM_SLOTS_V2, n, odd_key(slot[n]));
			continue;
		}
		add_lap(columns, &last, columns->lap[n]);
		if (kind == KTRX_KIND_SINGLE || kind == KTRX_KIND_FIRST) {
			add_first(columns, &last, slot[n]);
			key = last.event << 1 | (kind == KTRX_KIND_FIRST);
		} else {
			key = KTRX_STREAM_KEY_MORE | last.event << 1 | (kind == KTRX_KIND_LAST);
		}
		join_group(columns, KTRX_STREAM_SLOTS_V2, n, key);
	}
}

static void survey(struct ktread_columns *columns, uint32_t coding, const struct ktread_columns_ring *ring,
		   const uint32_t (*slot)[8], uint32_t slots)
{
	if (coding == KTRX_STREAM_SLOTS_V1) {
		survey_v1(columns, slot, slots);
		return;
	}
	if (coding == KTRX_STREAM_CHECKED)
		find_regular_checked(columns, ring, slot, slots);
	else
		find_regular_copied(columns, slot, slots);
	survey_v2(columns, slot, slots);
}

static unsigned char *put_word(struct ktread_columns *columns, unsigned char *to,
			       const struct ktread_columns_group *group, const uint32_t (*slot)[8],
			       unsigned word, unsigned shift)
{
	const uint32_t *order = columns->order + group->end - group->slots;

	for (uint32_t i = 0; i < group->slots; i++)
		columns->value[i] = slot[order[i]][word] >> shift;
	return ktread_column_put(to, columns->value, group->slots);
}

static unsigned char *put_group(struct ktread_columns *columns, unsigned char *to,
				const struct ktread_columns_group *group, const uint32_t (*slot)[8])
{
	unsigned word = group->shape == KTREAD_SHAPE_FIRST   ? KTREAD_FIRST_WORD
			: group->shape == KTREAD_SHAPE_EMPTY ? 8
							     : 0;

	if (group->shape == KTREAD_SHAPE_MORE)
		to = put_word(columns, to, group, slot, word++, 16);
	for (; word < 8; word++)
		to = put_word(columns, to, group, slot, word, 0);
	return to;
}

size_t ktread_columns_encode(struct ktread_columns *columns, uint32_t coding,
			     const struct ktread_columns_ring *ring, const uint32_t (*slot)[8],
			     uint32_t slots, unsigned char *to)
{
	const unsigned char *start = to;

	columns->head = (struct ktrx_stream_columns){ 0 };
	columns->groups = columns->stamps = columns->generations = 0;
	survey(columns, coding, ring, slot, slots);
	ktread_columns_order(columns, slots);
	columns->head.groups = (uint16_t)columns->groups;
	memcpy(to, &columns->head, sizeof(columns->head));
	to += sizeof(columns->head);
	if (coding == KTRX_STREAM_CHECKED) {
		memcpy(to, &columns->first_lap, sizeof(columns->first_lap));
		to += sizeof(columns->first_lap);
	}
	for (uint32_t g = 0; g < columns->groups; g++) {
		memcpy(to, &columns->group[g].key, sizeof(columns->group[g].key));
		to += sizeof(columns->group[g].key);
		columns->group_of_key[columns->group[g].key] = 0;
	}
	to = ktread_column_put_values(to, columns->member, slots);
	to = ktread_column_put_values(to, columns->stamp[0], columns->stamps);
	to = ktread_column_put_values(to, columns->stamp[1], columns->stamps);
	to = ktread_column_put_values(to, columns->lead, columns->stamps);
	if (coding != KTRX_STREAM_SLOTS_V1)
		to = ktread_column_put_values(to, columns->generation, columns->generations);
	for (uint32_t g = 0; g < columns->groups; g++)
		to = put_group(columns, to, &columns->group[g], slot);
	return (size_t)(to - start);
}
