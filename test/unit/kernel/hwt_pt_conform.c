/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Runs the conformance tests of backends with the backend for Intel PT. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "test/fake/hwt_log.h"
#include "test/fake/hwt_pt.h"
#include "unit/support/hwt_conform.h"

#define MSR_CTL	 0x570
#define CTL_USER 8u

static struct ktrace_hwt_backend *make(void)
{
	static struct ktrace_hwt_backend backend;

	fake_pt_reset();
	/* virtual addresses of this process serve as physical addresses */
	fake_pt_features.physical_bits = 52;
	memset(&backend, 0, sizeof(backend));
	ktrace_hwt_pt_make(&backend, &fake_pt_access);
	return &backend;
}

static struct ktrace_hwt_backend *make_absent(void)
{
	struct ktrace_hwt_backend *backend = make();

	fake_pt_features.leaf_7_ebx = 0;
	return backend;
}

/* Runs code at the privilege level that is traced. */
static uint64_t run(struct ktrace_hwt_unit *unit, uint64_t bytes)
{
	(void)unit;
	fake_pt_place.user = fake_pt_peek(MSR_CTL) & CTL_USER;
	return fake_pt_run(bytes);
}

static uint8_t byte(const struct ktrace_hwt_unit *unit, uint64_t position)
{
	return fake_pt_byte(unit->buffer.table_physical, position);
}

int main(void)
{
	static const struct hwt_conform conform = {
		.name = "pt",
		.make = make,
		.make_absent = make_absent,
		.memory = fake_pt_memory,
		.run = run,
		.byte = byte,
		.broken = fake_log_first_broken,
		.granule = 1,
		.can = HWT_CONFORM_WRAPS | HWT_CONFORM_STOPS | HWT_CONFORM_SCATTER,
	};

	return hwt_conform_run(&conform);
}
