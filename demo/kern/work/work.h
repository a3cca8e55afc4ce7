/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Workloads that run in the kernel while it is traced, one file each. The boot argument run=NAME[,NAME…]
 * selects the workloads to run, one after another. Each workload checks its results and panics if they are
 * wrong. Workloads with intentional bugs are in bug/.
 */
#ifndef DEMO_WORK_H
#define DEMO_WORK_H

#include <stdbool.h>
#include <stdint.h>

struct work {
	const char *name;
	void (*run)(uint64_t until_ns); /* must return soon after clock_ns() has reached until_ns */
};

/*
 * Returns true if the first name of run= is a workload or a bug, or if the boot arguments contain seconds=
 * but no run=.
 */
bool work_is_asked_for(void);

/*
 * Runs the workloads (and bugs) that run= names, or the workload mix if there is no run=. For an unknown
 * name, prints a message.
 */
void work_run_all(void);

/*
 * Runs member(0, …) to member(count - 1, …), each in a thread of its own with the name "name/n", pinned to
 * CPU n modulo the number of CPUs. Returns when all these calls have returned.
 */
void work_crew(const char *name, unsigned count, void (*member)(unsigned n, uint64_t until_ns),
	       uint64_t until_ns);

/* Call this function only after a round of work, so that a slow machine does at least one round. */
bool work_over(uint64_t until_ns);

/* Keeps the CPU busy for `ns` nanoseconds, in which the time of interrupts is included. Any context. */
void work_compute(uint64_t ns);

/* Returns the next pseudo-random number and updates *seed. The same initial *seed gives the same sequence. */
unsigned work_random(uint64_t *seed);

void work_pingpong(uint64_t until_ns);
void work_spin(uint64_t until_ns);
void work_fault(uint64_t until_ns);
void work_ipi(uint64_t until_ns);
void work_sleepers(uint64_t until_ns);
void work_stress(uint64_t until_ns);
void work_cost(uint64_t until_ns);
void work_calls(uint64_t until_ns);
void work_ktr(uint64_t until_ns);
void work_dump(uint64_t until_ns);
void work_net(uint64_t until_ns);
void work_mix(uint64_t until_ns);
void work_forever(uint64_t until_ns);
void work_idle(uint64_t until_ns);
void work_busy(uint64_t until_ns);
void work_spread(uint64_t until_ns);
void work_panic(uint64_t until_ns);
void work_wild(uint64_t until_ns);
void work_triple(uint64_t until_ns);
void work_reset(uint64_t until_ns);
void work_hang(uint64_t until_ns);
void work_halt(uint64_t until_ns);

#endif
