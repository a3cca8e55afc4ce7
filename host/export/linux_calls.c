/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/linux_calls.h"

#include <dlfcn.h>
#include <elf.h>
#include <linux/audit.h>
#include <stddef.h>

static const struct {
	uint16_t elf;
	uint32_t audit;
} machines[] = {
	{ EM_X86_64, AUDIT_ARCH_X86_64 },
	{ EM_AARCH64, AUDIT_ARCH_AARCH64 },
	{ EM_RISCV, AUDIT_ARCH_RISCV64 },
};

void linux_calls_open(struct linux_calls *calls, uint16_t elf_machine)
{
	*calls = (struct linux_calls){ .resolve = NULL };
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].elf == elf_machine)
			calls->architecture = machines[i].audit;
}

void linux_calls_close(struct linux_calls *calls)
{
	if (calls->library)
		dlclose(calls->library);
	calls->library = NULL;
}

static char *resolve_nothing(uint32_t architecture, int number)
{
	(void)architecture;
	(void)number;
	return NULL;
}

/* Where the library is absent, calls keep their numbers. */
static void load_library(struct linux_calls *calls)
{
	calls->resolve = resolve_nothing;
	if (calls->architecture == 0)
		return;
	calls->library = dlopen("libseccomp.so.2", RTLD_NOW | RTLD_LOCAL);
	if (!calls->library)
		return;
	*(void **)&calls->resolve = dlsym(calls->library, "seccomp_syscall_resolve_num_arch");
	if (!calls->resolve)
		calls->resolve = resolve_nothing;
}

char *linux_calls_name(struct linux_calls *calls, uint32_t number)
{
	if (!calls->resolve)
		load_library(calls);
	return number <= INT32_MAX ? calls->resolve(calls->architecture, (int)number) : NULL;
}
