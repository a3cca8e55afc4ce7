/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* In a separate file, so that a program that needs only machine.c does not need libseccomp. */
#include "base/machine.h"

#include <elf.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Returns the AUDIT_ARCH_* number that libseccomp uses for a machine; 0 if ktrace does not support the
 * machine.
 */
static uint32_t architecture(uint16_t elf_machine)
{
	switch (elf_machine) {
	case EM_386:
		return SCMP_ARCH_X86;
	case EM_X86_64:
		return SCMP_ARCH_X86_64;
	case EM_AARCH64:
		return SCMP_ARCH_AARCH64;
	case EM_RISCV:
		return SCMP_ARCH_RISCV64;
	default:
		return 0;
	}
}

char *base_linux_call(uint16_t elf_machine, uint32_t number)
{
	const bool x32 = elf_machine == EM_X86_64 && (number & BASE_LINUX_X32);
	const uint32_t machine = x32 ? SCMP_ARCH_X32 : architecture(elf_machine);

	return machine && number <= INT32_MAX ? seccomp_syscall_resolve_num_arch(machine, (int)number) : NULL;
}
