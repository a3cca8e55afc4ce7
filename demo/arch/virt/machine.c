/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The functions of arch.h that use the device tree. CPUs are numbered in the order of the tree, except that
 * the boot CPU is always 0.
 */
#include "machine.h"

#include "arch.h"
#include "panic.h"
#include "user.h"

struct fdt_facts machine;
static uintptr_t tree_base;

/* The end of the kernel image, including boot stack and page tables. Defined by the linker script. */
extern char image_end[];

void machine_read(const void *tree, uint64_t boot_hardware_id)
{
	if (fdt_read(tree, &machine))
		tree_base = (uintptr_t)tree;
	for (unsigned n = 1; n < machine.cpu_count; n++) {
		if (machine.cpu_ids[n] == boot_hardware_id) {
			machine.cpu_ids[n] = machine.cpu_ids[0];
			machine.cpu_ids[0] = boot_hardware_id;
		}
	}
}

void machine_check(void)
{
	if (!tree_base)
		panic("no device tree found");
}

uint64_t machine_hardware_id(unsigned n)
{
	return machine.cpu_ids[n];
}

const char *arch_boot_args(void)
{
	return machine.boot_args;
}

unsigned arch_cpu_count(void)
{
	return machine.cpu_count;
}

static size_t add_range(struct memory_range *ranges, size_t count, size_t max, uintptr_t from, uintptr_t to)
{
	from = (from + PAGE_SIZE - 1) & ~(uintptr_t)(PAGE_SIZE - 1);
	to &= ~(uintptr_t)(PAGE_SIZE - 1);
	if (count < max && from < to)
		ranges[count++] = (struct memory_range){ .base = from, .size = to - from };
	return count;
}

/*
 * Returns the free RAM: from the end of the image up to USER_BASE, except the device tree, which QEMU may
 * have placed there.
 */
size_t arch_memory_map(struct memory_range *ranges, size_t max)
{
	uintptr_t start = (uintptr_t)image_end;
	uintptr_t end = machine.memory_base + machine.memory_size;
	size_t count = 0;

	if (end > USER_BASE)
		end = USER_BASE;
	if (tree_base < start || tree_base >= end)
		return add_range(ranges, count, max, start, end);
	count = add_range(ranges, count, max, start, tree_base);
	return add_range(ranges, count, max, tree_base + machine.tree_size, end);
}
