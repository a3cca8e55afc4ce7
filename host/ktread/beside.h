/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What it takes to put further rings beside those of a trace. */
#ifndef KTREAD_BESIDE_ROOM_H
#define KTREAD_BESIDE_ROOM_H

#include "trace.h"

/* One cursor more, at the end, all zero: the merge is made anew for it. 0 or KTREAD_E_MEMORY. */
int ktread_beside_cursor(struct ktread *trace);
/* Rows behind those that are taken: the first one's id. */
int ktread_beside_types(struct ktread *trace, const struct ktread_type *type, uint32_t count, uint32_t *id);

#endif
