/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Registers and stacks of a machine under observation, asked for over its QMP connection without ever blocking: the
 * machine is halted by the first question and stays so. One that does not answer is given up.
 */
#ifndef CAPTURE_INSPECTION_H
#define CAPTURE_INSPECTION_H

#include "machine.h"
#include "stack.h"

struct capture_inspection {
	const char *directory;		/* borrowed; QEMU writes there */
	double begun;			/* 0: not yet */
	bool done;			/* also where there is nothing to be had */
	struct capture_stacks *stacks;	/* while they are walked */
	struct capture_stack_page page; /* that QEMU is saving */
	char *text;			/* as in spec/ktrx.md section 3; NULL: nothing was learnt */
};

/* Begins at the first call, goes on with each; true when it is done. */
bool capture_inspection_step(struct capture_inspection *inspection, struct capture_machine *machine);
/* The next step begins anew. */
void capture_inspection_reset(struct capture_inspection *inspection);

#endif
