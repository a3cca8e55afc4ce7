/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Text in a trace (spec/ktrx.md, section 3): the host's notes on a capture, in lines "key: value", and the
 * registers of CPUs.
 */
#ifndef ANALYZE_NOTE_H
#define ANALYZE_NOTE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns the value of the first line with that key, and its length; NULL if there is none. The value is not
 * escaped.
 */
const char *note_find(const char *note, const char *key, size_t *length);

/*
 * Copies the argument after `option` in a command line: k.elf in "… -kernel k.elf …". Blanks separate
 * arguments; an argument that contains blanks counts as several. Returns 0, or -1 if there is no such
 * argument or `word` is too small for it.
 */
int note_word_after(const char *command, size_t length, const char *option, char *word, size_t size);

/*
 * Copies the path of the kernel's file from the note: from its own line, or from QEMU's command line. Returns
 * false if there is no path, or if it does not name a readable regular file. A trace may contain any path,
 * and opening a FIFO, for example, could block.
 */
bool note_kernel(const char *note, char *path, size_t size);

/*
 * Returns for how many seconds the machine had recorded nothing when it was captured ("silent: 1.0 s or
 * more"), or a negative number if the note does not state this. Sets `*more` if the time may have been
 * longer, because the machine was not watched before. The newest timestamp of a trace plus this time is the
 * time of the capture. All durations such as "3 s ago" are counted back from the time of the capture.
 */
double note_silence(const char *note, bool *more);

/* ---- Privilege level of a CPU, from its registers ---- */

enum privilege {
	/* the registers do not show whether the kernel or a program ran, for example on RISC-V */
	PRIVILEGE_UNKNOWN,
	PRIVILEGE_KERNEL,
	PRIVILEGE_USER,
};

/*
 * Returns whether a CPU ran the kernel or a program. `line` is the CPU's line of registers, up to its end or
 * a newline: " pc=… sp=… cs=33". The privilege level is in cs on x86, and in pstate (gdb: cpsr) on AArch64.
 */
enum privilege privilege_of(const char *line);

/* ---- Whether a CPU takes interrupts, from its registers ---- */

enum interrupt_mask {
	INTERRUPTS_UNKNOWN,
	INTERRUPTS_ENABLED,
	INTERRUPTS_MASKED,
};

/*
 * Returns whether a CPU had interrupts disabled. `line`: as for privilege_of(). The bits for this are in the
 * flags on x86, in pstate or cpsr on AArch64, and in mstatus on RISC-V. On RISC-V interrupts count as
 * disabled only if both the bit of supervisor mode and that of machine mode are 0, because the mode of the
 * CPU is unknown.
 */
enum interrupt_mask interrupt_mask_of(const char *line);

#endif
