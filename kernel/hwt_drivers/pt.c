/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Intel PT. The registers of a CPU belong to the unit that is enabled there. The hardware writes packets into
 * the buffer through a table of regions (pt_config.c). The operations of a unit, in order:
 *
 *	1. init       reads features from CPUID (leaf 0x14), or reports why PT is not available
 *	2. cpu_init   each CPU: checks for the same features as the first CPU's, and that no other tracer is
 *	              active; clears registers
 *	3. unit_init  divides the buffer into regions
 *	4. configure  computes register values (pt_config.c), and divides the buffer again
 *	5. enable     loads registers while TraceEn is 0, then sets TraceEn
 *	6. interrupt  a region with INT is full (with STOP: the last free one): updates the position before a
 *	              wrap of the buffer could be missed, and continues
 *	7. disable    clears TraceEn, so that the CPU writes out its buffers; then reads place and status
 *	8. service    there is room again: moves STOP. A unit that was full traces again after its next enable
 *
 * While TraceEn is 1, no other register of PT is written, and the place in the registers is not used, because
 * it may be outdated.
 *
 * The hardware reports only its place in the buffer. The number of wraps is derived from interrupts: each
 * interrupt shows that the hardware has passed the end of a region with INT. If no such end is between the
 * previous place and the new place, one whole buffer is added. If interrupts are off while the hardware fills
 * the buffer twice, too little is added. A CPU whose table has a single region interrupts shortly before the
 * region is full: the rest of the region is filled with PAD packets, and the hardware continues at the
 * beginning.
 */
#include "pt.h"

#define KTRACE_WHY_NONE	   "no Intel PT: CPUID leaf 7, EBX bit 25 is 0"
#define KTRACE_WHY_NO_TOPA "Intel PT cannot write to tables of regions: CPUID leaf 0x14, ECX bit 0 is 0"

/* Limits of address widths that 64-bit CPUs have; CPUID reports the actual widths. */
#define KTRACE_PHYSICAL_BITS_LEAST 36u
#define KTRACE_PHYSICAL_BITS_MOST  52u
#define KTRACE_LINEAR_BITS_LEAST   48u
#define KTRACE_LINEAR_BITS_MOST	   57u

static const struct ktrace_hwt_access_msr *access_of(const struct ktrace_hwt_backend *backend)
{
	return backend->access;
}

/* ---- Finding the hardware ---------------------------------------------------------------------- */

static uint64_t between(uint64_t value, uint64_t least, uint64_t most)
{
	return value < least ? least : value > most ? most : value;
}

static void find_addresses(const struct ktrace_hwt_access_msr *msr, struct ktrace_hwt_pt *pt)
{
	uint32_t out[4];
	uint32_t bits = 0;

	msr->cpuid(KTRACE_PT_CPUID_EXTENDED, 0, out);
	if (out[PT_EAX] >= KTRACE_PT_CPUID_ADDRESSES) {
		msr->cpuid(KTRACE_PT_CPUID_ADDRESSES, 0, out);
		bits = out[PT_EAX];
	}
	pt->physical_bits = between(bits & 0xff, KTRACE_PHYSICAL_BITS_LEAST, KTRACE_PHYSICAL_BITS_MOST);
	pt->linear_bits = between(bits >> 8 & 0xff, KTRACE_LINEAR_BITS_LEAST, KTRACE_LINEAR_BITS_MOST);
}

/*
 * Returns the frequency of the TSC, computed from its ratio to the crystal. If the frequency of the crystal
 * is unknown, returns the CPU's base frequency.
 */
static uint64_t tsc_frequency(const struct ktrace_hwt_access_msr *msr, struct ktrace_hwt_pt *pt,
			      uint32_t leaves)
{
	uint32_t out[4];

	if (leaves < KTRACE_PT_CPUID_CRYSTAL)
		return 0;
	msr->cpuid(KTRACE_PT_CPUID_CRYSTAL, 0, out);
	pt->crystal_eax = out[PT_EAX];
	pt->crystal_ebx = out[PT_EBX];
	if (out[PT_EAX] && out[PT_EBX] && out[PT_ECX])
		return (uint64_t)out[PT_ECX] * out[PT_EBX] / out[PT_EAX];
	if (leaves < KTRACE_PT_CPUID_BASE_MHZ)
		return 0;
	msr->cpuid(KTRACE_PT_CPUID_BASE_MHZ, 0, out);
	return (out[PT_EAX] & 0xffff) * KTRX_U64(1000000);
}

/*
 * Reads the values that decoders need. MSR_PLATFORM_INFO is read on real CPUs only: a hypervisor might not
 * support it.
 */
static void find_identity(const struct ktrace_hwt_access_msr *msr, struct ktrace_hwt_pt *pt, uint32_t leaves)
{
	uint32_t out[4];

	msr->cpuid(1, 0, out);
	pt->signature = out[PT_EAX];
	pt->nominal = 0;
	if (!(out[PT_ECX] & KTRACE_PT_CPUID_1_ECX_VIRTUAL))
		pt->nominal = msr->read(KTRACE_PT_MSR_PLATFORM_INFO) >> 8 & 0xff;
	pt->frequency = tsc_frequency(msr, pt, leaves);
}

/* Reads leaf 0x14 and its first subleaf, two registers per word. */
static void read_leaf(const struct ktrace_hwt_access_msr *msr, uint64_t leaf[2])
{
	uint32_t out[4];

	msr->cpuid(KTRACE_PT_CPUID_PT, 0, out);
	leaf[0] = out[PT_EBX] | (uint64_t)out[PT_ECX] << 32;
	leaf[1] = 0;
	if (out[PT_EAX] == 0)
		return;
	msr->cpuid(KTRACE_PT_CPUID_PT, 1, out);
	leaf[1] = out[PT_EAX] | (uint64_t)out[PT_EBX] << 32;
}

/* Stores the features of this CPU. Register values for all CPUs are computed from these features. */
static void find_options(struct ktrace_hwt_backend *backend)
{
	struct ktrace_hwt_pt *pt = ktrace_hwt_pt(backend);
	const uint32_t ebx = (uint32_t)pt->leaf[0], ecx = (uint32_t)(pt->leaf[0] >> 32);

	pt->cr3_filter = (ebx & KTRACE_PT_CPUID_EBX_CR3) != 0;
	pt->psb_and_cycles = (ebx & KTRACE_PT_CPUID_EBX_PSB_CYC) != 0;
	pt->mtc = (ebx & KTRACE_PT_CPUID_EBX_MTC) != 0;
	pt->many_entries = (ecx & KTRACE_PT_CPUID_ECX_ENTRIES) != 0;
	backend->ranges = 0;
	if (ebx & KTRACE_PT_CPUID_EBX_RANGES)
		backend->ranges = (uint32_t)between(pt->leaf[1] & 7, 0, KTRACE_HWT_RANGES_MAX);
	pt->mtc_periods = pt->leaf[1] >> 16 & 0xffff;
	pt->cycle_thresholds = pt->leaf[1] >> 32 & 0xffff;
	pt->psb_periods = pt->leaf[1] >> 48;
}

static int pt_init(struct ktrace_hwt_backend *backend)
{
	const struct ktrace_hwt_access_msr *msr = access_of(backend);
	struct ktrace_hwt_pt *pt = ktrace_hwt_pt(backend);
	uint32_t out[4];
	uint32_t leaves;

	backend->why = KTRACE_WHY_NONE;
	msr->cpuid(0, 0, out);
	leaves = out[PT_EAX];
	if (leaves < KTRACE_PT_CPUID_PT)
		return KTRACE_ERROR_DEVICE;
	msr->cpuid(KTRACE_PT_CPUID_FEATURES, 0, out);
	if (!(out[PT_EBX] & KTRACE_PT_CPUID_7_EBX_PT))
		return KTRACE_ERROR_DEVICE;
	msr->cpuid(KTRACE_PT_CPUID_PERF, 0, out);
	pt->interrupts = (out[PT_EAX] & 0xff) >= 2;
	read_leaf(msr, pt->leaf);
	backend->why = KTRACE_WHY_NO_TOPA;
	if (!(pt->leaf[0] >> 32 & KTRACE_PT_CPUID_ECX_TOPA))
		return KTRACE_ERROR_DEVICE;
	backend->why = KTRACE_NULL;
	find_options(backend);
	find_addresses(msr, pt);
	find_identity(msr, pt, leaves);
	return KTRACE_OK;
}

/*
 * Returns true if this CPU has the same features. A CPU of another kind may not support a bit or a period,
 * and setting it there would cause a fault.
 */
static int has_same_features(const struct ktrace_hwt_access_msr *msr, const struct ktrace_hwt_pt *pt)
{
	uint64_t leaf[2];
	uint32_t out[4];

	msr->cpuid(KTRACE_PT_CPUID_FEATURES, 0, out);
	if (!(out[PT_EBX] & KTRACE_PT_CPUID_7_EBX_PT))
		return 0;
	read_leaf(msr, leaf);
	return leaf[0] == pt->leaf[0] && leaf[1] == pt->leaf[1];
}

static int pt_cpu_init(struct ktrace_hwt_backend *backend, uint32_t cpu)
{
	const struct ktrace_hwt_access_msr *msr = access_of(backend);

	(void)cpu;
	if (!has_same_features(msr, ktrace_hwt_pt(backend)))
		return KTRACE_ERROR_DEVICE;
	/* Another tracer is active, such as firmware or a debugger. */
	if (msr->read(KTRACE_PT_MSR_CTL) & KTRACE_PT_CTL_TRACE)
		return KTRACE_ERROR_DEVICE;
	msr->write(KTRACE_PT_MSR_CTL, 0);
	msr->write(KTRACE_PT_MSR_STATUS, 0);
	return KTRACE_OK;
}

/* ---- Making and configuring a unit ------------------------------------------------------------- */

static int pt_unit_init(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	return ktrace_hwt_pt_layout(ktrace_hwt_pt(backend), unit);
}

/* Prevents the unit from being enabled again, because its table will be freed. */
static void pt_unit_free(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	(void)backend;
	ktrace_hwt_pt_unit(unit)->control = 0;
}

static void set_full(struct ktrace_hwt_unit *unit)
{
	struct ktrace_hwt_pt_unit *own = ktrace_hwt_pt_unit(unit);

	unit->full = own->stops && unit->position >= own->limit;
}

static int pt_configure(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit,
			const struct ktrace_hwt_config *config)
{
	struct ktrace_hwt_pt_unit *own = ktrace_hwt_pt_unit(unit);
	int error = ktrace_hwt_pt_config(backend, unit, config);

	if (!error)
		error = ktrace_hwt_pt_layout(ktrace_hwt_pt(backend), unit);
	if (error)
		own->control = 0; /* the unit must not be enabled */
	else
		set_full(unit);
	return error;
}

static size_t pt_describe(struct ktrace_hwt_backend *backend, const struct ktrace_hwt_config *config,
			  void *to, size_t room)
{
	const struct ktrace_hwt_pt *pt = ktrace_hwt_pt(backend);
	struct ktrx_hwt_pt *info = to;
	uint32_t family = (uint32_t)pt->signature >> 8 & 0xf, model = (uint32_t)pt->signature >> 4 & 0xf;

	if (room < sizeof(*info))
		return 0;
	if (family == 0xf)
		family += (uint32_t)pt->signature >> 20 & 0xff;
	if (family >= 6)
		model |= (uint32_t)pt->signature >> 12 & 0xf0;
	info->family = (uint16_t)family;
	info->model = (uint8_t)model;
	info->stepping = (uint8_t)(pt->signature & 0xf);
	info->mtc_frequency = ktrace_hwt_pt_mtc_frequency(pt, config);
	info->nominal_frequency = (uint8_t)pt->nominal;
	info->flags = 0;
	info->cpuid_15_eax = (uint32_t)pt->crystal_eax;
	info->cpuid_15_ebx = (uint32_t)pt->crystal_ebx;
	return sizeof(*info);
}

/* ---- Starting and stopping tracing ------------------------------------------------------------- */

/* Requires: the registers are loaded for this unit. */
static void start_tracing(const struct ktrace_hwt_access_msr *msr, struct ktrace_hwt_pt_unit *own)
{
	msr->write(KTRACE_PT_MSR_CTL, own->control);
	own->running = 1;
}

/* Loads all registers, then sets TraceEn, so that the hardware finds complete tables and registers. */
static void load(const struct ktrace_hwt_access_msr *msr, struct ktrace_hwt_unit *unit)
{
	struct ktrace_hwt_pt_unit *own = ktrace_hwt_pt_unit(unit);
	uint64_t offset = ktrace_hwt_pt_find(unit, &own->at, unit->position);

	msr->write(KTRACE_PT_MSR_STATUS, own->packets);
	msr->write(KTRACE_PT_MSR_OUTPUT_BASE, unit->buffer.table_physical);
	msr->write(KTRACE_PT_MSR_OUTPUT_PLACE, offset << KTRACE_PT_PLACE_OFFSET_SHIFT |
						       own->at.entry << KTRACE_PT_PLACE_ENTRY_SHIFT |
						       KTRACE_PT_PLACE_ONES);
	for (uint32_t i = 0; i < own->ranges; i++) {
		msr->write(KTRACE_PT_MSR_ADDR_A(i), own->first[i]);
		msr->write(KTRACE_PT_MSR_ADDR_B(i), own->last[i]);
	}
	if (own->control & KTRACE_PT_CTL_CR3_FILTER)
		msr->write(KTRACE_PT_MSR_CR3_MATCH, own->cr3);
	(msr->barrier)();
	start_tracing(msr, own);
}

/* Returns true if the end of a region with INT is among the `grown` bytes after `place`. */
static int passes_interrupt(const struct ktrace_hwt_unit *unit, const struct ktrace_hwt_pt_unit *own,
			    uint64_t place, uint64_t grown)
{
	uint64_t to_next = own->every - place % own->every, to_end = unit->buffer.size - place;

	return grown >= (to_next < to_end ? to_next : to_end);
}

/*
 * Advances the position to the hardware's place. A unit that stops when full never writes a byte twice: if it
 * stopped at the same place at which it started, it has written a whole buffer. Any other unit can wrap
 * around. An interrupt shows that it has passed the end of a region with INT. If there is no such end between
 * the old and the new place, the unit has written one whole buffer more.
 */
static int follow(struct ktrace_hwt_unit *unit, uint64_t pointers, int interrupted, int stopped)
{
	struct ktrace_hwt_pt_unit *own = ktrace_hwt_pt_unit(unit);
	uint64_t size = unit->buffer.size, before = unit->position % size, place, grown;
	uint64_t entry = pointers >> KTRACE_PT_PLACE_ENTRY_SHIFT & KTRACE_PT_PLACE_ENTRY_MASK;
	uint64_t offset = pointers >> KTRACE_PT_PLACE_OFFSET_SHIFT;

	if (entry == own->entries && !offset)
		/* this place is in the last entry of the table, which leads back to the first entry */
		entry = 0;
	if (ktrace_hwt_pt_advance(unit, &own->at, entry) || offset > ktrace_hwt_pt_region(unit, &own->at))
		return KTRACE_ERROR_DEVICE;
	place = own->at.start + offset;
	grown = place >= before ? place - before : place + size - before;
	if (own->alone && size - place <= KTRACE_PT_TOPA_EARLY)
		interrupted = 0; /* the interrupt came before the region was full, close to its end */
	if (own->stops ? stopped && !grown : interrupted && !passes_interrupt(unit, own, before, grown))
		grown += size;
	unit->position += grown;
	unit->wraps = unit->position / size;
	return KTRACE_OK;
}

/*
 * Ends the lap with PAD packets after an early interrupt. Without the padding, the hardware would continue
 * just before the end of the region: it is unknown whether its next interrupt would come immediately or only
 * after a whole buffer.
 */
static void pad(struct ktrace_hwt_unit *unit)
{
	uint64_t size = unit->buffer.size, place = unit->position % size;
	/* volatile, because compilers would otherwise call memset */
	volatile uint8_t *bytes = unit->buffer.base;

	if (size - place > KTRACE_PT_TOPA_EARLY)
		return;
	unit->position += size - place;
	unit->wraps = unit->position / size;
	for (; place < size; place++)
		bytes[place] = 0;
}

/*
 * Stops the hardware and updates the unit. Clearing TraceEn makes the CPU write out its buffers; the barrier
 * makes this visible. A pending interrupt is handled here, because the unit may be disabled when the
 * interrupt arrives.
 */
static int halt(const struct ktrace_hwt_access_msr *msr, const struct ktrace_hwt_pt *pt,
		struct ktrace_hwt_unit *unit)
{
	struct ktrace_hwt_pt_unit *own = ktrace_hwt_pt_unit(unit);
	uint64_t status, pointers;
	int interrupted, error;

	msr->write(KTRACE_PT_MSR_CTL, own->control & ~KTRACE_PT_CTL_TRACE);
	(msr->barrier)();
	own->running = 0;
	status = msr->read(KTRACE_PT_MSR_STATUS);
	pointers = msr->read(KTRACE_PT_MSR_OUTPUT_PLACE);
	interrupted = pt->interrupts && msr->read(KTRACE_PT_MSR_PERF_STATUS) & KTRACE_PT_PERF_TOPA;
	if (interrupted)
		msr->write(KTRACE_PT_MSR_PERF_CLEAR, KTRACE_PT_PERF_TOPA);
	error = follow(unit, pointers, interrupted, (status & KTRACE_PT_STATUS_STOPPED) != 0);
	if (!error && interrupted && own->alone)
		pad(unit);
	own->packets = pt->psb_and_cycles ? status & KTRACE_PT_STATUS_PACKETS : 0;
	if (status & KTRACE_PT_STATUS_ERROR)
		error = KTRACE_ERROR_DEVICE;
	/* Packets are missing from here on: the hardware must write a PSB next. */
	if (error || status & KTRACE_PT_STATUS_STOPPED) {
		unit->lost++;
		own->packets = 0;
	}
	set_full(unit);
	return error;
}

/* Starts the unit again after halt(). If padding was written, it continues after the padding. */
static void resume(const struct ktrace_hwt_access_msr *msr, struct ktrace_hwt_unit *unit)
{
	if (ktrace_hwt_pt_unit(unit)->alone)
		load(msr, unit);
	else
		start_tracing(msr, ktrace_hwt_pt_unit(unit));
}

static int pt_enable(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	const struct ktrace_hwt_access_msr *msr = access_of(backend);
	struct ktrace_hwt_pt_unit *own = ktrace_hwt_pt_unit(unit);

	(void)cpu;
	if (!own->control)
		return KTRACE_ERROR_ARGUMENT;
	if (own->running || unit->full)
		return KTRACE_OK;
	if (msr->read(KTRACE_PT_MSR_CTL) & KTRACE_PT_CTL_TRACE)
		return KTRACE_ERROR_DEVICE;
	load(msr, unit);
	return KTRACE_OK;
}

static int pt_disable(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	(void)cpu;
	if (!ktrace_hwt_pt_unit(unit)->running)
		return KTRACE_OK;
	return halt(access_of(backend), ktrace_hwt_pt(backend), unit);
}

/* The write position of the hardware is unknown: the unit continues at the last known one, with a PSB. */
static void pt_abandon(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	(void)backend;
	(void)cpu;
	ktrace_hwt_pt_unit(unit)->running = 0;
	ktrace_hwt_pt_unit(unit)->packets = 0;
}

/* Updates the unit. A unit that is not running is already up to date. */
static int pt_read(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	int error;

	if (!ktrace_hwt_pt_unit(unit)->running)
		return KTRACE_OK;
	error = halt(access_of(backend), ktrace_hwt_pt(backend), unit);
	if (!error && !unit->full)
		resume(access_of(backend), unit);
	return error;
}

static int pt_interrupt(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	const struct ktrace_hwt_access_msr *msr = access_of(backend);

	(void)cpu;
	if (!ktrace_hwt_pt_unit(unit)->running || !ktrace_hwt_pt(backend)->interrupts ||
	    !(msr->read(KTRACE_PT_MSR_PERF_STATUS) & KTRACE_PT_PERF_TOPA))
		return 0;
	if (!halt(msr, ktrace_hwt_pt(backend), unit) && !unit->full)
		resume(msr, unit);
	return 1;
}

static int pt_service(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	(void)backend;
	if (unit->served > unit->position)
		return KTRACE_ERROR_ARGUMENT;
	if (ktrace_hwt_pt_unit(unit)->stops) {
		ktrace_hwt_pt_place_stop(unit);
		set_full(unit);
	}
	return KTRACE_OK;
}

static int pt_clock(struct ktrace_hwt_backend *backend, uint64_t *time, uint64_t *frequency)
{
	*frequency = ktrace_hwt_pt(backend)->frequency;
	if (!*frequency)
		return KTRACE_ERROR_DEVICE;
	*time = access_of(backend)->read(KTRACE_PT_MSR_TSC);
	return KTRACE_OK;
}

static void pt_dump(struct ktrace_hwt_backend *backend,
		    void (*print)(void *to, const char *name, uint64_t value), void *to)
{
	const struct ktrace_hwt_access_msr *msr = access_of(backend);

	print(to, "IA32_RTIT_CTL", msr->read(KTRACE_PT_MSR_CTL));
	print(to, "IA32_RTIT_STATUS", msr->read(KTRACE_PT_MSR_STATUS));
	print(to, "IA32_RTIT_OUTPUT_BASE", msr->read(KTRACE_PT_MSR_OUTPUT_BASE));
	print(to, "IA32_RTIT_OUTPUT_MASK_PTRS", msr->read(KTRACE_PT_MSR_OUTPUT_PLACE));
}

/* ---- The backend ------------------------------------------------------------------------------- */

static const struct ktrace_hwt_backend_operations operations = {
	.init = pt_init,
	.cpu_init = pt_cpu_init,
	.unit_init = pt_unit_init,
	.unit_free = pt_unit_free,
	.configure = pt_configure,
	.enable = pt_enable,
	.disable = pt_disable,
	.abandon = pt_abandon,
	.read = pt_read,
	.interrupt = pt_interrupt,
	.service = pt_service,
	.describe = pt_describe,
	.clock = pt_clock,
	.dump = pt_dump,
};

void ktrace_hwt_pt_make(struct ktrace_hwt_backend *backend, const struct ktrace_hwt_access_msr *access)
{
	backend->name = "pt";
	backend->kind = KTRX_HWT_BACKEND_PT;
	backend->encoding = KTRX_HWT_ENCODING_PT;
	backend->modes = 1u << KTRX_HWT_MODE_THREAD | 1u << KTRX_HWT_MODE_CPU;
	backend->levels = KTRX_HWT_USER | KTRX_HWT_KERNEL_LEVEL;
	backend->operations = &operations;
	backend->access = access;
}
