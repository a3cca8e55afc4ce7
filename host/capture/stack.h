/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Where halted CPUs were called from: return addresses along the chain of frame pointers (rbp on x86_64, x29 on
 * AArch64, s0 on RISC-V). Does no reading itself: it says which page it wants, and walks on when it is given. What
 * lies in a stack is taken for nothing: a chain may be a loop, lead anywhere, or not be one.
 *
 *	capture_stacks_open(&stacks, registers);
 *	while (capture_stacks_next(stacks, &cpu, &address))
 *		capture_stacks_put(stacks, page at that address as the CPU sees it, or NULL);
 *	text = capture_stacks_text(stacks);
 */
#ifndef CAPTURE_STACK_H
#define CAPTURE_STACK_H

#include <stdbool.h>
#include <stdint.h>

#define CAPTURE_STACK_PAGE 4096u

struct capture_stacks;

/* `registers`: text as in spec/ktrx.md section 3; borrowed until closed. 0 or CAPTURE_E_SYSTEM. */
int capture_stacks_open(struct capture_stacks **stacks, const char *registers);
/* The virtual address of a page, and the CPU whose it is; false when all is walked. */
bool capture_stacks_next(struct capture_stacks *stacks, uint32_t *cpu, uint64_t *address);
/* The page that was asked for; NULL: it cannot be read. */
void capture_stacks_put(struct capture_stacks *stacks, const void *page);
/* The registers with a line "stack N HEX ..." for each CPU that has one, to be free()d. NULL: no memory. */
char *capture_stacks_text(struct capture_stacks *stacks);
void capture_stacks_close(struct capture_stacks *stacks);

#endif
