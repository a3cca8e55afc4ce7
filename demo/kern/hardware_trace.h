/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Hardware trace: the kernel's side of ktrace/hwt.h. Kernel code calls its hooks when the events occur.
 * Programs use it through /dev/hwt (hardware_trace_device.c, abi/hwt.h).
 */
#ifndef DEMO_HARDWARE_TRACE_H
#define DEMO_HARDWARE_TRACE_H

#include <ktrace/hwt.h>

#include "file.h"
#include "thread.h"

/* Probes for trace units and creates /dev/hwt. Requires: after vfs_init. */
void hardware_trace_init(void);

/*
 * Like ktrace_hwt_start(), but also starts tracing threads that are already running on a CPU and might run
 * for long before the next switch.
 */
int hardware_trace_start(struct ktrace_hwt_context *context);

/* Writes the nth line of the list of trace units, present or absent. Returns false after the last line. */
bool hardware_trace_describe(unsigned n, char *line, size_t size);

/*
 * Reports that this CPU is about to run `next`, or that the running thread got another address space.
 * Requires: interrupts off.
 */
void hardware_trace_switch(const struct thread *next);

/* Operations of /dev/hwt. */
extern const struct file_operations hardware_trace_operations;

#endif
