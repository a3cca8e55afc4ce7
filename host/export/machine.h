/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What an architecture is called in all output, as for --machine. */
#ifndef EXPORT_MACHINE_H
#define EXPORT_MACHINE_H

#include <stdint.h>

/* By its number in ELF headers; NULL: none of those that ktrace runs on. */
const char *machine_name(uint16_t elf_machine);
/* The reverse; 0: none of them. */
uint16_t machine_number(const char *name);

#endif
