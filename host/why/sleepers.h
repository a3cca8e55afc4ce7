/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Threads that still sleep after their deadline, for each CPU whose ticks should end these sleeps. */
#ifndef WHY_SLEEPERS_H
#define WHY_SLEEPERS_H

#include "why/evidence.h"
#include "why/finding.h"

#define WHY_LATE_MS 100u /* time in ms: a sleep is late if its deadline passed longer ago than this */

/* Returns the CPU with the newest tick of all CPUs; NULL if there were too few ticks. */
const struct why_cpu *why_newest_tick(const struct why_evidence *evidence);
/*
 * Returns whether the thread's sleep is late, and ticks of this CPU should have ended it. In some kernels,
 * one CPU counts the ticks for all: if the thread's CPU never had a tick, and the CPU with the newest tick
 * has stopped, the ticks of that CPU should have ended the sleep.
 */
bool why_sleeps_late(const struct why_evidence *evidence, const struct why_cpu *cpu,
		     const struct why_thread *thread);
/*
 * Returns whether a late sleep shows that this CPU no longer takes its ticks: the deadline passed long before
 * the machine stopped recording. Returns false if a sleep is also that late on a CPU that still has ticks:
 * then the clock of all sleeps may be slow.
 */
bool why_sleepers_show_stop(const struct why_evidence *evidence, const struct why_cpu *cpu);
/* Adds the threads with late sleeps as actors, and a line about each of the first of them. */
void why_finding_sleepers(struct why_finding *finding, const struct why_evidence *evidence,
			  const struct why_cpu *cpu);

#endif
