/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The distribution of what a field of some events holds. */
#ifndef ANALYZE_VALUES_H
#define ANALYZE_VALUES_H

#include <stdint.h>

#include "analyze/histogram.h"
#include "ktread/ktread.h"

/* Zero-initialised is ready for use. */
struct values {
	struct histogram positive; /* zero, too */
	struct histogram negative; /* magnitudes */
	uint64_t missing;	   /* events that lack the field, or hold a string there */
};

/* Reads the trace to its end; `events`: bit map of ids. 0, or KTREAD_E_MEMORY, or what ktread_next() said. */
int values_read(struct values *values, struct ktread *trace, const uint8_t *events, const char *field);
void values_free(struct values *values);

#endif
