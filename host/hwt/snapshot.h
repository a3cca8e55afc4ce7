/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The memory of a machine, as it was at one moment, seen through page tables: those of an address space where it has some, or
 * those of another, whose kernel is the same. Page tables are hostile as everything else.
 */
#ifndef HWT_SNAPSHOT_H
#define HWT_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

struct hwt_snapshot;

/* A RAM file or a core of a machine, ELF's number of which is `machine`. 0 or an error. */
int hwt_snapshot_open(struct hwt_snapshot **snapshot, const char *path, uint16_t machine);
void hwt_snapshot_close(struct hwt_snapshot *snapshot);
const char *hwt_snapshot_message(void); /* of the last open that failed, of this thread */
/* How many bytes can be read: at most `size`, and up to the end of a page. `space`: 0 if unknown. */
size_t hwt_snapshot_read(struct hwt_snapshot *snapshot, uint64_t space, uint64_t address, void *to,
			 size_t size);

#endif
