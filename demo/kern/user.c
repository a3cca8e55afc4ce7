/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Handling of traps from user mode that are not system calls or page faults, and the return to user mode. */
#include <ktrace/ktrace.h>

#include "user.h"

#include "arch.h"
#include "cpu.h"
#include "process.h"
#include "sched.h"
#include "signal.h"

KTRACE_EVENT(signal, exception, "%u at %#llx", (uint8_t, signal), (unsigned long long, ip));

void user_entered(void)
{
	ktrace_mode(KTRX_MODE_KERNEL);
}

void user_exception(int signal, uintptr_t ip)
{
	KTRACE(signal, exception, (uint8_t)signal, ip);
	signal_force(signal);
}

void user_return(struct user_frame *frame)
{
	const struct thread *self = thread_self();

	for (;;) {
		if (signal_pending(self)) {
			arch_irq_enable();
			signal_deliver(frame);
			arch_irq_disable();
		} else if (arch_this_cpu()->need_resched) {
			schedule();
		} else {
			break;
		}
	}
	ktrace_interrupts(1);
	ktrace_mode(KTRX_MODE_USER);
}
