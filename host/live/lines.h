/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A line an interval, for terminals that are none and for programs. */
#ifndef LIVE_LINES_H
#define LIVE_LINES_H

#include "base/output.h"
#include "live/model.h"

struct live_lines {
	struct base_output *out;
	bool json;
	uint32_t tail; /* newest events shown before each line */
	uint64_t said; /* lines of the tail so far */
};

void live_lines_write(struct live_lines *lines, const struct live_model *model);

#endif
