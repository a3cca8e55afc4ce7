/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Names of the CoreSight registers, as the manuals write them. They make the logs readable. */
#include <stdio.h>

#include "test/fake/hwt_coresight_model.h"

struct name {
	uint32_t offset;
	const char *name;
};

static const struct name of_all[] = {
	{ 0xfb0, "LAR" }, { 0xfb4, "LSR" }, { 0xfbc, "DEVARCH" }, { 0xfc8, "DEVID" }
};
static const struct name of_funnels[] = { { 0x000, "FUNCTL" } };
static const struct name of_replicators[] = { { 0x000, "IDFILTER0" }, { 0x004, "IDFILTER1" } };

static const struct name of_etms[] = {
	{ 0x004, "TRCPRGCTLR" },    { 0x00c, "TRCSTATR" },	{ 0x010, "TRCCONFIGR" },
	{ 0x020, "TRCEVENTCTL0R" }, { 0x024, "TRCEVENTCTL1R" }, { 0x02c, "TRCSTALLCTLR" },
	{ 0x030, "TRCTSCTLR" },	    { 0x034, "TRCSYNCPR" },	{ 0x038, "TRCCCCTLR" },
	{ 0x040, "TRCTRACEIDR" },   { 0x080, "TRCVICTLR" },	{ 0x084, "TRCVIIECTLR" },
	{ 0x088, "TRCVISSCTLR" },   { 0x300, "TRCOSLAR" },	{ 0x304, "TRCOSLSR" },
	{ 0x310, "TRCPDCR" },	    { 0x600, "TRCCIDCVR0" },	{ 0x604, "TRCCIDCVR0+4" },
	{ 0x640, "TRCVMIDCVR0" },   { 0x644, "TRCVMIDCVR0+4" }, { 0x680, "TRCCIDCCTLR0" },
	{ 0x688, "TRCVMIDCCTLR0" },
};

static const struct name of_tmcs[] = {
	{ 0x004, "RSZ" },   { 0x00c, "STS" },	 { 0x010, "RRD" },   { 0x014, "RRP" },	 { 0x018, "RWP" },
	{ 0x01c, "TRG" },   { 0x020, "CTL" },	 { 0x028, "MODE" },  { 0x034, "BUFWM" }, { 0x038, "RRPHI" },
	{ 0x03c, "RWPHI" }, { 0x110, "AXICTL" }, { 0x118, "DBALO" }, { 0x11c, "DBAHI" }, { 0x304, "FFCR" },
};

static const char *find(const struct name *table, size_t count, uint32_t offset)
{
	for (size_t i = 0; i < count; i++)
		if (table[i].offset == offset)
			return table[i].name;
	return NULL;
}
#define FIND(table, offset) find(table, sizeof(table) / sizeof((table)[0]), offset)

static const char *fixed(uint32_t type, uint32_t offset)
{
	const char *name = FIND(of_all, offset);

	if (name)
		return name;
	switch (type) {
	case KTRACE_CORESIGHT_ETM4:
		return FIND(of_etms, offset);
	case KTRACE_CORESIGHT_FUNNEL:
		return FIND(of_funnels, offset);
	case KTRACE_CORESIGHT_REPLICATOR:
		return FIND(of_replicators, offset);
	default:
		return FIND(of_tmcs, offset);
	}
}

/* Stores the name of a register that belongs to a numbered series, such as TRCIDR3. */
static void numbered(char *to, size_t room, uint32_t offset)
{
	if (offset >= 0x180 && offset < 0x198)
		snprintf(to, room, "TRCIDR%u", 8 + (offset - 0x180) / 4);
	else if (offset >= 0x1e0 && offset < 0x200)
		snprintf(to, room, "TRCIDR%u", (offset - 0x1e0) / 4);
	else if (offset >= 0x400 && offset < 0x500)
		snprintf(to, room, "%s%u%s", offset < 0x480 ? "TRCACVR" : "TRCACATR", offset % 0x80 / 8,
			 offset % 8 ? "+4" : "");
	else
		snprintf(to, room, "%03x", offset);
}

const char *fake_coresight_name(const struct fake_component *component, uint32_t offset)
{
	static char text[24];
	const char *name = fixed(component->is->type, offset);

	if (name)
		return name;
	numbered(text, sizeof(text), offset);
	return text;
}
