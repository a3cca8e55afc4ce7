/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests that each backend must pass on the model of its hardware (ktrace/hwt_backend.h). A test program is
 *
 *	static const struct hwt_conform conform = { … };
 *	int main(void) { return hwt_conform_run(&conform) || cmocka_run_group_tests(its own …); }
 *
 * and its sources are $(HWT_CONFORM_SRCS), the backend's and the model's. The running CPU is hwt_kernel.cpu
 * of test/unit/support/hwt_support.h.
 */
#ifndef TEST_HWT_CONFORM_H
#define TEST_HWT_CONFORM_H

#include <stdint.h>

#include <ktrace/hwt.h>

struct hwt_conform {
	const char *name;
	/*
	 * Resets the model, and returns a new backend, which is not added to the library yet. Called before
	 * each test.
	 */
	struct ktrace_hwt_backend *(*make)(void);
	/* The same as make(), for a machine without this hardware. If NULL, no such machine is tested. */
	struct ktrace_hwt_backend *(*make_absent)(void);
	/*
	 * Gives the model access to the memory of a buffer or of its table. Called before unit_init(). If
	 * NULL, the model finds the memory itself.
	 */
	void (*memory)(uint64_t physical, void *host, uint64_t size);
	/*
	 * Runs the current CPU until it has made `bytes` bytes of trace. The unit may be enabled on this CPU
	 * or not. `bytes` is a multiple of `granule`. Returns how many bytes were written.
	 */
	uint64_t (*run)(struct ktrace_hwt_unit *unit, uint64_t bytes);
	/* Returns the byte that the model wrote at this position of the unit's trace. */
	uint8_t (*byte)(const struct ktrace_hwt_unit *unit, uint64_t position);
	/* Returns the first broken rule of the hardware, or NULL if no rule was broken. */
	const char *(*broken)(void);
	uint32_t granule; /* run() accepts only multiples of this number of bytes, which must divide 1024 */
	uint32_t can;	  /* HWT_CONFORM_*, below */
};
/* set if the backend wraps around at the end of the buffer when KTRACE_HWT_STOP is not set */
#define HWT_CONFORM_WRAPS 1u
/*
 * set if the backend stops at the end of the buffer, with KTRACE_HWT_STOP or always. It then sets `full`, and
 * continues after service().
 */
#define HWT_CONFORM_STOPS   2u
#define HWT_CONFORM_SCATTER 4u /* set if the backend supports buffers of several pieces */

/* Runs all tests. Returns nonzero if some fail. */
int hwt_conform_run(const struct hwt_conform *conform);

#endif
