/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A backend that follows all rules of ktrace/hwt_backend.h. */
#include "hwt_mock.h"

#include "kernel/base/bytes.h"

/* Indexes of the backend's values in backend->state. */
enum { BYTES };

/* Indexes of a unit's values in unit->state. */
enum { STOPS, DUE };

static int mock_init(struct ktrace_hwt_backend *backend)
{
	backend->ranges = 2;
	return KTRACE_OK;
}

static int unit_init(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	(void)backend;
	return unit->buffer.base ? KTRACE_OK : KTRACE_ERROR_MEMORY;
}

static void unit_free(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	(void)backend;
	(void)unit;
}

static int configure(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit,
		     const struct ktrace_hwt_config *config)
{
	if (config->ranges > backend->ranges)
		return KTRACE_ERROR_ARGUMENT;
	unit->state[STOPS] = (config->flags & KTRACE_HWT_STOP) != 0;
	return KTRACE_OK;
}

static int enable(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	(void)cpu;
	unit->state[DUE] = backend->state[BYTES];
	return KTRACE_OK;
}

/* Writes the next 64-bit word into the buffer. Returns 0 if the buffer is full. */
static int store(struct ktrace_hwt_unit *unit)
{
	uint64_t place = unit->position % unit->buffer.size;

	if (unit->state[STOPS] && unit->position - unit->served >= unit->buffer.size) {
		unit->full = 1;
		unit->lost++;
		return 0;
	}
	*(volatile uint64_t *)((uint8_t *)unit->buffer.base + place) = unit->position;
	unit->position += 8;
	if (unit->position % unit->buffer.size == 0)
		unit->wraps++;
	return 1;
}

uint64_t hwt_mock_run(struct ktrace_hwt_unit *unit, uint64_t bytes)
{
	uint64_t written = 0;

	while (written < bytes && store(unit))
		written += 8;
	return written;
}

static int read_mock(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	(void)backend;
	hwt_mock_run(unit, unit->state[DUE]);
	unit->state[DUE] = 0;
	return KTRACE_OK;
}

static int disable(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	(void)cpu;
	return read_mock(backend, unit);
}

static int service(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	(void)backend;
	if (unit->position - unit->served < unit->buffer.size)
		unit->full = 0;
	return KTRACE_OK;
}

static const struct ktrace_hwt_backend_operations operations = {
	.init = mock_init,
	.unit_init = unit_init,
	.unit_free = unit_free,
	.configure = configure,
	.enable = enable,
	.disable = disable,
	.read = read_mock,
	.service = service,
};

void hwt_mock_make(struct ktrace_hwt_backend *backend, uint64_t bytes)
{
	ktrace_zero(backend, sizeof(*backend));
	backend->name = "mock";
	backend->kind = KTRX_HWT_BACKEND_MOCK;
	backend->modes = 1 << KTRX_HWT_MODE_THREAD | 1 << KTRX_HWT_MODE_CPU;
	backend->levels = KTRX_HWT_USER | KTRX_HWT_KERNEL_LEVEL;
	backend->operations = &operations;
	backend->state[BYTES] = bytes & ~UINT64_C(7);
}
