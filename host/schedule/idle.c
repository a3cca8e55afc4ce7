/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "parts.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "qemu.h"

/* number of blocks of code that were executed; only the CPUs' thread increases it */
static uint64_t blocks;
static _Atomic uint64_t idle_after; /* value of `blocks` when the CPUs' thread found all CPUs idle */
static _Atomic bool is_idle;

static bool (*choose_again)(void);

/*
 * QEMU calls this function for one CPU after another, until one is not idle. The CPUs' thread calls it
 * between two slices, when the clock includes all executed instructions.
 */
bool idle_confirm(struct CPUState *cpu)
{
	const uint64_t now = __atomic_load_n(&blocks, __ATOMIC_RELAXED);
	bool chosen;

	(void)cpu;
	if (cpus_is_thawing())
		return true;
	if (!qemu_in_vcpu_thread())
		return is_idle && idle_after == now;
	chosen = choose_again();
	idle_after = now;
	is_idle = !chosen;
	return !chosen;
}

static void look(struct qemu_plugin_tb *block)
{
	api_count_block(block, &blocks);
}

void idle_open(bool (*again)(void))
{
	choose_again = again;
	blocks_add(look);
}
