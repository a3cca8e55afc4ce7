/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The backend `qemu`. A page of memory per CPU serves as the registers of a trace unit (ktrx/hwt_unit.h). A
 * special instruction passes the page to QEMU's plugin. Without the plugin nothing reads the page, so the
 * members that the unit would write do not change.
 *
 * A unit's state contains its configuration. Several units can take turns on a CPU, so enabling a unit copies
 * its configuration to the page of the CPU. The unit continues at its position, which is stored in the unit's
 * state, because the page is not preserved after DISABLE.
 */
#include "../base/bytes.h"
#include "ktrace/hwt_qemu.h"

#include "ktrace_io.h"

#define KTRACE_EXTENTS_MAX 4095u
/* If a command takes longer than 1/10000 s, the virtual CPU was stopped while it executed the command. */
#define KTRACE_COMMANDS_A_SECOND 10000u
/* maximum number of attempts to send the time; an attempt fails if the virtual CPU is stopped during it */
#define KTRACE_ATTEMPTS 4u

/* The data in ktrace_hwt_unit.state. */
struct request {
	uint32_t control; /* KTRX_HWT_UNIT_CONTROL_* */
	uint32_t extents;
	uint64_t space; /* address space to trace; 0: the address space that was set last */
	uint32_t ranges;
	uint32_t reserved;
	struct {
		uint64_t start, end;
	} range[KTRACE_HWT_RANGES_MAX];
};
KTRX_ASSERT_SIZE(struct request, 88);

/* The data in ktrace_hwt_backend.state. */
struct found {
	uint8_t parameters[KTRX_HWT_UNIT_PARAMETERS];
};

static struct request *request_of(struct ktrace_hwt_unit *unit)
{
	return (struct request *)(void *)unit->state;
}

static const struct ktrace_hwt_qemu *qemu_of(const struct ktrace_hwt_backend *backend)
{
	return backend->access;
}

/* ---- Commands through the page ----------------------------------------------------------------- */

/* Sends a command, which is complete on return. Compilers assume that the call changes memory. */
static void command(const struct ktrace_hwt_qemu *qemu, struct ktrx_hwt_unit *page, uint32_t number)
{
	page->error = 0;
	if (qemu->ring)
		qemu->ring(&page->doorbell[number]);
	else
		ktrace_arch_unit_ring(&page->doorbell[number]);
}

static void stamp(struct ktrx_hwt_unit *page)
{
	page->frequency = ktrace_root.frequency ? ktrace_root.frequency : ktrace_arch_frequency();
	page->nonce = ktrace_root.nonce;
	page->stamp = ktrace_arch_clock();
}

/*
 * Returns nonzero if the virtual CPU was stopped between stamp() and the command. In this case the unit's
 * clock is slow by the duration of the stop.
 */
static int is_late(const struct ktrx_hwt_unit *page)
{
	return ktrace_arch_clock() - page->stamp > page->frequency / KTRACE_COMMANDS_A_SECOND;
}

static void set_clock(const struct ktrace_hwt_qemu *qemu, struct ktrx_hwt_unit *page)
{
	for (uint32_t i = 0; i < KTRACE_ATTEMPTS; i++) {
		stamp(page);
		command(qemu, page, KTRX_HWT_UNIT_CLOCK);
		if (!is_late(page))
			return;
	}
}

static int probe(const struct ktrace_hwt_qemu *qemu, struct ktrx_hwt_unit *page)
{
	page->unit = 0;
	command(qemu, page, KTRX_HWT_UNIT_PROBE);
	return page->unit == KTRX_HWT_UNIT_MAGIC && page->error == 0;
}

void ktrace_hwt_qemu_clock(const struct ktrace_hwt_qemu *qemu, uint32_t cpu)
{
	if (cpu >= qemu->cpus)
		return;
	set_clock(qemu, &qemu->page[cpu]);
}

void ktrace_hwt_qemu_space(const struct ktrace_hwt_qemu *qemu, uint32_t cpu, uint64_t space, uint32_t thread)
{
	struct ktrx_hwt_unit *page = &qemu->page[cpu];

	if (cpu >= qemu->cpus)
		return;
	page->space = space;
	page->thread = thread;
	command(qemu, page, KTRX_HWT_UNIT_SPACE);
}

/* ---- Initialisation of the backend ------------------------------------------------------------- */

static int absent(struct ktrace_hwt_backend *backend, const char *why)
{
	backend->why = why;
	return KTRACE_ERROR_DEVICE;
}

static int qemu_init(struct ktrace_hwt_backend *backend)
{
	const struct ktrace_hwt_qemu *qemu = qemu_of(backend);
	struct found *found = (struct found *)(void *)backend->state;
	struct ktrx_hwt_unit *page = qemu->page;

	if (!qemu->ring && !KTRACE_ARCH_UNIT_EXISTS)
		return absent(backend, "there is no trace unit in software for this architecture");
	if (qemu->cpus == 0 || ((uintptr_t)page & (sizeof(*page) - 1)) != 0)
		return absent(backend, "there are no pages for its registers, or they are not page-aligned");
	if (!probe(qemu, page))
		return absent(backend,
			      "no answer: QEMU does not run with ktrace's plugin and its option ram=");
	if (page->encoding != KTRX_HWT_ENCODING_PT && page->encoding != KTRX_HWT_ENCODING_ETM4)
		return absent(backend, "the plugin writes an encoding that this kernel does not support");
	backend->encoding = (uint8_t)page->encoding;
	backend->ranges = page->range_most < KTRACE_HWT_RANGES_MAX ? page->range_most : KTRACE_HWT_RANGES_MAX;
	ktrace_copy(found->parameters, page->parameters, sizeof(found->parameters));
	return KTRACE_OK;
}

static void qemu_deinit(struct ktrace_hwt_backend *backend)
{
	backend->ranges = 0;
}

static int qemu_cpu_init(struct ktrace_hwt_backend *backend, uint32_t cpu)
{
	const struct ktrace_hwt_qemu *qemu = qemu_of(backend);

	return cpu < qemu->cpus && probe(qemu, &qemu->page[cpu]) ? KTRACE_OK : KTRACE_ERROR_DEVICE;
}

/* ---- Making and configuring a unit ------------------------------------------------------------- */

/* Merges adjacent pieces into one extent. */
static int qemu_unit_init(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	const struct ktrace_hwt_buffer *buffer = &unit->buffer;
	struct ktrx_hwt_extent *table = buffer->table;
	uint64_t room = buffer->table_size / sizeof(*table), size = 0;
	uint32_t n = 0;

	(void)backend;
	if (!table || (buffer->table_physical & 7) != 0)
		return KTRACE_ERROR_MEMORY;
	for (uint32_t i = 0; i < buffer->pieces; i++) {
		const struct ktrace_hwt_piece *piece = &buffer->piece[i];

		size += piece->size;
		if (n > 0 && table[n - 1].physical + table[n - 1].size == piece->physical) {
			table[n - 1].size += piece->size;
			continue;
		}
		if (n == room || n == KTRACE_EXTENTS_MAX)
			return KTRACE_ERROR_MEMORY;
		table[n].physical = piece->physical;
		table[n++].size = piece->size;
	}
	if (size == 0 || size != buffer->size)
		return KTRACE_ERROR_ARGUMENT;
	request_of(unit)->extents = n;
	return KTRACE_OK;
}

static void qemu_unit_free(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	(void)backend;
	request_of(unit)->extents = 0;
}

/*
 * Returns nonzero if the configuration needs a feature that the unit does not have. The unit cannot count
 * cycles, sample, raise interrupts, or restrict a CPU-mode trace to one address space.
 */
static int is_beyond_it(const struct ktrace_hwt_backend *backend, const struct ktrace_hwt_unit *unit,
			const struct ktrace_hwt_config *config)
{
	const uint32_t known =
		KTRACE_HWT_TIME | KTRACE_HWT_MTC | KTRACE_HWT_SPACE | KTRACE_HWT_RETURNS | KTRACE_HWT_STOP;

	return (config->flags & ~known) != 0 || (config->level & ~(uint32_t)backend->levels) != 0 ||
	       config->ranges > backend->ranges || config->interval != 0 || config->latency != 0 ||
	       config->events != 0 || config->interrupt_every != 0 ||
	       ((config->flags & KTRACE_HWT_SPACE) && unit->mode != KTRX_HWT_MODE_THREAD);
}

static uint32_t control_of(const struct ktrace_hwt_unit *unit, const struct ktrace_hwt_config *config)
{
	uint32_t level = config->level, control = 0;

	if (level == 0)
		level = unit->mode == KTRX_HWT_MODE_THREAD ? KTRX_HWT_USER : KTRX_HWT_KERNEL_LEVEL;
	if (level & KTRX_HWT_USER)
		control |= KTRX_HWT_UNIT_CONTROL_USER;
	if (level & KTRX_HWT_KERNEL_LEVEL)
		control |= KTRX_HWT_UNIT_CONTROL_KERNEL;
	if (config->flags & (KTRACE_HWT_TIME | KTRACE_HWT_MTC))
		control |= KTRX_HWT_UNIT_CONTROL_TIME;
	if (config->flags & KTRACE_HWT_STOP)
		control |= KTRX_HWT_UNIT_CONTROL_STOP;
	if (!(config->flags & KTRACE_HWT_RETURNS))
		control |= KTRX_HWT_UNIT_CONTROL_RETURN;
	return control;
}

static int qemu_configure(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit,
			  const struct ktrace_hwt_config *config)
{
	struct request *request = request_of(unit);

	if (is_beyond_it(backend, unit, config))
		return KTRACE_ERROR_ARGUMENT;
	for (uint32_t i = 0; i < config->ranges; i++)
		if (config->range[i].start >= config->range[i].end)
			return KTRACE_ERROR_ARGUMENT;
	request->control = control_of(unit, config);
	request->space = config->space;
	request->ranges = config->ranges;
	for (uint32_t i = 0; i < config->ranges; i++) {
		request->range[i].start = config->range[i].start;
		request->range[i].end = config->range[i].end;
	}
	return KTRACE_OK;
}

/* ---- Operations on the CPU that is traced ------------------------------------------------------ */

static void fill(struct ktrx_hwt_unit *page, struct ktrace_hwt_unit *unit)
{
	const struct request *request = request_of(unit);

	page->control = request->control;
	page->extents = request->extents;
	page->table = unit->buffer.table_physical;
	page->start = unit->position;
	page->limit = unit->served + unit->buffer.size;
	if (request->space)
		page->space = request->space;
	if (unit->tid)
		page->thread = unit->tid;
	page->ranges = request->ranges;
	for (uint32_t i = 0; i < request->ranges; i++) {
		page->range[i].start = request->range[i].start;
		page->range[i].end = request->range[i].end;
	}
}

static int qemu_enable(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	const struct ktrace_hwt_qemu *qemu = qemu_of(backend);
	struct ktrx_hwt_unit *page = &qemu->page[cpu];

	if (cpu >= qemu->cpus || page->unit != KTRX_HWT_UNIT_MAGIC)
		return KTRACE_ERROR_DEVICE;
	fill(page, unit);
	page->lost = 0;
	stamp(page);
	command(qemu, page, KTRX_HWT_UNIT_ENABLE);
	if (page->error != 0)
		return KTRACE_ERROR_DEVICE;
	if (is_late(page))
		set_clock(qemu, page);
	return KTRACE_OK;
}

/*
 * Sends the current time to the unit again. So no later packet has an earlier time, even if the unit's clock
 * was slow before.
 */
static void qemu_renew(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	const struct ktrace_hwt_qemu *qemu = qemu_of(backend);

	set_clock(qemu, &qemu->page[unit->enabled - 1]);
}

/*
 * Copies position and status from the page. A position at the end of the buffer counts as a wrap.
 */
static void take_over(struct ktrace_hwt_unit *unit, const struct ktrx_hwt_unit *page)
{
	unit->position = page->position;
	if (request_of(unit)->control & KTRX_HWT_UNIT_CONTROL_STOP)
		unit->full = page->lost != 0 || page->position >= page->limit;
	unit->wraps = page->position / unit->buffer.size;
}

static int qemu_disable(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	const struct ktrace_hwt_qemu *qemu = qemu_of(backend);
	struct ktrx_hwt_unit *page = &qemu->page[cpu];

	command(qemu, page, KTRX_HWT_UNIT_DISABLE);
	take_over(unit, page);
	unit->lost += page->lost;
	return page->error == 0 ? KTRACE_OK : KTRACE_ERROR_DEVICE;
}

static int qemu_read(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	const struct ktrace_hwt_qemu *qemu = qemu_of(backend);
	struct ktrx_hwt_unit *page;

	if (unit->enabled == 0)
		return KTRACE_OK;
	page = &qemu->page[unit->enabled - 1];
	command(qemu, page, KTRX_HWT_UNIT_FLUSH);
	take_over(unit, page);
	return page->error == 0 ? KTRACE_OK : KTRACE_ERROR_DEVICE;
}

static int qemu_service(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	(void)backend;
	if (unit->position < unit->served + unit->buffer.size)
		unit->full = 0;
	return KTRACE_OK;
}

/* ---- Names and register dumps ------------------------------------------------------------------ */

static size_t qemu_describe(struct ktrace_hwt_backend *backend, const struct ktrace_hwt_config *config,
			    void *to, size_t room)
{
	const struct found *found = (const struct found *)(const void *)backend->state;
	size_t size = backend->encoding == KTRX_HWT_ENCODING_PT ? sizeof(struct ktrx_hwt_pt)
								: sizeof(struct ktrx_hwt_etm4);

	(void)config;
	if (size > room)
		return 0;
	ktrace_copy(to, found->parameters, size);
	return size;
}

static void qemu_dump(struct ktrace_hwt_backend *backend,
		      void (*print)(void *to, const char *name, uint64_t value), void *to)
{
	const struct ktrace_hwt_qemu *qemu = qemu_of(backend);

	for (uint32_t cpu = 0; cpu < qemu->cpus; cpu++) {
		const struct ktrx_hwt_unit *page = &qemu->page[cpu];

		print(to, "cpu", cpu);
		print(to, "control", page->control);
		print(to, "table", page->table);
		print(to, "start", page->start);
		print(to, "unit", page->unit);
		print(to, "error", page->error);
		print(to, "position", page->position);
		print(to, "wraps", page->wraps);
		print(to, "lost", page->lost);
	}
}

static const struct ktrace_hwt_backend_operations operations = {
	.init = qemu_init,
	.deinit = qemu_deinit,
	.cpu_init = qemu_cpu_init,
	.unit_init = qemu_unit_init,
	.unit_free = qemu_unit_free,
	.configure = qemu_configure,
	.enable = qemu_enable,
	.disable = qemu_disable,
	.renew = qemu_renew,
	.read = qemu_read,
	.service = qemu_service,
	.describe = qemu_describe,
	.dump = qemu_dump,
};

void ktrace_hwt_qemu_make(struct ktrace_hwt_backend *backend, const struct ktrace_hwt_qemu *qemu)
{
	backend->name = "qemu";
	backend->kind = KTRX_HWT_BACKEND_QEMU;
	backend->modes = 1u << KTRX_HWT_MODE_THREAD | 1u << KTRX_HWT_MODE_CPU;
	backend->levels = KTRX_HWT_USER | KTRX_HWT_KERNEL_LEVEL;
	backend->operations = &operations;
	backend->access = qemu;
	for (uint32_t cpu = 0; cpu < qemu->cpus; cpu++) {
		qemu->page[cpu].magic = KTRX_HWT_UNIT_MAGIC;
		qemu->page[cpu].version = KTRX_HWT_UNIT_VERSION;
		qemu->page[cpu].user_start = qemu->user_start;
		qemu->page[cpu].user_end = qemu->user_end;
	}
}
