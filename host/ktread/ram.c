/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * RAM files of QEMU. On AArch64 and RISC-V the file is one range at a known base. On x86 what does not fit
 * below the PCI hole lies from 4 GiB on; how much fits depends on the machine type, which the file does not
 * tell, so the possible splits are tried.
 */
#include <elf.h>
#include <string.h>

#include "base/machine.h"
#include "source.h"
#include "message.h"

#define MIB	     (UINT64_C(1) << 20)
#define FOUR_GIB     (UINT64_C(1) << 32)
#define AARCH64_BASE UINT64_C(0x40000000)
#define RISCV_BASE   UINT64_C(0x80000000)

/* Bytes below the hole: pc, q35, q35 with little memory, microvm and pc with a narrow hole. */
static const uint64_t below_hole[] = { UINT64_C(0xc0000000), UINT64_C(0x80000000), UINT64_C(0xb0000000),
				       UINT64_C(0xe0000000) };

#define SPLITS (sizeof(below_hole) / sizeof(below_hole[0]))

static int map_flat(struct ktread_memory *memory, uint64_t base)
{
	struct ktread_span span = { base, memory->size, 0 };

	return ktread_source_map(memory, &span, 1);
}

static int map_split(struct ktread_memory *memory, uint64_t below)
{
	uint64_t size = memory->size;
	struct ktread_span span[2] = { { 0, size, 0 }, { FOUR_GIB, 0, below } };

	if (size > below) {
		span[0].length = below;
		span[1].length = size - below;
	}
	return ktread_source_map(memory, span, 2);
}

int ktread_ram_map(struct ktread_memory *memory, const char *machine, uint64_t base)
{
	memory->live = true;
	memory->ram = base == 0;
	memory->machine = EM_NONE;
	if (base)
		return map_flat(memory, base);
	if (!machine)
		return 0;
	memory->machine = base_machine_number(machine);
	if (memory->machine == EM_NONE)
		return ktread_fail(KTREAD_E_ARGUMENT, "unknown machine %s: x86_64, aarch64 or riscv64",
				   machine);
	return 0;
}

static int try_flat(struct ktread_memory *memory, uint64_t base, uint32_t n)
{
	int status = n ? 0 : map_flat(memory, base);

	return status < 0 || n ? status : 1;
}

int ktread_ram_try(struct ktread_memory *memory, uint16_t machine, uint64_t offset, uint64_t self_phys,
		   uint32_t n)
{
	int status;

	if (memory->machine != EM_NONE)
		machine = memory->machine;
	if (machine == EM_AARCH64 || machine == EM_RISCV) {
		uint64_t base = machine == EM_RISCV ? RISCV_BASE : AARCH64_BASE;

		if (self_phys != 0 && self_phys >= offset && (self_phys - offset) % MIB == 0)
			base = self_phys - offset;
		return try_flat(memory, base, n);
	}
	if (machine != EM_X86_64 || memory->size <= below_hole[1])
		return try_flat(memory, 0, n);
	/* A root above the hole tells the split by itself. */
	if (self_phys >= FOUR_GIB && self_phys > offset && self_phys - offset < FOUR_GIB) {
		status = n ? 0 : map_split(memory, FOUR_GIB - (self_phys - offset));
		return status < 0 || n ? status : 1;
	}
	if (n >= SPLITS)
		return 0;
	status = map_split(memory, below_hole[n]);
	return status < 0 ? status : 1;
}

int ktread_memory_open_ram(struct ktread_memory **memory, const char *path, const char *machine)
{
	struct ktread_memory *opened;
	int status = ktread_source_open_regular(&opened, path);

	if (status < 0)
		return status;
	status = ktread_ram_map(opened, machine, 0);
	if (status < 0) {
		ktread_memory_close(opened);
		return status;
	}
	*memory = opened;
	return 0;
}

int ktread_memory_assume(struct ktread_memory *memory)
{
	const int status = memory->ram && memory->machine != EM_NONE
				   ? ktread_ram_try(memory, memory->machine, 0, 0, 0)
				   : 0;

	return status < 0 ? status : 0;
}
