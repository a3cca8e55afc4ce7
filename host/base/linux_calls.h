/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef BASE_LINUX_CALLS_H
#define BASE_LINUX_CALLS_H

#include <stdint.h>

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
