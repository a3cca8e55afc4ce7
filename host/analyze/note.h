/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What a trace states about its recording: the host's notes on a capture, the registers of CPUs, and the cost
 * of recording an event.
 */
#ifndef ANALYZE_NOTE_H
#define ANALYZE_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktread/ktread.h"

/* ---- The host's notes: lines "key: value" (spec/ktrx.md, section 3) ---- */

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

/* ---- The cost of recording an event, as measured by the traced kernel (ktrace_probe_cost()) ---- */

/* Returns the ticks that a thousand events cost; 0 if unknown. */
uint64_t cost_of(const struct ktread *trace);

/*
 * Returns the share of CPU time that recording took: `events` events, on `cpus` CPUs, within `ticks`. The
 * share is 0 to 1, or above 1 if the trace is inconsistent.
 */
double cost_share(uint64_t cost, uint64_t events, uint64_t ticks, uint32_t cpus);

/* number of entries of a table with one entry per CPU; the last entry is for unknown CPUs */
#define COST_CPUS 4097u

/*
 * Subtracts the cost of events from timestamps, as if a CPU's clock stopped while the CPU records. Requires:
 * all members except `cost` are zero at first.
 */
struct cost_meter {
	uint64_t cost;
	uint64_t events[COST_CPUS]; /* indexed by CPU: number of events so far */
	/*
	 * indexed by CPU: timestamp that was returned last; needed because the timestamps of a CPU must never
	 * decrease
	 */
	uint64_t last[COST_CPUS];
};

/*
 * Returns the timestamp of `event` minus the cost of the earlier events on its CPU. Call it once for each
 * event, in the order of the trace.
 */
uint64_t cost_taken_off(struct cost_meter *meter, const struct ktread_event *event);

#endif
