/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Drivers for the Statistical Profiling Extension, with the interrupt INTID_PROFILING (gic.c), and for
 * CoreSight. QEMU's aarch64 CPUs and machines have neither.
 */
#include <ktrace/hwt_coresight.h>
#include <ktrace/hwt_spe.h>

#include "arch.h"

struct ktrace_hwt_backend *arch_trace_unit(unsigned n)
{
	static struct ktrace_coresight components = { .access = &ktrace_hwt_mmio };
	static struct ktrace_hwt_backend spe, coresight;

	switch (n) {
	case 0:
		ktrace_hwt_spe_make(&spe, &ktrace_hwt_sysreg);
		return &spe;
	case 1:
		ktrace_hwt_coresight_make(&coresight, &components);
		return &coresight;
	default:
		return NULL;
	}
}
