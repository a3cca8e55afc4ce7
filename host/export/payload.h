/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reads numbers at known offsets in an event's payload. After a string, offsets are not known in advance. */
#ifndef EXPORT_PAYLOAD_H
#define EXPORT_PAYLOAD_H

#include <stdint.h>

#include "base/put.h"
#include "ktrx/v2.h"

/* Returns the width of a value in bytes; 0 for strings and unknown types. */
static inline uint32_t payload_width(uint8_t type)
{
	static const uint8_t width[] = {
		[KTRX_TYPE_U8] = 1,   [KTRX_TYPE_U16] = 2,  [KTRX_TYPE_U32] = 4,     [KTRX_TYPE_U64] = 8,
		[KTRX_TYPE_I8] = 1,   [KTRX_TYPE_I16] = 2,  [KTRX_TYPE_I32] = 4,     [KTRX_TYPE_I64] = 8,
		[KTRX_TYPE_BOOL] = 1, [KTRX_TYPE_CHAR] = 1, [KTRX_TYPE_POINTER] = 8,
	};

	return type < sizeof(width) ? width[type] : 0;
}

/* Returns the number as a signed value. An unsigned number of 32 bits is converted to int, as %d does. */
static inline int64_t payload_signed(uint8_t type, const unsigned char *from)
{
	switch (type) {
	case KTRX_TYPE_U8:
	case KTRX_TYPE_BOOL:
	case KTRX_TYPE_CHAR:
		return (int64_t)base_load(from, 1);
	case KTRX_TYPE_I8:
		return (int8_t)base_load(from, 1);
	case KTRX_TYPE_U16:
		return (int64_t)base_load(from, 2);
	case KTRX_TYPE_I16:
		return (int16_t)base_load(from, 2);
	case KTRX_TYPE_U32:
	case KTRX_TYPE_I32:
		return (int32_t)base_load(from, 4);
	default:
		return (int64_t)base_load(from, 8);
	}
}

/*
 * Returns the number as an unsigned value. A number of up to 32 bits is promoted to int and then converted
 * to unsigned, as %u does.
 */
static inline uint64_t payload_unsigned(uint8_t type, const unsigned char *from)
{
	int64_t number = payload_signed(type, from);

	return payload_width(type) <= 4 ? (uint32_t)number : (uint64_t)number;
}

#endif
