/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests findings about a CPU that takes no interrupt for a while: because interrupts were disabled, or
 * because no interrupt occurred.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ktrx/slot.h"
#include "unit/support/script.h"
#include "unit/support/why_support.h"

#define V(value) ((uint64_t)(value))

#define IDLE0  1u
#define WORKER 5u
#define HIGH   UINT64_C(0xffffffff80100000)
#define LAST   (4000 * MS)

enum { OTHER = 1, IRQ };

static int begin(void **state)
{
	int error = why_setup(state);

	script_type(OTHER, "mine", "other", "");
	script_type(IRQ, "irq", "enter", "u32 irq,u64 ip");
	script_thread(IDLE0, "idle/0");
	script_info()->cpus = 2;
	script_info()->self = HIGH;
	why_cpu_row(0, KTRX_MODE_IDLE);
	why_cpu_row(1, KTRX_MODE_KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1)->state_stamp = MS;
	for (uint64_t stamp = 10 * MS; stamp <= LAST; stamp += 10 * MS)
		script_event(IRQ, stamp, 0, IDLE0, V(0), HIGH)->context = KTRX_CONTEXT_INTERRUPT;
	return error;
}

static void tick(uint64_t stamp, uint64_t pc)
{
	script_event(IRQ, stamp, 1, WORKER, V(0), pc)->context = KTRX_CONTEXT_INTERRUPT;
	script_cpu(1)->heartbeats++;
	script_cpu(1)->heartbeat_stamp = script_cpu(1)->now = stamp;
	script_cpu(1)->thread = WORKER;
}

/* The worker records an event in each millisecond between `from` and `to`, a period without ticks. */
static void work(uint64_t from, uint64_t to)
{
	for (uint64_t stamp = from + MS / 2; stamp < to; stamp += MS)
		script_event(OTHER, stamp, 1, WORKER);
}

/*
 * CPU 1 has a tick every 10 ms, but none between 1000 ms and 1200 ms. The tick after that period interrupts
 * the CPU at `pc`.
 */
static void miss_ticks(uint64_t pc)
{
	for (uint64_t stamp = 10 * MS; stamp <= LAST; stamp += 10 * MS)
		if (stamp <= 1000 * MS || stamp >= 1200 * MS)
			tick(stamp, stamp == 1200 * MS ? pc : HIGH + stamp / MS % 90 * 64);
	work(1000 * MS, 1200 * MS);
}

/* A CPU has a single thread, so the kernel stops the tick. Other interrupts occur now and then. */
static void rest_ticks(void)
{
	for (uint64_t stamp = 20 * MS, n = 0; stamp <= LAST; n++, stamp += (60 + n * 37 % 140) * MS)
		tick(stamp, HIGH + 0x1000 + n * 24);
	work(20 * MS, LAST);
}

static void missing_regular_ticks_are_likely(void **state)
{
	(void)state;
	miss_ticks(HIGH + 0x40);
	assert_int_equal(why_judge()->verdict, WHY_IRQS_OFF);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("thread 5 (worker) had interrupts disabled on CPU 1 for up to 200.0 ms");
}

static void missing_irregular_ticks_are_possible(void **state)
{
	(void)state;
	rest_ticks();
	assert_int_not_equal(why_judge()->verdict, WHY_IRQS_OFF);
	assert_int_equal(why_count(WHY_IRQS_OFF), 1);
	why_says("thread 5 (worker) ran on CPU 1 without an interrupt for up to");
	why_says("a CPU whose tick is stopped takes no interrupts either");
}

/*
 * Interrupts were disabled for the last time long before the period without ticks. So they were enabled in
 * this period.
 */
static void earlier_disable_stamp_refutes_finding(void **state)
{
	(void)state;
	miss_ticks(HIGH + 0x40);
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_ON;
	script_cpu(1)->interrupts_stamp = 500 * MS;
	assert_int_equal(why_count(WHY_IRQS_OFF), 0);
}

static void later_disable_stamp_does_not_refute_finding(void **state)
{
	(void)state;
	miss_ticks(HIGH + 0x40);
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_ON;
	script_cpu(1)->interrupts_stamp = 3000 * MS;
	assert_int_equal(why_judge()->verdict, WHY_IRQS_OFF);
}

/* In user mode, interrupts are enabled. */
static void interrupted_user_mode_is_possible(void **state)
{
	(void)state;
	miss_ticks(0x400000);
	assert_int_not_equal(why_judge()->verdict, WHY_IRQS_OFF);
}

/* ---- CPUs that the host has stopped -------------------------------------------------------------------- */

/*
 * The worker records an event after its tick at 1000 ms, and no other event until its next tick at `resumed`.
 */
static void stop_worker_until(uint64_t resumed)
{
	for (uint64_t stamp = 10 * MS; stamp <= 1000 * MS; stamp += 10 * MS)
		tick(stamp, HIGH + stamp / MS % 90 * 64);
	work(1000 * MS, 1005 * MS);
	tick(resumed, HIGH + 0x40);
	for (uint64_t stamp = resumed + 10 * MS; stamp <= LAST; stamp += 10 * MS)
		tick(stamp, HIGH + stamp / MS % 90 * 64);
}

/* A busy host stopped the virtual CPU for a while. Nothing shows that the CPU ran without an interrupt. */
static void cpu_stopped_by_host_is_not_reported(void **state)
{
	static const uint64_t resumed[] = { 1040 * MS, 1130 * MS, 1400 * MS, 1900 * MS };

	(void)state;
	for (size_t n = 0; n < sizeof(resumed) / sizeof(resumed[0]); n++) {
		stop_worker_until(resumed[n]);
		assert_int_equal(why_count(WHY_IRQS_OFF), 0);
		why_teardown(NULL);
		begin(NULL);
	}
}

/* A host does not stop a virtual CPU for so long while it runs the other virtual CPUs. */
static void two_seconds_of_silence_are_possible(void **state)
{
	(void)state;
	stop_worker_until(3000 * MS);
	assert_int_equal(why_count(WHY_IRQS_OFF), 1);
	assert_int_not_equal(why_judge()->verdict, WHY_IRQS_OFF);
	why_says("irqs-off (possible): thread 5 (worker) ran on CPU 1 without an interrupt for up to");
}

/* QEMU was stopped, so all virtual CPUs were stopped. Then all their clocks jump. */
static void stopped_machine_is_not_reported(void **state)
{
	(void)state;
	why_teardown(NULL);
	begin(NULL);
	stop_worker_until(3000 * MS);
	for (unsigned n = 0; n < script_count(); n++) {
		struct ktread_event *event = (struct ktread_event *)script_at(n);

		if (event->cpu == 0 && event->stamp > 1000 * MS && event->stamp < 3000 * MS)
			event->stamp = LAST;
	}
	assert_int_equal(why_count(WHY_IRQS_OFF), 0);
}

/* The worker ran, but no CPU got a tick. The host's timers were late, or the interrupt controller failed. */
static void late_ticks_on_all_cpus_are_not_reported(void **state)
{
	(void)state;
	miss_ticks(HIGH + 0x40);
	for (unsigned n = 0; n < script_count(); n++) {
		struct ktread_event *event = (struct ktread_event *)script_at(n);

		if (event->cpu == 0 && event->stamp > 1000 * MS && event->stamp < 1200 * MS)
			event->stamp = 1201 * MS;
	}
	assert_int_equal(why_count(WHY_IRQS_OFF), 0);
}

/* ---- CPUs without ticks at the end -------------------------------------------------------------------- */

/* CPU 1 ran the worker with ticks for a second, and then without ticks. The worker still records events. */
static void lose_ticks(const char *registers)
{
	script_info()->machine = EM_X86_64;
	for (uint64_t stamp = 10 * MS; stamp <= 1000 * MS; stamp += 10 * MS)
		tick(stamp, 0x401000);
	work(1000 * MS, LAST);
	script_cpu(0)->heartbeats = LAST / (10 * MS);
	script_cpu(0)->heartbeat_stamp = script_cpu(0)->now = LAST;
	script_cpu(1)->mode = KTRX_MODE_USER;
	script_cpu(1)->mode_stamp = 990 * MS;
	script_info()->registers = registers;
}

/* The flags that the kernel restored when it returned to the program disable interrupts. */
static void program_with_interrupts_disabled_is_reported(void **state)
{
	(void)state;
	lose_ticks("cpu 1 pc=401087 sp=2000 flags=16 cs=2b\n");
	assert_int_equal(why_judge()->verdict, WHY_IRQS_OFF);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("thread 5 (worker) runs in user mode with interrupts disabled on CPU 1");
	why_says("the last heartbeat of CPU 1 was 3.00 s ago");
	why_says("check the flags that the kernel restores when it returns to user mode");
}

/* The program is the reason why the sleep of another thread is late. The kernel has enabled interrupts. */
static void program_with_interrupts_disabled_shows_no_dead_timer(void **state)
{
	struct ktrx_holder *sleeper = why_thread_row(6, "sleeper", KTRX_THREAD_WAITING, 1);

	(void)state;
	why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 900 * MS);
	sleeper->deadline = 1100 * MS;
	lose_ticks("cpu 1 pc=401087 sp=2000 flags=16 cs=2b\n");
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_ON;
	assert_int_equal(why_judge()->verdict, WHY_IRQS_OFF);
	assert_int_equal(why_count(WHY_DEAD_TIMER), 0);
}

/* A program whose CPU had a tick a moment ago takes its ticks, whatever the registers seem to show. */
static void program_that_is_interrupted_is_not_reported(void **state)
{
	(void)state;
	lose_ticks("cpu 1 pc=401087 sp=2000 flags=16 cs=2b\n");
	script_cpu(1)->heartbeat_stamp = script_cpu(1)->now = LAST;
	assert_int_not_equal(why_judge()->verdict, WHY_IRQS_OFF);
	assert_int_equal(why_count(WHY_IRQS_OFF), 0);
}

/* Interrupts are enabled, but no tick comes. Some kernels stop the tick of a CPU that runs a single thread. */
static void missing_ticks_of_a_program_are_unknown(void **state)
{
	(void)state;
	lose_ticks("cpu 1 pc=401087 sp=2000 flags=216 cs=2b\n");
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("CPU 1 does not idle, and has had no heartbeat for 3.00 s");
	why_says("interrupts are enabled there, as its registers show: thread 5 (worker) runs at 0x401087");
	why_says(
		"if this kernel does not stop the tick of a CPU that runs a single thread, the timer of CPU 1 "
		"has stopped");
}

/*
 * CPU 1 took interrupts only while it idled, and now runs a thread of the kernel: in a kernel that programs
 * its timer only while a CPU idles, no tick has to come.
 */
static void thread_without_ticks_may_keep_the_cpu(void **state)
{
	(void)state;
	script_cpu(0)->heartbeats = LAST / (10 * MS);
	script_cpu(0)->heartbeat_stamp = script_cpu(0)->now = LAST;
	script_info()->machine = EM_X86_64;
	for (uint64_t stamp = 10 * MS; stamp <= 1000 * MS; stamp += 10 * MS) {
		script_event(IRQ, stamp, 1, 0, V(0), HIGH)->context = KTRX_CONTEXT_INTERRUPT;
		script_cpu(1)->heartbeats++;
		script_cpu(1)->heartbeat_stamp = script_cpu(1)->now = stamp;
	}
	script_event(OTHER, 1005 * MS, 1, WORKER);
	script_cpu(1)->thread = WORKER;
	script_sort();
	script_info()->registers = "cpu 1 pc=ffffffff80100087 sp=2000 flags=216 cs=8\n";
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("CPU 1 took interrupts only while it idled: perhaps no timer interrupts its threads");
	why_says("take another trace later: if this thread still runs, it never gives up CPU 1");
}

/*
 * The kernel disabled interrupts on CPU 1, and then nothing was recorded there. On CPU 0, a program ran; the
 * argument is the timestamp of its last tick.
 */
static void stop_with_interrupts_disabled(uint64_t last_tick_of_other)
{
	for (uint64_t stamp = 10 * MS; stamp <= 1000 * MS; stamp += 10 * MS)
		tick(stamp, HIGH + stamp / MS % 90 * 64);
	for (unsigned n = 0; n < script_count(); n++)
		if (script_at(n)->cpu == 0 && script_at(n)->stamp > last_tick_of_other)
			script_change(n)->stamp = last_tick_of_other;
	script_cpu(0)->mode = KTRX_MODE_USER;
	script_cpu(0)->heartbeats = 100;
	script_cpu(0)->heartbeat_stamp = script_cpu(0)->now = last_tick_of_other;
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	script_cpu(1)->irq_stamp = 0;
	script_cpu(1)->interrupts_pc = HIGH + 0x20;
}

static void stop_of_one_cpu_is_likely(void **state)
{
	(void)state;
	stop_with_interrupts_disabled(LAST);
	assert_int_equal(why_judge()->verdict, WHY_IRQS_OFF);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
}

/* CPU 0 could take interrupts, but it had no tick, either: the host may have stopped the machine. */
static void stop_of_all_cpus_is_possible(void **state)
{
	(void)state;
	stop_with_interrupts_disabled(1005 * MS);
	script_info()->note = "silent: 3\n";
	assert_int_equal(why_count(WHY_IRQS_OFF), 1);
	assert_int_not_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("CPU 0 has had no heartbeat for 3.00 s, either, although interrupts are not known to be "
		 "disabled there: the host may have stopped the machine");
}

/* The host did not stop the machine when CPU 1 stopped, because CPU 0 ran on for a second. */
static void later_stop_of_another_cpu_is_no_stop_of_the_machine(void **state)
{
	(void)state;
	stop_with_interrupts_disabled(2000 * MS);
	script_info()->note = "silent: 3\n";
	assert_int_equal(why_judge()->verdict, WHY_IRQS_OFF);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)
	const struct CMUnitTest tests[] = {
		TEST(missing_regular_ticks_are_likely),
		TEST(missing_irregular_ticks_are_possible),
		TEST(earlier_disable_stamp_refutes_finding),
		TEST(later_disable_stamp_does_not_refute_finding),
		TEST(interrupted_user_mode_is_possible),
		TEST(cpu_stopped_by_host_is_not_reported),
		TEST(two_seconds_of_silence_are_possible),
		TEST(stopped_machine_is_not_reported),
		TEST(late_ticks_on_all_cpus_are_not_reported),
		TEST(program_with_interrupts_disabled_is_reported),
		TEST(program_with_interrupts_disabled_shows_no_dead_timer),
		TEST(program_that_is_interrupted_is_not_reported),
		TEST(missing_ticks_of_a_program_are_unknown),
		TEST(thread_without_ticks_may_keep_the_cpu),
		TEST(stop_of_one_cpu_is_likely),
		TEST(stop_of_all_cpus_is_possible),
		TEST(later_stop_of_another_cpu_is_no_stop_of_the_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
