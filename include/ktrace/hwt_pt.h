/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The backend `pt` of ktrace/hwt.h: Intel Processor Trace. This driver has not been run on real hardware yet
 * (kernel/hwt_drivers/README.md).
 *
 *	static struct ktrace_hwt_backend backend;
 *
 *	ktrace_hwt_pt_make(&backend, &ktrace_hwt_msr);
 *	ktrace_hwt_add(&backend);		after DEVICE, backend.why states what the CPU lacks
 *
 * The kernel unmasks the performance monitoring interrupt of the local APIC on each CPU, and its handler
 * calls ktrace_hwt_interrupt(). In a kernel that runs virtual machines, IA32_VMX_MISC[14] must be 1.
 *
 * Periods are rounded down to values that the CPU supports. ktrace_hwt_configure() returns ARGUMENT for:
 *   - packets or filters that the CPU does not support
 *   - a period for packets that are turned off
 *   - a configuration without KTRACE_HWT_STOP, if the CPU has no trace interrupts: it would be unknown how
 *     often the buffer has wrapped. The same applies to a CPU with a single-region table (Broadwell) if the
 *     buffer has no `base`.
 * In a unit that stops when full, the room that the reader frees becomes available to the hardware in steps
 * of at most interrupt_every bytes.
 */
#ifndef KTRACE_HWT_PT_H
#define KTRACE_HWT_PT_H

#include "ktrace/hwt_backend.h"

KTRACE_BEGIN_C

/* Functions that access the registers of the running CPU. */
extern KTRACE_HIDDEN const struct ktrace_hwt_access_msr ktrace_hwt_msr;

/* Fills in a backend. Requires: both structures stay valid as long as the kernel. */
void ktrace_hwt_pt_make(struct ktrace_hwt_backend *backend, const struct ktrace_hwt_access_msr *access);

KTRACE_END_C

#endif
