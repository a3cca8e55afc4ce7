/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "test/fake/hwt_log.h"
#include "test/fake/hwt_pt.h"

/*
 * Register numbers. They are copied from the manual and not from the backend, so that a test detects a wrong
 * number in the backend.
 */
enum {
	TIME_STAMP_COUNTER = 0x10,
	PLATFORM_INFO = 0xce,
	PERF_GLOBAL_STATUS = 0x38e,
	PERF_GLOBAL_STATUS_RESET = 0x390,
	RTIT_OUTPUT_BASE = 0x560,
	RTIT_OUTPUT_MASK_PTRS = 0x561,
	RTIT_CTL = 0x570,
	RTIT_STATUS = 0x571,
	RTIT_CR3_MATCH = 0x572,
	RTIT_ADDR0_A = 0x580,
	RTIT_ADDR3_B = 0x587,
};

#define BIT(n)		    (UINT64_C(1) << (n))
#define BITS(high, low)	    ((UINT64_MAX >> (63 - (high))) & (UINT64_MAX << (low)))
#define FIELD(v, high, low) (((v)&BITS(high, low)) >> (low))
#define TRACE_EN	    BIT(0)
#define TOPA_PMI	    BIT(55)
#define STATUS_ERROR	    BIT(4)
#define STATUS_STOPPED	    BIT(5)

struct fake_pt_features fake_pt_features;
struct fake_pt_place fake_pt_place;

static struct {
	uint64_t physical, size;
	uint8_t *host;
} memory[256];
static unsigned memories;

/* For each table: number of bytes written so far to the regions that the table describes. */
static struct {
	uint64_t table, written;
} output[64];
static unsigned outputs;

static uint64_t ctl, status, output_base, place, cr3_match, range[8], perf_status, tsc;
/*
 * The next byte is written to the region of table entry `entry`, at `offset`. `place` is the value of the
 * register IA32_RTIT_OUTPUT_MASK_PTRS, which shows both; the model updates it only when TraceEn is cleared.
 */
static uint64_t entry, offset;
static int fenced; /* a fence was executed after TraceEn was cleared */
static int interrupt_raised;
static unsigned psbs;

/* ---- Memory given to the model ----------------------------------------------------------------- */

void fake_pt_memory(uint64_t physical, void *host, uint64_t size)
{
	unsigned i = 0;

	while (i < memories && memory[i].physical != physical)
		i++;
	memories += i == memories;
	memory[i].physical = physical;
	memory[i].host = host;
	memory[i].size = size;
}

static uint8_t *at(uint64_t physical, uint64_t size)
{
	for (unsigned i = 0; i < memories; i++)
		if (physical >= memory[i].physical && physical + size <= memory[i].physical + memory[i].size)
			return memory[i].host + (physical - memory[i].physical);
	return NULL;
}

uint8_t fake_pt_byte(uint64_t table, uint64_t position)
{
	return (uint8_t)(((table >> 12) + position * 2654435761u) >> 16);
}

static uint64_t *written(void)
{
	for (unsigned i = 0; i < outputs; i++)
		if (output[i].table == output_base)
			return &output[i].written;
	output[outputs].table = output_base;
	output[outputs].written = 0;
	return &output[outputs++].written;
}

/* ---- The table of regions ---------------------------------------------------------------------- */

static void operational_error(const char *why)
{
	fake_log_broken("operational error: %s", why);
	status |= STATUS_ERROR;
}

static uint64_t region_size(uint64_t word)
{
	return UINT64_C(4096) << FIELD(word, 9, 6);
}

/*
 * Follows END entries, if any, then returns the table entry of the current region; returns 0 after an
 * operational error.
 */
static uint64_t current(void)
{
	uint64_t word = 0;
	uint8_t *host;

	for (int jumps = 0; jumps < 2; jumps++) {
		host = at(output_base + entry * 8, 8);
		if (!host) {
			operational_error("no table there");
			return 0;
		}
		memcpy(&word, host, 8);
		if (word &
		    (BIT(1) | BIT(3) | BIT(5) | BITS(11, 10) | BITS(63, fake_pt_features.physical_bits))) {
			operational_error("reserved bit of an entry");
			return 0;
		}
		if (!(word & BIT(0)))
			break;
		if (word & (BIT(2) | BIT(4)) || entry == 0) {
			operational_error("END with INT or STOP, or first of its table");
			return 0;
		}
		if (offset)
			operational_error("offset in an END entry");
		if (!(fake_pt_features.leaf_14_ecx & BIT(1)) && entry != 1)
			operational_error("more than one entry");
		output_base = word & BITS(63, 12);
		entry = 0;
	}
	if (word & BIT(0)) {
		operational_error("tables with END entries only");
		return 0;
	}
	if (FIELD(word, 63, 12) << 12 & (region_size(word) - 1)) {
		operational_error("region not aligned to its size");
		return 0;
	}
	if (offset >= region_size(word)) {
		operational_error("offset beyond the region");
		return 0;
	}
	return word;
}

static void interrupt(void)
{
	perf_status |= TOPA_PMI;
	interrupt_raised = 1;
}

static void region_is_full(uint64_t word)
{
	if (word & BIT(2) && !fake_pt_features.early)
		interrupt();
	if (word & BIT(4)) {
		status |= STATUS_STOPPED;
		if (!fake_pt_features.stops_behind)
			return;
	}
	entry++;
	offset = 0;
	if (!fake_pt_features.lazy)
		current(); /* follows an END entry, and checks the entry of the next region */
}

/* Writes as many of the bytes as fit into the current region. Returns how many bytes were written. */
static uint64_t write_region(uint64_t bytes)
{
	uint64_t word = current(), size = word ? region_size(word) : 0;
	uint64_t room = size - offset, n = bytes < room ? bytes : room;
	uint64_t *count = written();
	uint8_t *host;

	if (!word)
		return 0;
	host = at((word & BITS(63, 12)) + offset, n);
	if (!host) {
		operational_error("region is not in memory");
		return 0;
	}
	for (uint64_t i = 0; i < n; i++)
		host[i] = fake_pt_byte(output_base, (*count)++);
	if (word & BIT(2) && offset < size - fake_pt_features.early &&
	    offset + n >= size - fake_pt_features.early && fake_pt_features.early)
		interrupt();
	offset += n;
	if (offset == size)
		region_is_full(word);
	return n;
}

/* ---- Code that runs on the CPU ----------------------------------------------------------------- */

static int in_ranges(void)
{
	int any = 0;

	for (int i = 0; i < 4; i++) {
		if (FIELD(ctl, 35 + 4 * i, 32 + 4 * i) != 1)
			continue;
		any = 1;
		if (fake_pt_place.ip >= range[2 * i] && fake_pt_place.ip <= range[2 * i + 1])
			return 1;
	}
	return !any;
}

static int traces(void)
{
	if (!(ctl & TRACE_EN) || status & (STATUS_ERROR | STATUS_STOPPED))
		return 0;
	if (!(ctl & (fake_pt_place.user ? BIT(3) : BIT(2))))
		return 0;
	if (ctl & BIT(7) && (fake_pt_place.cr3 ^ cr3_match) & BITS(63, 5))
		return 0;
	return in_ranges();
}

/*
 * Counts the PSB packets that are due in the next `bytes` bytes of trace, and updates the field PacketByteCnt
 * of the status register.
 */
static void count_packets(uint64_t bytes)
{
	uint64_t period = UINT64_C(2048) << FIELD(ctl, 27, 24), since = FIELD(status, 48, 32);

	for (; bytes; bytes--) {
		if (since == 0)
			psbs++;
		since = since + 1 >= period ? 0 : since + 1;
	}
	status = (status & ~BITS(48, 32)) | since << 32;
}

uint64_t fake_pt_run(uint64_t bytes)
{
	uint64_t done = 0, n, due = perf_status & TOPA_PMI;

	while (done < bytes && traces() && (n = write_region(bytes - done)) > 0) {
		count_packets(n);
		done += n;
	}
	fake_log("-- %llu bytes of trace, %llu written%s", (unsigned long long)bytes,
		 (unsigned long long)done, perf_status & TOPA_PMI & ~due ? ", interrupt" : "");
	return done;
}

int fake_pt_interrupted(void)
{
	int raised = interrupt_raised;

	interrupt_raised = 0;
	return raised;
}

unsigned fake_pt_psbs(void)
{
	return psbs;
}

/* ---- Registers --------------------------------------------------------------------------------- */

static const char *name_of(uint32_t msr)
{
	static char name[32];

	switch (msr) {
	case TIME_STAMP_COUNTER:
		return "IA32_TIME_STAMP_COUNTER";
	case PLATFORM_INFO:
		return "MSR_PLATFORM_INFO";
	case PERF_GLOBAL_STATUS:
		return "IA32_PERF_GLOBAL_STATUS";
	case PERF_GLOBAL_STATUS_RESET:
		return "IA32_PERF_GLOBAL_STATUS_RESET";
	case RTIT_OUTPUT_BASE:
		return "IA32_RTIT_OUTPUT_BASE";
	case RTIT_OUTPUT_MASK_PTRS:
		return "IA32_RTIT_OUTPUT_MASK_PTRS";
	case RTIT_CTL:
		return "IA32_RTIT_CTL";
	case RTIT_STATUS:
		return "IA32_RTIT_STATUS";
	case RTIT_CR3_MATCH:
		return "IA32_RTIT_CR3_MATCH";
	default:
		break;
	}
	if (msr >= RTIT_ADDR0_A && msr <= RTIT_ADDR3_B)
		snprintf(name, sizeof(name), "IA32_RTIT_ADDR%u_%c", (msr - RTIT_ADDR0_A) / 2, "AB"[msr & 1]);
	else
		snprintf(name, sizeof(name), "MSR_%x", msr);
	return name;
}

static unsigned range_count(void)
{
	return fake_pt_features.leaf_14_ebx & BIT(2) ? fake_pt_features.options_eax & 7 : 0;
}

/*
 * Returns a pointer to a register. Returns NULL if the register does not exist; an access to it then causes a
 * #GP.
 */
static uint64_t *cell_of(uint32_t msr)
{
	if (msr == TIME_STAMP_COUNTER)
		return &tsc;
	if ((msr == PERF_GLOBAL_STATUS || msr == PERF_GLOBAL_STATUS_RESET) &&
	    fake_pt_features.perf_version >= 2)
		return &perf_status;
	if (!(fake_pt_features.leaf_7_ebx & BIT(25)))
		return NULL;
	switch (msr) {
	case RTIT_OUTPUT_BASE:
		return &output_base;
	case RTIT_OUTPUT_MASK_PTRS:
		return &place;
	case RTIT_CTL:
		return &ctl;
	case RTIT_STATUS:
		return &status;
	case RTIT_CR3_MATCH:
		return fake_pt_features.leaf_14_ebx & BIT(0) ? &cr3_match : NULL;
	default:
		break;
	}
	if (msr >= RTIT_ADDR0_A && msr < RTIT_ADDR0_A + 2 * range_count())
		return &range[msr - RTIT_ADDR0_A];
	return NULL;
}

static uint64_t msr_read(uint32_t msr)
{
	uint64_t nominal = 0x1c00;
	uint64_t *cell = msr == PLATFORM_INFO && !fake_pt_features.virtual ? &nominal : cell_of(msr);

	if (!cell || msr == PERF_GLOBAL_STATUS_RESET) {
		fake_log_broken("#GP: rdmsr %s", name_of(msr));
		return 0;
	}
	if ((msr == RTIT_STATUS || msr == RTIT_OUTPUT_MASK_PTRS) && !(ctl & TRACE_EN) && !fenced)
		fake_log_broken("rdmsr %s before a fence: trace may not be in memory", name_of(msr));
	fake_log("rdmsr %s = %016llx", name_of(msr), (unsigned long long)*cell);
	return *cell;
}

/* Returns the bits of IA32_RTIT_CTL that this CPU supports. */
static uint64_t ctl_bits(void)
{
	uint64_t ebx = fake_pt_features.leaf_14_ebx, ecx = fake_pt_features.leaf_14_ecx;
	uint64_t bits = BIT(0) | BIT(2) | BIT(3) | BIT(10) | BIT(11) | BIT(13);

	if (ebx & BIT(0))
		bits |= BIT(7);
	if (ebx & BIT(1))
		bits |= BIT(1) | BITS(22, 19) | BITS(27, 24);
	if (ebx & BIT(3))
		bits |= BIT(9) | BITS(17, 14);
	if (ebx & BIT(4))
		bits |= BIT(5) | BIT(12);
	if (ebx & BIT(5))
		bits |= BIT(4);
	if (ecx & BIT(0))
		bits |= BIT(8);
	if (ecx & BIT(3))
		bits |= BIT(6);
	if (range_count())
		bits |= BITS(31 + 4 * range_count(), 32);
	return bits;
}

/*
 * If a field of `value` has an encoding that CPUID does not list, returns the name of the field; otherwise
 * NULL. Encoding 0 of MTCFreq is checked only if MTC packets are enabled. Encoding 0 of the other fields is
 * always valid.
 */
static const char *bad_encoding(uint64_t value)
{
	uint64_t mtc = FIELD(value, 17, 14), cyc = FIELD(value, 22, 19), psb = FIELD(value, 27, 24);

	if ((mtc || value & BIT(9)) && !(fake_pt_features.options_eax >> 16 & BIT(mtc)))
		return "MTCFreq";
	if (cyc && !(fake_pt_features.options_ebx & BIT(cyc)))
		return "CYCThresh";
	if (psb && !(fake_pt_features.options_ebx >> 16 & BIT(psb)))
		return "PSBFreq";
	for (int i = 0; i < 4; i++)
		if (FIELD(value, 35 + 4 * i, 32 + 4 * i) > 2)
			return "ADDRn_CFG";
	return NULL;
}

static void check_enable(uint64_t value)
{
	if (!fenced)
		fake_log_broken("TraceEn set without a fence: the table may not be in memory");
	if (!(value & BIT(8)) || output_base & BITS(11, 0))
		fake_log_broken("TraceEn set without a table at a page");
	if (!(value & (BIT(2) | BIT(3))) || !(value & BIT(13)))
		fake_log_broken("TraceEn set, but nothing to be traced");
	if (status & (STATUS_ERROR | STATUS_STOPPED))
		fake_log_broken("TraceEn set while STATUS says Error or Stopped");
}

static void write_ctl(uint64_t value)
{
	const char *field = bad_encoding(value);

	if (ctl & value & TRACE_EN)
		fake_log_broken("#GP: IA32_RTIT_CTL written while TraceEn is 1");
	if (value & ~ctl_bits())
		fake_log_broken("#GP: reserved bit of IA32_RTIT_CTL: %llx",
				(unsigned long long)(value & ~ctl_bits()));
	else if (field)
		fake_log_broken("#GP: %s has no such encoding", field);
	if (!(ctl & TRACE_EN) && value & TRACE_EN) {
		check_enable(value);
		entry = FIELD(place, 31, 7);
		offset = FIELD(place, 63, 32);
		ctl = value;
		current(); /* reports the broken rule now if the offset is beyond the end of the region */
	} else if (ctl & TRACE_EN) {
		place = offset << 32 | entry << 7 | 0x7f;
		fenced = 0;
	}
	ctl = value;
}

static int is_canonical(uint64_t address)
{
	uint64_t high = address >> (fake_pt_features.linear_bits - 1);

	return high == 0 || high == UINT64_MAX >> (fake_pt_features.linear_bits - 1);
}

static uint64_t status_bits(void)
{
	return BITS(2, 0) | STATUS_ERROR | STATUS_STOPPED |
	       (fake_pt_features.leaf_14_ebx & BIT(1) ? BITS(48, 32) : 0);
}

static void check_value(uint32_t msr, uint64_t value)
{
	uint64_t beyond = BITS(63, fake_pt_features.physical_bits);

	if ((msr == RTIT_OUTPUT_BASE && value & (BITS(6, 0) | beyond)) ||
	    (msr == RTIT_CR3_MATCH && value & (BITS(4, 0) | beyond)) ||
	    (msr == RTIT_STATUS && value & ~status_bits()) ||
	    (msr >= RTIT_ADDR0_A && msr <= RTIT_ADDR3_B && !is_canonical(value)))
		fake_log_broken("#GP: wrmsr %s %016llx", name_of(msr), (unsigned long long)value);
	if (msr == PERF_GLOBAL_STATUS_RESET && value & ~TOPA_PMI)
		fake_log_broken("counters of other software are cleared");
}

static void msr_write(uint32_t msr, uint64_t value)
{
	uint64_t *cell = cell_of(msr);

	fake_log("wrmsr %s %016llx", name_of(msr), (unsigned long long)value);
	if (!cell || msr == PERF_GLOBAL_STATUS || msr == TIME_STAMP_COUNTER) {
		fake_log_broken("#GP: wrmsr %s", name_of(msr));
		return;
	}
	if (msr == RTIT_CTL) {
		write_ctl(value);
		return;
	}
	if (ctl & TRACE_EN && msr != PERF_GLOBAL_STATUS_RESET)
		fake_log_broken("#GP: wrmsr %s while TraceEn is 1", name_of(msr));
	check_value(msr, value);
	if (msr == PERF_GLOBAL_STATUS_RESET)
		perf_status &= ~value;
	else if (msr == RTIT_OUTPUT_MASK_PTRS)
		place = value | 0x7f;
	else
		*cell = value;
}

static void barrier(void)
{
	fake_log("mfence");
	fenced = 1;
}

static void cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
	const struct fake_pt_features *have = &fake_pt_features;

	memset(out, 0, 4 * sizeof(*out));
	if (leaf < 0x80000000u && leaf > have->leaves)
		fake_log_broken("cpuid: leaf %x is beyond the highest", leaf);
	if (leaf == 0x14 && subleaf > have->leaf_14_eax)
		fake_log_broken("cpuid: leaf 14 has no subleaf %u", subleaf);
	switch (leaf) {
	case 0:
		out[0] = have->leaves;
		break;
	case 1:
		out[0] = 0x000906ea; /* signature of the CPU: family 6, model 158, stepping 10 */
		out[2] = have->virtual ? 1u << 31 : 0;
		break;
	case 7:
		out[1] = have->leaf_7_ebx;
		break;
	case 0xa:
		out[0] = have->perf_version;
		break;
	case 0x14:
		out[0] = subleaf ? have->options_eax : have->leaf_14_eax;
		out[1] = subleaf ? have->options_ebx : have->leaf_14_ebx;
		out[2] = subleaf ? 0 : have->leaf_14_ecx;
		break;
	case 0x15:
		out[0] = 2;
		out[1] = 250;
		out[2] = have->crystal_hz;
		break;
	case 0x16:
		out[0] = have->base_mhz;
		break;
	case 0x80000000u:
		out[0] = 0x80000008u;
		break;
	case 0x80000008u:
		out[0] = have->physical_bits | have->linear_bits << 8;
		break;
	default:
		fake_log_broken("cpuid: leaf %x", leaf);
		break;
	}
	fake_log("cpuid %08x.%u = %08x %08x %08x %08x", leaf, subleaf, out[0], out[1], out[2], out[3]);
}

const struct ktrace_hwt_access_msr fake_pt_access = {
	.read = msr_read,
	.write = msr_write,
	.cpuid = cpuid,
	.barrier = barrier,
};

void fake_pt_poke(uint32_t msr, uint64_t value)
{
	*cell_of(msr) = value;
}

uint64_t fake_pt_peek(uint32_t msr)
{
	return *cell_of(msr);
}

void fake_pt_reset(void)
{
	static const struct fake_pt_features all = {
		.leaves = 0x16,
		.leaf_7_ebx = BIT(25),
		.perf_version = 4,
		.leaf_14_eax = 1,
		.leaf_14_ebx = 0x0f,
		.leaf_14_ecx = 0x07,
		.options_eax = 0x02490002, /* values 0, 3, 6 and 9 of MTCFreq; 2 address ranges */
		.options_ebx = 0x003f3fff, /* values 0 to 5 of PSBFreq; 0 to 13 of CYCThresh */
		.crystal_hz = 24000000,
		.base_mhz = 3000,
		.physical_bits = 39,
		.linear_bits = 48,
	};

	fake_pt_features = all;
	fake_pt_place = (struct fake_pt_place){ .user = 1 };
	memories = outputs = psbs = 0;
	ctl = status = output_base = cr3_match = perf_status = entry = offset = 0;
	place = 0x7f;
	tsc = 123456789;
	memset(range, 0, sizeof(range));
	fenced = interrupt_raised = 0;
	fake_log_reset();
}
