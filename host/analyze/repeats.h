/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The library's event ktrace.repeat: how often an event came again, unchanged, without a record. */
#ifndef ANALYZE_REPEATS_H
#define ANALYZE_REPEATS_H

#include <stdbool.h>
#include <stdint.h>

#include "ktread/ktread.h"

struct repeat {
	uint64_t id;	      /* of the event */
	uint64_t more;	      /* how often */
	uint64_t first, last; /* stamps of the CPU's counter, as recorded */
};

/* Its row; NULL: the trace's kernel has none. */
const struct ktread_type *repeat_type(const struct ktread *trace);
/* False: it is another event, or damaged. */
bool repeat_of(const struct ktread_event *event, struct repeat *repeat);

#endif
