/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Encoder of Intel PT packets (SDM volume 3, "Packet definitions"). An address is compressed relative to the
 * address written before it.
 *
 * Returns are compressed as decoders expect: decoders keep a stack of the last 64 calls since the last PSB,
 * and do not remove a call from it for a return that is reported by a TIP packet. A return is not compressed
 * if its call was made before tracing was last disabled: decoders may or may not remember the call that left
 * the traced code.
 */
#include "ktrx/hwt.h"
#include "ktrx/hwt_unit.h"
#include "trace.h"
#include "code.h"

#define HEAD_TIP 0x0du
#define HEAD_PGE 0x11u
#define HEAD_PGD 0x01u
#define HEAD_FUP 0x1du

#define LONG_BRANCHES 47 /* maximum number of branch outcomes in one packet */

#define SPACE_BITS UINT64_C(0xfffffffffffe0) /* mask of bits 51:5 */

#define MTC_SHIFT KTRX_HWT_UNIT_MTC_FREQUENCY
/*
 * maximum time between two MTC packets, in MTC periods; an MTC packet has 8 bits of the time, so 256 periods
 * or more would be ambiguous
 */
#define MTC_MOST 200u

static void put_branches_long(struct trace *trace)
{
	uint64_t packet = trace->outcomes << 16 | 0xa302u;

	output_put(&trace->output, &packet, 8);
	trace_begin_outcomes(trace);
}

/*
 * Writes the pending outcomes: if there are at most 42, in short packets of at most six outcomes each; if
 * there are more, in one long packet, which then needs fewer bytes.
 */
static void put_branches(struct trace *trace)
{
	unsigned count = 63u - (unsigned)__builtin_clzll(trace->outcomes);

	if (count > 42) {
		put_branches_long(trace);
		return;
	}
	while (count > 0) {
		unsigned some = count % 6 != 0 ? count % 6 : 6;
		uint64_t bits = trace->outcomes >> (count - some) & ((1u << some) - 1);
		uint8_t packet = (uint8_t)((bits | 1u << some) << 1);

		output_put(&trace->output, &packet, 1);
		count -= some;
	}
	trace_begin_outcomes(trace);
}

static inline void add_branch(struct trace *trace, unsigned taken)
{
	if (trace_gather(trace, 1, taken))
		put_branches_long(trace);
}

static void put_ip(struct trace *trace, unsigned head, uint64_t ip)
{
	uint64_t changed = ip ^ trace->pt.last_ip;
	struct output *output = &trace->output;
	uint8_t packet[9];

	memcpy(packet + 1, &ip, 8);
	trace->pt.last_ip = ip;
	if (changed >> 16 == 0) {
		packet[0] = (uint8_t)(head | 1u << 5);
		output_put(output, packet, 3);
	} else if (changed >> 32 == 0) {
		packet[0] = (uint8_t)(head | 2u << 5);
		output_put(output, packet, 5);
	} else if ((uint64_t)((int64_t)(ip << 16) >> 16) == ip) {
		packet[0] = (uint8_t)(head | 3u << 5);
		output_put(output, packet, 7);
	} else {
		packet[0] = (uint8_t)(head | 6u << 5);
		output_put(output, packet, 9);
	}
}

static void put_mode(struct trace *trace)
{
	uint8_t packet[2] = { 0x99, trace->mode == X86_MODE_64 ? 1 : 2 };

	output_put(&trace->output, packet, 2);
	trace->pt.mode = trace->mode;
}

/*
 * Writes a packet with a target address. If the processor mode at the target has changed, writes a MODE.Exec
 * packet first.
 */
static void put_target(struct trace *trace, unsigned head, uint64_t ip)
{
	if (trace->pt.mode != trace->mode)
		put_mode(trace);
	put_ip(trace, head, ip);
}

static void put_space(struct trace *trace)
{
	uint64_t packet = (trace->space & SPACE_BITS) >> 5 << 17 | 0x4302u;

	output_put(&trace->output, &packet, 8);
}

/* Writes a TSC packet and a TMA packet. MTC packets use the same clock as TSC packets, not divided. */
static void put_clock(struct trace *trace)
{
	uint64_t packet = trace->time << 8 | 0x19u;
	uint8_t alignment[7] = { 0x02, 0x73, (uint8_t)trace->time, (uint8_t)(trace->time >> 8) };

	output_put(&trace->output, &packet, 8);
	output_put(&trace->output, alignment, 7);
}

static void start(struct trace *trace)
{
	trace->pt = (struct pt){ 0 };
	trace->outcomes = 1;
}

static void sync(struct trace *trace, uint64_t address)
{
	static const uint8_t psb[16] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
					 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };
	static const uint8_t end[2] = { 2, 0x23 };

	put_branches(trace);
	output_put(&trace->output, psb, sizeof(psb));
	trace->pt.last_ip = 0;
	trace->pt.depth = 0;
	if (trace->timed)
		put_clock(trace);
	if (trace->space != 0)
		put_space(trace);
	if (trace->on) {
		put_mode(trace);
		put_ip(trace, HEAD_FUP, address);
	}
	output_put(&trace->output, end, sizeof(end));
}

static void on(struct trace *trace, uint64_t address)
{
	put_target(trace, HEAD_PGE, address);
}

static void off(struct trace *trace, uint64_t address)
{
	uint8_t packet = HEAD_PGD;

	put_branches(trace);
	put_ip(trace, HEAD_FUP, address);
	output_put(&trace->output, &packet, 1);
	trace->pt.depth = 0;
}

/*
 * Ends tracing with the branch at the end of the block. If this branch is a near branch, writes its target:
 * without the target, decoders could take an earlier direct branch for the branch that ends tracing. After a
 * far branch, decoders do not need the target.
 */
static void off_branch(struct trace *trace, const struct block *block, uint64_t to)
{
	uint8_t packet = HEAD_PGD;

	put_branches(trace);
	if (block->end == END_ENTER || block->end == END_LEAVE)
		output_put(&trace->output, &packet, 1);
	else
		put_ip(trace, HEAD_PGD, to);
	trace->pt.depth = 0;
}

static void call(struct pt *pt, uint64_t after)
{
	pt->top = (pt->top + 1) % PT_RETURNS;
	pt->returns[pt->top] = after;
	if (pt->depth < PT_RETURNS)
		pt->depth++;
}

/*
 * Returns nonzero if `to` is the return address of the last call that decoders remember. If so, removes this
 * call, as decoders do. Also returns 0 if returns are not compressed.
 */
static int returned(struct trace *trace, uint64_t to)
{
	struct pt *pt = &trace->pt;

	if (!trace->compress || pt->depth == 0 || pt->returns[pt->top] != to || pt->mode != trace->mode)
		return 0;
	pt->top = (pt->top - 1) % PT_RETURNS;
	pt->depth--;
	return 1;
}

static void branch(struct trace *trace, const struct block *block, uint64_t to, int taken)
{
	switch (block->end) {
	case END_CONDITIONAL:
		add_branch(trace, taken != 0);
		break;
	case END_CALL:
		call(&trace->pt, block->next);
		break;
	case END_RETURN:
		if (returned(trace, to)) {
			add_branch(trace, 1);
			break;
		}
		put_branches(trace);
		put_target(trace, HEAD_TIP, to);
		break;
	case END_INDIRECT_CALL:
		call(&trace->pt, block->next);
		put_branches(trace);
		put_target(trace, HEAD_TIP, to);
		break;
	default:
		put_branches(trace);
		put_target(trace, HEAD_TIP, to);
		break;
	}
}

static void async(struct trace *trace, uint64_t from, uint64_t to)
{
	put_branches(trace);
	put_ip(trace, HEAD_FUP, from);
	put_target(trace, HEAD_TIP, to);
}

static void write_time(struct trace *trace, uint64_t before)
{
	uint64_t periods = (trace->time >> MTC_SHIFT) - (before >> MTC_SHIFT);
	uint8_t packet[2] = { 0x59, (uint8_t)(trace->time >> MTC_SHIFT) };

	if (periods == 0)
		return;
	put_branches(trace);
	if (before != 0 && periods < MTC_MOST)
		output_put(&trace->output, packet, 2);
	else
		put_clock(trace);
}

static void flush(struct trace *trace)
{
	put_branches(trace);
}

static void overflow(struct trace *trace)
{
	static const uint8_t packet[2] = { 2, 0xf3 };

	put_branches(trace);
	output_put(&trace->output, packet, 2);
}

static const struct ktrx_hwt_pt parameters = {
	.mtc_frequency = MTC_SHIFT,
	.flags = KTRX_HWT_PT_SOFTWARE,
	.cpuid_15_eax = 1,
	.cpuid_15_ebx = 1,
};

const struct encoder encoder_pt = {
	.target = "x86_64",
	.encoding = KTRX_HWT_ENCODING_PT,
	.ringing = X86_MODE_64,
	.space_bits = SPACE_BITS,
	.longest = 15,
	.outcomes_full = UINT64_C(1) << LONG_BRANCHES,
	.sync_anywhere = 1,
	/*
	 * maximum size of the contiguous memory: the address range of devices ends at this address, and
	 * memory that does not fit below that range is above it
	 */
	.memory_span = UINT64_C(1) << 32,
	.parameters = &parameters,
	.parameters_size = sizeof(parameters),
	.marker = x86_marker,
	.faults = x86_faults,
	.between = x86_between,
	.classify = x86_classify,
	.vectors = x86_vectors,
	.modes = x86_modes,
	.mode = x86_mode,
	.start = start,
	.sync = sync,
	.on = on,
	.off = off,
	.off_branch = off_branch,
	.branch = branch,
	.async = async,
	.time = write_time,
	.flush = flush,
	.overflow = overflow,
};
