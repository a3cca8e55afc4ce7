/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The demo's port, but with a different clock on each CPU, for tests. The make variable DEMO_CLOCK_SKEW
 * selects this port and sets SKEW_US and SKEW_PPM. If n is odd, the clock of CPU n is n × SKEW_US
 * microseconds ahead of CPU 0's clock, and n × SKEW_PPM millionths too fast. If n is even, the clock lags
 * behind and is too slow, by the same amounts. CPU 0's clock is exact.
 */
#ifndef DEMO_SKEW_KTRACE_PORT_H
#define DEMO_SKEW_KTRACE_PORT_H

#include_next <ktrace_port.h>

static inline uint64_t skew_clock(uint64_t now, uint32_t cpu)
{
	uint64_t ahead = arch_clock_hz() / 1000000 * SKEW_US * cpu + now * SKEW_PPM * cpu / 1000000;

	return cpu % 2 ? now + ahead : now - ahead;
}

/*
 * Before CPU 0 is online, arch_this_cpu() may not be valid, but only CPU 0 records, and its clock is exact.
 */
#define ktrace_arch_clock ktrace_arch_clock
static inline uint64_t ktrace_arch_clock(void)
{
	uint64_t now = arch_clock();

	return cpus[0].online ? skew_clock(now, arch_this_cpu()->id) : now;
}

/*
 * Turns interrupts off while a record is written, so that the thread cannot move to another CPU. Otherwise a
 * record could have a timestamp of one CPU's clock, but be in the ring of another CPU.
 */
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
