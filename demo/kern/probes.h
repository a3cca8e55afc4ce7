/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Cost probes, each as often as a setting says: debug.ktr.testlogcnt six events back to back, testipicnt IPIs to all
 * CPUs and back, then without waiting for each, testcritcnt turning interrupts on and off, testspincnt a spinlock. What
 * one takes is recorded as probe.cost, and the setting goes back to 0.
 */
#ifndef DEMO_PROBES_H
#define DEMO_PROBES_H

#include <stdbool.h>

/* Runs those that are asked for, if this is the boot CPU. Idle threads, interrupts off. */
void probes_attend(void);

/* Are any asked for that have not run yet? */
bool probes_wait(void);

#endif
