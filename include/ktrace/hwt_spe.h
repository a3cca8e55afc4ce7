/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The backend `spe` of ktrace/hwt.h: Arm's Statistical Profiling Extension.
 * Never run on hardware (kernel/hwt_drivers/README.md).
 *
 *	static struct ktrace_hwt_backend backend;
 *
 *	ktrace_hwt_spe_make(&backend, &ktrace_hwt_sysreg);
 *	ktrace_hwt_add(&backend);		DEVICE: backend.why says what the CPU lacks
 *
 * Buffers need a `base` that all CPUs have mapped, writable, in the kernel's own tables: the hardware writes
 * to virtual addresses. The kernel lets the profiling buffer's interrupt through on each CPU and has it call
 * ktrace_hwt_interrupt().
 *
 * A buffer is used in portions of interrupt_every bytes (0: two halves): while one is taken, the next is
 * filled. Behind the last record of a portion stand bytes of 0, which are padding to decoders. With
 * KTRACE_HWT_STOP a portion is only begun when all that it holds has been taken.
 *
 * The interval is rounded to a multiple of 256. What SPE cannot do is ARGUMENT: ranges, one address space
 * alone, MTC, cycle counts (its records have latencies, always), packets of returns; and filters that this
 * CPU does not have.
 */
#ifndef KTRACE_HWT_SPE_H
#define KTRACE_HWT_SPE_H

#include "ktrace/hwt_backend.h"

KTRACE_BEGIN_C

/* Those of the running CPU. */
extern KTRACE_HIDDEN const struct ktrace_hwt_access_sysreg ktrace_hwt_sysreg;

/* Fills in a backend that lives as long as the kernel. */
void ktrace_hwt_spe_make(struct ktrace_hwt_backend *backend, const struct ktrace_hwt_access_sysreg *access);

KTRACE_END_C

#endif
