/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "test/fake/hwt_log.h"
#include "test/fake/hwt_spe.h"

#define BIT(n)		    (UINT64_C(1) << (n))
#define BITS(high, low)	    ((UINT64_MAX >> (63 - (high))) & (UINT64_MAX << (low)))
#define FIELD(v, high, low) (((v)&BITS(high, low)) >> (low))

enum place { PMSCR, PMSICR, PMSIRR, PMSFCR, PMSEVFR, PMSLATFR, PMBLIMITR, PMBPTR, PMBSR, WRITABLE };

/*
 * Encodings and bits of registers. They are copied from the manual and not from the backend, so that a test
 * detects a wrong encoding or bit in the backend.
 */
static const struct {
	const char *name;
	uint8_t crm, op2;
	uint64_t bits; /* bits of the register that are not reserved */
} registers[WRITABLE] = {
	[PMSCR] = { "PMSCR_EL1", 9, 0, BITS(1, 0) | BITS(7, 3) },
	[PMSICR] = { "PMSICR_EL1", 9, 2, BITS(31, 0) | BITS(63, 56) },
	[PMSIRR] = { "PMSIRR_EL1", 9, 3, BIT(0) | BITS(31, 8) },
	[PMSFCR] = { "PMSFCR_EL1", 9, 4, BITS(2, 0) | BITS(18, 16) },
	[PMSEVFR] = { "PMSEVFR_EL1", 9, 5, UINT64_MAX },
	[PMSLATFR] = { "PMSLATFR_EL1", 9, 6, BITS(15, 0) },
	[PMBLIMITR] = { "PMBLIMITR_EL1", 10, 0, BITS(63, 12) | BITS(2, 0) },
	[PMBPTR] = { "PMBPTR_EL1", 10, 1, UINT64_MAX },
	[PMBSR] = { "PMBSR_EL1", 10, 3, UINT64_MAX },
};

#define STATUS_COLLISION BIT(16)
#define STATUS_SERVICE	 BIT(17)
#define STATUS_LOSS	 BIT(19)
#define LIMIT_ENABLE	 BIT(0)
#define LEVELS		 BITS(1, 0)

struct fake_spe_features fake_spe_features;
struct fake_spe_operation fake_spe_operation;

static uint64_t written[WRITABLE]; /* last written values, which a read returns */
/* values of PMSCR and PMBLIMITR at the last ISB, which are the values in effect */
static uint64_t works_with[2];
static int unsynchronised; /* true: a register was written since the last ISB */
static int drained;	   /* true: no sample was taken since the last PSB CSYNC */
/* if fault_due is set: number of bytes of the next record that are written before the fault */
static uint32_t fault_after;
static int fault_due;
static struct {
	uint8_t *host;
	uint64_t size;
	uint64_t next; /* number of the next record that is written to this memory */
} memory[256];
static unsigned memories;

/* ---- Sampling ---------------------------------------------------------------------------------- */

static int samples(void)
{
	return works_with[0] & LEVELS && works_with[1] & LIMIT_ENABLE && !(written[PMBSR] & STATUS_SERVICE);
}

static uint64_t most(void)
{
	return BIT(FIELD(fake_spe_features.pmsidr, 15, 12));
}

static uint64_t align(void)
{
	return BIT(FIELD(fake_spe_features.pmbidr, 3, 0));
}

uint64_t fake_spe_slot(void)
{
	return (fake_spe_features.record_size + align() - 1) & ~(align() - 1);
}

static int passes(void)
{
	const struct fake_spe_operation *is = &fake_spe_operation;
	uint64_t filters = written[PMSFCR];

	if (!(works_with[0] & (is->user ? BIT(0) : BIT(1))))
		return 0;
	if (filters & BIT(0) && (is->events & written[PMSEVFR]) != written[PMSEVFR])
		return 0;
	if (filters & BIT(1) && !(FIELD(filters, 18, 16) & is->types))
		return 0;
	return !(filters & BIT(2)) || is->latency >= written[PMSLATFR];
}

/*
 * Returns the index in memory[] of the entry that contains the whole range, or a negative number if no entry
 * does.
 */
static int memory_of(uint64_t address, uint64_t size)
{
	for (unsigned i = 0; i < memories; i++)
		if (address >= (uintptr_t)memory[i].host &&
		    address + size <= (uintptr_t)memory[i].host + memory[i].size)
			return (int)i;
	return -1;
}

uint64_t fake_spe_next(const void *host)
{
	return memory[memory_of((uintptr_t)host, 1)].next;
}

/* Makes a record that consists of an address packet with the record's number, counter packets, and END. */
static void make_record(uint8_t *bytes, uint64_t number)
{
	uint32_t at = 9;

	bytes[0] = 0xb0;
	memcpy(bytes + 1, &number, sizeof(number));
	while (at + 4 <= fake_spe_features.record_size) {
		bytes[at] = 0x98;
		/*
		 * each byte of this payload is also the header of END, so a reader that begins here finds END
		 */
		bytes[at + 1] = bytes[at + 2] = 0x01;
		at += 3;
	}
	bytes[fake_spe_features.record_size - 1] = 0x01;
}

uint8_t fake_spe_byte(uint64_t number, uint64_t offset)
{
	uint8_t bytes[4096] = { 0 };

	make_record(bytes, number);
	return bytes[offset];
}

/*
 * Writes a record, and zeros up to the aligned address of the next record. If a fault is due, writes only the
 * bytes before the fault. Returns 0 if the address is not in memory that was given to the model.
 */
static int write_record(void)
{
	uint64_t size = fault_due ? fault_after : fake_spe_slot();
	int place = memory_of(written[PMBPTR], size);
	uint8_t bytes[4096] = { 0 };

	if (place < 0) {
		fake_log_broken("a record is written outside of lent memory");
		written[PMBSR] |= STATUS_SERVICE;
		return 0;
	}
	make_record(bytes, memory[place].next++);
	memcpy((void *)(uintptr_t)written[PMBPTR], bytes, size);
	written[PMBPTR] += size;
	if (fault_due)
		written[PMBSR] |= STATUS_SERVICE | STATUS_LOSS | UINT64_C(0x24) << 26 | 0x7;
	else if (written[PMBPTR] + most() > FIELD(written[PMBLIMITR], 63, 12) << 12)
		written[PMBSR] |= STATUS_SERVICE | 1; /* the buffer is full */
	fault_due = 0;
	return 1;
}

uint64_t fake_spe_run(uint64_t operations)
{
	uint64_t records = 0, left = operations;

	if (samples())
		drained = 0;
	while (left && samples()) {
		uint64_t count = FIELD(written[PMSICR], 31, 0);

		if (!count)
			count = FIELD(written[PMSIRR], 31, 8) << 8;
		if (left < count) {
			written[PMSICR] = count - left;
			break;
		}
		left -= count;
		written[PMSICR] = FIELD(written[PMSIRR], 31, 8) << 8;
		if (passes())
			records += (uint64_t)write_record();
	}
	fake_log("-- %llu operations, %llu records%s", (unsigned long long)operations,
		 (unsigned long long)records, fake_spe_interrupting() ? ", interrupt" : "");
	return records;
}

void fake_spe_fault(uint32_t bytes)
{
	fault_after = bytes;
	fault_due = 1;
}

void fake_spe_collide(void)
{
	written[PMBSR] |= STATUS_COLLISION;
}

int fake_spe_interrupting(void)
{
	return (written[PMBSR] & STATUS_SERVICE) != 0;
}

/* ---- Registers --------------------------------------------------------------------------------- */

static int place_of(uint32_t encoding)
{
	for (int i = 0; i < WRITABLE; i++)
		if (encoding == (3u << 14 | 9u << 7 | (uint32_t)registers[i].crm << 3 | registers[i].op2))
			return i;
	return -1;
}

/*
 * Formats the value of a register. Addresses are shown relative to the memory that the model has, because
 * they differ between runs.
 */
static const char *shown(int place, uint64_t value)
{
	static char text[48];

	for (unsigned i = 0; i < memories && (place == PMBPTR || place == PMBLIMITR); i++) {
		uint64_t from = value - (uintptr_t)memory[i].host;

		/* PMBLIMITR may be the address after the memory, with flags in its low three bits */
		if (from <= memory[i].size + 7) {
			snprintf(text, sizeof(text), "BASE + %llx", (unsigned long long)from);
			return text;
		}
	}
	snprintf(text, sizeof(text), "%llx", (unsigned long long)value);
	return text;
}

static int exists(void)
{
	return fake_spe_features.version && !(fake_spe_features.pmbidr & BIT(4));
}

static void check_read(int place)
{
	if ((place == PMBPTR || place == PMSICR) && (samples() || !drained))
		fake_log_broken("%s is read before PSB CSYNC: records may not be in memory",
				registers[place].name);
}

static uint64_t read_identity(uint32_t encoding, const char **name)
{
	switch (encoding) {
	case KTRACE_HWT_SYSREG(3, 0, 0, 5, 0):
		*name = "ID_AA64DFR0_EL1";
		return (uint64_t)fake_spe_features.version << 32 | 0x10305106;
	case KTRACE_HWT_SYSREG(3, 3, 14, 0, 0):
		*name = "CNTFRQ_EL0";
		return fake_spe_features.frequency;
	case KTRACE_HWT_SYSREG(3, 3, 14, 0, 2):
		*name = "CNTVCT_EL0";
		return 987654321;
	default:
		break;
	}
	if (fake_spe_features.version && encoding == KTRACE_HWT_SYSREG(3, 0, 9, 10, 7)) {
		*name = "PMBIDR_EL1";
		return fake_spe_features.pmbidr;
	}
	if (exists() && encoding == KTRACE_HWT_SYSREG(3, 0, 9, 9, 7)) {
		*name = "PMSIDR_EL1";
		return fake_spe_features.pmsidr;
	}
	fake_log_broken("undefined: mrs %x", encoding);
	*name = "?";
	return 0;
}

static uint64_t sysreg_read(uint32_t encoding)
{
	int place = exists() ? place_of(encoding) : -1;
	const char *name;
	uint64_t value;

	if (place < 0) {
		value = read_identity(encoding, &name);
	} else {
		check_read(place);
		value = written[place];
		name = registers[place].name;
	}
	fake_log("mrs %s = %s", name, shown(place, value));
	return value;
}

/* Checks the values of the registers at the time when sampling begins. */
static void check_begin(void)
{
	static const uint16_t least[16] = { 256, 0, 512, 768, 1024, 1536, 2048, 3072, 4096 };
	uint64_t filters = written[PMSFCR], limit = written[PMBLIMITR] & BITS(63, 12);

	if (unsynchronised)
		fake_log_broken("sampling begins before earlier writes have taken effect");
	if (!(works_with[1] & LIMIT_ENABLE) || written[PMBSR] & STATUS_SERVICE)
		fake_log_broken("sampling begins without a buffer that is on");
	if (written[PMBPTR] & (align() - 1))
		fake_log_broken("PMBPTR_EL1 is not aligned as PMBIDR_EL1 says");
	if (written[PMBPTR] + most() > limit)
		fake_log_broken("there is no room for a record");
	if (FIELD(written[PMSIRR], 31, 8) << 8 < least[FIELD(fake_spe_features.pmsidr, 11, 8)] ||
	    !FIELD(written[PMSIRR], 31, 8))
		fake_log_broken("the interval is shorter than PMSIDR_EL1 says");
	if ((filters & BIT(0) && !written[PMSEVFR]) || (filters & BIT(1) && !FIELD(filters, 18, 16)) ||
	    (filters & BIT(2) && !written[PMSLATFR]))
		fake_log_broken("a filter is enabled that passes no operation, or all");
}

/*
 * Returns the reserved bits of a register. Bits for filters that this CPU lacks, and for events that its
 * version of SPE lacks, are reserved, too.
 */
static uint64_t reserved(int place)
{
	uint64_t id = fake_spe_features.pmsidr, bits = ~registers[place].bits;
	uint64_t events = BITS(47, 32) | BITS(23, 16) | BITS(11, 8) | BIT(6) | BIT(4) | BIT(2) | BIT(0);

	if (place == PMSFCR)
		bits |= (~id & BITS(2, 0)) | (id & BIT(1) ? 0 : BITS(18, 16));
	if (place == PMSLATFR && FIELD(id, 19, 16) < 3)
		bits |= BITS(15, 12);
	if (place == PMSEVFR) {
		if (fake_spe_features.version >= 2)
			events &= ~(BIT(18) | BIT(17) | BIT(11));
		if (fake_spe_features.version >= 3)
			events &= ~BIT(6);
		bits |= events;
	}
	return bits;
}

static void check_write(int place, uint64_t value)
{
	const char *name = registers[place].name;

	if (value & reserved(place))
		fake_log_broken("%s: reserved bits %llx", name,
				(unsigned long long)(value & reserved(place)));
	if (place == PMSCR) {
		if (value & LEVELS)
			check_begin();
		return;
	}
	if (works_with[0] & LEVELS || written[PMSCR] & LEVELS)
		fake_log_broken("%s is written while it samples", name);
	else if (!drained && place >= PMBLIMITR)
		fake_log_broken("%s is written before PSB CSYNC: records may not be in memory", name);
	if (place == PMBPTR && (works_with[1] | written[PMBLIMITR]) & LIMIT_ENABLE)
		fake_log_broken("PMBPTR_EL1 is written while the buffer is on");
}

static void sysreg_write(uint32_t encoding, uint64_t value)
{
	int place = exists() ? place_of(encoding) : -1;

	if (place < 0) {
		fake_log_broken("undefined: msr %x", encoding);
		return;
	}
	fake_log("msr %s %s", registers[place].name, shown(place, value));
	check_write(place, value);
	written[place] = value;
	unsynchronised = 1;
}

static void isb(void)
{
	fake_log("isb");
	works_with[0] = written[PMSCR];
	works_with[1] = written[PMBLIMITR];
	unsynchronised = 0;
}

static void psb_csync(void)
{
	fake_log("psb csync");
	if (unsynchronised)
		fake_log_broken("PSB CSYNC before earlier writes have taken effect");
	if (!(works_with[0] & LEVELS))
		drained = 1;
}

const struct ktrace_hwt_access_sysreg fake_spe_access = {
	.read = sysreg_read,
	.write = sysreg_write,
	.isb = isb,
	.psb_csync = psb_csync,
};

void fake_spe_poke(uint32_t encoding, uint64_t value)
{
	written[place_of(encoding)] = value;
	works_with[0] = written[PMSCR];
	works_with[1] = written[PMBLIMITR];
}

uint64_t fake_spe_peek(uint32_t encoding)
{
	return written[place_of(encoding)];
}

void fake_spe_memory(void *host, uint64_t size)
{
	int place = memory_of((uintptr_t)host, size);

	if (place < 0)
		place = (int)memories++;
	memory[place].host = host;
	memory[place].size = size;
	memory[place].next = 1;
}

void fake_spe_reset(void)
{
	static const struct fake_spe_features all = {
		.version = 3,
		/* FE, FT, FL and ERnd are set; interval 2048; records of up to 64 bytes; counters of 16 bits */
		.pmsidr = 0x36627,
		.pmbidr = 0x26, /* buffer addresses are aligned to 64 bytes */
		.record_size = 60,
		.frequency = 50000000,
	};

	fake_spe_features = all;
	fake_spe_operation = (struct fake_spe_operation){ .user = 1 };
	memset(written, 0, sizeof(written));
	/* the manual does not define PMSCR's value after reset; this value enables no sampling */
	written[PMSCR] = 0x28;
	works_with[0] = works_with[1] = 0;
	unsynchronised = drained = fault_due = 0;
	memories = 0;
	fake_log_reset();
}
