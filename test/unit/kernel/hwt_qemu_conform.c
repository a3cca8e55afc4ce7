/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Runs the conformance tests of backends with the backend `qemu` and a fake unit. */
#include <string.h>

#include "ktrace/hwt_qemu.h"
#include "test/fake/hwt_unit.h"
#include "unit/support/hwt_conform.h"
#include "unit/support/hwt_support.h"

static _Alignas(4096) struct ktrx_hwt_unit page[HWT_CPUS];
static struct ktrace_hwt_qemu qemu;
static struct ktrace_hwt_backend backend;

static struct ktrace_hwt_backend *make(void)
{
	memset(page, 0, sizeof(page));
	memset(&backend, 0, sizeof(backend));
	fake_unit_reset();
	qemu = (struct ktrace_hwt_qemu){ .page = page,
					 .cpus = HWT_CPUS,
					 .user_start = 0x1000,
					 .user_end = 0x2000,
					 .ring = fake_unit_ring };
	ktrace_hwt_qemu_make(&backend, &qemu);
	return &backend;
}

static struct ktrace_hwt_backend *make_absent(void)
{
	make();
	fake_unit_unplug();
	return &backend;
}

static uint64_t run(struct ktrace_hwt_unit *unit, uint64_t bytes)
{
	(void)unit;
	return fake_unit_run(&page[hwt_kernel.cpu], bytes);
}

static uint8_t byte(const struct ktrace_hwt_unit *unit, uint64_t position)
{
	return fake_unit_byte(unit->buffer.table_physical, position);
}

int main(void)
{
	static const struct hwt_conform conform = {
		.name = "qemu",
		.make = make,
		.make_absent = make_absent,
		.run = run,
		.byte = byte,
		.broken = fake_unit_broken,
		.granule = FAKE_UNIT_PACKET,
		.can = HWT_CONFORM_WRAPS | HWT_CONFORM_STOPS | HWT_CONFORM_SCATTER,
	};

	return hwt_conform_run(&conform);
}
