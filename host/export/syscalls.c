/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/syscalls.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "export/machine.h"

void syscalls_open(struct syscalls *calls, const struct ktread *trace, const char *machine)
{
	const struct ktread_info *info = ktread_info(trace);
	uint16_t elf = info->version == 1 && info->machine == 0 ? EM_X86_64 : info->machine;

	memset(calls, 0, sizeof(*calls));
	calls->trace = trace;
	linux_calls_open(&calls->linux_calls, machine ? machine_number(machine) : elf);
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
	linux_calls_close(&calls->linux_calls);
}

void syscalls_rename(struct syscalls *calls, uint32_t number, const char *name)
{
	calls->asked[number / 8] |= bit(number);
	calls->name[number] = name;
}

static const char *ask(struct syscalls *calls, uint32_t number)
{
	const char *name = ktread_syscall_name(calls->trace, number);

	if (name)
		return name;
	name = linux_calls_name(&calls->linux_calls, number);
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
