/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A CPU puts letters into another CPU's box and rings its doorbell. The doorbell's handler takes them out.
 * There are two handlers, each with a mistake. The first one may return without ending the interrupt. The
 * second one does not take the letters.
 */
#include "arch.h"
#include "bug/bug.h"
#include "clock.h"
#include "cpu.h"
#include "interrupt.h"
#include "thread.h"
#include "timer.h"

#define LETTERS	     10
#define LETTER_EVERY (20 * NS_PER_MS)

/* Number of letters in each CPU's box. Any CPU adds letters; only the owner of the box removes them. */
static uint32_t box[CPU_MAX];

static void post(const struct cpu *to)
{
	__atomic_fetch_add(&box[to->id], 1, __ATOMIC_RELEASE);
	arch_doorbell_ring(to);
}

/*
 * Sends letters to the last CPU. Finally rings the doorbell once more, without a letter, in case a letter
 * has not been noticed.
 */
static void postman(void *unused)
{
	const struct cpu *to = &cpus[cpu_count - 1];

	(void)unused;
	for (unsigned i = 0; i < LETTERS; i++) {
		post(to);
		timer_sleep(LETTER_EVERY);
	}
	arch_doorbell_ring(to);
}

static _Noreturn void deliver_to(void (*handler)(void))
{
	doorbell_handler = handler;
	thread_create("postman", postman, NULL, 0);
	for (;;)
		timer_sleep(NS_PER_S);
}

/* The mistake: if the box is empty, the handler returns without ending the interrupt. */
static void hasty_handler(void)
{
	if (__atomic_exchange_n(&box[arch_this_cpu()->id], 0, __ATOMIC_ACQUIRE) == 0)
		return;
	doorbell_end();
}

void bug_no_eoi(uint64_t until_ns)
{
	(void)until_ns;
	deliver_to(hasty_handler);
}

/* The mistake: the handler takes no letters, but rings the doorbell again as long as there are letters. */
static void restless_handler(void)
{
	const struct cpu *self = arch_this_cpu();

	doorbell_end();
	if (__atomic_load_n(&box[self->id], __ATOMIC_ACQUIRE) > 0)
		arch_doorbell_ring(self);
}

void bug_irq_storm(uint64_t until_ns)
{
	(void)until_ns;
	deliver_to(restless_handler);
}
