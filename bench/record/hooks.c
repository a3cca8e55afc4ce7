/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "hooks.h"

#include <ktrace/hooks.h>

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
