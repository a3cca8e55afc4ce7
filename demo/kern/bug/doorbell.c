/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Letters from CPU to CPU, each announced by the receiver's doorbell, whose handler takes them out of the box. Two
 * handlers that get that wrong: one leaves without telling the controller, one without taking the letter.
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

static uint32_t box[CPU_MAX]; /* letters; put in by any CPU, taken out by its own */

static void post(const struct cpu *to)
{
	__atomic_fetch_add(&box[to->id], 1, __ATOMIC_RELEASE);
	arch_doorbell_ring(to);
}

/* The last CPU's box. Some letters, then a ring without one, to be sure that none lies there unnoticed. */
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

/* The mistake: where there is nothing to be done, the controller is not told either. */
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

/* The mistake: rings again as long as there are letters, and takes none. */
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
