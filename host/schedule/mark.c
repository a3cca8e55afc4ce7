/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "parts.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugin/virtual.h"

#define PAGE	       UINT64_C(4096)
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
	const uint64_t begin = control->mark.position / PAGE * PAGE;
	unsigned char *page = MAP_FAILED;
	int fd = open(control->ram, O_RDONLY | O_CLOEXEC);

	mark = &control->mark;
	if (fd >= 0 && mark->position % sizeof(*watched) == 0)
		page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, (off_t)begin);
	if (fd >= 0)
		close(fd);
	if (page == MAP_FAILED)
		return "the guest's RAM file cannot be mapped";
	watched = (const void *)(page + (mark->position - begin));
	mark_times();
	blocks_add(look);
	return NULL;
}
