/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "parts.h"

#include <stddef.h>
#include <stdio.h>

#include "qemu.h"

#define ACCELERATOR "tcg-accel-ops"
#define WORDS_MOST  64u /* number of words that are searched in the accelerator's class */

/*
 * Positions of functions in QEMU's struct AccelOpsClass (include/sysemu/accel-ops.h, since QEMU 10.0
 * include/system/accel-ops.h), as numbers of words before get_virtual_clock. In TCG, the words from
 * BACK_FIRST_NONE to BACK_IDLE are NULL.
 */
enum { BACK_INTERRUPT = 1, BACK_FIRST_NONE = 2, BACK_IDLE = 7, BACK_KICK = 8, BACK_CREATE = 9 };

static bool (*confirm_idle)(struct CPUState *cpu);
static void (*see_interrupt)(const struct CPUState *cpu);
static void (*call_replaced)(void);
/* QEMU's own function, which the plugin's function calls */
static void (*raise_interrupt)(struct CPUState *cpu, int mask);

static void interrupt(struct CPUState *cpu, int mask)
{
	see_interrupt(cpu);
	raise_interrupt(cpu, mask);
}

/*
 * Returns true if this word and get_elapsed_ticks contain the function for the virtual clock. In QEMU 7.2,
 * get_elapsed_ticks is the next word. Since QEMU 9.1, set_virtual_clock is between them, NULL in TCG.
 */
static bool is_clock(void *const *word)
{
	void *const clock = (void *)icount_get;

	return word[0] == clock && (word[1] == clock || (word[1] == NULL && word[2] == clock));
}

/*
 * Finds the word of the accelerator's class that contains the function for the virtual clock. It is
 * recognized by the words after it, and by the words before it that are NULL in TCG. Returns NULL if the word
 * is not found.
 */
static void **find_word(void **word)
{
	for (unsigned n = BACK_CREATE; n + 2 < WORDS_MOST; n++) {
		bool found = is_clock(&word[n]);

		for (unsigned back = BACK_FIRST_NONE; found && back <= BACK_IDLE; back++)
			found = word[n - back] == NULL;
		if (found && word[n - BACK_INTERRUPT] != NULL && word[n - BACK_KICK] != NULL &&
		    word[n - BACK_CREATE] != NULL)
			return &word[n];
	}
	return NULL;
}

/*
 * In some builds of QEMU, the accelerator is a module that is loaded after the plugin, but before the first
 * CPU begins to run.
 */
static void begin_cpu(qemu_plugin_id_t id, unsigned cpu)
{
	void **word = object_class_by_name(ACCELERATOR), **interrupt_word;

	(void)id;
	api_begin_cpu(cpu);
	if (cpu != 0)
		return;
	word = word != NULL ? find_word(word) : NULL;
	if (word == NULL) {
		fputs("ktrace-schedule: WARNING: this QEMU differs from versions 7.2 and 10.0: its function "
		      "that finds idle CPUs cannot be replaced, so repeated runs may differ in rare cases\n",
		      stderr);
		return;
	}
	word[-BACK_IDLE] = (void *)confirm_idle;
	interrupt_word = &word[-BACK_INTERRUPT];
	*(void **)&raise_interrupt = *interrupt_word;
	*interrupt_word = (void *)interrupt;
	call_replaced();
}

const char *accelerator_open(qemu_plugin_id_t id, bool (*is_idle)(struct CPUState *cpu),
			     void (*interrupted)(const struct CPUState *cpu), void (*replaced)(void))
{
	if (object_class_by_name == NULL || icount_get == NULL || qemu_in_vcpu_thread == NULL)
		return "this QEMU does not export the functions of its accelerator";
	confirm_idle = is_idle;
	see_interrupt = interrupted;
	call_replaced = replaced;
	qemu_plugin_register_vcpu_init_cb(id, begin_cpu);
	return NULL;
}
