/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Hardware trace: what the kernel does for ktrace/hwt.h, whose hooks stand where things happen. Programs ask for it by
 * /dev/hwt (hardware_trace_device.c, abi/hwt.h).
 */
#ifndef DEMO_HARDWARE_TRACE_H
#define DEMO_HARDWARE_TRACE_H

#include <ktrace/hwt.h>

#include "file.h"
#include "thread.h"

/* Looks for trace units, and makes /dev/hwt. After vfs_init. */
void hardware_trace_init(void);

/* Starts it also for who is on a CPU already, and might stay there for long. As ktrace_hwt_start(). */
int hardware_trace_start(struct ktrace_hwt_context *context);

/* The nth line on trace units, of those that are there and those that are not; false behind the last. */
bool hardware_trace_describe(unsigned n, char *line, size_t size);

/* This CPU is about to run the thread, or its thread has another address space. Interrupts off. */
void hardware_trace_switch(const struct thread *next);

/* Of /dev/hwt. */
extern const struct file_operations hardware_trace_operations;

#endif
