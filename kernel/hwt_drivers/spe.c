/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Arm's Statistical Profiling Extension: the hardware samples one of every n operations, and writes a record
 * of it into a buffer. One register contains the address of the next record, another one the end of the
 * buffer. The hardware stops when the next record might not fit. So a unit's buffer is divided into portions,
 * and the hardware gets one portion at a time as its buffer. While the hardware fills a portion, a reader can
 * take the previous one. The operations of a unit, in order:
 *
 *	1. init       reads features from ID registers, or reports why SPE is not available
 *	2. cpu_init   each CPU: checks that no other software samples; resets the registers
 *	3. unit_init  checks that the buffer is mapped and has whole pages
 *	4. configure  computes register values (spe_config.c)
 *	5. enable     gives the current portion to the hardware, sets up sampling, then starts it by PMSCR
 *	6. interrupt  the portion is full: continues with the next one. With KTRACE_HWT_STOP, stops
 *	              if the reader has not taken the next portion yet
 *	7. disable    stops sampling by PMSCR; ISB; PSB CSYNC, after which all records are in memory; clears
 *	              PMBLIMITR; only then reads the registers
 *	8. service    there is room again: a unit that was full samples again after its next enable
 *
 * The position is the end of a whole record or the end of a portion. If the room that is left in a portion is
 * less than a record may need, it is filled with padding packets.
 */
#include "../base/bytes.h"
#include "spe.h"

#define KTRACE_WHY_NONE	 "no Statistical Profiling Extension: ID_AA64DFR0_EL1.PMSVer is 0"
#define KTRACE_WHY_TAKEN "a hypervisor or the firmware owns the profiling buffer: PMBIDR_EL1.P is 1"

static const struct ktrace_hwt_access_sysreg *access_of(const struct ktrace_hwt_backend *backend)
{
	return backend->access;
}

/* ---- Finding the hardware ---------------------------------------------------------------------- */

static int spe_init(struct ktrace_hwt_backend *backend)
{
	const struct ktrace_hwt_access_sysreg *reg = access_of(backend);
	struct ktrace_hwt_spe *spe = ktrace_hwt_spe(backend);
	uint64_t buffer;

	spe->version = KTRACE_SPE_DFR0_VERSION(reg->read(KTRACE_SPE_DFR0));
	backend->why = KTRACE_WHY_NONE;
	if (!spe->version)
		return KTRACE_ERROR_DEVICE;
	buffer = reg->read(KTRACE_SPE_PMBIDR);
	backend->why = KTRACE_WHY_TAKEN;
	if (buffer & KTRACE_SPE_PMBIDR_TAKEN)
		return KTRACE_ERROR_DEVICE;
	backend->why = KTRACE_NULL;
	backend->ranges = 0;
	spe->align = KTRACE_SPE_PMBIDR_ALIGN(buffer);
	spe->id = reg->read(KTRACE_SPE_PMSIDR);
	spe->record = KTRACE_SPE_PMSIDR_MAX_SIZE(spe->id);
	return KTRACE_OK;
}

static int spe_cpu_init(struct ktrace_hwt_backend *backend, uint32_t cpu)
{
	const struct ktrace_hwt_access_sysreg *reg = access_of(backend);

	(void)cpu;
	/*
	 * If the buffer and sampling are both enabled, other software uses SPE, such as firmware. A single
	 * enabled bit does not show this, because a reset may leave an unknown value in either register.
	 */
	if (reg->read(KTRACE_SPE_PMBLIMITR) & KTRACE_SPE_PMBLIMITR_ENABLE && reg->read(KTRACE_SPE_PMSCR))
		return KTRACE_ERROR_DEVICE;
	reg->write(KTRACE_SPE_PMSCR, 0);
	reg->isb();
	reg->psb_csync();
	reg->write(KTRACE_SPE_PMBLIMITR, 0);
	reg->isb();
	reg->write(KTRACE_SPE_PMBSR, 0);
	return KTRACE_OK;
}

/* ---- Making and configuring a unit ------------------------------------------------------------- */

static int spe_unit_init(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	const struct ktrace_hwt_buffer *buffer = &unit->buffer;

	(void)backend;
	if (!buffer->base || (uintptr_t)buffer->base % KTRACE_SPE_PAGE || !buffer->size ||
	    buffer->size % KTRACE_SPE_PAGE)
		return KTRACE_ERROR_ARGUMENT;
	return KTRACE_OK;
}

/* Prevents the unit from being enabled again, because its buffer will be freed. */
static void spe_unit_free(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	(void)backend;
	ktrace_hwt_spe_unit(unit)->control = 0;
}

/* Returns the number of bytes from the unit's position to the end of the current portion. */
static uint64_t to_end(const struct ktrace_hwt_unit *unit, const struct ktrace_hwt_spe_unit *own)
{
	uint64_t place = unit->position % unit->buffer.size;
	uint64_t left = own->portion - place % own->portion, whole = unit->buffer.size - place;

	return left < whole ? left : whole;
}

/*
 * Sets unit->full. A unit with KTRACE_HWT_STOP is full if filling the rest of the current portion would
 * overwrite bytes that the reader has not taken yet.
 */
static void set_full(struct ktrace_hwt_unit *unit)
{
	const struct ktrace_hwt_spe_unit *own = ktrace_hwt_spe_unit(unit);

	unit->full = own->stops && unit->position + to_end(unit, own) > unit->served + unit->buffer.size;
}

static int spe_configure(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit,
			 const struct ktrace_hwt_config *config)
{
	int error = ktrace_hwt_spe_config(backend, unit, config);

	if (error)
		ktrace_hwt_spe_unit(unit)->control = 0; /* the unit must not be enabled */
	else
		set_full(unit);
	return error;
}

/* Stores nothing, because decoders need only the records. */
static size_t spe_describe(struct ktrace_hwt_backend *backend, const struct ktrace_hwt_config *config,
			   void *to, size_t room)
{
	(void)backend;
	(void)config;
	(void)to;
	(void)room;
	return 0;
}

/* ---- Finding the last whole record ------------------------------------------------------------ */

/*
 * Finds the end of the last whole record. This is needed only if the last record is incomplete: no register
 * shows where that record begins. A record is a sequence of packets; its last packet is END or a timestamp.
 * There may be padding before and after it. A packet has a header of one byte, or of two bytes (extended).
 * Bits 5:4 of the header's last byte are the log2 of the payload size in bytes.
 */

#define KTRACE_PADDING	     0x00u
#define KTRACE_END	     0x01u
#define KTRACE_TIMESTAMP     0x71u
#define KTRACE_EXTENDED	     0x20u
#define KTRACE_EXTENDED_MASK 0xfcu

/* Returns the size of a packet; more than `left` if the packet is incomplete. */
static uint64_t packet_size(const uint8_t *packet, uint64_t left)
{
	uint64_t head = (packet[0] & KTRACE_EXTENDED_MASK) == KTRACE_EXTENDED ? 2 : 1;

	if (packet[0] == KTRACE_PADDING || packet[0] == KTRACE_END)
		return 1;
	return head > left ? head : head + (KTRX_U64(1) << (packet[head - 1] >> 4 & 3));
}

uint64_t ktrace_hwt_spe_whole(const struct ktrace_hwt_spe *spe, const uint8_t *bytes, uint64_t size)
{
	uint64_t whole = 0, at = 0;

	while (at < size) {
		uint64_t next = at + packet_size(bytes + at, size - at);

		if (next <= size && (bytes[at] == KTRACE_END || bytes[at] == KTRACE_TIMESTAMP))
			whole = (next + spe->align - 1) & ~(spe->align - 1);
		at = next;
	}
	return whole < size ? whole : size;
}

/* ---- Starting and stopping sampling ------------------------------------------------------------ */

static uint8_t *address_of(const struct ktrace_hwt_unit *unit, uint64_t position)
{
	return (uint8_t *)unit->buffer.base + position % unit->buffer.size;
}

/* Fills the rest of the portion with padding: packets with the value 0. */
static void pad(struct ktrace_hwt_unit *unit)
{
	uint64_t left = to_end(unit, ktrace_hwt_spe_unit(unit));

	ktrace_zero(address_of(unit, unit->position), left);
	unit->position += left;
}

/*
 * Loads the registers and starts sampling. The buffer's registers are written first and take effect (ISB)
 * before sampling starts.
 */
static void load(const struct ktrace_hwt_access_sysreg *reg, struct ktrace_hwt_unit *unit)
{
	struct ktrace_hwt_spe_unit *own = ktrace_hwt_spe_unit(unit);
	uint64_t from = (uintptr_t)address_of(unit, unit->position);

	reg->write(KTRACE_SPE_PMBPTR, from);
	reg->write(KTRACE_SPE_PMBLIMITR, (from + to_end(unit, own)) | KTRACE_SPE_PMBLIMITR_ENABLE);
	reg->write(KTRACE_SPE_PMSFCR, own->filters);
	reg->write(KTRACE_SPE_PMSEVFR, own->events);
	reg->write(KTRACE_SPE_PMSLATFR, own->latency);
	reg->write(KTRACE_SPE_PMSIRR, own->interval);
	reg->write(KTRACE_SPE_PMSICR, own->counter);
	reg->isb();
	reg->write(KTRACE_SPE_PMSCR, own->control);
	reg->isb();
	own->running = 1;
}

/*
 * Advances the position to the place at which the hardware has stopped, or to the end of the last whole
 * record before it. Returns DEVICE if that place is outside the portion, or if the hardware could not write.
 */
static int follow(const struct ktrace_hwt_spe *spe, struct ktrace_hwt_unit *unit, uint64_t pointer,
		  uint64_t status)
{
	const uint8_t *from = address_of(unit, unit->position);
	uint64_t grown = pointer - (uintptr_t)from;

	if (pointer < (uintptr_t)from || grown > to_end(unit, ktrace_hwt_spe_unit(unit)))
		return KTRACE_ERROR_DEVICE;
	if (status & KTRACE_SPE_PMBSR_LOSS)
		grown = ktrace_hwt_spe_whole(spe, from, grown);
	unit->position += grown;
	if (status & KTRACE_SPE_PMBSR_SERVICE &&
	    (KTRACE_SPE_PMBSR_CLASS(status) || KTRACE_SPE_PMBSR_CODE(status) != KTRACE_SPE_PMBSR_CODE_FULL))
		return KTRACE_ERROR_DEVICE;
	return KTRACE_OK;
}

/* Stops the hardware and updates the unit. Also clears a pending interrupt. */
static int halt(const struct ktrace_hwt_access_sysreg *reg, const struct ktrace_hwt_spe *spe,
		struct ktrace_hwt_unit *unit)
{
	struct ktrace_hwt_spe_unit *own = ktrace_hwt_spe_unit(unit);
	uint64_t status;
	int error;

	reg->write(KTRACE_SPE_PMSCR, 0);
	reg->isb();
	reg->psb_csync();
	reg->write(KTRACE_SPE_PMBLIMITR, 0);
	reg->isb();
	own->running = 0;
	status = reg->read(KTRACE_SPE_PMBSR);
	own->counter = reg->read(KTRACE_SPE_PMSICR);
	error = follow(spe, unit, reg->read(KTRACE_SPE_PMBPTR), status);
	if (status) {
		reg->write(KTRACE_SPE_PMBSR, 0);
		reg->isb();
	}
	if (error || status & (KTRACE_SPE_PMBSR_LOSS | KTRACE_SPE_PMBSR_COLLISION))
		unit->lost++;
	/*
	 * Fills the rest of the current portion of the buffer with padding if the longest record does not fit
	 * into it. Otherwise the hardware would stop immediately after it is started.
	 */
	if (to_end(unit, own) < spe->record)
		pad(unit);
	unit->wraps = unit->position / unit->buffer.size;
	set_full(unit);
	return error;
}

static int spe_enable(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	const struct ktrace_hwt_access_sysreg *reg = access_of(backend);
	struct ktrace_hwt_spe_unit *own = ktrace_hwt_spe_unit(unit);

	(void)cpu;
	if (!own->control)
		return KTRACE_ERROR_ARGUMENT;
	if (own->running || unit->full)
		return KTRACE_OK;
	if (reg->read(KTRACE_SPE_PMBLIMITR) & KTRACE_SPE_PMBLIMITR_ENABLE)
		return KTRACE_ERROR_DEVICE;
	load(reg, unit);
	return KTRACE_OK;
}

static int spe_disable(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	(void)cpu;
	if (!ktrace_hwt_spe_unit(unit)->running)
		return KTRACE_OK;
	return halt(access_of(backend), ktrace_hwt_spe(backend), unit);
}

/* The hardware's position is unknown: the unit continues at its last known position. */
static void spe_abandon(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	(void)backend;
	(void)cpu;
	ktrace_hwt_spe_unit(unit)->running = 0;
}

/* Updates the unit. A unit that is not running is already up to date. */
static int spe_read(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	int error;

	if (!ktrace_hwt_spe_unit(unit)->running)
		return KTRACE_OK;
	error = halt(access_of(backend), ktrace_hwt_spe(backend), unit);
	if (!error && !unit->full)
		load(access_of(backend), unit);
	return error;
}

static int spe_interrupt(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	const struct ktrace_hwt_access_sysreg *reg = access_of(backend);

	(void)cpu;
	if (!ktrace_hwt_spe_unit(unit)->running || !(reg->read(KTRACE_SPE_PMBSR) & KTRACE_SPE_PMBSR_SERVICE))
		return 0;
	if (!halt(reg, ktrace_hwt_spe(backend), unit) && !unit->full)
		load(reg, unit);
	return 1;
}

static int spe_service(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	(void)backend;
	if (unit->served > unit->position)
		return KTRACE_ERROR_ARGUMENT;
	set_full(unit);
	return KTRACE_OK;
}

static int spe_clock(struct ktrace_hwt_backend *backend, uint64_t *time, uint64_t *frequency)
{
	const struct ktrace_hwt_access_sysreg *reg = access_of(backend);

	*frequency = reg->read(KTRACE_SPE_CNTFRQ);
	reg->isb(); /* prevents the counter from being read too early */
	*time = reg->read(KTRACE_SPE_CNTVCT);
	return *frequency ? KTRACE_OK : KTRACE_ERROR_DEVICE;
}

static void spe_dump(struct ktrace_hwt_backend *backend,
		     void (*print)(void *to, const char *name, uint64_t value), void *to)
{
	const struct ktrace_hwt_access_sysreg *reg = access_of(backend);

	print(to, "PMSIDR_EL1", reg->read(KTRACE_SPE_PMSIDR));
	print(to, "PMSCR_EL1", reg->read(KTRACE_SPE_PMSCR));
	print(to, "PMSIRR_EL1", reg->read(KTRACE_SPE_PMSIRR));
	print(to, "PMSFCR_EL1", reg->read(KTRACE_SPE_PMSFCR));
	print(to, "PMBLIMITR_EL1", reg->read(KTRACE_SPE_PMBLIMITR));
}

/* ---- The backend ------------------------------------------------------------------------------- */

static const struct ktrace_hwt_backend_operations operations = {
	.init = spe_init,
	.cpu_init = spe_cpu_init,
	.unit_init = spe_unit_init,
	.unit_free = spe_unit_free,
	.configure = spe_configure,
	.enable = spe_enable,
	.disable = spe_disable,
	.abandon = spe_abandon,
	.read = spe_read,
	.interrupt = spe_interrupt,
	.service = spe_service,
	.describe = spe_describe,
	.clock = spe_clock,
	.dump = spe_dump,
};

void ktrace_hwt_spe_make(struct ktrace_hwt_backend *backend, const struct ktrace_hwt_access_sysreg *access)
{
	backend->name = "spe";
	backend->kind = KTRX_HWT_BACKEND_SPE;
	backend->encoding = KTRX_HWT_ENCODING_SPE;
	backend->modes = 1u << KTRX_HWT_MODE_THREAD | 1u << KTRX_HWT_MODE_CPU;
	backend->levels = KTRX_HWT_USER | KTRX_HWT_KERNEL_LEVEL;
	backend->operations = &operations;
	backend->access = access;
}
