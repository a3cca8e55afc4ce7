/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Registers as text (spec/ktrx.md section 3): a line a CPU, "cpu N pc=HEX sp=HEX NAME=HEX …". */
#ifndef CAPTURE_REGISTERS_H
#define CAPTURE_REGISTERS_H

#include <stddef.h>
#include <stdint.h>

/* From what QEMU's "info registers -a" prints, on any architecture: integer registers. NULL: no memory. */
char *capture_registers_of_qemu(const char *printed);

/*
 * From the bytes that gdb's "g" packet carries for a CPU, integer registers first. Appends the line of CPU
 * `cpu` to *text, which is grown. 0 or CAPTURE_E_SYSTEM; an unknown machine or too few bytes append what is
 * known.
 */
int capture_registers_of_gdb(char **text, uint32_t cpu, uint16_t machine, const unsigned char *bytes,
			     size_t size);

#endif
