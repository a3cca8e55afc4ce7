/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Encodes and decodes the columns of a stream, and decodes columns into slots. columns_encode.c encodes slots
 * as columns.
 */
#include "stream.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ktread/ktread.h"

/*
 * number of values of a column that the encoder examines to decide whether it stores the values or their
 * differences
 */
#define SAMPLE 256u

static inline uint32_t zigzag(uint32_t difference)
{
	return difference << 1 ^ -(difference >> 31);
}

static inline uint32_t unzigzag(uint32_t value)
{
	return value >> 1 ^ -(value & 1);
}

/*
 * Returns true if the differences between the values will probably take less room than the values themselves.
 */
static bool deltas_are_smaller(const uint32_t *value, uint32_t count)
{
	uint32_t sample = count < SAMPLE ? count : SAMPLE, plain = 0, deltas = 0;

	for (uint32_t i = 1; i < sample; i++) {
		plain += 32u - (uint32_t)__builtin_clz(value[i] | 1u);
		deltas += 32u - (uint32_t)__builtin_clz(zigzag(value[i] - value[i - 1]) | 1u);
	}
	return deltas < plain - plain / 4;
}

/*
 * Writes each byte plane that has a byte other than 0, and sets a bit in *flags for each plane written.
 * Returns the end of the bytes written.
 */
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

unsigned char *ktread_column_put_values(unsigned char *to, const uint32_t *value, uint32_t count)
{
	unsigned char *flags = to++;

	*flags = 0;
	return put_planes(to, flags, value, count);
}

unsigned char *ktread_column_put(unsigned char *to, uint32_t *value, uint32_t count)
{
	unsigned char *flags = to;

	if (!deltas_are_smaller(value, count))
		return ktread_column_put_values(to, value, count);
	*to++ = KTRX_STREAM_DELTAS;
	memcpy(to, value, sizeof(*value));
	for (uint32_t i = count; i-- > 1;)
		value[i] = zigzag(value[i] - value[i - 1]);
	value[0] = 0;
	return put_planes(to + sizeof(*value), flags, value, count);
}

/* Copies `size` bytes, and moves the reading position past them. Returns false if fewer bytes remain. */
static bool ktread_column_get_bytes(struct ktread_column_source *from, void *to, size_t size)
{
	if ((size_t)(from->end - from->at) < size)
		return false;
	memcpy(to, from->at, size);
	from->at += size;
	return true;
}

/* Reads one column of `count` values. Returns false if it is malformed or ends too early. */
static bool ktread_column_get(struct ktread_column_source *from, uint32_t *value, uint32_t count)
{
	uint32_t flags, last = 0;

	if (from->at == from->end)
		return false;
	flags = *from->at++;
	if (flags & ~(KTRX_STREAM_PLANES | KTRX_STREAM_DELTAS))
		return false;
	if (flags & KTRX_STREAM_DELTAS && !ktread_column_get_bytes(from, &last, sizeof(last)))
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

/* Functions that the encoder and the decoder of slots use. */

struct ktread_columns *ktread_columns_create(void)
{
	return calloc(1, sizeof(struct ktread_columns));
}

void ktread_columns_free(struct ktread_columns *columns)
{
	free(columns);
}

enum ktread_columns_shape ktread_columns_shape_of(uint32_t coding, uint32_t key)
{
	if (key == KTRX_STREAM_KEY_EMPTY)
		return KTREAD_SHAPE_EMPTY;
	if (key == KTRX_STREAM_KEY_ODD)
		return KTREAD_SHAPE_ODD;
	if (coding != KTRX_STREAM_SLOTS_V1 && key >= KTRX_STREAM_KEY_MORE)
		return KTREAD_SHAPE_MORE;
	return KTREAD_SHAPE_FIRST;
}

void ktread_columns_order(struct ktread_columns *columns, uint32_t slots)
{
	uint32_t start = 0;

	for (uint32_t g = 0; g < columns->groups; g++) {
		columns->group[g].end = start;
		start += columns->group[g].slots;
	}
	for (uint32_t n = 0; n < slots; n++)
		columns->order[columns->group[columns->member[n]].end++] = n;
}

/*
 * Decodes columns into slots. Checks every length against the number of bytes that the decoder has not read
 * yet.
 */

static inline uint64_t unzigzag_wide(uint64_t value)
{
	return value >> 1 ^ -(value & 1);
}

static bool key_is_known(uint32_t coding, uint32_t key)
{
	uint32_t limit = coding == KTRX_STREAM_SLOTS_V1 ? KTRX_STREAM_KEY_V1_EVENTS : KTRX_STREAM_KEY_EMPTY;

	return key < limit || key == KTRX_STREAM_KEY_EMPTY || key == KTRX_STREAM_KEY_ODD;
}

static bool get_groups(struct ktread_columns *columns, uint32_t coding, struct ktread_column_source *from,
		       uint32_t slots)
{
	if (!ktread_column_get_bytes(from, &columns->head, sizeof(columns->head)) ||
	    columns->head.groups > slots)
		return false;
	columns->groups = columns->head.groups;
	columns->first_lap = columns->head.generation;
	if (coding == KTRX_STREAM_CHECKED &&
	    !ktread_column_get_bytes(from, &columns->first_lap, sizeof(columns->first_lap)))
		return false;
	for (uint32_t g = 0; g < columns->groups; g++) {
		uint16_t key;

		if (!ktread_column_get_bytes(from, &key, sizeof(key)) || !key_is_known(coding, key))
			return false;
		columns->group[g] = (struct ktread_columns_group){
			.key = key, .shape = (uint16_t)ktread_columns_shape_of(coding, key)
		};
	}
	return true;
}

/*
 * Reads the column that contains the group number of each slot. Counts the slots that have a timestamp, and
 * the slots that have a generation. Returns false if the column is malformed.
 */
static bool get_members(struct ktread_columns *columns, struct ktread_column_source *from, uint32_t slots)
{
	if (!ktread_column_get(from, columns->member, slots))
		return false;
	for (uint32_t n = 0; n < slots; n++) {
		if (columns->member[n] >= columns->groups)
			return false;
		columns->group[columns->member[n]].slots++;
	}
	columns->stamps = columns->generations = 0;
	for (uint32_t g = 0; g < columns->groups; g++) {
		const struct ktread_columns_group *group = &columns->group[g];

		columns->stamps += group->shape == KTREAD_SHAPE_FIRST ? group->slots : 0;
		columns->generations += group->shape <= KTREAD_SHAPE_MORE ? group->slots : 0;
	}
	ktread_columns_order(columns, slots);
	return true;
}

static bool get_word(struct ktread_columns *columns, struct ktread_column_source *from,
		     const struct ktread_columns_group *group, uint32_t (*slot)[8], unsigned word,
		     unsigned shift)
{
	const uint32_t *order = columns->order + group->end - group->slots;

	if (!ktread_column_get(from, columns->value, group->slots))
		return false;
	for (uint32_t i = 0; i < group->slots; i++)
		slot[order[i]][word] = columns->value[i] << shift;
	return true;
}

static bool get_group(struct ktread_columns *columns, struct ktread_column_source *from,
		      const struct ktread_columns_group *group, uint32_t (*slot)[8])
{
	unsigned word = group->shape == KTREAD_SHAPE_FIRST   ? KTREAD_FIRST_WORD
			: group->shape == KTREAD_SHAPE_EMPTY ? 8
							     : 0;

	if (group->shape == KTREAD_SHAPE_MORE && !get_word(columns, from, group, slot, word++, 16))
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

/* Rebuilds the first three words of each version 1 record, which hold its timestamp and its header. */
static void rebuild_v1(const struct ktread_columns *columns, uint32_t (*slot)[8], uint32_t slots)
{
	uint64_t stamp = columns->head.stamp;
	uint32_t lead = columns->head.lead, taken = 0;

	for (uint32_t n = 0; n < slots; n++) {
		const struct ktread_columns_group *group = &columns->group[columns->member[n]];

		if (group->shape == KTREAD_SHAPE_FIRST) {
			stamp += stamp_difference(columns, taken);
			lead ^= columns->lead[taken++];
			slot[n][0] = (uint32_t)stamp;
			slot[n][1] = (uint32_t)(stamp >> 32);
			slot[n][2] = lead * KTRX_STREAM_KEY_V1_EVENTS + group->key;
		} else if (group->shape == KTREAD_SHAPE_EMPTY) {
			memset(slot[n], 0, sizeof(slot[n]));
		}
	}
}

/*
 * Rebuilds words 0 to 2 of a first slot. Its checksum, or the second copy of its generation, is added later.
 */
static void rebuild_first(uint32_t *slot, const struct ktread_columns_trail *last, uint32_t key)
{
	uint32_t kind = key & 1 ? KTRX_KIND_FIRST : KTRX_KIND_SINGLE;
	uint64_t word = last->stamp << KTREAD_STAMP_SHIFT | (uint64_t)(key >> 1) << 16 |
			(last->lap & 0xff) << 3 | kind;

	slot[0] = (uint32_t)word;
	slot[1] = (uint32_t)(word >> 32);
	slot[2] = last->lead & KTREAD_LEAD_MASK;
}

static void rebuild_more(uint32_t *slot, const struct ktread_columns_trail *last, uint32_t key)
{
	slot[0] |= (key & 1 ? KTRX_KIND_LAST : KTRX_KIND_MORE) | (last->lap & 0xff) << 3;
}

static void rebuild_v2(struct ktread_columns *columns, uint32_t (*slot)[8], uint32_t slots)
{
	struct ktread_columns_trail last = { columns->head.stamp, columns->head.lead, columns->first_lap, 0 };
	uint32_t taken = 0, generations = 0;

	for (uint32_t n = 0; n < slots; n++) {
		const struct ktread_columns_group *group = &columns->group[columns->member[n]];

		if (group->shape <= KTREAD_SHAPE_MORE)
			last.lap += (uint32_t)(int8_t)columns->generation[generations++];
		columns->lap[n] = last.lap;
		if (group->shape == KTREAD_SHAPE_FIRST) {
			last.stamp += stamp_difference(columns, taken);
			last.lead ^= columns->lead[taken++];
			rebuild_first(slot[n], &last, group->key);
		} else if (group->shape == KTREAD_SHAPE_MORE) {
			rebuild_more(slot[n], &last, group->key);
		} else if (group->shape == KTREAD_SHAPE_EMPTY) {
			memset(slot[n], 0, sizeof(slot[n]));
		}
	}
}

/*
 * Adds what KTRX_SLOTS_COPIED slots also contain: the second copy of the generation in first slots, and the
 * checksums in continuation slots.
 */
static void check_copied(const struct ktread_columns *columns, uint32_t (*slot)[8], uint32_t slots)
{
	for (uint32_t n = 0; n < slots; n++) {
		uint32_t *words = slot[n];

		if (columns->group[columns->member[n]].shape == KTREAD_SHAPE_FIRST)
			words[2] |= columns->lap[n] << KTREAD_LEAD_BITS;
		else if (columns->group[columns->member[n]].shape == KTREAD_SHAPE_MORE)
			words[0] |= ktrx_check_copied(ktread_words(words), ktread_words(words + 2),
						      ktread_words(words + 4), ktread_words(words + 6))
				    << 11;
	}
}

/*
 * Adds the checksums of KTRX_SLOTS_CHECKED slots. Visits the slots from the last to the first, because the
 * checksum of a FIRST slot covers the later slots of its record.
 */
static void check_checked(const struct ktread_columns *columns, uint32_t (*slot)[8], uint32_t slots)
{
	uint64_t rest = 0, check, word[4];

	for (uint32_t n = slots; n-- > 0;) {
		enum ktread_columns_shape shape = columns->group[columns->member[n]].shape;
		uint32_t kind = KTRX_TAG_KIND(slot[n][0]);

		ktread_columns_words(slot[n], word);
		if (shape == KTREAD_SHAPE_MORE) {
			check = ktrx_check_more(word, columns->lap[n]);
			rest = ktrx_check_rest(kind == KTRX_KIND_LAST ? 0 : rest, check);
			slot[n][0] |= (uint32_t)check & KTRX_TAG_CHECK_MASK;
		} else if (shape == KTREAD_SHAPE_FIRST) {
			check = ktrx_check_of_first(word, columns->lap[n],
						    kind == KTRX_KIND_FIRST ? rest : 0);
			slot[n][0] |= (uint32_t)check & KTRX_TAG_CHECK_MASK;
			slot[n][2] |= (uint32_t)check & KTRX_W1_CHECK_MASK;
		}
	}
}

static void rebuild_leads(struct ktread_columns *columns, uint32_t coding, uint32_t (*slot)[8],
			  uint32_t slots)
{
	if (coding == KTRX_STREAM_SLOTS_V1) {
		rebuild_v1(columns, slot, slots);
		return;
	}
	rebuild_v2(columns, slot, slots);
	if (coding == KTRX_STREAM_CHECKED)
		check_checked(columns, slot, slots);
	else
		check_copied(columns, slot, slots);
}

static bool get_leads(struct ktread_columns *columns, uint32_t coding, struct ktread_column_source *from)
{
	return ktread_column_get(from, columns->stamp[0], columns->stamps) &&
	       ktread_column_get(from, columns->stamp[1], columns->stamps) &&
	       ktread_column_get(from, columns->lead, columns->stamps) &&
	       (coding == KTRX_STREAM_SLOTS_V1 ||
		ktread_column_get(from, columns->generation, columns->generations));
}

int ktread_columns_decode(struct ktread_columns *columns, uint32_t coding, const unsigned char *from,
			  size_t size, uint32_t (*slot)[8], uint32_t slots)
{
	struct ktread_column_source source = { from, from + size };

	if (!get_groups(columns, coding, &source, slots) || !get_members(columns, &source, slots) ||
	    !get_leads(columns, coding, &source))
		return KTREAD_E_FORMAT;
	for (uint32_t g = 0; g < columns->groups; g++)
		if (!get_group(columns, &source, &columns->group[g], slot))
			return KTREAD_E_FORMAT;
	rebuild_leads(columns, coding, slot, slots);
	return source.at == source.end ? 0 : KTREAD_E_FORMAT;
}
