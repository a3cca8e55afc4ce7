/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the difference between addresses of a running kernel and addresses in its file, for kernels that run
 * at their linked addresses and for kernels that were moved.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/symbols.h"
#include "unit/support/elf_file.h"

#define HIGH	  UINT64_C(0xffffffff80000000)
#define HIGH_ARM  UINT64_C(0xffff000040000000)
#define HIGH_RISC UINT64_C(0xffffffc080000000)
#define USER	  UINT64_C(0x400000)

static struct symbols *symbols;

static void open_file(const struct elf_file *file, uint64_t self, int expected)
{
	struct ktread_info info = { .machine = file->machine, .self = self };
	char path[32];

	elf_file_write(file, path);
	assert_int_equal(symbols_open(&symbols, path, &info), expected);
	unlink(path);
}

static int teardown(void **state)
{
	(void)state;
	symbols_close(symbols);
	symbols = NULL;
	return 0;
}

static void expect_code(uint64_t address, const char *function, uint64_t offset)
{
	struct symbol symbol;

	assert_int_equal(symbols_find(symbols, address, &symbol), 0);
	assert_string_equal(symbol.function, function);
	assert_int_equal(symbol.offset, offset);
	assert_true(symbols_has_code(symbols, address));
	assert_true(symbols_has(symbols, address));
}

static void expect_data(uint64_t address, const char *name, uint64_t offset)
{
	struct symbol symbol;

	assert_int_equal(symbols_find_any(symbols, address, &symbol), 0);
	assert_string_equal(symbol.function, name);
	assert_int_equal(symbol.offset, offset);
	assert_int_equal(symbols_find(symbols, address, &symbol), -1);
	assert_int_equal(symbols_find_call(symbols, address + 1, &symbol), -1);
	assert_false(symbols_has_code(symbols, address));
	assert_true(symbols_has(symbols, address));
}

static void expect_nothing(uint64_t address)
{
	struct symbol symbol;

	assert_int_equal(symbols_find(symbols, address, &symbol), -1);
	assert_int_equal(symbols_find_any(symbols, address, &symbol), -1);
	assert_int_equal(symbols_find_call(symbols, address + 1, &symbol), -1);
	assert_false(symbols_has_code(symbols, address));
	assert_false(symbols_has(symbols, address));
}

/* A kernel linked at 1 MiB. Its data is so large that some of its addresses are also used by programs. */
static const struct elf_file_section low_sections[] = {
	{ ".text", 0x100000, 0x20000, ELF_FILE_CODE | ELF_FILE_BOTH },
	{ ".bss", 0x120000, 0x800000, ELF_FILE_DATA | ELF_FILE_BOTH },
	{ NULL, 0, 0, 0 },
};
static const struct elf_file_symbol low_symbols[] = {
	{ "start", 0x100000, 0, STT_NOTYPE, 1 },
	{ "main", 0x100100, 0x80, STT_FUNC, 1 },
	{ "table", 0x100200, 0x40, STT_OBJECT, 1 },
	{ "after", 0x100300, 0x40, STT_FUNC, 1 },
	{ "ktrace_root", 0x120000, 0x200, STT_OBJECT, 2 },
	{ "memory", 0x130000, 0x700000, STT_OBJECT, 2 },
	{ NULL, 0, 0, 0, 0 },
};

static void moved_kernel_has_no_linked_addresses(void **state)
{
	static const struct {
		uint16_t machine;
		uint64_t by;
	} moved[] = { { EM_X86_64, HIGH },
		      { EM_AARCH64, HIGH_ARM },
		      { EM_RISCV, HIGH_RISC },
		      { EM_X86_64, 0x40000000 } };

	(void)state;
	for (size_t n = 0; n < sizeof(moved) / sizeof(moved[0]); n++) {
		const struct elf_file file = { moved[n].machine, ET_EXEC, low_sections, low_symbols };
		const uint64_t by = moved[n].by;

		open_file(&file, by + 0x120000, SYMBOLS_UNCHECKED);
		expect_code(by + 0x100110, "main", 0x10);
		expect_data(by + 0x120008, "ktrace_root", 8);
		expect_data(by + USER, "memory", USER - 0x130000);
		expect_nothing(USER);
		expect_nothing(0x100110);
		teardown(NULL);
	}
}

static void data_is_not_code(void **state)
{
	const struct elf_file file = { EM_X86_64, ET_EXEC, low_sections, low_symbols };
	struct symbol symbol;

	(void)state;
	open_file(&file, 0x120000, SYMBOLS_UNCHECKED);
	expect_code(0x100110, "main", 0x10);
	expect_code(0x100008, "start", 8);
	expect_data(USER, "memory", USER - 0x130000);
	/*
	 * This address is in a table after the functions "start" and "main", and no function extends to it.
	 * The table may contain code, such as the handlers of exceptions, so it is taken for a function.
	 */
	assert_int_equal(symbols_find(symbols, 0x100210, &symbol), 0);
	assert_string_equal(symbol.function, "table");
	assert_int_equal(symbols_find_any(symbols, 0x100210, &symbol), 0);
	assert_string_equal(symbol.function, "table");
}

static void addresses_after_a_function_are_not_part_of_it(void **state)
{
	static const struct elf_file_symbol sized[] = {
		{ "main", 0x100100, 0x80, STT_FUNC, 1 },
		{ "ktrace_root", 0x120000, 0x200, STT_OBJECT, 2 },
		{ NULL, 0, 0, 0, 0 },
	};
	const struct elf_file file = { EM_X86_64, ET_EXEC, low_sections, sized };
	struct symbol symbol;

	(void)state;
	open_file(&file, 0x120000, SYMBOLS_UNCHECKED);
	expect_code(0x10017f, "main", 0x7f);
	assert_true(symbols_has_code(symbols, 0x100180));
	assert_int_equal(symbols_find(symbols, 0x100180, &symbol), -1);
	/*
	 * If a call is the last instruction of a function, its return address is directly after the end of
	 * the function.
	 */
	assert_int_equal(symbols_find_call(symbols, 0x100180, &symbol), 0);
	assert_string_equal(symbol.function, "main");
	assert_int_equal(symbol.offset, 0x80);
}

static const struct elf_file_section split_sections[] = {
	{ ".boot", 0x100000, 0x4000, ELF_FILE_CODE },
	{ ".text", HIGH + 0x104000, 0x20000, ELF_FILE_CODE },
	{ ".data", HIGH + 0x124000, 0x4000, ELF_FILE_DATA },
	{ NULL, 0, 0, 0 },
};
static const struct elf_file_symbol split_symbols[] = {
	{ "start", 0x100000, 0, STT_NOTYPE, 1 },
	{ "main", HIGH + 0x104100, 0x80, STT_FUNC, 2 },
	{ "ktrace_root", HIGH + 0x124000, 0x200, STT_OBJECT, 3 },
	{ NULL, 0, 0, 0, 0 },
};

static void boot_code_in_the_low_half_is_not_moved(void **state)
{
	const struct elf_file file = { EM_X86_64, ET_EXEC, split_sections, split_symbols };

	(void)state;
	open_file(&file, HIGH + 0x124000, SYMBOLS_UNCHECKED);
	expect_code(0x100010, "start", 0x10);
	expect_code(HIGH + 0x104110, "main", 0x10);
	expect_nothing(0x104110);
	expect_nothing(USER);
	teardown(NULL);
	open_file(&file, HIGH + 0x124000 + 0x4000000, SYMBOLS_UNCHECKED);
	expect_code(0x100010, "start", 0x10);
	expect_code(HIGH + 0x4104110, "main", 0x10);
	expect_nothing(0x4100010);
	expect_nothing(HIGH + 0x104110);
}

static const struct elf_file_section pie_sections[] = {
	{ ".text", 0x1000, 0x20000, ELF_FILE_CODE },
	{ ".data", 0x21000, 0x4000, ELF_FILE_DATA },
	{ NULL, 0, 0, 0 },
};
static const struct elf_file_symbol pie_symbols[] = {
	{ "main", 0x1100, 0x80, STT_FUNC, 1 },
	{ "ktrace_root", 0x21000, 0x200, STT_OBJECT, 2 },
	{ NULL, 0, 0, 0, 0 },
};

static void position_independent_kernel_moves_with_its_root(void **state)
{
	static const uint16_t machines[] = { EM_X86_64, EM_AARCH64, EM_RISCV };

	(void)state;
	for (size_t n = 0; n < 3; n++) {
		const struct elf_file file = { machines[n], ET_DYN, pie_sections, pie_symbols };

		open_file(&file, HIGH_ARM + 0x21000, SYMBOLS_UNCHECKED);
		expect_code(HIGH_ARM + 0x1110, "main", 0x10);
		expect_nothing(0x1110);
		expect_nothing(HIGH_ARM + 0x30000);
		teardown(NULL);
		open_file(&file, 0x21000, SYMBOLS_UNCHECKED);
		expect_code(0x1110, "main", 0x10);
		teardown(NULL);
	}
}

/*
 * If the file has no symbol of the root, it is unknown how far the kernel was moved. Such a file matches only
 * a kernel that was not moved.
 */
static void file_without_root_is_usable_only_if_not_moved(void **state)
{
	static const struct elf_file_symbol only_main[] = {
		{ "main", 0x100100, 0x80, STT_FUNC, 1 },
		{ NULL, 0, 0, 0, 0 },
	};
	const struct elf_file file = { EM_X86_64, ET_EXEC, low_sections, only_main };

	(void)state;
	open_file(&file, 0x120000, SYMBOLS_UNCHECKED);
	expect_code(0x100110, "main", 0x10);
	teardown(NULL);
	open_file(&file, HIGH + 0x120000, SYMBOLS_E_FORMAT);
	assert_null(symbols);
	assert_non_null(strstr(symbols_message(), "ktrace_root"));
	open_file(&file, 0, SYMBOLS_UNCHECKED);
	expect_code(0x100110, "main", 0x10);
}

static void note_name(void *context, const char *name, uint64_t address, uint64_t size)
{
	(void)size;
	assert_string_not_equal(name, "memory");
	if (strcmp(name, "main") == 0)
		*(uint64_t *)context = address;
}

static void named_code_has_running_addresses(void **state)
{
	const struct elf_file file = { EM_X86_64, ET_EXEC, low_sections, low_symbols };
	uint64_t main_at = 0;

	(void)state;
	open_file(&file, HIGH + 0x120000, SYMBOLS_UNCHECKED);
	symbols_each(symbols, note_name, &main_at);
	assert_int_equal(main_at, HIGH + 0x100100);
}

/*
 * The file has fixed addresses and no build id. In some cases it was compiled again after the trace was made.
 */
static void root_at_another_address_means_another_build(void **state)
{
	static const struct elf_file_section sections[] = { { ".text", 0x40280000, 0x10000, ELF_FILE_CODE },
							    { ".data", 0x40290000, 0x1000, ELF_FILE_DATA },
							    { 0 } };
	static const struct elf_file_symbol all[] = { { "ktrace_root", 0x40290040, 64, STT_OBJECT, 2 },
						      { 0 } };
	static const struct {
		uint64_t self;
		int status;
	} cases[] = {
		{ 0x40290040, SYMBOLS_UNCHECKED },
		{ 0x40291040, SYMBOLS_OTHER_BUILD },
		{ 0x4028f0c0, SYMBOLS_OTHER_BUILD },
		/* the root at the second address for which this kernel is linked */
		{ 0xffffffff40290040, SYMBOLS_UNCHECKED },
		{ 0x80290040, SYMBOLS_UNCHECKED }, /* the kernel was loaded at a different address */
		{ 0, SYMBOLS_UNCHECKED },
	};

	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		open_file(&(struct elf_file){ EM_AARCH64, ET_EXEC, sections, all }, cases[n].self,
			  cases[n].status);
		assert_int_equal(symbols_doubtful(symbols), cases[n].status == SYMBOLS_OTHER_BUILD);
		teardown(state);
	}
	open_file(&(struct elf_file){ EM_AARCH64, ET_EXEC, sections, all }, 0x40291040, SYMBOLS_OTHER_BUILD);
	assert_non_null(
		strstr(symbols_message(), "ktrace_root is at 0x40290040 there, and was at 0x40291040"));
	teardown(state);
	/* A position-independent file may be loaded anywhere. */
	open_file(&(struct elf_file){ EM_AARCH64, ET_DYN, sections, all }, 0x40291040, SYMBOLS_UNCHECKED);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
	const struct CMUnitTest tests[] = {
		TEST(moved_kernel_has_no_linked_addresses),
		TEST(data_is_not_code),
		TEST(addresses_after_a_function_are_not_part_of_it),
		TEST(boot_code_in_the_low_half_is_not_moved),
		TEST(position_independent_kernel_moves_with_its_root),
		TEST(file_without_root_is_usable_only_if_not_moved),
		TEST(named_code_has_running_addresses),
		TEST(root_at_another_address_means_another_build),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
