/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The ways in which a kernel can go wrong, on demand. None returns, but for the boot after a reset. */
#include <ktrace/ktrace.h>

#include "arch.h"
#include "clock.h"
#include "cpu.h"
#include "panic.h"
#include "thread.h"
#include "timer.h"
#include "work.h"

#define COUNTDOWN 1000

KTRACE_EVENT(boot, countdown, "%u to the reset", (uint32_t, left));

void work_panic(uint64_t until_ns)
{
	(void)until_ns;
	panic("asked for by run=panic");
}

void work_wild(uint64_t until_ns)
{
	(void)until_ns;
	*(volatile uint32_t *)(ARCH_WINDOW_BASE + ARCH_WINDOW_SIZE) = 1;
}

void work_triple(uint64_t until_ns)
{
	(void)until_ns;
	arch_reset();
}

/* Another boot knows by the trace of this one that there was one: without it, it would reset, too. */
void work_reset(uint64_t until_ns)
{
	(void)until_ns;
	if (ktrace_boot() > 1)
		return;
	for (uint32_t left = COUNTDOWN; left-- > 0;)
		KTRACE(boot, countdown, left);
	arch_reset();
}

/* Woken from its sleep the thread goes on where interrupts are off, although its CPU idled with them on. */
static void hang(void *unused)
{
	(void)unused;
	arch_irq_disable();
	timer_sleep(NS_PER_MS);
	for (;;)
		arch_relax();
}

/* The last CPU hangs; the others go on ticking. */
void work_hang(uint64_t until_ns)
{
	(void)until_ns;
	thread_create("hang", hang, NULL, (int)cpu_count - 1);
	for (;;)
		timer_sleep(NS_PER_S);
}
