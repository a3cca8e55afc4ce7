/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests what `ktrace live` shows of a single CPU: whether it is stuck, and the bar that shows how it spends
 * its time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "live/page.h"

/* Takes samples as often as `ktrace live` does, from `from` (excluded) to `until`. */
static void sample_for(struct live_cpu *cpu, const struct ktrx_cpu *row, uint64_t from, uint64_t until)
{
	while ((from += 25000000) <= until)
		live_cpu_sample(cpu, row, false, 0, from);
}

/* A CPU hangs in an interrupt handler before its first timer tick has ended. */
static void hang_before_the_first_heartbeat_is_stuck(void **state)
{
	const uint64_t second = 1000000000;
	struct ktrx_cpu row = { .mode = KTRX_MODE_IDLE, .online = 1, .nesting = 1, .now = 5 };
	struct live_cpu cpu = { 0 };

	(void)state;
	live_cpu_sample(&cpu, &row, false, 0, second);
	row.now = 6;
	live_cpu_sample(&cpu, &row, false, 0, 2 * second);
	assert_true(cpu.stuck < 0.1);
	sample_for(&cpu, &row, 2 * second, 3 * second);
	assert_true(cpu.stuck > 0.9);
	assert_int_equal(cpu.now, LIVE_STUCK);
	row.nesting = 0;
	live_cpu_sample(&cpu, &row, false, 0, 5 * second);
	assert_true(cpu.stuck < 0.1);
	/* a CPU in kernel mode without heartbeats does not count as stuck, because it may be computing */
	row.mode = KTRX_MODE_KERNEL;
	live_cpu_sample(&cpu, &row, false, 0, 9 * second);
	assert_true(cpu.stuck < 0.1);
}

/* The host stops the guest and `ktrace live` for 40 s. When they run again, live is the first to run. */
static void time_without_samples_is_not_time_without_progress(void **state)
{
	const uint64_t second = UINT64_C(1000000000);
	struct ktrx_cpu row = { .online = 1, .heartbeats = 1, .mode = KTRX_MODE_KERNEL, .now = 5 };
	struct live_cpu cpu = { 0 };
	uint64_t now = 10 * second;

	(void)state;
	live_cpu_sample(&cpu, &row, true, 0, now);
	row.heartbeats++;
	live_cpu_sample(&cpu, &row, true, 0, now += second / 40);
	live_cpu_sample(&cpu, &row, true, 0, now += 40 * second);
	assert_true(cpu.stuck < 0.1);
	assert_int_equal(cpu.now, LIVE_KERNEL);
	/* the CPU hangs, and the host holds up live again and again */
	for (unsigned n = 0; n < 16; n++)
		live_cpu_sample(&cpu, &row, true, 0, now += 2 * second);
	assert_true(cpu.stuck > 1.9);
}

/* The clocks of CPUs may differ, so an old timestamp alone does not show that a CPU is stuck. */
static void cpu_with_an_old_timestamp_is_not_stuck(void **state)
{
	const uint64_t second = UINT64_C(1000000000);
	struct ktrx_cpu row = { .online = 1, .heartbeats = 1, .mode = KTRX_MODE_KERNEL, .now = 5 };
	struct live_cpu cpu = { 0 };

	(void)state;
	live_cpu_sample(&cpu, &row, true, 60 * second, second);
	assert_true(cpu.stuck < 0.1);
	row.heartbeats = 2;
	live_cpu_sample(&cpu, &row, true, 60 * second, 2 * second);
	sample_for(&cpu, &row, 2 * second, 4 * second);
	assert_true(cpu.stuck > 1.9 && cpu.stuck < 2.1);
}

static void bar_is_proportional_to_shares(void **state)
{
	struct live_cpu cpu = { .share = { 0.25, 0.5, 0, 0.25 } };
	uint8_t share[20];
	char text[21] = "";

	(void)state;
	live_bar(&cpu, text, share, 20);
	assert_string_equal(text, "uuuuukkkkkkkkkk.....");
	assert_int_equal(share[4], LIVE_USER);
	assert_int_equal(share[5], LIVE_KERNEL);
	live_bar(&cpu, text, share, 3);
	assert_memory_equal(text, "uk.", 3);
	cpu.share[LIVE_USER] = cpu.share[LIVE_KERNEL] = cpu.share[LIVE_IDLE] = 0;
	live_bar(&cpu, text, share, 20);
	assert_string_equal(text, "                    ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hang_before_the_first_heartbeat_is_stuck),
		cmocka_unit_test(time_without_samples_is_not_time_without_progress),
		cmocka_unit_test(cpu_with_an_old_timestamp_is_not_stuck),
		cmocka_unit_test(bar_is_proportional_to_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
