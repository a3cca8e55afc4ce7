/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * state_check TRACE: checks the tables of state of a guest that runs the demo's run=abba. In this guest, two
 * threads wait for each other's mutex.
 * state_check --sound TRACE: checks only that no CPU has broken a rule.
 * Returns 0 if all expectations hold. Otherwise prints the first one that does not hold, and returns 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktread/ktread.h"
#include "ktrx/v2.h"

#define LIT (KTRX_HOOK_LOCK | KTRX_HOOK_THREAD | KTRX_HOOK_IRQ | KTRX_HOOK_EOI | KTRX_HOOK_PREEMPT)
/* maximum number of EOIs that a CPU may have sent for interrupts that it has not recorded yet */
#define EOI_AHEAD 1

static struct ktread *trace;

#define EXPECT(what, is_so)                                        \
	do {                                                       \
		if (!(is_so)) {                                    \
			fprintf(stderr, "not true: %s\n", (what)); \
			exit(1);                                   \
		}                                                  \
	} while (0)

static struct ktrx_holder holder_named(const char *name)
{
	struct ktrx_holder holder;

	for (uint32_t n = 0; ktread_holders(trace, n, &holder, 1) == 1; n++) {
		int is_thread = holder.id != 0 && !(holder.id & KTRX_HOLDER_CPU);
		const char *known = is_thread ? ktread_thread_name(trace, holder.id - 1) : NULL;

		if (known && strcmp(known, name) == 0)
			return holder;
	}
	fprintf(stderr, "no entry of thread %s\n", name);
	exit(1);
}

static void check_stuck(const struct ktrx_holder *thread, const struct ktrx_holder *other)
{
	EXPECT("the thread sleeps", thread->state == KTRX_THREAD_WAITING);
	EXPECT("the thread waits for a lock", thread->wait == KTRX_WAIT_LOCK);
	EXPECT("the thread holds one lock", thread->held_count == 1 && thread->held[0].object != 0);
	EXPECT("the thread waits for the other thread's lock", thread->object == other->held[0].object);
	EXPECT("the owner of that lock is the other thread", thread->owner == other->id);
	EXPECT("the wait has a start and no deadline", thread->deadline == 0 && thread->wait_stamp != 0);
	EXPECT("the thread waits in the function that took its first lock",
	       thread->wait_pc > thread->held[0].pc && thread->wait_pc - thread->held[0].pc < 256);
	EXPECT("all locks of the thread are known", thread->whole == 1);
	EXPECT("the stack of the thread is known",
	       thread->stack_low != 0 && thread->stack_high > thread->stack_low);
}

static void check_sound(const struct ktrx_cpu *cpu)
{
	EXPECT("the hooks are lit", (cpu->hooks & LIT) == LIT);
	EXPECT("the CPU has broken no rule", cpu->broken == KTRX_BROKEN_NOTHING);
	EXPECT("the CPU has heartbeats", cpu->heartbeats > 0 && cpu->now >= cpu->heartbeat_stamp);
	EXPECT("the CPU has ended all interrupts", cpu->eois - cpu->irqs <= EOI_AHEAD);
	EXPECT("the CPU has switched threads", cpu->switches > 0);
}

static uint32_t check_cpus(void)
{
	struct ktrx_holder holder;
	struct ktrx_cpu cpu;
	uint32_t number = 0;

	for (; ktread_cpus(trace, number, &cpu, 1) == 1; number++) {
		check_sound(&cpu);
		EXPECT("each CPU has an entry of locks", ktread_holders(trace, number, &holder, 1) == 1);
		EXPECT("the entries are in the order of CPUs", holder.id == (KTRX_HOLDER_CPU | number));
	}
	return number;
}

static void check_abba(void)
{
	struct ktrx_holder first = holder_named("abba/0"), second = holder_named("abba/1");

	check_stuck(&first, &second);
	check_stuck(&second, &first);
}

int main(int argc, char **argv)
{
	int sound = argc == 3 && strcmp(argv[1], "--sound") == 0;

	if (argc != 2 + sound || ktread_open(&trace, argv[argc - 1], NULL) != 0) {
		fprintf(stderr, "state_check: %s\n",
			argc == 2 + sound ? ktread_message(NULL) : "usage: state_check [--sound] TRACE");
		return 2;
	}
	EXPECT("there are CPUs", check_cpus() > 0);
	if (!sound)
		check_abba();
	ktread_close(trace);
	return 0;
}
