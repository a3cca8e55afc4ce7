/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "flow/views.h"

int flow_is_alone(const struct flow *flow, const struct hwt_stream *stream)
{
	return stream->context.mode == KTRX_HWT_MODE_THREAD || hwt_file_streams(flow->file) == 1;
}

int flow_call_view_begin(struct flow_call_view *view, const struct hwt_stream *stream,
			 const struct flow_sink *sink, void *to)
{
	flow_call_view_end(view);
	return flow_calls_new(&view->calls, view->flow->functions, sink, to,
			      flow_is_alone(view->flow, stream));
}

void flow_call_view_end(struct flow_call_view *view)
{
	const struct flow_doubts *doubts;

	if (!view->calls)
		return;
	doubts = flow_calls_doubts(view->calls);
	view->doubts.resyncs += doubts->resyncs;
	view->doubts.deeper += doubts->deeper;
	view->doubts.stacks += doubts->stacks;
	flow_calls_free(view->calls);
	view->calls = NULL;
}
