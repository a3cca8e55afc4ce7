/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Watches a running guest by the pulses of its trace: whether it makes progress, and its counter's
 * frequency.
 */
#ifndef CAPTURE_WATCH_H
#define CAPTURE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktread/memory.h"

/*
 * Detects from pulses of the trace whether the guest makes progress. The guest is silent if no CPU records a
 * new slot or a heartbeat, while the machine runs and not all CPUs are idle. A CPU is stuck if it had
 * heartbeats, is not idle, and has no more heartbeats. This does not depend on the other CPUs. Times are in
 * seconds; the caller passes the current time.
 */

struct capture_watch {
	struct ktread_pulse last;
	bool seen; /* true if `last` contains a pulse */
	/* true if this guest has heartbeats, so that a missing heartbeat is a sign of a problem */
	bool has_heartbeats;
	bool idle; /* true if all CPUs are idle */
	/* last time at which the guest recorded something, was idle, or was not running */
	double last_alive;
	double last_moved; /* last time at which the guest recorded something, or was not running */
	/* time since which the heartbeat that is the oldest of all CPUs has not changed */
	double stuck_since;
	unsigned boots; /* number of boots that were observed */
};

/*
 * Restarts the measurement. Call it while the machine is not running or has no trace, because a silence
 * during that time does not count.
 */
void capture_watch_pause(struct capture_watch *watch, double now);
/*
 * Takes `seconds` out of the measurement, because the host did not let the machine run in this time. Call it
 * before capture_watch_feed() with the same `now`.
 */
void capture_watch_skip(struct capture_watch *watch, double seconds, double now);
/* Processes a new pulse. Returns true if it is the first pulse of a boot. */
bool capture_watch_feed(struct capture_watch *watch, const struct ktread_pulse *pulse, double now);
/* Returns the seconds of silence. */
double capture_watch_silence(const struct capture_watch *watch, double now);
/* Returns the seconds without a new slot or heartbeat, even if all CPUs were idle. */
double capture_watch_still(const struct capture_watch *watch, double now);
/* Returns the seconds for which the CPU watch->last.quiet_cpu has been stuck, 0 if none is. */
double capture_watch_stuck(const struct capture_watch *watch, double now);

/*
 * Checks whether a machine makes progress. This is done before the machine is halted: if the whole machine
 * hangs, its newest timestamp does not show for how long it has hung.
 */

/* Lets the machine run for `ms`. Returns 0 or an error. */
typedef int capture_pass_time(void *context, int ms);

/*
 * Watches until a new slot or a heartbeat is recorded, all CPUs are idle, or CAPTURE_STILLNESS_MS are over.
 * `pass`: the function that lets the machine run; NULL: the machine is running already. *seconds: time
 * without a new slot or heartbeat; 0: a new slot or heartbeat came; negative: unknown. Returns 0 or an error
 * of `pass`.
 */
#define CAPTURE_STILLNESS_MS 1000
int capture_stillness(struct ktread_image *image, capture_pass_time *pass, void *context, double *seconds);

/*
 * Watches a machine whose CPUs are all idle until a new slot or a heartbeat is recorded, or CAPTURE_IDLE_MS
 * are over. *seconds: as for capture_stillness(). A silent idle machine may be healthy. CAPTURE_IDLE_MS is
 * longer than a host usually stops a virtual CPU.
 */
#define CAPTURE_IDLE_MS 1500
int capture_idle_moves(struct ktread_image *image, capture_pass_time *pass, void *context, double *seconds);

/*
 * Watches a running machine through its RAM file: does the same as capture_stillness(), or as
 * capture_idle_moves() if all CPUs are idle. `machine`: as for ktread_memory_open_ram(). *seconds is also
 * negative if the guest has ended, so that nothing can write to the file, or if the file contains no ktrace.
 */
void capture_stillness_of_file(const char *path, const char *machine, double *seconds);

/*
 * Measures the frequency of a guest's counter, if the kernel itself has not recorded it.
 *
 * - The best source is the one from which the guest's counter is derived: the timer that QEMU reports, or for
 *   x86 the host's own cycle counter, which guests read under KVM and TCG alike.
 * - Otherwise two samples are taken. A sample compares the newest timestamp in the trace with the host's
 *   clock. The error is about a millisecond in the time between the two samples, so only long runs give an
 *   accurate result. If the error may be more than 10 %, the frequency counts as unknown.
 */

struct capture_frequency {
	uint32_t samples;
	double first_time, last_time; /* times of the first and of the last sample, in seconds */
	uint64_t first_stamp, last_stamp;
	double first_doubt, last_doubt; /* uncertainty of these times, in seconds */
	double next;			/* time at which the next sample is due */
	/*
	 * time, in seconds, between the last attempt to take a sample and the next one; doubles with each
	 * failed attempt, because an attempt at a large trace takes long and may fail each time; 0: the last
	 * attempt did not fail
	 */
	double pause;
};

/*
 * A value of the host's cycle counter, and the time at which it was read. `count` is 0 if the host has no
 * such counter.
 */
struct capture_cycles {
	uint64_t count;
	double time;
};

/*
 * Returns the timestamp of the newest event or heartbeat in an image; if it has neither, the newest timestamp
 * of a CPU's state; 0 if it has none. This takes as long as writing a dump.
 */
uint64_t capture_newest_stamp(struct ktread_image *image);

/*
 * Discards all samples. Call it after the guest has rebooted, because the guest's counter may have restarted.
 */
void capture_frequency_reset(struct capture_frequency *frequency);
/* Returns whether another sample should be taken now. */
bool capture_frequency_is_due(const struct capture_frequency *frequency);
/*
 * Takes a sample. Requires: the guest recorded something a moment ago, so that the newest timestamp is the
 * current time. `since`: the guest recorded its newest event after this time. If more than a short time
 * has passed since then, for example because the host did not run this process, the time of the event is too
 * uncertain, and no sample is taken.
 */
void capture_frequency_sample(struct capture_frequency *frequency, struct ktread_image *image, double since);

struct capture_cycles capture_cycles_now(void);
/*
 * Returns the frequency of the host's cycle counter in Hz, measured since `begin`; 0 if the host has no such
 * counter. Waits if too little time has passed.
 */
uint64_t capture_cycles_frequency(const struct capture_cycles *begin);

/* Returns the frequency of the guest's counter in Hz, computed from the samples; 0 while it is unknown. */
uint64_t capture_frequency_get(const struct capture_frequency *frequency);

/*
 * Measures the frequency of a running guest's counter through the guest's memory. Returns the frequency in
 * Hz, accurate to about 1 %. Takes about half a second, or less if it cannot measure; on a busy host up to
 * about 2 s, and the result may then be wrong by up to 5 %. Returns 0 if the kernel has recorded its
 * frequency, if the guest records nothing and has no heartbeats, or if the error would be larger.
 * Requires: the guest can run while its memory is read.
 */
uint64_t capture_measure_image(struct ktread_image *image);

/*
 * Does the same through the file that holds the guest's RAM. Returns 0 also if the file is not a guest's RAM.
 * `machine`: as for ktread_memory_open_ram().
 */
uint64_t capture_measure(const char *path, const char *machine);

#endif
