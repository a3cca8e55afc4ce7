/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "hwt/etm4_guard.h"

static bool is_address(ocsd_etmv4_i_pkt_type type)
{
	switch (type) {
	case ETM4_PKT_I_ADDR_CTXT_L_32IS0:
	case ETM4_PKT_I_ADDR_CTXT_L_32IS1:
	case ETM4_PKT_I_ADDR_CTXT_L_64IS0:
	case ETM4_PKT_I_ADDR_CTXT_L_64IS1:
	case ETM4_PKT_I_ADDR_MATCH:
	case ETM4_PKT_I_ADDR_S_IS0:
	case ETM4_PKT_I_ADDR_S_IS1:
	case ETM4_PKT_I_ADDR_L_32IS0:
	case ETM4_PKT_I_ADDR_L_32IS1:
	case ETM4_PKT_I_ADDR_L_64IS0:
	case ETM4_PKT_I_ADDR_L_64IS1:
		return true;
	default:
		return false;
	}
}

static bool is_atom(ocsd_etmv4_i_pkt_type type)
{
	return type == ETM4_PKT_I_ATOM_F1 || type == ETM4_PKT_I_ATOM_F2 || type == ETM4_PKT_I_ATOM_F3 ||
	       type == ETM4_PKT_I_ATOM_F4 || type == ETM4_PKT_I_ATOM_F5 || type == ETM4_PKT_I_ATOM_F6;
}

/* A wrong guess about a branch takes back the addresses behind it, which the library does to its own harm. */
static bool takes_address_back(const ocsd_etmv4_i_pkt *packet)
{
	return packet->type == ETM4_PKT_I_MISPREDICT ||
	       (packet->type == ETM4_PKT_I_CANCEL_F1_MISPRED && packet->cancel_elements == 0);
}

/* AArch32: among its instructions are some that the library loses an exception's address behind. */
static bool is_32_bits(const ocsd_etmv4_i_pkt *packet)
{
	return (packet->type == ETM4_PKT_I_CTXT || (packet->type >= ETM4_PKT_I_ADDR_CTXT_L_32IS0 &&
						    packet->type <= ETM4_PKT_I_ADDR_CTXT_L_64IS1)) &&
	       packet->context.updated && !packet->context.SF;
}

bool etm4_guard_allows(struct etm4_guard *guard, const ocsd_etmv4_i_pkt *packet)
{
	bool wrong = guard->wants_address && packet->type != ETM4_PKT_I_CTXT && !is_address(packet->type);

	wrong |= is_32_bits(packet);
	wrong |= guard->address && takes_address_back(packet);
	if (wrong) {
		*guard = (struct etm4_guard){ 0 };
		return false;
	}
	if (packet->type == ETM4_PKT_I_EXCEPT)
		*guard = (struct etm4_guard){ .wants_address = true, .address = true };
	else if (is_address(packet->type))
		*guard = (struct etm4_guard){ .address = true };
	else if (is_atom(packet->type))
		guard->address = false;
	return true;
}
