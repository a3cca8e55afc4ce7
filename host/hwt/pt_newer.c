/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* CPU models and packets that are newer than libipt 2.0, the version in Debian 12. */
#include <inttypes.h>
#include <stdio.h>

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
