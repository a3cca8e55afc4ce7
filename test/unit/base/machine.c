/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the names of architectures. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/machine.h"

static void aliases_have_one_printed_name(void **state)
{
	static const char *const names[][2] = {
		{ "x86_64", "x86_64" },	  { "x64", "x86_64" },	  { "amd64", "x86_64" },
		{ "aarch64", "aarch64" }, { "arm64", "aarch64" }, { "riscv64", "riscv64" },
		{ "riscv", "riscv64" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_string_equal(base_machine_name(base_machine_number(names[i][0])), names[i][1]);
	assert_int_equal(base_machine_number("aarch64"), EM_AARCH64);
}

static void other_machines_have_no_name(void **state)
{
	(void)state;
	assert_int_equal(base_machine_number("mips"), EM_NONE);
	assert_int_equal(base_machine_number(""), EM_NONE);
	assert_null(base_machine_name(EM_NONE));
	assert_null(base_machine_name(EM_386));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aliases_have_one_printed_name),
		cmocka_unit_test(other_machines_have_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
