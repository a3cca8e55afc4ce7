/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The backend `qemu` of ktrace/hwt.h: the trace unit in software, which is QEMU with ktrace's plugin
 * (ktrx/hwt_unit.h). With the plugin's option ram= (the file of the guest's memory) it writes into buffers of
 * the kernel. With its option out= it traces all CPUs into a file on the host, independently of the kernel.
 *
 *	static struct ktrx_hwt_unit page[CPUS];
 *	static struct ktrace_hwt_qemu qemu = { .page = page, .cpus = CPUS, .user_start = …, .user_end = … };
 *	static struct ktrace_hwt_backend backend;
 *
 *	ktrace_hwt_qemu_make(&backend, &qemu);
 *	ktrace_hwt_add(&backend);		returns DEVICE if QEMU runs without the plugin
 *
 * The kernel also makes these calls; without the plugin they have no effect:
 *
 *	ktrace_hwt_qemu_clock()			on each CPU, when the clock of the rings runs
 *	ktrace_hwt_qemu_space()			in the context switch, after the store to CR3 or TTBR0
 */
#ifndef KTRACE_HWT_QEMU_H
#define KTRACE_HWT_QEMU_H

#include "ktrx/hwt_unit.h"
#include "ktrace/hwt_backend.h"

KTRACE_BEGIN_C

/* The configuration of this backend. Requires: stays valid as long as the kernel. */
struct ktrace_hwt_qemu {
	struct ktrx_hwt_unit
		/*
		 * array with one page for each CPU, page-aligned and zero at first. The array belongs to the
		 * library from ktrace_hwt_qemu_make() on
		 */
		*page;
	uint32_t cpus;
	uint64_t user_start,
		user_end; /* addresses in [user_start, user_end) are user code, all others kernel code */
	/*
	 * Gives a command to the unit: stores a byte at `doorbell`. NULL: the backend uses the CPU's own
	 * instructions, on x86_64 and AArch64.
	 */
	void (*ring)(uint8_t *doorbell);
};

void ktrace_hwt_qemu_make(struct ktrace_hwt_backend *backend, const struct ktrace_hwt_qemu *qemu);

/*
 * Sends the current time of the rings' clock to the unit, so that its trace and the rings can be merged.
 * Requires: called on CPU `cpu`, with interrupts disabled, after ktrace_hwt_qemu_make().
 */
void ktrace_hwt_qemu_clock(const struct ktrace_hwt_qemu *qemu, uint32_t cpu);
/*
 * Reports that this CPU now uses address space `space` (CR3; TTBR0 with ASID) and runs thread `thread`.
 * Requires: as for ktrace_hwt_qemu_clock().
 */
void ktrace_hwt_qemu_space(const struct ktrace_hwt_qemu *qemu, uint32_t cpu, uint64_t space, uint32_t thread);

KTRACE_END_C

#endif
