/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Event types from the trace's own table. */
#ifndef KTREAD_TYPES_V2_H
#define KTREAD_TYPES_V2_H

#include "layout.h"
#include "types.h"

/* Loads the event table and its counts. Returns how many rows were met, damaged ones included, or an error.
 */
int ktread_types_load_v2(struct ktread_types *types, const struct ktread_layout *layout, uint32_t *damaged);

#endif
