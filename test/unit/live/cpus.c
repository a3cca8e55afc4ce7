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
#include "unit/support/script.h"

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

/* The idle loop of the kernel stops the timer, and does not call ktrace_mode(). */
static void cpu_in_its_idle_thread_is_not_stuck(void **state)
{
	static const uint8_t modes[] = { KTRX_MODE_KERNEL, KTRX_MODE_UNKNOWN };
	const uint64_t second = 1000000000;

	(void)state;
	for (unsigned n = 0; n < 4; n++) {
		struct ktrx_cpu row = { .online = 1, .heartbeats = 7, .mode = modes[n % 2], .switches = 2 };
		struct live_cpu cpu = { .named_idle = n > 1 };

		row.thread = n > 1 ? 9 : 0;
		sample_for(&cpu, &row, second, 5 * second);
		assert_int_equal(cpu.now, LIVE_IDLE);
		row.thread = 5;
		cpu.named_idle = false;
		sample_for(&cpu, &row, 5 * second, 9 * second);
		assert_int_equal(cpu.now, LIVE_STUCK);
	}
}

/* In each case, the CPU is in its idle thread, but does not rest. */
static void hang_in_the_idle_thread_is_stuck(void **state)
{
	const uint64_t second = 1000000000;

	(void)state;
	for (unsigned n = 0; n < 4; n++) {
		struct ktrx_cpu row = {
			.online = 1, .heartbeats = 7, .mode = KTRX_MODE_KERNEL, .switches = 2
		};
		struct live_cpu cpu = { 0 };
		uint64_t now = second;

		/* the kernel has its timer tick in the idle thread, or calls ktrace_mode(KTRX_MODE_IDLE) */
		for (unsigned tick = 0; n < 2 && tick < 40; tick++) {
			row.heartbeats += n == 0;
			row.mode = n == 1 ? KTRX_MODE_IDLE : KTRX_MODE_KERNEL;
			live_cpu_sample(&cpu, &row, true, 0, now += 25000000);
			assert_int_equal(cpu.now, LIVE_IDLE);
		}
		row.mode = KTRX_MODE_KERNEL;
		row.nesting = n == 2;
		row.interrupts = n == 3 ? KTRX_INTERRUPTS_OFF : KTRX_INTERRUPTS_UNKNOWN;
		sample_for(&cpu, &row, now, now + 4 * second);
		assert_int_equal(cpu.now, LIVE_STUCK);
	}
}

/* A CPU that waited for a lock gives up, or releases the lock. */
static void end_of_a_wait_for_a_lock_is_seen(void **state)
{
	static struct wellknown_table known;
	const struct ktread_event *event;

	(void)state;
	for (uint16_t end = 2; end < 4; end++) {
		struct live_cpu cpu = { 0 };
		struct ktread *trace;

		memset(&known, 0, sizeof(known));
		script_begin(2);
		script_type(1, "lock", "contend", "u64 lock");
		script_type(2, "lock", "fail", "u64 lock");
		script_type(3, "lock", "release", "u64 lock");
		script_event(1, 1, 0, 5, (uint64_t)0x99);
		script_event(3, 2, 0, 5, (uint64_t)0x77);
		script_event(end, 3, 0, 5, (uint64_t)0x99);
		trace = script_trace();
		while (ktread_next(trace, &event) > 0) {
			live_cpu_event(&cpu, event, wellknown_of(&known, event), false);
			assert_int_equal(cpu.waits, event->stamp < 3);
		}
		script_end();
	}
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
		cmocka_unit_test(cpu_in_its_idle_thread_is_not_stuck),
		cmocka_unit_test(hang_in_the_idle_thread_is_stuck),
		cmocka_unit_test(end_of_a_wait_for_a_lock_is_seen),
		cmocka_unit_test(bar_is_proportional_to_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
