/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests which registers and which code a sample uses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <string.h>

#include "profile/stack.h"

#define BASE UINT64_C(0xffffffff80010000)

static void registers_show_mode_and_frame(void **state)
{
	unsigned char bytes[34 * 8] = { 0 };
	struct stack_registers registers;

	(void)state;
	bytes[6 * 8] = 6;	  /* rbp */
	bytes[16 * 8] = 16;	  /* rip */
	bytes[17 * 8 + 4] = 0x2b; /* cs */
	assert_true(profile_registers_read(&registers, EM_X86_64, bytes, 18 * 8));
	assert_int_equal(registers.frame, 6);
	assert_int_equal(registers.pc, 16);
	assert_true(registers.user);
	bytes[17 * 8 + 4] = 0x8;
	assert_true(profile_registers_read(&registers, EM_X86_64, bytes, 18 * 8));
	assert_false(registers.user);
	assert_false(profile_registers_read(&registers, EM_X86_64, bytes, 18 * 8 - 1));

	memset(bytes, 0, sizeof(bytes));
	bytes[29 * 8] = 29;
	bytes[30 * 8] = 30;
	bytes[32 * 8] = 32;
	assert_true(profile_registers_read(&registers, EM_AARCH64, bytes, 33 * 8 + 4)); /* EL0 */
	assert_true(registers.user);
	assert_int_equal(registers.frame, 29);
	assert_int_equal(registers.link, 30);
	assert_int_equal(registers.pc, 32);
	bytes[33 * 8] = 0xc5; /* EL1 */
	assert_true(profile_registers_read(&registers, EM_AARCH64, bytes, 33 * 8 + 4));
	assert_false(registers.user);
	assert_false(profile_registers_read(&registers, EM_AARCH64, bytes, 33 * 8 + 3));

	bytes[8 * 8] = 8;
	assert_true(profile_registers_read(&registers, EM_RISCV, bytes, 33 * 8));
	assert_int_equal(registers.frame, 8);
	assert_false(profile_registers_read(&registers, EM_RISCV, bytes, 33 * 8 - 1));
	assert_false(profile_registers_read(&registers, EM_386, bytes, sizeof(bytes)));
}

static void code_shows_waiting_and_calls(void **state)
{
	const unsigned char hlt[8] = { [7] = 0xf4 }, wfi_aarch64[8] = { [4] = 0x7f, 0x20, 0x03, 0xd5 },
			    wfi_riscv[8] = { [4] = 0x73, 0x00, 0x50, 0x10 },
			    forward[8] = { [3] = 0xe8, 0x10, 0, 0, 0 },
			    back[8] = { [3] = 0xe8, 0xf0, 0xff, 0xff, 0xff },
			    other[8] = { [2] = 0xe8, 0, 0xff, 0xd0 };

	(void)state;
	assert_true(profile_is_waiting(EM_X86_64, hlt));
	assert_true(profile_is_waiting(EM_AARCH64, wfi_aarch64));
	assert_true(profile_is_waiting(EM_RISCV, wfi_riscv));
	assert_false(profile_is_waiting(EM_RISCV, wfi_aarch64));
	assert_false(profile_is_waiting(EM_X86_64, forward));
	assert_false(profile_is_waiting(EM_386, hlt));
	assert_int_equal(profile_called(0x1000, forward), 0x1010);
	assert_int_equal(profile_called(0x1000, back), 0xff0);
	assert_int_equal(profile_called(0x1000, other), 0);
}

static void the_word_at_the_stack_pointer_is_found(void **state)
{
	struct profile_cpu cpu = { .registers.sp = BASE + 8 };
	uint64_t memory[2] = { 0, 7 };

	(void)state;
	assert_false(profile_cpu_take_top(&cpu, BASE, (unsigned char *)memory, 15));
	assert_false(profile_cpu_take_top(&cpu, BASE + 16, (unsigned char *)memory, 64));
	assert_false(profile_cpu_take_top(&cpu, BASE + 8, (unsigned char *)memory, 0));
	assert_true(profile_cpu_take_top(&cpu, BASE, (unsigned char *)memory, 16));
	assert_int_equal(cpu.caller, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_show_mode_and_frame),
		cmocka_unit_test(code_shows_waiting_and_calls),
		cmocka_unit_test(the_word_at_the_stack_pointer_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
