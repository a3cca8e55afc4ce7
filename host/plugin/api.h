/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Hides the differences between the versions of QEMU's plugin interface:
 *
 *	version 1	QEMU up to 8.2
 *	version 2	QEMU 9.0: can no longer add to a word of the plugin without a callback
 *	version 3	QEMU 9.1: copies an instruction's bytes; before, it returned a pointer to them
 *	version 4	QEMU 10.0: if one thread runs all CPUs, callbacks get the number of the wrong CPU;
 *			code that is mapped at several addresses is translated only for the first of them
 */
#ifndef PLUGIN_API_H
#define PLUGIN_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qemu_plugin.h"

#define API_INSTRUCTION_MOST 16u /* maximum size of an instruction; x86 has the longest, with 15 bytes */

/*
 * Must be called before the other functions. Returns NULL, or a message that states why this QEMU cannot be
 * used.
 */
const char *api_open(const struct qemu_info *info);

/*
 * Copies the bytes of an instruction, which is being translated, to `bytes`, which has API_INSTRUCTION_MOST
 * bytes. Returns their number; 0 if they are unknown.
 */
size_t api_bytes(const struct qemu_plugin_insn *instruction, unsigned char *bytes);

/*
 * Must be called when a CPU begins, before it runs any code: by the callback of
 * qemu_plugin_register_vcpu_init_cb(). Makes QEMU translate code for each address at which it is mapped.
 */
void api_begin_cpu(unsigned cpu);

/*
 * Must be called if one thread runs all CPUs. Returns false if it is unknown which CPU the thread runs.
 */
bool api_share_thread(void);

/* Returns true if api_cpu() must be called. */
bool api_has_wrong_cpus(void);

/*
 * Returns the number of the CPU that this thread runs. `reported`: the number that QEMU has passed to a
 * callback for an executed block or instruction, or for an access to memory.
 */
unsigned api_cpu(unsigned reported);

/*
 * Makes QEMU add 1 to the word at each execution of this block. Requires: one thread runs all CPUs.
 */
void api_count_block(struct qemu_plugin_tb *block, uint64_t *executions);

#endif
