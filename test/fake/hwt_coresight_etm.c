/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A model of a trace unit. At each write, the model checks that the manual allows it in the unit's current
 * state (Arm IHI 0064, chapters 4 and 7). The unit traces the code that a CPU runs if its address comparators
 * and its selection of exception levels allow it.
 */
#include <stdio.h>

#include "test/fake/hwt_coresight_model.h"

#define PRGCTLR	  0x004u
#define STATR	  0x00cu
#define CONFIGR	  0x010u
#define SYNCPR	  0x034u
#define CCCTLR	  0x038u
#define TRACEIDR  0x040u
#define VICTLR	  0x080u
#define VIIECTLR  0x084u
#define OSLAR	  0x300u
#define OSLSR	  0x304u
#define PDCR	  0x310u
#define ACVR	  0x400u
#define ACATR	  0x480u
#define CIDCVR	  0x600u
#define VMIDCVR	  0x640u
#define CIDCCTLR  0x680u
#define VMIDCCTLR 0x688u
#define FIFO	  24u /* number of bytes that stay in the unit until a flush */
#define BUSY	  2u  /* number of reads of TRCSTATR until it shows a change */

static uint32_t field(uint32_t value, unsigned shift, unsigned width)
{
	return value >> shift & ((1u << width) - 1);
}

static uint32_t pairs(const struct fake_component *etm)
{
	return field(etm->idr[4], 0, 4);
}

/* Returns the bits of TRCCONFIGR that are not reserved, according to the identification registers. */
static uint32_t configr_bits(const struct fake_component *etm)
{
	uint32_t bits = 1;

	bits |= field(etm->idr[0], 7, 1) << 4;
	bits |= (field(etm->idr[2], 5, 5) ? 1u : 0) << 6;
	bits |= (field(etm->idr[2], 10, 5) ? 1u : 0) << 7;
	bits |= (field(etm->idr[0], 24, 5) ? 1u : 0) << 11;
	bits |= field(etm->idr[0], 9, 1) << 12;
	bits |= (field(etm->idr[2], 29, 2) ? 1u : 0) << 15;
	return bits;
}

static uint32_t allowed(const struct fake_component *etm, uint32_t offset)
{
	uint32_t levels = field(etm->idr[3], 16, 8);

	switch (offset) {
	case PRGCTLR:
		return 1;
	case CONFIGR:
		return configr_bits(etm);
	case SYNCPR:
		return field(etm->idr[3], 25, 1) ? 0 : 0x1f;
	case CCCTLR:
		return field(etm->idr[0], 7, 1) ? 0xfff : 0;
	case TRACEIDR:
		return 0x7f;
	case VICTLR:
		return 0xf | 1u << 7 | 1u << 9 | 1u << 10 | field(etm->idr[3], 24, 1) << 11 | levels << 16;
	case VIIECTLR:
		return ((1u << pairs(etm)) - 1) | ((1u << pairs(etm)) - 1) << 16;
	case PDCR:
		return 8;
	case 0x020: /* every write to TRCEVENTCTL0R, TRCEVENTCTL1R, TRCTSCTLR and TRCVISSCTLR must write 0 */
	case 0x024:
	case 0x030:
	case 0x088:
		return 0;
	case 0x02c:
		return field(etm->idr[3], 26, 1) ? 0x30f : 0;
	default:
		return UINT32_MAX;
	}
}

static int has_register(const struct fake_component *etm, uint32_t offset)
{
	if (offset >= ACVR && offset < ACATR)
		return (offset - ACVR) / 8 < 2 * pairs(etm);
	if (offset >= ACATR && offset < 0x500)
		return (offset - ACATR) / 8 < 2 * pairs(etm);
	if (offset >= CIDCVR && offset < VMIDCVR)
		return (offset - CIDCVR) / 8 < field(etm->idr[4], 24, 4);
	if (offset >= VMIDCVR && offset < CIDCCTLR)
		return (offset - VMIDCVR) / 8 < field(etm->idr[4], 28, 4);
	if (offset == CIDCCTLR)
		return field(etm->idr[4], 24, 4) > 0;
	if (offset == VMIDCCTLR)
		return field(etm->idr[4], 28, 4) > 0;
	switch (offset) {
	case 0x020:
	case 0x024:
	case TRACEIDR:
	case CONFIGR:
	case VICTLR:
	case VIIECTLR:
	case 0x088:
		return 1;
	case 0x02c:
		return field(etm->idr[3], 26, 1);
	case 0x030:
		return field(etm->idr[0], 24, 5) != 0;
	case SYNCPR:
		return !field(etm->idr[3], 25, 1);
	case CCCTLR:
		return field(etm->idr[0], 7, 1);
	default:
		return 0;
	}
}

/* ---- Enabling and disabling the unit ----------------------------------------------------------- */

static uint64_t wide(const struct fake_component *etm, uint32_t offset)
{
	return etm->reg[offset / 4] | (uint64_t)etm->reg[offset / 4 + 1] << 32;
}

static void check_ranges(struct fake_component *etm)
{
	for (uint32_t n = 0; n < pairs(etm); n++) {
		if (!(etm->reg[VIIECTLR / 4] >> n & 1))
			continue;
		fake_coresight_rule(etm, wide(etm, ACVR + 16 * n) <= wide(etm, ACVR + 16 * n + 8),
				    "range %u begins after its end", n);
		fake_coresight_rule(etm, wide(etm, ACATR + 16 * n) == wide(etm, ACATR + 16 * n + 8),
				    "both comparators of range %u are of the same kind", n);
		fake_coresight_rule(etm, (wide(etm, ACATR + 16 * n) & ~UINT64_C(0xff0c)) == 0,
				    "reserved bits of TRCACATR are 0");
	}
}

static void check_programmed(struct fake_component *etm)
{
	static const uint32_t needed[] = { CONFIGR, 0x020, 0x024, TRACEIDR, VICTLR, VIIECTLR, 0x088 };
	uint32_t id = etm->reg[TRACEIDR / 4], sync = etm->reg[SYNCPR / 4];

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		fake_coresight_rule(etm, etm->written[needed[i] / 4], "register %03x has been programmed",
				    needed[i]);
	fake_coresight_rule(etm, etm->reg[CONFIGR / 4] & 1, "TRCCONFIGR bit 0 is 1");
	fake_coresight_rule(etm, id >= 1 && id <= 0x6f, "the trace id is not reserved");
	fake_coresight_rule(etm, etm->reg[VICTLR / 4] & 1u << 9,
			    "start/stop logic, which is not used, is started");
	fake_coresight_rule(etm, sync == 0 || (sync >= 8 && sync <= 20),
			    "the period of synchronisation exists");
	fake_coresight_rule(
		etm, !(etm->reg[CONFIGR / 4] & 0x10) || etm->reg[CCCTLR / 4] >= field(etm->idr[3], 0, 12),
		"the threshold of cycles is not too small");
	check_ranges(etm);
}

static void set_enabled(struct fake_component *etm, uint32_t value)
{
	if (value && !etm->enabled) {
		fake_coresight_rule(etm, etm->idle, "enabled when idle");
		fake_coresight_rule(etm, !etm->dirty, "a barrier is between programming and enabling");
		fake_coresight_rule(etm, etm->reg[PDCR / 4] & 8, "its power stays on");
		check_programmed(etm);
	}
	if (!value && etm->enabled)
		fake_queue_drain((uint32_t)(etm - fake_component));
	if (value != (uint32_t)etm->enabled)
		etm->delay = BUSY;
	etm->enabled = value != 0;
}

void fake_etm_write(struct fake_component *etm, uint32_t offset, uint32_t value)
{
	if (offset == OSLAR) {
		etm->os_locked = etm->stuck == FAKE_STUCK_OS_LOCK || (value & 1);
		return;
	}
	fake_coresight_rule(etm, !etm->os_locked, "register %03x is written with the OS lock set", offset);
	fake_coresight_rule(etm, (value & ~allowed(etm, offset)) == 0,
			    "reserved bits of register %03x are 0, not %08x", offset, value);
	etm->reg[offset / 4] = value;
	etm->written[offset / 4] = 1;
	if (offset == PRGCTLR) {
		set_enabled(etm, value & 1);
		return;
	}
	if (offset == PDCR)
		return;
	fake_coresight_rule(etm, has_register(etm, offset), "register %03x exists", offset);
	fake_coresight_rule(etm, !etm->enabled && etm->idle && etm->delay == 0,
			    "register %03x is written when the unit is disabled and seen idle", offset);
}

/*
 * Returns the value of TRCSTATR. After the unit was enabled or disabled, TRCSTATR shows the new state only
 * after several reads.
 */
static uint32_t status(struct fake_component *etm)
{
	int is_stuck = etm->stuck == (etm->enabled ? FAKE_STUCK_ENABLED : FAKE_STUCK_IDLE);

	if (etm->delay > 0 && !is_stuck && --etm->delay == 0)
		etm->idle = !etm->enabled;
	return (uint32_t)etm->idle | (etm->delay == 0 ? 2u : 0);
}

uint32_t fake_etm_read(struct fake_component *etm, uint32_t offset)
{
	if (offset == STATR)
		return status(etm);
	if (offset == OSLSR)
		return 8u | (etm->os_locked ? 2u : 0);
	if (offset >= 0x180 && offset < 0x198)
		return etm->idr[8 + (offset - 0x180) / 4];
	if (offset >= 0x1e0 && offset < 0x200)
		return etm->idr[(offset - 0x1e0) / 4];
	if (offset == 0xfbc)
		return etm->devarch;
	return etm->reg[offset / 4];
}

/* ---- Code that runs on the CPU ----------------------------------------------------------------- */

static int context_matches(const struct fake_component *etm, uint64_t acatr, uint32_t context)
{
	if ((acatr >> 2 & 1) && etm->reg[CIDCVR / 4] != context)
		return 0;
	return !(acatr >> 3 & 1) || etm->reg[VMIDCVR / 4] == context;
}

static int is_included(const struct fake_component *etm, uint32_t level, uint64_t address, uint32_t context)
{
	uint32_t include = etm->reg[VIIECTLR / 4] & 0xffff;

	for (uint32_t n = 0; n < pairs(etm); n++) {
		uint64_t acatr = wide(etm, ACATR + 16 * n);

		if ((include >> n & 1) && address >= wide(etm, ACVR + 16 * n) &&
		    address <= wide(etm, ACVR + 16 * n + 8) && !(acatr >> 12 >> level & 1) &&
		    context_matches(etm, acatr, context))
			return 1;
	}
	return include == 0;
}

void fake_coresight_run(uint32_t cpu, uint32_t level, uint64_t address, uint32_t context, size_t bytes)
{
	for (uint32_t i = 0; i < KTRACE_CORESIGHT_MAX && fake_component[i].is; i++) {
		struct fake_component *etm = &fake_component[i];

		if (etm->is->type != KTRACE_CORESIGHT_ETM4 || etm->is->cpu != cpu)
			continue;
		if (!etm->enabled || (etm->reg[VICTLR / 4] >> 20 >> level & 1) ||
		    !is_included(etm, level, address, context))
			return;
		while (bytes-- > 0) {
			struct fake_byte byte = { (uint8_t)etm->reg[TRACEIDR / 4],
						  fake_coresight_byte(cpu, etm->made++) };

			fake_queue_put(i, byte, FIFO);
		}
	}
}
