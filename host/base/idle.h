/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Whether a CPU rests in its idle thread, for a kernel that does not report this (KTRX_MODE_IDLE). A CPU that
 * rests may have no heartbeat for a long time, so it is not stuck.
 */
#ifndef BASE_IDLE_H
#define BASE_IDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "ktrx/state.h"

/*
 * if a CPU has at least this number of heartbeats in its idle thread without a switch, the timer is not
 * stopped there
 */
#define BASE_IDLE_TICKS 16u

/* What several readings of a CPU's descriptor have shown. All zeros before the first reading. */
struct base_idle {
	uint64_t heartbeats, switches; /* as in the descriptor at the last reading */
	uint64_t ticks;		       /* number of heartbeats in the idle thread since the last switch */
	bool read;
	bool says;  /* true if the kernel has reported KTRX_MODE_IDLE for this CPU */
	bool beats; /* true if the CPU has heartbeats while its idle thread runs */
};

/*
 * Returns whether the CPU has switched to its idle thread and runs no interrupt handler. `idle_thread`:
 * whether the thread in the descriptor is an idle thread. Returns false if the kernel reports by modes when
 * it idles, or if interrupts are disabled.
 */
static inline bool base_idle_runs(const struct base_idle *idle, const struct ktrx_cpu *row, bool idle_thread)
{
	return idle_thread && !idle->says && row->switches != 0 && row->nesting == 0 &&
	       row->interrupts != KTRX_INTERRUPTS_OFF &&
	       (row->mode == KTRX_MODE_KERNEL || row->mode == KTRX_MODE_UNKNOWN);
}

/* Processes a reading of the CPU's descriptor. */
static inline void base_idle_read(struct base_idle *idle, const struct ktrx_cpu *row, bool idle_thread)
{
	idle->says |= row->mode == KTRX_MODE_IDLE;
	if (!idle->read || row->switches != idle->switches || !base_idle_runs(idle, row, idle_thread))
		idle->ticks = 0;
	else if (row->heartbeats > idle->heartbeats)
		idle->ticks += row->heartbeats - idle->heartbeats;
	idle->beats |= idle->ticks >= BASE_IDLE_TICKS;
	idle->heartbeats = row->heartbeats;
	idle->switches = row->switches;
	idle->read = true;
}

#endif
