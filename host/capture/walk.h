/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Walks the stacks of halted CPUs, as cpu_state.h describes, in a thread. A step of the walk reads the
 * kernel's file, which may be on a slow file system, and the caller must not wait for that.
 */
#ifndef CAPTURE_WALK_H
#define CAPTURE_WALK_H

#include "cpu_state.h"

struct capture_walk;

/* Begins the first step, which opens the kernel's file. Returns NULL if memory runs out. */
struct capture_walk *capture_walk_open(const char *registers, const struct capture_stack_kernel *kernel);
/* Returns whether the last step has ended. Waits for that for a few milliseconds. */
bool capture_walk_is_ready(struct capture_walk *walk);
/* Returns the stacks; NULL if memory ran out. Requires: capture_walk_is_ready() has returned true. */
struct capture_stacks *capture_walk_stacks(struct capture_walk *walk);
/* Begins a step that continues with a page (copied). Requires: as capture_walk_stacks(). */
void capture_walk_put(struct capture_walk *walk, const struct capture_stack_page *page);
/* Frees the walk and its stacks. If a step runs, it frees them when it ends. `walk` may be NULL. */
void capture_walk_close(struct capture_walk *walk);

#endif
