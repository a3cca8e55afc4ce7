/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A column of a stream: values of 32 bits, the bytes of which stand apart, those that are 0 throughout left out.
 * Normative text: spec/stream.md.
 */
#ifndef KTREAD_COLUMN_H
#define KTREAD_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktrx/stream.h"

/* What is left to be read of a block's content. */
struct ktread_column_source {
	const unsigned char *at, *end;
};

/* Writes the values as they are; returns the place behind them. */
unsigned char *ktread_column_put_values(unsigned char *to, const uint32_t *value, uint32_t count);
/* As values or as differences, whichever seem smaller. `value` is used up. */
unsigned char *ktread_column_put(unsigned char *to, uint32_t *value, uint32_t count);
/* False: there is not so much left, or it is no column. */
bool ktread_column_get(struct ktread_column_source *from, uint32_t *value, uint32_t count);
bool ktread_column_get_bytes(struct ktread_column_source *from, void *to, size_t size);

#endif
