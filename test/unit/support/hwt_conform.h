/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What every backend must pass, on the model of its registers (ktrace/hwt_backend.h): a test program is
 *
 *	static const struct hwt_conform conform = { … };
 *	int main(void) { return hwt_conform_run(&conform) || cmocka_run_group_tests(its own …); }
 *
 * and its sources are $(HWT_CONFORM_SRCS), the backend's and the model's. The CPU that runs is hwt_kernel.cpu of
 * test/unit/support/hwt_support.h.
 */
#ifndef TEST_HWT_CONFORM_H
#define TEST_HWT_CONFORM_H

#include <stdint.h>

#include <ktrace/hwt.h>

struct hwt_conform {
	const char *name;
	/* The model as it is after reset, and its backend, made but not added. Before each test. */
	struct ktrace_hwt_backend *(*make)(void);
	/* The same on a machine that has no such hardware. NULL: there is none. */
	struct ktrace_hwt_backend *(*make_absent)(void);
	/* Memory of a buffer or its table at this physical address, before unit_init. NULL: the model finds it by itself. */
	void (*memory)(uint64_t physical, void *host, uint64_t size);
	/*
	 * The CPU on which the unit may be enabled runs something worth so many bytes of trace, a multiple of `granule`;
	 * returns how many were written.
	 */
	uint64_t (*run)(struct ktrace_hwt_unit *unit, uint64_t bytes);
	/* What was written at a position of the unit. */
	uint8_t (*byte)(const struct ktrace_hwt_unit *unit, uint64_t position);
	/* The first rule that was broken; NULL: none. */
	const char *(*broken)(void);
	uint32_t granule; /* a divisor of 1024 */
	uint32_t can;	  /* HWT_CONFORM_* */
};
#define HWT_CONFORM_WRAPS   1u /* begins anew at the buffer's start, unless KTRACE_HWT_STOP */
#define HWT_CONFORM_STOPS   2u /* knows KTRACE_HWT_STOP, or stops always: `full`, and service lets it go on */
#define HWT_CONFORM_SCATTER 4u /* takes buffers in many pieces */

/* Runs them all; nonzero: some have failed. */
int hwt_conform_run(const struct hwt_conform *conform);

#endif
