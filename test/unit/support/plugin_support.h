/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A simulated CPU: code in bytes, blocks that run, and the steps that libipt decodes from the trace. */
#ifndef TEST_PLUGIN_SUPPORT_H
#define TEST_PLUGIN_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#include "plugin/flow.h"

#define BUFFER_SIZE (1u << 20)

/*
 * Makes the trace of CPU 0, which writes into a buffer of that size. All code is traced, and returns are
 * compressed.
 */
struct trace *machine_trace(void);
/* Starts the trace again. Tracing is enabled, and the next code is in 64-bit mode. */
void machine_begin(void);

/* Makes a block at an address. Each of its instructions is given as "\xlength" and its bytes. */
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
