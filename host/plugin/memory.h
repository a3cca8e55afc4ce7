/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The guest's memory, as the file that it is (ram=FILE). Every address comes from the guest and is not
 * trusted.
 */
#ifndef PLUGIN_MEMORY_H
#define PLUGIN_MEMORY_H

#include <stdint.h>

/*
 * Its name, which stays, the physical address of its first byte, and how many of its bytes follow each other
 * in memory, too: what lies behind them has addresses that are not known. QEMU makes the file later than it
 * loads plugins.
 */
void memory_use(const char *path, uint64_t base, uint64_t span);

/*
 * Where `size` bytes from this physical address on are mapped. NULL: not all of them are in the file, or
 * there is no file.
 */
void *memory_at(uint64_t physical, uint64_t size);

#endif
