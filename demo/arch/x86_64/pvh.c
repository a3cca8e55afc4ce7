/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the loader says in the PVH start info: command line, memory map, where the ACPI tables are. */
#include "arch.h"
#include "x86.h"

#define PVH_MAGIC 0x336ec578u
#define MEMORY_RAM 1
#define LOW_MEMORY_END 0x100000ul /* below: firmware, start info, trampoline */

struct pvh_start_info {
	uint32_t magic, version, flags, module_count;
	uint64_t modules, command_line, rsdp, memory_map;
	uint32_t memory_map_entries, reserved;
};

struct pvh_memory {
	uint64_t base, size;
	uint32_t type, reserved;
};

extern const struct pvh_start_info *pvh_start_info; /* boot.S: as the loader passed it */
extern char image_end[];

static const struct pvh_start_info *start_info(void)
{
	return pvh_start_info && pvh_start_info->magic == PVH_MAGIC ? pvh_start_info : NULL;
}

const char *arch_boot_args(void)
{
	const struct pvh_start_info *info = start_info();

	return info && info->command_line ? (const char *)info->command_line : "";
}

uintptr_t pvh_rsdp(void)
{
	const struct pvh_start_info *info = start_info();

	return info ? info->rsdp : 0;
}

size_t arch_memory_map(struct memory_range *ranges, size_t max)
{
	const struct pvh_start_info *info = start_info();
	size_t count = 0;

	if (!info || info->version < 1)
		return 0;

	const struct pvh_memory *map = (const void *)info->memory_map;

	for (uint32_t i = 0; i < info->memory_map_entries && count < max; i++) {
		uintptr_t base = map[i].base, end = map[i].base + map[i].size;

		if (map[i].type != MEMORY_RAM || base < LOW_MEMORY_END)
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
