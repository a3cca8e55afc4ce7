/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Taking an event's values one after the other. */
#ifndef KTREAD_VALUE_H
#define KTREAD_VALUE_H

#include "ktread/ktread.h"

/* Value of field `n`, which lies at *offset; moves *offset behind it. n must be below type->fields. */
int ktread_value_take(const struct ktread_event *event, uint32_t n, uint32_t *offset,
		      struct ktread_value *value);

#endif
