/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Which code of files a process has mapped by itself, for those who begin to trace it later: its areas are nobody else's to
 * look at, this is the process table's. As many as there may be areas.
 */
#ifndef DEMO_MAPPED_CODE_H
#define DEMO_MAPPED_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktrx/hwt.h>

struct process;

/* Before the running process maps code: there is memory to remember it. False: there is none. */
bool mapped_code_prepare(struct process *self);
/* It has mapped some. Prepared. */
void mapped_code_add(struct process *self, const struct ktrx_hwt_image *image, const char *path);
/* It has unmapped what lies there. */
void mapped_code_cut(struct process *self, uint64_t start, uint64_t end);

/* The child has what its parent has. The child is known to nobody else; false: out of memory. */
bool mapped_code_fork(struct process *child, const struct process *parent);
/* It is another program now, or none. */
void mapped_code_drop(struct process *self);

/* The n-th; false: there are no more. Table locked. */
bool mapped_code_get(const struct process *process, uint32_t n, struct ktrx_hwt_image *image, char *path,
		     size_t room);

#endif
