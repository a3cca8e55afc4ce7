/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Slots into columns. */
#include <stdbool.h>
#include <string.h>

#include "column.h"
#include "columns.h"

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

/* A first slot as a writer leaves it: its kind, zeros and both generations are in order. */
static bool is_regular_first(const uint32_t *slot)
{
	uint32_t kind = KTRX_TAG_KIND(slot[0]);

	return (kind == KTRX_KIND_SINGLE || kind == KTRX_KIND_FIRST) && KTRX_TAG_CHECK(slot[0]) == 0 &&
	       slot[2] >> KTREAD_LEAD_BITS == (KTRX_TAG_GENERATION(slot[0]) & 0x7f);
}

static bool is_regular_more(const uint32_t *slot)
{
	uint32_t kind = KTRX_TAG_KIND(slot[0]);

	return (kind == KTRX_KIND_MORE || kind == KTRX_KIND_LAST) &&
	       KTRX_TAG_CHECK(slot[0]) == ktrx_check(ktread_words(slot), ktread_words(slot + 2),
						     ktread_words(slot + 4), ktread_words(slot + 6));
}

static void add_generation(struct ktread_columns *columns, struct ktread_columns_trail *last,
			   const uint32_t *slot)
{
	uint32_t generation = KTRX_TAG_GENERATION(slot[0]);

	if (columns->generations == 0) {
		columns->head.generation = (uint16_t)generation;
		last->generation = generation;
	}
	columns->generation[columns->generations++] = (generation - last->generation) & 0xff;
	last->generation = generation;
}

static void add_first(struct ktread_columns *columns, struct ktread_columns_trail *last, const uint32_t *slot)
{
	uint64_t stamp = KTRX_W0_STAMP(ktread_words(slot));
	uint32_t lead = slot[2] & KTREAD_LEAD_MASK;

	if (columns->stamps == 0) {
		columns->head.stamp = last->stamp = stamp;
		columns->head.lead = last->lead = lead;
	}
	/* The difference of 36 bits with its sign. */
	add_stamp(columns,
		  (uint64_t)((int64_t)((stamp - last->stamp) << KTREAD_STAMP_SHIFT) >> KTREAD_STAMP_SHIFT),
		  lead ^ last->lead);
	add_generation(columns, last, slot);
	last->stamp = stamp;
	last->lead = lead;
	last->event = KTRX_W0_EVENT(slot[0]);
}

static void survey_v2(struct ktread_columns *columns, const uint32_t (*slot)[8], uint32_t slots)
{
	struct ktread_columns_trail last = { 0 };

	for (uint32_t n = 0; n < slots; n++) {
		uint32_t kind = KTRX_TAG_KIND(slot[n][0]), key;

		if (is_regular_first(slot[n])) {
			add_first(columns, &last, slot[n]);
			key = last.event << 1 | (kind == KTRX_KIND_FIRST);
		} else if (is_regular_more(slot[n])) {
			add_generation(columns, &last, slot[n]);
			key = KTRX_STREAM_KEY_MORE | last.event << 1 | (kind == KTRX_KIND_LAST);
		} else {
			key = odd_key(slot[n]);
		}
		join_group(columns, KTRX_STREAM_SLOTS_V2, n, key);
	}
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

size_t ktread_columns_encode(struct ktread_columns *columns, uint32_t coding, const uint32_t (*slot)[8],
			     uint32_t slots, unsigned char *to)
{
	const unsigned char *start = to;

	columns->head = (struct ktrx_stream_columns){ 0 };
	columns->groups = columns->stamps = columns->generations = 0;
	(coding == KTRX_STREAM_SLOTS_V1 ? survey_v1 : survey_v2)(columns, slot, slots);
	ktread_columns_order(columns, slots);
	columns->head.groups = (uint16_t)columns->groups;
	memcpy(to, &columns->head, sizeof(columns->head));
	to += sizeof(columns->head);
	for (uint32_t g = 0; g < columns->groups; g++) {
		memcpy(to, &columns->group[g].key, sizeof(columns->group[g].key));
		to += sizeof(columns->group[g].key);
		columns->group_of_key[columns->group[g].key] = 0;
	}
	to = ktread_column_put_values(to, columns->member, slots);
	to = ktread_column_put_values(to, columns->stamp[0], columns->stamps);
	to = ktread_column_put_values(to, columns->stamp[1], columns->stamps);
	to = ktread_column_put_values(to, columns->lead, columns->stamps);
	if (coding == KTRX_STREAM_SLOTS_V2)
		to = ktread_column_put_values(to, columns->generation, columns->generations);
	for (uint32_t g = 0; g < columns->groups; g++)
		to = put_group(columns, to, &columns->group[g], slot);
	return (size_t)(to - start);
}
