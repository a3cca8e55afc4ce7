/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "base/machine.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

const char *base_machine_name(uint16_t elf_machine)
{
	switch (elf_machine) {
	case EM_X86_64:
		return "x86_64";
	case EM_AARCH64:
		return "aarch64";
	case EM_RISCV:
		return "riscv64";
	default:
		return NULL;
	}
}

uint16_t base_machine_number(const char *name)
{
	static const uint16_t machines[] = { EM_X86_64, EM_AARCH64, EM_RISCV };

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (strcmp(base_machine_name(machines[i]), name) == 0)
			return machines[i];
	return EM_NONE;
}
