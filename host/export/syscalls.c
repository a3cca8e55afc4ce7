/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/syscalls.h"

#include <dlfcn.h>
#include <elf.h>
#include <linux/audit.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	uint16_t elf;
	uint32_t audit;
} machines[] = {
	{ "x86_64", EM_X86_64, AUDIT_ARCH_X86_64 },
	{ "aarch64", EM_AARCH64, AUDIT_ARCH_AARCH64 },
	{ "riscv64", EM_RISCV, AUDIT_ARCH_RISCV64 },
};

void syscalls_open(struct syscalls *calls, const struct ktread *trace, const char *machine)
{
	const struct ktread_info *info = ktread_info(trace);
	uint16_t elf = info->version == 1 && info->machine == 0 ? EM_X86_64 : info->machine;

	memset(calls, 0, sizeof(*calls));
	calls->trace = trace;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machine ? strcmp(machines[i].name, machine) == 0 : machines[i].elf == elf)
			calls->architecture = machines[i].audit;
}

static uint8_t bit(uint32_t number)
{
	return (uint8_t)(1u << number % 8);
}

void syscalls_close(struct syscalls *calls)
{
	for (uint32_t n = 0; n < SYSCALLS_CACHED; n++)
		if (calls->owned[n / 8] & bit(n))
			free((char *)calls->name[n]);
	if (calls->library)
		dlclose(calls->library);
}

void syscalls_rename(struct syscalls *calls, uint32_t number, const char *name)
{
	calls->asked[number / 8] |= bit(number);
	calls->name[number] = name;
}

static char *resolve_nothing(uint32_t architecture, int number)
{
	(void)architecture;
	(void)number;
	return NULL;
}

/* Loads the library once; where it is absent, calls keep their numbers. */
static void load_library(struct syscalls *calls)
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

static const char *ask(struct syscalls *calls, uint32_t number)
{
	const char *name = ktread_syscall_name(calls->trace, number);

	if (name)
		return name;
	if (!calls->resolve)
		load_library(calls);
	name = calls->resolve(calls->architecture, (int)number);
	if (name)
		calls->owned[number / 8] |= bit(number);
	return name;
}

const char *syscalls_name(struct syscalls *calls, uint32_t number)
{
	if (number >= SYSCALLS_CACHED)
		return ktread_syscall_name(calls->trace, number);
	if (!(calls->asked[number / 8] & bit(number))) {
		calls->asked[number / 8] |= bit(number);
		calls->name[number] = ask(calls, number);
	}
	return calls->name[number];
}
