/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * An architecture with one CPU and no interrupts, for the parts of the demo kernel that tests run on the
 * host.
 */
#ifndef FAKE_DEMO_ARCH_CPU_H
#define FAKE_DEMO_ARCH_CPU_H

#include <stdbool.h>

static inline bool arch_irq_enabled(void)
{
	return false;
}

static inline void arch_irq_unmask(void)
{
}

static inline void arch_irq_mask(void)
{
}

#endif
