/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Hardware trace: the demo kernel's use of ktrace/hwt.h. Kernel code calls ktrace's hooks when a process
 * starts, switches, and so on. Programs control hardware trace through /dev/hwt (hardware_trace_device.c,
 * abi/hwt.h).
 */
#ifndef DEMO_HARDWARE_TRACE_H
#define DEMO_HARDWARE_TRACE_H

#include <ktrace/hwt.h>

#include "file.h"
#include "thread.h"

/* Probes for trace units and creates /dev/hwt. Requires: after vfs_init. */
void hardware_trace_init(void);

/*
 * Like ktrace_hwt_start(), but also traces threads that are running on a CPU at the time of the call.
 * With ktrace_hwt_start() alone, such a thread would be traced only after its next switch.
 */
int hardware_trace_start(struct ktrace_hwt_context *context);

/*
 * Writes the nth line of the list of trace units, which contains absent units as well. Returns false if there
 * is no nth line.
 */
bool hardware_trace_describe(unsigned n, char *line, size_t size);

/*
 * Reports that this CPU is about to run `next`, or that the running thread got a new address space.
 * Requires: interrupts off.
 */
void hardware_trace_switch(const struct thread *next);

/* Operations of /dev/hwt. */
extern const struct file_operations hardware_trace_operations;

#endif
