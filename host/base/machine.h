/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Names of the architectures that ktrace runs on, the same in all output and in all options. */
#ifndef BASE_MACHINE_H
#define BASE_MACHINE_H

#include <stdint.h>

/*
 * Returns the name of the architecture `elf_machine` (EM_* of ELF headers), or NULL if ktrace does not run on
 * it.
 */
const char *base_machine_name(uint16_t elf_machine);
/* Returns the EM_* of a name or an alias of it ("arm64"), or EM_NONE if the name is unknown. */
uint16_t base_machine_number(const char *name);

#endif
