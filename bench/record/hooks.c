/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "hooks.h"

#include <ktrace/facts.h>

#include "loops.h"

#define LOCK  ((const void *)0x1000)
#define SELF  42u
#define OTHER 43u

static inline void lock(void)
{
	ktrace_lock_acquire(LOCK, KTRACE_BY_CPU);
	ktrace_lock_release(LOCK, KTRACE_BY_CPU);
}

static inline void mutex(void)
{
	ktrace_lock_acquire(LOCK, KTRACE_BY_THREAD);
	ktrace_lock_release(LOCK, KTRACE_BY_THREAD);
}

static inline void interrupts(void)
{
	ktrace_interrupts(0);
	ktrace_interrupts(1);
}

static inline void irq(void)
{
	ktrace_irq_enter(3);
	ktrace_irq_eoi(3);
	ktrace_irq_exit(3);
}

static inline void sleep(void)
{
	ktrace_thread_block(LOCK, "queue", KTRX_WAIT_EVENT, 0);
	ktrace_thread_switch(SELF, OTHER);
	ktrace_thread_wake(SELF);
	ktrace_thread_switch(OTHER, SELF);
}

/*
 * Facts reported in two ways: by one call, or by two calls (an event that the kernel declares, and an update
 * of the state).
 */
KTRACE_EVENT(sched, switch, "%u -> %u, old one in state %u", (uint32_t, prev), (uint32_t, next),
	     (uint32_t, state));
KTRACE_EVENT(sched, wake, "%u", (uint32_t, thread));
KTRACE_EVENT(sched, block, "for %p by %u, kind %u", (const void *, queue), (uint32_t, thread),
	     (uint8_t, kind));
KTRACE_EVENT(lock, acquire, "%p at %p", (const void *, lock), (const void *, place));
KTRACE_EVENT(lock, release, "%p", (const void *, lock));
KTRACE_EVENT(irq, enter, "%u", (uint32_t, irq));
KTRACE_EVENT(irq, exit, "%u", (uint32_t, irq));
KTRACE_EVENT(irq, eoi, "%u", (uint32_t, irq));

#define OPAQUE(name, value)    \
	uint32_t name = value; \
	KTRACE_COMPUTE_ONCE(name)
static inline void switch_one(void)
{
	OPAQUE(self, SELF);
	OPAQUE(other, OTHER);

	ktrace_switch(self, other, 0);
	ktrace_switch(other, self, 0);
}

static inline void switch_two(void)
{
	OPAQUE(self, SELF);
	OPAQUE(other, OTHER);

	KTRACE(sched, switch, self, other, 0);
	ktrace_thread_switch(self, other);
	KTRACE(sched, switch, other, self, 0);
	ktrace_thread_switch(other, self);
}

static inline void wake_one(void)
{
	OPAQUE(self, SELF);

	ktrace_wake(self);
}

static inline void wake_two(void)
{
	OPAQUE(self, SELF);

	KTRACE(sched, wake, self);
	ktrace_thread_wake(self);
}

static inline void block_one(void)
{
	ktrace_block(LOCK, "queue", KTRX_WAIT_EVENT, 0);
}

static inline void block_two(void)
{
	OPAQUE(self, SELF);

	KTRACE(sched, block, LOCK, self, KTRX_WAIT_EVENT);
	ktrace_thread_block(LOCK, "queue", KTRX_WAIT_EVENT, 0);
}

static inline void lock_one(void)
{
	ktrace_acquire(LOCK, KTRACE_BY_CPU);
	ktrace_release(LOCK, KTRACE_BY_CPU);
}

static inline void lock_two(void)
{
	KTRACE(lock, acquire, LOCK, (const void *)KTRACE_RETURN_ADDRESS);
	ktrace_lock_acquire(LOCK, KTRACE_BY_CPU);
	KTRACE(lock, release, LOCK);
	ktrace_lock_release(LOCK, KTRACE_BY_CPU);
}

static inline void irq_one(void)
{
	OPAQUE(number, 3);

	ktrace_interrupt_enter(number);
	ktrace_eoi(number);
	ktrace_interrupt_exit(number);
}

static inline void irq_two(void)
{
	OPAQUE(number, 3);

	KTRACE(irq, enter, number);
	ktrace_irq_enter(number);
	KTRACE(irq, eoi, number);
	ktrace_irq_eoi(number);
	KTRACE(irq, exit, number);
	ktrace_irq_exit(number);
}

#define LOOPS(name)                                \
	void hooks_##name##_tight(uint64_t n)      \
	{                                          \
		for (uint64_t i = 0; i < n; i++)   \
			name();                    \
	}                                          \
	void hooks_##name##_busy(uint64_t n)       \
	{                                          \
		BUSY_BEGIN(n);                     \
		for (uint64_t i = 0; i < n; i++) { \
			BUSY_WORK();               \
			name();                    \
		}                                  \
	}
LOOPS(lock)
LOOPS(mutex)
LOOPS(interrupts)
LOOPS(irq)
LOOPS(sleep)

#define ONE_LOOP(name)                           \
	void hooks_##name(uint64_t n)            \
	{                                        \
		for (uint64_t i = 0; i < n; i++) \
			name();                  \
	}
#undef FACT_LOOPS
#define FACT_LOOPS(name)     \
	ONE_LOOP(name##_one) \
	ONE_LOOP(name##_two)
FACT_LOOPS(switch)
FACT_LOOPS(wake)
FACT_LOOPS(block)
FACT_LOOPS(lock)
FACT_LOOPS(irq)
