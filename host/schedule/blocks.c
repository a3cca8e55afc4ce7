/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "parts.h"

#define LOOKS 8

static blocks_look *looks[LOOKS];
static unsigned count;

void blocks_add(blocks_look *look)
{
	if (count < LOOKS)
		looks[count++] = look;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	(void)id;
	for (unsigned n = 0; n < count; n++)
		looks[n](block);
}

void blocks_open(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
}
