/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What parts of the trace unit share: encoders, the trace of one CPU, the unit as a device, its clock. */
#ifndef PLUGIN_TRACE_H
#define PLUGIN_TRACE_H

#include <stdatomic.h>
#include <stdint.h>

#include "code.h"
#include "rings.h"

/* Atoms, which say of each branch whether it was taken (E) or not (N), in as few packets as there can be. */

#define ETM4_ATOMS_MOST 48u

/*
 * The packet of the oldest of `count` atoms, at least 1, at most ETM4_ATOMS_MOST; the latest in bit 0, 1 is
 * taken. Returns how many of them it tells.
 */
unsigned etm4_atom_packet(uint64_t atoms, unsigned count, uint8_t *packet);

/* What the encoder of ETMv4 packets remembers of a trace. */

#define ETM4_ADDRESSES 3u
#define ETM4_RETURNS   15u /* a decoder remembers as many calls at least */

struct etm4 {
	uint64_t address[ETM4_ADDRESSES]; /* that were told last, the latest first */
	uint64_t time;			  /* that was told last; 0 behind a synchronisation */
	uint64_t space;			  /* that was told last, with its thread, if `told` … */
	uint32_t thread;
	uint8_t told;
	uint8_t depth; /* of returns[] */
	uint8_t top;
	uint64_t returns[ETM4_RETURNS];
};

/* What the encoder of Intel PT packets remembers of a trace. */

#define PT_RETURNS 64u /* as many calls as a decoder must remember */

struct pt {
	uint64_t last_ip; /* addresses are compressed against it */
	uint32_t depth;	  /* of returns[], at most PT_RETURNS */
	uint32_t top;
	uint8_t mode; /* that was told last; 0: none */
	uint64_t returns[PT_RETURNS];
};

/*
 * A trace: what one virtual CPU writes to one output (the guest's buffer, or a ring of out=FILE). flow.c
 * knows which block followed which; trace.c decides what is traced, and says so to the encoder in terms of
 * branches; the encoder knows packets. A trace belongs to the virtual CPU's thread.
 */

#define TRACE_RANGES 4

struct encoder;

struct trace {
	const struct encoder *encoder;
	struct output output;
	uint8_t enabled;  /* by the guest, or out= */
	uint8_t on;	  /* the encoder has been told on(), and not off(): what runs now is traced */
	uint8_t full;	  /* there is no room any longer */
	uint8_t timed;	  /* with time packets */
	uint8_t compress; /* returns */
	uint8_t simple;	  /* `mode` while it is on and all code is wanted, else 0 */
	uint8_t mode;	  /* of the processor, as the encoder's on() was told last */
	/*
	 * What is traced: addresses from low on, `span` of them, or all others; of those the ranges, if there
	 * are any.
	 */
	uint64_t low, span;
	uint8_t others;
	unsigned ranges;
	struct {
		uint64_t start, end;
	} range[TRACE_RANGES];
	uint64_t space; /* address space, 0: unknown */
	uint32_t thread;
	uint64_t clock_base, clock_start,
		clock_frequency; /* time: base + (nanoseconds - start) * frequency */
	uint8_t look;		 /* bytes from one look at the clock to the next */
	uint64_t clock_step;	 /* less than that since it was told last is not told */
	uint64_t time;		 /* the last that was told */
	/* code has been replaced: the exact time must be told before it runs; set by any thread */
	_Atomic uint8_t renew;
	/*
	 * Position from which on the clock, and whether to synchronise, are looked at; 0, by any thread: now.
	 */
	_Atomic uint64_t attention;
	uint64_t nowhere;  /* what is told to nobody */
	uint64_t sync_at;  /* position from which on the encoder is to synchronise */
	uint64_t outcomes; /* not in a packet yet: the latest in bit 0, 1 is taken, below a leading 1 */
	union {
		struct pt pt;
		struct etm4 etm4;
	};
};

/* Which levels are traced: the user's code is in [start, end), all else is the kernel's. */
void trace_levels(struct trace *trace, int user, int kernel, uint64_t start, uint64_t end);

/*
 * An encoding and the code it is about. Of the packets' operations each may write ENCODER_MOST bytes at the
 * most; that there is room for them has been seen to. `on` and `off` alternate; branch, async and off are
 * only called between them.
 */
#define ENCODER_MOST 192

struct encoder {
	const char *target;	/* QEMU's name of the guest's architecture */
	uint8_t encoding;	/* KTRX_HWT_ENCODING_* */
	const void *parameters; /* what its decoder must know, as in struct ktrx_hwt_unit */
	size_t parameters_size;
	uint8_t ringing;	/* mode of the processor in which a guest rings */
	uint64_t space_bits;	/* of an address space: those that packets have */
	uint64_t longest;	/* bytes of an instruction, at most */
	uint64_t outcomes_full; /* trace->outcomes from here on hold as many as a packet does; a power of 2 */
	uint8_t sync_anywhere;	/* it may synchronise after a block whose end writes no packet */
	uint64_t memory_base;	/* physical address at which the usual machine has its memory … */
	uint64_t memory_span;	/* … and so many bytes of it in one piece */

	/* ---- Code, at translation ---- */
	/* Nonzero: the instruction is the marker before a doorbell. */
	int (*marker)(const unsigned char *bytes, size_t size);
	/* Nonzero: the instruction may fault, or stop the block in its middle in another way. */
	int (*faults)(const unsigned char *bytes, size_t size);
	/* Nonzero: what leads to this handler comes between two instructions; it is no fault of one. */
	int (*between)(uint64_t handler);
	/* Sets end, target and told from the last instruction. start, last and next stand. */
	void (*classify)(struct block *block, const unsigned char *bytes, size_t size);
	/*
	 * What all entries of a table of handlers have in common, of which this block, with that first
	 * instruction, has the looks; 0: it is no such entry. Asked after classify.
	 */
	uint64_t (*vectors)(const struct block *block, const unsigned char *bytes, size_t size);
	/* In which modes of the processor these bytes have this size. */
	uint8_t (*modes)(const unsigned char *bytes, size_t size, uint64_t address);
	/*
	 * The mode in which a block is run that can only be run in others than `mode`; 0: in none that can be
	 * traced.
	 */
	uint8_t (*mode)(uint8_t mode, uint8_t modes);

	/* ---- Packets ---- */
	/* A new stream, or one that goes on: nothing before is presumed. Nothing is written. */
	void (*start)(struct trace *trace);
	/* Synchronisation, with time and address space. If trace->on, `address` is the next instruction's. */
	void (*sync)(struct trace *trace, uint64_t address);
	/* Tracing begins before the instruction at this address. trace->mode stands. */
	void (*on)(struct trace *trace, uint64_t address);
	/* It ends: all before `address` has run, what is at it has not. */
	void (*off)(struct trace *trace, uint64_t address);
	/* It ends with the block's branch, one whose place the code does not tell, which leads to `to`. */
	void (*off_branch)(struct trace *trace, const struct block *block, uint64_t to);
	/*
	 * The block was run to its end and goes on at `to`; `taken` is 0 only if a conditional branch was
	 * not.
	 */
	void (*branch)(struct trace *trace, const struct block *block, uint64_t to, int taken);
	/* Interrupt or exception: all before `from` has run, what is at it has not; it goes on at `to`. */
	void (*async)(struct trace *trace, uint64_t from, uint64_t to);
	/* trace->time has come. `before` is what was told last; 0: it is to be told in full. */
	void (*time)(struct trace *trace, uint64_t before);
	/* All that is known is in the output. */
	void (*flush)(struct trace *trace);
	/* The output is full: flushed, marked as torn. trace->on is 0 from now on. */
	void (*overflow)(struct trace *trace);
};

/* None are gathered any longer. */
static inline void trace_begin_outcomes(struct trace *trace)
{
	trace->outcomes = 1;
	output_tell_pending(&trace->output, 1);
}

/* `count` is 0 or 1. Nonzero: no more can be gathered, the encoder's flush() is due. */
static inline int trace_gather(struct trace *trace, unsigned count, unsigned taken)
{
	trace->outcomes = trace->outcomes << count | (taken & count);
	output_tell_pending(&trace->output, trace->outcomes);
	return __builtin_expect(trace->outcomes >= trace->encoder->outcomes_full, 0);
}

/*
 * One trace, from block to block (trace.c). `address` is that of the next instruction to run.
 */

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Enables the trace, and synchronises if there is room: trace->full says if not. Nothing is traced yet. */
void trace_begin(struct trace *trace, uint64_t address);
/* Tracing begins before `address`, unless the trace is full or none of the modes can be traced. */
void trace_turn_on(struct trace *trace, uint64_t address, uint8_t modes);
/* Tracing ends: all before `address` has run. */
void trace_turn_off(struct trace *trace, uint64_t address);
/* Tracing ends with a mark in the packets: what runs next is not known, or has no room. */
void trace_break_off(struct trace *trace);
/* An interrupt or exception led from `from`, which has not run, to a block. */
void trace_interrupt(struct trace *trace, uint64_t from, const struct block *to);
/* Does what is due after some bytes of packets: looks at the clock, synchronises, publishes. */
void trace_attend(struct trace *trace, uint64_t address);
/* The same after a block whose end writes no packet. */
void trace_attend_untold(struct trace *trace, uint64_t address);
/* The rest of trace_follow(), where tracing goes on or off, or the mode changes. */
void trace_cross(struct trace *trace, const struct block *from, const struct block *to, int taken);

static inline int trace_in_ranges(const struct trace *trace, uint64_t address)
{
	for (unsigned i = 0; i < trace->ranges; i++) {
		if (address >= trace->range[i].start && address < trace->range[i].end)
			return 1;
	}
	return trace->ranges == 0;
}

/* Is the code at this address traced? */
static inline int trace_wants(const struct trace *trace, uint64_t address)
{
	return ((address - trace->low < trace->span) ^ trace->others) &&
	       (LIKELY(trace->ranges == 0) || trace_in_ranges(trace, address));
}

/* Any thread may set it to 0. */
static inline uint64_t trace_attention(const struct trace *trace)
{
	return atomic_load_explicit(&trace->attention, memory_order_relaxed);
}

/* Publishes at once: a packet must be found even if QEMU is killed while the clock is read. */
static inline void trace_written(struct trace *trace, uint64_t address)
{
	output_publish(&trace->output);
	if (UNLIKELY(output_position(&trace->output) >= trace_attention(trace)))
		trace_attend(trace, address);
}

/* A block was run to its end, and the next one begins; `taken` as branch() of the encoder has it. */
static inline void trace_follow(struct trace *trace, const struct block *from, const struct block *to,
				int taken)
{
	if (UNLIKELY(!trace->on || !trace_wants(trace, to->start) || !(to->modes & trace->mode))) {
		trace_cross(trace, from, to, taken);
		return;
	}
	if (from->told) {
		trace->encoder->branch(trace, from, to->start, taken);
		trace_written(trace, to->start);
	} else if (UNLIKELY(trace_attention(trace) == 0)) {
		trace_attend_untold(trace, to->start);
	}
}

extern const struct encoder encoder_pt;
extern const struct encoder encoder_etm4;

/*
 * The page by which a guest drives its trace unit (ktrx/hwt_unit.h). All that stands in it is the guest's,
 * and not trusted.
 */

/*
 * A store behind a marker has been done by this virtual CPU, at a physical address; what is at `next` runs
 * next.
 */
void unit_ring(unsigned cpu, uint64_t physical, uint64_t next);

/* Time in packets: the host's clock, and on from what the guest has said of its own. */

/* Nanoseconds since the plugin was loaded. */
uint64_t clock_nanoseconds(void);

/*
 * The clock of the trace says `stamp` now and makes `frequency` ticks a second; 0: nanoseconds since loading.
 */
void clock_set(struct trace *trace, uint64_t stamp, uint64_t frequency);

/* The clock of the trace says `stamp` now, or more if it does so already. */
void clock_catch_up(struct trace *trace, uint64_t stamp);

#endif
