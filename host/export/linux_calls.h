/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What Linux calls the numbers of system calls on some machine, by libseccomp, which is loaded when the first name is
 * asked for and need not be there at all.
 */
#ifndef EXPORT_LINUX_CALLS_H
#define EXPORT_LINUX_CALLS_H

#include <stdint.h>

struct linux_calls {
	char *(*resolve)(uint32_t architecture, int number);
	void *library;
	uint32_t architecture; /* AUDIT_ARCH_*, 0 if the machine has none */
};

/* `elf_machine` as in ELF headers; of others no call has a name. */
void linux_calls_open(struct linux_calls *calls, uint16_t elf_machine);
void linux_calls_close(struct linux_calls *calls);
/* NULL if it has no name; otherwise to be freed. */
char *linux_calls_name(struct linux_calls *calls, uint32_t number);

#endif
