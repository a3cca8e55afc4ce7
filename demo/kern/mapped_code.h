/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The list of code in files that a process has mapped. A hardware trace that starts later needs the list: it
 * cannot read the process's memory areas, because only the process itself may do that. The list is guarded by
 * the process table's lock. It has VM_AREAS_MAX entries.
 */
#ifndef DEMO_MAPPED_CODE_H
#define DEMO_MAPPED_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktrx/hwt.h>

struct process;

/*
 * Allocates the running process's list. Must be called before the process maps code. Returns true if the list
 * exists, false if out of memory.
 */
bool mapped_code_prepare(struct process *self);
/* Records that the process has mapped code. Requires: mapped_code_prepare() returned true. */
void mapped_code_add(struct process *self, const struct ktrx_hwt_image *image, const char *path);
/* Records that the process has unmapped [start, end). */
void mapped_code_cut(struct process *self, uint64_t start, uint64_t end);

/*
 * Copies the parent's list to its child. Returns false if out of memory. Requires: no other thread can find
 * the child yet.
 */
bool mapped_code_fork(struct process *child, const struct process *parent);
/* Frees the list. Called when the process starts another program, or ends. */
void mapped_code_drop(struct process *self);

/* Copies the nth entry. Returns false if there is no nth entry. Requires: process table locked. */
bool mapped_code_get(const struct process *process, uint32_t n, struct ktrx_hwt_image *image, char *path,
		     size_t room);

#endif
