/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Intel PT; QEMU's own CPUs do not have it. Its interrupt is the performance monitors' (apic.c, trap.c). */
#include <ktrace/hwt_pt.h>

#include "arch.h"

struct ktrace_hwt_backend *arch_trace_unit(unsigned n)
{
	static struct ktrace_hwt_backend pt;

	if (n > 0)
		return NULL;
	ktrace_hwt_pt_make(&pt, &ktrace_hwt_msr);
	return &pt;
}
