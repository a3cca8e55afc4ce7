/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Virtual CPUs and what they do, the guest's memory, and the plugin's arguments. */
#ifndef PLUGIN_FLOW_H
#define PLUGIN_FLOW_H

#include <stdint.h>

#include "trace.h"

/*
 * What virtual CPUs do: which block followed which, and what that was: a branch, an interrupt or exception,
 * or nothing (a block that QEMU has begun anew in its middle). Told to the traces of that virtual CPU, as far
 * as they want to know.
 *
 * A virtual CPU reports before the last instruction of a block, not at its start. So whatever it reports all
 * of a block has been run but the last instruction; a block that an exception has stopped before is not
 * reported, unless exact=1 has given it points at what can fault. Where an interrupt comes behind an
 * instruction whose outcome is not known yet (a conditional or indirect branch, or one that could as well
 * have faulted), that instruction is told as not yet run.
 */

/*
 * Virtual CPUs 0 to count - 1. Nonzero: no memory. `idle` is called, by a virtual CPU, when for many blocks
 * no trace has been enabled, so that reports are not worth it any longer.
 */
int flow_open(const struct encoder *encoder, unsigned count, void (*idle)(void));

/*
 * For qemu_plugin_register_vcpu_insn_exec_cb(): the first point of a block, and those behind it; data: struct
 * point.
 */
void flow_enter(unsigned cpu, void *point);
void flow_pass(unsigned cpu, void *point);

/* Both traces of a virtual CPU: the guest's own, and that of out=. NULL: there is no such virtual CPU. */
struct trace *flow_guest_trace(unsigned cpu);
struct trace *flow_ring_trace(unsigned cpu);

/*
 * The trace has been set up, and is to be written from `address` on, which is about to run; 0: from the next
 * block on.
 */
void flow_begin(struct trace *trace, uint64_t address);
/* It is no longer to be written; what is at `address` has not run. */
void flow_end(struct trace *trace, uint64_t address);
/*
 * The virtual CPU runs in this address space from now on; user code lies in [user_start, user_end), where
 * that is not empty.
 */
void flow_space(unsigned cpu, uint64_t space, uint64_t user_start, uint64_t user_end);
/* Time and address space are told anew, with all that it takes to begin reading here. */
void flow_sync(struct trace *trace, uint64_t address);

/* The trace tells the exact time before what it tells next. */
void flow_renew_time(struct trace *trace);
/* Code has been replaced: all of them do. */
void flow_renew_all_times(void);

/* Time has passed, for one or all of them, that no packet will show by itself. By any thread. */
void flow_look_at_clocks(void);

/* So many traces are enabled. */
unsigned flow_enabled(void);

/* Blocks go; nothing is in one. */
void flow_forget_blocks(void);
/* Nothing is reported from now on until it is again: what runs meanwhile is unknown. */
void flow_pause(void);
/* All that is known is in the output. */
void flow_flush(struct trace *trace);
/* The virtual CPU waits for an interrupt, perhaps for ever: the same for its traces. */
void flow_halted(unsigned cpu);

/*
 * The guest's memory, as the file that it is (ram=FILE). Every address comes from the guest and is not
 * trusted.
 */

/*
 * Its name, which stays, the physical address of its first byte, and how many of its bytes follow each other
 * in memory, too: what lies behind them has addresses that are not known. QEMU makes the file later than it
 * loads plugins.
 */
void memory_use(const char *path, uint64_t base, uint64_t span);

/*
 * Where `size` bytes from this physical address on are mapped. NULL: not all of them are in the file, or
 * there is no file.
 */
void *memory_at(uint64_t physical, uint64_t size);

/* What stands behind -plugin ktrace-pt.so: NAME=VALUE, one string each. */

struct arguments {
	const char *ram, *out; /* NULL: not given */
	uint64_t base;
	uint8_t has_base;
	uint64_t ring_size, code_size;
	uint8_t exact, time, returns;
	uint8_t user, kernel; /* levels */
	uint64_t user_start, user_end;
	unsigned ranges;
	struct {
		uint64_t start, end;
	} range[TRACE_RANGES];
};

/*
 * 0; or -1 and *message, kept until the next call, says what is wrong. `ram` and `out` lie in argv, which
 * QEMU frees.
 */
int arguments_read(struct arguments *arguments, int argc, char **argv, const char **message);

#endif
