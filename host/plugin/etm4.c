/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Encoder of ETMv4 packets. The first part makes atom packets of formats 1 to 6 (ETMv4 specification, 6.4.8
 * and the following sections), one byte each.
 */
#include "trace.h"

#include "code.h"
#include "ktrx/hwt.h"
#include "ktrx/hwt_unit.h"

/*
 * Packets of formats 5 and 4, each with the atoms that it contains. The oldest atom is the highest bit of
 * `atoms`.
 */
static const struct {
	uint8_t atoms, count, packet;
} patterns[] = {
	{ 0x00, 5, 0xd5 }, { 0x0a, 5, 0xd6 }, { 0x15, 5, 0xd7 }, { 0x0f, 5, 0xf5 },
	{ 0x07, 4, 0xdc }, { 0x00, 4, 0xdd }, { 0x05, 4, 0xde }, { 0x0a, 4, 0xdf },
};

/*
 * Makes a packet of format 6 if this is possible: such a packet contains 4 to 24 atoms, all of them E, except
 * that the last one may be N. Returns the number of atoms in the packet, or 0 if this format is not possible.
 */
static unsigned long_run(uint64_t oldest_first, unsigned count, uint8_t *packet)
{
	unsigned run = (unsigned)__builtin_clzll(~oldest_first);

	if (run < 3 || count < 4)
		return 0;
	if (run >= 24) {
		*packet = 0xd4;
		return 24;
	}
	if (run == count) {
		*packet = (uint8_t)(0xc0 + run - 4);
		return run;
	}
	*packet = (uint8_t)(0xe0 + run - 3);
	return run + 1;
}

/*
 * Makes a packet of format 3, 2 or 1, which contains 3, 2 or 1 atoms. The oldest atom is in bit 0. Returns
 * the number of atoms in the packet.
 */
static unsigned short_run(uint64_t oldest_first, unsigned count, uint8_t *packet)
{
	static const uint8_t heads[] = { 0, 0xf6, 0xd8, 0xf8 };
	unsigned some = count < 3 ? count : 3;

	*packet = heads[some];
	for (unsigned i = 0; i < some; i++)
		*packet |= (uint8_t)((oldest_first >> (63 - i) & 1) << i);
	return some;
}

unsigned etm4_atom_packet(uint64_t atoms, unsigned count, uint8_t *packet)
{
	uint64_t oldest_first = atoms << (64 - count);
	unsigned some = long_run(oldest_first, count, packet);

	if (some != 0)
		return some;
	for (unsigned i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		if (count >= patterns[i].count &&
		    oldest_first >> (64 - patterns[i].count) == patterns[i].atoms) {
			*packet = patterns[i].packet;
			return patterns[i].count;
		}
	}
	return short_run(oldest_first, count, packet);
}

/*
 * ETMv4 packets ("Embedded Trace Macrocell Architecture Specification ETMv4", chapter 6). This trace unit has
 * no speculation, no cycle counts and no data trace. It does not know the exception level, and always reports
 * non-secure EL1. When tracing ends, it reports a debug halt exception before the next instruction, as the
 * trace unit of a processor does when the processor is halted. The type of an exception is derived from the
 * address of its vector.
 */

/* Types of exception packets. */
#define EXCEPTION_HALT	 1u
#define EXCEPTION_CALL	 2u
#define EXCEPTION_TRAP	 3u
#define EXCEPTION_SYSTEM 4u
#define EXCEPTION_IRQ	 14u
#define EXCEPTION_FIQ	 15u

#define CONTEXT_INFORMATION 0xf1u /* a context with a context id and a VMID: non-secure, 64-bit, EL1 */

static void put_atoms(struct trace *trace)
{
	unsigned count = 63u - (unsigned)__builtin_clzll(trace->outcomes);

	while (count > 0) {
		uint8_t packet;

		count -= etm4_atom_packet(trace->outcomes, count, &packet);
		output_put(&trace->output, &packet, 1);
	}
	trace_begin_outcomes(trace);
}

static inline void add_atom(struct trace *trace, unsigned taken)
{
	if (trace_gather(trace, 1, taken))
		put_atoms(trace);
}

static void put_head(struct trace *trace, uint8_t head)
{
	output_put(&trace->output, &head, 1);
}

static void remember_address(struct etm4 *etm4, uint64_t address)
{
	etm4->address[2] = etm4->address[1];
	etm4->address[1] = etm4->address[0];
	etm4->address[0] = address;
}

/*
 * Packs bits 63:2 of an address into eight bytes: 7 bits in each of the first two, 8 bits in each of the
 * others.
 */
static void pack_address(uint8_t bytes[8], uint64_t address)
{
	memcpy(bytes, &address, 8);
	bytes[0] = address >> 2 & 0x7f;
	bytes[1] = address >> 9 & 0x7f;
}

static void put_address(struct trace *trace, uint64_t address)
{
	struct etm4 *etm4 = &trace->etm4;
	struct output *output = &trace->output;
	uint64_t changed = address ^ etm4->address[0];
	uint8_t packet[9];

	for (uint8_t i = 0; i < ETM4_ADDRESSES; i++) {
		if (etm4->address[i] == address) {
			put_head(trace, 0x90 + i);
			remember_address(etm4, address);
			return;
		}
	}
	remember_address(etm4, address);
	pack_address(packet + 1, address);
	if (changed >> 9 == 0) {
		packet[0] = 0x95;
		output_put(output, packet, 2);
	} else if (changed >> 17 == 0) {
		packet[0] = 0x95;
		packet[1] |= 0x80;
		packet[2] = (uint8_t)(address >> 9);
		output_put(output, packet, 3);
	} else if (changed >> 32 == 0) {
		packet[0] = 0x9a;
		output_put(output, packet, 5);
	} else {
		packet[0] = 0x9d;
		output_put(output, packet, 9);
	}
}

/*
 * Writes an address and the context. If the context is unchanged, writes a short packet that reports this,
 * without the context.
 */
static void put_place(struct trace *trace, uint64_t address)
{
	struct etm4 *etm4 = &trace->etm4;
	uint32_t page = (uint32_t)(trace->space >> KTRX_HWT_UNIT_SPACE_SHIFT);
	uint8_t packet[18] = { 0x85 };

	if (etm4->has_context && etm4->space == trace->space && etm4->thread == trace->thread) {
		put_head(trace, 0x80);
		put_address(trace, address);
		return;
	}
	pack_address(packet + 1, address);
	packet[9] = CONTEXT_INFORMATION;
	memcpy(packet + 10, &trace->thread, 4);
	memcpy(packet + 14, &page, 4);
	output_put(&trace->output, packet, 9);
	output_put(&trace->output, packet + 9, 9);
	remember_address(etm4, address);
	etm4->space = trace->space;
	etm4->thread = trace->thread;
	etm4->has_context = 1;
}

/*
 * Writes a timestamp, with seven bits in each byte. Only the bytes up to the highest bit that has changed are
 * written, or all 64 bits if six bytes are not enough.
 */
static void put_time(struct trace *trace)
{
	uint64_t rest = trace->time, changed = trace->time ^ trace->etm4.time;
	unsigned bytes = 1;
	uint8_t packet[10] = { 0x02 };

	while (bytes < 9 && changed >> 7 * bytes != 0)
		bytes++;
	bytes = bytes > 6 ? 9 : bytes;
	for (unsigned i = 1; i <= bytes; i++) {
		packet[i] = (uint8_t)(rest & 0x7f) | (i < bytes ? 0x80 : 0);
		rest >>= 7;
	}
	if (bytes == 9)
		packet[9] = (uint8_t)(trace->time >> 56);
	output_put(&trace->output, packet, bytes + 1);
	trace->etm4.time = trace->time;
}

static void put_exception(struct trace *trace, unsigned type, uint64_t address)
{
	uint8_t packet[2] = { 0x06, (uint8_t)(type << 1 | 1) };

	put_atoms(trace);
	output_put(&trace->output, packet, 2);
	put_address(trace, address);
}

static unsigned exception_type(uint64_t vector)
{
	static const uint8_t types[] = { EXCEPTION_TRAP, EXCEPTION_IRQ, EXCEPTION_FIQ, EXCEPTION_SYSTEM };

	return types[a64_vector(vector)];
}

static void start(struct trace *trace)
{
	trace->etm4 = (struct etm4){ 0 };
	trace->outcomes = 1;
}

static void sync(struct trace *trace, uint64_t address)
{
	/* an A-Sync packet, and a Trace Info packet that announces no cycle counts and no speculation */
	static const uint8_t head[15] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x01, 0x01, 0x00 };

	put_atoms(trace);
	output_put(&trace->output, head, sizeof(head));
	start(trace);
	if (trace->timed)
		put_time(trace);
	if (trace->on)
		put_place(trace, address);
}

static void on(struct trace *trace, uint64_t address)
{
	put_head(trace, 0x04);
	trace->etm4.depth = 0;
	put_place(trace, address);
}

static void off(struct trace *trace, uint64_t address)
{
	put_exception(trace, EXCEPTION_HALT, address);
}

static void call(struct etm4 *etm4, uint64_t after)
{
	etm4->top = (uint8_t)((etm4->top + 1) % ETM4_RETURNS);
	etm4->returns[etm4->top] = after;
	if (etm4->depth < ETM4_RETURNS)
		etm4->depth++;
}

/*
 * Returns nonzero if `to` is the return address of the last call on the return stack. If so, removes this
 * call, as decoders do. Also returns 0 if returns are not compressed.
 */
static int returned(struct trace *trace, uint64_t to)
{
	struct etm4 *etm4 = &trace->etm4;

	if (!trace->compress || etm4->depth == 0 || etm4->returns[etm4->top] != to)
		return 0;
	etm4->top = (uint8_t)((etm4->top + ETM4_RETURNS - 1) % ETM4_RETURNS);
	etm4->depth--;
	return 1;
}

/*
 * Reports a system call as an exception. If `to` is the next instruction, reports nothing, because QEMU
 * itself has executed the call (PSCI, semihosting).
 */
static void enter(struct trace *trace, const struct block *block, uint64_t to)
{
	unsigned type = exception_type(to);

	if (to == block->next)
		return;
	if (type == EXCEPTION_TRAP)
		put_exception(trace, EXCEPTION_CALL, block->next);
	else
		put_exception(trace, type, block->last);
	put_address(trace, to);
}

static void indirect(struct trace *trace, const struct block *block, uint64_t to)
{
	add_atom(trace, 1);
	if (block->end == END_INDIRECT_CALL)
		call(&trace->etm4, block->next);
	else if (block->end != END_LEAVE && returned(trace, to))
		return;
	put_atoms(trace);
	if (block->end == END_LEAVE)
		put_head(trace, 0x07);
	put_address(trace, to);
}

static void branch(struct trace *trace, const struct block *block, uint64_t to, int taken)
{
	switch (block->end) {
	case END_CONDITIONAL:
		add_atom(trace, taken != 0);
		break;
	case END_CALL:
		add_atom(trace, 1);
		call(&trace->etm4, block->next);
		break;
	case END_INDIRECT:
	case END_INDIRECT_CALL:
	case END_RETURN:
	case END_LEAVE:
		indirect(trace, block, to);
		break;
	case END_ENTER:
		enter(trace, block, to);
		break;
	default:
		add_atom(trace, 1);
		break;
	}
}

/*
 * Ends tracing with the branch at the end of the block. If this branch is a system call or a return from an
 * exception, its target is not reported.
 */
static void off_branch(struct trace *trace, const struct block *block, uint64_t to)
{
	if (block->end == END_ENTER) {
		put_exception(trace, EXCEPTION_CALL, block->next);
	} else if (block->end == END_LEAVE) {
		add_atom(trace, 1);
		put_atoms(trace);
	} else {
		indirect(trace, block, to);
		put_exception(trace, EXCEPTION_HALT, to);
	}
}

static void async(struct trace *trace, uint64_t from, uint64_t to)
{
	put_exception(trace, exception_type(to), from);
	put_address(trace, to);
}

static void write_time(struct trace *trace, uint64_t before)
{
	(void)before;
	put_atoms(trace);
	put_time(trace);
}

static void flush(struct trace *trace)
{
	put_atoms(trace);
}

static void overflow(struct trace *trace)
{
	static const uint8_t packet[2] = { 0x00, 0x05 };

	put_atoms(trace);
	output_put(&trace->output, packet, 2);
}

/*
 * Registers of the unit, from which decoders learn the form of the packets: the packets contain context ids,
 * VMIDs and timestamps, and the return stack is used. Addresses and timestamps have up to 64 bits in packets,
 * the other values 32.
 */
static const struct ktrx_hwt_etm4 parameters = {
	.configr = 1u << 6 | 1u << 7 | 1u << 11 | 1u << 12,
	.traceidr = 1,
	.idr0 = 1u | 1u << 9 | 8u << 24 | 1u << 29,
	.idr1 = 4u << 8 | 3u << 4,
	.idr2 = 8u | 4u << 5 | 4u << 10,
};

const struct encoder encoder_etm4 = {
	.target = "aarch64",
	.encoding = KTRX_HWT_ENCODING_ETM4,
	.parameters = &parameters,
	.parameters_size = sizeof(parameters),
	.outcomes_full = UINT64_C(1) << ETM4_ATOMS_MOST,
	.space_bits = UINT64_C(0xffffffff) << KTRX_HWT_UNIT_SPACE_SHIFT,
	.memory_base = 0x40000000,
	.memory_span = UINT64_MAX,
	.marker = a64_marker,
	.faults = a64_faults,
	.between = a64_between,
	.classify = a64_classify,
	.vectors = a64_vectors,
	.ringing = A64_MODE,
	.modes = a64_modes,
	.mode = a64_mode,
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
