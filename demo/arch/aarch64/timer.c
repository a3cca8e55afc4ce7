/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "timer.h"

#include "arch.h"

uint64_t arch_clock_hz(void)
{
	return arch_sysreg_read(cntfrq_el0);
}

void arch_timer_start(void)
{
	arch_sysreg_write(cntv_cval_el0, arch_clock() + arch_clock_hz() / TICK_HZ);
	arch_sysreg_write(cntv_ctl_el0, 1);
}

void arch_timer_stop(void)
{
	arch_sysreg_write(cntv_ctl_el0, 0);
	__asm__ volatile("isb");
}

/* If the CPU handles a tick more than one period too late, drops the ticks that it has missed. */
void timer_next(void)
{
	uint64_t period = arch_clock_hz() / TICK_HZ;
	uint64_t next = arch_sysreg_read(cntv_cval_el0) + period;
	uint64_t now = arch_clock();

	if (next <= now)
		next = now + period;
	arch_sysreg_write(cntv_cval_el0, next);
	__asm__ volatile("isb");
}
