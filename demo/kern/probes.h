/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Cost probes. If one of these settings is set to N, its measurement runs N times:
 *   debug.ktr.testlogcnt   six events back to back
 *   debug.ktr.testipicnt   IPIs to all CPUs with an answer; then IPIs without waiting
 *   debug.ktr.testcritcnt  turning interrupts on and off
 *   debug.ktr.testspincnt  taking and releasing a spinlock
 * The cost of one operation is recorded as probe.cost. The setting goes back to 0.
 */
#ifndef DEMO_PROBES_H
#define DEMO_PROBES_H

#include <stdbool.h>

/* Runs the requested probes, if the caller is CPU 0. Requires: called by an idle thread, interrupts off. */
void probes_run(void);

/* Returns true if a requested probe has not run yet. */
bool probes_pending(void);

#endif
