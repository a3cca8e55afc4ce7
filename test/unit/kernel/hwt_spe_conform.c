/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Runs the conformance tests of backends with the backend for SPE. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "test/fake/hwt_log.h"
#include "test/fake/hwt_spe.h"
#include "unit/support/hwt_conform.h"

#define PMSCR	   KTRACE_HWT_SYSREG(3, 0, 9, 9, 0)
#define PMSCR_USER 1u
#define INTERVAL   4096u /* sampling interval that the backend uses by default */
#define RECORD	   64u	 /* size of the model's records, in bytes */

static struct ktrace_hwt_backend *make(void)
{
	static struct ktrace_hwt_backend backend;

	fake_spe_reset();
	memset(&backend, 0, sizeof(backend));
	ktrace_hwt_spe_make(&backend, &fake_spe_access);
	return &backend;
}

static struct ktrace_hwt_backend *make_absent(void)
{
	struct ktrace_hwt_backend *backend = make();

	fake_spe_features.version = 0;
	return backend;
}

static void memory(uint64_t physical, void *host, uint64_t size)
{
	(void)physical;
	fake_spe_memory(host, size);
}

/* Runs code at the exception level that is sampled. */
static uint64_t run(struct ktrace_hwt_unit *unit, uint64_t bytes)
{
	(void)unit;
	fake_spe_operation.user = fake_spe_peek(PMSCR) & PMSCR_USER;
	return fake_spe_run(bytes / RECORD * INTERVAL) * RECORD;
}

static uint8_t byte(const struct ktrace_hwt_unit *unit, uint64_t position)
{
	(void)unit;
	return fake_spe_byte(1 + position / RECORD, position % RECORD);
}

int main(void)
{
	static const struct hwt_conform conform = {
		.name = "spe",
		.make = make,
		.make_absent = make_absent,
		.memory = memory,
		.run = run,
		.byte = byte,
		.broken = fake_log_first_broken,
		.granule = RECORD,
		.can = HWT_CONFORM_WRAPS | HWT_CONFORM_STOPS,
	};

	return hwt_conform_run(&conform);
}
