/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A simulated CPU: the bytes of its code, the blocks that it runs, and the steps that libipt decodes from its
 * trace.
 */
#ifndef TEST_PLUGIN_SUPPORT_H
#define TEST_PLUGIN_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#include "plugin/flow.h"

#define BUFFER_SIZE (1u << 20)

/*
 * Makes a trace of CPU 0 whose packets are written into a buffer of BUFFER_SIZE bytes. All code is traced, and
 * returns are compressed.
 */
struct trace *machine_trace(void);
/* Starts the trace again, with tracing enabled. The next code must be 64-bit code. */
void machine_begin(void);

/* Makes a block at an address. Each instruction is given as "\xlength" followed by its bytes. */
struct block *machine_block(uint64_t address, const char *instructions);
/*
 * Makes a block that has a callback at each instruction that may fault, as with the plugin's option exact=1.
 */
struct block *machine_exact(uint64_t address, const char *instructions);
/* Runs a block to its end. */
void machine_run(struct block *block);

/*
 * Returns what libipt decodes from the buffer: addresses of instructions and, between them, events as text.
 */
const char *machine_decoded(void);

#endif
