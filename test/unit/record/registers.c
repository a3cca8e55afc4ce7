/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests reading system calls from the register sets of three machines, as ptrace(2) returns them when a
 * system call begins and returns.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "record/registers.h"

/* Returns a register set whose n-th 64-bit value is 1000 + n, counted from 0. */
static struct record_registers register_set(size_t words)
{
	struct record_registers registers = { .size = words * sizeof(uint64_t) };

	for (size_t n = 0; n < words; n++)
		registers.word[n] = 1000 + n;
	return registers;
}

static void check_call(uint16_t elf, size_t words, uint64_t number, const uint64_t expected[6],
		       unsigned result)
{
	const struct record_machine *machine = record_machine_find(elf);
	struct record_registers registers = register_set(words);
	uint64_t seen, argument[6];
	int64_t value;

	assert_non_null(machine);
	assert_int_equal(record_registers_call(machine, &registers, &seen, argument), 0);
	assert_int_equal(seen, number);
	assert_memory_equal(argument, expected, sizeof(argument));
	assert_int_equal(record_registers_set_result(machine, &registers, -22), 0);
	assert_int_equal((int64_t)registers.word[result], -22);
	assert_int_equal(record_registers_result(machine, &registers, &value), 0);
	assert_int_equal(value, -22);
}

/* struct user_regs_struct: r15 r14 r13 r12 bp bx r11 r10 r9 r8 ax cx dx si di orig_ax ip … */
static void call_is_read_from_x86_64_registers(void **state)
{
	(void)state;
	check_call(EM_X86_64, 27, 1015, (const uint64_t[]){ 1014, 1013, 1012, 1007, 1009, 1008 }, 10);
}

/* struct user_pt_regs: x0 to x30, sp, pc, pstate; the number is in x8. */
static void call_is_read_from_aarch64_registers(void **state)
{
	(void)state;
	check_call(EM_AARCH64, 34, 1008, (const uint64_t[]){ 1000, 1001, 1002, 1003, 1004, 1005 }, 0);
}

/* struct user_regs_struct: pc, x1 to x31; a0 is x10, the number is in a7. */
static void call_is_read_from_riscv64_registers(void **state)
{
	(void)state;
	check_call(EM_RISCV, 32, 1017, (const uint64_t[]){ 1010, 1011, 1012, 1013, 1014, 1015 }, 10);
}

/* A 32-bit program has a shorter register set. The reader must refuse it and read no register from it. */
static void register_sets_of_other_sizes_are_refused(void **state)
{
	const struct record_machine *machine = record_machine_find(EM_AARCH64);
	struct record_registers registers = register_set(18);
	uint64_t number, argument[6];
	int64_t result;

	(void)state;
	assert_int_equal(record_registers_call(machine, &registers, &number, argument), -1);
	assert_int_equal(record_registers_result(machine, &registers, &result), -1);
	assert_int_equal(record_registers_set_result(machine, &registers, 1), -1);
	registers.size = 0;
	assert_int_equal(record_registers_call(machine, &registers, &number, argument), -1);
	assert_null(record_machine_find(EM_386));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(call_is_read_from_x86_64_registers),
		cmocka_unit_test(call_is_read_from_aarch64_registers),
		cmocka_unit_test(call_is_read_from_riscv64_registers),
		cmocka_unit_test(register_sets_of_other_sizes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
