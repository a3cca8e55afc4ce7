/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * On a machine without a counter, the clock counts the heartbeats of CPU 0. Tests this clock, and that the
 * trace states the frequency of the heartbeats as the frequency of the clock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernel/core/state.h"
#include "test/fake/checker.h"

KTRACE_EVENT(test, event, "%u", (uint32_t, number));

static void heartbeats_are_the_clock(void **state)
{
	static _Alignas(64) unsigned char memory[65536];
	const struct ktrace_memory lent = { memory, sizeof(memory) };
	const struct ktrace_config config = {
		.size = sizeof(config), .slots = 512, .blocks = 1, .memory = &lent
	};
	const struct checked_ring *checked;

	(void)state;
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	assert_int_equal(ktrace_cpu_online(0), KTRACE_OK);
	for (uint32_t n = 0; n < 9; n++) {
		KTRACE(test, event, n);
		if (n % 3 == 2)
			ktrace_heartbeat(0);
	}
	assert_int_equal(ktrace_root.frequency, 100);
	checked = check_ring(1);
	assert_int_equal(checked->records, 9);
	for (uint32_t n = 0; n < 9; n++)
		assert_int_equal(checked->record[n].stamp, 1 + n / 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(heartbeats_are_the_clock) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
