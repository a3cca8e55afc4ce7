/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Slots as columns. Slots of one event stand together, value by value, and each value's bytes apart: what is
 * alike comes to lie side by side, so that a fast compressor finds it. Every 32 bytes come back as they were,
 * whatever they are. Normative text: spec/stream.md.
 */
#ifndef KTREAD_COLUMNS_H
#define KTREAD_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "ktrx/slot.h"
#include "ktrx/stream.h"

#define KTREAD_COLUMNS_SLOTS (KTRX_STREAM_BLOCK_MAX / KTRX_SLOT_SIZE)
/* No block's columns are longer: 47 bytes a slot at worst, with the leading bytes of the fewest columns. */
#define KTREAD_COLUMNS_MAX (2u * KTRX_STREAM_BLOCK_MAX)

struct ktread_columns;

struct ktread_columns *ktread_columns_create(void);
void ktread_columns_free(struct ktread_columns *columns);
/* Of at most KTREAD_COLUMNS_SLOTS slots into KTREAD_COLUMNS_MAX bytes at `to`; returns how many it filled. */
size_t ktread_columns_encode(struct ktread_columns *columns, uint32_t coding, const uint32_t (*slot)[8],
			     uint32_t slots, unsigned char *to);
/* The reverse: 0, or KTREAD_E_FORMAT without a message where the bytes are not columns of so many slots. */
int ktread_columns_decode(struct ktread_columns *columns, uint32_t coding, const unsigned char *from,
			  size_t size, uint32_t (*slot)[8], uint32_t slots);

#endif
