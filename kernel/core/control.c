/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Switching recording on and off: as a whole, and event by event. */
#include "state.h"

void ktrace_start(void)
{
	ktrace_state.stopped = 0;
	ktrace_root.flags &= ~KTRX_FLAG_STOPPED;
	ktrace_states_update();
}

void ktrace_stop(void)
{
	ktrace_state.stopped = 1;
	ktrace_root.flags |= KTRX_FLAG_STOPPED;
	ktrace_states_update();
}

int ktrace_is_started(void)
{
	return !ktrace_state.stopped;
}
