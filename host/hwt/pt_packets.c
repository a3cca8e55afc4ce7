/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * CPU models and packets that are newer than libipt 2.0, the version in Debian 12; and the packets of a piece
 * as text.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pt.h"

/* ---- Models ---- */

enum group {
	LAKE_COVE = 1, /* since Alder Lake: CPUs with performance and efficient cores */
	RAPIDS,	       /* servers since Sapphire Rapids */
	MONT,	       /* CPUs with efficient cores only */
};

/* CPU models, grouped by the errata that they share with earlier models, as in libipt 2.3. */
static const struct {
	uint16_t family;
	uint8_t model, group;
} models[] = {
	{ 6, 0xaa, LAKE_COVE }, { 6, 0xac, LAKE_COVE }, { 6, 0xb5, LAKE_COVE }, { 6, 0xb7, LAKE_COVE },
	{ 6, 0xba, LAKE_COVE }, { 6, 0xbd, LAKE_COVE }, { 6, 0xc5, LAKE_COVE }, { 6, 0xc6, LAKE_COVE },
	{ 6, 0xcc, LAKE_COVE }, { 6, 0xd5, LAKE_COVE }, { 18, 1, LAKE_COVE },	{ 18, 3, LAKE_COVE },
	{ 6, 0xad, RAPIDS },	{ 6, 0xae, RAPIDS },	{ 6, 0xcf, RAPIDS },	{ 19, 1, RAPIDS },
	{ 6, 0xaf, MONT },	{ 6, 0xb6, MONT },	{ 6, 0xdd, MONT },
};

struct pt_cpu pt_newer_cpu(const struct ktrx_hwt_pt *pt)
{
	if (!pt->family || pt->flags & KTRX_HWT_PT_SOFTWARE)
		return (struct pt_cpu){ .vendor = pcv_unknown };
	return (struct pt_cpu){
		.vendor = pcv_intel, .family = pt->family, .model = pt->model, .stepping = pt->stepping
	};
}

bool pt_newer_errata(struct pt_errata *errata, const struct pt_cpu *cpu)
{
	unsigned group = 0;

	if (pt_cpu_errata(errata, cpu) >= 0)
		return true;
	for (size_t n = 0; n < sizeof(models) / sizeof(models[0]); n++)
		if (models[n].family == cpu->family && models[n].model == cpu->model)
			group = models[n].group;
	errata->bdm70 = errata->skd022 = group == LAKE_COVE || group == RAPIDS;
	errata->skz84 = group == RAPIDS;
	errata->apl11 = group == LAKE_COVE || group == MONT;
	return group != 0;
}

/* ---- Packets ---- */

#define HEAD_EXTENDED 0x02u
#define HEAD_CFE      0x13u /* second byte */
#define HEAD_EVD      0x53u
#define HEAD_TRIGGER  0xd9u

#define TYPE	      0x1fu
#define CFE_ADDRESS   0x80u /* a FUP that belongs to this packet follows it */
#define TRIG_ADDRESS  0x80u
#define TRIG_COUNT    0x40u /* two bytes follow: number of instructions since the trigger */
#define TRIG_MULTIPLE 0x20u

#define CFE_SIZE  4u
#define EVD_SIZE  11u
#define TRIG_SIZE 3u

/* Types of events in a CFE packet. */
static const char *const events[] = {
	[1] = "interrupt",
	[2] = "iret",
	[3] = "SMI",
	[4] = "rsm",
	[5] = "SIPI",
	[6] = "INIT",
	[7] = "VM entry",
	[8] = "VM exit",
	[9] = "VM exit by interrupt",
	[10] = "shutdown",
	[12] = "user interrupt",
	[13] = "uiret",
	[14] = "software interrupt",
	[15] = "syscall",
};

/* Types of events with a vector. */
#define VECTORS (1u << 1 | 1u << 5 | 1u << 9 | 1u << 12 | 1u << 14)

static size_t trigger_size(const unsigned char *bytes, size_t size)
{
	return TRIG_SIZE + (size > 1 && bytes[1] & TRIG_COUNT ? 2 : 0);
}

static unsigned describe_event(const unsigned char *bytes, struct pt_newer *newer)
{
	const unsigned type = bytes[2] & TYPE;
	const char *event = type < sizeof(events) / sizeof(events[0]) ? events[type] : NULL;
	char number[16] = "";

	if (VECTORS >> type & 1)
		snprintf(number, sizeof(number), " %u", bytes[3]);
	newer->name = "CFE";
	newer->has_address = (bytes[2] & CFE_ADDRESS) != 0;
	snprintf(newer->text, sizeof(newer->text), "%u %s%s%s", type, event ? event : "unknown event", number,
		 newer->has_address ? " with address" : "");
	return CFE_SIZE;
}

static unsigned describe_data(const unsigned char *bytes, struct pt_newer *newer)
{
	static const char *const kinds[] = { "CR2", "VMX qualification", "VMX reason" };
	const unsigned type = bytes[2] & TYPE;
	uint64_t value = 0;

	for (unsigned n = 8; n-- > 0;)
		value = value << 8 | bytes[3 + n];
	newer->name = "EVD";
	snprintf(newer->text, sizeof(newer->text), "%u %s %" PRIx64, type,
		 type < sizeof(kinds) / sizeof(kinds[0]) ? kinds[type] : "unknown data", value);
	return EVD_SIZE;
}

static unsigned describe_trigger(const unsigned char *bytes, struct pt_newer *newer)
{
	char count[32] = "";

	if (bytes[1] & TRIG_COUNT)
		snprintf(count, sizeof(count), ", %u instructions before", bytes[3] | bytes[4] << 8);
	newer->name = "TRIG";
	newer->has_address = (bytes[1] & TRIG_ADDRESS) != 0;
	snprintf(newer->text, sizeof(newer->text), "%02x%s%s%s", bytes[2],
		 newer->has_address ? " with address" : "", bytes[1] & TRIG_MULTIPLE ? ", several" : "",
		 count);
	return (unsigned)trigger_size(bytes, TRIG_SIZE);
}

unsigned pt_newer_packet(const unsigned char *bytes, size_t size, struct pt_newer *newer)
{
	*newer = (struct pt_newer){ 0 };
	if (size >= CFE_SIZE && bytes[0] == HEAD_EXTENDED && bytes[1] == HEAD_CFE)
		return describe_event(bytes, newer);
	if (size >= EVD_SIZE && bytes[0] == HEAD_EXTENDED && bytes[1] == HEAD_EVD)
		return describe_data(bytes, newer);
	if (size >= TRIG_SIZE && bytes[0] == HEAD_TRIGGER && size >= trigger_size(bytes, size))
		return describe_trigger(bytes, newer);
	return 0;
}

int pt_newer_read(struct pt_packet_unknown *unknown, const struct pt_config *config, const uint8_t *at,
		  void *flow)
{
	struct pt_newer newer;
	const unsigned size = pt_newer_packet(at, (size_t)(config->end - at), &newer);

	unknown->packet = at;
	if (!size || (flow && newer.has_address))
		return -pte_bad_opc;
	return (int)size;
}

/* ---- Packets as text, one per line, with their names from the Intel SDM ---- */

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
