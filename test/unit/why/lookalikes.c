/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests machines of which one state looks like another: a healthy CPU like one that hangs, or the reverse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <string.h>

#include "ktrx/v2.h"
#include "unit/support/script.h"
#include "unit/support/why_cpus.h"
#include "unit/support/why_support.h"

#define NO_IRQ 1023u /* number that the GIC returns if no interrupt is pending */

/* ---- A CPU that waits with interrupts disabled */

/* WORKER sleeps on CPU 1 until 200 ms, but the ticks of CPU 1 end at 100 ms. */
static void sleeps_past_the_last_tick(void)
{
	struct ktrx_holder *sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);

	why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 90 * MS);
	sleeper->deadline = 200 * MS;
	why_ticks(10 * MS, 3000 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 100 * MS, 1, IDLE1, KERNEL);
}

/* The kernel reports that it disables interrupts before the instruction that waits for one. */
static void dead_timer_is_found_if_idle_cpus_disable_interrupts(void **state)
{
	(void)state;
	sleeps_past_the_last_tick();
	script_info()->machine = EM_AARCH64;
	script_info()->registers = "cpu 1 pc=100040 sp=2000 pstate=400003c5\n";
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	script_cpu(1)->interrupts_stamp = 100 * MS;
	assert_int_equal(why_count(WHY_DEAD_TIMER), 1);
}

/* On x86, no interrupt wakes such a CPU. */
static void only_x86_needs_interrupts_to_be_enabled(void **state)
{
	(void)state;
	sleeps_past_the_last_tick();
	script_info()->machine = EM_X86_64;
	script_info()->registers = "cpu 1 pc=100040 sp=2000 flags=46 cs=8 hlt=1\n";
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	script_cpu(1)->interrupts_stamp = 100 * MS;
	assert_int_equal(why_count(WHY_DEAD_TIMER), 0);
	assert_int_equal(why_judge()->verdict, WHY_IRQS_OFF);
	why_says("CPU 1 idles with interrupts disabled, at 0x100040: no interrupt can wake it");
}

/* The only CPU, so no other CPU ticks. */
static void halt_of_the_only_cpu_is_found_by_its_registers(void **state)
{
	struct ktrx_holder *sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 0);

	(void)state;
	why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 90 * MS);
	sleeper->deadline = 2100 * MS;
	why_ticks(10 * MS, 100 * MS, 0, IDLE0, KERNEL);
	script_info()->cpus = 1;
	script_info()->machine = EM_X86_64;
	script_info()->registers = "cpu 0 pc=100040 sp=2000 flags=46 cs=8 hlt=1\n";
	script_info()->note = "silent: 9\n";
	assert_int_equal(why_judge()->verdict, WHY_IRQS_OFF);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("CPU 0 idles with interrupts disabled, at 0x100040: no interrupt can wake it");
}

/* The kernel does not report which thread idles, and its name does not show it. */
static void cpu_that_idles_in_a_thread_of_any_name_does_not_spin(void **state)
{
	struct ktrx_holder *idle;

	(void)state;
	why_ticks(10 * MS, 1100 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 50 * MS, 1, IDLE1, KERNEL);
	idle = why_thread_row(CLIENT, "kidle", KTRX_THREAD_RUNNING, 1);
	idle->state_stamp = 20 * MS;
	script_cpu(1)->thread = CLIENT;
	script_cpu(1)->mode_stamp = 50 * MS;
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_UNKNOWN;
	script_info()->machine = EM_AARCH64;
	script_info()->registers = "cpu 1 pc=100040 sp=2000 pstate=400003c5\n";
	why_judge();
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
	assert_int_equal(why_count(WHY_IRQS_OFF), 0);
}

/* A kernel has started CPU 1, and halted it until its scheduler can use several CPUs. */
static void cpu_that_is_parked_does_not_spin(void **state)
{
	(void)state;
	why_ticks(10 * MS, 3000 * MS, 0, IDLE0, KERNEL);
	script_cpu(1)->mode = KTRX_MODE_UNKNOWN;
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_UNKNOWN;
	script_cpu(1)->now = 5 * MS;
	script_info()->machine = EM_X86_64;
	script_info()->registers = "cpu 1 pc=100040 sp=2000 flags=46 cs=8 hlt=1\n";
	why_judge();
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
	assert_int_equal(why_count(WHY_IRQS_OFF), 0);
}

/* The same, and the kernel sets idle mode before it halts the CPU. */
static void cpu_that_is_parked_in_idle_mode_is_only_possibly_lost(void **state)
{
	(void)state;
	cpu_that_is_parked_does_not_spin(state);
	script_cpu(1)->mode = KTRX_MODE_IDLE;
	assert_int_not_equal(why_judge()->verdict, WHY_IRQS_OFF);
}

/* ---- Panics */

static void panics(const char *message)
{
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	script_event(PANIC, 1001 * MS, 1, WORKER, message);
	script_info()->outcome = KTRX_OUTCOME_PANIC;
}

/* The stack of interrupt handlers is directly below the thread's stack. */
static void panic_on_the_stack_of_a_handler_is_no_overflow(void **state)
{
	struct ktrx_holder *worker = why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);

	(void)state;
	worker->stack_low = 0x8000;
	worker->stack_high = 0xc000;
	panics("assertion failed");
	script_cpu(1)->nesting = 1;
	script_info()->registers = "cpu 1 pc=100040 sp=7f80\n";
	assert_int_equal(why_judge()->verdict, WHY_PANIC);
	/* or the handler runs on the thread's stack, which then has overflowed */
	why_says("stack-overflow (possible)");
}

/* Handlers of faults may have a stack of their own, and the kernel does not report their start. */
static void stack_pointer_alone_shows_no_certain_overflow(void **state)
{
	struct ktrx_holder *worker = why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);

	(void)state;
	worker->stack_low = 0x8000;
	worker->stack_high = 0xc000;
	panics("assertion failed");
	script_info()->registers = "cpu 1 pc=100040 sp=7f80\n";
	assert_int_equal(why_judge()->verdict, WHY_STACK_OVERFLOW);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
}

/* Faults are handled on a stack of their own, 56 KiB below the thread's stack. */
static void panic_on_the_stack_for_faults_is_no_overflow(void **state)
{
	struct ktrx_holder *worker = why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);

	(void)state;
	worker->stack_low = 0x18000;
	worker->stack_high = 0x1c000;
	script_event(FAULT, 1000 * MS, 1, WORKER, V(0x10), V(KERNEL));
	panics("unhandled page fault at 0x10");
	script_info()->registers = "cpu 1 pc=100040 sp=9f80\n";
	assert_int_equal(why_judge()->verdict, WHY_PANIC);
	why_says("stack-overflow (possible)");
}

/* The fault was in the guard page below the stack. */
static void panic_after_a_fault_below_the_stack_is_overflow(void **state)
{
	struct ktrx_holder *worker = why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);

	(void)state;
	worker->stack_low = 0x18000;
	worker->stack_high = 0x1c000;
	script_event(FAULT, 1000 * MS, 1, WORKER, V(0x17ff8), V(KERNEL));
	panics("unhandled page fault at 0x17ff8");
	script_info()->registers = "cpu 1 pc=100040 sp=17f80\n";
	assert_int_equal(why_judge()->verdict, WHY_STACK_OVERFLOW);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
}

static void words_about_other_things_are_no_stack_overflow(void **state)
{
	static const char *const other[] = {
		"panicked at src/stack.rs:12:5: attempt to add with overflow",
		"cannot allocate a kernel stack: memory exhausted",
		"netstack: rx ring overflow",
		"stack trace of the buffer overrun:",
		"integer overflow in stack_alloc()",
		"panicked at src/lib.rs:3: overflow in src/stack.rs",
		"integer overflow in add_pages()\nstack trace follows",
		"overflow in timer_add, stack dump follows",
		"overflow in timer_add; stack dump follows",
		"buffer overflow on the stack of foo()",
		"buffer overflow in the stack",
		"heap overflow in stack allocator",
		"overflow in stack allocator",
		"page frame stack overflow",
		"stack of free frames exhausted",
		"pmm: free stack exhausted",
		"integer overflow in KStack::grow",
		"refcount overflow of k_stack",
		"cannot push to the stack of pages: overflow",
		"driver overran a buffer on the stack",
		"the stack is damaged, memory exhausted",
	};
	static const char *const overflow[] = {
		"kernel stack overflow",
		"Stack overflow in task shell",
		"stack-overflow detected",
		"overflow of the stack of thread 5",
		"thread overran its stack",
		"stack of thread init exhausted",
		"detected overflow of thread 5's stack",
		"worker's stack has overflowed",
		"***** Stack overflow *****",
		"KERNEL STACK OVERFLOW",
		"[ERROR] stack overflow (task: shell)",
		"the stack of process 'init' was exhausted",
		"BUG: stack guard page was hit at 0x8000",
		"fault in the guard page of a stack",
		"stack guard page hit",
		"kstack overflow",
		"KernelError::StackOverflow",
		"vApplicationStackOverflowHook",
		"stack of thread 'shell' overflowed",
		"stack of task worker_thread_17 overflowed",
		"Stack at 0x8000 overflowed",
		"overflow on the stack",
		"shell has overflown the kernel stack",
		"write to the guard page below the stack",
	};

	for (size_t n = 0; n < sizeof(other) / sizeof(other[0]); n++) {
		why_teardown(state);
		why_cpus_begin(state);
		panics(other[n]);
		if (why_judge()->verdict != WHY_PANIC)
			fail_msg("taken for a stack overflow: %s", other[n]);
	}
	for (size_t n = 0; n < sizeof(overflow) / sizeof(overflow[0]); n++) {
		why_teardown(state);
		why_cpus_begin(state);
		panics(overflow[n]);
		if (why_judge()->verdict != WHY_STACK_OVERFLOW)
			fail_msg("not taken for a stack overflow: %s", overflow[n]);
	}
}

/* Code of a program is at address 0, and the kernel loads it when the program first runs. */
static void first_fault_of_a_program_at_address_zero_is_no_call_of_null(void **state)
{
	(void)state;
	script_event(FAULT, 900 * MS, 1, WORKER, V(0), V(0));
	script_event(CALL, 950 * MS, 1, WORKER, V(1));
	panics("assertion failed");
	assert_int_equal(why_judge()->verdict, WHY_PANIC);
	assert_null(strstr(why_text(), "null function pointer"));
}

/* ---- Interrupts */

/* A spurious interrupt needs no EOI. After it, the CPU idles without ticks. */
static void rare_interrupt_without_eoi_is_not_certainly_the_cause(void **state)
{
	(void)state;
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	for (uint64_t n = 1; n <= 5; n++) {
		why_tick(n * 10 * MS, 1, IDLE1, KERNEL);
		why_interrupt(n * 10 * MS + MS, 1, IDLE1, DEVICE, KERNEL + 8, EARLY);
	}
	why_interrupt(60 * MS, 1, IDLE1, NO_IRQ, KERNEL + 8, NEVER);
	assert_int_equal(why_count(WHY_MISSING_EOI), 1);
	assert_null(strstr(why_text(), "missing-eoi (certain)"));
}

/* A kernel stops the tick of a CPU on which one thread computes. A device interrupts it at 4 kHz. */
static void frequent_interrupts_on_a_cpu_without_ticks_are_no_storm(void **state)
{
	(void)state;
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 100 * MS, 1, WORKER, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	why_runs_on(1, 5 * MS, IDLE1, WORKER);
	script_cpu(1)->mode = KTRX_MODE_KERNEL;
	for (uint64_t n = 0; n < 400; n++)
		why_interrupt(900 * MS + n * MS / 4, 1, WORKER, DEVICE, KERNEL + n % 64 * 64, EARLY);
	why_judge();
	assert_int_equal(why_count(WHY_IRQ_STORM), 0);
}

/* The same at 33 kHz: so often that the gaps alone look like a storm. */
static void dense_interrupts_on_a_cpu_that_makes_progress_are_no_likely_storm(void **state)
{
	(void)state;
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 100 * MS, 1, WORKER, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	why_runs_on(1, 5 * MS, IDLE1, WORKER);
	script_cpu(1)->mode = KTRX_MODE_KERNEL;
	for (uint64_t n = 0; n < 4000; n++)
		why_interrupt(880 * MS + n * MS / 33, 1, WORKER, DEVICE, KERNEL + n % 64 * 64, EARLY);
	why_judge();
	assert_null(strstr(why_text(), "irq-storm (certain)"));
	assert_null(strstr(why_text(), "irq-storm (likely)"));
}

/* CPU 1 idles without ticks. The host has not run it since a sleep of 120 ms ago should have ended. */
static void timer_that_may_only_be_delayed_is_not_certainly_dead(void **state)
{
	struct ktrx_holder *sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);

	(void)state;
	why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 90 * MS);
	sleeper->deadline = 2880 * MS;
	why_ticks(10 * MS, 3000 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 100 * MS, 1, IDLE1, KERNEL);
	for (uint64_t stamp = 150 * MS; stamp <= 2850 * MS; stamp += 50 * MS)
		why_interrupt(stamp, 1, IDLE1, DEVICE, KERNEL, EARLY);
	why_judge();
	assert_int_equal(why_count(WHY_DEAD_TIMER), 1);
	assert_null(strstr(why_text(), "dead-timer (certain)"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, why_cpus_begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(dead_timer_is_found_if_idle_cpus_disable_interrupts),
		TEST(only_x86_needs_interrupts_to_be_enabled),
		TEST(halt_of_the_only_cpu_is_found_by_its_registers),
		TEST(cpu_that_idles_in_a_thread_of_any_name_does_not_spin),
		TEST(cpu_that_is_parked_does_not_spin),
		TEST(cpu_that_is_parked_in_idle_mode_is_only_possibly_lost),
		TEST(panic_on_the_stack_of_a_handler_is_no_overflow),
		TEST(stack_pointer_alone_shows_no_certain_overflow),
		TEST(panic_on_the_stack_for_faults_is_no_overflow),
		TEST(panic_after_a_fault_below_the_stack_is_overflow),
		TEST(words_about_other_things_are_no_stack_overflow),
		TEST(first_fault_of_a_program_at_address_zero_is_no_call_of_null),
		TEST(rare_interrupt_without_eoi_is_not_certainly_the_cause),
		TEST(frequent_interrupts_on_a_cpu_without_ticks_are_no_storm),
		TEST(dense_interrupts_on_a_cpu_that_makes_progress_are_no_likely_storm),
		TEST(timer_that_may_only_be_delayed_is_not_certainly_dead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
