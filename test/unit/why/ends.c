/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests findings about kernels that ended: panics, CPUs that stopped in a panic function, and resets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <elf.h>

#include "ktrx/slot.h"
#include "unit/support/elf_file.h"
#include "unit/support/script.h"
#include "unit/support/why_cpus.h"
#include "unit/support/why_support.h"

static void panics(const char *message)
{
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	script_event(PANIC, 1001 * MS, 1, WORKER, message);
	script_info()->outcome = KTRX_OUTCOME_PANIC;
}

static void panic_shows_escaped_message(void **state)
{
	(void)state;
	panics("out of \033pages");
	assert_int_equal(why_judge()->verdict, WHY_PANIC);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	why_says("the kernel panicked on CPU 1, in thread 5 (worker)");
	why_says("its message: out of \\x1bpages");
}

/* Many kernels end the message with a line feed, because their panic function also prints it. */
static void panic_shows_message_without_line_feed_at_its_end(void **state)
{
	(void)state;
	panics("out of\npages\r\n");
	assert_int_equal(why_judge()->verdict, WHY_PANIC);
	assert_non_null(strstr(why_text(), "its message: out of\\x0apages\n"));
}

static void panic_outcome_without_event_is_reported(void **state)
{
	(void)state;
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	script_info()->outcome = KTRX_OUTCOME_PANIC;
	assert_int_equal(why_judge()->verdict, WHY_PANIC);
	assert_int_equal(why_judge()->actors, 0);
}

static void null_function_pointer_is_recognized(void **state)
{
	(void)state;
	script_event(FAULT, 1000 * MS, 1, WORKER, V(0), V(0));
	panics("cannot execute 0x0");
	assert_int_equal(why_judge()->verdict, WHY_PANIC);
	why_says("a null function pointer was called on CPU 1");
	/* the field ip of the event is 0, and the address is 0, too */
	assert_null(strstr(why_text(), "record the field ip"));
}

/* The panic stopped the recording, and another CPU continued to run. */
static void null_function_pointer_is_recognized_before_a_stop(void **state)
{
	(void)state;
	script_event(FAULT, 1000 * MS, 1, WORKER, V(0), V(0));
	panics("cannot execute 0x0");
	script_info()->stopped = 1;
	script_cpu(0)->now = 5000 * MS;
	assert_int_equal(why_judge()->verdict, WHY_PANIC);
	why_says("a null function pointer was called on CPU 1");
}

static void message_shows_stack_overflow(void **state)
{
	(void)state;
	panics("Stack overflow in worker");
	assert_int_equal(why_judge()->verdict, WHY_STACK_OVERFLOW);
}

static void registers_show_stack_overflow(void **state)
{
	struct ktrx_holder *worker = why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);

	(void)state;
	worker->stack_low = 0x8000;
	worker->stack_high = 0xc000;
	panics("double fault");
	script_info()->registers = "cpu 1 pc=100040 sp=7f80\nstack 1 100050 100050 100050 100060\n";
	assert_int_equal(why_judge()->verdict, WHY_STACK_OVERFLOW);
	why_says("the lowest address of its stack is 0x8000, and the stack pointer is 0x7f80");
	why_says("called from 0x100050, at least 3 times");
}

/* The kernel may have powered the machine off after a failed assertion. */
static void power_off_without_a_reason_is_reported(void **state)
{
	(void)state;
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 1000 * MS, 1, WORKER, KERNEL);
	why_runs_on(1, 1000 * MS, IDLE1, WORKER);
	script_cpu(1)->mode = KTRX_MODE_KERNEL;
	script_info()->note = "ended: the guest powered off\n";
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	why_says("then the guest powered off, without ktrace_exit() or ktrace_panic(): perhaps it failed");
}

static void a_reset(uint16_t machine)
{
	script_info()->machine = machine;
	script_info()->note = "ended: the guest reset (or triple-faulted)\nreset: yes\n";
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	why_runs_on(1, 5 * MS, IDLE1, WORKER);
	script_event(OTHER, 1000 * MS, 1, WORKER);
	script_cpu(1)->mode = KTRX_MODE_KERNEL;
}

static void unreported_reset_is_triple_fault(void **state)
{
	(void)state;
	a_reset(EM_X86_64);
	assert_int_equal(why_judge()->verdict, WHY_TRIPLE_FAULT);
	why_says("CPU 1 ran thread 5 (worker); its last event was");
	/* only CPU 1: CPU 0 idles, and the CPUs with higher numbers never started */
	assert_int_equal(why_judge()->actors, 1);
	assert_string_equal(why_judge()->base.advice, "");
}

/* The CPU could not push a fault's frame below the stack. The overflow is the cause of the triple fault. */
static void stack_overflow_explains_triple_fault(void **state)
{
	struct ktrx_holder *worker = why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);

	(void)state;
	a_reset(EM_X86_64);
	worker->stack_low = 0x8000;
	worker->stack_high = 0xc000;
	script_info()->registers =
		"cpu 1 pc=100040 sp=7f80 flags=46 cs=8\nstack 1 100050 100050 100050 100060\n";
	assert_int_equal(why_judge()->verdict, WHY_STACK_OVERFLOW);
	why_says("the lowest address of its stack is 0x8000, and the stack pointer is 0x7f80");
	why_says("the machine then reset itself: a fault could not be delivered on this stack");
	assert_int_equal(why_count(WHY_TRIPLE_FAULT), 1);
}

/* The CPU handles an interrupt, perhaps on another stack. */
static void possible_stack_overflow_explains_no_triple_fault(void **state)
{
	(void)state;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1)->stack_low = 0x8000;
	a_reset(EM_X86_64);
	script_cpu(1)->nesting = 1;
	script_info()->registers = "cpu 1 pc=100040 sp=7f80 flags=46 cs=8\n";
	assert_int_equal(why_count(WHY_STACK_OVERFLOW), 1);
	assert_int_equal(why_judge()->verdict, WHY_TRIPLE_FAULT);
	assert_false(why_judge()->aside);
	assert_null(strstr(why_text(), "a fault could not be delivered on this stack"));
}

static void reset_of_other_architecture_is_no_triple_fault(void **state)
{
	(void)state;
	a_reset(EM_AARCH64);
	assert_int_equal(why_count(WHY_TRIPLE_FAULT), 0);
}

/* ---- Panic functions ----------------------------------------------------------------------------- */

static const struct elf_file_section kernel_sections[] = {
	{ ".text", 0x100000, 0x1000, ELF_FILE_CODE },
	{ ".data", 0x101000, 0x1000, ELF_FILE_DATA },
	{ NULL, 0, 0, 0 },
};
static struct elf_file_symbol kernel_symbols[] = {
	{ "halt", 0x100030, 0x20, STT_FUNC, 1 },
	{ "stop", 0x100060, 0x20, STT_FUNC, 1 },
	{ "open_device", 0x100080, 0x40, STT_FUNC, 1 },
	{ "ktrace_root", 0x101000, 0x200, STT_OBJECT, 2 },
	{ NULL, 0, 0, 0, 0 },
};

/*
 * A CPU stops with interrupts disabled in a function with this name. open_device() has called that
 * function.
 */
static void stops_in(const char *function)
{
	const struct elf_file kernel = { EM_X86_64, ET_EXEC, kernel_sections, kernel_symbols };

	kernel_symbols[1].name = function;
	why_stops_with(EM_X86_64, "flags=46 cs=8");
	script_info()->self = 0x101000;
	script_info()->registers = "cpu 1 pc=100040 sp=2000 flags=46 cs=8\nstack 1 100064 100090\n";
	why_kernel_file(&kernel);
}

/* The kernel does not call ktrace_panic(). */
static void functions_for_panics_are_known_by_name(void **state)
{
	static const char *const names[] = { "panic",	    "kernel_panic", "assert_fail",  "__assert",
					     "KernelPanic", "do_oops",	    "die_if_kernel" };

	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		stops_in(names[n]);
		assert_int_equal(why_judge()->verdict, WHY_PANIC);
		assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
		why_says("thread 5 (worker) has stopped in");
		why_says("called from open_device+0x10");
		why_says("to be more certain: call ktrace_panic()");
		why_teardown(state);
		why_cpus_begin(state);
	}
}

static void other_names_are_no_panic(void **state)
{
	static const char *const names[] = { "stop", "diet", "data_abort", "asserted", "panics" };

	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		stops_in(names[n]);
		assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
		why_teardown(state);
		why_cpus_begin(state);
	}
}

/* The panic function is an endless loop, and the CPU takes interrupts. */
static void loop_in_panic_function_is_a_panic(void **state)
{
	const struct elf_file kernel = { EM_X86_64, ET_EXEC, kernel_sections, kernel_symbols };

	(void)state;
	kernel_symbols[1].name = "panic";
	why_spins_at(0x100064, 0x100064);
	script_info()->machine = EM_X86_64;
	script_info()->self = 0x101000;
	script_info()->registers = "cpu 1 pc=100064 sp=2000 flags=246 cs=8\nstack 1 100090\n";
	why_kernel_file(&kernel);
	assert_int_equal(why_judge()->verdict, WHY_PANIC);
	why_says("thread 5 (worker) has stopped in panic() on CPU 1");
	why_says("called from open_device+0x10");
}
#define TEST(name) cmocka_unit_test_setup_teardown(name, why_cpus_begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(panic_shows_escaped_message),
		TEST(panic_shows_message_without_line_feed_at_its_end),
		TEST(panic_outcome_without_event_is_reported),
		TEST(null_function_pointer_is_recognized),
		TEST(null_function_pointer_is_recognized_before_a_stop),
		TEST(message_shows_stack_overflow),
		TEST(registers_show_stack_overflow),
		TEST(power_off_without_a_reason_is_reported),
		TEST(unreported_reset_is_triple_fault),
		TEST(stack_overflow_explains_triple_fault),
		TEST(possible_stack_overflow_explains_no_triple_fault),
		TEST(reset_of_other_architecture_is_no_triple_fault),
		TEST(functions_for_panics_are_known_by_name),
		TEST(other_names_are_no_panic),
		TEST(loop_in_panic_function_is_a_panic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
