/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "hwt/etm4.h"

#include <string.h>

enum {
	ATOM,
	EXCEPTION,
	ADDRESS,
	TOLD,  /* time, cycles, events: they stay when what is older is cancelled */
	OTHER, /* what goes when that is */
};

static uint8_t *at(struct etm4_guard *guard, uint32_t n)
{
	return &guard->element[n % ETM4_GUARD_ROOM];
}

static bool counts(uint8_t element)
{
	return element == ATOM || element == EXCEPTION;
}

static void push(struct etm4_guard *guard, unsigned element)
{
	guard->oldest += guard->newest - guard->oldest == ETM4_GUARD_ROOM;
	*at(guard, guard->newest++) = (uint8_t)element;
	guard->depth += counts((uint8_t)element);
}

static void push_atoms(struct etm4_guard *guard, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		push(guard, ATOM);
}

/* So many of the oldest that count, and what is older. */
static void commit(struct etm4_guard *guard, uint32_t count)
{
	guard->depth -= count < guard->depth ? count : guard->depth;
	while (count && guard->oldest != guard->newest)
		count -= counts(*at(guard, guard->oldest++));
}

/* So many of the newest that count, and what is newer. */
static void cancel(struct etm4_guard *guard, uint32_t count)
{
	unsigned told = 0;

	guard->depth -= count < guard->depth ? count : guard->depth;
	while (count && guard->oldest != guard->newest) {
		uint8_t element = *at(guard, --guard->newest);

		told += element == TOLD;
		count -= counts(element);
	}
	while (told--)
		push(guard, TOLD);
}

/*
 * The newest atom was a wrong guess, and the addresses behind it with it: true if it is still there, and
 * nothing else lies on an address.
 */
static bool mispredict(struct etm4_guard *guard)
{
	bool covered = false;

	for (uint32_t n = guard->newest; n-- != guard->oldest;) {
		uint8_t element = *at(guard, n);

		if (element == ATOM)
			return true;
		if (element == EXCEPTION || (element == ADDRESS && covered))
			return false;
		if (element == ADDRESS)
			guard->newest = n;
		covered |= element != ADDRESS;
	}
	return false;
}

static bool take_back(struct etm4_guard *guard, const ocsd_etmv4_i_pkt *packet)
{
	if (packet->type != ETM4_PKT_I_MISPREDICT && packet->type != ETM4_PKT_I_CANCEL_F1_MISPRED &&
	    packet->type != ETM4_PKT_I_CANCEL_F1)
		push_atoms(guard, packet->atom.num);
	if (packet->type != ETM4_PKT_I_MISPREDICT)
		cancel(guard, packet->cancel_elements);
	return packet->type == ETM4_PKT_I_CANCEL_F1 || mispredict(guard);
}

static bool take_address(struct etm4_guard *guard, const ocsd_etmv4_i_pkt *packet)
{
	guard->wants_address = false;
	push(guard, ADDRESS);
	return packet->v_addr.val < ETM4_CODE_END;
}

static bool take_context(struct etm4_guard *guard, const ocsd_etmv4_i_pkt *packet)
{
	guard->bits_64 |= packet->context.updated;
	push(guard, OTHER);
	if (!packet->context.updated || packet->context.SF)
		return true;
	guard->unread = "AArch32 code is not decoded";
	return false;
}

/* Once an exception has its address. */
static bool take(struct etm4_guard *guard, const ocsd_etmv4_i_pkt *packet)
{
	switch (packet->type) {
	case ETM4_PKT_I_ATOM_F1:
	case ETM4_PKT_I_ATOM_F2:
	case ETM4_PKT_I_ATOM_F3:
	case ETM4_PKT_I_ATOM_F4:
	case ETM4_PKT_I_ATOM_F5:
	case ETM4_PKT_I_ATOM_F6:
		push_atoms(guard, packet->atom.num);
		return true;
	case ETM4_PKT_I_EXCEPT:
		guard->wants_address = true;
		push(guard, EXCEPTION);
		return guard->bits_64;
	case ETM4_PKT_I_TIMESTAMP:
	case ETM4_PKT_I_CCNT_F1:
	case ETM4_PKT_I_CCNT_F2:
	case ETM4_PKT_I_CCNT_F3:
	case ETM4_PKT_I_EVENT:
		push(guard, TOLD);
		return true;
	case ETM4_PKT_I_TRACE_ON:
	case ETM4_PKT_I_EXCEPT_RTN:
		push(guard, OTHER);
		return true;
	case ETM4_PKT_I_MISPREDICT:
	case ETM4_PKT_I_CANCEL_F1:
	case ETM4_PKT_I_CANCEL_F1_MISPRED:
	case ETM4_PKT_I_CANCEL_F2:
	case ETM4_PKT_I_CANCEL_F3:
		return take_back(guard, packet);
	case ETM4_PKT_I_COMMIT:
		commit(guard, packet->commit_elements);
		return true;
	case ETM4_PKT_I_ASYNC:
	case ETM4_PKT_I_TRACE_INFO:
	case ETM4_PKT_I_IGNORE:
	case ETM4_PKT_I_OVERFLOW:
	case ETM4_PKT_I_DISCARD:
		return true;
	default:
		return false;
	}
}

/* What is no packet is the library's own word for damage. */
static bool is_packet(const ocsd_etmv4_i_pkt *packet)
{
	return packet->type < ETM4_PKT_I_NOTSYNC || packet->type > ETM4_PKT_I_RESERVED_CFG;
}

static bool allows(struct etm4_guard *guard, const ocsd_etmv4_i_pkt *packet)
{
	switch (packet->type) {
	case ETM4_PKT_I_CTXT:
		return take_context(guard, packet);
	case ETM4_PKT_I_ADDR_CTXT_L_32IS0:
	case ETM4_PKT_I_ADDR_CTXT_L_64IS0:
		return take_context(guard, packet) && take_address(guard, packet);
	case ETM4_PKT_I_ADDR_MATCH:
	case ETM4_PKT_I_ADDR_S_IS0:
	case ETM4_PKT_I_ADDR_L_32IS0:
	case ETM4_PKT_I_ADDR_L_64IS0:
		return take_address(guard, packet);
	default:
		return !guard->wants_address && take(guard, packet);
	}
}

/*
 * It looks for an A-Sync, then for a Trace Info, which says how many elements there are that it has not seen.
 */
static bool begin(struct etm4_guard *guard, uint32_t speculation, const ocsd_etmv4_i_pkt *packet)
{
	guard->synced |= packet->type == ETM4_PKT_I_ASYNC;
	if (!guard->synced || packet->type != ETM4_PKT_I_TRACE_INFO)
		return true;
	guard->decodes = packet->curr_spec_depth <= speculation;
	guard->depth = guard->decodes ? packet->curr_spec_depth : 0;
	return guard->decodes;
}

bool etm4_guard_allows(struct etm4_guard *guard, uint32_t speculation, const ocsd_etmv4_i_pkt *packet)
{
	bool allowed;

	guard->unread = NULL;
	allowed = !guard->decodes     ? begin(guard, speculation, packet)
		  : is_packet(packet) ? allows(guard, packet)
				      : true;
	/* Of a Trace Info that it does not see it waits for the next. */
	if (guard->decodes && (!allowed || !is_packet(packet) || packet->type == ETM4_PKT_I_OVERFLOW ||
			       packet->type == ETM4_PKT_I_DISCARD))
		*guard = (struct etm4_guard){ .unread = guard->unread };
	else if (guard->depth > speculation && !guard->wants_address)
		commit(guard, guard->depth - speculation);
	return allowed;
}

/* How far a direct branch of A64 leads; 0: it is none. */
static int64_t distance(uint32_t word)
{
	if ((word & 0x7c000000u) == 0x14000000u) /* B, BL */
		return (int32_t)(word << 6) >> 4;
	if ((word & 0xfe000000u) == 0x54000000u || (word & 0x7e000000u) == 0x34000000u) /* B.cond, CBZ */
		return (int32_t)(word << 8) >> 11 & ~3;
	if ((word & 0x7e000000u) == 0x36000000u) /* TBZ */
		return (int32_t)(word << 13) >> 16 & ~3;
	return 0;
}

size_t etm4_guard_code(uint64_t address, const uint8_t *bytes, size_t size)
{
	size_t at = 0;

	if (size > ETM4_CODE_END - address)
		size = (size_t)(ETM4_CODE_END - address);
	for (; at + ETM4_INSTRUCTION <= size; at += ETM4_INSTRUCTION) {
		uint32_t word;

		memcpy(&word, bytes + at, sizeof(word));
		if (address + at + (uint64_t)distance(word) >= ETM4_CODE_END)
			return at;
	}
	return size;
}
