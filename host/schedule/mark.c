/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "parts.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "plugin/virtual.h"
#include "ram.h"

#define INSTRUCTION_NS 4u /* with -icount shift=2, an instruction takes 4 ns */

static struct schedule_mark *mark;
static const _Atomic uint64_t *watched; /* the watched word; NULL: it has been written */

static void begin_counted(unsigned cpu, void *data)
{
	(void)cpu;
	virtual_begin_block((uintptr_t)data);
}

static void count(struct qemu_plugin_tb *block)
{
	qemu_plugin_register_vcpu_tb_exec_cb(block, begin_counted, QEMU_PLUGIN_CB_NO_REGS,
					     (void *)(uintptr_t)qemu_plugin_tb_n_insns(block));
}

void mark_times(void)
{
	static bool opened;

	if (opened)
		return;
	opened = true;
	virtual_open(INSTRUCTION_NS);
	blocks_add(count);
}

static void begin_block(unsigned cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (watched == NULL || atomic_load_explicit(watched, memory_order_relaxed) != mark->word)
		return;
	watched = NULL;
	mark->time = virtual_now();
}

static void look(struct qemu_plugin_tb *block)
{
	if (watched != NULL)
		qemu_plugin_register_vcpu_tb_exec_cb(block, begin_block, QEMU_PLUGIN_CB_NO_REGS, NULL);
}

const char *mark_open(struct schedule_control *control)
{
	const char *message = ram_map_word(control->ram, control->mark.position, &watched);

	if (message != NULL)
		return message;
	mark = &control->mark;
	mark_times();
	blocks_add(look);
	return NULL;
}
