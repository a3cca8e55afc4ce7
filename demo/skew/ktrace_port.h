/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The demo's port with clocks that differ from CPU to CPU, for tests: built in by make's DEMO_CLOCK_SKEW, which
 * gives SKEW_US and SKEW_PPM. CPU n reads its counter n × SKEW_US microseconds ahead, or behind if n is even, and
 * n × SKEW_PPM millionths fast or slow; CPU 0's is as it is.
 */
#ifndef DEMO_SKEW_KTRACE_PORT_H
#define DEMO_SKEW_KTRACE_PORT_H

#include_next <ktrace_port.h>

static inline uint64_t skew_clock(uint64_t now, uint32_t cpu)
{
	uint64_t ahead = arch_clock_hz() / 1000000 * SKEW_US * cpu + now * SKEW_PPM * cpu / 1000000;

	return cpu % 2 ? now + ahead : now - ahead;
}

/* Before that only the boot CPU records, and it need not know yet who it is. */
#define ktrace_arch_clock ktrace_arch_clock
static inline uint64_t ktrace_arch_clock(void)
{
	uint64_t now = arch_clock();

	return cpus[0].online ? skew_clock(now, arch_this_cpu()->id) : now;
}

/* A stamp of one CPU in the ring of another would be out of order by all of the skew. */
#define ktrace_arch_pin ktrace_arch_pin
static inline unsigned long ktrace_arch_pin(void)
{
	unsigned long irq_on = arch_irq_enabled();

	arch_irq_mask();
	return irq_on;
}

static inline void ktrace_arch_unpin(unsigned long irq_on)
{
	if (irq_on)
		arch_irq_unmask();
}

#endif
