/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Where halted CPUs were called from: return addresses along the chain of frame pointers (rbp on x86_64, x29
 * on AArch64, s0 on RISC-V). Does no reading itself: it says which page it wants, and walks on when it is
 * given. What lies in a stack is taken for nothing: a chain may be a loop, lead anywhere, or not be one.
 *
 *	capture_stacks_open(&stacks, registers);
 *	while ((pages = capture_stacks_wanted(stacks, page, room)))
 *		for each of them: read it, capture_stacks_put(stacks, &page[i]);
 *	text = capture_stacks_text(stacks);
 *
 * Who can wait for pages has all that by capture_stacks_add().
 */
#ifndef CAPTURE_STACK_H
#define CAPTURE_STACK_H

#include <stdbool.h>
#include <stdint.h>

#define CAPTURE_STACK_PAGE  4096u
#define CAPTURE_STACK_PAGES 4u /* that are read together, at most */

struct capture_stack_page {
	uint32_t cpu;
	uint64_t address; /* virtual, as that CPU sees it */
	bool readable;
	unsigned char bytes[CAPTURE_STACK_PAGE];
};

struct capture_stacks;

/* `registers`: text as in spec/ktrx.md section 3. 0 or CAPTURE_E_SYSTEM. */
int capture_stacks_open(struct capture_stacks **stacks, const char *registers);
/*
 * Fills in cpu and address of pages to be read, one a CPU, `room` at most. Returns how many; 0 when all is
 * walked.
 */
unsigned capture_stacks_wanted(struct capture_stacks *stacks, struct capture_stack_page *page, unsigned room);
/* A page that was asked for. */
void capture_stacks_put(struct capture_stacks *stacks, const struct capture_stack_page *page);
/* The registers with a line "stack N HEX ..." for each CPU that has one, to be free()d. NULL: no memory. */
char *capture_stacks_text(struct capture_stacks *stacks);
void capture_stacks_close(struct capture_stacks *stacks);

/* Reads those of the pages that can be. 0, or an error that ends the walk. */
typedef int capture_stack_reader(void *context, struct capture_stack_page *page, unsigned pages);
/*
 * Adds those lines to *text, the registers; also where the reader has failed. 0, CAPTURE_E_SYSTEM, or the
 * reader's error.
 */
int capture_stacks_add(char **text, capture_stack_reader *read, void *context);

#endif
