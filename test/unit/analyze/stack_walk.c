/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests how stacks in a fake memory are walked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <string.h>

#include "analyze/symbols.h"

#define BASE  UINT64_C(0xffffffff80010000)
#define WORDS 4096u

/* Memory that contains a stack, from address BASE on. The walk cannot read any other address. */
static uint64_t memory[WORDS];
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

/* Walks the stack of a CPU whose PC is 0xffffffff80000001, with this frame pointer. */
static struct stack_walk walk_from(uint16_t machine, uint64_t frame, uint64_t link)
{
	const struct stack_registers registers = { .pc = UINT64_C(0xffffffff80000001),
						   .frame = frame,
						   .link = link };
	struct stack_walk walk;
	uint64_t address;
	size_t size;

	stack_walk_begin(&walk, machine, &registers, NULL, NULL);
	for (; stack_walk_wants(&walk, &address, &size); reads++) {
		const uint64_t at = address - BASE;

		assert_in_range(size, 16, STACK_WINDOW);
		assert_true(size == 16 || address / 4096 == (address + size - 1) / 4096);
		assert_in_range(reads, 0, STACK_PLACES); /* at most one read for each address */
		if (address >= BASE && at + size <= sizeof(memory))
			stack_walk_put(&walk, address, (unsigned char *)memory + at, size);
		else
			stack_walk_put(&walk, address, NULL, 0);
	}
	assert_in_range(walk.places, 1, STACK_PLACES);
	return walk;
}

#define CODE(n) (UINT64_C(0xffffffff80000000) + 0x100 * (n))

static void callers_are_found_on_every_machine(void **state)
{
	static const struct {
		uint16_t machine;
		unsigned below;
	} machines[] = { { EM_X86_64, 0 }, { EM_AARCH64, 0 }, { EM_RISCV, 16 } };

	(void)state;
	for (unsigned n = 0; n < 3; n++) {
		const uint64_t shift = machines[n].below;
		struct stack_walk walk;

		forget(NULL);
		put(BASE + 0x100, BASE + 0x200 + shift);
		put(BASE + 0x108, CODE(1));
		/* the frame is in two pages */
		put(BASE + 0x200, BASE + 0xff8 + shift);
		put(BASE + 0x208, CODE(2));
		put(BASE + 0xff8, 0);
		put(BASE + 0x1000, CODE(3));
		walk = walk_from(machines[n].machine, BASE + 0x100 + shift, 0);
		assert_int_equal(walk.end, STACK_END_WHOLE);
		assert_int_equal(walk.places, 4);
		for (unsigned place = 1; place < 4; place++)
			assert_int_equal(walk.place[place], CODE(place));
		assert_int_equal(reads, 2);
	}
}

static void a_leaf_on_riscv_has_its_return_address_in_a_register(void **state)
{
	struct stack_walk walk;

	(void)state;
	put(BASE + 0x108, BASE + 0x200); /* the frame pointer of the caller */
	put(BASE + 0x1f0, 0);
	put(BASE + 0x1f8, CODE(2));
	walk = walk_from(EM_RISCV, BASE + 0x110, CODE(1));
	assert_int_equal(walk.end, STACK_END_WHOLE);
	assert_int_equal(walk.places, 3);
	assert_int_equal(walk.place[1], CODE(1));
	assert_int_equal(walk.place[2], CODE(2));
}

static void a_stack_that_is_unreadable_is_reported(void **state)
{
	struct stack_walk walk = walk_from(EM_X86_64, BASE + sizeof(memory) + 0x1000, 0);

	(void)state;
	assert_int_equal(walk.end, STACK_END_UNREADABLE);
	assert_int_equal(walk.places, 1);
	put(BASE, BASE + sizeof(memory) + 0x1000);
	put(BASE + 8, CODE(1));
	walk = walk_from(EM_X86_64, BASE, 0);
	assert_int_equal(walk.end, STACK_END_UNREADABLE);
	assert_int_equal(walk.places, 2);
}

static void a_chain_without_end_ends(void **state)
{
	struct stack_walk walk;

	(void)state;
	put(BASE, BASE); /* a frame that is its own caller */
	put(BASE + 8, CODE(1));
	walk = walk_from(EM_X86_64, BASE, 0);
	assert_int_equal(walk.end, STACK_END_BROKEN);
	assert_int_equal(walk.places, 2);
	put(BASE, BASE + 0x100); /* two frames, each of which is the caller of the other */
	put(BASE + 0x100, BASE);
	put(BASE + 0x108, CODE(2));
	walk = walk_from(EM_X86_64, BASE, 0);
	assert_int_equal(walk.end, STACK_END_BROKEN);
	assert_in_range(walk.places, 3, 8);
	for (unsigned n = 0; n < 200; n++) {
		put(BASE + 16 * n, BASE + 16 * (n + 1));
		put(BASE + 16 * n + 8, CODE(n));
	}
	walk = walk_from(EM_X86_64, BASE, 0);
	assert_int_equal(walk.end, STACK_END_DEEP);
	assert_int_equal(walk.places, STACK_PLACES);
}

static void invalid_frame_pointers_are_reported(void **state)
{
	(void)state;
	assert_int_equal(walk_from(EM_X86_64, BASE + 4, 0).end, STACK_END_BROKEN);
	assert_int_equal(walk_from(EM_X86_64, UINT64_MAX - 7, 0).end, STACK_END_BROKEN);
	assert_int_equal(reads, 0);
	/*
	 * Nothing shows that these registers are frame pointers: code that keeps none may use the register for
	 * other values. In the kernel's entry code, the register may still be that of the interrupted program.
	 * The walk reads nothing.
	 */
	assert_int_equal(walk_from(EM_X86_64, 0x7fff0000, 0).end, STACK_END_BROKEN);
	assert_int_equal(walk_from(EM_X86_64, 0, 0).end, STACK_END_BROKEN);
	assert_int_equal(walk_from(EM_RISCV, 0, CODE(1)).end, STACK_END_BROKEN);
	assert_int_equal(reads, 0);
}

/* Ends of a chain: an entry of the kernel stores zero, or the registers of the interrupted program. */
static void frames_show_where_a_chain_ends(void **state)
{
	static const uint64_t ends[] = { 0, 0x7fff0000 };
	struct stack_walk walk;

	(void)state;
	for (unsigned n = 0; n < 2; n++) {
		put(BASE, ends[n]);
		put(BASE + 8, ends[n] ? 0x400000 : 0); /* the address of a program's code */
		walk = walk_from(EM_X86_64, BASE, 0);
		assert_int_equal(walk.places, 1);
		assert_int_equal(walk.end, STACK_END_WHOLE);
		put(BASE + 8, CODE(1));
		walk = walk_from(EM_X86_64, BASE, 0);
		assert_int_equal(walk.places, 2);
		assert_int_equal(walk.end, STACK_END_WHOLE);
	}
	/* the register is no frame pointer: it points to something that only looks like half of a frame */
	put(BASE, BASE + 0x100);
	put(BASE + 8, 0);
	walk = walk_from(EM_X86_64, BASE, 0);
	assert_int_equal(walk.places, 1);
	assert_int_equal(walk.end, STACK_END_BROKEN);
	/* after one frame that is a frame, a return address of zero is an end */
	put(BASE + 8, CODE(1));
	put(BASE + 0x100, BASE + 0x200);
	walk = walk_from(EM_X86_64, BASE, 0);
	assert_int_equal(walk.places, 2);
	assert_int_equal(walk.end, STACK_END_WHOLE);
}

static void the_stack_of_a_program_is_not_read(void **state)
{
	const struct stack_registers registers = { .pc = 0x400000, .frame = 0x7fff0000, .user = true };
	struct stack_walk walk;

	(void)state;
	stack_walk_begin(&walk, EM_X86_64, &registers, NULL, NULL);
	assert_true(walk.done);
	assert_int_equal(walk.places, 1);
	assert_int_equal(walk.end, STACK_END_WHOLE);
}

static void the_stack_of_an_unknown_machine_is_not_read(void **state)
{
	const struct stack_registers registers = { .pc = CODE(0), .frame = BASE };
	struct stack_walk walk;

	(void)state;
	stack_walk_begin(&walk, EM_386, &registers, NULL, NULL);
	assert_true(walk.done);
	assert_int_equal(walk.places, 1);
	assert_int_equal(walk.end, STACK_END_BROKEN);
}

static void pieces_of_other_memory_change_nothing(void **state)
{
	const struct stack_registers registers = { .pc = CODE(0), .frame = BASE + 0x100 };
	unsigned char piece[64] = { 0 };
	struct stack_walk walk;

	(void)state;
	stack_walk_begin(&walk, EM_X86_64, &registers, NULL, NULL);
	/* the memory that was read ends before the frame */
	stack_walk_put(&walk, BASE, piece, sizeof(piece));
	stack_walk_put(&walk, BASE + 0x108, piece, sizeof(piece));	/* its first word is missing */
	stack_walk_put(&walk, BASE + 0x100 - 56, piece, sizeof(piece)); /* its second word is missing */
	assert_false(walk.done);
	assert_int_equal(walk.places, 1);
	stack_walk_put(&walk, BASE + 0x100 - 48, piece, sizeof(piece));
	assert_true(walk.done);
}

/* ---- Call frame information ---------------------------------------------------------------------- */

/* The call frame information of functions 0, 1, and so on. Each function is 0x100 bytes long. */
struct table {
	unsigned functions;
	struct symbols_frame frame[4];
};

static const struct symbols_frame *find_frame(void *context, uint64_t address)
{
	const struct table *table = context;
	const uint64_t n = (address - CODE(0)) / 0x100;

	return address >= CODE(0) && n < table->functions ? &table->frame[n] : NULL;
}

/* Walks the stack of a CPU at the start of function 0. */
static struct stack_walk walk_by_table(uint16_t machine, struct table *table,
				       const struct stack_registers *registers)
{
	struct stack_walk walk;
	uint64_t address;
	size_t size;

	stack_walk_begin(&walk, machine, registers, find_frame, table);
	while (stack_walk_wants(&walk, &address, &size)) {
		const uint64_t at = address - BASE;

		assert_in_range(size, 8, STACK_WINDOW);
		if (address >= BASE && at + size <= sizeof(memory))
			stack_walk_put(&walk, address, (unsigned char *)memory + at, size);
		else
			stack_walk_put(&walk, address, NULL, 0);
	}
	return walk;
}

/* A function has 16 bytes of variables below the return address, and does not use the frame pointer. */
static const struct symbols_frame pushes_nothing = { .cfa = 24, .back_stored = true, .back = -8 };

static void callers_are_found_without_frame_pointers(void **state)
{
	struct table table = {
		3,
		{ pushes_nothing,
		  { .cfa = 0x1010, .back_stored = true, .back = -8, .frame_stored = true, .frame = -24 },
		  { .is_outermost = true } }
	};
	const struct stack_registers registers = { .pc = CODE(0), .sp = BASE + 0x100, .frame = 77 };
	struct stack_walk walk;

	(void)state;
	put(BASE + 0x110, CODE(2)); /* after the last instruction of function 1 */
	put(BASE + 0x118 + 0x1008, CODE(2) + 5);
	walk = walk_by_table(EM_X86_64, &table, &registers);
	assert_int_equal(walk.end, STACK_END_WHOLE);
	assert_true(walk.exact);
	assert_int_equal(walk.places, 3);
	assert_int_equal(walk.place[1], CODE(2));
	assert_int_equal(walk.place[2], CODE(2) + 5);
}

/* On AArch64 and RISC-V, a leaf function stores nothing. */
static void caller_of_leaf_is_in_link_register(void **state)
{
	struct table table = { 2, { { .cfa = 0 }, { .cfa = 32, .back_stored = true, .back = -16 } } };
	const struct stack_registers registers = {
		.pc = CODE(0), .sp = BASE + 0x100, .frame = 77, .link = CODE(1) + 4
	};
	struct stack_walk walk;

	(void)state;
	put(BASE + 0x110, CODE(9));
	walk = walk_by_table(EM_AARCH64, &table, &registers);
	assert_int_equal(walk.places, 3);
	assert_int_equal(walk.place[1], CODE(1) + 4);
	assert_int_equal(walk.place[2], CODE(9));
	/* no other function can use the link register, because a call has overwritten it */
	table.frame[1] = table.frame[0];
	walk = walk_by_table(EM_RISCV, &table, &registers);
	assert_int_equal(walk.places, 2);
	assert_int_equal(walk.end, STACK_END_BROKEN);
}

/*
 * Function 0 has call frame information. Its caller has none, as is often the case for functions in
 * assembler.
 */
static void chain_continues_only_if_the_kernel_keeps_frame_pointers(void **state)
{
	struct table table = { 1,
			       { { .by_frame = true,
				   .cfa = 16,
				   .back_stored = true,
				   .back = -8,
				   .frame_stored = true,
				   .frame = -16 } } };
	struct stack_registers registers = { .pc = CODE(0), .sp = BASE + 0x100, .frame = BASE + 0x120 };
	struct stack_walk walk;

	(void)state;
	put(BASE + 0x120, BASE + 0x180);
	put(BASE + 0x128, CODE(5));
	put(BASE + 0x180, 0);
	put(BASE + 0x188, CODE(6));
	walk = walk_by_table(EM_X86_64, &table, &registers);
	assert_int_equal(walk.places, 3);
	assert_int_equal(walk.place[2], CODE(6));
	assert_int_equal(walk.end, STACK_END_WHOLE);
	/* the register contains something that could be a frame pointer */
	table.frame[0] = pushes_nothing;
	registers.frame = BASE + 0x180;
	put(BASE + 0x110, CODE(5));
	walk = walk_by_table(EM_X86_64, &table, &registers);
	assert_int_equal(walk.places, 2);
	assert_int_equal(walk.place[1], CODE(5));
	assert_int_equal(walk.end, STACK_END_BROKEN);
}

/*
 * The innermost function has no call frame information, and its frame pointer is zero. Call frame information
 * of other functions shows that the kernel need not keep frame pointers.
 */
static void zero_is_no_end_unless_the_kernel_keeps_frame_pointers(void **state)
{
	struct table table = { 1, { pushes_nothing } };
	struct stack_registers registers = { .pc = CODE(5), .sp = BASE + 0x100 };
	struct stack_walk walk = walk_by_table(EM_X86_64, &table, &registers);

	(void)state;
	assert_int_equal(walk.places, 1);
	assert_int_equal(walk.end, STACK_END_BROKEN);
	/* a function with call frame information was called by one without */
	registers.pc = CODE(0);
	put(BASE + 0x110, CODE(5));
	walk = walk_by_table(EM_X86_64, &table, &registers);
	assert_int_equal(walk.places, 2);
	assert_int_equal(walk.end, STACK_END_BROKEN);
	/* call frame information that says where the return address is shows the end */
	put(BASE + 0x110, 0);
	walk = walk_by_table(EM_X86_64, &table, &registers);
	assert_int_equal(walk.places, 1);
	assert_int_equal(walk.end, STACK_END_WHOLE);
}

/* The first code of an interrupt handler changes from the thread's stack to a stack at a higher address. */
static void walk_continues_on_the_interrupted_stack(void **state)
{
	struct table table = { 3,
			       { { .cfa = 16, .back_stored = true, .back = -8 },
				 { .by_frame = true,
				   .cfa = 16,
				   .back_stored = true,
				   .back = -8,
				   .frame_stored = true,
				   .frame = -16,
				   .is_interrupt = true },
				 { .is_outermost = true } } };
	const struct stack_registers registers = { .pc = CODE(0),
						   .sp = BASE + 0x1000,
						   .frame = BASE + 0x100 };
	struct stack_walk walk;

	(void)state;
	put(BASE + 0x1008, CODE(1) + 9);
	put(BASE + 0x100, 0);
	put(BASE + 0x108, CODE(2)); /* the first instruction of function 2 was interrupted */
	walk = walk_by_table(EM_X86_64, &table, &registers);
	assert_int_equal(walk.places, 3);
	assert_int_equal(walk.place[2], CODE(2));
	assert_int_equal(walk.end, STACK_END_WHOLE);
	/* a walk follows at most two changes of the stack */
	table.frame[2] = table.frame[1];
	put(BASE + 0x100, BASE + 0x80);
	put(BASE + 0x80, BASE + 0x40);
	put(BASE + 0x88, CODE(2));
	put(BASE + 0x40, BASE + 0x20);
	put(BASE + 0x48, CODE(2));
	walk = walk_by_table(EM_X86_64, &table, &registers);
	assert_int_equal(walk.places, 4);
	assert_int_equal(walk.end, STACK_END_BROKEN);
}

/* The frame pointer of the innermost function is below its stack pointer, so it is invalid. */
static void invalid_frame_has_no_return_address(void **state)
{
	struct table table = { 1,
			       { { .by_frame = true,
				   .cfa = 16,
				   .back_stored = true,
				   .back = -8,
				   .frame_stored = true,
				   .frame = -16 } } };
	const struct stack_registers registers = { .pc = CODE(0), .sp = BASE + 0x200, .frame = BASE + 0x100 };
	struct stack_walk walk;

	(void)state;
	put(BASE + 0x108, CODE(3));
	walk = walk_by_table(EM_X86_64, &table, &registers);
	assert_int_equal(walk.places, 1);
	assert_false(walk.exact);
	assert_int_equal(walk.end, STACK_END_BROKEN);
}

static void impossible_call_frame_information_ends_the_walk(void **state)
{
	static const struct symbols_frame bad[] = {
		{ .cfa = -64, .back_stored = true, .back = 64 }, /* the stack pointer decreases */
		{ .cfa = 0, .back_stored = true, .back = 16 },	 /* the stack pointer stays the same */
		{ .cfa = 4, .back_stored = true, .back = 0 },	 /* the stack pointer is not aligned */
		{ .cfa = INT64_MIN, .back_stored = true, .back = INT64_MIN }, /* the sum overflows */
		{ .cfa = 16, .back_stored = true, .back = -8, .frame_stored = true, .frame = INT64_MIN },
		/* the difference of the two offsets does not fit into 64 bits */
		{ .cfa = 16,
		  .back_stored = true,
		  .back = INT64_MAX - 7,
		  .frame_stored = true,
		  .frame = INT64_MIN },
		{ .cfa = 16,
		  .back_stored = true,
		  .back = INT64_MAX,
		  .frame_stored = true,
		  .frame = INT64_MIN },
	};
	const struct stack_registers registers = { .pc = CODE(0), .sp = BASE + 0x100, .frame = 0 };

	(void)state;
	for (unsigned n = 0; n < WORDS; n++)
		memory[n] = CODE(0) + 8;
	for (size_t n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
		struct table table = { 1, { bad[n] } };
		struct stack_walk walk = walk_by_table(EM_X86_64, &table, &registers);

		assert_in_range(walk.places, 1, 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(callers_are_found_on_every_machine, forget),
		cmocka_unit_test_setup(a_leaf_on_riscv_has_its_return_address_in_a_register, forget),
		cmocka_unit_test_setup(a_stack_that_is_unreadable_is_reported, forget),
		cmocka_unit_test_setup(a_chain_without_end_ends, forget),
		cmocka_unit_test_setup(invalid_frame_pointers_are_reported, forget),
		cmocka_unit_test_setup(frames_show_where_a_chain_ends, forget),
		cmocka_unit_test_setup(the_stack_of_a_program_is_not_read, forget),
		cmocka_unit_test_setup(the_stack_of_an_unknown_machine_is_not_read, forget),
		cmocka_unit_test_setup(zero_is_no_end_unless_the_kernel_keeps_frame_pointers, forget),
		cmocka_unit_test_setup(pieces_of_other_memory_change_nothing, forget),
		cmocka_unit_test_setup(callers_are_found_without_frame_pointers, forget),
		cmocka_unit_test_setup(caller_of_leaf_is_in_link_register, forget),
		cmocka_unit_test_setup(chain_continues_only_if_the_kernel_keeps_frame_pointers, forget),
		cmocka_unit_test_setup(walk_continues_on_the_interrupted_stack, forget),
		cmocka_unit_test_setup(invalid_frame_has_no_return_address, forget),
		cmocka_unit_test_setup(impossible_call_frame_information_ends_the_walk, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
