/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Invented traces ("stories") for `ktrace stats --worst`: a thread waits for a lock. What the holder of the
 * lock did during the wait explains how long the wait took.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/core/state.h"
#include "ktrace/hooks.h"
#include "test/fake/machine.h"
#include "test/golden/why_stories.h"
#include "test/golden/why_story.h"

/* Sets the time, and makes a thread, which has been running on a CPU, the current thread. */
static void resume(uint32_t cpu, uint32_t thread, uint64_t ms)
{
	at(ms);
	fake.cpu = cpu;
	fake.thread = thread;
}

/*
 * Blue waits 48 ms for lock alpha, which red holds. Red first waits 9 ms for lock beta, which grey holds,
 * and is then runnable for 25 ms, while green, which has nothing to do with either lock, runs on red's CPU.
 * `spins`: blue runs while it waits; otherwise it sleeps.
 */
static void record_inversion(int spins)
{
	boot();
	run(2, 8, 19);
	take(B, KTRACE_BY_THREAD, PLACE + 0x1);
	run(0, 5, 20);
	take(A, KTRACE_BY_THREAD, PLACE);
	run(1, 7, 25);
	if (spins)
		contend(A, "alpha", 5, PLACE + 0x10);
	else
		sleep_for(A, "alpha", 5, PLACE + 0x10);
	resume(0, 5, 26);
	sleep_for(B, "beta", 8, PLACE + 0x11);
	run(0, 6, 28);
	resume(2, 8, 35);
	give(B, KTRACE_BY_THREAD);
	wake(5);
	resume(0, 6, 60);
	switch_to(0, 5);
	at(61);
	take(B, KTRACE_BY_THREAD, PLACE + 0x12);
	at(65);
	give(B, KTRACE_BY_THREAD);
	at(70);
	give(A, KTRACE_BY_THREAD);
	if (spins) {
		resume(1, 7, 72);
	} else {
		wake(7);
		run(1, 7, 72);
	}
	at(73);
	take(A, KTRACE_BY_THREAD, PLACE + 0x10);
	at(74);
	give(A, KTRACE_BY_THREAD);
}

static void make_worst_inversion(void)
{
	record_inversion(0);
	go_on_to(110);
	save("worst-inversion.ktrx");
}

/* Returns the descriptor of a CPU's ring. */
static const struct ktrx_ring *ring_of(uint32_t cpu)
{
	for (uint32_t n = 0; n < KTRX_SECTIONS; n++) {
		const struct ktrx_section *section = &ktrace_root.section[n];
		const struct ktrx_ring *ring = (const struct ktrx_ring *)(uintptr_t)section->address;

		for (uint32_t k = 0;
		     section->type == KTRX_SECTION_RINGS && k < section->length / sizeof(*ring); k++)
			if (ring[k].cpu == cpu)
				return &ring[k];
	}
	fail();
	return NULL;
}

/*
 * Blue spins on its CPU, and CPU 0's records of the 61st and 62nd millisecond cannot be read. So it is
 * unknown whether red still held the lock after its last readable record.
 */
static void make_worst_lost(void)
{
	const struct ktrx_ring *ring;

	record_inversion(1);
	ring = ring_of(0);
	for (uint64_t n = 0; n <= ring->mask; n++) {
		uint64_t *slot = (uint64_t *)(uintptr_t)ring->base + 4 * n;
		const uint64_t stamp = KTRX_W0_STAMP(slot[0]);

		if (stamp >= 60 * MS && stamp < 62 * MS)
			memset(slot, 0, 32);
	}
	go_on_to(110);
	save("worst-lost.ktrx");
}

void make_worst(void)
{
	make_worst_inversion();
	make_worst_lost();
}
