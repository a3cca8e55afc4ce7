/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A virtual CPU made by hand: code that is written down, blocks that are said to run, and what libipt makes of it. */
#ifndef TEST_PLUGIN_SUPPORT_H
#define TEST_PLUGIN_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#include "plugin/flow.h"

#define BUFFER_SIZE (1u << 20)

/* The trace of CPU 0, its output a buffer of that size; all is traced, with returns compressed. */
struct trace *machine_trace(void);
/* Begins anew: the trace is enabled, what runs next is in 64-bit mode. */
void machine_begin(void);

/* A block at an address: its instructions, each as "\xlength" and bytes. */
struct block *machine_block(uint64_t address, const char *instructions);
/* The same with a point at each instruction that may fault (exact=1). */
struct block *machine_exact(uint64_t address, const char *instructions);
/* It runs, to its end. */
void machine_run(struct block *block);

/* What libipt reads from the buffer: addresses of instructions and, between them, events as text. */
const char *machine_decoded(void);

#endif
