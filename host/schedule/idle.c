/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "idle.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "blocks.h"
#include "cpus.h"
#include "qemu.h"

#define ACCELERATOR "tcg-accel-ops"
#define WORDS_MOST  64u /* words of the accelerator's class that are searched */

/*
 * Order of the functions in QEMU's struct AccelOpsClass (include/sysemu/accel-ops.h), counted back from
 * get_virtual_clock: TCG has no function for the words between.
 */
enum { BACK_INTERRUPT = 1, BACK_FIRST_NONE = 2, BACK_IDLE = 7, BACK_KICK = 8, BACK_CREATE = 9 };

static uint64_t blocks;		    /* blocks of code that were executed; only the CPUs' thread adds to it */
static _Atomic uint64_t idle_after; /* value of `blocks` when the CPUs' thread found all CPUs idle */
static _Atomic bool is_idle;

static bool (*choose_again)(void);

/*
 * Called by QEMU for a CPU that it takes for idle, in the order of the CPUs, until one is not idle. The CPUs'
 * thread calls it between two turns, when all instructions have been added to the clock.
 */
static bool confirm_idle(struct CPUState *cpu)
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
	qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, &blocks, 1);
}

/*
 * Finds the word of the accelerator's class that holds the function for idle CPUs. Its place is known by the
 * two functions for the clock after it, and by the words of which TCG uses none. Returns NULL if it is not
 * found.
 */
static void **find_word(void **word)
{
	for (unsigned n = BACK_CREATE; n + 1 < WORDS_MOST; n++) {
		bool found = word[n] == (void *)icount_get && word[n + 1] == (void *)icount_get;

		for (unsigned back = BACK_FIRST_NONE; found && back <= BACK_IDLE; back++)
			found = word[n - back] == NULL;
		if (found && word[n - BACK_INTERRUPT] != NULL && word[n - BACK_KICK] != NULL &&
		    word[n - BACK_CREATE] != NULL)
			return &word[n - BACK_IDLE];
	}
	return NULL;
}

/*
 * When a plugin is loaded, the accelerator may not be: it is a module of some QEMUs. When a CPU begins, it
 * is.
 */
static void begin_cpu(qemu_plugin_id_t id, unsigned cpu)
{
	void **word = object_class_by_name(ACCELERATOR);

	(void)id;
	if (cpu != 0)
		return;
	word = word != NULL ? find_word(word) : NULL;
	if (word != NULL)
		*word = (void *)confirm_idle;
	else
		fputs("ktrace-schedule: runs may differ in rare cases: the accelerator of this QEMU has "
		      "another structure than that of version 7.2\n",
		      stderr);
}

const char *idle_open(qemu_plugin_id_t id, bool (*again)(void))
{
	if (object_class_by_name == NULL || icount_get == NULL || qemu_in_vcpu_thread == NULL)
		return "this QEMU does not export the functions of its accelerator";
	choose_again = again;
	blocks_add(look);
	qemu_plugin_register_vcpu_init_cb(id, begin_cpu);
	return NULL;
}
