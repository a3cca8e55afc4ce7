/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The Statistical Profiling Extension; QEMU's own CPUs do not have it. Its interrupt is INTID_PROFILING (gic.c). */
#include <ktrace/hwt_spe.h>

#include "arch.h"

struct ktrace_hwt_backend *arch_trace_unit(void)
{
	static struct ktrace_hwt_backend spe;

	ktrace_hwt_spe_make(&spe, &ktrace_hwt_sysreg);
	return &spe;
}
