/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Names of the architectures on which ktrace runs. All output and all options use these names. */
#ifndef BASE_MACHINE_H
#define BASE_MACHINE_H

#include <stdint.h>

/*
 * Returns the name of the architecture `elf_machine` (EM_* of ELF headers), or NULL if ktrace does not run on
 * that architecture.
 */
const char *base_machine_name(uint16_t elf_machine);
/*
 * Returns the EM_* number of an architecture, given its name or an alias such as "arm64"; EM_NONE if the name
 * is unknown.
 */
uint16_t base_machine_number(const char *name);

#endif
