/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Classifies A64 instructions, encoded by an assembler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ktrx/hwt_unit.h"
#include "plugin/code.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define AT	     UINT64_C(0x400000)

static const struct {
	uint32_t word;
	uint8_t end, reported, faults;
	/* target address minus the instruction's address; 4 if the instruction contains no target */
	int64_t to;
} codes[] = {
	{ 0x14000000, END_JUMP, 1, 0, 0 },		  /* b . */
	{ 0x17ffffff, END_JUMP, 1, 0, -4 },		  /* b .-4 */
	{ 0x15ffffff, END_JUMP, 1, 0, 0x7fffffc },	  /* b, greatest forward offset */
	{ 0x96000000, END_CALL, 1, 0, -0x8000000 },	  /* bl, greatest backward offset */
	{ 0x94000002, END_CALL, 1, 0, 8 },		  /* bl .+8 */
	{ 0x54000040, END_CONDITIONAL, 1, 0, 8 },	  /* b.eq .+8 */
	{ 0x54ffffee, END_CONDITIONAL, 1, 0, -4 },	  /* b.al .-4 */
	{ 0x34800000, END_CONDITIONAL, 1, 0, -0x100000 }, /* cbz w0, greatest backward offset */
	{ 0xb57fffe1, END_CONDITIONAL, 1, 0, 0xffffc },	  /* cbnz x1, greatest forward offset */
	{ 0x3604000f, END_CONDITIONAL, 1, 0, -0x8000 },	  /* tbz w15, #0, greatest backward offset */
	{ 0xb7fbffe0, END_CONDITIONAL, 1, 0, 0x7ffc },	  /* tbnz x0, #63, greatest forward offset */
	{ 0xd61f0000, END_INDIRECT, 1, 0, 4 },		  /* br x0 */
	{ 0xd61f081f, END_INDIRECT, 1, 0, 4 },		  /* braaz x0 */
	{ 0xd71f0c01, END_INDIRECT, 1, 0, 4 },		  /* brab x0, x1 */
	{ 0xd63f0020, END_INDIRECT_CALL, 1, 0, 4 },	  /* blr x1 */
	{ 0xd63f083f, END_INDIRECT_CALL, 1, 0, 4 },	  /* blraaz x1 */
	{ 0xd73f0c22, END_INDIRECT_CALL, 1, 0, 4 },	  /* blrab x1, x2 */
	{ 0xd65f03c0, END_RETURN, 1, 0, 4 },		  /* ret */
	{ 0xd65f0bff, END_RETURN, 1, 0, 4 },		  /* retaa */
	{ 0xd69f03e0, END_LEAVE, 1, 0, 4 },		  /* eret */
	{ 0xd69f0fff, END_LEAVE, 1, 0, 4 },		  /* eretab */
	{ 0xd6bf03e0, END_LEAVE, 1, 0, 4 },		  /* drps */
	{ 0xd4000001, END_ENTER, 1, 1, 4 },		  /* svc #0 */
	{ 0xd41fffe2, END_ENTER, 1, 1, 4 },		  /* hvc #0xffff */
	{ 0xd4000003, END_ENTER, 1, 1, 4 },		  /* smc #0 */
	{ 0xd4200000, END_NEXT, 0, 1, 4 },		  /* brk #0 */
	{ 0xd45e0000, END_NEXT, 0, 1, 4 },		  /* hlt #0xf000 */
	{ 0xd5033fdf, END_NEXT, 1, 1, 4 },		  /* isb */
	{ 0xd5033f9f, END_NEXT, 0, 1, 4 },		  /* dsb sy */
	{ 0xd503207f, END_NEXT, 0, 1, 4 },		  /* wfi */
	{ 0xd5381000, END_NEXT, 0, 1, 4 },		  /* mrs x0, sctlr_el1 */
	{ 0xf9400020, END_NEXT, 0, 1, 4 },		  /* ldr x0, [x1] */
	{ 0xa9bf7bfd, END_NEXT, 0, 1, 4 },		  /* stp x29, x30, [sp, #-16]! */
	{ 0xc85f7e80, END_NEXT, 0, 1, 4 },		  /* ldxr x0, [x20] */
	{ 0x00000000, END_NEXT, 0, 1, 4 },		  /* udf #0 */
	{ 0x1e602820, END_NEXT, 0, 1, 4 },		  /* fadd d0, d1, d0 */
	{ 0x04200000, END_NEXT, 0, 1, 4 },		  /* add z0.b, z0.b, z0.b */
	{ 0x8b010000, END_NEXT, 0, 0, 4 },		  /* add x0, x0, x1 */
	{ 0x9b017c00, END_NEXT, 0, 0, 4 },		  /* mul x0, x0, x1 */
	{ 0x91000400, END_NEXT, 0, 0, 4 },		  /* add x0, x0, #1 */
	{ 0xd2800000, END_NEXT, 0, 0, 4 },		  /* mov x0, #0 */
};

static void instructions_are_classified(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(codes); i++) {
		struct block block = { .start = AT, .last = AT, .next = AT + 4 };
		unsigned char bytes[4];

		memcpy(bytes, &codes[i].word, 4);
		a64_classify(&block, bytes, 4);
		assert_int_equal(block.end, codes[i].end);
		assert_int_equal(block.reported, codes[i].reported);
		assert_int_equal(block.target, AT + (uint64_t)codes[i].to);
		assert_int_equal(a64_faults(bytes, 4) != 0, codes[i].faults);
		assert_int_equal(a64_marker(bytes, 4), 0);
		assert_int_equal(a64_modes(bytes, 4, AT), A64_MODE);
	}
}

static void other_instruction_sets_are_recognized(void **state)
{
	const unsigned char t32[2] = { 0x70, 0x47 };
	struct block block = { .start = AT, .last = AT, .next = AT + 2 };

	(void)state;
	assert_int_equal(a64_modes(t32, 2, AT), 0);
	assert_int_equal(a64_modes((const unsigned char *)"\0\0\0\0", 4, AT + 2), 0);
	assert_int_equal(a64_mode(0, 0xfe), 0);
	assert_int_equal(a64_mode(0, A64_MODE), A64_MODE);
	a64_classify(&block, t32, 2);
	assert_int_equal(block.end, END_NEXT);
}

static void marker_is_recognized(void **state)
{
	const uint32_t word = KTRX_HWT_UNIT_NOP_AARCH64;
	unsigned char bytes[4];

	(void)state;
	memcpy(bytes, &word, 4);
	assert_int_equal(a64_marker(bytes, 4), 1);
	assert_int_equal(a64_marker(bytes, 2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_are_classified),
		cmocka_unit_test(other_instruction_sets_are_recognized),
		cmocka_unit_test(marker_is_recognized),
	};

	return cmocka_run_group_tests_name("plugin_a64", tests, NULL, NULL);
}
