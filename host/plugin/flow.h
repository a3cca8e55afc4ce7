/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The code that virtual CPUs run, the guest's memory, and the plugin's arguments. */
#ifndef PLUGIN_FLOW_H
#define PLUGIN_FLOW_H

#include <stdint.h>

#include "trace.h"

/*
 * Follows virtual CPUs from block to block, and finds out why one block followed another: because of a
 * branch, because of an interrupt or exception, or because QEMU resumed a block in its middle. Reports this
 * to the enabled traces of the virtual CPU.
 *
 * A virtual CPU reports a block right before it runs the block's last instruction. So all instructions of a
 * reported block have run, except the last one. If an exception stops a block earlier, the block is not
 * reported, unless exact=1 has added points at instructions that can fault.
 *
 * If an interrupt comes after an instruction, it may be unknown whether this instruction has run. This is so
 * if the instruction is a conditional or indirect branch, or if it may have faulted instead. It is then
 * reported as not run.
 */

/*
 * Prepares virtual CPUs 0 to count - 1. Returns nonzero if out of memory. `idle` is called by a virtual CPU
 * that has reported many blocks since its last trace was disabled, if no trace of any virtual CPU is enabled:
 * further reports of blocks are then useless.
 */
int flow_open(const struct encoder *encoder, unsigned count, void (*idle)(void));

/*
 * Callbacks for qemu_plugin_register_vcpu_insn_exec_cb(): flow_enter() for the first point of a block,
 * flow_pass() for its other points. Their argument is a struct point.
 */
void flow_enter(unsigned cpu, void *point);
void flow_pass(unsigned cpu, void *point);

/*
 * A virtual CPU has up to two traces. flow_guest_trace() returns the one that the guest itself controls and
 * reads; flow_ring_trace() returns the one that is written to the file in out=. Both return NULL if there is
 * no such virtual CPU.
 */
struct trace *flow_guest_trace(unsigned cpu);
struct trace *flow_ring_trace(unsigned cpu);

/*
 * Enables a trace whose members have been set up. The instruction at `address` is about to run, and is the
 * first in the trace. If `address` is 0, the trace begins with the next block.
 */
void flow_begin(struct trace *trace, uint64_t address);
/* Disables a trace. The instruction at `address` has not run, and is not in the trace. */
void flow_end(struct trace *trace, uint64_t address);
/*
 * Reports that the virtual CPU runs in this address space from now on. Addresses in [user_start, user_end)
 * are user code; if user_end is 0, this range is unknown.
 */
void flow_space(unsigned cpu, uint64_t space, uint64_t user_start, uint64_t user_end);
/*
 * Writes a synchronization point with time and address space, at which a reader of the trace can begin.
 * `address` is the next instruction.
 */
void flow_sync(struct trace *trace, uint64_t address);

/* Makes the trace write its exact time before its next packet. */
void flow_renew_time(struct trace *trace);
/* Makes each trace write its exact time before its next packet. Called when code has been replaced. */
void flow_renew_all_times(void);

/*
 * Makes each enabled trace read its clock soon, even if it has no packet to write. May be called by any
 * thread.
 */
void flow_look_at_clocks(void);

/* Returns the number of enabled traces. */
unsigned flow_enabled(void);

/* Forgets all blocks and frees them. Requires: no virtual CPU is running a block. */
void flow_forget_blocks(void);
/*
 * Ends tracing in all traces, with a packet that reports a loss. After this call, it is unknown what virtual
 * CPUs run until they report a block again.
 */
void flow_pause(void);
/* Writes all pending packets of a trace to its output. */
void flow_flush(struct trace *trace);
/*
 * Called when a virtual CPU begins to wait for an interrupt, perhaps forever. Writes all pending packets of
 * its traces.
 */
void flow_halted(unsigned cpu);

/*
 * Access to the guest's memory through the file that contains it (ram=FILE). Addresses come from the guest
 * and are not trusted.
 */

/*
 * Sets the name of the file, which must stay valid, and the physical address of the file's first byte. Only
 * the first `span` bytes of the file are contiguous in physical memory; the physical addresses of the other
 * bytes are unknown. QEMU creates the file after it has loaded plugins, so the file is opened later.
 */
void memory_use(const char *path, uint64_t base, uint64_t span);

/*
 * Returns a pointer to the `size` bytes at this physical address. Returns NULL if there is no file, or not
 * all of these bytes are in it.
 */
void *memory_at(uint64_t physical, uint64_t size);

/* The plugin's arguments: -plugin ktrace-pt.so,NAME=VALUE,... */

struct arguments {
	const char *ram, *out; /* arguments ram= and out=; NULL: not given */
	uint64_t base;
	uint8_t has_base;
	uint64_t ring_size, code_size;
	uint8_t exact, time, returns;
	uint8_t hidden;	      /* nonzero: the guest must not find the unit */
	uint64_t instruction; /* duration of an instruction in ns of virtual time; 0: times are real */
	/* `user`: nonzero if user code is to be traced; `kernel`: nonzero if kernel code is to be traced */
	uint8_t user, kernel;
	uint64_t user_start, user_end;
	unsigned ranges;
	struct {
		uint64_t start, end;
	} range[TRACE_RANGES];
};

/*
 * Parses the arguments. Returns 0. If an argument is invalid, returns -1 and sets *message to a text that
 * stays valid until the next call. `ram` and `out` point into the strings of argv, which QEMU frees.
 */
int arguments_read(struct arguments *arguments, int argc, char **argv, const char **message);

#endif
