/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "parts.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct hint {
	const char *target;
	unsigned char bytes[4];
	size_t size;
};

static const struct hint hints[] = {
	{ "x86_64", { 0xf3, 0x90 }, 2 },
	{ "i386", { 0xf3, 0x90 }, 2 },
	{ "aarch64", { 0x3f, 0x20, 0x03, 0xd5 }, 4 }, /* yield */
	{ "aarch64", { 0x5f, 0x20, 0x03, 0xd5 }, 4 }, /* wfe */
	{ "riscv64", { 0x0f, 0x00, 0x00, 0x01 }, 4 },
	{ "riscv32", { 0x0f, 0x00, 0x00, 0x01 }, 4 },
};

static const char *architecture;
static bool (*gives_way)(void);
static void (*give_way)(unsigned cpu);
static unsigned last; /* the CPU that executed an instruction that waits */

static void call(void)
{
	give_way(last);
}

static void wait_hint(unsigned cpu, void *data)
{
	(void)data;
	if (!gives_way())
		return;
	last = api_cpu(cpu);
	cpus_call(call);
}

static bool is_hint(const struct qemu_plugin_insn *insn)
{
	unsigned char bytes[API_INSTRUCTION_MOST];
	const size_t size = api_bytes(insn, bytes);

	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
		if (size > 0 && size == hints[i].size && strcmp(architecture, hints[i].target) == 0 &&
		    memcmp(bytes, hints[i].bytes, size) == 0)
			return true;
	return false;
}

static void look(struct qemu_plugin_tb *block)
{
	const size_t count = qemu_plugin_tb_n_insns(block);

	for (size_t i = 0; i < count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);

		if (is_hint(insn))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, wait_hint, QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

void yield_open(const char *target, bool (*wanted)(void), void (*yield)(unsigned cpu))
{
	architecture = target;
	gives_way = wanted;
	give_way = yield;
	blocks_add(look);
}
