/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "parts.h"

#include <stddef.h>

static const struct schedule_hooks *known;
static bool (*is_wanted)(void);
static void (*pass_hook)(unsigned cpu);
static unsigned last; /* the CPU that executed a hook */

static void call(void)
{
	pass_hook(last);
}

static void enter_hook(unsigned cpu, void *data)
{
	(void)data;
	if (!is_wanted())
		return;
	last = api_cpu(cpu);
	cpus_call(call);
}

static bool is_hook(uint64_t address)
{
	for (uint64_t n = 0; n < known->count && n < SCHEDULE_HOOKS_MOST; n++)
		if (known->address[n] == address)
			return true;
	return false;
}

/* The guest calls a hook, so the first instruction of a hook is always the first of a block. */
static void look(struct qemu_plugin_tb *block)
{
	struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(block, 0);

	if (is_hook(qemu_plugin_insn_vaddr(first)))
		qemu_plugin_register_vcpu_insn_exec_cb(first, enter_hook, QEMU_PLUGIN_CB_NO_REGS, NULL);
}

void hooks_open(const struct schedule_hooks *hooks, bool (*wanted)(void), void (*pass)(unsigned cpu))
{
	known = hooks;
	is_wanted = wanted;
	pass_hook = pass;
	blocks_add(look);
}
