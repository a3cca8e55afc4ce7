/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A table contains the place of each page. When a page is removed, all CPUs must flush it from their TLBs.
 * The mistake: the flush is requested while the table's spinlock is held. A CPU that spins for this lock has
 * interrupts off and does not answer.
 */
#include "arch.h"
#include "cpu.h"
#include "ipi.h"
#include "spinlock.h"
#include "bug/bug.h"

#define PAGES 8u

static struct spinlock table = SPINLOCK("page table");
static uintptr_t places[PAGES];

static void forget(void *page)
{
	arch_tlb_flush((uintptr_t)page);
}

static void take_out(unsigned page)
{
	bool irq_on = spin_lock(&table);

	places[page] = 0;
	ipi_call_all(forget, (void *)(ARCH_WINDOW_BASE + page * PAGE_SIZE));
	spin_unlock(&table, irq_on);
}

static void put_in(unsigned page, uintptr_t place)
{
	bool irq_on = spin_lock(&table);

	places[page] = place;
	spin_unlock(&table, irq_on);
}

static void pager(unsigned n, uint64_t until_ns)
{
	for (unsigned round = 0; !work_over(until_ns); round++) {
		if (n == 0)
			take_out(round % PAGES);
		else
			put_in(round % PAGES, round);
	}
}

void bug_ipi_lock(uint64_t until_ns)
{
	(void)until_ns;
	work_crew("pager", 2, pager, UINT64_MAX);
}

/* ---- A CPU that never answers -------------------------------------------------------------------- */

static uint32_t never_set;

/* Polls a device that never answers, with interrupts off. */
static void wait_for_device(void)
{
	arch_irq_save();
	while (!__atomic_load_n(&never_set, __ATOMIC_ACQUIRE))
		arch_relax();
}

static void ask_or_wait(unsigned n, uint64_t until_ns)
{
	if (n == 1)
		wait_for_device();
	for (unsigned round = 0; !work_over(until_ns); round++)
		ipi_call_all(forget, (void *)(ARCH_WINDOW_BASE + round % PAGES * PAGE_SIZE));
}

void bug_ipi_off(uint64_t until_ns)
{
	(void)until_ns;
	work_crew("poller", 2, ask_or_wait, UINT64_MAX);
}
