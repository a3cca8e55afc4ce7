/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Workloads that end in fatal errors of the kernel. They do not return, except work_reset in the boot after
 * its reset.
 */
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

/*
 * Resets the machine once. Requires the boot argument keep=: the preserved trace shows that there was an
 * earlier boot. Without this argument, each boot would reset the machine again.
 */
void work_reset(uint64_t until_ns)
{
	(void)until_ns;
	if (ktrace_boot() > 1)
		return;
	for (uint32_t left = COUNTDOWN; left-- > 0;)
		KTRACE(boot, countdown, left);
	arch_reset();
}

/*
 * Turns interrupts off, sleeps, and spins for ever after the wakeup. The wakeup is possible because the CPU
 * has interrupts on while this thread sleeps.
 */
static void hang(void *unused)
{
	(void)unused;
	arch_irq_disable();
	timer_sleep(NS_PER_MS);
	for (;;)
		arch_relax();
}

/* Makes the last CPU hang; the other CPUs continue to run. */
void work_hang(uint64_t until_ns)
{
	(void)until_ns;
	thread_create("hang", hang, NULL, (int)cpu_count - 1);
	for (;;)
		timer_sleep(NS_PER_S);
}

static void halt(void *unused)
{
	(void)unused;
	arch_irq_disable();
	timer_sleep(NS_PER_MS);
	arch_timer_stop();
	arch_halt();
}

/* Like work_hang, but the CPU halts: an emulator spends no time on it. */
void work_halt(uint64_t until_ns)
{
	(void)until_ns;
	thread_create("halt", halt, NULL, (int)cpu_count - 1);
	for (;;)
		timer_sleep(NS_PER_S);
}
