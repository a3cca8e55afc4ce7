/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests which instruction ends a block, and which instructions access return addresses. GNU as has assembled
 * the instructions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "plugin/code.h"
#include "schedule/frames.h"

#define AT UINT64_C(0x80001000)

static const struct ends *ends;

static struct frames_code classify(const char *bytes, size_t size)
{
	struct frames_code code = { .start = AT, .last = AT, .next = AT + size };

	ends->classify(&code, (const unsigned char *)bytes, size);
	return code;
}

static void ends_as(const char *bytes, size_t size, enum block_end end)
{
	assert_int_equal(classify(bytes, size).end, end);
}

static void leads_to(const char *bytes, size_t size, enum block_end end, int64_t distance)
{
	ends_as(bytes, size, end);
	assert_int_equal(classify(bytes, size).target, AT + (uint64_t)distance);
}

static void returns_through(const char *bytes, size_t size, uint8_t reg)
{
	ends_as(bytes, size, END_RETURN);
	assert_int_equal(classify(bytes, size).reg, reg);
}

static enum ends_part saves(const char *bytes, size_t size)
{
	return ends->saves((const unsigned char *)bytes, size);
}

static enum ends_part loads(const char *bytes, size_t size, uint8_t reg)
{
	return ends->loads((const unsigned char *)bytes, size, reg);
}

static void x86_ends(void **state)
{
	(void)state;
	ends = ends_find("x86_64");
	assert_non_null(ends);
	assert_int_equal(ends->link, FRAMES_LINK);
	leads_to("\xe8\x10\x00\x00\x00", 5, END_CALL, 0x15);
	leads_to("\xeb\xfe", 2, END_JUMP, 0);
	ends_as("\xff\xd0", 2, END_INDIRECT_CALL); /* call *%rax */
	returns_through("\xc3", 1, FRAMES_LINK);
	returns_through("\xf3\xc3", 2, FRAMES_LINK);
	ends_as("\x48\xcf", 2, END_LEAVE);			  /* iretq */
	ends_as("\x48\x0f\x07", 3, END_LEAVE);			  /* sysretq */
	ends_as("\x48\xcb", 2, END_INDIRECT);			  /* lretq: not from an exception */
	ends_as("\xea\x00\x10\x00\x00\x08\x00", 7, END_INDIRECT); /* ljmp */
}

static void a64_ends(void **state)
{
	(void)state;
	ends = ends_find("aarch64");
	assert_non_null(ends);
	leads_to("\x04\x00\x00\x94", 4, END_CALL, 16);
	leads_to("\xff\xff\xff\x17", 4, END_JUMP, -4);
	ends_as("\x00\x00\x3f\xd6", 4, END_INDIRECT_CALL);
	returns_through("\xc0\x03\x5f\xd6", 4, 30);
	returns_through("\x40\x00\x5f\xd6", 4, 2);		     /* ret x2 */
	returns_through("\xff\x0b\x5f\xd6", 4, 30);		     /* retaa */
	ends_as("\xe0\x03\x9f\xd6", 4, END_LEAVE);		     /* eret */
	assert_int_equal(saves("\xfd\x7b\xbf\xa9", 4), ENDS_SECOND); /* stp x29, x30, [sp, #-16]! */
	assert_int_equal(saves("\xfe\x4f\xbf\xa9", 4), ENDS_FIRST);  /* stp x30, x19, [sp, #-16]! */
	assert_int_equal(saves("\xfe\x0f\x1f\xf8", 4), ENDS_ALL);    /* str x30, [sp, #-16]! */
	assert_int_equal(saves("\x3e\x20\x00\xf9", 4), ENDS_ALL);    /* str x30, [x1, #64] */
	assert_int_equal(saves("\xfd\x7b\xc1\xa8", 4), ENDS_NONE);   /* ldp x29, x30, [sp], #16 */
	assert_int_equal(loads("\xfd\x7b\xc1\xa8", 4, 30), ENDS_SECOND);
	assert_int_equal(loads("\xfd\x0b\x45\xa9", 4, 2), ENDS_SECOND); /* ldp x29, x2, [sp, #80] */
	assert_int_equal(loads("\xfe\x07\x41\xf8", 4, 30), ENDS_ALL);	/* ldr x30, [sp], #16 */
	assert_int_equal(loads("\xfe\x07\x41\xf8", 4, 2), ENDS_NONE);
}

static void riscv_ends(void **state)
{
	(void)state;
	ends = ends_find("riscv64");
	assert_non_null(ends);
	leads_to("\xef\x00\x00\x01", 4, END_CALL, 16);	       /* jal ra, .+16 */
	leads_to("\xef\xf0\x1f\xff", 4, END_CALL, -16);	       /* jal ra, .-16 */
	leads_to("\x6f\xf0\x1f\xff", 4, END_JUMP, -16);	       /* j .-16 */
	leads_to("\xe3\x08\xb5\xfe", 4, END_CONDITIONAL, -16); /* beq a0, a1, .-16 */
	leads_to("\x63\x08\xb5\x00", 4, END_CONDITIONAL, 16);
	leads_to("\xf5\xbf", 2, END_JUMP, -4);		   /* c.j .-4 */
	leads_to("\x01\xa8", 2, END_JUMP, 16);		   /* c.j .+16 */
	leads_to("\x75\xfd", 2, END_CONDITIONAL, -4);	   /* c.bnez a0, .-4 */
	leads_to("\x01\xc9", 2, END_CONDITIONAL, 16);	   /* c.beqz a0, .+16 */
	ends_as("\xe7\x80\x07\x00", 4, END_INDIRECT_CALL); /* jalr a5 */
	ends_as("\x82\x97", 2, END_INDIRECT_CALL);	   /* c.jalr a5 */
	ends_as("\x82\x87", 2, END_INDIRECT);		   /* c.jr a5 */
	ends_as("\x67\x80\x07\x00", 4, END_INDIRECT);	   /* jr a5 */
	returns_through("\x82\x80", 2, 1);		   /* c.jr ra */
	returns_through("\x67\x80\x00\x00", 4, 1);
	returns_through("\x82\x82", 2, 5);			     /* c.jr t0 */
	ends_as("\x73\x00\x20\x10", 4, END_LEAVE);		     /* sret */
	ends_as("\x73\x00\x20\x30", 4, END_LEAVE);		     /* mret */
	ends_as("\x73\x00\x00\x00", 4, END_ENTER);		     /* ecall */
	ends_as("\x02\x90", 2, END_ENTER);			     /* c.ebreak */
	ends_as("\x73\x25\x20\x14", 4, END_NEXT);		     /* csrr a0, scause */
	ends_as("\x3e\x85", 2, END_NEXT);			     /* c.mv a0, a5 */
	assert_int_equal(saves("\x06\xe4", 2), ENDS_ALL);	     /* c.sdsp ra, 8(sp) */
	assert_int_equal(saves("\x23\x30\x11\x00", 4), ENDS_ALL);    /* sd ra, 0(sp) */
	assert_int_equal(saves("\x22\xe0", 2), ENDS_NONE);	     /* c.sdsp s0, 0(sp) */
	assert_int_equal(loads("\xa2\x60", 2, 1), ENDS_ALL);	     /* c.ldsp ra, 8(sp) */
	assert_int_equal(loads("\x82\x62", 2, 5), ENDS_ALL);	     /* c.ldsp t0, 0(sp) */
	assert_int_equal(loads("\x83\x30\x01\x00", 4, 1), ENDS_ALL); /* ld ra, 0(sp) */
	assert_int_equal(loads("\x83\x30\x01\x00", 4, 5), ENDS_NONE);
}

static void other_architectures_are_unknown(void **state)
{
	(void)state;
	assert_null(ends_find("i386"));
	assert_null(ends_find("arm"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_ends),
		cmocka_unit_test(a64_ends),
		cmocka_unit_test(riscv_ends),
		cmocka_unit_test(other_architectures_are_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
