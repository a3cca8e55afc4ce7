/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds the file of the kernel that a running QEMU has booted. The QEMU is identified by the file that holds
 * its guest's RAM.
 */
#ifndef CAPTURE_RAM_KERNEL_H
#define CAPTURE_RAM_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Looks for a process that has the RAM file open, and stores the argument of -kernel on the process's command
 * line, as an absolute path. Returns false if there is no such process that this user may examine, or if the
 * path does not fit.
 */
bool capture_ram_kernel(const char *ram, char *path, size_t size);

#endif
