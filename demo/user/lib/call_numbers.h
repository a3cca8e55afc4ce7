/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* SYS_* constants for the assembler. */
#define CALL(number, name, ...) .equ SYS_##name, number
#include "syscalls.def"
