/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests that the model of Intel PT detects accesses that the manual forbids. Otherwise, the tests that use
 * the model would prove nothing.
 */
#include "unit/support/hwt_pt_support.h"

#define CTL    0x570
#define STATUS 0x571
#define BASE   0x560
#define PLACE  0x561
#define TRACE  UINT64_C(0x210d) /* bits TraceEn, OS, User, ToPA and BranchEn */

static _Alignas(4096) uint64_t table[512];
static _Alignas(8192) uint8_t room[8192];

static void wr(uint32_t msr, uint64_t value)
{
	fake_pt_access.write(msr, value);
}

static void fresh(void)
{
	fake_pt_reset();
	memset(table, 0, sizeof(table));
	table[0] = 0x200000 | 1 << 6; /* a region of 8 KiB */
	table[1] = 0x100000 | 1;
	fake_pt_memory(0x100000, table, sizeof(table));
	fake_pt_memory(0x200000, room, sizeof(room));
	wr(BASE, 0x100000);
	wr(PLACE, 0x7f);
	fake_pt_access.barrier();
}

static void broken(const char *what)
{
	const char *first = fake_log_first_broken();

	assert_non_null(first);
	if (!strstr(first, what))
		fail_msg("expected '%s', got '%s'", what, first);
	fresh();
}

static void order_is_checked(void **state)
{
	(void)state;
	fresh();
	wr(CTL, TRACE);
	assert_int_equal(fake_pt_run(100), 100);
	assert_null(fake_log_first_broken());
	wr(CTL, TRACE);
	broken("written while TraceEn is 1");
	wr(CTL, TRACE);
	wr(PLACE, 0x7f);
	broken("while TraceEn is 1");
	wr(CTL, TRACE);
	wr(STATUS, 0);
	broken("while TraceEn is 1");
	wr(CTL, TRACE);
	wr(CTL, 0);
	fake_pt_access.read(PLACE);
	broken("before a fence");
	wr(CTL, TRACE);
	wr(CTL, 0);
	wr(CTL, TRACE);
	broken("without a fence");
	wr(STATUS, 1 << 5);
	wr(CTL, TRACE);
	broken("Stopped");
	wr(BASE, 0x100080);
	wr(CTL, TRACE);
	broken("without a table");
	wr(CTL, TRACE & ~UINT64_C(0xc));
	broken("nothing to be traced");
}

static void reserved_bits_are_checked(void **state)
{
	(void)state;
	fresh();
	wr(CTL, TRACE | UINT64_C(1) << 18);
	broken("reserved bit");
	wr(CTL, TRACE | 1 << 12);
	broken("reserved bit"); /* the modelled CPU does not support PTWRITE */
	wr(CTL, TRACE | UINT64_C(1) << 40);
	broken("reserved bit"); /* the modelled CPU has only two address ranges */
	wr(CTL, TRACE | UINT64_C(3) << 32);
	broken("ADDRn_CFG");
	wr(CTL, TRACE | 1 << 9 | 1 << 14);
	broken("MTCFreq");
	wr(CTL, TRACE | 14 << 19);
	broken("CYCThresh");
	wr(CTL, TRACE | 6 << 24);
	broken("PSBFreq");
	wr(STATUS, 1 << 3);
	broken("#GP");
	wr(STATUS, UINT64_C(1) << 49);
	broken("#GP");
	wr(BASE, 0x100040);
	broken("#GP");
	wr(BASE, UINT64_C(1) << 39);
	broken("#GP");
	wr(0x572, 0x1001);
	broken("#GP");
	wr(0x580, UINT64_C(1) << 47);
	broken("#GP");
	wr(0x584, 0x1000);
	broken("#GP"); /* register of a third address range, which does not exist */
	wr(0x390, 1);
	broken("counters");
	fake_pt_access.read(0x123);
	broken("#GP");
}

static void features_absent_in_cpuid_do_not_work(void **state)
{
	(void)state;
#define DENIED(bit, msr, value)                                 \
	do {                                                    \
		fresh();                                        \
		fake_pt_features.leaf_14_ebx &= ~(1u << (bit)); \
		wr(msr, value);                                 \
		broken("#GP");                                  \
	} while (0)
	DENIED(0, CTL, TRACE | 1 << 7);
	DENIED(0, 0x572, 0);
	DENIED(1, CTL, TRACE | 1 << 1);
	DENIED(1, CTL, TRACE | 1 << 24);
	DENIED(1, STATUS, UINT64_C(1) << 32);
	DENIED(2, CTL, TRACE | UINT64_C(1) << 32);
	DENIED(2, 0x580, 0);
	DENIED(3, CTL, TRACE | 1 << 9);
#undef DENIED
}

/*
 * Enables tracing. The first entry of the table of regions is `word`, and the output position is `place`.
 * Checks that the model reports that the rule `what` was broken.
 */
static void error(uint64_t word, uint64_t place, const char *what)
{
	table[0] = word;
	wr(PLACE, place | 0x7f);
	wr(CTL, TRACE);
	fake_pt_run(10);
	assert_true(fake_pt_peek(STATUS) & 1 << 4);
	broken(what);
}

static void tables_are_checked(void **state)
{
	(void)state;
	fresh();
	error(0x200000 | 1 << 1, 0, "reserved bit of an entry");
	error(0x200000 | UINT64_C(1) << 40, 0, "reserved bit of an entry");
	error(0x201000 | 1 << 6, 0, "aligned");
	error(0x100000 | 1, 0, "END");
	error(0x200000 | 1 << 6, UINT64_C(8192) << 32, "beyond the region");
	error(0x300000, 0, "not in memory");
	error(0x200000, UINT64_C(600) << 7, "no table");
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(order_is_checked),
		TEST(reserved_bits_are_checked),
		TEST(features_absent_in_cpuid_do_not_work),
		TEST(tables_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
