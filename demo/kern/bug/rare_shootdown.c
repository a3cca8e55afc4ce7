/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A page of the window moves from one page of RAM to another and back, and each time gets new contents. CPUs
 * announce when they are about to use the page. When it moves, only CPUs that use it are interrupted to flush
 * it from their TLBs; other CPUs have to do so before they use it again.
 * The mistake: a CPU checks whether it has to flush before it announces that it uses the page. If the page
 * moves in between, the CPU is not interrupted and does not flush, and reads the old page of RAM. The move
 * takes much longer than the few instructions in between, so this happens only if something delays the CPU.
 *
 * The TLBs are real on all architectures: QEMU keeps one for each CPU, and arch_tlb_flush() flushes only the
 * TLB of its own CPU.
 */
#include "arch.h"
#include "cpu.h"
#include "ipi.h"
#include "page.h"
#include "panic.h"
#include "window.h"
#include "bug/bug.h"
#include "bug/rounds.h"

#define MOVES 80

static uint32_t uses[CPU_MAX];	     /* 1: the CPU uses the page; accessed atomically */
static uint32_t must_flush[CPU_MAX]; /* 1: the CPU must flush before it uses the page; accessed atomically */
static uint64_t moves;		     /* number of completed moves; also stored in the page */
static uint64_t *places[2];	     /* the two pages of RAM, between which the page of the window moves */

static void flush_if_moved(void)
{
	if (__atomic_exchange_n(&must_flush[arch_this_cpu()->id], 0, __ATOMIC_SEQ_CST))
		arch_tlb_flush(window_address(0));
}

static void flush(void *unused)
{
	(void)unused;
	flush_if_moved();
}

static void check_page(void)
{
	uint64_t expected = __atomic_load_n(&moves, __ATOMIC_ACQUIRE);
	uint64_t found = *(volatile uint64_t *)window_address(0);

	if (found < expected)
		panic("stale translation: the page has the contents of move %lu instead of %lu", found,
		      expected);
}

/* Requires: the thread is pinned to its CPU. All functions below require this, too. */
static void use_page(void)
{
	unsigned cpu = arch_this_cpu()->id;

	if (__atomic_load_n(&must_flush[cpu], __ATOMIC_SEQ_CST))
		flush_if_moved();
	__atomic_store_n(&uses[cpu], 1, __ATOMIC_SEQ_CST);
	check_page();
	__atomic_store_n(&uses[cpu], 0, __ATOMIC_RELEASE);
}

static void use_page_safely(void)
{
	unsigned cpu = arch_this_cpu()->id;

	__atomic_store_n(&uses[cpu], 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&must_flush[cpu], __ATOMIC_SEQ_CST))
		flush_if_moved();
	check_page();
	__atomic_store_n(&uses[cpu], 0, __ATOMIC_RELEASE);
}

static void move_page(void)
{
	uint64_t move = moves + 1, *place = places[move % 2];

	*place = move;
	arch_map(window_address(0), (uintptr_t)place);
	for (unsigned i = 0; i < cpu_count; i++) {
		__atomic_store_n(&must_flush[i], 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&uses[i], __ATOMIC_SEQ_CST))
			ipi_call(&cpus[i], flush, NULL);
	}
	__atomic_store_n(&moves, move, __ATOMIC_RELEASE);
}

/* The first use flushes, because the page has moved in the previous round; the second one need not. */
static void use_twice(void)
{
	use_page();
	rounds_hand_over();
	use_page();
}

static void use_twice_safely(void)
{
	use_page_safely();
	rounds_hand_over();
	use_page_safely();
}

static void run(void (*use)(void), uint64_t until_ns)
{
	for (unsigned i = 0; i < 2; i++)
		places[i] = page_alloc(1);
	if (!places[0] || !places[1] || !arch_map(window_address(0), (uintptr_t)places[0]))
		panic("out of memory");
	rounds_run(&(struct rounds){ "pager", MOVES, use, move_page }, until_ns);
}

void bug_rare_shootdown(uint64_t until_ns)
{
	run(use_twice, until_ns);
}

void bug_no_rare_shootdown(uint64_t until_ns)
{
	run(use_twice_safely, until_ns);
}
