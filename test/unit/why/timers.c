/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests findings about a machine whose timer ticks have stopped, and whose kernel records no deadlines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <string.h>

#include "unit/support/elf_file.h"
#include "unit/support/script.h"
#include "unit/support/why_cpus.h"
#include "unit/support/why_support.h"

enum { BLOCK = FAULT + 1, WAKE };

#define SLEEPERS 3u
#define FIRST	 10u	    /* id of the first sleeper */
#define STOP	 (500 * MS) /* time of the last tick */

static bool wakes_are_recorded;

/*
 * Begins a script of a machine that the host captured 8 s after STOP. CPU 1 has no timer. The caller adds
 * ticks of CPU 0 until STOP.
 */
static int begin_events(void **state)
{
	int error = why_cpus_begin(state);

	script_type(BLOCK, "sched", "block", "u64 queue,u32 thread,u8 kind");
	if (wakes_are_recorded)
		script_type(WAKE, "sched", "wake", "u32 thread");
	why_interrupt(STOP, 1, IDLE1, DEVICE, KERNEL, EARLY);
	script_info()->registers = "cpu 0 pc=100040 sp=2000 flags=246\ncpu 1 pc=100040 sp=3000 flags=246\n";
	script_info()->machine = 62;
	script_info()->note = "silent: 8\n";
	return error;
}

static int begin_without_ticks(void **state)
{
	wakes_are_recorded = true;
	return begin_events(state);
}

static int begin_without_wakes(void **state)
{
	int error;

	wakes_are_recorded = false;
	error = begin_events(state);
	why_ticks(10 * MS, STOP, 0, IDLE0, KERNEL);
	return error;
}

static int begin(void **state)
{
	int error = begin_without_ticks(state);

	why_ticks(10 * MS, STOP, 0, IDLE0, KERNEL);
	return error;
}

/*
 * A thread sleeps on the object for 20 ms, again and again, and still sleeps at the end. `last_ms`: duration
 * of its fifth sleep.
 */
static struct ktrx_holder *sleeps_on(uint64_t object, uint32_t thread, uint64_t last_ms)
{
	struct ktrx_holder *row = why_thread_row(thread, "sleeper", KTRX_THREAD_WAITING, 1);
	uint64_t ms = thread;

	for (uint32_t n = 0; n < 10; n++) {
		script_event(BLOCK, ms * MS, 1, thread, V(object), V(thread), V(KTRX_WAIT_TIME));
		ms += n == 5 ? last_ms : 20;
		if (wakes_are_recorded)
			script_event(WAKE, ms * MS, 0, IDLE0, V(thread));
		ms++;
	}
	why_waits(row, KTRX_WAIT_TIME, object, "", ms * MS);
	script_event(BLOCK, ms * MS, 1, thread, V(object), V(thread), V(KTRX_WAIT_TIME));
	return row;
}

static struct ktrx_holder *sleeps(uint32_t thread, uint64_t last_ms)
{
	return sleeps_on(UINT64_C(0x3000) + thread, thread, last_ms);
}

static void all_sleep(uint32_t count, uint64_t longest_ms)
{
	for (uint32_t n = 0; n < count; n++)
		sleeps(FIRST + n, longest_ms);
	script_sort();
}

static void sleeps_far_longer_than_before_show_dead_timer(void **state)
{
	(void)state;
	all_sleep(SLEEPERS, 20);
	assert_int_equal(why_judge()->verdict, WHY_DEAD_TIMER);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("the timer of CPU 0, which ticked last, has stopped");
	why_says("its 10 earlier sleeps took at most 20.0 ms");
}

static void sleepers_beyond_the_fourth_are_counted(void **state)
{
	(void)state;
	all_sleep(5, 20);
	assert_int_equal(why_count(WHY_DEAD_TIMER), 1);
	why_says("1 more thread sleeps far longer than before");
}

/* Without registers, it is unknown whether the CPU could take an interrupt. */
static void dead_timer_without_registers_is_possible(void **state)
{
	(void)state;
	all_sleep(SLEEPERS, 20);
	script_info()->registers = "";
	assert_int_equal(why_count(WHY_DEAD_TIMER), 1);
	why_says("dead-timer (possible)");
}

/* The sleepers' deadlines are known, and have not passed: an idle machine may stop its ticks. */
static void deadlines_in_the_future_are_healthy(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < SLEEPERS; n++)
		sleeps(FIRST + n, 20)->deadline = 20000 * MS;
	script_sort();
	assert_int_equal(why_count(WHY_DEAD_TIMER), 0);
}

static void too_few_sleepers_show_no_dead_timer(void **state)
{
	(void)state;
	all_sleep(SLEEPERS - 1, 20);
	assert_int_equal(why_count(WHY_DEAD_TIMER), 0);
}

/* Each thread has slept for 700 ms before, so sleeps of 8 s are not unusual enough. */
static void sleeps_of_very_different_length_show_no_dead_timer(void **state)
{
	(void)state;
	all_sleep(SLEEPERS, 700);
	assert_int_equal(why_count(WHY_DEAD_TIMER), 0);
}

/* The sleeps of one thread do not show how long other threads that use the same object usually sleep. */
static void short_sleeps_of_another_thread_show_no_dead_timer(void **state)
{
	const uint64_t object = 0x3000;

	(void)state;
	sleeps_on(object, FIRST, 20);
	for (uint32_t thread = FIRST + 1; thread <= FIRST + SLEEPERS; thread++) {
		why_waits(why_thread_row(thread, "sleeper", KTRX_THREAD_WAITING, 1), KTRX_WAIT_TIME, object,
			  "", STOP - 20 * MS);
		script_event(BLOCK, STOP - 20 * MS, 1, thread, V(object), V(thread), V(KTRX_WAIT_TIME));
	}
	script_sort();
	assert_int_equal(why_count(WHY_DEAD_TIMER), 0);
}

/* The timer ticked only when a thread had to be woken. So the next tick may be due later. */
static void dead_timer_that_did_not_always_tick_is_possible(void **state)
{
	(void)state;
	for (uint64_t stamp = 10 * MS; stamp < STOP; stamp += 50 * MS)
		why_ticks(stamp, stamp + 20 * MS, 0, IDLE0, KERNEL);
	why_tick(STOP, 0, IDLE0, KERNEL);
	all_sleep(SLEEPERS, 20);
	assert_int_equal(why_count(WHY_DEAD_TIMER), 1);
	why_says("dead-timer (possible)");
}

/* Adds a tick for each wakeup of a sleeper. */
static void wake_each_sleeper(void)
{
	for (uint32_t n = 0; n < SLEEPERS; n++)
		for (uint64_t wake = 0; wake < 10; wake++)
			why_tick((FIRST + n + 20 + 21 * wake) * MS - MS / 4, 0, IDLE0, KERNEL);
}

/*
 * The kernel programs its timer only for the next wakeup. So ticks came at short intervals, but each of them
 * woke a thread. All threads now sleep for a minute.
 */
static void ticks_that_each_woke_a_thread_show_no_regular_tick(void **state)
{
	(void)state;
	wake_each_sleeper();
	all_sleep(SLEEPERS, 20);
	assert_int_equal(why_count(WHY_DEAD_TIMER), 1);
	why_says("dead-timer (possible)");
}

/* Another CPU still has its timer ticks. */
static void ticks_of_another_cpu_show_no_dead_timer(void **state)
{
	(void)state;
	all_sleep(SLEEPERS, 20);
	why_cpu_beats(1, 100, 8490 * MS);
	script_info()->note = "";
	assert_int_equal(why_count(WHY_DEAD_TIMER), 0);
}

/*
 * CPU 1 has no timer. Its thread yields until it gets a lock. The registers show disabled interrupts, which
 * is normal for a moment. The holder of the lock sleeps.
 */
static void thread_that_tries_to_take_a_lock_is_not_the_cause(void **state)
{
	struct ktrx_holder *trier = why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);

	(void)state;
	all_sleep(SLEEPERS, 20);
	why_holds(sleeps(FIRST + SLEEPERS, 20), LOCK_A, STOP - MS);
	why_waits(trier, KTRX_WAIT_LOCK, LOCK_A, "yielding", STOP);
	trier->owner = FIRST + SLEEPERS + 1;
	trier->state_stamp = STOP;
	script_sort();
	script_cpu(1)->mode = KTRX_MODE_KERNEL;
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_UNKNOWN;
	script_cpu(1)->thread = WORKER;
	script_info()->registers = "cpu 0 pc=100040 sp=2000 flags=246\ncpu 1 pc=100040 sp=3000 flags=46\n";
	assert_int_equal(why_judge()->verdict, WHY_DEAD_TIMER);
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
}

/* CPU 1 has stopped with interrupts disabled. CPU 0 may wait for it. */
static void stop_of_another_cpu_may_be_the_cause(void **state)
{
	(void)state;
	all_sleep(SLEEPERS, 20);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1)->state_stamp = STOP;
	script_cpu(1)->mode = KTRX_MODE_KERNEL;
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_UNKNOWN;
	script_cpu(1)->thread = WORKER;
	script_info()->registers = "cpu 0 pc=100040 sp=2000 flags=246\ncpu 1 pc=100040 sp=3000 flags=46\n";
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
	assert_int_equal(why_count(WHY_DEAD_TIMER), 0);
}

/* The RAM of a guest was watched for 1.2 s: its CPUs were idle, and recorded nothing. */
static void is_watched_in_vain(void)
{
	all_sleep(SLEEPERS, 20);
	script_info()->form = KTREAD_FORM_RAM;
	script_info()->outcome = KTRX_OUTCOME_RUNNING;
	script_info()->registers = "";
	script_info()->note = "silent: 1.2 s or more\n";
}

static void regular_ticks_that_have_ended_leave_open_whether_the_machine_idles(void **state)
{
	(void)state;
	is_watched_in_vain();
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_judge()->base.certain, FINDING_POSSIBLE);
	assert_int_equal(why_judge()->base.mark, FINDING_NOTE);
	why_says("the timer of CPU 0 ticked also when no thread was to be woken");
	why_says("it may have stopped");
}

static void ticks_may_have_woken_threads_if_wakeups_are_not_recorded(void **state)
{
	(void)state;
	is_watched_in_vain();
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_judge()->base.certain, FINDING_POSSIBLE);
	why_says("the timer of CPU 0 ticked also when the CPU idled, but not while the machine was watched");
	why_says("it may have stopped; wakeups are not recorded");
}

/* The kernel programs its timer only for the next wakeup, so a machine that idles records nothing. */
static void machine_without_regular_ticks_may_be_watched_in_vain(void **state)
{
	(void)state;
	wake_each_sleeper();
	is_watched_in_vain();
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	assert_int_equal(why_judge()->base.mark, FINDING_OK);
}

/*
 * CPU 1 idles, its ticks end, and the registers show disabled interrupts. The advice to pass the kernel's
 * file is given only if the file was not passed.
 */
static void kernel_file_that_is_known_is_not_asked_for(void **state)
{
	static const struct elf_file_section sections[] = {
		{ ".text", KERNEL, 0x20000, ELF_FILE_CODE | ELF_FILE_BOTH },
		{ ".bss", KERNEL + 0x20000, 0x1000, ELF_FILE_DATA | ELF_FILE_BOTH },
		{ NULL, 0, 0, 0 },
	};
	static const struct elf_file_symbol names[] = {
		{ "handler", KERNEL, 0x100, STT_FUNC, 1 },
		{ "ktrace_root", KERNEL + 0x20000, 0x200, STT_OBJECT, 2 },
		{ NULL, 0, 0, 0, 0 },
	};
	static const struct elf_file file = { EM_AARCH64, ET_EXEC, sections, names };

	for (unsigned known = 0; known < 2; known++) {
		why_teardown(state);
		why_cpus_begin(state);
		struct ktrx_holder *sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);

		why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 90 * MS);
		sleeper->deadline = 200 * MS;
		why_ticks(10 * MS, 3000 * MS, 0, IDLE0, KERNEL);
		why_ticks(10 * MS, 100 * MS, 1, IDLE1, KERNEL);
		script_cpu(1)->interrupts = KTRX_INTERRUPTS_UNKNOWN;
		script_info()->machine = EM_AARCH64;
		script_info()->self = KERNEL + 0x20000;
		script_info()->registers = "cpu 1 pc=100040 sp=2000 pstate=400003c5\n";
		if (known)
			why_kernel_file(&file);
		why_says("dead-timer (possible)");
		why_says(known ? "check what this CPU does at the end" : "pass the kernel's file (--elf)");
	}
}

/* ---- Kernels that record deadlines --------------------------------------------------------------- */

/* The last tick of CPU 1 is at 650 ms. A thread that sleeps there should have been woken at 700 ms. */
static int begin_late_sleeper(void **state)
{
	int error = why_cpus_begin(state);
	struct ktrx_holder *sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);

	why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 90 * MS);
	sleeper->deadline = 700 * MS;
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 640 * MS, 1, IDLE1, KERNEL);
	return error;
}

/* After its last tick, CPU 1 takes other interrupts every 10 ms, except that it pauses once. */
static void pauses_after_its_last_tick(uint64_t pause_ms)
{
	why_tick(650 * MS, 1, IDLE1, KERNEL);
	for (uint64_t ms = 660; ms < 1000; ms += ms == 720 ? pause_ms : 10)
		why_interrupt(ms * MS, 1, IDLE1, DEVICE, KERNEL, EARLY);
}

/* The host did not run the CPU for 150 ms, and may also have delayed its timer. */
static void pause_of_one_cpu_is_no_dead_timer(void **state)
{
	(void)state;
	pauses_after_its_last_tick(150);
	assert_int_equal(why_count(WHY_DEAD_TIMER), 0);
}

static void time_before_and_after_a_short_pause_is_counted(void **state)
{
	(void)state;
	pauses_after_its_last_tick(90);
	assert_int_equal(why_judge()->verdict, WHY_DEAD_TIMER);
	why_says("the CPU continued to run for at least 250.0 ms");
}

/* The times of the events before and after a lost one show that the CPU paused for 10 ms at most. */
static void lost_event_is_no_pause(void **state)
{
	(void)state;
	pauses_after_its_last_tick(10);
	for (unsigned n = 0; n < script_count(); n++)
		if (script_at(n)->cpu == 1 && script_at(n)->stamp == 900 * MS)
			script_change(n)->lost = 1;
	assert_int_equal(why_judge()->verdict, WHY_DEAD_TIMER);
	why_says("the CPU continued to run for at least 330.0 ms");
}

/*
 * The kernel's tables show a switch on CPU 1 two seconds after its last event. The host may have stopped the
 * CPU in between, but not for so long.
 */
static void switch_without_event_makes_dead_timer_likely(void **state)
{
	for (unsigned on = 0; on < 2; on++) {
		why_teardown(state);
		begin_late_sleeper(state);
		why_tick(650 * MS, 1, IDLE1, KERNEL);
		why_ticks(1010 * MS, 3000 * MS, 0, IDLE0, KERNEL);
		script_cpu(1)->interrupts = on ? KTRX_INTERRUPTS_ON : KTRX_INTERRUPTS_UNKNOWN;
		script_cpu(1)->heartbeat_stamp += on ? 0 : MS;
		script_cpu(1)->now = script_cpu(1)->switch_stamp = 2650 * MS;
		assert_int_equal(why_judge()->verdict, WHY_DEAD_TIMER);
		assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	}
}

/* CPU 1 is still in the handler of its last tick, which waits for a lock. */
static void handler_of_the_last_tick_that_lasts_is_no_dead_timer(void **state)
{
	(void)state;
	script_event(ENTER, 650 * MS, 1, IDLE1, V(TIMER), "timer", V(KERNEL));
	why_cpu_beats(1, 65, 650 * MS);
	script_cpu(1)->irq_stamp = 650 * MS;
	script_cpu(1)->nesting = 1;
	for (uint64_t stamp = 660 * MS; stamp < 1000 * MS; stamp += 10 * MS)
		script_event(OTHER, stamp, 1, IDLE1);
	assert_int_equal(why_count(WHY_DEAD_TIMER), 0);
}

/* The count of handlers is too great. But CPU 1 has changed its mode: it has left the last handler. */
static void wrong_count_of_handlers_hides_no_dead_timer(void **state)
{
	(void)state;
	why_tick(650 * MS, 1, IDLE1, KERNEL);
	script_cpu(1)->nesting = 1;
	script_cpu(1)->mode_stamp = script_cpu(1)->heartbeat_stamp;
	for (uint64_t stamp = 660 * MS; stamp < 1000 * MS; stamp += 10 * MS)
		script_event(OTHER, stamp, 1, IDLE1);
	assert_int_equal(why_judge()->verdict, WHY_DEAD_TIMER);
}

/* ---- Interrupts that stay disabled while the thread works ---------------------------------------- */

/*
 * CPU 1 runs WORKER, which disables interrupts at 120 ms. WORKER records events every 10 ms until 3 s, except
 * for `pause_ms`. Before, CPU 1 had a tick every `tick_ms`.
 */
static void works_after_ticks(uint64_t tick_ms, uint64_t pause_ms, const char *registers)
{
	why_ticks(10 * MS, 3000 * MS, 0, IDLE0, KERNEL);
	for (uint64_t ms = 10; ms <= 100; ms += tick_ms)
		why_tick(ms * MS, 1, IDLE1, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1)->state_stamp = 110 * MS;
	why_runs_on(1, 110 * MS, IDLE1, WORKER);
	for (uint64_t ms = 120; ms <= 3000; ms += ms == 150 ? pause_ms : 10)
		script_event(OTHER, ms * MS, 1, WORKER);
	script_sort();
	script_cpu(1)->mode = KTRX_MODE_KERNEL;
	script_cpu(1)->thread = WORKER;
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	script_cpu(1)->interrupts_stamp = 120 * MS;
	script_cpu(1)->interrupts_pc = KERNEL + 32;
	script_info()->machine = EM_X86_64;
	script_info()->registers = registers;
}

static void works_without_interrupts(uint64_t pause_ms, const char *registers)
{
	works_after_ticks(10, pause_ms, registers);
}

static void thread_that_works_with_interrupts_disabled_is_reported(void **state)
{
	(void)state;
	works_without_interrupts(10, "cpu 1 pc=100040 sp=2000 flags=46 cs=8\n");
	assert_int_equal(why_judge()->verdict, WHY_IRQS_OFF);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("thread 5 (worker) runs on CPU 1 with interrupts disabled, for up to 2.88 s");
	why_says("disabled at 0x100020");
}

/* The hook does not read the clock. If the kernel stops ticks, the last clock reading may be old. */
static void disabled_interrupts_of_a_cpu_without_regular_ticks_are_possible(void **state)
{
	(void)state;
	works_after_ticks(30, 10, "cpu 1 pc=100040 sp=2000 flags=46 cs=8\n");
	assert_int_equal(why_count(WHY_IRQS_OFF), 1);
	why_says("irqs-off (possible): thread 5 (worker) runs on CPU 1 with interrupts disabled");
	why_says("the kernel may have disabled interrupts only a moment ago");
}

static void registers_may_show_enabled_interrupts(void **state)
{
	(void)state;
	works_without_interrupts(10, "cpu 1 pc=100040 sp=2000 flags=246 cs=8\n");
	assert_int_equal(why_count(WHY_IRQS_OFF), 0);
}

/* Only the registers show disabled interrupts, at one moment. */
static void interrupts_that_the_kernel_does_not_report_may_be_enabled_again(void **state)
{
	(void)state;
	works_without_interrupts(10, "cpu 1 pc=100040 sp=2000 flags=46 cs=8\n");
	script_cpu(1)->interrupts_pc = 0;
	assert_int_equal(why_count(WHY_IRQS_OFF), 0);
}

static void switch_may_enable_interrupts_again(void **state)
{
	(void)state;
	works_without_interrupts(10, "cpu 1 pc=100040 sp=2000 flags=46 cs=8\n");
	script_cpu(1)->switch_stamp = 2000 * MS;
	assert_int_equal(why_count(WHY_IRQS_OFF), 0);
}

static void host_may_stop_a_cpu_while_its_interrupts_are_disabled(void **state)
{
	(void)state;
	works_without_interrupts(2800, "cpu 1 pc=100040 sp=2000 flags=46 cs=8\n");
	assert_int_equal(why_count(WHY_IRQS_OFF), 0);
}

/* Events before the last tick do not show that the CPU ran later. */
static void events_overwritten_before_the_last_tick_prove_nothing(void **state)
{
	(void)state;
	works_without_interrupts(2800, "cpu 1 pc=100040 sp=2000 flags=46 cs=8\n");
	script_ring(1)->overwritten = 1000;
	assert_int_equal(why_count(WHY_IRQS_OFF), 0);
}

/*
 * The registers show that CPU 1 has just entered a handler. CPU 0 idles, and has had a tick every 10 ms until
 * `ticks_ms`. The trace ends at 2050 ms.
 */
static void last_ticks_at(uint64_t ticks_ms)
{
	why_ticks(10 * MS, ticks_ms * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 1000 * MS, 1, WORKER, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	script_cpu(1)->mode = KTRX_MODE_KERNEL;
	script_cpu(1)->thread = WORKER;
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_UNKNOWN;
	script_info()->machine = EM_X86_64;
	script_info()->registers =
		"cpu 0 pc=100040 sp=1000 flags=246\ncpu 1 pc=100040 sp=2000 flags=46 cs=8\n";
	script_type(WAKE, "sched", "wake", "u32 thread");
	script_event(WAKE, MS, 0, IDLE0, V(WORKER));
	script_event(OTHER, 2 * MS, 0, IDLE0);
	script_sort();
	script_info()->note = ticks_ms > 1000 ? "" : "silent: 1.05\n";
}

static void machine_that_the_host_stopped_does_not_spin(void **state)
{
	(void)state;
	last_ticks_at(1000);
	assert_non_null(why_judge());
	assert_null(strstr(why_text(), "spins in the kernel with interrupts disabled"));
}

static void one_cpu_without_ticks_spins(void **state)
{
	(void)state;
	last_ticks_at(2050);
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
	why_says("spins in the kernel with interrupts disabled on CPU 1");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)
#define CPUS(name) cmocka_unit_test_setup_teardown(name, why_cpus_begin, why_teardown)
#define LATE(name) cmocka_unit_test_setup_teardown(name, begin_late_sleeper, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sleeps_far_longer_than_before_show_dead_timer),
		TEST(sleepers_beyond_the_fourth_are_counted),
		TEST(dead_timer_without_registers_is_possible),
		TEST(deadlines_in_the_future_are_healthy),
		TEST(too_few_sleepers_show_no_dead_timer),
		TEST(sleeps_of_very_different_length_show_no_dead_timer),
		TEST(short_sleeps_of_another_thread_show_no_dead_timer),
		cmocka_unit_test_setup_teardown(dead_timer_that_did_not_always_tick_is_possible,
						begin_without_ticks, why_teardown),
		cmocka_unit_test_setup_teardown(ticks_that_each_woke_a_thread_show_no_regular_tick,
						begin_without_ticks, why_teardown),
		TEST(regular_ticks_that_have_ended_leave_open_whether_the_machine_idles),
		cmocka_unit_test_setup_teardown(ticks_may_have_woken_threads_if_wakeups_are_not_recorded,
						begin_without_wakes, why_teardown),
		cmocka_unit_test_setup_teardown(machine_without_regular_ticks_may_be_watched_in_vain,
						begin_without_ticks, why_teardown),
		TEST(ticks_of_another_cpu_show_no_dead_timer),
		TEST(thread_that_tries_to_take_a_lock_is_not_the_cause),
		TEST(stop_of_another_cpu_may_be_the_cause),
		TEST(kernel_file_that_is_known_is_not_asked_for),
		CPUS(thread_that_works_with_interrupts_disabled_is_reported),
		CPUS(disabled_interrupts_of_a_cpu_without_regular_ticks_are_possible),
		CPUS(registers_may_show_enabled_interrupts),
		CPUS(interrupts_that_the_kernel_does_not_report_may_be_enabled_again),
		CPUS(switch_may_enable_interrupts_again),
		CPUS(host_may_stop_a_cpu_while_its_interrupts_are_disabled),
		CPUS(events_overwritten_before_the_last_tick_prove_nothing),
		CPUS(machine_that_the_host_stopped_does_not_spin),
		CPUS(one_cpu_without_ticks_spins),
		LATE(pause_of_one_cpu_is_no_dead_timer),
		LATE(time_before_and_after_a_short_pause_is_counted),
		LATE(lost_event_is_no_pause),
		LATE(switch_without_event_makes_dead_timer_likely),
		LATE(handler_of_the_last_tick_that_lasts_is_no_dead_timer),
		LATE(wrong_count_of_handlers_hides_no_dead_timer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
