/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Checks ETMv4 packets before OpenCSD's decoder gets them; etm4.h describes the rules. */
#include "hwt/etm4.h"

#include <string.h>

enum {
	ATOM,
	EXCEPTION,
	START,	/* start of a transaction (ETE only) */
	SOURCE, /* source address (ETE only) */
	ADDRESS,
	/* a timestamp, cycle count or event; it stays in the queue when older elements are cancelled */
	MARK,
	OTHER, /* any other element; it is cancelled together with older elements */
};

#define IDR0_COMMTRANS	       (1u << 30)
#define LIBRARY_OF_2025	       0x010800u
#define HEADER_INSTRUMENTATION 0x09u

static uint8_t *at(struct etm4_guard *guard, uint32_t n)
{
	return &guard->element[n % ETM4_GUARD_ROOM];
}

static bool counts(uint8_t element)
{
	return element == ATOM || element == EXCEPTION || element == START || element == SOURCE;
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

/* Removes the oldest `count` P0 elements, and all elements before them. */
static void commit(struct etm4_guard *guard, uint32_t count)
{
	guard->depth -= count < guard->depth ? count : guard->depth;
	while (count && guard->oldest != guard->newest)
		count -= counts(*at(guard, guard->oldest++));
}

/*
 * Removes the newest `count` P0 elements, and all elements after the oldest of them except marks. Returns
 * false if a source address is among them, because OpenCSD cancels a source address without counting it.
 */
static bool cancel(struct etm4_guard *guard, uint32_t count)
{
	unsigned marks = 0;
	bool counted = true;

	guard->depth -= count < guard->depth ? count : guard->depth;
	while (count && guard->oldest != guard->newest) {
		uint8_t element = *at(guard, --guard->newest);

		marks += element == MARK;
		counted &= element != SOURCE;
		count -= counts(element);
	}
	while (marks--)
		push(guard, MARK);
	return counted;
}

/*
 * Handles a mispredict packet, which cancels the outcome of the newest atom and the addresses after that
 * atom. Returns true if this atom is still in the queue, no exception comes after it, and the addresses after
 * it are the newest elements.
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
	if (packet->type != ETM4_PKT_I_MISPREDICT && !cancel(guard, packet->cancel_elements)) {
		guard->unread = "a cancelled source address is not decoded";
		return false;
	}
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

/*
 * Checks packets that only an ETE writes. If TRCIDR0.COMMTRANS is 0, the start of a transaction is committed
 * and cancelled as an atom is.
 */
static bool take_ete(struct etm4_guard *guard, const struct ktrx_hwt_etm4 *unit,
		     const ocsd_etmv4_i_pkt *packet)
{
	switch (packet->type) {
	case ETE_PKT_I_SRC_ADDR_MATCH:
	case ETE_PKT_I_SRC_ADDR_S_IS0:
	case ETE_PKT_I_SRC_ADDR_L_32IS0:
	case ETE_PKT_I_SRC_ADDR_L_64IS0:
		push(guard, SOURCE);
		return guard->bits_64 && packet->v_addr.val < ETM4_CODE_END;
	case ETE_PKT_I_TRANS_ST:
		push(guard, unit->idr0 & IDR0_COMMTRANS ? OTHER : START);
		return true;
	case ETE_PKT_I_TRANS_COMMIT:
	case ETE_PKT_I_TRANS_FAIL:
		push(guard, OTHER);
		return true;
	case ETE_PKT_I_PE_RESET:
		guard->unread = "a reset of the processor is not decoded";
		return false;
	default:
		return false;
	}
}

/* Checks a packet of a type that must not come between an exception and its address. */
static bool take(struct etm4_guard *guard, const struct ktrx_hwt_etm4 *unit, const ocsd_etmv4_i_pkt *packet)
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
	case ETE_PKT_I_TS_MARKER:
		push(guard, MARK);
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
		return etm4_is_ete(unit) && take_ete(guard, unit, packet);
	}
}

/* Returns false if OpenCSD reports damage instead of a packet. */
static bool is_packet(const ocsd_etmv4_i_pkt *packet)
{
	return packet->type < ETM4_PKT_I_NOTSYNC || packet->type > ETM4_PKT_I_RESERVED_CFG;
}

/*
 * Checks whether damage that OpenCSD reports is real: an ETE's instrumentation packet is valid, but OpenCSD
 * reports it as a reserved header.
 */
static bool allows_damage(struct etm4_guard *guard, const struct ktrx_hwt_etm4 *unit,
			  const ocsd_etmv4_i_pkt *packet)
{
	if (!etm4_is_ete(unit) || packet->type != ETM4_PKT_I_RESERVED ||
	    packet->err_hdr_val != HEADER_INSTRUMENTATION)
		return true;
	guard->unread = "instrumentation (TRCIT) is not decoded";
	return false;
}

static bool allows(struct etm4_guard *guard, const struct ktrx_hwt_etm4 *unit, const ocsd_etmv4_i_pkt *packet)
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
		return !guard->wants_address && take(guard, unit, packet);
	}
}

/*
 * Handles packets after an A-Sync, up to the first Trace Info, which contains the number of uncommitted
 * elements.
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

bool etm4_is_ete(const struct ktrx_hwt_etm4 *unit)
{
	return KTRX_HWT_ETM4_MAJOR(unit->idr1) == KTRX_HWT_ETM4_MAJOR_ETE;
}

bool etm4_guard_allows(struct etm4_guard *guard, const struct ktrx_hwt_etm4 *unit,
		       const ocsd_etmv4_i_pkt *packet)
{
	const uint32_t speculation = unit->idr8;
	bool allowed;

	guard->unread = NULL;
	allowed = !guard->decodes     ? begin(guard, speculation, packet)
		  : is_packet(packet) ? allows(guard, unit, packet)
				      : allows_damage(guard, unit, packet);
	/* OpenCSD resynchronizes, too, and decodes nothing before the next Trace Info */
	if (guard->decodes && (!allowed || !is_packet(packet) || packet->type == ETM4_PKT_I_OVERFLOW ||
			       packet->type == ETM4_PKT_I_DISCARD))
		*guard = (struct etm4_guard){ .unread = guard->unread };
	else if (guard->depth > speculation && !guard->wants_address)
		commit(guard, guard->depth - speculation);
	return allowed;
}

int64_t etm4_guard_distance(uint32_t word)
{
	if ((word & 0x7c000000u) == 0x14000000u) /* B, BL */
		return (int32_t)(word << 6) >> 4;
	if ((word & 0xfe000000u) == 0x54000000u || (word & 0x7e000000u) == 0x34000000u) /* B.cond, CBZ */
		return (int32_t)(word << 8) >> 11 & ~3;
	if ((word & 0x7e000000u) == 0x36000000u) /* TBZ */
		return (int32_t)(word << 13) >> 16 & ~3;
	return 0;
}

/* Branches of FEAT_CMPBR, FEAT_PAuth_LR and FEAT_TEXIT (2024 and 2025), supported by OpenCSD since 1.8. */
bool etm4_guard_too_new(uint32_t version, uint32_t instruction)
{
	static const struct {
		uint32_t mask, value;
	} branches[] = {
		{ 0xff004000, 0x74000000 }, /* CB<cc> with 32-bit registers, CBB<cc>, CBH<cc> */
		{ 0xff00c000, 0x7400c000 }, { 0xff00c000, 0xf4000000 },
		{ 0x7f004000, 0x75000000 }, /* CB<cc> with an immediate */
		{ 0xffc0001f, 0x5500001f }, /* RETAASPPC, RETABSPPC */
		{ 0xfffffbff, 0xd6ff03e0 }, /* TEXIT */
	};

	/* quick check that all of these branches pass, but few other instructions */
	if ((instruction & 0x54000000) != 0x54000000 || version >= LIBRARY_OF_2025)
		return false;
	for (size_t i = 0; i < sizeof(branches) / sizeof(branches[0]); i++)
		if ((instruction & branches[i].mask) == branches[i].value)
			return true;
	/* RETAASPPC and RETABSPPC with a register; with XZR, the instructions are RETAA and RETAB */
	return (instruction & 0xfffffbe0) == 0xd65f0be0 && (instruction & 31) != 31;
}

size_t etm4_guard_code(uint64_t address, const uint8_t *bytes, size_t size)
{
	const uint32_t version = ocsd_get_version();
	size_t at = 0;

	if (size > ETM4_CODE_END - address)
		size = (size_t)(ETM4_CODE_END - address);
	for (; at + ETM4_INSTRUCTION <= size; at += ETM4_INSTRUCTION) {
		uint32_t word;

		memcpy(&word, bytes + at, sizeof(word));
		if (address + at + (uint64_t)etm4_guard_distance(word) >= ETM4_CODE_END ||
		    etm4_guard_too_new(version, word))
			return at;
	}
	return size;
}
