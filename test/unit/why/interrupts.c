/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests findings about interrupt storms, timers that have stopped, and interrupts that are disabled for long.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>

#include "ktrx/slot.h"
#include "unit/support/script.h"
#include "unit/support/why_cpus.h"
#include "unit/support/why_support.h"

enum { BLOCK = FAULT + 1, WAKE };

/* ---- Interrupt storms ---------------------------------------------------------------------------- */

static void storm(uint64_t every, uint32_t count)
{
	uint64_t begin = 1000 * MS - count * every;

	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	why_tick(10 * MS, 1, WORKER, KERNEL);
	for (uint32_t n = 0; n < count; n++)
		why_interrupt(begin + n * every, 1, WORKER, DEVICE, KERNEL + 8, EARLY);
}

static void repeated_interrupt_is_storm(void **state)
{
	(void)state;
	storm(5000, 200);
	assert_int_equal(why_judge()->verdict, WHY_IRQ_STORM);
	/* an interrupt gives the exact address of an instruction, not a return address */
	assert_true(why_judge()->actor[0].exact);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	why_says("interrupt 4 (disk) comes again and again on CPU 1");
	why_says("5.0 us apart");
	why_says("interrupted thread 5 (worker) at 0x100008");
}

/*
 * The ring contains only a hundred interrupts, but the CPU's table row contains the number of all interrupts.
 */
static void storm_is_found_in_small_ring(void **state)
{
	(void)state;
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	why_tick(10 * MS, 1, IDLE1, KERNEL);
	script_event(OTHER, 999 * MS, 1, IDLE1)->lost = 100000;
	for (uint64_t n = 0; n < 100; n++)
		why_interrupt(999 * MS + n * 5000, 1, IDLE1, DEVICE, KERNEL + 8, EARLY);
	script_cpu(1)->irqs = 50000;
	assert_int_equal(why_judge()->verdict, WHY_IRQ_STORM);
}

/*
 * Events other than interrupts are only before the lost slots. They do not show that the CPU had time for
 * other work after the loss.
 */
static void storm_between_ticks_is_found_after_gap(void **state)
{
	(void)state;
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	for (uint64_t n = 0; n < 4000; n++)
		script_event(OTHER, 10 * MS + n, 1, WORKER);
	script_event(OTHER, 20 * MS, 1, WORKER)->lost = 1000;
	why_ticks(850 * MS, 990 * MS, 1, WORKER, KERNEL);
	for (uint64_t n = 1; n < 2500; n++)
		why_interrupt(850 * MS + n * 45000, 1, WORKER, DEVICE, KERNEL + n, EARLY);
	assert_int_equal(why_count(WHY_IRQ_STORM), 1);
}

/*
 * The kernel sets its timer to the next few microseconds again and again, and each of these interrupts is a
 * heartbeat. It is unknown which code they interrupt, so the CPU may do other work between them.
 */
static void frequent_ticks_are_only_possibly_a_storm(void **state)
{
	(void)state;
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	for (uint64_t n = 0; n < 4000; n++)
		why_tick(800 * MS + n * 40000, 1, WORKER, 0);
	assert_int_equal(why_count(WHY_IRQ_STORM), 1);
	assert_int_not_equal(why_judge()->verdict, WHY_IRQ_STORM);
	why_says("interrupt 0 (timer), which counts as a heartbeat, comes every 40.0 us on CPU 1");
}

static void few_interrupts_are_no_storm(void **state)
{
	(void)state;
	storm(5000, 20);
	assert_int_equal(why_count(WHY_IRQ_STORM), 0);
}

static void slow_interrupts_are_no_storm(void **state)
{
	(void)state;
	storm(4 * MS, 200);
	assert_int_equal(why_count(WHY_IRQ_STORM), 0);
}

/* A busy device: each interrupt has an EOI, and the CPU has time for other work before the next interrupt. */
static void many_interrupts_of_an_idle_cpu(bool ticks_rest)
{
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	why_tick(10 * MS, 1, IDLE1, KERNEL);
	for (uint64_t stamp = 800 * MS; stamp < 1000 * MS; stamp += MS / 4) {
		why_interrupt(stamp, 1, IDLE1, DEVICE, KERNEL + 8, EARLY);
		if (!ticks_rest && stamp % (10 * MS) == 0)
			why_tick(stamp + 1000, 1, IDLE1, KERNEL + 8);
	}
}

static void frequent_ended_interrupts_are_no_storm(void **state)
{
	(void)state;
	many_interrupts_of_an_idle_cpu(false);
	assert_int_equal(why_count(WHY_IRQ_STORM), 0);
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
}

static void frequent_interrupts_without_ticks_are_no_storm(void **state)
{
	(void)state;
	many_interrupts_of_an_idle_cpu(true);
	assert_int_equal(why_count(WHY_IRQ_STORM), 0);
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
}

/* ---- Timers that have stopped ---------------------------------------------------------------------- */

/* CPU 1 gets ticks until 100 ms. After that, it gets only other interrupts, up to the end. */
static struct ktrx_holder *no_ticks(uint64_t deadline)
{
	struct ktrx_holder *sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);

	why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 90 * MS);
	sleeper->deadline = deadline;
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 100 * MS, 1, IDLE1, KERNEL);
	for (uint64_t stamp = 150 * MS; stamp < 1000 * MS; stamp += 50 * MS)
		why_interrupt(stamp, 1, IDLE1, DEVICE, KERNEL, EARLY);
	return sleeper;
}

static void late_sleeper_without_ticks_is_dead_timer(void **state)
{
	(void)state;
	no_ticks(200 * MS);
	assert_int_equal(why_judge()->verdict, WHY_DEAD_TIMER);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	why_says("the timer of CPU 1 has stopped");
	why_says("thread 5 (worker)");
	why_says("800.0 ms ago");
}

/*
 * At the end, CPU 1's interrupts have been disabled since time `since`: for long, or only for the moment in
 * which a lock is taken. Checks that `expected` stopped timers are found.
 */
static void a_dead_timer_and_interrupts_off_since(uint64_t since, uint32_t expected)
{
	no_ticks(200 * MS);
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	script_cpu(1)->irq_stamp = script_cpu(1)->interrupts_stamp = since;
	assert_int_equal(why_count(WHY_DEAD_TIMER), expected);
}

static void dead_timer_is_found_while_lock_is_taken(void **state)
{
	(void)state;
	a_dead_timer_and_interrupts_off_since(950 * MS, 1);
}

static void interrupts_disabled_for_long_are_no_dead_timer(void **state)
{
	(void)state;
	a_dead_timer_and_interrupts_off_since(150 * MS, 0);
}

/*
 * CPU 0 stops at 80 ms with interrupts disabled. CPU 1 stops at 100 ms, and a sleep on it does not end at its
 * deadline.
 */
static void dead_timer_after_stop_of_another_cpu_is_possible(void **state)
{
	struct ktrx_holder *sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);

	(void)state;
	why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 90 * MS);
	sleeper->deadline = 200 * MS;
	why_ticks(10 * MS, 80 * MS, 0, WORKER + 1, KERNEL);
	why_thread_row(WORKER + 1, "halts", KTRX_THREAD_RUNNING, 0);
	why_ticks(10 * MS, 100 * MS, 1, IDLE1, KERNEL);
	script_cpu(0)->interrupts = KTRX_INTERRUPTS_OFF;
	script_cpu(0)->mode = KTRX_MODE_KERNEL;
	script_info()->registers = "cpu 0 pc=100040 sp=2000\n";
	script_info()->note = "silent: 5\n";
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
	why_says("dead-timer (possible): the timer of CPU 1 has stopped");
}

/*
 * CPU 0 counts the ticks for all CPUs, and stops at 80 ms with interrupts disabled. CPU 1 has no timer of its
 * own that could have stopped.
 */
static void cpu_that_never_had_ticks_has_no_dead_timer_after_stop_of_another(void **state)
{
	struct ktrx_holder *sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);

	(void)state;
	why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 900 * MS);
	sleeper->deadline = 1100 * MS;
	why_ticks(10 * MS, 1000 * MS, 0, WORKER + 1, KERNEL);
	why_thread_row(WORKER + 1, "halts", KTRX_THREAD_RUNNING, 0);
	script_event(OTHER, 900 * MS, 1, IDLE1);
	script_cpu(1)->now = 900 * MS;
	script_cpu(0)->interrupts = KTRX_INTERRUPTS_OFF;
	script_cpu(0)->mode = KTRX_MODE_KERNEL;
	script_info()->registers = "cpu 0 pc=100040 sp=2000\n";
	script_info()->note = "silent: 5\n";
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
	assert_int_equal(why_count(WHY_DEAD_TIMER), 0);
}

/*
 * CPU 1 idles, and its ticks end at 100 ms. The kernel does not report whether interrupts are enabled. The
 * CPU may also be in an interrupt handler that does not return.
 */
static void dead_timer_is_likely_only_if_the_cpu_can_take_interrupts(void **state)
{
	static const char *const registers[] = {
		"cpu 1 pc=100040 sp=2000 pstate=40000345\n", /* interrupts are enabled */
		"cpu 1 pc=100040 sp=2000 pstate=400003c5\n", /* disabled, and perhaps not halted */
		"",
	};

	for (size_t n = 0; n < 3; n++) {
		why_teardown(state);
		why_cpus_begin(state);
		struct ktrx_holder *sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);

		why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 90 * MS);
		sleeper->deadline = 200 * MS;
		why_ticks(10 * MS, 3000 * MS, 0, IDLE0, KERNEL);
		why_ticks(10 * MS, 100 * MS, 1, IDLE1, KERNEL);
		script_cpu(1)->interrupts = KTRX_INTERRUPTS_UNKNOWN;
		script_info()->machine = EM_AARCH64;
		script_info()->registers = registers[n];
		assert_int_equal(why_count(WHY_DEAD_TIMER), 1);
		why_says(n == 0 ? "dead-timer (likely)" : "dead-timer (possible)");
		if (n)
			why_says(n == 1 ? "pass the kernel's file (--elf)" : "examine the running machine");
	}
}

/* CPU 0 counts the ticks for all CPUs, and its timer stops. A sleep on CPU 1 does not end. */
static void sleep_on_cpu_without_ticks_shows_dead_timer_of_the_ticking_cpu(void **state)
{
	struct ktrx_holder *sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);

	(void)state;
	why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 900 * MS);
	sleeper->deadline = 1100 * MS;
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	script_event(OTHER, 900 * MS, 1, IDLE1);
	script_cpu(1)->now = 900 * MS;
	script_info()->note = "silent: 5\n";
	assert_int_equal(why_judge()->verdict, WHY_DEAD_TIMER);
	why_says("the timer of CPU 0 has stopped");
	assert_int_equal(why_count(WHY_DEAD_TIMER), 1);
}

static void missing_ticks_without_sleeper_are_healthy(void **state)
{
	(void)state;
	no_ticks(0);
	assert_int_equal(why_count(WHY_DEAD_TIMER), 0);
}

static void sleeper_before_deadline_is_healthy(void **state)
{
	(void)state;
	no_ticks(990 * MS);
	assert_int_equal(why_count(WHY_DEAD_TIMER), 0);
}

/*
 * The kernel programs its timer only when a CPU idles, and its threads are not preempted. Since 410 ms, CPU 1
 * has run a thread that never gives up the CPU. If `interrupted` is true, the timer has interrupted a thread
 * before.
 */
static struct ktrx_holder *no_ticks_while_a_thread_runs(bool interrupted)
{
	struct ktrx_holder *sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);
	struct ktrx_holder *runs = why_thread_row(CLIENT, "client", KTRX_THREAD_RUNNING, 1);

	why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 390 * MS);
	sleeper->deadline = 420 * MS;
	why_ticks(10 * MS, 4000 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 400 * MS, 1, IDLE1, KERNEL);
	if (interrupted)
		why_ticks(405 * MS, 405 * MS, 1, WORKER, KERNEL + 8);
	why_runs_on(1, 410 * MS, IDLE1, CLIENT);
	runs->state_stamp = script_cpu(1)->switch_stamp = 410 * MS;
	script_cpu(1)->thread = CLIENT;
	script_cpu(1)->mode = KTRX_MODE_KERNEL;
	script_info()->machine = 62;
	script_info()->registers = "cpu 0 pc=100040 sp=2000 flags=246\ncpu 1 pc=100080 sp=3000 flags=246\n";
	return sleeper;
}

static void thread_that_is_never_interrupted_keeps_the_cpu(void **state)
{
	(void)state;
	no_ticks_while_a_thread_runs(false);
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	assert_int_equal(why_count(WHY_DEAD_TIMER), 0);
	why_says("thread 6 (client) has kept CPU 1 for 3.59 s, at 0x100080");
	why_says("CPU 1 took interrupts only while it idled");
	why_says("thread 5 (worker), which sleeps there");
	why_says("should have been woken 3.58 s ago");
}

/* The timer used to interrupt threads as well. The last tick did not interrupt the thread that runs now. */
static void timer_that_used_to_interrupt_threads_has_stopped(void **state)
{
	(void)state;
	no_ticks_while_a_thread_runs(true);
	assert_int_equal(why_judge()->verdict, WHY_DEAD_TIMER);
	why_says("the last heartbeat of CPU 1 was 3.60 s ago, at 0x100008");
}

/* The sleeper was late before the thread began to run, so the thread is not the cause. */
static void sleeper_that_was_late_before_shows_dead_timer(void **state)
{
	(void)state;
	no_ticks_while_a_thread_runs(false)->deadline = 100 * MS;
	assert_int_equal(why_count(WHY_DEAD_TIMER), 1);
}

/*
 * CPU 1 has had no tick since 400 ms, and does not idle. It switches between two threads. If `late` is true,
 * a sleep that should have ended at 3 s has not ended.
 */
static void works_without_ticks(bool late)
{
	struct ktrx_holder *sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);
	struct ktrx_holder *runs = why_thread_row(CLIENT, "client", KTRX_THREAD_RUNNING, 1);

	script_type(BLOCK, "sched", "block", "u64 queue,u32 thread,u8 kind");
	script_type(WAKE, "sched", "wake", "u32 thread");
	why_ticks(10 * MS, 4000 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 400 * MS, 1, IDLE1, KERNEL);
	for (uint64_t stamp = 410 * MS; stamp < 4000 * MS; stamp += 20 * MS) {
		why_runs_on(1, stamp, stamp == 410 * MS ? IDLE1 : CLIENT, WORKER);
		script_event(BLOCK, stamp + MS, 1, WORKER, V(0x3000), V(WORKER), V(KTRX_WAIT_TIME));
		why_runs_on(1, stamp + 2 * MS, WORKER, CLIENT);
		script_event(WAKE, stamp + 19 * MS, 1, CLIENT, V(WORKER));
	}
	script_event(BLOCK, 3999 * MS, 1, WORKER, V(0x3000), V(WORKER), V(KTRX_WAIT_TIME));
	script_sort();
	why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 3999 * MS);
	sleeper->deadline = late ? 3000 * MS : 4010 * MS;
	runs->state_stamp = script_cpu(1)->switch_stamp = script_cpu(1)->now = 3992 * MS;
	script_cpu(1)->thread = CLIENT;
	script_cpu(1)->mode = KTRX_MODE_KERNEL;
}

static void cpu_whose_sleeps_end_on_time_is_busy_without_ticks(void **state)
{
	(void)state;
	works_without_ticks(false);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	why_says("the last heartbeat of CPU 1 was 3.61 s ago, but it switches threads, and timed sleeps end");
}

static void cpu_with_late_sleeps_is_not_busy_without_ticks(void **state)
{
	(void)state;
	works_without_ticks(true);
	assert_int_equal(why_count(WHY_BUSY), 0);
}

/*
 * One CPU takes the timer ticks for the whole machine. The other CPU has no timer of its own, and takes other
 * interrupts.
 */
static void cpu_without_timer_has_no_dead_timer(void **state)
{
	(void)state;
	no_ticks(200 * MS);
	why_cpu_beats(1, 0, 0);
	script_cpu(1)->now = 990 * MS;
	assert_int_equal(why_count(WHY_DEAD_TIMER), 0);
}

/* The host stopped both CPUs for 600 ms. In this time, CPU 1 recorded no event. */
static void delay_by_host_is_no_dead_timer(void **state)
{
	struct ktrx_holder *sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);

	(void)state;
	why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 90 * MS);
	sleeper->deadline = 120 * MS;
	why_ticks(10 * MS, 400 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 100 * MS, 1, IDLE1, KERNEL);
	script_event(OTHER, 750 * MS, 0, IDLE0);
	assert_int_equal(why_count(WHY_DEAD_TIMER), 0);
}

/* ---- Disabled interrupts ------------------------------------------------------------------------- */

/*
 * The worker runs on CPU 1 for 50 ms without a tick. The arguments decide whether it records events in this
 * time, and whether CPU 0 has ticks.
 */
static void off_for_50_ms(bool events, bool others)
{
	why_ticks(10 * MS, others ? 1000 * MS : 100 * MS, 0, IDLE0, KERNEL);
	why_tick(90 * MS, 1, IDLE1, KERNEL);
	why_runs_on(1, 100 * MS, IDLE1, WORKER);
	for (uint64_t stamp = 101 * MS; stamp < 150 * MS && events; stamp += MS)
		script_event(OTHER, stamp, 1, WORKER);
	why_tick(150 * MS, 1, WORKER, KERNEL + 16);
	why_runs_on(1, 151 * MS, WORKER, IDLE1);
	why_ticks(160 * MS, 1000 * MS, 1, IDLE1, KERNEL);
}

static void missing_ticks_show_disabled_interrupts(void **state)
{
	(void)state;
	off_for_50_ms(true, true);
	assert_int_equal(why_judge()->verdict, WHY_IRQS_OFF);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("thread 5 (worker) had interrupts disabled on CPU 1 for up to 50.0 ms");
	why_says("came at 0x100010");
}

/* CPU 1 records no events without ticks, so the host may have stopped it. */
static void cpu_without_events_is_only_possible(void **state)
{
	(void)state;
	off_for_50_ms(false, true);
	assert_int_not_equal(why_judge()->verdict, WHY_IRQS_OFF);
}

static void missing_ticks_on_all_cpus_are_only_possible(void **state)
{
	(void)state;
	off_for_50_ms(true, false);
	assert_int_not_equal(why_judge()->verdict, WHY_IRQS_OFF);
}

/*
 * The clock of a CPU was set back by more than the reader can correct. So differences of its timestamps are
 * not durations.
 */
static void clock_that_goes_back_is_ignored(void **state)
{
	const struct why_quiet *quiet;
	struct why_evidence *evidence;

	(void)state;
	why_interrupt(100 * MS, 1, WORKER, TIMER, KERNEL, EARLY);
	script_event(OTHER, 50 * MS, 1, WORKER);
	why_interrupt(60 * MS, 1, WORKER, TIMER, KERNEL, EARLY);
	assert_int_equal(why_evidence_read(&evidence, script_trace(), NULL), 0);
	quiet = &evidence->cpu[1].interrupts.quiet;
	assert_true(quiet->from <= quiet->to);
	why_evidence_free(evidence);
}

static void interrupts_that_stay_disabled_are_reported(void **state)
{
	(void)state;
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 50 * MS, 1, WORKER, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	script_cpu(1)->interrupts_pc = KERNEL + 32, script_cpu(1)->irq_stamp = 0;
	assert_int_equal(why_judge()->verdict, WHY_IRQS_OFF);
	why_says("disabled at 0x100020");
	why_says("to be more certain: capture the registers of CPU 1");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, why_cpus_begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(repeated_interrupt_is_storm),
		TEST(storm_is_found_in_small_ring),
		TEST(storm_between_ticks_is_found_after_gap),
		TEST(frequent_ticks_are_only_possibly_a_storm),
		TEST(few_interrupts_are_no_storm),
		TEST(slow_interrupts_are_no_storm),
		TEST(frequent_ended_interrupts_are_no_storm),
		TEST(frequent_interrupts_without_ticks_are_no_storm),
		TEST(late_sleeper_without_ticks_is_dead_timer),
		TEST(dead_timer_is_found_while_lock_is_taken),
		TEST(interrupts_disabled_for_long_are_no_dead_timer),
		TEST(dead_timer_after_stop_of_another_cpu_is_possible),
		TEST(cpu_that_never_had_ticks_has_no_dead_timer_after_stop_of_another),
		TEST(dead_timer_is_likely_only_if_the_cpu_can_take_interrupts),
		TEST(sleep_on_cpu_without_ticks_shows_dead_timer_of_the_ticking_cpu),
		TEST(missing_ticks_without_sleeper_are_healthy),
		TEST(sleeper_before_deadline_is_healthy),
		TEST(thread_that_is_never_interrupted_keeps_the_cpu),
		TEST(timer_that_used_to_interrupt_threads_has_stopped),
		TEST(sleeper_that_was_late_before_shows_dead_timer),
		TEST(cpu_whose_sleeps_end_on_time_is_busy_without_ticks),
		TEST(cpu_with_late_sleeps_is_not_busy_without_ticks),
		TEST(cpu_without_timer_has_no_dead_timer),
		TEST(delay_by_host_is_no_dead_timer),
		TEST(missing_ticks_show_disabled_interrupts),
		TEST(cpu_without_events_is_only_possible),
		TEST(missing_ticks_on_all_cpus_are_only_possible),
		TEST(clock_that_goes_back_is_ignored),
		TEST(interrupts_that_stay_disabled_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
