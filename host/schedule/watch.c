/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "parts.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE UINT64_C(4096)

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
	const uint64_t begin = control->position / PAGE * PAGE;
	unsigned char *page = MAP_FAILED;
	int fd = open(control->ram, O_RDONLY | O_CLOEXEC);

	if (control->position % sizeof(*watched) != 0)
		return "the position of the watched word is not a multiple of 8";
	if (fd >= 0)
		page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, (off_t)begin);
	if (fd >= 0)
		close(fd);
	if (page == MAP_FAILED)
		return "the guest's RAM file cannot be mapped";
	watched = (const void *)(page + (control->position - begin));
	wanted = control->word;
	call = reached;
	blocks_add(look);
	return NULL;
}
