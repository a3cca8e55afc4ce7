/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Functions that read and write big-endian numbers at any address, as in network frames. */
#ifndef DEMO_NET_BYTES_H
#define DEMO_NET_BYTES_H

#include <stdint.h>

static inline uint16_t get16(const uint8_t *from)
{
	return (uint16_t)(from[0] << 8 | from[1]);
}

static inline uint32_t get32(const uint8_t *from)
{
	return (uint32_t)get16(from) << 16 | get16(from + 2);
}

static inline void put16(uint8_t *to, uint16_t value)
{
	to[0] = (uint8_t)(value >> 8);
	to[1] = (uint8_t)value;
}

static inline void put32(uint8_t *to, uint32_t value)
{
	put16(to, (uint16_t)(value >> 16));
	put16(to + 2, (uint16_t)value);
}

#endif
