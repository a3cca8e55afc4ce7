/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A kernel that is compiled with KTRACE_HWT_HOOKS=0 refuses to make contexts: without hooks, owners of
 * contexts would wait without end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/support/hwt_support.h"

static void refused(const struct ktrace_hwt_request *request)
{
	struct ktrace_hwt_owner owner = { 0 };
	uint32_t ident = 0;

	assert_int_equal(ktrace_hwt_alloc(&owner, &hwt_first()->trace, request, &ident),
			 KTRACE_ERROR_LEFT_OUT);
	assert_null(owner.first);
	assert_int_equal(ident, 0);
}

static void no_context_is_made(void **state)
{
	struct ktrace_hwt_request threads, cpus = hwt_request_cpus(1);

	(void)state;
	hwt_start();
	threads = hwt_request_thread(hwt_fork(7, 7));
	refused(&threads);
	refused(&cpus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_context_is_made, hwt_reset, hwt_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
