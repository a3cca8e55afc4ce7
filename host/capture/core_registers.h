/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The CPUs' registers in an ELF core, as QEMU's dump-guest-memory writes it: a note NT_PRSTATUS a CPU. */
#ifndef CAPTURE_CORE_REGISTERS_H
#define CAPTURE_CORE_REGISTERS_H

/*
 * As spec/ktrx.md section 3 has them, to be free()d; NULL where the core has none, or is none. Bytes are hostile: what does
 * not fit is left out. 0 or CAPTURE_E_SYSTEM.
 */
int capture_core_registers(const char *path, char **text);

#endif
