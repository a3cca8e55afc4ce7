/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Columns of a stream. */
#include <string.h>

#include "column.h"

#define SAMPLE 256u /* values looked at to choose between a column's codings */

static inline uint32_t zigzag(uint32_t difference)
{
	return difference << 1 ^ -(difference >> 31);
}

static inline uint32_t unzigzag(uint32_t value)
{
	return value >> 1 ^ -(value & 1);
}

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

bool ktread_column_get_bytes(struct ktread_column_source *from, void *to, size_t size)
{
	if ((size_t)(from->end - from->at) < size)
		return false;
	memcpy(to, from->at, size);
	from->at += size;
	return true;
}

bool ktread_column_get(struct ktread_column_source *from, uint32_t *value, uint32_t count)
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
