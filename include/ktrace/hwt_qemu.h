/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The backend `qemu` of ktrace/hwt.h: the trace unit that QEMU with ktrace's plugin is (ktrx/hwt_unit.h). It
 * writes into buffers of the kernel if the plugin was told which file is the guest's memory (ram=), and
 * traces all CPUs into a file of its own, whatever the kernel does, if it was told which one (out=).
 *
 *	static struct ktrx_hwt_unit page[CPUS];
 *	static struct ktrace_hwt_qemu qemu = { .page = page, .cpus = CPUS, .user_start = …, .user_end = … };
 *	static struct ktrace_hwt_backend backend;
 *
 *	ktrace_hwt_qemu_make(&backend, &qemu);
 *	ktrace_hwt_add(&backend);		DEVICE without the plugin
 *
 * and, with or without the plugin, as all of this does nothing where it is not there:
 *
 *	ktrace_hwt_qemu_clock()			on each CPU, when the rings' clock runs
 *	ktrace_hwt_qemu_space()			in the switch, behind the store to CR3 or TTBR0
 */
#ifndef KTRACE_HWT_QEMU_H
#define KTRACE_HWT_QEMU_H

#include "ktrx/hwt_unit.h"
#include "ktrace/hwt_backend.h"

KTRACE_BEGIN_C

/* Lives as long as the kernel. */
struct ktrace_hwt_qemu {
	struct ktrx_hwt_unit
		*page; /* a page each CPU, aligned to it, zero at first; the library's from make on */
	uint32_t cpus;
	uint64_t user_start,
		user_end; /* code in [user_start, user_end) is the user's, all else the kernel's */
	/* Rings a doorbell; NULL: by the CPU's own instructions, on those that have them. */
	void (*ring)(uint8_t *doorbell);
};

void ktrace_hwt_qemu_make(struct ktrace_hwt_backend *backend, const struct ktrace_hwt_qemu *qemu);

/*
 * On that CPU, any time from make on, interrupts off. Tells the unit what the rings' clock shows, so that its
 * trace and the rings can be laid side by side.
 */
void ktrace_hwt_qemu_clock(const struct ktrace_hwt_qemu *qemu, uint32_t cpu);
/* Likewise: from here on the CPU is in that address space (CR3; TTBR0 with ASID) and runs that thread. */
void ktrace_hwt_qemu_space(const struct ktrace_hwt_qemu *qemu, uint32_t cpu, uint64_t space, uint32_t thread);

KTRACE_END_C

#endif
