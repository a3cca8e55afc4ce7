/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads the PVH start info of the loader: command line, memory map, address of the ACPI tables. The start
 * info may be in page 0, so it is copied before page 0 is unmapped.
 */
#include "arch.h"
#include "string.h"
#include "x86.h"

#define PVH_MAGIC  0x336ec578u
#define MEMORY_RAM 1
/* The kernel does not allocate RAM below this address, because firmware and trampoline use it. */
#define LOW_MEMORY_END	 0x100000ul
#define MEMORY_MAP_MAX	 32
#define COMMAND_LINE_MAX 2048

struct pvh_memory {
	uint64_t base, size;
	uint32_t type, reserved;
};

struct pvh_start_info {
	uint32_t magic, version, flags, module_count;
	uint64_t modules, command_line, rsdp;
	uint64_t memory_map; /* valid only if the version is at least 1 */
	uint32_t memory_map_entries, reserved;
};

extern const struct pvh_start_info *pvh_start_info; /* address of the start info, stored by boot.S */
extern char image_end[];

static char command_line[COMMAND_LINE_MAX];
static struct pvh_memory memory_map[MEMORY_MAP_MAX];
static uint32_t memory_map_entries;
static uintptr_t rsdp;

void pvh_copy(void)
{
	const struct pvh_start_info *info = pvh_start_info;

	if (info->magic != PVH_MAGIC)
		return;
	if (info->command_line)
		string_copy(command_line, (const char *)info->command_line, sizeof(command_line));
	rsdp = info->rsdp;
	if (info->version < 1)
		return;
	memory_map_entries =
		info->memory_map_entries < MEMORY_MAP_MAX ? info->memory_map_entries : MEMORY_MAP_MAX;
	memcpy(memory_map, (const void *)info->memory_map, memory_map_entries * sizeof(memory_map[0]));
}

const char *arch_boot_args(void)
{
	return command_line;
}

uintptr_t pvh_rsdp(void)
{
	return rsdp;
}

size_t arch_memory_map(struct memory_range *ranges, size_t max)
{
	size_t count = 0;

	for (uint32_t i = 0; i < memory_map_entries && count < max; i++) {
		uintptr_t base = memory_map[i].base, end = base + memory_map[i].size;

		if (memory_map[i].type != MEMORY_RAM || base < LOW_MEMORY_END)
			continue;
		if (base < (uintptr_t)image_end)
			base = (uintptr_t)image_end;
		if (end > (uintptr_t)IDENTITY_GIB << 30)
			end = (uintptr_t)IDENTITY_GIB << 30;
		base = (base + PAGE_SIZE - 1) & -(uintptr_t)PAGE_SIZE;
		end &= -(uintptr_t)PAGE_SIZE;
		if (base < end)
			ranges[count++] = (struct memory_range){ base, end - base };
	}
	return count;
}
