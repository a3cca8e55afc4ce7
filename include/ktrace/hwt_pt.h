/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The backend `pt` of ktrace/hwt.h: Intel Processor Trace.
 * Never run on hardware (kernel/hwt_drivers/README.md).
 *
 *	static struct ktrace_hwt_backend backend;
 *
 *	ktrace_hwt_pt_make(&backend, &ktrace_hwt_msr);
 *	ktrace_hwt_add(&backend);		DEVICE: backend.why says what the CPU lacks
 *
 * The kernel lets the local APIC's performance monitoring interrupt through on each CPU and has it call
 * ktrace_hwt_interrupt(). In a kernel that runs virtual machines, IA32_VMX_MISC[14] has to be 1.
 *
 * Periods are rounded down to what the CPU has. It is ARGUMENT to ask for packets or filters that it has not,
 * for periods of packets that are off, and, on a CPU without interrupts for trace, for anything but
 * KTRACE_HWT_STOP, since it would be unknown how often a buffer has wrapped. The same goes for a CPU whose
 * table takes one region only (Broadwell) if the buffer has no `base`. interrupt_every also is the
 * most by which room comes back in a unit that stops.
 */
#ifndef KTRACE_HWT_PT_H
#define KTRACE_HWT_PT_H

#include "ktrace/hwt_backend.h"

KTRACE_BEGIN_C

/* Those of the running CPU. */
extern KTRACE_HIDDEN const struct ktrace_hwt_access_msr ktrace_hwt_msr;

/* Fills in a backend that lives as long as the kernel. */
void ktrace_hwt_pt_make(struct ktrace_hwt_backend *backend, const struct ktrace_hwt_access_msr *access);

KTRACE_END_C

#endif
