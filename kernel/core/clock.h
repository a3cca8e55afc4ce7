/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The clocks' side of ktrace_init() and of each CPU's tick. */
#ifndef KTRACE_CORE_CLOCK_H
#define KTRACE_CORE_CLOCK_H

#include "clock_bounds.h"

/* Where measurements go, a row a CPU each, in lent memory; NULL: nowhere. `once`: also without being asked. */
struct ktrace_clock_rows {
	struct ktrx_clock *clock;
	int64_t *offset;
	struct ktrace_clock_line *line;
	uint32_t once;
};

/* Rows are zero; called before the first CPU is online. */
KTRACE_HIDDEN void ktrace_clock_open(const struct ktrace_clock_rows *rows, void (*request)(uint32_t cpu));

/* From the heartbeat of an online CPU, with how many it had: measures if it is time to. */
KTRACE_HIDDEN void ktrace_clock_beat(uint32_t cpu, uint64_t heartbeats);

#endif
