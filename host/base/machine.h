/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What an architecture is called in all output, as for --machine. */
#ifndef BASE_MACHINE_H
#define BASE_MACHINE_H

#include <stdint.h>

/* By its number in ELF headers; NULL: none of those that ktrace runs on. */
const char *base_machine_name(uint16_t elf_machine);
/* The reverse; 0: none of them. */
uint16_t base_machine_number(const char *name);

#endif
