/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* CPUs that rest in their idle thread, in kernels that do not report when a CPU idles. */
#include "ktread/memory.h"

/*
 * if a CPU has at least this number of heartbeats in its idle thread without a switch, the timer is not
 * stopped there
 */
#define IDLE_TICKS 16u

bool ktread_idle_runs(const struct ktread_idle *idle, const struct ktrx_cpu *row, bool idle_thread)
{
	return idle_thread && !idle->says && row->switches != 0 && row->nesting == 0 &&
	       row->interrupts != KTRX_INTERRUPTS_OFF &&
	       (row->mode == KTRX_MODE_KERNEL || row->mode == KTRX_MODE_UNKNOWN);
}

void ktread_idle_read(struct ktread_idle *idle, const struct ktrx_cpu *row, bool idle_thread)
{
	idle->says |= row->mode == KTRX_MODE_IDLE;
	if (!idle->read || row->switches != idle->switches || !ktread_idle_runs(idle, row, idle_thread))
		idle->ticks = 0;
	else if (row->heartbeats > idle->heartbeats)
		idle->ticks += row->heartbeats - idle->heartbeats;
	idle->beats |= idle->ticks >= IDLE_TICKS;
	idle->heartbeats = row->heartbeats;
	idle->switches = row->switches;
	idle->read = true;
}
