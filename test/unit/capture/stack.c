/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests walks of stacks by frame pointers. A walk requests the pages that it needs, and ends if the chain of
 * frames is invalid.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/cpu_state.h"

#define BASE  UINT64_C(0xffffffff80010000)
#define PAGES 16u

/* Contents of a stack, from address BASE on. */
static uint64_t memory[PAGES * CAPTURE_STACK_PAGE / 8];
static unsigned reads;

static void put(uint64_t address, uint64_t word)
{
	memory[(address - BASE) / 8] = word;
}

static int forget(void **state)
{
	(void)state;
	memset(memory, 0, sizeof(memory));
	reads = 0;
	return 0;
}

/* Walks the stacks. If kernel->elf is not NULL, uses the call frame information of this file. */
static void check_with(const struct capture_stack_kernel *kernel, const char *registers, const char *expected)
{
	struct capture_stack_page page[2];
	struct capture_stacks *stacks;
	unsigned pages;
	char *text;

	assert_int_equal(capture_stacks_open(&stacks, registers, kernel), 0);
	while ((pages = capture_stacks_wanted(stacks, page, 2))) {
		reads += pages;
		for (unsigned i = 0; i < pages; i++) {
			uint64_t at = page[i].address - BASE;

			assert_int_equal(at % CAPTURE_STACK_PAGE, 0);
			page[i].readable = at < sizeof(memory);
			if (page[i].readable)
				memcpy(page[i].bytes, &memory[at / 8], CAPTURE_STACK_PAGE);
			capture_stacks_put(stacks, &page[i]);
			/* stores the same page twice, which must have no effect */
			capture_stacks_put(stacks, &page[i]);
		}
	}
	text = capture_stacks_text(stacks);
	assert_non_null(text);
	assert_memory_equal(text, registers, strlen(registers));
	assert_string_equal(text + strlen(registers), expected);
	free(text);
	capture_stacks_close(stacks);
}

static void check(const char *registers, const char *expected)
{
	check_with(&(struct capture_stack_kernel){ 0 }, registers, expected);
}

static void callers_are_found_on_every_machine(void **state)
{
	(void)state;
	put(BASE + 0x10, BASE + 0x40);
	put(BASE + 0x18, 0x1111);
	/* the next frame: its first word is the last one of a page, its second word is in the next page */
	put(BASE + 0x40, BASE + 0x1ff8);
	put(BASE + 0x48, 0x2222);
	put(BASE + 0x1ff8, 0);
	put(BASE + 0x2000, 0x3333);
	check("cpu 0 pc=1 sp=ffffffff80010000 rbp=ffffffff80010010\n", "stack 0 1111 2222 3333\n");
	assert_int_equal(reads, 3);
	check("cpu 0 pc=1 x29=ffffffff80010010 x30=5\ncpu 1 pc=2\ncpu 3 x29=ffffffff80010040\n",
	      "stack 0 1111 2222 3333\nstack 3 2222 3333\n");
	check("cpu 7 ra=9999 s0=ffffffff80010020\n", "stack 7 1111\n");
}

/* A RISC-V leaf function does not store its return address, only the frame pointer. */
static void leaf_returns_to_its_link(void **state)
{
	(void)state;
	put(BASE + 0x18, BASE + 0x60); /* the caller's frame pointer, stored in the frame that ends at 0x20 */
	put(BASE + 0x50, 0);
	put(BASE + 0x58, 0x2222);
	check("cpu 0 pc=1 ra=1234 s0=ffffffff80010020\n", "stack 0 1234 2222\n");
}

static void hostile_chains_end(void **state)
{
	char line[80];

	(void)state;
	check("", "");
	check("cpu 0\n", "");
	check("no line of a CPU rbp=10\n", "");
	check("cpu 0 rbp=0\n", "");
	check("cpu 0 rbp=8\n", "");
	check("cpu 0 s0=8\n", "");
	check("cpu 0 rbp=ffffffff80010011\n", "");
	check("cpu 0 rbp=fffffffffffffff8\n", "");
	check("cpu 0 rbp=ffffffffffffffffffffffff\n", "");

	put(BASE + 0x10, BASE + 0x10); /* this frame refers to itself */
	put(BASE + 0x18, 0x1);
	check("cpu 0 rbp=ffffffff80010010\n", "stack 0 1\n");

	put(BASE + 0x10, BASE + 0x20); /* from here on, two frames point to each other */
	put(BASE + 0x20, BASE + 0x10);
	put(BASE + 0x28, 0x2);
	check("cpu 0 rbp=ffffffff80010010\n", "stack 0 1 2 1 2 1 2\n");

	put(BASE + 0x10, 0x1230); /* this frame pointer points to no memory */
	check("cpu 0 rbp=ffffffff80010010\n", "stack 0 1\n");

	/* A long chain of frames: the walk stops at a limited number of pages or frames. */
	for (unsigned i = 0; i + 1 < PAGES; i++) {
		put(BASE + i * CAPTURE_STACK_PAGE, BASE + (i + 1) * CAPTURE_STACK_PAGE);
		put(BASE + i * CAPTURE_STACK_PAGE + 8, 0xa);
	}
	reads = 0;
	snprintf(line, sizeof(line), "cpu 0 rbp=%" PRIx64 "\n", BASE);
	check(line, "stack 0 a a a a a a a a\n");
	assert_int_equal(reads, 8);
	for (unsigned i = 0; i < 100; i++) {
		put(BASE + i * 16, BASE + (i + 1) * 16);
		put(BASE + i * 16 + 8, 0xb);
	}
	check(line, "stack 0 b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b\n");
}

static void registers_of_each_cpu_are_found(void **state)
{
	static const char text[] =
		"cpu 0 pc=10 sp=20\ncpu 1 pc=11 sp=21 rbp=31\n\ncpu 12 sp=22\nstack 1 a b\nstack 12 c\n";

	(void)state;
	assert_int_equal(capture_registers_value(text, 0, " sp="), 0x20);
	assert_int_equal(capture_registers_value(text, 1, " sp="), 0x21);
	assert_int_equal(capture_registers_value(text, 12, " sp="), 0x22);
	assert_int_equal(capture_registers_value(text, 0, " rbp="),
			 0); /* the registers of CPU 1 are in the next line */
	assert_int_equal(capture_registers_value(text, 2, " sp="), 0);
	assert_int_equal(capture_registers_value("", 0, " sp="), 0);
	assert_string_equal(capture_registers_line(text, "stack", 1), " a b\nstack 12 c\n");
	assert_null(capture_registers_line(text, "stack", 0));
}

#ifdef __x86_64__
extern const char __ehdr_start[];

/* A program may run at an address at which the kernel's file contains a function. */
static void stack_of_a_program_is_not_walked_by_the_kernels_file(void **state)
{
	const uintptr_t function = (uintptr_t)hostile_chains_end - (uintptr_t)__ehdr_start;
	const struct capture_stack_kernel kernel = { .elf = "/proc/self/exe" };
	char line[120];

	(void)state;
	put(BASE + 0x10, 0);
	put(BASE + 0x18, 0x1111);
	put(BASE + 0x100, 0x2222); /* at the start of the function, this is the return address */
	for (unsigned user = 0; user < 2; user++) {
		snprintf(line, sizeof(line), "cpu 0 pc=%" PRIxPTR " sp=%" PRIx64 " rbp=%" PRIx64 " cs=%s\n",
			 function, BASE + 0x100, BASE + 0x10, user ? "33" : "8");
		check_with(&kernel, line, user ? "stack 0 1111\n" : "stack 0 2222\n");
	}
}

/* The guest runs another build of the kernel, in which other code is at the same addresses. */
static void file_with_another_build_id_is_not_used(void **state)
{
	const uintptr_t function = (uintptr_t)hostile_chains_end - (uintptr_t)__ehdr_start;
	struct capture_stack_kernel kernel = { .elf = "/proc/self/exe" };
	struct capture_kernel file;
	char line[120];

	(void)state;
	assert_int_equal(capture_kernel_read(&file, kernel.elf), 0);
	assert_in_range(file.build_id_size, 4, sizeof(kernel.id.bytes));
	put(BASE + 0x10, 0);
	put(BASE + 0x18, 0x1111);
	put(BASE + 0x100, 0x2222);
	snprintf(line, sizeof(line), "cpu 0 pc=%" PRIxPTR " sp=%" PRIx64 " rbp=%" PRIx64 "\n", function,
		 BASE + 0x100, BASE + 0x10);
	kernel.id.size = file.build_id_size;
	memcpy(kernel.id.bytes, file.build_id, file.build_id_size);
	check_with(&kernel, line, "stack 0 2222\n");
	kernel.id.bytes[file.build_id_size - 1] ^= 1;
	check_with(&kernel, line, "stack 0 1111\n");
	kernel.id.size = file.build_id_size - 1;
	check_with(&kernel, line, "stack 0 1111\n");
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(callers_are_found_on_every_machine, forget),
		cmocka_unit_test_setup(leaf_returns_to_its_link, forget),
		cmocka_unit_test_setup(hostile_chains_end, forget),
		cmocka_unit_test_setup(registers_of_each_cpu_are_found, forget),
#ifdef __x86_64__
		cmocka_unit_test_setup(stack_of_a_program_is_not_walked_by_the_kernels_file, forget),
		cmocka_unit_test_setup(file_with_another_build_id_is_not_used, forget),
#endif
	};

	return cmocka_run_group_tests_name("capture_stack", tests, NULL, NULL);
}
