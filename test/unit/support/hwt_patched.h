/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A program that jumps over its no-operations, or has been patched not to: recordings of both, step by step. */
#ifndef HWT_PATCHED_H
#define HWT_PATCHED_H

#include "hwt/images.h"
#include "unit/support/hwt_reading.h"

extern struct hwt_packets_writer packets; /* of the recording's only stream */

/* Begins a file about the process `target`, 0: about the kernel. */
void begin_file(struct hwt_file_writer *writer, uint32_t target);
/* Puts the packets into the file, and opens it. */
struct reading finish_file(struct hwt_file_writer *writer);
/* The bytes of the program that does not jump over the no-operations any more; of PROGRAM_SIZE. */
const uint8_t *straight(void);
/* On from the return of leaf, over the no-operations; off as soon as main is called for again. */
void write_jump(uint64_t time, uint64_t space);
/* The same through the no-operations. */
void write_straight(uint64_t time, uint64_t space);
/* Expect what one of these has written. */
void check_jump(struct reading *reading);
void check_straight(struct reading *reading);

#endif
