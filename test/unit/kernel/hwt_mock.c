/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Runs the conformance tests of backends with the mock backend. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/support/hwt_conform.h"
#include "unit/support/hwt_support.h"

static struct ktrace_hwt_backend *make(void)
{
	hwt_mock_make(&hwt_mock, 0);
	return &hwt_mock;
}

static uint64_t run(struct ktrace_hwt_unit *unit, uint64_t bytes)
{
	return unit->enabled ? hwt_mock_run(unit, bytes) : 0;
}

static uint8_t byte(const struct ktrace_hwt_unit *unit, uint64_t position)
{
	(void)unit;
	return (uint8_t)((position & ~UINT64_C(7)) >> position % 8 * 8);
}

static const char *broken(void)
{
	return NULL;
}

int main(void)
{
	static const struct hwt_conform conform = {
		.name = "mock",
		.make = make,
		.run = run,
		.byte = byte,
		.broken = broken,
		.granule = 8,
		.can = HWT_CONFORM_WRAPS | HWT_CONFORM_STOPS,
	};

	return hwt_conform_run(&conform);
}
