/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests CPUs that have interrupts disabled, and seem to idle, or have halted. Such a CPU may wait for an
 * interrupt, spin in a handler, or have stopped forever, on purpose or not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <string.h>

#include "ktrx/v2.h"
#include "unit/support/elf_file.h"
#include "unit/support/script.h"
#include "unit/support/why_cpus.h"
#include "unit/support/why_support.h"

enum { BLOCK = FAULT + 1, WAKE };

#define HALTED "cpu 1 pc=100040 sp=2000 flags=46 cs=8 hlt=1\n"

static void teardown_and_begin(void **state)
{
	why_teardown(state);
	why_cpus_begin(state);
}

static void must_be(enum why_verdict verdict, enum finding_certainty certain)
{
	assert_int_equal(why_judge()->verdict, verdict);
	assert_int_equal(why_judge()->base.certain, certain);
}

/* ---- A CPU that may run a handler while it seems to idle */

/* CPU 1 idles since 50 ms. Its registers show disabled interrupts, on a machine that waits in this state. */
static void idles_masked(uint32_t thread)
{
	why_ticks(10 * MS, 3000 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 50 * MS, 1, thread, KERNEL);
	script_cpu(1)->thread = thread;
	script_cpu(1)->mode_stamp = 50 * MS;
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_UNKNOWN;
	script_info()->machine = EM_AARCH64;
	script_info()->registers = "cpu 1 pc=100140 sp=2000 pstate=400003c5\nstack 1 100050\n";
}

/* Without the kernel's file, a CPU at wfi and a handler that spins look the same. */
static void masked_cpu_only_possibly_idles(void **state)
{
	(void)state;
	idles_masked(CLIENT);
	why_thread_row(CLIENT, "kidle", KTRX_THREAD_RUNNING, 1)->state_stamp = 20 * MS;
	must_be(WHY_IDLE, FINDING_POSSIBLE);
	why_says("CPU 1 may run code in idle mode, at 0x100140");
	why_says("pass the kernel's file (--elf)");
}

static void masked_cpu_only_possibly_idles_in_its_idle_thread(void **state)
{
	(void)state;
	idles_masked(IDLE1);
	must_be(WHY_IDLE, FINDING_POSSIBLE);
}

/* The last thread waits, and the CPU idles in its context. */
static void masked_cpu_is_not_known_to_make_progress(void **state)
{
	(void)state;
	idles_masked(WORKER);
	why_waits(why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1), KTRX_WAIT_EVENT, 0x3000, "net",
		  40 * MS);
	must_be(WHY_BUSY, FINDING_POSSIBLE);
	assert_null(strstr(why_text(), "all CPUs make progress"));
	why_says("1 of 2 CPUs makes progress");
	why_says("CPU 1 may run code in idle mode, at 0x100140");
}

/* The kernel does not call ktrace_heartbeat(). */
static void masked_cpu_without_heartbeats_only_possibly_idles(void **state)
{
	(void)state;
	idles_masked(IDLE1);
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		script_cpu(cpu)->heartbeats = script_cpu(cpu)->heartbeat_stamp = 0;
	must_be(WHY_IDLE, FINDING_POSSIBLE);
}

static void cpu_that_was_masked_only_for_a_moment_idles(void **state)
{
	(void)state;
	idles_masked(IDLE1);
	why_ticks(60 * MS, 2990 * MS, 1, IDLE1, KERNEL);
	script_sort();
	must_be(WHY_IDLE, FINDING_CERTAIN);
}

/* On x86, a CPU that is not known to have halted may run a handler. */
static void masked_cpu_that_has_not_halted_only_possibly_idles(void **state)
{
	(void)state;
	idles_masked(IDLE1);
	script_info()->machine = EM_X86_64;
	script_info()->registers = "cpu 1 pc=100140 sp=2000 flags=46 cs=8 hlt=0\n";
	must_be(WHY_IDLE, FINDING_POSSIBLE);
	why_says("CPU 1 may run code in idle mode, at 0x100140");
}

/* ---- A CPU that has halted with interrupts disabled */

/* CPU 1 is in idle mode, and has halted before it took its first tick. */
static void halts_without_interrupts(void)
{
	script_cpu(1)->mode_stamp = 5 * MS;
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_UNKNOWN;
	script_cpu(1)->now = 5 * MS;
	script_info()->machine = EM_X86_64;
	script_info()->registers = HALTED;
}

static void machine_with_a_cpu_that_cannot_wake_only_possibly_idles(void **state)
{
	(void)state;
	why_ticks(10 * MS, 3000 * MS, 0, IDLE0, KERNEL);
	halts_without_interrupts();
	must_be(WHY_IDLE, FINDING_POSSIBLE);
	assert_int_equal(why_count(WHY_IRQS_OFF), 1);
	why_says("not certain because of: irqs-off (possible)");
	why_says("check whether the kernel stopped this CPU on purpose");
	assert_null(strstr(why_text(), "ktrace_interrupts(1)"));
}

/* No other CPU idles, so its ticks show nothing. */
static void machine_with_a_cpu_that_cannot_wake_is_only_possibly_busy(void **state)
{
	(void)state;
	why_ticks(10 * MS, 3000 * MS, 0, WORKER, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	script_cpu(0)->mode = KTRX_MODE_KERNEL;
	script_event(OTHER, 3000 * MS, 0, WORKER);
	halts_without_interrupts();
	must_be(WHY_BUSY, FINDING_POSSIBLE);
	assert_int_equal(why_count(WHY_IRQS_OFF), 1);
}

/* Its ticks were not regular, so the kernel may have stopped the tick. */
static void only_cpu_that_cannot_wake_only_possibly_idles(void **state)
{
	(void)state;
	why_ticks(10 * MS, 2000 * MS, 0, IDLE0, KERNEL);
	for (uint64_t n = 1; n < 300; n++)
		why_tick(2000 * MS + n * n * MS / 10, 0, IDLE0, KERNEL);
	script_info()->cpus = 1;
	script_info()->form = KTREAD_FORM_RAM;
	script_info()->machine = EM_X86_64;
	script_info()->registers = "cpu 0 pc=100040 sp=2000 flags=46 cs=8 hlt=1\n";
	script_info()->note = "silent: 9 s\n";
	must_be(WHY_IDLE, FINDING_POSSIBLE);
	assert_int_equal(why_count(WHY_IRQS_OFF), 1);
}

/* CPU 1 went offline at 100 ms with cli and hlt. `cpu`: CPU of a thread that should have woken at 4 s. */
static void goes_offline(uint32_t cpu)
{
	struct ktrx_holder *sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, cpu);

	why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 90 * MS);
	sleeper->deadline = 4000 * MS;
	why_ticks(10 * MS, 6500 * MS, 0, IDLE0, KERNEL);
	why_tick(100 * MS, 1, IDLE1, KERNEL);
	script_cpu(1)->switches = 20;
	script_cpu(1)->switch_stamp = 90 * MS;
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	script_cpu(1)->interrupts_stamp = 100 * MS;
	script_info()->machine = EM_X86_64;
	script_info()->registers = HALTED;
}

static void late_sleep_elsewhere_does_not_blame_a_halted_cpu(void **state)
{
	(void)state;
	goes_offline(0);
	assert_int_not_equal(why_judge()->verdict, WHY_IRQS_OFF);
	why_says("irqs-off (possible)");
}

static void late_sleep_on_a_halted_cpu_is_named(void **state)
{
	(void)state;
	goes_offline(1);
	must_be(WHY_IRQS_OFF, FINDING_LIKELY);
	why_says("thread 5 (worker), which sleeps there at an unknown place, should have been woken 2.50 s"
		 " ago");
}

/* Sleeps on a CPU that ticks are late, too, so the clock of all sleeps may be slow. */
static void sleeps_that_are_late_everywhere_do_not_blame_a_halted_cpu(void **state)
{
	struct ktrx_holder *other;

	(void)state;
	goes_offline(1);
	other = why_thread_row(CLIENT, "client", KTRX_THREAD_WAITING, 0);
	why_waits(other, KTRX_WAIT_TIME, 0x3000, "timers", 90 * MS);
	other->deadline = 4000 * MS;
	assert_int_not_equal(why_judge()->verdict, WHY_IRQS_OFF);
	why_says("irqs-off (possible)");
}

/* ---- An interrupt that is pending, on RISC-V */

/* CPU 1 idles, and a pending interrupt ends each wfi at once, but the kernel never enables interrupts. */
static void leaves_an_interrupt_pending(void)
{
	why_ticks(10 * MS, 3000 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 100 * MS, 1, IDLE1, KERNEL);
	script_info()->machine = EM_RISCV;
	script_info()->registers = "cpu 1 pc=100040 sp=2000 sstatus=8000000200006000 priv=1 sie=222 sip=20 "
				   "mie=222 mip=20 mstatus=a00000000\n";
}

static void pending_interrupt_shows_disabled_interrupts(void **state)
{
	(void)state;
	for (unsigned reported = 0; reported < 2; reported++) {
		struct ktrx_holder *sleeper;

		teardown_and_begin(state);
		sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);
		why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 90 * MS);
		sleeper->deadline = 200 * MS;
		leaves_an_interrupt_pending();
		script_cpu(1)->interrupts = reported ? KTRX_INTERRUPTS_OFF : KTRX_INTERRUPTS_UNKNOWN;
		script_cpu(1)->interrupts_stamp = reported ? 100 * MS : 0;
		must_be(WHY_IRQS_OFF, FINDING_LIKELY);
		assert_int_equal(why_count(WHY_DEAD_TIMER), 0);
		why_says("CPU 1 never takes an interrupt that is pending: it seems to idle");
		why_says("thread 5 (worker)");
	}
}

/* The interrupt may have come after the CPU was halted for the capture. */
static void pending_interrupt_alone_is_only_a_possible_cause(void **state)
{
	(void)state;
	leaves_an_interrupt_pending();
	for (uint64_t n = 1; n < 20; n++)
		why_tick(110 * MS + n * 30 * MS, 1, IDLE1, KERNEL);
	script_sort();
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_UNKNOWN;
	must_be(WHY_IDLE, FINDING_POSSIBLE);
	why_says("irqs-off (possible)");
}

/* ---- A CPU that has halted, and has run no thread */

/* CPU 0 idles. CPU 1 is online, and has halted with interrupts disabled. */
static void halts_while_it_starts(uint8_t mode)
{
	why_ticks(10 * MS, 3000 * MS, 0, IDLE0, KERNEL);
	halts_without_interrupts();
	script_cpu(1)->mode = mode;
}

static void parked_cpu_is_named(void **state)
{
	(void)state;
	halts_while_it_starts(KTRX_MODE_UNKNOWN);
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("CPU 1 has halted with interrupts disabled, at 0x100040, and has run nothing");
}

/* The kernel has reported that it runs on CPU 1. No kernel reports this for a CPU that it parks. */
static void cpu_that_halts_while_it_starts_is_possibly_lost(void **state)
{
	(void)state;
	halts_while_it_starts(KTRX_MODE_KERNEL);
	must_be(WHY_KERNEL_SPIN, FINDING_POSSIBLE);
	why_says("CPU 1 has halted with interrupts disabled, at 0x100040, and has run no thread");
	why_says("check whether the kernel stopped this CPU on purpose");
}

static void halted_cpu_that_was_used_is_lost(void **state)
{
	for (unsigned n = 0; n < 8; n++) {
		teardown_and_begin(state);
		halts_while_it_starts(KTRX_MODE_KERNEL);
		if (n == 0)
			why_holds(script_holder(KTRX_HOLDER_CPU | 1), LOCK_A, 5 * MS);
		script_cpu(1)->irqs = n == 1 ? 5000 : 0;
		script_cpu(1)->irq_stamp = n == 2 ? 5 * MS : 0;
		script_cpu(1)->user_exits = n == 3 ? 4000 : 0;
		script_cpu(1)->user_enters = n == 4 ? 4000 : 0;
		script_cpu(1)->nesting = n == 5;
		script_cpu(1)->broken_stamp = n == 6 ? 5 * MS : 0;
		if (n == 7) {
			why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1)->state_stamp = 4 * MS;
			script_cpu(1)->thread = WORKER;
		}
		must_be(WHY_KERNEL_SPIN, FINDING_LIKELY);
	}
}

/* ---- A timer that may have stopped */

/* The ticks of CPU 1 end at 100 ms. CPU 0 may spin in a handler, and hold a lock that CPU 1 needs. */
static void timer_may_have_stopped_because_another_cpu_spins(void **state)
{
	struct ktrx_holder *sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);

	(void)state;
	why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 90 * MS);
	sleeper->deadline = 200 * MS;
	why_ticks(10 * MS, 100 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 100 * MS, 1, IDLE1, KERNEL);
	script_event(OTHER, 3000 * MS, 2, 9);
	script_cpu(0)->interrupts = script_cpu(1)->interrupts = KTRX_INTERRUPTS_UNKNOWN;
	script_info()->machine = EM_AARCH64;
	script_info()->registers = "cpu 0 pc=100140 sp=2000 pstate=400003c5\n"
				   "cpu 1 pc=100040 sp=3000 pstate=40000345\n";
	why_says("dead-timer (possible)");
}

/* A thread has slept 10 times for 10 ms, and still sleeps. */
static void oversleeps(uint32_t thread)
{
	const uint64_t queue = UINT64_C(0x3000) + thread;
	uint64_t stamp = thread * MS / 16;

	for (unsigned n = 0; n < 10; n++) {
		script_event(BLOCK, stamp, 1, thread, queue, V(thread), V(KTRX_WAIT_TIME));
		script_event(WAKE, stamp + 10 * MS, 0, IDLE0, V(thread));
		stamp += 11 * MS;
	}
	script_event(BLOCK, stamp, 1, thread, queue, V(thread), V(KTRX_WAIT_TIME));
	why_waits(why_thread_row(thread, "sleeper", KTRX_THREAD_WAITING, 1), KTRX_WAIT_TIME, queue, "",
		  stamp);
}

/* No CPU has ticks, and both may wait for an interrupt, or spin in a handler. */
static void timer_of_a_machine_may_have_stopped_although_cpus_may_spin(void **state)
{
	(void)state;
	script_type(BLOCK, "sched", "block", "u64 queue,u32 thread,u8 kind");
	script_type(WAKE, "sched", "wake", "u32 thread");
	for (uint32_t thread = 10; thread < 14; thread++)
		oversleeps(thread);
	why_ticks(10 * MS, 500 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 500 * MS, 1, IDLE1, KERNEL);
	script_sort();
	script_event(OTHER, 4000 * MS, 2, 9);
	script_cpu(0)->interrupts = script_cpu(1)->interrupts = KTRX_INTERRUPTS_UNKNOWN;
	script_info()->machine = EM_AARCH64;
	script_info()->registers = "cpu 0 pc=100140 sp=2000 pstate=400003c5\n"
				   "cpu 1 pc=100040 sp=3000 pstate=400003c5\n";
	why_says("dead-timer (possible): no CPU gets ticks any more");
}

/* CPU 0 ticked for 2.4 s after the timer of CPU 1 had stopped. */
static void cpu_that_spins_later_is_no_reason_for_a_stopped_timer(void **state)
{
	struct ktrx_holder *sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);

	(void)state;
	why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 90 * MS);
	sleeper->deadline = 200 * MS;
	why_ticks(10 * MS, 2500 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 100 * MS, 1, IDLE1, KERNEL);
	script_event(OTHER, 4000 * MS, 2, 9);
	script_cpu(0)->interrupts = script_cpu(1)->interrupts = KTRX_INTERRUPTS_UNKNOWN;
	script_info()->machine = EM_AARCH64;
	script_info()->registers = "cpu 0 pc=100140 sp=2000 pstate=400003c5\n"
				   "cpu 1 pc=100040 sp=3000 pstate=40000345\n";
	why_judge();
	why_says("dead-timer (likely)");
}

/* CPUs 1 and 2 are offline. Their registers show disabled interrupts. */
static void cpus_that_never_started_raise_no_doubts(void **state)
{
	(void)state;
	why_ticks(10 * MS, 3000 * MS, 0, IDLE0, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0)->state_stamp = 2950 * MS;
	script_cpu(0)->mode = KTRX_MODE_KERNEL;
	script_cpu(0)->thread = WORKER;
	script_event(OTHER, 3000 * MS, 0, WORKER);
	script_info()->cpus = 3;
	for (uint32_t n = 1; n < 3; n++) {
		why_cpu_row(n, KTRX_MODE_IDLE);
		script_cpu(n)->online = 0;
		script_cpu(n)->interrupts = KTRX_INTERRUPTS_UNKNOWN;
	}
	script_info()->machine = EM_AARCH64;
	script_info()->registers = "cpu 1 pc=100140 sp=2000 pstate=400003c5\n"
				   "cpu 2 pc=100140 sp=2000 pstate=400003c5\n";
	why_judge();
	assert_null(strstr(why_text(), "4294967295"));
	assert_null(strstr(why_text(), "idle mode"));
}

/* Hart 1 idles in a call of firmware that suspends it. */
static void cpu_that_waits_in_firmware_idles(void **state)
{
	static const struct elf_file_section sections[] = {
		{ ".text", 0x200000, 0x20000, ELF_FILE_CODE | ELF_FILE_BOTH },
		{ ".bss", 0x220000, 0x1000, ELF_FILE_DATA | ELF_FILE_BOTH },
		{ NULL, 0, 0, 0 },
	};
	static const struct elf_file_symbol names[] = {
		{ "idle", 0x200000, 0x100, STT_FUNC, 1 },
		{ "ktrace_root", 0x220000, 0x200, STT_OBJECT, 2 },
		{ NULL, 0, 0, 0, 0 },
	};
	static const struct elf_file file = { EM_RISCV, ET_EXEC, sections, names };

	(void)state;
	why_ticks(10 * MS, 3000 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 50 * MS, 1, IDLE1, KERNEL);
	script_cpu(1)->thread = IDLE1;
	script_cpu(1)->mode_stamp = 50 * MS;
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_UNKNOWN;
	script_info()->machine = EM_RISCV;
	script_info()->self = 0x220000;
	script_info()->registers =
		"cpu 1 pc=8000abc4 sp=80042e00 sstatus=8000000200006000 priv=3 sie=0 sip=0 "
		"mie=8 mip=0 mstatus=a00000000\n";
	why_kernel_file(&file);
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, why_cpus_begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(masked_cpu_only_possibly_idles),
		TEST(masked_cpu_only_possibly_idles_in_its_idle_thread),
		TEST(masked_cpu_is_not_known_to_make_progress),
		TEST(masked_cpu_without_heartbeats_only_possibly_idles),
		TEST(cpu_that_was_masked_only_for_a_moment_idles),
		TEST(masked_cpu_that_has_not_halted_only_possibly_idles),
		TEST(machine_with_a_cpu_that_cannot_wake_only_possibly_idles),
		TEST(machine_with_a_cpu_that_cannot_wake_is_only_possibly_busy),
		TEST(only_cpu_that_cannot_wake_only_possibly_idles),
		TEST(late_sleep_elsewhere_does_not_blame_a_halted_cpu),
		TEST(late_sleep_on_a_halted_cpu_is_named),
		TEST(sleeps_that_are_late_everywhere_do_not_blame_a_halted_cpu),
		TEST(pending_interrupt_shows_disabled_interrupts),
		TEST(pending_interrupt_alone_is_only_a_possible_cause),
		TEST(parked_cpu_is_named),
		TEST(cpu_that_halts_while_it_starts_is_possibly_lost),
		TEST(halted_cpu_that_was_used_is_lost),
		TEST(timer_may_have_stopped_because_another_cpu_spins),
		TEST(timer_of_a_machine_may_have_stopped_although_cpus_may_spin),
		TEST(cpu_that_spins_later_is_no_reason_for_a_stopped_timer),
		TEST(cpus_that_never_started_raise_no_doubts),
		TEST(cpu_that_waits_in_firmware_idles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
