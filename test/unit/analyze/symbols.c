/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the symbols of an ELF file that runs at other addresses than it was linked for. The file is this
 * program.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/event_name.h"
#include "analyze/symbols.h"
#include "unit/support/elf_file.h"
#include "unit/support/inlined_call.h"

extern const char __ehdr_start[]; /* defined by the linker: start of this program in memory */

uint64_t ktrace_root[4]; /* its address gives the displacement */

/*
 * Gives this program as many sections as a kernel has that is compiled with -ffunction-sections and whose
 * linker script names only .text.
 */
__asm__(".altmacro\n"
	".macro section_of number\n"
	".section section_\\number, \"ax\"\n"
	".byte 0\n"
	".endm\n"
	".set number, 0\n"
	".rept 1500\n"
	"section_of %number\n"
	".set number, number + 1\n"
	".endr\n"
	".noaltmacro\n"
	".text\n");

__attribute__((noinline, section("section_last"))) static uint64_t in_last_section(void)
{
	return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

static uint64_t address_of(void (*function)(void **))
{
	return (uint64_t)(uintptr_t)function;
}

static const Elf64_Ehdr *own_header(void)
{
	return (const Elf64_Ehdr *)(const void *)__ehdr_start;
}

/* Returns the description of a kernel that a trace contains, here for this program. */
static struct ktread_info own_info(void)
{
	return (struct ktread_info){ .machine = own_header()->e_machine, .self = (uintptr_t)ktrace_root };
}

static struct symbols *open_own(const struct ktread_info *info, int expected)
{
	struct symbols *symbols;

	assert_int_equal(symbols_open(&symbols, "/proc/self/exe", info), expected);
	return symbols;
}

__attribute__((noinline)) static uint64_t here(void)
{
	return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

/* NASM makes such a symbol of a label in a macro (`%%out:`). */
static void label_in_a_macro_is_no_function(void **state)
{
	static const struct elf_file_section sections[] = { { ".text", 0x100000, 0x1000, ELF_FILE_CODE },
							    { ".data", 0x101000, 0x1000, ELF_FILE_DATA },
							    { NULL, 0, 0, 0 } };
	static const struct elf_file_symbol names[] = { { "syscall_enter", 0x100030, 0, STT_NOTYPE, 1 },
							{ "..@7.out", 0x100036, 0, STT_NOTYPE, 1 },
							{ "ktrace_root", 0x101000, 0x200, STT_OBJECT, 2 },
							{ NULL, 0, 0, 0, 0 } };
	const struct elf_file kernel = { EM_X86_64, ET_EXEC, sections, names };
	const struct ktread_info info = { .machine = EM_X86_64, .self = 0x101000 };
	struct symbols *symbols;
	struct symbol symbol;
	char path[32];

	(void)state;
	elf_file_write(&kernel, path);
	assert_int_equal(symbols_open(&symbols, path, &info), SYMBOLS_UNCHECKED);
	unlink(path);
	assert_int_equal(symbols_find(symbols, 0x100038, &symbol), 0);
	assert_string_equal(symbol.function, "syscall_enter");
	assert_int_equal(symbol.offset, 8);
	symbols_close(symbols);
}

/* A table of exception vectors that is declared as an object, after a label without a size. */
static void code_in_an_object_is_not_named_after_a_label_before_it(void **state)
{
	static const struct elf_file_section sections[] = { { ".text", 0x100000, 0x1000, ELF_FILE_CODE },
							    { ".data", 0x101000, 0x1000, ELF_FILE_DATA },
							    { NULL, 0, 0, 0 } };
	static const struct elf_file_symbol names[] = { { "_start", 0x100000, 0, STT_NOTYPE, 1 },
							{ "vectors", 0x100800, 0x400, STT_OBJECT, 1 },
							{ "irq_entry", 0x100a80, 0, STT_NOTYPE, 1 },
							{ "ktrace_root", 0x101000, 0x200, STT_OBJECT, 2 },
							{ NULL, 0, 0, 0, 0 } };
	const struct elf_file kernel = { EM_AARCH64, ET_EXEC, sections, names };
	const struct ktread_info info = { .machine = EM_AARCH64, .self = 0x101000 };
	struct symbols *symbols;
	struct symbol symbol;
	char path[32];

	(void)state;
	elf_file_write(&kernel, path);
	assert_int_equal(symbols_open(&symbols, path, &info), SYMBOLS_UNCHECKED);
	unlink(path);
	assert_int_equal(symbols_find(symbols, 0x100a00, &symbol), 0);
	assert_string_equal(symbol.function, "vectors");
	assert_int_equal(symbol.offset, 0x200);
	assert_int_equal(symbols_find(symbols, 0x100a84, &symbol), 0);
	assert_string_equal(symbol.function, "irq_entry");
	assert_int_equal(symbols_find(symbols, 0x100004, &symbol), 0);
	assert_string_equal(symbol.function, "_start");
	symbols_close(symbols);
}

static void addresses_become_functions_and_lines(void **state)
{
	struct ktread_info info = own_info();
	struct symbols *symbols = open_own(&info, SYMBOLS_UNCHECKED);
	struct symbol symbol;
	uint32_t line = __LINE__ + 1;
	uint64_t address = here();

	(void)state;
	assert_int_equal(symbols_find_call(symbols, address, &symbol), 0);
	assert_string_equal(symbol.function, "addresses_become_functions_and_lines");
	assert_int_equal(symbol.offset, address - address_of(addresses_become_functions_and_lines));
	assert_int_equal(symbol.line, line);
	assert_non_null(strstr(symbol.file, "test/unit/analyze/symbols.c"));
	assert_int_equal(symbols_find(symbols, (uintptr_t)here, &symbol), 0);
	assert_string_equal(symbol.function, "here");
	assert_int_equal(symbol.offset, 0);
	assert_false(symbols_doubtful(symbols));
	symbols_close(symbols);
}

static void code_inlined_from_a_header_has_the_line_that_calls_it(void **state)
{
	struct ktread_info info = own_info();
	struct symbols *symbols = open_own(&info, SYMBOLS_UNCHECKED);
	struct symbol symbol;
	uint32_t line = __LINE__ + 1;
	uint64_t address = inlined_call(here);

	(void)state;
	assert_int_equal(symbols_find_call(symbols, address, &symbol), 0);
	assert_string_equal(symbol.function, "code_inlined_from_a_header_has_the_line_that_calls_it");
	assert_non_null(strstr(symbol.file, "test/unit/analyze/symbols.c"));
	assert_int_equal(symbol.line, line);
	symbols_close(symbols);
}

/*
 * A hook has the line that calls it. If this line is in a header, it has the line that calls the function of
 * the header.
 */
static void hook_in_a_header_has_the_line_outside(void **state)
{
	struct ktread_info info = own_info();
	struct symbols *symbols = open_own(&info, SYMBOLS_UNCHECKED);
	struct symbol symbol;
	uint32_t line = __LINE__ + 1;
	uint64_t address = inlined_lock(here);

	(void)state;
	assert_int_equal(symbols_find_call(symbols, address, &symbol), 0);
	assert_non_null(strstr(symbol.file, "test/unit/analyze/symbols.c"));
	assert_int_equal(symbol.line, line);
	symbols_close(symbols);
}

static void any_number_of_sections_has_symbols(void **state)
{
	struct ktread_info info = own_info();
	struct symbols *symbols = open_own(&info, SYMBOLS_UNCHECKED);
	struct symbol symbol;

	(void)state;
	assert_int_not_equal(in_last_section(), 0);
	assert_int_equal(symbols_find(symbols, (uintptr_t)in_last_section, &symbol), 0);
	assert_string_equal(symbol.function, "in_last_section");
	symbols_close(symbols);
}

/* Two functions whose names in the file are mangled: a C++ name and a Rust name. */
uint64_t of_cplusplus(void) __asm__("_ZN6kernel4lockI9SpinMutexEEvRT_");
uint64_t of_rust(void) __asm__("_ZN6kernel5sched5yield17h0123456789abcdefE");

__attribute__((noinline)) uint64_t of_cplusplus(void)
{
	return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

__attribute__((noinline)) uint64_t of_rust(void)
{
	return (uint64_t)(uintptr_t)__builtin_return_address(0) + 1;
}

/*
 * Code in assembler: a label without a size, a function, bytes that only align the next function, and the next
 * function.
 */
__asm__(".section .text.padded, \"ax\"\n"
	"label_without_size:\n"
	".byte 0, 0\n"
	".type sized_function, %function\n"
	".globl sized_function\n"
	"sized_function:\n"
	".byte 0, 0\n"
	".size sized_function, 2\n"
	".byte 0, 0\n"
	".type function_after_padding, %function\n"
	".globl function_after_padding\n"
	"function_after_padding:\n"
	".byte 0, 0\n"
	".size function_after_padding, 2\n"
	"end_without_size:\n"
	".byte 0, 0\n"
	".type vectors, %object\n"
	".globl vectors\n"
	"vectors:\n"
	".byte 0, 0\n"
	".type inside_vectors, %function\n"
	"inside_vectors:\n"
	".byte 0, 0\n"
	".size inside_vectors, 2\n"
	".byte 0, 0\n"
	".size vectors, 6\n"
	".text\n");
extern const char sized_function[], function_after_padding[], vectors[];

static void expect_name(struct symbols *symbols, const char *address, const char *name, uint64_t offset)
{
	struct symbol symbol;

	assert_int_equal(symbols_find(symbols, (uintptr_t)address, &symbol), 0);
	assert_string_equal(symbol.function, name);
	assert_int_equal(symbol.offset, offset);
}

static void bytes_between_functions_have_no_name(void **state)
{
	struct ktread_info info = own_info();
	struct symbols *symbols = open_own(&info, SYMBOLS_UNCHECKED);
	struct symbol symbol;

	(void)state;
	expect_name(symbols, sized_function - 1, "label_without_size", 1);
	expect_name(symbols, sized_function + 1, "sized_function", 1);
	assert_int_equal(symbols_find(symbols, (uintptr_t)(sized_function + 3), &symbol), -1);
	expect_name(symbols, function_after_padding + 3, "end_without_size", 1);
	symbols_close(symbols);
}

/* Some kernels declare their table of exception vectors, which is code, as an object. */
static void code_in_an_object_has_its_name_if_no_function_fits(void **state)
{
	struct ktread_info info = own_info();
	struct symbols *symbols = open_own(&info, SYMBOLS_UNCHECKED);

	(void)state;
	expect_name(symbols, vectors + 3, "inside_vectors", 1);
	expect_name(symbols, vectors + 5, "vectors", 5);
	symbols_close(symbols);
}

/* A kernel may give a new thread the address of a function as the address to which it returns. */
static void a_return_to_the_start_of_a_function_has_its_name(void **state)
{
	struct ktread_info info = own_info();
	struct symbols *symbols = open_own(&info, SYMBOLS_UNCHECKED);
	struct symbol symbol;

	(void)state;
	assert_int_equal(symbols_find_call(symbols, (uintptr_t)function_after_padding, &symbol), 0);
	assert_string_equal(symbol.function, "function_after_padding");
	assert_int_equal(symbol.offset, 0);
	assert_int_equal(symbols_find_call(symbols, (uintptr_t)(sized_function + 2), &symbol), 0);
	assert_string_equal(symbol.function, "sized_function");
	assert_int_equal(symbol.offset, 2);
	assert_int_equal(symbols_find_call(symbols, (uintptr_t)(sized_function + 3), &symbol), -1);
	symbols_close(symbols);
}

static void keep_raw(void *context, const char *name, uint64_t address, uint64_t size)
{
	(void)address, (void)size;
	*(bool *)context |= strcmp(name, "_ZN6kernel4lockI9SpinMutexEEvRT_") == 0;
}

/* Checks which name is suggested first. The program may have more names that are similar. */
static void suggested(struct symbols *symbols, const char *name, const char *first)
{
	char text[SUGGESTIONS_TEXT], expected[SUGGESTIONS_TEXT];

	snprintf(expected, sizeof(expected), "; did you mean %s", first);
	symbols_suggest(symbols, name, text, sizeof(text));
	assert_memory_equal(text, expected, strlen(expected));
}

static void similar_names_of_code_and_data_are_suggested(void **state)
{
	struct ktread_info info = own_info();
	struct symbols *symbols = open_own(&info, SYMBOLS_UNCHECKED);
	char text[SUGGESTIONS_TEXT];

	(void)state;
	suggested(symbols, "ktrace_rot", "ktrace_root");
	suggested(symbols, "in_last_secton", "in_last_section");
	symbols_suggest(symbols, "Zq9Zq9Zq9Zq9Zq9Zq9", text, sizeof(text));
	assert_string_equal(text, "");
	symbols_suggest(NULL, "ktrace_rot", text, sizeof(text));
	assert_string_equal(text, "");
	symbols_close(symbols);
}

/* Look-ups return demangled names. symbols_each() gives the mangled names, as in the file. */
static void mangled_names_are_demangled(void **state)
{
	struct ktread_info info = own_info();
	struct symbols *symbols = open_own(&info, SYMBOLS_UNCHECKED);
	struct symbol symbol;
	bool raw = false;

	(void)state;
	assert_int_not_equal(of_cplusplus(), of_rust());
	for (uint32_t twice = 0; twice < 2; twice++) {
		assert_int_equal(symbols_find(symbols, (uintptr_t)of_cplusplus + 1, &symbol), 0);
		assert_string_equal(symbol.function, "kernel::lock<SpinMutex>");
		assert_int_equal(symbol.offset, 1);
		assert_int_equal(symbols_find(symbols, (uintptr_t)of_rust, &symbol), 0);
		assert_string_equal(symbol.function, "kernel::sched::yield");
	}
	symbols_each(symbols, keep_raw, &raw);
	assert_true(raw);
	symbols_close(symbols);
}

static void addresses_elsewhere_have_no_symbol(void **state)
{
	struct ktread_info info = own_info();
	struct symbols *symbols = open_own(&info, SYMBOLS_UNCHECKED);
	struct symbol symbol;

	(void)state;
	assert_true(symbols_has(symbols, (uintptr_t)ktrace_root));
	assert_int_equal(symbols_find(symbols, (uintptr_t)&ktrace_root[1], &symbol), -1);
	assert_int_equal(symbols_find_any(symbols, (uintptr_t)&ktrace_root[1], &symbol), 0);
	assert_string_equal(symbol.function, "ktrace_root");
	assert_int_equal(symbol.offset, 8);
	assert_null(symbol.file);
	for (uint32_t twice = 0; twice < 2; twice++) {
		assert_int_equal(symbols_find(symbols, (uintptr_t)&symbol, &symbol), -1);
		assert_int_equal(symbols_find(symbols, UINT64_MAX, &symbol), -1);
		assert_int_equal(symbols_find_call(symbols, 0, &symbol), -1);
	}
	assert_false(symbols_has(symbols, (uintptr_t)&symbol));
	symbols_close(symbols);
	assert_int_equal(symbols_find(NULL, address_of(addresses_elsewhere_have_no_symbol), &symbol), -1);
	assert_false(symbols_has(NULL, 0));
	symbols_close(NULL);
}

/* Returns the build id of this program. It is the only build-id note in the program's memory. */
static const unsigned char *own_build_id(uint32_t *size)
{
	const Elf64_Phdr *segment = (const Elf64_Phdr *)(const void *)(__ehdr_start + own_header()->e_phoff);

	for (uint32_t i = 0; i < own_header()->e_phnum; i++) {
		const char *at = __ehdr_start + segment[i].p_vaddr, *end = at + segment[i].p_memsz;

		while (segment[i].p_type == PT_NOTE && at < end) {
			const Elf64_Nhdr *note = (const Elf64_Nhdr *)(const void *)at;
			const char *content = (const char *)(note + 1) + (note->n_namesz + 3) / 4 * 4;

			if (note->n_type == NT_GNU_BUILD_ID) {
				*size = note->n_descsz;
				return (const unsigned char *)content;
			}
			at = content + (note->n_descsz + 3) / 4 * 4;
		}
	}
	fail();
	return NULL;
}

static void another_build_is_reported(void **state)
{
	struct ktread_info info = own_info();
	unsigned char other[20] = { 1, 2, 3, 4 };
	struct symbols *symbols;
	struct symbol symbol;

	(void)state;
	info.build_id = own_build_id(&info.build_id_size);
	symbols = open_own(&info, SYMBOLS_OK);
	assert_false(symbols_doubtful(symbols));
	symbols_close(symbols);
	info.build_id = other;
	symbols = open_own(&info, SYMBOLS_OTHER_BUILD);
	assert_true(symbols_doubtful(symbols));
	assert_non_null(strstr(symbols_message(), "NOT the kernel that was traced"));
	assert_non_null(strstr(symbols_message(), "traced 01020304"));
	assert_int_equal(symbols_find(symbols, (uintptr_t)here, &symbol), 0);
	symbols_close(symbols);
}

static void other_files_are_refused(void **state)
{
	static const struct {
		const char *path;
		int status;
		const char *message;
	} cases[] = {
		{ "/nothing/there", SYMBOLS_E_SYSTEM, "/nothing/there: No such file" },
		{ "/etc/passwd", SYMBOLS_E_FORMAT, "/etc/passwd: not an ELF file" },
		{ "/", SYMBOLS_E_FORMAT, "/: not an ELF file" },
		{ "/dev/null", SYMBOLS_E_FORMAT, "/dev/null: not an ELF file" },
	};
	struct ktread_info info = own_info();
	struct symbols *symbols;

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(symbols_open(&symbols, cases[i].path, &info), cases[i].status);
		assert_null(symbols);
		assert_non_null(strstr(symbols_message(), cases[i].message));
	}
	info.machine++;
	assert_int_equal(symbols_open(&symbols, "/proc/self/exe", &info), SYMBOLS_E_MACHINE);
	assert_non_null(strstr(symbols_message(), "another architecture"));
}

/*
 * The file is truncated at many lengths, and many of its bytes are changed. It must be refused, or read as
 * far as possible.
 */
static void damaged_files_do_no_harm(void **state)
{
	static unsigned char bytes[1 << 22];
	struct ktread_info info = own_info();
	FILE *own = fopen("/proc/self/exe", "r");
	size_t size = fread(bytes, 1, sizeof(bytes), own);
	char path[] = "/tmp/ktrace-symbols-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	fclose(own);
	for (uint32_t i = 0; i < 60; i++) {
		size_t changed = i < 20 ? i * 3 : (size_t)rand() % size;
		size_t length = i % 3 == 0 ? (size_t)rand() % size : size;
		struct symbols *symbols;
		struct symbol symbol;

		bytes[changed] ^= (unsigned char)(1 + i);
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, bytes, length, 0), length);
		bytes[changed] ^= (unsigned char)(1 + i);
		if (symbols_open(&symbols, path, &info) < 0)
			continue;
		symbols_find(symbols, (uintptr_t)here, &symbol);
		symbols_find(symbols, (uintptr_t)ktrace_root, &symbol);
		symbols_close(symbols);
	}
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(label_in_a_macro_is_no_function),
		cmocka_unit_test(code_in_an_object_is_not_named_after_a_label_before_it),
		cmocka_unit_test(addresses_become_functions_and_lines),
		cmocka_unit_test(code_inlined_from_a_header_has_the_line_that_calls_it),
		cmocka_unit_test(hook_in_a_header_has_the_line_outside),
		cmocka_unit_test(any_number_of_sections_has_symbols),
		cmocka_unit_test(bytes_between_functions_have_no_name),
		cmocka_unit_test(code_in_an_object_has_its_name_if_no_function_fits),
		cmocka_unit_test(a_return_to_the_start_of_a_function_has_its_name),
		cmocka_unit_test(similar_names_of_code_and_data_are_suggested),
		cmocka_unit_test(mangled_names_are_demangled),
		cmocka_unit_test(addresses_elsewhere_have_no_symbol),
		cmocka_unit_test(another_build_is_reported),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(damaged_files_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
