/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "arch.h"
#include "cpu.h"
#include "ipi.h"
#include "panic.h"
#include "sched.h"
#include "timer.h"

void interrupt(enum irq irq, uintptr_t ip)
{
	(void)ip;
	switch (irq) {
	case IRQ_TIMER:
		timer_tick();
		break;
	case IRQ_IPI:
		ipi_handle();
		break;
	case IRQ_SPURIOUS:
		break;
	}
	if (arch_this_cpu()->need_resched)
		schedule();
}

void nmi(uintptr_t ip)
{
	(void)ip;
	panic_check();
}
