/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Intel PT, which QEMU's emulated CPUs do not have. It uses the interrupt of the performance monitors
 * (apic.c, trap.c).
 */
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
