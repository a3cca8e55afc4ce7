/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests findings about CPUs that make no progress: spins, livelocks, and sleeps with a spinlock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>

#include "ktrx/slot.h"
#include "unit/support/elf_file.h"
#include "unit/support/script.h"
#include "unit/support/why_cpus.h"
#include "unit/support/why_support.h"

/* ---- Spinning ------------------------------------------------------------------------------------ */

static void program_in_small_loop_spins(void **state)
{
	(void)state;
	why_spins_at(PROGRAM, PROGRAM + 8);
	assert_int_equal(why_judge()->verdict, WHY_USER_SPIN);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("thread 5 (worker) spins in user mode on CPU 1");
	why_says("it has made 1 system call in the trace, and none is in progress");
}

/* A loop that has run for only one second may soon end, so the finding is only "possible". */
static void one_second_in_loop_is_only_possible(void **state)
{
	(void)state;
	why_spins_until(1500 * MS, KERNEL + 4, KERNEL + 16);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 1);
	why_says("take another trace later");
}

static void large_loop_is_only_possible(void **state)
{
	(void)state;
	why_spins_at(PROGRAM, PROGRAM + 64);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_int_equal(why_count(WHY_USER_SPIN), 1);
}

/* The thread's own table row shows that it waits for other CPUs. */
static void waiting_thread_does_not_spin(void **state)
{
	(void)state;
	why_spins_at(KERNEL + 4, KERNEL + 16);
	why_waits(script_holder(WORKER + 1), KTRX_WAIT_SPIN, LOCK_A, "call of all CPUs", 500 * MS);
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
}

static void program_in_varying_code_does_not_spin(void **state)
{
	(void)state;
	why_spins_at(PROGRAM, PROGRAM + 0x2000);
	assert_int_equal(why_count(WHY_USER_SPIN), 0);
}

static void kernel_thread_in_small_loop_spins(void **state)
{
	(void)state;
	why_spins_at(KERNEL + 4, KERNEL + 16);
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
	why_says("thread 5 (worker) spins in the kernel on CPU 1, at 0x100010");
	why_says("a computation, or a loop that polls for input, looks the same while it lasts");
}

static void spin_begins_after_gap(void **state)
{
	(void)state;
	why_spins_at(PROGRAM, PROGRAM + 8);
	script_event(OTHER, 2300 * MS, 0, IDLE0)->lost = 3;
	assert_int_equal(why_count(WHY_USER_SPIN), 0);
}

/*
 * The last ticks of the CPU interrupted another thread, before this thread ran. So the addresses of these
 * ticks, and all other events, do not show where this thread spins.
 */
static void ticks_of_previous_thread_do_not_count(void **state)
{
	struct ktrx_cpu *row = script_cpu(1);

	(void)state;
	why_ticks(10 * MS, 2500 * MS, 0, IDLE0, KERNEL);
	for (uint64_t stamp = 10 * MS; stamp <= 490 * MS; stamp += 10 * MS) {
		row->sample[row->heartbeats++ % KTRX_SAMPLES] = KERNEL + 8;
		row->heartbeat_stamp = row->now = stamp;
	}
	script_event(OTHER, 490 * MS, 1, IDLE1);
	why_runs_on(1, 495 * MS, IDLE1, WORKER);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1)->state_stamp = 495 * MS;
	row->mode = KTRX_MODE_KERNEL;
	row->thread = WORKER;
	why_judge();
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
}

static void thread_with_events_does_not_spin(void **state)
{
	(void)state;
	why_spins_at(KERNEL + 4, KERNEL + 16);
	script_event(OTHER, 2490 * MS, 1, WORKER);
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
}

static void registers_show_spin_with_interrupts_disabled(void **state)
{
	(void)state;
	why_ticks(10 * MS, 1100 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 50 * MS, 1, WORKER, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	script_info()->registers = "cpu 1 pc=100040 sp=2000\nstack 1 100050\n";
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
	assert_int_equal(why_count(WHY_IRQS_OFF), 0);
	why_says("with interrupts disabled on CPU 1, at 0x100040");
	why_says("called from 0x100050");
}

/*
 * The kernel called ktrace_interrupts(0) once, and does not report that programs and the idle loop enable
 * interrupts. An interrupt that came later shows that they were enabled since then.
 */
static void place_before_the_last_interrupt_is_not_where_they_were_disabled(void **state)
{
	static const uint64_t stamps[] = { 0, 5 * MS, 50 * MS };

	for (unsigned n = 0; n < 3; n++) {
		why_teardown(state);
		why_cpus_begin(state);
		why_ticks(10 * MS, 1100 * MS, 0, IDLE0, KERNEL);
		why_ticks(10 * MS, 50 * MS, 1, WORKER, KERNEL);
		why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
		script_cpu(1)->hooks |= KTRX_HOOK_IRQ;
		script_cpu(1)->irq_stamp = 50 * MS;
		script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
		script_cpu(1)->interrupts_stamp = stamps[n];
		script_cpu(1)->interrupts_pc = KERNEL + 32;
		script_info()->registers = "cpu 1 pc=100040 sp=2000\nstack 1 100050\n";
		assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
		assert_int_equal(strstr(why_text(), "interrupts were disabled at 0x100020") != NULL, n == 2);
	}
}

/* The kernel reports only once that interrupts are disabled. The registers show that they are enabled. */
static void registers_make_missing_eoi_certain(void **state)
{
	(void)state;
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	for (uint64_t n = 1; n <= 5; n++) {
		why_tick(n * 10 * MS, 1, IDLE1, KERNEL);
		why_interrupt(n * 10 * MS + MS, 1, IDLE1, DEVICE, KERNEL + 8, EARLY);
	}
	why_interrupt(60 * MS, 1, IDLE1, DEVICE, KERNEL + 8, NEVER);
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	script_info()->machine = EM_X86_64;
	script_info()->registers = "cpu 1 pc=100040 sp=2000 flags=246 cs=8 hlt=1\n";
	assert_int_equal(why_judge()->verdict, WHY_MISSING_EOI);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	why_says("interrupts are enabled there");
}

/* The kernel does not call the hook for interrupts. */
static void masked_interrupts_in_registers_show_spin(void **state)
{
	(void)state;
	why_stops_with(EM_X86_64, "flags=46 cs=8");
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
	why_says("thread 5 (worker) spins in the kernel with interrupts disabled on CPU 1, at 0x100040");
}

static void vector_that_cannot_be_fetched_is_reported(void **state)
{
	(void)state;
	why_stops_with(EM_RISCV, "mtvec=100041 mepc=100040 mcause=1");
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
	why_says("exceptions are handled at 0x100040, where no instruction can be fetched");
}

/*
 * The last exception was an instruction fetch at the same address. The handler has a different address, so
 * the fault was handled.
 */
static void fetch_fault_that_was_handled_is_not_reported(void **state)
{
	(void)state;
	why_stops_with(EM_RISCV, "mtvec=100080 mepc=100040 mcause=1");
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
	assert_null(strstr(why_text(), "exceptions are handled at"));
}

/* The stack pointer is 0x2000. Handlers of interrupts may have a stack of their own. */
static void stack_pointer_below_the_stack_is_reported(void **state)
{
	static const struct {
		uint64_t low;
		uint32_t nesting;
		bool reported;
	} cases[] = { { 0x80000, 0, true }, { 0x80000, 1, false }, { 0x1000, 0, false }, { 0, 0, false } };

	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		why_teardown(state);
		why_cpus_begin(state);
		why_stops_with(EM_AARCH64, "pstate=400003c5");
		why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1)->stack_low = cases[n].low;
		script_cpu(1)->nesting = cases[n].nesting;
		assert_int_equal(why_count(WHY_KERNEL_SPIN), 1);
		if (cases[n].reported)
			why_says("the stack pointer is 0x2000, below the thread's stack, whose lowest "
				 "address is 0x80000");
		else
			assert_null(strstr(why_text(), "lowest address"));
	}
}

static void masked_irqs_in_pstate_show_spin(void **state)
{
	(void)state;
	why_stops_with(EM_AARCH64, "pstate=400003c5");
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
}

static void interrupts_off_in_both_modes_of_riscv_show_spin(void **state)
{
	(void)state;
	why_stops_with(EM_RISCV, "mstatus=a00000000");
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
}

static void riscv_kernel_of_unknown_mode_is_not_known_to_spin(void **state)
{
	(void)state;
	why_stops_with(EM_RISCV, "mstatus=a00000008");
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
}

/* The hook reports that interrupts are disabled, but the kernel enabled them without calling it. */
static void enabled_interrupts_in_registers_refute_spin(void **state)
{
	(void)state;
	why_stops_with(EM_AARCH64, "pstate=40000345");
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
	assert_int_equal(why_count(WHY_IRQS_OFF), 0);
}

/* Both CPUs spin with interrupts disabled. CPU 0 stops at 500 ms, CPU 1 at `stop`. */
static void both_spin(uint64_t stop)
{
	why_ticks(10 * MS, 500 * MS, 0, CLIENT, KERNEL);
	why_ticks(10 * MS, 400 * MS, 1, WORKER, KERNEL);
	script_event(OTHER, stop, 1, WORKER);
	why_thread_row(CLIENT, "client", KTRX_THREAD_RUNNING, 0);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		script_cpu(cpu)->mode = KTRX_MODE_KERNEL;
		script_cpu(cpu)->interrupts = KTRX_INTERRUPTS_OFF;
	}
	script_info()->registers = "cpu 0 pc=100040 sp=2000\ncpu 1 pc=100080 sp=3000\n";
	script_info()->note = "silent: 5\n";
}

/* The CPU that stopped first may be the reason why the other one stopped. */
static void cpu_that_stopped_first_is_named_first(void **state)
{
	(void)state;
	both_spin(450 * MS);
	assert_int_equal(why_judge()->actor[0].pc, 0x100080);
}

/* A handler often waits for a lock. It may have waited already when the other CPU took the lock again. */
static void cpu_in_handler_that_stopped_at_the_same_time_is_named_last(void **state)
{
	(void)state;
	both_spin(500 * MS);
	script_cpu(1)->nesting = 1;
	assert_int_equal(why_judge()->actor[0].pc, 0x100040);
}

/* CPU 1 idles with interrupts disabled, and its ticks have stopped. */
static void idles_with_interrupts_off(uint16_t machine)
{
	why_ticks(10 * MS, 1100 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 50 * MS, 1, IDLE1, KERNEL);
	script_info()->machine = machine;
	script_cpu(1)->mode = KTRX_MODE_IDLE;
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	script_info()->registers = "cpu 1 pc=100040 sp=2000\nstack 1 100050\n";
}

/* On RISC-V, an interrupt ends wfi even if interrupts are disabled. */
static void idle_cpu_with_interrupts_disabled_does_not_spin(void **state)
{
	(void)state;
	idles_with_interrupts_off(EM_RISCV);
	why_judge();
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
	assert_int_equal(why_count(WHY_IRQS_OFF), 0);
}

/* AArch64 kernels often mask interrupts while an idle CPU waits for one. */
static void idle_cpu_with_masked_irqs_does_not_spin(void **state)
{
	(void)state;
	idles_with_interrupts_off(EM_AARCH64);
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_UNKNOWN;
	script_info()->registers = "cpu 1 pc=100040 sp=2000 pstate=400003c5\n";
	why_judge();
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
	assert_int_equal(why_count(WHY_IRQS_OFF), 0);
}

/* An interrupt whose end was not reported while the CPU idles: the kernel may not have called the hook. */
static void idle_cpu_without_irq_exit_does_not_spin(void **state)
{
	(void)state;
	idles_with_interrupts_off(EM_AARCH64);
	script_info()->registers = "cpu 1 pc=100040 sp=2000 pstate=400003c5\n";
	script_cpu(1)->nesting = 1;
	script_cpu(1)->irq_stamp = 50 * MS;
	script_cpu(1)->mode_stamp = 40 * MS;
	why_judge();
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
}

/*
 * On x86, an interrupt does not end hlt if interrupts are disabled. But the kernel may have enabled
 * interrupts, and not called the hook.
 */
static void x86_halt_with_interrupts_disabled_is_possible(void **state)
{
	(void)state;
	idles_with_interrupts_off(EM_X86_64);
	why_judge();
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
	assert_int_equal(why_count(WHY_IRQS_OFF), 1);
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_non_null(strstr(why_judge()->base.what, "nothing to do: 2 of 2 CPUs idle"));
	why_says("CPU 1 idles with interrupts disabled, at 0x100040: no interrupt can wake it");
}

/* The CPU had timer ticks while it idled, and then the ticks stopped. */
static void x86_halt_after_regular_ticks_is_likely(void **state)
{
	(void)state;
	why_ticks(60 * MS, 300 * MS, 1, IDLE1, KERNEL);
	idles_with_interrupts_off(EM_X86_64);
	script_cpu(1)->heartbeat_stamp = 300 * MS;
	script_info()->machine = EM_X86_64;
	why_ticks(1110 * MS, 1500 * MS, 0, IDLE0, KERNEL);
	assert_int_equal(why_judge()->verdict, WHY_IRQS_OFF);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("CPU 1 idles with interrupts disabled");
}

/* CPU 1 has had no tick for half a second, but a busy host may have stopped the virtual CPU for this time. */
static void half_second_with_interrupts_disabled_is_no_spin(void **state)
{
	(void)state;
	why_ticks(10 * MS, 600 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 50 * MS, 1, WORKER, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	script_info()->registers = "cpu 1 pc=100040 sp=2000\nstack 1 100050\n";
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
}

static void recording_cpu_with_interrupts_disabled_does_not_spin(void **state)
{
	(void)state;
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 50 * MS, 1, WORKER, KERNEL);
	script_event(OTHER, 900 * MS, 1, WORKER);
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	script_info()->registers = "cpu 1 pc=100040 sp=2000\n";
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
}

static void cpu_that_waits_for_lock_is_no_kernel_spin(void **state)
{
	(void)state;
	why_spins_at(KERNEL + 4, KERNEL + 16);
	why_waits(script_holder(KTRX_HOLDER_CPU | 1), KTRX_WAIT_SPIN, LOCK_A, "aye", 500 * MS);
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
}

/* ---- Livelocks ----------------------------------------------------------------------------------- */

static void tries(uint64_t stamp, uint32_t thread, uint64_t lock, uint32_t holder)
{
	script_event(FAIL, stamp, 0, thread, V(lock), lock == LOCK_A ? "aye" : "bee", "thread", V(holder),
		     V(KERNEL + 64));
}

static void both_try_since(uint64_t stamp)
{
	for (; stamp < 5000 * MS; stamp += 10 * MS) {
		tries(stamp, WORKER, LOCK_A, CLIENT);
		tries(stamp + MS, CLIENT, LOCK_B, WORKER);
	}
}

static void threads_that_fail_because_of_each_other_livelock(void **state)
{
	(void)state;
	both_try_since(2000 * MS);
	why_ticks(5000 * MS, 5010 * MS, 0, IDLE0, KERNEL);
	assert_int_equal(why_judge()->verdict, WHY_LIVELOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	assert_int_equal(why_count(WHY_LIVELOCK), 1);
	why_says("thread 5 (worker) tried 300 times");
	why_says("thread 6 (client) tried 300 times");
	why_says("at 0x100040");
}

/* One of the threads may still get both locks, as in a kernel that works. */
static void short_livelock_is_likely(void **state)
{
	(void)state;
	both_try_since(4500 * MS);
	why_ticks(5000 * MS, 5010 * MS, 0, IDLE0, KERNEL);
	assert_int_equal(why_judge()->verdict, WHY_LIVELOCK);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
}

static void acquired_lock_ends_livelock(void **state)
{
	(void)state;
	both_try_since(4500 * MS);
	script_event(ACQUIRE, 5000 * MS, 0, CLIENT, V(LOCK_B));
	assert_int_equal(why_count(WHY_LIVELOCK), 0);
}

static void single_failing_thread_is_no_livelock(void **state)
{
	(void)state;
	for (uint64_t stamp = 500 * MS; stamp < 1000 * MS; stamp += 10 * MS)
		tries(stamp, WORKER, LOCK_A, CLIENT);
	assert_int_equal(why_count(WHY_LIVELOCK), 0);
}

/* ---- Sleeps while a spinlock is held -------------------------------------------------------------- */

static void sleep_with_spinlock_blocks_other_cpu(void **state)
{
	struct ktrx_cpu *row = script_cpu(1);
	struct ktrx_holder *holder = script_holder(KTRX_HOLDER_CPU | 0);

	(void)state;
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);
	row->broken = KTRX_BROKEN_SWITCH_LOCKED;
	row->broken_thread = WORKER;
	row->broken_object = LOCK_A;
	row->broken_pc = KERNEL + 80;
	row->broken_stamp = 500 * MS;
	why_holds(script_holder(KTRX_HOLDER_CPU | 1), LOCK_A, 400 * MS);
	why_waits(holder, KTRX_WAIT_SPIN, LOCK_A, "aye", 600 * MS);
	assert_int_equal(why_judge()->verdict, WHY_SLEEP_IN_ATOMIC);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	why_says("thread 5 (worker) went to sleep on CPU 1 while it held spinlock aye (0x1000)");
	why_says("at 0x100050");
	why_says("on CPU 0 has spun 400.0 ms for that lock, at an unknown place");
}

/* The thread that waits for the lock runs on the CPU on which another thread has taken this lock. */
static void thread_waits_for_lock_left_by_sleeper_on_its_cpu(void **state)
{
	struct ktrx_holder *holder = script_holder(KTRX_HOLDER_CPU | 1);
	struct ktrx_cpu *row = script_cpu(1);

	(void)state;
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);
	why_thread_row(CLIENT, "client", KTRX_THREAD_RUNNING, 1);
	row->broken = KTRX_BROKEN_SWITCH_LOCKED;
	row->broken_thread = WORKER;
	row->broken_object = LOCK_A;
	row->broken_stamp = 500 * MS;
	why_holds(holder, LOCK_A, 400 * MS);
	why_waits(holder, KTRX_WAIT_SPIN, LOCK_A, "aye", 600 * MS);
	holder->owner = (KTRX_HOLDER_CPU | 1);
	assert_int_equal(why_judge()->verdict, WHY_SLEEP_IN_ATOMIC);
	why_says("for lock aye (0x1000), which thread 5 (worker) held when it went to");
}

/* A switch with preemption disabled does not explain why the machine stopped long after that switch. */
static void old_sleep_without_lock_is_only_possible(void **state)
{
	struct ktrx_cpu *row = script_cpu(1);

	(void)state;
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	why_cpu_row(1, KTRX_MODE_KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	row->heartbeats = 50;
	row->heartbeat_stamp = row->now = 500 * MS;
	row->broken = KTRX_BROKEN_SWITCH_PREEMPT;
	row->broken_thread = WORKER;
	row->broken_stamp = 20 * MS;
	why_judge();
	assert_int_equal(why_count(WHY_SLEEP_IN_ATOMIC), 1);
	assert_int_not_equal(why_judge()->verdict, WHY_SLEEP_IN_ATOMIC);
}

static void broken_release_is_no_sleep(void **state)
{
	(void)state;
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	script_cpu(1)->broken = KTRX_BROKEN_RELEASE;
	assert_int_equal(why_count(WHY_SLEEP_IN_ATOMIC), 0);
}

/*
 * CPU 0 had no ticks while it idled, and CPU 1 never had any. A sleep on CPU 1 does not end: the timer of CPU 0
 * may have stopped, or that of CPU 1 never started.
 */
static void missing_ticks_of_tickless_cpu_are_possibly_a_dead_timer(void **state)
{
	struct ktrx_holder *sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);

	(void)state;
	why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 900 * MS);
	sleeper->deadline = 1100 * MS;
	for (uint64_t stamp = 70 * MS; stamp < 1000 * MS; stamp += 100 * MS)
		why_ticks(stamp, stamp + 20 * MS, 0, IDLE0, KERNEL);
	script_event(OTHER, 900 * MS, 1, IDLE1);
	script_cpu(1)->now = 900 * MS;
	script_info()->note = "silent: 5\n";
	assert_int_equal(why_count(WHY_DEAD_TIMER), 1);
	why_says("dead-timer (possible): the timer of CPU 0 has stopped");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, why_cpus_begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(missing_ticks_of_tickless_cpu_are_possibly_a_dead_timer),
		TEST(program_in_small_loop_spins),
		TEST(one_second_in_loop_is_only_possible),
		TEST(large_loop_is_only_possible),
		TEST(waiting_thread_does_not_spin),
		TEST(program_in_varying_code_does_not_spin),
		TEST(kernel_thread_in_small_loop_spins),
		TEST(spin_begins_after_gap),
		TEST(thread_with_events_does_not_spin),
		TEST(ticks_of_previous_thread_do_not_count),
		TEST(registers_show_spin_with_interrupts_disabled),
		TEST(registers_make_missing_eoi_certain),
		TEST(place_before_the_last_interrupt_is_not_where_they_were_disabled),
		TEST(masked_interrupts_in_registers_show_spin),
		TEST(vector_that_cannot_be_fetched_is_reported),
		TEST(fetch_fault_that_was_handled_is_not_reported),
		TEST(stack_pointer_below_the_stack_is_reported),
		TEST(masked_irqs_in_pstate_show_spin),
		TEST(interrupts_off_in_both_modes_of_riscv_show_spin),
		TEST(riscv_kernel_of_unknown_mode_is_not_known_to_spin),
		TEST(enabled_interrupts_in_registers_refute_spin),
		TEST(cpu_that_stopped_first_is_named_first),
		TEST(cpu_in_handler_that_stopped_at_the_same_time_is_named_last),
		TEST(idle_cpu_with_masked_irqs_does_not_spin),
		TEST(idle_cpu_without_irq_exit_does_not_spin),
		TEST(half_second_with_interrupts_disabled_is_no_spin),
		TEST(idle_cpu_with_interrupts_disabled_does_not_spin),
		TEST(x86_halt_with_interrupts_disabled_is_possible),
		TEST(x86_halt_after_regular_ticks_is_likely),
		TEST(recording_cpu_with_interrupts_disabled_does_not_spin),
		TEST(cpu_that_waits_for_lock_is_no_kernel_spin),
		TEST(threads_that_fail_because_of_each_other_livelock),
		TEST(short_livelock_is_likely),
		TEST(acquired_lock_ends_livelock),
		TEST(single_failing_thread_is_no_livelock),
		TEST(sleep_with_spinlock_blocks_other_cpu),
		TEST(thread_waits_for_lock_left_by_sleeper_on_its_cpu),
		TEST(old_sleep_without_lock_is_only_possible),
		TEST(broken_release_is_no_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
