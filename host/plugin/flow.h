/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Virtual CPUs and what they do, the guest's memory, and the plugin's arguments. */
#ifndef PLUGIN_FLOW_H
#define PLUGIN_FLOW_H

#include <stdint.h>

#include "trace.h"

/*
 * Follows virtual CPUs: finds out which block followed which, and why: by a branch, by an interrupt or
 * exception, or by neither (QEMU resumed a block in its middle). Reports this to the traces of the virtual
 * CPU that are enabled.
 *
 * A virtual CPU reports a block right before its last instruction, not at its start. So all instructions of a
 * reported block have run, except the last one. A block that an exception stopped earlier is not reported,
 * unless exact=1 has added points at instructions that can fault. If an interrupt follows an instruction
 * whose outcome is not known yet (a conditional or indirect branch, or one that may as well have faulted),
 * this instruction is reported as not executed.
 */

/*
 * Prepares virtual CPUs 0 to count - 1. A virtual CPU calls `idle` when no trace has been enabled for a large
 * number of blocks, after which reporting blocks is not worthwhile. Returns nonzero if out of memory.
 */
int flow_open(const struct encoder *encoder, unsigned count, void (*idle)(void));

/*
 * Callbacks for qemu_plugin_register_vcpu_insn_exec_cb(): flow_enter() is for the first point of a block,
 * flow_pass() for the other points. `point` is a struct point.
 */
void flow_enter(unsigned cpu, void *point);
void flow_pass(unsigned cpu, void *point);

/*
 * Return the two traces of a virtual CPU: the guest's own, and that of out=. NULL: there is no such virtual
 * CPU.
 */
struct trace *flow_guest_trace(unsigned cpu);
struct trace *flow_ring_trace(unsigned cpu);

/*
 * Begins writing a trace that has been set up. The instruction at `address` is about to run and is the first
 * in the trace. If `address` is 0, the trace begins with the next block.
 */
void flow_begin(struct trace *trace, uint64_t address);
/* Stops writing a trace. The instruction at `address` has not run. */
void flow_end(struct trace *trace, uint64_t address);
/*
 * Reports that the virtual CPU runs in this address space from now on. User code is in [user_start,
 * user_end), unless that is empty.
 */
void flow_space(unsigned cpu, uint64_t space, uint64_t user_start, uint64_t user_end);
/* Writes a synchronization point with time and address space, so that reading can begin here. */
void flow_sync(struct trace *trace, uint64_t address);

/* Makes the trace write the exact time before its next packet. */
void flow_renew_time(struct trace *trace);
/* Makes all traces write the exact time before their next packet, because code has been replaced. */
void flow_renew_all_times(void);

/* Makes enabled traces look at the clock soon, although no packet is due. May be called by any thread. */
void flow_look_at_clocks(void);

/* Returns the number of enabled traces. */
unsigned flow_enabled(void);

/* Forgets all blocks. Requires: no virtual CPU is in one. */
void flow_forget_blocks(void);
/* Breaks off all traces until the next report of a block, because it is unknown what runs until then. */
void flow_pause(void);
/* Writes everything that is known to the output. */
void flow_flush(struct trace *trace);
/* Flushes the traces of a virtual CPU that waits for an interrupt, perhaps forever. */
void flow_halted(unsigned cpu);

/*
 * The guest's memory, accessed through its file (ram=FILE). Addresses come from the guest and are not
 * trusted.
 */

/*
 * Sets the file's name, which must stay valid, and the physical address of its first byte. Only the first
 * `span` bytes are contiguous in physical memory; the addresses of further bytes are unknown. QEMU creates
 * the file after it loads plugins, so the file is opened later.
 */
void memory_use(const char *path, uint64_t base, uint64_t span);

/*
 * Returns the mapping of `size` bytes at this physical address, or NULL if they are not all in the file, or
 * there is no file.
 */
void *memory_at(uint64_t physical, uint64_t size);

/* The plugin's arguments: -plugin ktrace-pt.so,NAME=VALUE,... */

struct arguments {
	const char *ram, *out; /* NULL: not given */
	uint64_t base;
	uint8_t has_base;
	uint64_t ring_size, code_size;
	uint8_t exact, time, returns;
	uint8_t user, kernel; /* exception levels to be traced */
	uint64_t user_start, user_end;
	unsigned ranges;
	struct {
		uint64_t start, end;
	} range[TRACE_RANGES];
};

/*
 * Parses the arguments. Returns 0, or -1 and sets *message to a text that stays valid until the next call.
 * `ram` and `out` point into argv, which QEMU frees.
 */
int arguments_read(struct arguments *arguments, int argc, char **argv, const char **message);

#endif
