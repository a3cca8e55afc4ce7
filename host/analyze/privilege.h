/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Whether a CPU ran the kernel or a program, by its registers as a trace has them (spec/ktrx.md, section 3).
 */
#ifndef ANALYZE_PRIVILEGE_H
#define ANALYZE_PRIVILEGE_H

enum privilege {
	PRIVILEGE_UNKNOWN, /* the registers do not say so, as on RISC-V, where no register holds it */
	PRIVILEGE_KERNEL,
	PRIVILEGE_USER,
};

/*
 * `line` is one CPU's line of registers, up to its end or a newline: " pc=… sp=… cs=33". x86 has it in cs,
 * AArch64 in
 * pstate (gdb: cpsr).
 */
enum privilege privilege_of(const char *line);

#endif
