/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "parts.h"

#include <stdatomic.h>
#include <stddef.h>

#include "ram.h"

static const _Atomic uint64_t *watched;
static uint64_t wanted;
static void (*call)(void);

static void begin_block(unsigned cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (atomic_load_explicit(watched, memory_order_relaxed) != wanted || call == NULL)
		return;
	call();
	call = NULL;
}

static void look(struct qemu_plugin_tb *block)
{
	qemu_plugin_register_vcpu_tb_exec_cb(block, begin_block, QEMU_PLUGIN_CB_NO_REGS, NULL);
}

const char *watch_open(const struct schedule_control *control, void (*reached)(void))
{
	const char *message = ram_map_word(control->ram, control->position, &watched);

	if (message != NULL)
		return message;
	wanted = control->word;
	call = reached;
	blocks_add(look);
	return NULL;
}
