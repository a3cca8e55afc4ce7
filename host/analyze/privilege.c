/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/privilege.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define X86_LEVEL 3u /* bits of cs: 0 is the kernel, 3 a program */
#define ARM_LEVEL \
	0xfu /* bits of the state: 0 is EL0, also in AArch32's user mode, which sets bit 4 besides */

static bool find(const char *line, const char *name, uint64_t *value)
{
	const size_t most = strcspn(line, "\n"), length = strlen(name);

	for (size_t at = 0; at + length < most; at++) {
		if (strncmp(line + at, name, length) != 0 || !isxdigit((unsigned char)line[at + length]))
			continue;
		*value = strtoull(line + at + length, NULL, 16);
		return true;
	}
	return false;
}

enum privilege privilege_of(const char *line)
{
	uint64_t value;

	if (find(line, " cs=", &value))
		return value & X86_LEVEL ? PRIVILEGE_USER : PRIVILEGE_KERNEL;
	if (find(line, " pstate=", &value) || find(line, " cpsr=", &value))
		return value & ARM_LEVEL ? PRIVILEGE_KERNEL : PRIVILEGE_USER;
	return PRIVILEGE_UNKNOWN;
}
