/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Bugs: small pieces of kernel code with one real mistake each, chosen like a workload by the boot argument run=NAME.
 * What `ktrace why` says of each stands in test/scenarios/list.
 *
 * The mistake is in how the code uses the kernel; locks, scheduler and interrupts are the ones that everything else
 * runs on. Most bugs leave the machine hanging, so the function does not return.
 */
#ifndef DEMO_BUG_H
#define DEMO_BUG_H

#include <stdint.h>

#include "work/work.h"

/* Ends with one that has no name. */
extern const struct work bugs[];

void bug_abba(uint64_t until_ns);
void bug_cycle3(uint64_t until_ns);
void bug_lost_wakeup(uint64_t until_ns);
void bug_wakeup_race(uint64_t until_ns);
void bug_starve(uint64_t until_ns);
void bug_slow_disk(uint64_t until_ns);

#endif
