/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <ktrace/ktrace.h>

#include "arch.h"
#include "power.h"

void power_off(int status)
{
	ktrace_exit(status & 127);
	arch_exit(status & 127);
}

void power_restart(void)
{
	ktrace_exit(0);
	arch_reset();
}
