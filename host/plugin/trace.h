/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Declarations shared by the parts of the trace unit: the output of packets, the encoders, the trace of a
 * CPU, the unit as a device, and its clock.
 */
#ifndef PLUGIN_TRACE_H
#define PLUGIN_TRACE_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "code.h"

/*
 * The output of packets: one or more pieces of mapped memory, which are filled one after another. After the
 * last piece, writing continues at the first piece, unless a limit is reached earlier. output_put() writes
 * bytes; output_publish() then publishes the position after the last byte written.
 */

struct output_piece {
	unsigned char *bytes;
	uint64_t size;
};

struct output {
	struct output_piece *piece;
	uint32_t pieces;
	uint32_t at;	     /* index of the piece that is being written */
	unsigned char *next; /* address at which the next byte is written */
	unsigned char *end;  /* end of the piece that is being written */
	uint64_t size;	     /* size of all pieces together, in bytes */
	uint64_t limit;	     /* limit of the position (number of bytes since the output began) */
	uint64_t base;	     /* the position that corresponds to `end` */
	uint64_t lost;
	/*
	 * Addresses at which the position and the other state of struct ktrx_hwt_ring are published. Never
	 * NULL.
	 */
	uint64_t *published, *pending, *reached;
};

/* Continues writing at this position. Requires: the pieces are set. */
void output_seek(struct output *output, uint64_t position);

/* Writes bytes that do not all fit into the rest of the current piece. */
void output_put_split(struct output *output, const void *bytes, unsigned size);

static inline uint64_t output_position(const struct output *output)
{
	return output->base - (uint64_t)(output->end - output->next);
}

/* Returns true if this number of bytes fits below the limit. */
static inline int output_fits(const struct output *output, uint64_t size)
{
	uint64_t position = output_position(output);

	return output->limit >= size && position <= output->limit - size;
}

/* Writes at most 16 bytes; their number is usually a constant. */
static inline void output_put(struct output *output, const void *bytes, unsigned size)
{
	if (__builtin_expect((uint64_t)(output->end - output->next) > size, 1)) {
		memcpy(output->next, bytes, size);
		output->next += size;
	} else {
		output_put_split(output, bytes, size);
	}
}

static inline void output_publish(struct output *output)
{
	__atomic_store_n(output->published, output_position(output), __ATOMIC_RELEASE);
}

/*
 * Publishes the address that the trace has reached; packets and branches that lead there must have been
 * published before. While packets and branches are being added, 0 is published: if QEMU is killed during that
 * time, the trace ends earlier, but is consistent.
 */
static inline void output_set_reached(struct output *output, uint64_t address)
{
	__atomic_store_n(output->reached, address, __ATOMIC_RELEASE);
}

static inline void output_set_pending(struct output *output, uint64_t branches)
{
	__atomic_store_n(output->pending, branches, __ATOMIC_RELEASE);
}

/*
 * The file of out=FILE. It contains a struct ktrx_hwt_rings, one ring for each virtual CPU, and the code that
 * the virtual CPUs ran.
 */

struct encoder;

/* Creates the file. Returns NULL on success, otherwise a description of the error, with errno set. */
const char *rings_open(const char *path, unsigned cpus, uint64_t ring_size, uint64_t code_size,
		       const struct encoder *encoder);

/* Sets up the output of a virtual CPU's ring, from position 0 on. */
void rings_output(unsigned cpu, struct output *output);

/* Returns true if rings_open() has created a file. */
int rings_are_open(void);

/*
 * Adds the bytes of a block to the file. From now on, they are valid in this address space. Bytes that do not
 * fit are counted as lost. Requires: no other thread calls this function at the same time.
 */
void rings_code(const struct block *block, uint64_t space);

/* Records the current time of the guest's clock in the file. `nonce` identifies the boot of the guest. */
void rings_clock(uint64_t stamp, uint64_t frequency, uint64_t nonce);

/*
 * Atom packets of ETMv4. An atom reports whether a branch was taken (E) or not (N). A packet contains as many
 * atoms as possible.
 */

#define ETM4_ATOMS_MOST 48u

/*
 * Makes one atom packet, of one byte, for the oldest atoms. `count`: number of atoms, 1 to ETM4_ATOMS_MOST.
 * `atoms`: the atoms, one bit each, 1 means taken; bit 0 is the latest atom. Returns how many atoms the
 * packet contains.
 */
unsigned etm4_atom_packet(uint64_t atoms, unsigned count, uint8_t *packet);

/* State of the encoder of ETMv4 packets. */

#define ETM4_ADDRESSES 3u
/* minimum size of the return stack, in calls, that every decoder has */
#define ETM4_RETURNS 15u

struct etm4 {
	/* the last addresses that were written to packets, the newest first */
	uint64_t address[ETM4_ADDRESSES];
	/* the time that was last written, in ticks; 0 after a synchronization point */
	uint64_t time;
	uint64_t space; /* if `has_context` is set: the address space that was last written */
	uint32_t thread;
	uint8_t has_context;
	uint8_t depth; /* number of used entries of returns[] */
	uint8_t top;
	uint64_t returns[ETM4_RETURNS];
};

/* State of the encoder of Intel PT packets. */

#define PT_RETURNS 64u /* size of the return stack, in calls, that a decoder must have */

struct pt {
	/* the address that was last written; the next address is compressed relative to it */
	uint64_t last_ip;
	uint32_t depth; /* number of used entries of returns[] */
	uint32_t top;
	uint8_t mode; /* the processor mode that was last written; 0: none */
	uint64_t returns[PT_RETURNS];
};

/*
 * A trace: the data that a virtual CPU writes to one output, which is the guest's buffer or a ring of
 * out=FILE. flow.c finds out which block followed which. trace.c decides what is traced, and reports branches
 * to the encoder. The encoder writes packets. A trace belongs to the thread of its virtual CPU; other threads
 * may only set `renew` and `attention`.
 */

#define TRACE_RANGES 4

struct encoder;

struct trace {
	const struct encoder *encoder;
	struct output output;
	uint8_t enabled;  /* the trace has been enabled, by the guest or by the argument out= */
	uint8_t on;	  /* tracing is on: the encoder's on() was called, and code that runs now is traced */
	uint8_t full;	  /* the output has no room left */
	uint8_t timed;	  /* true: time packets are written */
	uint8_t compress; /* true: returns are compressed */
	uint8_t simple;	  /* the same as `mode` if tracing is on and all code is traced; otherwise 0 */
	uint8_t mode;	  /* processor mode of the code that is traced now, or was traced last */
	/*
	 * The code that is traced: the `span` addresses from `low` on or, if `others` is set, all other
	 * addresses. If there are ranges, only code in one of them is traced.
	 */
	uint64_t low, span;
	uint8_t others;
	unsigned ranges;
	struct {
		uint64_t start, end;
	} range[TRACE_RANGES];
	uint64_t space; /* address space; 0: unknown */
	uint32_t thread;
	/* the trace's time is clock_base + (nanoseconds - clock_start) * clock_frequency / 10^9 */
	uint64_t clock_base, clock_start, clock_frequency;
	uint8_t look; /* number of bytes of packets between two readings of the clock */
	/* minimum number of ticks by which the time must have increased before it is written again */
	uint64_t clock_step;
	uint64_t time; /* the time that was last written, in ticks */
	/*
	 * nonzero if code has been replaced: the exact time must be written before the new code runs. Any
	 * thread may set this flag.
	 */
	_Atomic uint8_t renew;
	/*
	 * Position in the output at which the clock and the distance to the last synchronization point are
	 * checked next. Any thread may set it to 0 to have them checked soon.
	 */
	_Atomic uint64_t attention;
	/* dummy variable to which `output` publishes its state unless another variable is set */
	uint64_t nowhere;
	uint64_t sync_at; /* position in the output; from this position on, a synchronization point is due */
	/*
	 * Branch outcomes that are not in a packet yet, one bit each: 1 means taken. The latest outcome is in
	 * bit 0. The bit above the oldest outcome is 1; it shows how many outcomes there are.
	 */
	uint64_t outcomes;
	union {
		struct pt pt;
		struct etm4 etm4;
	};
};

/*
 * Sets whether user code and kernel code are traced. Code in [start, end) is user code, all other code is
 * kernel code.
 */
void trace_levels(struct trace *trace, int user, int kernel, uint64_t start, uint64_t end);

/*
 * An encoding of packets, and what it must know about the architecture of the code. Each packet operation may
 * write at most ENCODER_MOST bytes; the caller makes sure that there is room for them. branch(), async(),
 * off() and off_branch() are only called while trace->on is set, and on() only while it is not set.
 */
#define ENCODER_MOST 192

struct encoder {
	const char *target;	/* QEMU's name of the guest's architecture */
	uint8_t encoding;	/* one of KTRX_HWT_ENCODING_* */
	const void *parameters; /* parameters that the decoder needs, as in struct ktrx_hwt_unit */
	size_t parameters_size;
	uint8_t ringing;     /* processor mode in which a guest can ring doorbells */
	uint64_t space_bits; /* mask of the bits of an address space that packets contain */
	uint64_t longest;    /* size of the longest instruction, in bytes */
	/* a power of two; trace->outcomes is full if its value is at least this number */
	uint64_t outcomes_full;
	/* nonzero if a synchronization point may follow a block whose end writes no packet */
	uint8_t sync_anywhere;
	uint64_t memory_base; /* default physical address at which memory begins */
	uint64_t memory_span; /* number of bytes of memory that are contiguous from there on */

	/* ---- Code, at translation ---- */
	/* Returns nonzero if the instruction is the marker before a doorbell. */
	int (*marker)(const unsigned char *bytes, size_t size);
	/* Returns nonzero if the instruction may fault, or may stop its block early in another way. */
	int (*faults)(const unsigned char *bytes, size_t size);
	/*
	 * Returns nonzero if this handler handles interrupts, which come between two instructions. Returns 0
	 * if it handles faults, or if it is unknown what it handles.
	 */
	int (*between)(uint64_t handler);
	/*
	 * Sets the members `end`, `target` and `reported` of the block from its last instruction, which has
	 * these bytes. Requires: `start`, `last` and `next` are set.
	 */
	void (*classify)(struct block *block, const unsigned char *bytes, size_t size);
	/*
	 * If this block looks like an entry of a vector table, returns a number that is the same for all
	 * entries of that table. Otherwise returns 0. The bytes are those of the block's first instruction.
	 * Called after classify().
	 */
	uint64_t (*vectors)(const struct block *block, const unsigned char *bytes, size_t size);
	/* Returns the set of processor modes in which an instruction with these bytes has this size. */
	uint8_t (*modes)(const unsigned char *bytes, size_t size, uint64_t address);
	/*
	 * Returns the mode in which a block runs. `modes`: the set of modes in which the block can run;
	 * `mode`: a mode that is not in this set. Returns 0 if its mode cannot be traced.
	 */
	uint8_t (*mode)(uint8_t mode, uint8_t modes);

	/* ---- Packets ---- */
	/*
	 * Begins or continues a stream of packets. The next packets do not depend on earlier ones. Writes
	 * nothing.
	 */
	void (*start)(struct trace *trace);
	/*
	 * Writes a synchronization point with time and address space. If trace->on is set, `address` must be
	 * that of the next instruction.
	 */
	void (*sync)(struct trace *trace, uint64_t address);
	/* Begins tracing before the instruction at this address. Requires: trace->mode is set. */
	void (*on)(struct trace *trace, uint64_t address);
	/*
	 * Ends tracing. All instructions before `address` have run; the instruction at `address` has not run.
	 */
	void (*off)(struct trace *trace, uint64_t address);
	/*
	 * Ends tracing with the branch at the end of the block. The code alone does not state its target
	 * `to`.
	 */
	void (*off_branch)(struct trace *trace, const struct block *block, uint64_t to);
	/*
	 * Reports that the block ran to its end, and that execution continues at `to`. `taken` is 0 if the
	 * block ends with a conditional branch that was not taken, otherwise nonzero.
	 */
	void (*branch)(struct trace *trace, const struct block *block, uint64_t to, int taken);
	/*
	 * Reports an interrupt or exception. All instructions before `from` have run; the instruction at
	 * `from` has not run. Execution continues at `to`.
	 */
	void (*async)(struct trace *trace, uint64_t from, uint64_t to);
	/*
	 * Writes trace->time as the current time. `before` is the time that was written last; 0 means that
	 * the full time must be written.
	 */
	void (*time)(struct trace *trace, uint64_t before);
	/* Writes all packets that are still pending to the output. */
	void (*flush)(struct trace *trace);
	/*
	 * Called when the output is full, or when it is unknown what runs. Writes all pending packets, and
	 * then a packet that reports a loss. The caller then sets trace->on to 0.
	 */
	void (*overflow)(struct trace *trace);
};

/* Empties the set of pending outcomes. */
static inline void trace_begin_outcomes(struct trace *trace)
{
	trace->outcomes = 1;
	output_set_pending(&trace->output, 1);
}

/*
 * Adds an outcome if `count` is 1, none if it is 0. Returns nonzero if no more outcomes fit. Then the caller
 * must call the encoder's flush().
 */
static inline int trace_gather(struct trace *trace, unsigned count, unsigned taken)
{
	trace->outcomes = trace->outcomes << count | (taken & count);
	output_set_pending(&trace->output, trace->outcomes);
	return __builtin_expect(trace->outcomes >= trace->encoder->outcomes_full, 0);
}

/*
 * Functions of trace.c, which handle one trace from block to block. `address` is that of the instruction that
 * runs next.
 */

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/*
 * Enables the trace, and writes a synchronization point. If there is no room for it, sets trace->full
 * instead. Does not begin tracing yet.
 */
void trace_begin(struct trace *trace, uint64_t address);
/*
 * Begins tracing before the instruction at `address`, which can run in `modes`. Does not begin if the trace
 * is full, or the mode cannot be traced.
 */
void trace_turn_on(struct trace *trace, uint64_t address, uint8_t modes);
/* Ends tracing. All instructions before `address` have run. */
void trace_turn_off(struct trace *trace, uint64_t address);
/*
 * Ends tracing with a packet that reports a loss, because it is unknown what runs next, or because there is
 * no room.
 */
void trace_break_off(struct trace *trace);
/* Reports that an interrupt or exception came before the instruction at `from`, and led to the block `to`. */
void trace_interrupt(struct trace *trace, uint64_t from, const struct block *to);
/*
 * Called when the position trace->attention is reached. Reads the clock, writes a time packet and a
 * synchronization point if they are due, and publishes the position.
 */
void trace_attend(struct trace *trace, uint64_t address);
/* Does the same as trace_attend(). Used after a block whose end writes no packet. */
void trace_attend_unreported(struct trace *trace, uint64_t address);
/* Does the work of trace_follow() in the rare cases in which tracing begins or ends, or the mode changes. */
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

/* Returns the position at which trace_attend() is due. Any thread may set it to 0. */
static inline uint64_t trace_attention(const struct trace *trace)
{
	return atomic_load_explicit(&trace->attention, memory_order_relaxed);
}

/*
 * Called after packets were written. Publishes them before the clock is read, so that they are in the file if
 * QEMU is killed while the clock is read.
 */
static inline void trace_written(struct trace *trace, uint64_t address)
{
	output_publish(&trace->output);
	if (UNLIKELY(output_position(&trace->output) >= trace_attention(trace)))
		trace_attend(trace, address);
}

/*
 * Reports that the block `from` ran to its end, and that the block `to` begins. `taken` is as for the
 * encoder's branch().
 */
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
 * Handles a store to a doorbell, after a marker. `cpu`: the virtual CPU that executed the store. `physical`:
 * physical address of the store. `next`: address of the instruction that the CPU runs next.
 */
void unit_ring(unsigned cpu, uint64_t physical, uint64_t next);

/*
 * The time in packets is the host's clock, adjusted to the time that the guest has reported of its own clock.
 */

/*
 * Uses another clock instead of the host's. It counts nanoseconds, and begins shortly before the first code
 * runs.
 */
void clock_use(uint64_t (*clock)(void));

/* Returns the number of nanoseconds since the plugin was loaded. */
uint64_t clock_nanoseconds(void);

/*
 * Sets the trace's clock: it is `stamp` now, and has `frequency` ticks per second. If `frequency` is 0, the
 * clock counts nanoseconds since the plugin was loaded.
 */
void clock_set(struct trace *trace, uint64_t stamp, uint64_t frequency);

/* Advances the trace's clock to `stamp`. Has no effect if the clock is already past it. */
void clock_catch_up(struct trace *trace, uint64_t stamp);

#endif
