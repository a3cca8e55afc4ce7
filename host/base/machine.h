/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Names of the architectures on which ktrace runs, and of their system calls. All output and all options use
 * these names.
 */
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

/* ---- System calls of Linux (linux_calls.c) ---- */

/*
 * Bit that is set in the numbers of system calls of x32, which is the ABI for x86_64 programs with 32-bit
 * addresses.
 */
#define BASE_LINUX_X32 UINT32_C(0x40000000)

/*
 * Returns the name of Linux's system call `number` on the machine `elf_machine` (EM_* of ELF headers), from
 * libseccomp; NULL if there is no such call. The caller frees the name.
 */
char *base_linux_call(uint16_t elf_machine, uint32_t number);

#endif
