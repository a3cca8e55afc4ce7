/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests findings about faults that caused a panic, and about stacks that overflow without a fault. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "ktrx/slot.h"
#include "unit/support/elf_file.h"
#include "unit/support/script.h"
#include "unit/support/why_support.h"

#define V(value) ((uint64_t)(value))

#define IDLE0  1u
#define WORKER 5u
#define CLIENT 6u
#define BASE   UINT64_C(0xffffffff80100000)
#define LAST   (2000 * MS)

enum { OTHER = 1, PANIC, FAULT, FAULT_END, ENTER, EXIT };

static const struct elf_file_section sections[] = {
	{ ".text", BASE, 0x20000, ELF_FILE_CODE },
	{ ".data", BASE + 0x20000, 0x1000, ELF_FILE_DATA },
	{ NULL, 0, 0, 0 },
};
static const struct elf_file_symbol names[] = {
	{ "list_remove", BASE + 0x100, 0x80, STT_FUNC, 1 },
	{ "panic", BASE + 0x200, 0x80, STT_FUNC, 1 },
	{ "handle_trap", BASE + 0x300, 0x80, STT_FUNC, 1 },
	{ "trap_entry", BASE + 0x380, 0x80, STT_FUNC, 1 },
	{ "ktrace_root", BASE + 0x20000, 0x200, STT_OBJECT, 2 },
	{ NULL, 0, 0, 0, 0 },
};

static struct ktrx_holder *worker;

static int begin_on(uint16_t machine)
{
	const struct elf_file file = { machine, ET_EXEC, sections, names };

	script_type(OTHER, "mine", "other", "");
	script_type(PANIC, "ktrace", "panic", "string message");
	script_type(FAULT, "mm", "fault_enter", "u64 address,u64 ip");
	script_type(FAULT_END, "mm", "fault_exit", "u64 address");
	script_thread(IDLE0, "idle/0");
	script_info()->cpus = 1;
	script_info()->machine = machine;
	script_info()->self = BASE + 0x20000;
	why_kernel_file(&file);
	why_cpu_row(0, KTRX_MODE_KERNEL);
	why_cpu_beats(0, 200, LAST);
	worker = why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	script_event(OTHER, MS, 0, WORKER);
	script_event(OTHER, LAST, 0, WORKER);
	return 0;
}

static int begin(void **state)
{
	int error = why_setup(state);

	return error ? error : begin_on(EM_X86_64);
}

static void panic_saying(const char *message)
{
	script_event(PANIC, LAST + MS, 0, WORKER, message);
	script_info()->outcome = KTRX_OUTCOME_PANIC;
}

static void panic(void)
{
	panic_saying("page fault in the kernel");
}

/* ---- Panics ---------------------------------------------------------------------------------------- */

static void panic_in_handler_names_interrupt(void **state)
{
	(void)state;
	panic();
	why_judge();
	assert_null(strstr(why_text(), "handler of interrupt"));
	why_teardown(state);
	begin(state);
	panic();
	script_cpu(0)->nesting = 1;
	script_cpu(0)->irq = 33;
	why_judge();
	why_says("CPU 0 is in an interrupt handler; interrupt 33 came last");
}

static void panic_names_faulting_instruction(void **state)
{
	(void)state;
	script_event(FAULT, LAST, 0, WORKER, V(0x18), V(BASE + 0x110));
	panic();
	assert_int_equal(why_judge()->verdict, WHY_PANIC);
	assert_int_equal(why_judge()->actor[0].pc, BASE + 0x110);
	why_says("it was handling a fault on address 0x18, by the instruction at list_remove+0x10");
}

/* No code is at address 0. The message names the caller, by a return address. */
static void caller_is_the_place_of_a_call_of_null(void **state)
{
	char message[80];

	(void)state;
	script_event(FAULT, LAST, 0, WORKER, V(0), V(0));
	snprintf(message, sizeof(message), "cannot fetch code from 0x0, called from 0x%llx",
		 (unsigned long long)BASE + 0x111);
	panic_saying(message);
	why_judge();
	why_says("a null function pointer was called");
	assert_string_equal(why_judge()->base.where, "thread 5 (worker) at list_remove+0x11");
	assert_int_equal(why_judge()->actor[0].pc, BASE + 0x111);
}

static void place_of_a_call_of_null_may_be_unknown(void **state)
{
	(void)state;
	script_event(FAULT, LAST, 0, WORKER, V(0), V(0));
	panic();
	why_judge();
	why_says("a null function pointer was called");
	assert_string_equal(why_judge()->base.where, "thread 5 (worker)");
}

static void finished_fault_is_not_blamed_for_panic(void **state)
{
	(void)state;
	script_event(FAULT, LAST - 2, 0, WORKER, V(0x18), V(BASE + 0x110));
	script_event(FAULT_END, LAST - 1, 0, WORKER, V(0x18));
	panic();
	assert_null(strstr(why_text(), "list_remove"));
}

static void old_fault_is_not_blamed_for_panic(void **state)
{
	(void)state;
	script_event(FAULT, LAST - 1500 * MS, 0, WORKER, V(0x18), V(BASE + 0x110));
	panic();
	assert_null(strstr(why_text(), "list_remove"));
}

/* The kernel records interrupt context for every exception, but no interrupt handler runs. */
static void exceptions_count_as_interrupts(uint32_t times, bool end)
{
	script_type(ENTER, "irq", "enter", "u32 irq");
	script_type(EXIT, "irq", "exit", "u32 irq");
	script_event(ENTER, LAST - MS, 0, WORKER, V(7))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(EXIT, LAST - MS + 1, 0, WORKER, V(7))->context = KTRX_CONTEXT_INTERRUPT;
	for (uint32_t n = 0; n < times; n++) {
		script_event(FAULT, LAST + n * 10, 0, WORKER, V(0x18), V(BASE + 0x110))->context =
			KTRX_CONTEXT_INTERRUPT;
		if (end)
			script_event(FAULT_END, LAST + n * 10 + 1, 0, WORKER, V(0x18))->context =
				KTRX_CONTEXT_INTERRUPT;
	}
}

static void fault_in_context_of_interrupt_is_named(void **state)
{
	(void)state;
	exceptions_count_as_interrupts(1, false);
	panic();
	why_says("it was handling a fault on address 0x18, by the instruction at list_remove+0x10");
	assert_null(strstr(why_text(), "null function pointer"));
}

static void fault_loop_in_context_of_interrupt_is_reported(void **state)
{
	(void)state;
	exceptions_count_as_interrupts(100, true);
	assert_int_equal(why_judge()->verdict, WHY_FAULT_LOOP);
	why_says("100 page faults in a row");
}

/* The fault of an interrupt handler does not show the address and the instruction of the thread's fault. */
static void fault_of_interrupt_handler_is_no_call_of_null(void **state)
{
	(void)state;
	script_event(FAULT, LAST, 0, WORKER, V(0x18), V(BASE + 0x110))->context = KTRX_CONTEXT_INTERRUPT;
	panic();
	assert_int_equal(why_judge()->verdict, WHY_PANIC);
	assert_null(strstr(why_text(), "null function pointer"));
}

static void advice_asks_for_unknown_instruction(void **state)
{
	(void)state;
	script_event(FAULT, LAST, 0, WORKER, V(0x18), V(0));
	panic();
	why_says("it was handling a fault on address 0x18");
	why_says("to be more certain: record the field ip in mm.fault_enter");
}

static void riscv_register_has_faulting_instruction(void **state)
{
	why_teardown(state);
	why_setup(state);
	begin_on(EM_RISCV);
	panic();
	script_info()->registers =
		"cpu 0 pc=ffffffff80100210 sp=1000 sepc=ffffffff80100114 mepc=80000100 scause=d mcause=9\n";
	assert_int_equal(why_judge()->actor[0].pc, BASE + 0x114);
	why_says("the last exception on that CPU was at list_remove+0x14");
}

/* Causes of RISC-V: 1 is an access fault, 12 is a page fault, both of an instruction fetch. */
static void riscv_registers_show_jump_to_null(void **state)
{
	static const char *const registers[] = {
		"cpu 0 pc=ffffffff80100210 sp=1000 sepc=0 mepc=0 scause=0 mcause=1\n",
		"cpu 0 pc=ffffffff80100210 sp=1000 sepc=0 mepc=80000100 scause=c mcause=9\n",
		"cpu 0 pc=ffffffff80100210 sp=1000 sepc=0 mepc=0 scause=0 mcause=0\n",
	};

	for (size_t n = 0; n < 3; n++) {
		why_teardown(state);
		why_setup(state);
		begin_on(EM_RISCV);
		panic();
		script_info()->registers = registers[n];
		assert_int_equal(
			!!strstr(why_text(), "the last exception on that CPU was a jump to address 0"),
			n < 2);
	}
}

static void riscv_interrupt_or_call_is_no_fault(void **state)
{
	static const char *const registers[] = {
		"cpu 0 pc=ffffffff80100210 sp=1000 sepc=ffffffff80100114 scause=8000000000000005\n",
		"cpu 0 pc=ffffffff80100210 sp=1000 sepc=ffffffff80100114 scause=8\n",
	};

	for (size_t n = 0; n < 2; n++) {
		why_teardown(state);
		why_setup(state);
		begin_on(EM_RISCV);
		panic();
		script_info()->registers = registers[n];
		assert_null(strstr(why_text(), "list_remove"));
	}
}

/* ---- Exception handlers that stop the CPU, and are not named like a panic ----------------------------- */

static void other_cpu_goes_on(void)
{
	script_info()->cpus = 2;
	why_cpu_row(1, KTRX_MODE_IDLE);
	why_cpu_beats(1, 200, LAST + 2000 * MS);
	script_event(OTHER, LAST + 2000 * MS, 1, IDLE0 + 1);
}

/* CPU 0 spins in handle_trap() with interrupts disabled. */
static void spin_in_handler(void **state, const char *registers)
{
	why_teardown(state);
	why_setup(state);
	begin_on(EM_RISCV);
	other_cpu_goes_on();
	script_cpu(0)->interrupts = KTRX_INTERRUPTS_OFF;
	script_info()->registers = registers;
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
	why_says("with interrupts disabled on CPU 0, at handle_trap+0x10");
}

static void spin_in_handler_names_instruction_that_faulted(void **state)
{
	spin_in_handler(
		state,
		"cpu 0 pc=ffffffff80100310 sp=1000 mtvec=ffffffff80100381 mepc=ffffffff80100114 mcause=7\n"
		"stack 0 ffffffff80100390\n");
	why_says("it handles an exception of the instruction at list_remove+0x14");
	why_says("call ktrace_panic() in the exception handler");
}

static void spin_in_handler_names_jump_to_null(void **state)
{
	spin_in_handler(state, "cpu 0 pc=ffffffff80100310 sp=1000 mtvec=ffffffff80100380 mepc=0 mcause=1\n"
			       "stack 0 ffffffff80100390\n");
	why_says("it handles an exception, a jump to address 0: a null function pointer was called");
}

/* The handler is not on the stack, so the exception may have been handled. */
static void spin_outside_handler_does_not_claim_to_handle_exception(void **state)
{
	spin_in_handler(
		state,
		"cpu 0 pc=ffffffff80100310 sp=1000 mtvec=ffffffff80100380 mepc=ffffffff80100114 mcause=7\n"
		"stack 0 ffffffff80100120\n");
	assert_null(strstr(why_text(), "it handles an exception"));
	why_says("the last exception on that CPU was at list_remove+0x14");
}

static void spin_after_interrupt_names_no_exception(void **state)
{
	spin_in_handler(state,
			"cpu 0 pc=ffffffff80100310 sp=1000 mtvec=ffffffff80100380 mepc=ffffffff80100114 "
			"mcause=8000000000000007\nstack 0 ffffffff80100390\n");
	assert_null(strstr(why_text(), "exception"));
}

/*
 * CPU 0 was idle, and its handler spins for a lock. It leaves an interrupt pending, which would have ended
 * wfi. Without a pending interrupt or without the handler on the stack, the CPU may be waiting.
 */
static void handler_that_leaves_interrupt_pending_does_not_idle(void **state)
{
	static const char *const registers[] = {
		"mip=80 mie=888 mtvec=ffffffff80100380\nstack 0 ffffffff80100390\n",
		"mip=2 mie=888 mtvec=ffffffff80100380\nstack 0 ffffffff80100390\n",
		"mip=80 mie=888 mtvec=ffffffff80100380\nstack 0 ffffffff80100120\n",
	};
	static char line[256];

	for (size_t n = 0; n < 3; n++) {
		why_teardown(state);
		why_setup(state);
		begin_on(EM_RISCV);
		other_cpu_goes_on();
		worker->state = KTRX_THREAD_WAITING;
		script_event(OTHER, LAST + MS, 0, IDLE0);
		script_cpu(0)->thread = IDLE0;
		script_cpu(0)->mode = KTRX_MODE_IDLE;
		snprintf(line, sizeof(line),
			 "cpu 0 pc=ffffffff80100310 sp=1000 mstatus=a00000000 mepc=ffffffff80100014 "
			 "mcause=8000000000000007 %s",
			 registers[n]);
		script_info()->registers = line;
		why_judge();
		assert_int_equal(why_count(WHY_KERNEL_SPIN), n == 0);
		assert_int_equal(!!strstr(why_text(), "CPU 0   interrupt, interrupts disabled"), n == 0);
	}
}

/* ---- Stacks that have no guard page ----------------------------------------------------------------- */

static void deep(const char *registers)
{
	worker->stack_low = 0x8000;
	worker->stack_high = 0xc000;
	script_info()->registers = registers;
}

static void stack_pointer_below_stack_is_overflow(void **state)
{
	struct ktrx_holder *client = why_thread_row(CLIENT, "client", KTRX_THREAD_WAITING, 0);

	(void)state;
	client->stack_low = 0x4000;
	client->stack_high = 0x8000;
	deep("cpu 0 pc=ffffffff80100110 sp=7f80 cs=8\n");
	assert_int_equal(why_judge()->verdict, WHY_STACK_OVERFLOW);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("the kernel stack of thread 5 (worker) has overflowed on CPU 0");
	why_says("the stack pointer is in the stack of thread 6 (client)");
}

static void other_stack_pointers_are_no_overflow(void **state)
{
	static const char *const registers[] = {
		"cpu 0 pc=ffffffff80100110 sp=8010 cs=8\n", /* the stack pointer is in the stack */
		"cpu 0 pc=400000 sp=7f80 cs=33\n",	    /* the stack pointer is in a program's stack */
		"cpu 0 pc=ffffffff80100110 sp=200 cs=8\n",  /* the stack pointer is far below all stacks */
	};

	worker->stack_low = 0x8000;
	for (size_t n = 0; n < 2; n++) {
		why_teardown(state);
		begin(state);
		deep(registers[n]);
		assert_int_equal(why_count(WHY_STACK_OVERFLOW), 0);
	}
	why_teardown(state);
	begin(state);
	deep(registers[2]);
	worker->stack_low = 0x80000;
	assert_int_equal(why_count(WHY_STACK_OVERFLOW), 0);
}

static void overflow_in_interrupt_is_only_possible(void **state)
{
	(void)state;
	deep("cpu 0 pc=ffffffff80100110 sp=7f80 cs=8\n");
	script_cpu(0)->nesting = 1;
	assert_int_equal(why_count(WHY_STACK_OVERFLOW), 1);
	why_says("stack-overflow (possible)");
}

/* A function that calls itself without end leaves the same return addresses on the stack again and again. */
static void far_below_stack(const char *frames, uint32_t times)
{
	static char registers[1024];
	size_t length = (size_t)snprintf(registers, sizeof(registers),
					 "cpu 0 pc=ffffffff80100110 sp=200 cs=8\nstack 0 ffffffff80100350");

	while (times--)
		length += (size_t)snprintf(registers + length, sizeof(registers) - length, " %s", frames);
	deep(registers);
	worker->stack_low = 0x80000;
	worker->stack_high = 0x84000;
}

static void distant_stack_pointer_of_recursion_is_overflow(void **state)
{
	far_below_stack("ffffffff80100120", 31);
	assert_int_equal(why_judge()->verdict, WHY_STACK_OVERFLOW);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("its return addresses repeat, as in a recursion without end");
	why_teardown(state);
	begin(state);
	far_below_stack("ffffffff80100120 ffffffff80100310", 15); /* two functions call each other */
	assert_int_equal(why_judge()->verdict, WHY_STACK_OVERFLOW);
}

static void distant_stack_pointer_of_short_recursion_is_no_overflow(void **state)
{
	far_below_stack("ffffffff80100120", 8);
	assert_int_equal(why_count(WHY_STACK_OVERFLOW), 0);
	why_teardown(state);
	begin(state);
	far_below_stack(
		"ffffffff80100120 ffffffff80100310 ffffffff80100320 ffffffff80100330 ffffffff80100340", 6);
	assert_int_equal(why_count(WHY_STACK_OVERFLOW), 0);
}

#define NESTED 100u

/*
 * Each fault occurs in the handler of the fault before it, at a lower address of the stack. These faults
 * never end.
 */
static void sink(uint8_t context)
{
	script_event(FAULT_END, MS, 0, CLIENT, V(0x18));
	deep("cpu 0 pc=ffffffff80100110 sp=200 cs=8\n");
	worker->stack_low = 0x80000;
	worker->stack_high = 0x84000;
	for (uint32_t n = 0; n < NESTED; n++)
		script_event(FAULT, LAST + n, 0, WORKER, V(0x18), V(BASE + 0x110))->context = context;
}

static void distant_stack_pointer_of_nested_faults_is_overflow(void **state)
{
	(void)state;
	sink(KTRX_CONTEXT_INTERRUPT);
	script_cpu(0)->nesting = 1;
	assert_int_equal(why_judge()->verdict, WHY_STACK_OVERFLOW);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("it has faulted at least 100 times, each time in the handler of the previous fault");
}

static void distant_stack_pointer_after_finished_fault_is_no_overflow(void **state)
{
	(void)state;
	sink(KTRX_CONTEXT_THREAD);
	script_event(FAULT_END, LAST + NESTED, 0, WORKER, V(0x18));
	assert_int_equal(why_count(WHY_STACK_OVERFLOW), 0);
}

/* A program causes a fault, and the end of the fault is not recorded. */
static void distant_stack_pointer_of_user_faults_is_no_overflow(void **state)
{
	(void)state;
	deep("cpu 0 pc=ffffffff80100110 sp=200 cs=8\n");
	worker->stack_low = 0x80000;
	script_event(FAULT_END, MS, 0, CLIENT, V(0x18));
	for (uint32_t n = 0; n < NESTED; n++)
		script_event(FAULT, LAST + n, 0, WORKER, V(0x18), V(0x400110));
	assert_int_equal(why_count(WHY_STACK_OVERFLOW), 0);
}

/* The kernel has no events for the end of faults, so it is unknown whether faults are nested. */
static void distant_stack_pointer_without_fault_ends_is_no_overflow(void **state)
{
	(void)state;
	deep("cpu 0 pc=ffffffff80100110 sp=200 cs=8\n");
	worker->stack_low = 0x80000;
	for (uint32_t n = 0; n < NESTED; n++)
		script_event(FAULT, LAST + n, 0, WORKER, V(0x18), V(BASE + 0x110));
	assert_int_equal(why_count(WHY_STACK_OVERFLOW), 0);
}

/* The stack of one CPU overflows and overwrites memory. Because of this, another CPU panics. */
static void overflow_precedes_panic_of_other_cpu(void **state)
{
	(void)state;
	script_info()->cpus = 2;
	why_cpu_row(1, KTRX_MODE_KERNEL);
	sink(KTRX_CONTEXT_THREAD);
	script_event(PANIC, LAST + MS, 1, CLIENT, "general protection");
	script_info()->outcome = KTRX_OUTCOME_PANIC;
	assert_int_equal(why_judge()->verdict, WHY_STACK_OVERFLOW);
	assert_int_equal(why_count(WHY_PANIC), 1);
	why_says("the panic on CPU 1 may be caused by memory that the overflow has overwritten");
}

/* The code that stops other CPUs after a panic may have its own stack. */
static void stack_pointer_after_panic_is_only_possible(void **state)
{
	(void)state;
	script_info()->cpus = 2;
	why_cpu_row(1, KTRX_MODE_KERNEL);
	deep("cpu 0 pc=ffffffff80100110 sp=7f80 cs=8\n");
	script_event(PANIC, LAST + MS, 1, CLIENT, "general protection");
	script_info()->outcome = KTRX_OUTCOME_PANIC;
	assert_int_equal(why_judge()->verdict, WHY_PANIC);
	why_says("stack-overflow (possible)");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)
	const struct CMUnitTest tests[] = {
		TEST(panic_in_handler_names_interrupt),
		TEST(panic_names_faulting_instruction),
		TEST(caller_is_the_place_of_a_call_of_null),
		TEST(place_of_a_call_of_null_may_be_unknown),
		TEST(finished_fault_is_not_blamed_for_panic),
		TEST(fault_in_context_of_interrupt_is_named),
		TEST(fault_loop_in_context_of_interrupt_is_reported),
		TEST(fault_of_interrupt_handler_is_no_call_of_null),
		TEST(old_fault_is_not_blamed_for_panic),
		TEST(advice_asks_for_unknown_instruction),
		TEST(riscv_register_has_faulting_instruction),
		TEST(riscv_registers_show_jump_to_null),
		TEST(spin_in_handler_names_instruction_that_faulted),
		TEST(spin_in_handler_names_jump_to_null),
		TEST(spin_outside_handler_does_not_claim_to_handle_exception),
		TEST(spin_after_interrupt_names_no_exception),
		TEST(handler_that_leaves_interrupt_pending_does_not_idle),
		TEST(riscv_interrupt_or_call_is_no_fault),
		TEST(stack_pointer_below_stack_is_overflow),
		TEST(other_stack_pointers_are_no_overflow),
		TEST(overflow_in_interrupt_is_only_possible),
		TEST(distant_stack_pointer_of_recursion_is_overflow),
		TEST(distant_stack_pointer_of_short_recursion_is_no_overflow),
		TEST(distant_stack_pointer_of_nested_faults_is_overflow),
		TEST(distant_stack_pointer_after_finished_fault_is_no_overflow),
		TEST(distant_stack_pointer_of_user_faults_is_no_overflow),
		TEST(distant_stack_pointer_without_fault_ends_is_no_overflow),
		TEST(overflow_precedes_panic_of_other_cpu),
		TEST(stack_pointer_after_panic_is_only_possible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
