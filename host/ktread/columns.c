/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Slots as columns. A slot's key says which of its words are taken apart how:
 *
 *	a record, or a first slot		stamp, lead, generation; words 3 to 7
 *	a continuation whose check is right	generation; upper half of word 0, words 1 to 7
 *	an empty slot				nothing
 *	any other				words 0 to 7
 *
 * `lead` is what of word 2 tells CPU, thread and context; the event and the kind are in the key.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "ktread/ktread.h"

#define KEYS	    (KTRX_STREAM_KEY_ODD + 1u)
#define SAMPLE	    256u /* values looked at to choose between a column's codings */
#define FIRST_WORD  3u	 /* of the payload of a record or a first slot */
#define LEAD_BITS   25u	 /* of word 2 of a first slot, below the generation */
#define LEAD_MASK   ((1u << LEAD_BITS) - 1u)
#define STAMP_SHIFT (64u - KTRX_STAMP_BITS)

enum shape { SHAPE_FIRST, SHAPE_MORE, SHAPE_EMPTY, SHAPE_ODD };

struct group {
	uint16_t key;
	uint16_t shape;
	uint32_t slots;
	uint32_t end; /* in order[], behind its last slot */
};

struct ktread_columns {
	struct ktrx_stream_columns head;
	uint16_t group_of_key[KEYS]; /* + 1; 0: none yet. All 0 between blocks */
	uint32_t groups;
	struct group group[KTREAD_COLUMNS_SLOTS];
	uint32_t order[KTREAD_COLUMNS_SLOTS];  /* slots by group */
	uint32_t member[KTREAD_COLUMNS_SLOTS]; /* group of each slot */
	uint32_t stamps, generations;
	uint32_t stamp[2][KTREAD_COLUMNS_SLOTS]; /* low and high halves of zigzag differences */
	uint32_t lead[KTREAD_COLUMNS_SLOTS];
	uint32_t generation[KTREAD_COLUMNS_SLOTS];
	uint32_t value[KTREAD_COLUMNS_SLOTS];
};

struct ktread_columns *ktread_columns_create(void)
{
	return calloc(1, sizeof(struct ktread_columns));
}

void ktread_columns_free(struct ktread_columns *columns)
{
	free(columns);
}

static inline uint32_t zigzag(uint32_t difference)
{
	return difference << 1 ^ -(difference >> 31);
}

static inline uint32_t unzigzag(uint32_t value)
{
	return value >> 1 ^ -(value & 1);
}

static inline uint64_t zigzag_wide(uint64_t difference)
{
	return difference << 1 ^ -(difference >> 63);
}

static inline uint64_t unzigzag_wide(uint64_t value)
{
	return value >> 1 ^ -(value & 1);
}

static inline uint64_t wide(const uint32_t *words)
{
	return words[0] | (uint64_t)words[1] << 32;
}

/* ---- columns ---- */

/* Whether differences are likely to take less room than the values. */
static bool deltas_are_smaller(const uint32_t *value, uint32_t count)
{
	uint32_t sample = count < SAMPLE ? count : SAMPLE, plain = 0, deltas = 0;

	for (uint32_t i = 1; i < sample; i++) {
		plain += 32u - (uint32_t)__builtin_clz(value[i] | 1u);
		deltas += 32u - (uint32_t)__builtin_clz(zigzag(value[i] - value[i - 1]) | 1u);
	}
	return deltas < plain - plain / 4;
}

/* Appends those planes that are not all 0, and marks them in *flags. */
static unsigned char *put_planes(unsigned char *to, unsigned char *flags, const uint32_t *value,
				 uint32_t count)
{
	uint32_t any = 0;

	for (uint32_t i = 0; i < count; i++)
		any |= value[i];
	for (unsigned plane = 0; plane < 4; plane++) {
		if (!(any >> 8 * plane & 0xff))
			continue;
		*flags |= (unsigned char)(1u << plane);
		for (uint32_t i = 0; i < count; i++)
			to[i] = (unsigned char)(value[i] >> 8 * plane);
		to += count;
	}
	return to;
}

static unsigned char *put_values(unsigned char *to, const uint32_t *value, uint32_t count)
{
	unsigned char *flags = to++;

	*flags = 0;
	return put_planes(to, flags, value, count);
}

/* As values or as differences. `value` is used up. */
static unsigned char *put_column(unsigned char *to, uint32_t *value, uint32_t count)
{
	unsigned char *flags = to;

	if (!deltas_are_smaller(value, count))
		return put_values(to, value, count);
	*to++ = KTRX_STREAM_DELTAS;
	memcpy(to, value, sizeof(*value));
	for (uint32_t i = count; i-- > 1;)
		value[i] = zigzag(value[i] - value[i - 1]);
	value[0] = 0;
	return put_planes(to + sizeof(*value), flags, value, count);
}

struct source {
	const unsigned char *at, *end;
};

static bool get_bytes(struct source *from, void *to, size_t size)
{
	if ((size_t)(from->end - from->at) < size)
		return false;
	memcpy(to, from->at, size);
	from->at += size;
	return true;
}

static bool get_column(struct source *from, uint32_t *value, uint32_t count)
{
	uint32_t flags, last = 0;

	if (from->at == from->end)
		return false;
	flags = *from->at++;
	if (flags & ~(KTRX_STREAM_PLANES | KTRX_STREAM_DELTAS))
		return false;
	if (flags & KTRX_STREAM_DELTAS && !get_bytes(from, &last, sizeof(last)))
		return false;
	memset(value, 0, count * sizeof(*value));
	for (unsigned plane = 0; plane < 4; plane++) {
		if (!(flags >> plane & 1))
			continue;
		if ((size_t)(from->end - from->at) < count)
			return false;
		for (uint32_t i = 0; i < count; i++)
			value[i] |= (uint32_t)from->at[i] << 8 * plane;
		from->at += count;
	}
	for (uint32_t i = 0; i < count && flags & KTRX_STREAM_DELTAS; i++)
		last = value[i] = last + unzigzag(value[i]);
	return true;
}

/* ---- groups ---- */

static enum shape shape_of(uint32_t coding, uint32_t key)
{
	if (key == KTRX_STREAM_KEY_EMPTY)
		return SHAPE_EMPTY;
	if (key == KTRX_STREAM_KEY_ODD)
		return SHAPE_ODD;
	if (coding == KTRX_STREAM_SLOTS_V2 && key >= KTRX_STREAM_KEY_MORE)
		return SHAPE_MORE;
	return SHAPE_FIRST;
}

static uint32_t add_group(struct ktread_columns *columns, uint32_t coding, uint32_t key)
{
	columns->group[columns->groups] =
		(struct group){ .key = (uint16_t)key, .shape = (uint16_t)shape_of(coding, key) };
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

/* Lists the slots of each group one behind the other. */
static void order_groups(struct ktread_columns *columns, uint32_t slots)
{
	uint32_t start = 0;

	for (uint32_t g = 0; g < columns->groups; g++) {
		columns->group[g].end = start;
		start += columns->group[g].slots;
	}
	for (uint32_t n = 0; n < slots; n++)
		columns->order[columns->group[columns->member[n]].end++] = n;
}

/* ---- encoding ---- */

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
		uint64_t stamp = wide(slot[n]);
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

/* What of one slot the next one is told by. */
struct trail {
	uint64_t stamp;
	uint32_t lead, generation, event;
};

/* A first slot as a writer leaves it: its kind, zeros and both generations are in order. */
static bool is_regular_first(const uint32_t *slot)
{
	uint32_t kind = KTRX_TAG_KIND(slot[0]);

	return (kind == KTRX_KIND_SINGLE || kind == KTRX_KIND_FIRST) && KTRX_TAG_CHECK(slot[0]) == 0 &&
	       slot[2] >> LEAD_BITS == (KTRX_TAG_GENERATION(slot[0]) & 0x7f);
}

static bool is_regular_more(const uint32_t *slot)
{
	uint32_t kind = KTRX_TAG_KIND(slot[0]);

	return (kind == KTRX_KIND_MORE || kind == KTRX_KIND_LAST) &&
	       KTRX_TAG_CHECK(slot[0]) ==
		       ktrx_check(wide(slot), wide(slot + 2), wide(slot + 4), wide(slot + 6));
}

static void add_generation(struct ktread_columns *columns, struct trail *last, const uint32_t *slot)
{
	uint32_t generation = KTRX_TAG_GENERATION(slot[0]);

	if (columns->generations == 0) {
		columns->head.generation = (uint16_t)generation;
		last->generation = generation;
	}
	columns->generation[columns->generations++] = (generation - last->generation) & 0xff;
	last->generation = generation;
}

static void add_first(struct ktread_columns *columns, struct trail *last, const uint32_t *slot)
{
	uint64_t stamp = KTRX_W0_STAMP(wide(slot));
	uint32_t lead = slot[2] & LEAD_MASK;

	if (columns->stamps == 0) {
		columns->head.stamp = last->stamp = stamp;
		columns->head.lead = last->lead = lead;
	}
	/* The difference of 36 bits with its sign. */
	add_stamp(columns, (uint64_t)((int64_t)((stamp - last->stamp) << STAMP_SHIFT) >> STAMP_SHIFT),
		  lead ^ last->lead);
	add_generation(columns, last, slot);
	last->stamp = stamp;
	last->lead = lead;
	last->event = KTRX_W0_EVENT(slot[0]);
}

static void survey_v2(struct ktread_columns *columns, const uint32_t (*slot)[8], uint32_t slots)
{
	struct trail last = { 0 };

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

static unsigned char *put_word(struct ktread_columns *columns, unsigned char *to, const struct group *group,
			       const uint32_t (*slot)[8], unsigned word, unsigned shift)
{
	const uint32_t *order = columns->order + group->end - group->slots;

	for (uint32_t i = 0; i < group->slots; i++)
		columns->value[i] = slot[order[i]][word] >> shift;
	return put_column(to, columns->value, group->slots);
}

static unsigned char *put_group(struct ktread_columns *columns, unsigned char *to, const struct group *group,
				const uint32_t (*slot)[8])
{
	unsigned word = group->shape == SHAPE_FIRST ? FIRST_WORD : group->shape == SHAPE_EMPTY ? 8 : 0;

	if (group->shape == SHAPE_MORE)
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
	order_groups(columns, slots);
	columns->head.groups = (uint16_t)columns->groups;
	memcpy(to, &columns->head, sizeof(columns->head));
	to += sizeof(columns->head);
	for (uint32_t g = 0; g < columns->groups; g++) {
		memcpy(to, &columns->group[g].key, sizeof(columns->group[g].key));
		to += sizeof(columns->group[g].key);
		columns->group_of_key[columns->group[g].key] = 0;
	}
	to = put_values(to, columns->member, slots);
	to = put_values(to, columns->stamp[0], columns->stamps);
	to = put_values(to, columns->stamp[1], columns->stamps);
	to = put_values(to, columns->lead, columns->stamps);
	if (coding == KTRX_STREAM_SLOTS_V2)
		to = put_values(to, columns->generation, columns->generations);
	for (uint32_t g = 0; g < columns->groups; g++)
		to = put_group(columns, to, &columns->group[g], slot);
	return (size_t)(to - start);
}

/* ---- decoding ---- */

static bool key_is_known(uint32_t coding, uint32_t key)
{
	uint32_t limit = coding == KTRX_STREAM_SLOTS_V1 ? KTRX_STREAM_KEY_V1_EVENTS : KTRX_STREAM_KEY_EMPTY;

	return key < limit || key == KTRX_STREAM_KEY_EMPTY || key == KTRX_STREAM_KEY_ODD;
}

static bool get_groups(struct ktread_columns *columns, uint32_t coding, struct source *from, uint32_t slots)
{
	if (!get_bytes(from, &columns->head, sizeof(columns->head)) || columns->head.groups > slots)
		return false;
	columns->groups = columns->head.groups;
	for (uint32_t g = 0; g < columns->groups; g++) {
		uint16_t key;

		if (!get_bytes(from, &key, sizeof(key)) || !key_is_known(coding, key))
			return false;
		columns->group[g] = (struct group){ .key = key, .shape = (uint16_t)shape_of(coding, key) };
	}
	return true;
}

/* Which slot is in which group, and how many of them have a stamp and a generation. */
static bool get_members(struct ktread_columns *columns, struct source *from, uint32_t slots)
{
	if (!get_column(from, columns->member, slots))
		return false;
	for (uint32_t n = 0; n < slots; n++) {
		if (columns->member[n] >= columns->groups)
			return false;
		columns->group[columns->member[n]].slots++;
	}
	columns->stamps = columns->generations = 0;
	for (uint32_t g = 0; g < columns->groups; g++) {
		const struct group *group = &columns->group[g];

		columns->stamps += group->shape == SHAPE_FIRST ? group->slots : 0;
		columns->generations += group->shape <= SHAPE_MORE ? group->slots : 0;
	}
	order_groups(columns, slots);
	return true;
}

static bool get_word(struct ktread_columns *columns, struct source *from, const struct group *group,
		     uint32_t (*slot)[8], unsigned word, unsigned shift)
{
	const uint32_t *order = columns->order + group->end - group->slots;

	if (!get_column(from, columns->value, group->slots))
		return false;
	for (uint32_t i = 0; i < group->slots; i++)
		slot[order[i]][word] = columns->value[i] << shift;
	return true;
}

static bool get_group(struct ktread_columns *columns, struct source *from, const struct group *group,
		      uint32_t (*slot)[8])
{
	unsigned word = group->shape == SHAPE_FIRST ? FIRST_WORD : group->shape == SHAPE_EMPTY ? 8 : 0;

	if (group->shape == SHAPE_MORE && !get_word(columns, from, group, slot, word++, 16))
		return false;
	for (; word < 8; word++)
		if (!get_word(columns, from, group, slot, word, 0))
			return false;
	return true;
}

static inline uint64_t stamp_difference(const struct ktread_columns *columns, uint32_t n)
{
	return unzigzag_wide(columns->stamp[0][n] | (uint64_t)columns->stamp[1][n] << 32);
}

/* Puts the leading words back in front of the payloads. */
static void lead_v1(const struct ktread_columns *columns, uint32_t (*slot)[8], uint32_t slots)
{
	uint64_t stamp = columns->head.stamp;
	uint32_t lead = columns->head.lead, taken = 0;

	for (uint32_t n = 0; n < slots; n++) {
		const struct group *group = &columns->group[columns->member[n]];

		if (group->shape == SHAPE_FIRST) {
			stamp += stamp_difference(columns, taken);
			lead ^= columns->lead[taken++];
			slot[n][0] = (uint32_t)stamp;
			slot[n][1] = (uint32_t)(stamp >> 32);
			slot[n][2] = lead * KTRX_STREAM_KEY_V1_EVENTS + group->key;
		} else if (group->shape == SHAPE_EMPTY) {
			memset(slot[n], 0, sizeof(slot[n]));
		}
	}
}

static void lead_first(uint32_t *slot, const struct trail *last, uint32_t key)
{
	uint32_t kind = key & 1 ? KTRX_KIND_FIRST : KTRX_KIND_SINGLE;
	uint64_t word =
		last->stamp << STAMP_SHIFT | (uint64_t)(key >> 1) << 16 | last->generation << 3 | kind;

	slot[0] = (uint32_t)word;
	slot[1] = (uint32_t)(word >> 32);
	slot[2] = (last->lead & LEAD_MASK) | last->generation << LEAD_BITS;
}

static void lead_more(uint32_t *slot, const struct trail *last, uint32_t key)
{
	slot[0] |= (key & 1 ? KTRX_KIND_LAST : KTRX_KIND_MORE) | last->generation << 3;
	slot[0] |= ktrx_check(wide(slot), wide(slot + 2), wide(slot + 4), wide(slot + 6)) << 11;
}

static void lead_v2(const struct ktread_columns *columns, uint32_t (*slot)[8], uint32_t slots)
{
	struct trail last = { columns->head.stamp, columns->head.lead, columns->head.generation, 0 };
	uint32_t taken = 0, generations = 0;

	for (uint32_t n = 0; n < slots; n++) {
		const struct group *group = &columns->group[columns->member[n]];

		if (group->shape <= SHAPE_MORE)
			last.generation = (last.generation + columns->generation[generations++]) & 0xff;
		if (group->shape == SHAPE_FIRST) {
			last.stamp += stamp_difference(columns, taken);
			last.lead ^= columns->lead[taken++];
			lead_first(slot[n], &last, group->key);
		} else if (group->shape == SHAPE_MORE) {
			lead_more(slot[n], &last, group->key);
		} else if (group->shape == SHAPE_EMPTY) {
			memset(slot[n], 0, sizeof(slot[n]));
		}
	}
}

static bool get_leads(struct ktread_columns *columns, uint32_t coding, struct source *from)
{
	return get_column(from, columns->stamp[0], columns->stamps) &&
	       get_column(from, columns->stamp[1], columns->stamps) &&
	       get_column(from, columns->lead, columns->stamps) &&
	       (coding == KTRX_STREAM_SLOTS_V1 ||
		get_column(from, columns->generation, columns->generations));
}

int ktread_columns_decode(struct ktread_columns *columns, uint32_t coding, const unsigned char *from,
			  size_t size, uint32_t (*slot)[8], uint32_t slots)
{
	struct source source = { from, from + size };

	if (!get_groups(columns, coding, &source, slots) || !get_members(columns, &source, slots) ||
	    !get_leads(columns, coding, &source))
		return KTREAD_E_FORMAT;
	for (uint32_t g = 0; g < columns->groups; g++)
		if (!get_group(columns, &source, &columns->group[g], slot))
			return KTREAD_E_FORMAT;
	(coding == KTRX_STREAM_SLOTS_V1 ? lead_v1 : lead_v2)(columns, slot, slots);
	return source.at == source.end ? 0 : KTREAD_E_FORMAT;
}
