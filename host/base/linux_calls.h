/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef BASE_LINUX_CALLS_H
#define BASE_LINUX_CALLS_H

#include <stdint.h>

/*
 * Returns what Linux calls system call `number` of the machine `elf_machine` (EM_* of ELF headers), by
 * libseccomp, or NULL if it has no such call. The caller frees the name.
 */
char *base_linux_call(uint16_t elf_machine, uint32_t number);

#endif
