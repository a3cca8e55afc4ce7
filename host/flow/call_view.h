/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What views of calls have in common: the steps of each stream go through stacks of their own. */
#ifndef FLOW_CALL_VIEW_H
#define FLOW_CALL_VIEW_H

#include "flow/calls.h"
#include "flow/flow.h"

struct flow_call_view {
	struct flow *flow;
	struct flow_calls *calls;  /* of the stream at hand */
	struct flow_doubts doubts; /* of all streams */
};

/* The stream's calls go to `sink`. 0 or KTREAD_E_MEMORY. */
int flow_call_view_begin(struct flow_call_view *view, const struct hwt_stream *stream,
			 const struct flow_sink *sink, void *to);
void flow_call_view_end(struct flow_call_view *view);

/* Do the stream's threads run nowhere else? Those of one that is a thread, or of the only CPU. */
int flow_is_alone(const struct flow *flow, const struct hwt_stream *stream);

#endif
