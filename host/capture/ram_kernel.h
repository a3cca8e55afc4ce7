/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finds the kernel that a running QEMU has booted, by the file that holds the guest's RAM. */
#ifndef CAPTURE_RAM_KERNEL_H
#define CAPTURE_RAM_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Looks for a process that has the RAM file open, and writes the word after -kernel on its command line as an
 * absolute path. Returns false if there is no such process that this user may examine, or if the path does
 * not fit.
 */
bool capture_ram_kernel(const char *ram, char *path, size_t size);

#endif
