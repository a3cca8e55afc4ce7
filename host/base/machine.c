/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "base/machine.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

/* Output uses the first name of an architecture. Options accept all of its names. */
static const struct {
	const char *name;
	uint16_t elf_machine;
} machines[] = {
	{ "x86_64", EM_X86_64 }, { "x64", EM_X86_64 },	  { "amd64", EM_X86_64 }, { "aarch64", EM_AARCH64 },
	{ "arm64", EM_AARCH64 }, { "riscv64", EM_RISCV }, { "riscv", EM_RISCV },
};

#define COUNT (sizeof(machines) / sizeof(machines[0]))

const char *base_machine_name(uint16_t elf_machine)
{
	for (size_t i = 0; i < COUNT; i++)
		if (machines[i].elf_machine == elf_machine)
			return machines[i].name;
	return NULL;
}

uint16_t base_machine_number(const char *name)
{
	for (size_t i = 0; i < COUNT; i++)
		if (strcmp(machines[i].name, name) == 0)
			return machines[i].elf_machine;
	return EM_NONE;
}
