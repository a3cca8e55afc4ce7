/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Detects that a busy host gives QEMU hardly any CPU time. The guest then records nothing, although nothing
 * is wrong with it.
 */
#ifndef CAPTURE_SHARE_H
#define CAPTURE_SHARE_H

#include <stdbool.h>
#include <sys/types.h>

#define CAPTURE_SHARE_EVERY 0.25 /* minimum time between two measurements, in seconds */

/* Begins with all members 0. */
struct capture_share {
	double time; /* time of the last measurement, in seconds; 0: there was none */
	double cpu;  /* CPU time of the process at that time, in seconds */
	bool ready;  /* whether a thread of the process was ready to run at that time */
};

/*
 * Returns for how many of the last `elapsed` seconds the guest could not run: all of them if the process got
 * less than a sixteenth of a CPU and is ready to run, otherwise 0. A process that is not ready to run waits
 * for an interrupt, as its guest does. `cpu`: its CPU time in these seconds.
 */
double capture_share_judge(double elapsed, double cpu, bool ready);
/*
 * Returns whether a thread of the process runs or wants to run: it is ready to run, waits for the host's
 * disk, or was stopped.
 */
bool capture_share_ready(pid_t pid);
/*
 * Returns for how many seconds since the last measurement the process could not run. It must have been ready
 * to run at both measurements, and its guest must have recorded nothing between them. `moved`: time at which
 * the guest last recorded something. Measures at most four times per second; returns 0 if it does not
 * measure, or if the process is unknown (0) or has ended.
 */
double capture_share_lost(struct capture_share *share, pid_t pid, double now, double moved);

#endif
