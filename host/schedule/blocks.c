/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the plugin does at the beginning of a block of code. */
#include "parts.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "plugin/api.h"

/* ---- Blocks ---- */

#define LOOKS 8

static blocks_look *looks[LOOKS];
static unsigned looks_used;

void blocks_add(blocks_look *look)
{
	if (looks_used < LOOKS)
		looks[looks_used++] = look;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	(void)id;
	for (unsigned n = 0; n < looks_used; n++)
		looks[n](block);
}

void blocks_open(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
}

/* ---- Hooks ---- */

static const struct schedule_hooks *known;
static bool (*is_wanted)(void);
static void (*pass_hook)(unsigned cpu);
static unsigned hook_cpu; /* the CPU that executed a hook */

static void call_hook(void)
{
	pass_hook(hook_cpu);
}

static void enter_hook(unsigned cpu, void *data)
{
	(void)data;
	if (!is_wanted())
		return;
	hook_cpu = api_cpu(cpu);
	cpus_call(call_hook);
}

static bool is_hook(uint64_t address)
{
	for (uint64_t n = 0; n < known->count && n < SCHEDULE_HOOKS_MOST; n++)
		if (known->address[n] == address)
			return true;
	return false;
}

/* The guest calls a hook, so the first instruction of a hook is always the first of a block. */
static void look_for_hooks(struct qemu_plugin_tb *block)
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
	blocks_add(look_for_hooks);
}

/* ---- Instructions that wait ---- */

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
static unsigned waiting_cpu; /* the CPU that executed an instruction that waits */

static void call_yield(void)
{
	give_way(waiting_cpu);
}

static void wait_hint(unsigned cpu, void *data)
{
	(void)data;
	if (!gives_way())
		return;
	waiting_cpu = api_cpu(cpu);
	cpus_call(call_yield);
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

static void look_for_hints(struct qemu_plugin_tb *block)
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
	blocks_add(look_for_hints);
}

/* ---- A word that halts the machine ---- */

static const _Atomic uint64_t *watched_word;
static uint64_t wanted_value;
static void (*call_reached)(void);

static void check_watched(unsigned cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (atomic_load_explicit(watched_word, memory_order_relaxed) != wanted_value || call_reached == NULL)
		return;
	call_reached();
	call_reached = NULL;
}

static void look_at_watched(struct qemu_plugin_tb *block)
{
	qemu_plugin_register_vcpu_tb_exec_cb(block, check_watched, QEMU_PLUGIN_CB_NO_REGS, NULL);
}

const char *watch_open(const struct schedule_control *control, void (*reached)(void))
{
	const char *message = ram_map_word(control->ram, control->position, &watched_word);

	if (message != NULL)
		return message;
	wanted_value = control->word;
	call_reached = reached;
	blocks_add(look_at_watched);
	return NULL;
}

/* ---- Times of blocks, and of a mark ---- */

#define INSTRUCTION_NS 4u /* with -icount shift=2, an instruction takes 4 ns */

static struct schedule_mark *mark;
static const _Atomic uint64_t *marked_word; /* the marked_word word; NULL: it has been written */

static void begin_counted(unsigned cpu, void *data)
{
	(void)cpu;
	virtual_begin_block((uintptr_t)data);
}

static void count_instructions(struct qemu_plugin_tb *block)
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
	blocks_add(count_instructions);
}

static void check_marked(unsigned cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (marked_word == NULL || atomic_load_explicit(marked_word, memory_order_relaxed) != mark->word)
		return;
	marked_word = NULL;
	mark->time = virtual_now();
}

static void look_at_marked(struct qemu_plugin_tb *block)
{
	if (marked_word != NULL)
		qemu_plugin_register_vcpu_tb_exec_cb(block, check_marked, QEMU_PLUGIN_CB_NO_REGS, NULL);
}

const char *mark_open(struct schedule_control *control)
{
	const char *message = ram_map_word(control->ram, control->mark.position, &marked_word);

	if (message != NULL)
		return message;
	mark = &control->mark;
	mark_times();
	blocks_add(look_at_marked);
	return NULL;
}
