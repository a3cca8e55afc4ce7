/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Runs the conformance tests of backends with the backend `coresight`, and with four CPUs whose trace is
 * stored in an ETF. Here memory contains unformatted bytes of trace units. test/unit/kernel/hwt_coresight.c
 * tests memory that contains frames.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/hwt_drivers/coresight.h"
#include "test/fake/hwt_log.h"
#include "unit/support/hwt_conform.h"
#include "unit/support/hwt_coresight_support.h"
#include "unit/support/hwt_support.h"

#define UNITS 8u
#define MOST  (1u << 20)

/*
 * For each unit, the bytes that the model has produced. The model itself stores bytes for each CPU, not for
 * each unit, and a CPU may produce bytes for several units.
 */
static struct {
	const struct ktrace_hwt_unit *unit;
	uint64_t count;
	uint8_t byte[MOST];
} written[UNITS];

static size_t index_of(const struct ktrace_hwt_unit *unit)
{
	for (size_t i = 0; i < UNITS; i++) {
		if (!written[i].unit)
			written[i].unit = unit;
		if (written[i].unit == unit)
			return i;
	}
	fail_msg("more units than expected");
	return 0;
}

static struct ktrace_hwt_backend *make(void)
{
	for (size_t i = 0; i < UNITS; i++) {
		written[i].unit = NULL;
		written[i].count = 0;
	}
	cs_machine(&cs_four);
	fake_coresight_sram = FAKE_CORESIGHT_SRAM_MOST;
	return &cs.backend;
}

static struct ktrace_hwt_backend *make_absent(void)
{
	make();
	fake_coresight_idr(0)[1] = 0;
	return &cs.backend;
}

/* Runs code at the exception level that is traced. */
static uint64_t run(struct ktrace_hwt_unit *unit, uint64_t bytes)
{
	uint64_t before = fake_coresight_made(hwt_kernel.cpu), made, stored;
	size_t i = index_of(unit);

	for (uint32_t level = 0; level <= 1; level++)
		if (fake_coresight_made(hwt_kernel.cpu) == before)
			fake_coresight_run(hwt_kernel.cpu, level, 0x1000, 0, bytes);
	made = fake_coresight_made(hwt_kernel.cpu) - before;
	stored = made;
	if (((struct ktrace_coresight_request *)(void *)unit->state)->stops &&
	    written[i].count + stored > unit->served + unit->buffer.size)
		stored = unit->served + unit->buffer.size - written[i].count;
	assert_true(written[i].count + stored <= MOST);
	for (uint64_t n = 0; n < stored; n++)
		written[i].byte[written[i].count++] = fake_coresight_byte(hwt_kernel.cpu, before + n);
	return stored;
}

static uint8_t byte(const struct ktrace_hwt_unit *unit, uint64_t position)
{
	return written[index_of(unit)].byte[position];
}

int main(void)
{
	static const struct hwt_conform conform = {
		.name = "coresight",
		.make = make,
		.make_absent = make_absent,
		.run = run,
		.byte = byte,
		.broken = fake_log_first_broken,
		.granule = 16,
		.can = HWT_CONFORM_WRAPS | HWT_CONFORM_STOPS,
	};

	return hwt_conform_run(&conform);
}
