/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Prints packets of Intel PT, one per line, with their names from the Intel SDM. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pt.h"

#define TEXT 160u
/* bit IF in byte 1 of MODE.Exec: set only with event trace; libipt 2.0 does not report it */
#define MODE_EXEC_IF 0x04u

static const char *name_of(const struct pt_packet *packet)
{
	static const char *const names[] = {
		[ppt_invalid] = "INVALID", [ppt_pad] = "PAD",	      [ppt_psb] = "PSB",
		[ppt_psbend] = "PSBEND",   [ppt_fup] = "FUP",	      [ppt_tip] = "TIP",
		[ppt_tip_pge] = "TIP.PGE", [ppt_tip_pgd] = "TIP.PGD", [ppt_tnt_8] = "TNT",
		[ppt_tnt_64] = "TNT",	   [ppt_mode] = "MODE",	      [ppt_pip] = "PIP",
		[ppt_vmcs] = "VMCS",	   [ppt_cbr] = "CBR",	      [ppt_tsc] = "TSC",
		[ppt_tma] = "TMA",	   [ppt_mtc] = "MTC",	      [ppt_cyc] = "CYC",
		[ppt_stop] = "STOP",	   [ppt_ovf] = "OVF",	      [ppt_mnt] = "MNT",
		[ppt_exstop] = "EXSTOP",   [ppt_mwait] = "MWAIT",     [ppt_pwre] = "PWRE",
		[ppt_pwrx] = "PWRX",	   [ppt_ptw] = "PTW",
	};
	const size_t type = (size_t)packet->type;

	return type < sizeof(names) / sizeof(names[0]) && names[type] ? names[type] : "?";
}

/* Writes the branches of a TNT packet, the oldest first: T for taken, N for not taken. */
static void put_branches(char *text, const struct pt_packet_tnt *tnt)
{
	unsigned bits = tnt->bit_size;

	for (; bits-- > 0;)
		*text++ = tnt->payload >> bits & 1 ? 'T' : 'N';
	*text = '\0';
}

static void put_address(char *text, const struct pt_packet_ip *ip)
{
	static const unsigned digits[] = { [pt_ipc_update_16] = 4,
					   [pt_ipc_update_32] = 8,
					   [pt_ipc_sext_48] = 12,
					   [pt_ipc_update_48] = 12,
					   [pt_ipc_full] = 16 };
	const size_t form = (size_t)ip->ipc;

	if (form >= sizeof(digits) / sizeof(digits[0]) || !digits[form])
		snprintf(text, TEXT, "no address");
	else if (form == pt_ipc_sext_48)
		snprintf(text, TEXT, "%016" PRIx64, (uint64_t)((int64_t)(ip->ip << 16) >> 16));
	else
		snprintf(text, TEXT, "%s%0*" PRIx64, form == pt_ipc_full ? "" : "..", (int)digits[form],
			 ip->ip);
}

static void put_mode(char *text, const struct pt_packet_mode *mode)
{
	static const char *const modes[] = { [ptem_unknown] = "unknown",
					     [ptem_16bit] = "16 bits",
					     [ptem_32bit] = "32 bits",
					     [ptem_64bit] = "64 bits" };

	if (mode->leaf == pt_mol_exec)
		snprintf(text, TEXT, "exec %s", modes[pt_get_exec_mode(&mode->bits.exec)]);
	else
		snprintf(text, TEXT, "transaction%s%s", mode->bits.tsx.intx ? " inside" : "",
			 mode->bits.tsx.abrt ? " aborted" : "");
}

const char *pt_wake_words(bool interrupt, bool store, bool autonomous)
{
	return interrupt    ? ", woken by an interrupt"
	       : store	    ? ", woken by a store"
	       : autonomous ? ", woken by hardware"
			    : "";
}

static void put_power(char *text, const struct pt_packet *packet)
{
	switch (packet->type) {
	case ppt_mwait:
		snprintf(text, TEXT, "hints %#" PRIx32 " extensions %#" PRIx32, packet->payload.mwait.hints,
			 packet->payload.mwait.ext);
		break;
	case ppt_pwre:
		snprintf(text, TEXT, "C%u.%u%s", pt_c_state(packet->payload.pwre.state),
			 pt_c_state(packet->payload.pwre.sub_state),
			 packet->payload.pwre.hw ? " by hardware" : "");
		break;
	case ppt_pwrx:
		snprintf(text, TEXT, "C%u, at deepest C%u%s", pt_c_state(packet->payload.pwrx.last),
			 pt_c_state(packet->payload.pwrx.deepest),
			 pt_wake_words(packet->payload.pwrx.interrupt, packet->payload.pwrx.store,
				       packet->payload.pwrx.autonomous));
		break;
	default:
		snprintf(text, TEXT, "%s", packet->payload.exstop.ip ? "with address" : "");
		break;
	}
}

static void put_payload(char *text, const struct pt_packet *packet)
{
	text[0] = '\0';
	switch (packet->type) {
	case ppt_fup:
	case ppt_tip:
	case ppt_tip_pge:
	case ppt_tip_pgd:
		put_address(text, &packet->payload.ip);
		break;
	case ppt_tnt_8:
	case ppt_tnt_64:
		put_branches(text, &packet->payload.tnt);
		break;
	case ppt_mode:
		put_mode(text, &packet->payload.mode);
		break;
	case ppt_pip:
		snprintf(text, TEXT, "cr3 %" PRIx64 "%s", packet->payload.pip.cr3,
			 packet->payload.pip.nr ? " of a guest" : "");
		break;
	case ppt_vmcs:
		snprintf(text, TEXT, "%" PRIx64, packet->payload.vmcs.base);
		break;
	case ppt_cbr:
		snprintf(text, TEXT, "%u", packet->payload.cbr.ratio);
		break;
	case ppt_tsc:
		snprintf(text, TEXT, "%" PRIu64, packet->payload.tsc.tsc);
		break;
	case ppt_tma:
		snprintf(text, TEXT, "ctc %u fc %u", packet->payload.tma.ctc, packet->payload.tma.fc);
		break;
	case ppt_mtc:
		snprintf(text, TEXT, "%u", packet->payload.mtc.ctc);
		break;
	case ppt_cyc:
		snprintf(text, TEXT, "%" PRIu64, packet->payload.cyc.value);
		break;
	case ppt_mnt:
		snprintf(text, TEXT, "%" PRIx64, packet->payload.mnt.payload);
		break;
	case ppt_ptw:
		snprintf(text, TEXT, "%" PRIx64 "%s", packet->payload.ptw.payload,
			 packet->payload.ptw.ip ? " with address" : "");
		break;
	case ppt_mwait:
	case ppt_pwre:
	case ppt_pwrx:
	case ppt_exstop:
		put_power(text, packet);
		break;
	default:
		break;
	}
}

struct reading {
	struct pt_packet_decoder *decoder;
	void (*line)(void *to, uint64_t offset, const char *name, const char *text);
	void *to;
	const unsigned char *bytes;
	uint64_t end;
};

/*
 * Steps to the next PSB. Reports the bytes from `from` up to that PSB. `why`: the reason why these bytes are
 * not decoded; NULL: they end within a packet. Returns whether there is a PSB.
 */
static bool synchronise(struct reading *reading, uint64_t from, const char *name, const char *why)
{
	const bool synced = pt_pkt_sync_forward(reading->decoder) >= 0;
	uint64_t offset = reading->end;
	char text[TEXT];

	if (synced)
		pt_pkt_get_offset(reading->decoder, &offset);
	if (!why) {
		name = synced ? HWT_PACKET_DAMAGE : "GAP";
		why = "cut short";
	}
	if (offset > from)
		snprintf(text, sizeof(text), "%" PRIu64 " bytes: %s", offset - from, why);
	else
		snprintf(text, sizeof(text), "%s; the packet before it is cut short by the PSB at %" PRIu64,
			 why, offset);
	if (offset != from)
		reading->line(reading->to, from, name, text);
	return synced;
}

static void report(const struct reading *reading, uint64_t offset, const struct pt_packet *packet)
{
	struct pt_newer newer;
	char text[TEXT];

	if (pt_newer_packet(reading->bytes + offset, (size_t)(reading->end - offset), &newer)) {
		reading->line(reading->to, offset, newer.name, newer.text);
		return;
	}
	put_payload(text, packet);
	if (packet->type == ppt_mode && packet->payload.mode.leaf == pt_mol_exec &&
	    reading->bytes[offset + 1] & MODE_EXEC_IF)
		strcat(text, ", interrupts enabled");
	reading->line(reading->to, offset, name_of(packet), text);
}

static void read_all(struct reading *reading)
{
	bool synced = synchronise(reading, 0, "GAP", "before the first PSB");

	while (synced) {
		struct pt_packet packet;
		uint64_t offset;
		int status;

		if (pt_pkt_get_offset(reading->decoder, &offset) < 0)
			return;
		status = pt_pkt_next(reading->decoder, &packet, sizeof(packet));
		if (status == -pte_eos && offset >= reading->end)
			return;
		if (status < 0) {
			synced = synchronise(reading, offset, HWT_PACKET_DAMAGE,
					     status == -pte_eos ? NULL : pt_errstr(pt_errcode(status)));
			continue;
		}
		report(reading, offset, &packet);
	}
}

void pt_packets(const struct hwt_stream *stream, const struct hwt_piece *piece,
		void (*line)(void *to, uint64_t offset, const char *name, const char *text), void *to)
{
	struct reading reading = { .line = line, .to = to, .bytes = piece->bytes, .end = piece->size };
	struct pt_config config;

	hwt_pt_configure(&config, stream, piece);
	reading.decoder = pt_pkt_alloc_decoder(&config);
	if (!reading.decoder)
		return;
	read_all(&reading);
	pt_pkt_free_decoder(reading.decoder);
}
