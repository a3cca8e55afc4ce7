/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Workloads: things for the kernel to do while it is being traced, one file each, chosen by the boot argument
 * run=NAME[,NAME…] and done one after another. Each checks its own results and panics if they are wrong. Those that
 * are wrong on purpose are in bug/.
 */
#ifndef DEMO_WORK_H
#define DEMO_WORK_H

#include <stdbool.h>
#include <stdint.h>

struct work {
	const char *name;
	void (*run)(uint64_t until_ns); /* returns soon after clock_ns() has reached until_ns */
};

/* Whether run= begins with a workload; without run=, whether there is seconds=. */
bool work_is_asked_for(void);

/* Runs the workloads of run=, without it mix; unknown names are reported. */
void work_run_all(void);

/*
 * Runs member(0, …) to member(count - 1, …), each in a thread name/n of its own, pinned to CPU n modulo the
 * CPUs, and returns when all have.
 */
void work_crew(const char *name, unsigned count, void (*member)(unsigned n, uint64_t until_ns),
	       uint64_t until_ns);

bool work_over(uint64_t until_ns);

/* Keeps the CPU busy for so long, interrupts or not. Any context. */
void work_compute(uint64_t ns);

/* The next of a row of numbers that look like chance; what *seed was at first tells all of them. */
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

#endif
