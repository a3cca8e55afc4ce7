/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A running guest, watched by the pulses of its trace: whether it is alive, and its counter's frequency. */
#ifndef CAPTURE_WATCH_H
#define CAPTURE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktread/memory.h"

/*
 * Decides from pulses of the trace whether the guest is alive. Silence is: no new slot and no heartbeat on
 * any CPU, while the machine runs and not all CPUs say that they idle. A CPU is stuck that used to beat, does
 * not idle, and beats no more, whatever the others do. Time is handed in, in seconds.
 */

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

/*
 * The frequency of a guest's counter that the kernel itself does not know.
 *
 *  - Best is what the guest's counter is made of: the timer that QEMU names, or for x86 the host's own cycle
 *    counter, which guests read under KVM and TCG alike.
 *  - Else the newest stamps in the trace are held against the host's clock, twice: off by about a millisecond
 *    over the time between the two, so only good for runs that last.
 */

struct capture_frequency {
	uint32_t samples;
	double first_time, last_time; /* seconds */
	uint64_t first_stamp, last_stamp;
	double next; /* when another sample is worth its cost */
};

/* A count of the host's cycle counter and when it was; both 0 where there is none that can be read. */
struct capture_cycles {
	uint64_t count;
	double time;
};

/* Seconds on the host's monotonic clock. */
double capture_now(void);

/* The guest booted anew: its counter may have. */
void capture_frequency_reset(struct capture_frequency *frequency);
/* Whether a sample is worth its cost now. */
bool capture_frequency_is_due(const struct capture_frequency *frequency);
/*
 * Takes a sample. Call it right after the trace was seen to move, so that its newest stamp is of this moment.
 */
void capture_frequency_sample(struct capture_frequency *frequency, struct ktread_image *image);

struct capture_cycles capture_cycles_now(void);
/* Hz since `begin`, 0 if there is nothing to count. Waits until that is long enough to tell. */
uint64_t capture_cycles_frequency(const struct capture_cycles *begin);

/* Ticks a second by the samples, 0 while unknown. */
uint64_t capture_frequency_get(const struct capture_frequency *frequency);

/*
 * The frequency of the counter of a guest that runs, where its kernel does not know it: by the file behind
 * its RAM.
 */

/*
 * Ticks a second, to about 1 %. Takes about half a second, less if there is nothing to measure. 0: the
 * kernel has stated its frequency, or the guest records nothing and has no heartbeat, or the file is not the
 * RAM of a guest. `machine` as for ktread_memory_open_ram().
 */
uint64_t capture_measure(const char *path, const char *machine);

#endif
