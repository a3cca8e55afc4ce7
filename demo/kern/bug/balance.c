/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Each CPU has a pool of buffers. A CPU whose pool runs low takes half of the buffers in its neighbour's
 * pool. The mistake: the CPU holds the lock of its own pool while it locks the neighbour's. If all CPUs
 * run low at the same time, each CPU spins for the lock of the next CPU.
 */
#include "cpu.h"
#include "spinlock.h"
#include "bug/bug.h"

#define LOW 16u

static struct pool {
	struct spinlock lock;
	unsigned buffers;
} pools[CPU_MAX];

static void take_half(struct pool *pool, struct pool *neighbour)
{
	unsigned half;

	spin_lock(&neighbour->lock);
	half = neighbour->buffers / 2;
	neighbour->buffers -= half;
	pool->buffers += half;
	spin_unlock(&neighbour->lock, false);
}

static void use_buffer(unsigned n)
{
	struct pool *pool = &pools[n];
	bool irq_on = spin_lock(&pool->lock);

	if (pool->buffers < LOW)
		take_half(pool, &pools[(n + 1) % cpu_count]);
	if (pool->buffers > 0)
		pool->buffers--;
	spin_unlock(&pool->lock, irq_on);
}

static void user(unsigned n, uint64_t until_ns)
{
	while (!work_over(until_ns))
		use_buffer(n);
}

void bug_abba_spin(uint64_t until_ns)
{
	(void)until_ns;
	for (unsigned n = 0; n < cpu_count; n++)
		pools[n] = (struct pool){ SPINLOCK("buffer pool"), 2 * LOW };
	work_crew("buffers", cpu_count, user, UINT64_MAX);
}
