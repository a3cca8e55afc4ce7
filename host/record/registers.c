/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "record/registers.h"

#include <elf.h>
#include <string.h>
#include <sys/utsname.h>

/* struct user_regs_struct of x86_64, struct user_pt_regs of AArch64, struct user_regs_struct of RISC-V. */
static const struct record_machine machines[] = {
	{ EM_X86_64, 27, 15, 10, { 14, 13, 12, 7, 9, 8 } },
	{ EM_AARCH64, 34, 8, 0, { 0, 1, 2, 3, 4, 5 } },
	{ EM_RISCV, 32, 17, 10, { 10, 11, 12, 13, 14, 15 } },
};

const struct record_machine *record_machine_find(uint16_t elf)
{
	for (size_t n = 0; n < sizeof(machines) / sizeof(machines[0]); n++)
		if (machines[n].elf == elf)
			return &machines[n];
	return NULL;
}

static uint16_t find_own(void)
{
	static const struct {
		const char *name;
		uint16_t elf;
	} names[] = { { "x86_64", EM_X86_64 }, { "aarch64", EM_AARCH64 }, { "riscv64", EM_RISCV } };
	struct utsname machine;

	if (uname(&machine) != 0)
		return EM_NONE;
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		if (strcmp(names[n].name, machine.machine) == 0)
			return names[n].elf;
	return EM_NONE;
}

/* Asked for at each stop. */
uint16_t record_machine_own(void)
{
	static uint16_t own;

	if (own == EM_NONE)
		own = find_own();
	return own;
}

static int is_whole(const struct record_machine *machine, const struct record_registers *registers)
{
	return registers->size == machine->words * sizeof(registers->word[0]);
}

int record_registers_call(const struct record_machine *machine, const struct record_registers *registers,
			  uint64_t *number, uint64_t argument[static 6])
{
	if (!is_whole(machine, registers))
		return -1;
	*number = registers->word[machine->number];
	for (unsigned n = 0; n < 6; n++)
		argument[n] = registers->word[machine->argument[n]];
	return 0;
}

int record_registers_result(const struct record_machine *machine, const struct record_registers *registers,
			    int64_t *result)
{
	if (!is_whole(machine, registers))
		return -1;
	*result = (int64_t)registers->word[machine->result];
	return 0;
}

int record_registers_set_result(const struct record_machine *machine, struct record_registers *registers,
				int64_t result)
{
	if (!is_whole(machine, registers))
		return -1;
	registers->word[machine->result] = (uint64_t)result;
	return 0;
}
