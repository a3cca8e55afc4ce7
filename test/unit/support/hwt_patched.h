/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Recordings of a program that jumps over its NOPs, and of the same program after it was patched to execute
 * them.
 */
#ifndef HWT_PATCHED_H
#define HWT_PATCHED_H

#include "hwt/images.h"
#include "unit/support/hwt_reading.h"

extern struct hwt_packets_writer packets; /* packets of the only stream in the recording */

/* Begins a recording of the process `target`, or of the kernel if `target` is 0. */
void begin_file(struct hwt_file_writer *writer, uint32_t target);
/* Writes `packets` to the file, and opens the file for reading. */
struct reading finish_file(struct hwt_file_writer *writer);
/* Returns the PROGRAM_SIZE bytes of the patched program, which does not jump over the NOPs. */
const uint8_t *straight(void);
/*
 * Writes packets of a sequence of instructions that begins at the return of leaf, jumps over the NOPs, and
 * ends at the start of main.
 */
void write_jump(uint64_t time, uint64_t space);
/* Writes packets of the same sequence in the patched program, which executes the NOPs. */
void write_straight(uint64_t time, uint64_t space);
/* Check that the next steps are those that write_jump() or write_straight() has written. */
void check_jump(struct reading *reading);
void check_straight(struct reading *reading);

#endif
