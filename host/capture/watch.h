/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Decides from pulses of the trace whether the guest is alive. Silence is: no new slot and no heartbeat on
 * any CPU, while the machine runs and not all CPUs say that they idle. A CPU is stuck that used to beat, does
 * not idle, and beats no more, whatever the others do. Time is handed in, in seconds.
 */
#ifndef CAPTURE_WATCH_H
#define CAPTURE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "ktread/memory.h"

struct capture_watch {
	struct ktread_pulse last;
	bool seen;	/* `last` is set */
	bool beats;	/* this guest has heartbeats: their absence means something */
	bool idle;	/* silent because idle */
	double alive;	/* when it last moved, idled, or was not running */
	double moved;	/* when it last moved, or was not running */
	double unstuck; /* since when the same CPU is the quietest, with the same last heartbeat */
	unsigned boots; /* nonces seen */
};

/* The machine did not run, or there is nothing to look at: silence does not count. */
void capture_watch_pause(struct capture_watch *watch, double now);
/* True if this is another boot than before. */
bool capture_watch_feed(struct capture_watch *watch, const struct ktread_pulse *pulse, double now);
/* Seconds of silence. */
double capture_watch_silence(const struct capture_watch *watch, double now);
/* Seconds without a new slot or heartbeat, idle or not. */
double capture_watch_still(const struct capture_watch *watch, double now);
/* Seconds that the CPU watch->last.quiet_cpu has been stuck, 0 if none is. */
double capture_watch_stuck(const struct capture_watch *watch, double now);

#endif
