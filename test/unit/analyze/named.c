/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests that the host never blocks when it opens files: the kernel's file, or a file that its debug
 * information names, may be a FIFO. The tests use this program's own ELF file, and small ELF files made by
 * the assembler.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/symbols.h"

static char folder[64], file[96], beside[96];
static const struct ktread_info info = { .form = KTREAD_FORM_V2 };

static int make_folder(void **state)
{
	(void)state;
	alarm(300); /* ends this program if a test waits for a FIFO */
	strcpy(folder, "/tmp/ktrace-named.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(file, sizeof(file), "%s/kernel.elf", folder);
	snprintf(beside, sizeof(beside), "%s/beside", folder);
	return mkfifo(beside, 0600);
}

static int remove_folder(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

static void fifo_as_kernel_is_refused(void **state)
{
	struct symbols *symbols;

	(void)state;
	assert_true(symbols_open(&symbols, beside, &info) < 0);
	assert_non_null(strstr(symbols_message(), "not a regular file"));
	assert_true(symbols_open(&symbols, "/dev/zero", &info) < 0);
	assert_true(symbols_open(&symbols, folder, &info) < 0);
}

/*
 * Builds a file with a compilation unit at 0x400000, line numbers and hand-written debug information.
 * `attributes` has the DW_AT and DW_FORM numbers of the unit's attributes, and `values` has their values.
 * `more` has further sections.
 */
static void build(unsigned version, const char *attributes, const char *values, const char *more)
{
	char source[128], command[512];
	FILE *out;

	snprintf(source, sizeof(source), "%s/kernel.s", folder);
	out = fopen(source, "w");
	assert_non_null(out);
	fprintf(out,
		".file 1 \"%s/kernel.c\"\n.text\n.globl _start\n.type _start,@function\n_start:\n"
		".loc 1 7\nnop\n.size _start,.-_start\nend:\n"
		".section .debug_abbrev,\"\",@progbits\n.uleb128 1\n.uleb128 0x11\n.byte 0\n"
		".uleb128 0x10,0x17,0x11,0x01,0x12,0x07\n%s\n.uleb128 0,0\n.byte 0\n"
		".section .debug_info,\"\",@progbits\n.long after-before\nbefore:\n.short %u\n",
		folder, attributes, version);
	fputs(version >= 5 ? ".byte 4\n.byte 8\n.long 0\n.quad 0x1234\n" /* DW_UT_skeleton, its id */
			   : ".long 0\n.byte 8\n",
	      out);
	fprintf(out, ".uleb128 1\n.long 0\n.quad _start\n.quad end-_start\n%s\nafter:\n%s\n", values, more);
	assert_int_equal(fclose(out), 0);
	snprintf(command, sizeof(command),
		 "cd '%s' && gcc -nostdlib -static -Wl,-Ttext=0x400000 -o kernel.elf kernel.s 2>log", folder);
	assert_int_equal(system(command), 0);
}

static void find_line(uint32_t line)
{
	struct symbols *symbols;
	struct symbol symbol;

	assert_true(symbols_open(&symbols, file, &info) >= 0);
	assert_int_equal(symbols_find(symbols, 0x400000, &symbol), 0);
	assert_string_equal(symbol.function, "_start");
	assert_int_equal(symbol.line, line);
	symbols_close(symbols);
}

/*
 * The split unit's file is a FIFO. The line numbers are in the kernel's file, so they are found without the
 * split unit's file.
 */
static void fifo_as_split_unit_is_not_opened(void **state)
{
	char values[256];

	(void)state;
	snprintf(values, sizeof(values), ".asciz \"%s\"", beside);
	build(5, ".uleb128 0x76,0x08", values, ""); /* DW_AT_dwo_name, DW_FORM_string */
	find_line(7);
}

/*
 * DW_FORM_GNU_strp_alt: the name of the unit's directory is in another file, and a section has the path of
 * that file. libdw would open that file, so no line numbers are read.
 */
static void fifo_as_alternate_file_is_not_opened(void **state)
{
	char more[256];

	(void)state;
	snprintf(more, sizeof(more),
		 ".section .gnu_debugaltlink,\"\",@progbits\n.asciz \"%s\"\n.quad 1,2\n.long 3\n", beside);
	build(4, ".uleb128 0x1b,0x1f21", ".long 0", more); /* DW_AT_comp_dir */
	find_line(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(fifo_as_kernel_is_refused, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(fifo_as_split_unit_is_not_opened, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(fifo_as_alternate_file_is_not_opened, make_folder,
						remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
