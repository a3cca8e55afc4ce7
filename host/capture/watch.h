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

/*
 * Does anything go on in a machine that is about to be halted? The newest stamp of one that hangs as a whole
 * tells nothing of how long it has.
 */

/* Lets the machine run for that long; NULL where it runs anyway. 0 or an error. */
typedef int capture_pass_time(void *context, int ms);

/*
 * Watches until a slot or a heartbeat comes, all CPUs say that they idle, or CAPTURE_STILLNESS_MS are over.
 * `seconds`: for how long nothing came, 0 if something did, negative if that is not known. 0 or an error.
 */
#define CAPTURE_STILLNESS_MS 1000
int capture_stillness(struct ktread_image *image, capture_pass_time *pass, void *context, double *seconds);

/*
 * The same of the RAM file of a machine that runs: whether it goes on is seen in its memory. `seconds` is
 * negative also where nobody can write to the file any more, as the guest is gone, and where there is no
 * ktrace in it. `machine` as for ktread_memory_open_ram().
 */
void capture_stillness_of_file(const char *path, const char *machine, double *seconds);

#endif
