/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Steps one a line, in columns that can be chosen, or as JSON objects. */
#ifndef FLOW_COLUMNS_H
#define FLOW_COLUMNS_H

#include "base/output.h"
#include "flow/flow.h"

#define FLOW_COLUMNS_USUAL "offset,id,image,symbol,pc,event_type,event_payload"
#define FLOW_COLUMNS_ALL \
	"offset, id, image, symbol, pc, event_type, event_payload, time, pid, tid, space, source"
#define FLOW_COLUMNS_MOST 16u

struct flow_columns {
	struct flow *flow;
	struct base_output *out;
	int json;
	uint8_t column[FLOW_COLUMNS_MOST];
	unsigned count;
	int headings;			 /* a line before each stream; not for JSON */
	const struct hwt_stream *stream; /* the one at hand */
};

/* "offset,pc": 0, or -1 if one is unknown, named twice or there are none. */
int flow_columns_parse(struct flow_columns *columns, const char *list);
/* The names of the columns, before all lines; not for JSON. */
void flow_columns_head(struct flow_columns *columns);
/* A view; what is fed to it is a struct flow_columns. */
extern const struct flow_view flow_columns;

#endif
