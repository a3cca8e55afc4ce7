/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The backend `spe` of ktrace/hwt.h: Arm's Statistical Profiling Extension. This driver has not been run on
 * real hardware yet (kernel/hwt_drivers/README.md).
 *
 *	static struct ktrace_hwt_backend backend;
 *
 *	ktrace_hwt_spe_make(&backend, &ktrace_hwt_sysreg);
 *	ktrace_hwt_add(&backend);		after DEVICE, backend.why states what the CPU lacks
 *
 * The hardware writes to virtual addresses: buffers need a `base` that all CPUs have mapped writable in the
 * kernel's own page tables. The kernel enables the profiling buffer's interrupt on each CPU, and its handler
 * calls ktrace_hwt_interrupt().
 *
 * A buffer is divided into parts of interrupt_every bytes (0: two halves). While the reader takes one part,
 * the hardware writes the next part. After the last record of a part there are zero bytes, which decoders
 * take as padding. With KTRACE_HWT_STOP the hardware writes a part only after the reader has taken all of its
 * previous contents.
 *
 * The interval is rounded to a multiple of 256. ktrace_hwt_configure() returns ARGUMENT for what SPE does not
 * support: ranges, tracing a single address space, MTC, cycle counts (records always have latencies), return
 * packets, and filters that this CPU does not have.
 */
#ifndef KTRACE_HWT_SPE_H
#define KTRACE_HWT_SPE_H

#include "ktrace/hwt_backend.h"

KTRACE_BEGIN_C

/* Functions that access the registers of the running CPU. */
extern KTRACE_HIDDEN const struct ktrace_hwt_access_sysreg ktrace_hwt_sysreg;

/* Fills in a backend. Requires: both structures stay valid as long as the kernel. */
void ktrace_hwt_spe_make(struct ktrace_hwt_backend *backend, const struct ktrace_hwt_access_sysreg *access);

KTRACE_END_C

#endif
