/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Rows of the event table as a reader inside the kernel sees them: found by id through the root, and looked
 * at no further than their own size, whatever they hold.
 */
#ifndef KTRACE_CORE_ROW_H
#define KTRACE_CORE_ROW_H

#include <stdbool.h>

#include "ktrx/v2.h"

/* Which of a row's strings; the name of field n is KTRACE_ROW_FIELDS + 2 * n, its unit the next one. */
enum { KTRACE_ROW_GROUP, KTRACE_ROW_NAME, KTRACE_ROW_TEXT, KTRACE_ROW_FILE, KTRACE_ROW_FIELDS };

/*
 * Row of event `id`, from 1; NULL if the table that can be read in place has none, or not all of its strings.
 */
const struct ktrx_event *ktrace_row_find(const struct ktrx_root *root, uint32_t id);

/*
 * The row of the event that a record with that id is of, NULL as above. *place: the row of the place that
 * recorded, NULL if the id is the event's own.
 */
const struct ktrx_event *ktrace_row_of(const struct ktrx_root *root, uint32_t id,
				       const struct ktrx_place **place);

/*
 * The file that belongs to the line of the place, or of the event if there is no place; empty if it does not
 * end within the row.
 */
const char *ktrace_row_file(const struct ktrx_event *row, const struct ktrx_place *place);

/* The row's n-th string; empty if it does not end within the row. */
const char *ktrace_row_string(const struct ktrx_event *row, uint32_t n);

/* Bytes of a field of fixed size, 0 for others. */
uint32_t ktrace_field_bytes(uint8_t type);

/* A field of 1 to 8 bytes, sign extended if its type has a sign. */
uint64_t ktrace_field_value(const uint8_t *from, uint8_t type);

#endif
