/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Shared by the parts of the trace unit: encoders, the trace of one CPU, the unit as a device, its clock. */
#ifndef PLUGIN_TRACE_H
#define PLUGIN_TRACE_H

#include <stdatomic.h>
#include <stdint.h>

#include "code.h"
#include "rings.h"

/* Atoms, which report for each branch whether it was taken (E) or not (N), in as few packets as possible. */

#define ETM4_ATOMS_MOST 48u

/*
 * Writes the packet for the oldest of `count` atoms, at least 1, at most ETM4_ATOMS_MOST. The latest atom is
 * in bit 0; 1 means taken. Returns how many atoms the packet contains.
 */
unsigned etm4_atom_packet(uint64_t atoms, unsigned count, uint8_t *packet);

/* State of the encoder of ETMv4 packets. */

#define ETM4_ADDRESSES 3u
#define ETM4_RETURNS   15u /* number of calls that every decoder remembers, at least */

struct etm4 {
	uint64_t address[ETM4_ADDRESSES]; /* the last addresses written, the latest first */
	uint64_t time;			  /* the last time written; 0 after a synchronization point */
	uint64_t space;			  /* the last address space written, if `has_context` is set */
	uint32_t thread;
	uint8_t has_context;
	uint8_t depth; /* number of entries of returns[] in use */
	uint8_t top;
	uint64_t returns[ETM4_RETURNS];
};

/* State of the encoder of Intel PT packets. */

#define PT_RETURNS 64u /* number of calls that a decoder must remember */

struct pt {
	uint64_t last_ip; /* last address written; addresses are compressed relative to it */
	uint32_t depth;	  /* number of entries of returns[] in use */
	uint32_t top;
	uint8_t mode; /* the last mode written; 0: none */
	uint64_t returns[PT_RETURNS];
};

/*
 * A trace: what a virtual CPU writes to one output (the guest's buffer, or a ring of out=FILE). flow.c finds
 * out which block followed which; trace.c decides what is traced, and reports branches to the encoder; the
 * encoder writes packets. A trace belongs to the thread of its virtual CPU.
 */

#define TRACE_RANGES 4

struct encoder;

struct trace {
	const struct encoder *encoder;
	struct output output;
	uint8_t enabled;  /* the guest or the argument out= has enabled the trace */
	uint8_t on;	  /* between on() and off() of the encoder: code that runs now is traced */
	uint8_t full;	  /* the output has no room left */
	uint8_t timed;	  /* time packets are written */
	uint8_t compress; /* returns are compressed */
	uint8_t simple;	  /* `mode` if tracing is on and all code is to be traced, otherwise 0 */
	uint8_t mode;	  /* processor mode as of the encoder's last on() */
	/*
	 * What is traced: the `span` addresses from `low` on or, if `others` is set, all other addresses;
	 * limited to the ranges, if there are any.
	 */
	uint64_t low, span;
	uint8_t others;
	unsigned ranges;
	struct {
		uint64_t start, end;
	} range[TRACE_RANGES];
	uint64_t space; /* address space; 0: unknown */
	uint32_t thread;
	uint64_t clock_base, clock_start,
		clock_frequency; /* time: base + (nanoseconds - start) * frequency */
	uint8_t look;		 /* bytes of packets between two readings of the clock */
	uint64_t clock_step;	 /* a smaller increase of time is not written */
	uint64_t time;		 /* the last time written */
	/* code has been replaced: write the exact time before it runs; set by any thread */
	_Atomic uint8_t renew;
	/*
	 * Position at which the clock and the synchronization interval are checked next. Any thread may set
	 * it to 0: check now.
	 */
	_Atomic uint64_t attention;
	uint64_t nowhere; /* dummy target for values that are not published */
	uint64_t sync_at; /* position from which on a synchronization point is due */
	/*
	 * branch outcomes that are not in a packet yet; 1: taken. The latest outcome is in bit 0. A bit that
	 * is 1 precedes the oldest outcome.
	 */
	uint64_t outcomes;
	union {
		struct pt pt;
		struct etm4 etm4;
	};
};

/* Sets which levels are traced: user code is in [start, end), all other code is the kernel's. */
void trace_levels(struct trace *trace, int user, int kernel, uint64_t start, uint64_t end);

/*
 * An encoding, and the architecture of the code. Each packet operation may write at most ENCODER_MOST bytes;
 * the caller has made sure that they fit. `on` and `off` alternate; branch, async and off are only called
 * between them.
 */
#define ENCODER_MOST 192

struct encoder {
	const char *target;	/* QEMU's name of the guest's architecture */
	uint8_t encoding;	/* KTRX_HWT_ENCODING_* */
	const void *parameters; /* parameters for the decoder, as in struct ktrx_hwt_unit */
	size_t parameters_size;
	uint8_t ringing;	/* processor mode in which a guest can ring doorbells */
	uint64_t space_bits;	/* bits of an address space that packets contain */
	uint64_t longest;	/* size of the longest instruction, in bytes */
	uint64_t outcomes_full; /* least value of trace->outcomes that counts as full; a power of 2 */
	uint8_t sync_anywhere;	/* may synchronize after a block whose end writes no packet */
	uint64_t memory_base;	/* default physical address of memory */
	uint64_t memory_span;	/* bytes of memory that are contiguous from there */

	/* ---- Code, at translation ---- */
	/* Returns nonzero if the instruction is the marker before a doorbell. */
	int (*marker)(const unsigned char *bytes, size_t size);
	/*
	 * Returns nonzero if the instruction may fault, or may stop the block before its end in another way.
	 */
	int (*faults)(const unsigned char *bytes, size_t size);
	/*
	 * Returns nonzero if this handler is for interrupts, which come between two instructions, not for
	 * faults.
	 */
	int (*between)(uint64_t handler);
	/* Sets end, target and reported from the last instruction. Requires: start, last and next are set. */
	void (*classify)(struct block *block, const unsigned char *bytes, size_t size);
	/*
	 * If this block, with the given first instruction, looks like an entry of a table of handlers:
	 * returns a value that all entries of that table have in common. Otherwise returns 0. Called after
	 * classify.
	 */
	uint64_t (*vectors)(const struct block *block, const unsigned char *bytes, size_t size);
	/* Returns the processor modes in which an instruction with these bytes has this size. */
	uint8_t (*modes)(const unsigned char *bytes, size_t size, uint64_t address);
	/* Returns the mode in which a block runs that cannot run in `mode`; 0: in none that can be traced. */
	uint8_t (*mode)(uint8_t mode, uint8_t modes);

	/* ---- Packets ---- */
	/* Begins a stream, or continues one, without relying on earlier packets. Writes nothing. */
	void (*start)(struct trace *trace);
	/*
	 * Writes a synchronization point with time and address space. If trace->on, `address` is the next
	 * instruction.
	 */
	void (*sync)(struct trace *trace, uint64_t address);
	/* Begins tracing before the instruction at this address. Requires: trace->mode is set. */
	void (*on)(struct trace *trace, uint64_t address);
	/* Ends tracing: all instructions before `address` have run, the instruction at `address` has not. */
	void (*off)(struct trace *trace, uint64_t address);
	/* Ends tracing with the block's branch, whose target `to` is not known from the code. */
	void (*off_branch)(struct trace *trace, const struct block *block, uint64_t to);
	/*
	 * Reports that the block ran to its end and continues at `to`. `taken` is 0 only for a conditional
	 * branch that was not taken.
	 */
	void (*branch)(struct trace *trace, const struct block *block, uint64_t to, int taken);
	/*
	 * Reports an interrupt or exception: all instructions before `from` have run, the instruction at
	 * `from` has not. Execution continues at `to`.
	 */
	void (*async)(struct trace *trace, uint64_t from, uint64_t to);
	/* Writes trace->time. `before` is the time written last; 0: write the full time. */
	void (*time)(struct trace *trace, uint64_t before);
	/* Writes all packets that are still pending to the output. */
	void (*flush)(struct trace *trace);
	/*
	 * Flushes, and marks packets as lost, because the output is full or a part is unknown. trace->on is 0
	 * afterwards.
	 */
	void (*overflow)(struct trace *trace);
};

/* Empties the set of pending outcomes. */
static inline void trace_begin_outcomes(struct trace *trace)
{
	trace->outcomes = 1;
	output_set_pending(&trace->output, 1);
}

/* Adds `count` (0 or 1) outcomes. Returns nonzero if no more fit, and the encoder's flush() is due. */
static inline int trace_gather(struct trace *trace, unsigned count, unsigned taken)
{
	trace->outcomes = trace->outcomes << count | (taken & count);
	output_set_pending(&trace->output, trace->outcomes);
	return __builtin_expect(trace->outcomes >= trace->encoder->outcomes_full, 0);
}

/* One trace, from block to block (trace.c). `address` is that of the next instruction to run. */

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/*
 * Enables the trace, and writes a synchronization point, unless trace->full shows that there is no room. Does
 * not begin tracing yet.
 */
void trace_begin(struct trace *trace, uint64_t address);
/* Begins tracing before `address`, unless the trace is full or none of the modes can be traced. */
void trace_turn_on(struct trace *trace, uint64_t address, uint8_t modes);
/* Ends tracing: all instructions before `address` have run. */
void trace_turn_off(struct trace *trace, uint64_t address);
/* Ends tracing with a mark in the packets: what runs next is unknown, or there is no room. */
void trace_break_off(struct trace *trace);
/* Reports that an interrupt or exception led from `from`, which has not run, to a block. */
void trace_interrupt(struct trace *trace, uint64_t from, const struct block *to);
/* Does what is due after some bytes of packets: looks at the clock, synchronizes, publishes. */
void trace_attend(struct trace *trace, uint64_t address);
/* Does the same after a block whose end writes no packet. */
void trace_attend_unreported(struct trace *trace, uint64_t address);
/* Handles the rare cases of trace_follow(): tracing begins or ends, or the mode changes. */
void trace_cross(struct trace *trace, const struct block *from, const struct block *to, int taken);

static inline int trace_in_ranges(const struct trace *trace, uint64_t address)
{
	for (unsigned i = 0; i < trace->ranges; i++) {
		if (address >= trace->range[i].start && address < trace->range[i].end)
			return 1;
	}
	return trace->ranges == 0;
}

/* Returns true if the code at this address is traced. */
static inline int trace_wants(const struct trace *trace, uint64_t address)
{
	return ((address - trace->low < trace->span) ^ trace->others) &&
	       (LIKELY(trace->ranges == 0) || trace_in_ranges(trace, address));
}

/* Returns the position at which something is due; any thread may set it to 0. */
static inline uint64_t trace_attention(const struct trace *trace)
{
	return atomic_load_explicit(&trace->attention, memory_order_relaxed);
}

/* Publishes at once, so that a packet is found even if QEMU is killed while the clock is read. */
static inline void trace_written(struct trace *trace, uint64_t address)
{
	output_publish(&trace->output);
	if (UNLIKELY(output_position(&trace->output) >= trace_attention(trace)))
		trace_attend(trace, address);
}

/* Reports that a block ran to its end, and the next one begins. `taken` is as for the encoder's branch(). */
static inline void trace_follow(struct trace *trace, const struct block *from, const struct block *to,
				int taken)
{
	if (UNLIKELY(!trace->on || !trace_wants(trace, to->start) || !(to->modes & trace->mode))) {
		trace_cross(trace, from, to, taken);
		return;
	}
	if (from->reported) {
		trace->encoder->branch(trace, from, to->start, taken);
		trace_written(trace, to->start);
	} else if (UNLIKELY(trace_attention(trace) == 0)) {
		trace_attend_unreported(trace, to->start);
	}
}

extern const struct encoder encoder_pt;
extern const struct encoder encoder_etm4;

/*
 * The page through which a guest controls its trace unit (ktrx/hwt_unit.h). Its contents come from the guest,
 * and are not trusted.
 */

/*
 * Handles a store after a marker, done by this virtual CPU at a physical address. The instruction at `next`
 * runs next.
 */
void unit_ring(unsigned cpu, uint64_t physical, uint64_t next);

/* Time in packets: the host's clock, adjusted to what the guest has reported of its own clock. */

/* Returns the nanoseconds since the plugin was loaded. */
uint64_t clock_nanoseconds(void);

/* Sets the trace's clock to `stamp` now, with `frequency` ticks per second; 0: nanoseconds since loading. */
void clock_set(struct trace *trace, uint64_t stamp, uint64_t frequency);

/* Advances the trace's clock to `stamp`, unless it is already later. */
void clock_catch_up(struct trace *trace, uint64_t stamp);

#endif
