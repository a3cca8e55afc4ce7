/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests that the model of SPE detects accesses that the manual forbids. Otherwise, the tests that use the
 * model would prove nothing.
 */
#include "unit/support/hwt_spe_support.h"

#define REG(crm, op2) KTRACE_HWT_SYSREG(3, 0, 9, crm, op2)
#define PMSCR	      REG(9, 0)
#define PMSICR	      REG(9, 2)
#define PMSIRR	      REG(9, 3)
#define PMSFCR	      REG(9, 4)
#define PMSEVFR	      REG(9, 5)
#define PMSLATFR      REG(9, 6)
#define PMBLIMITR     REG(10, 0)
#define PMBPTR	      REG(10, 1)
#define PMBSR	      REG(10, 3)

static _Alignas(4096) uint8_t room[4096];

static void wr(uint32_t encoding, uint64_t value)
{
	fake_spe_access.write(encoding, value);
}

static uint64_t rd(uint32_t encoding)
{
	return fake_spe_access.read(encoding);
}

static void isb(void)
{
	fake_spe_access.isb();
}

/* Sets all registers for sampling, except PMSCR. */
static void fresh(void)
{
	fake_spe_reset();
	fake_spe_memory(room, sizeof(room));
	wr(PMSCR, 0);
	isb();
	fake_spe_access.psb_csync();
	wr(PMBPTR, (uintptr_t)room);
	wr(PMBLIMITR, (uintptr_t)room + sizeof(room) + 1);
	wr(PMSIRR, 0x1000);
	wr(PMSICR, 0);
	isb();
	assert_null(fake_log_first_broken());
}

static void broken(const char *what)
{
	const char *first = fake_log_first_broken();

	assert_non_null(first);
	if (!strstr(first, what))
		fail_msg("expected '%s', got '%s'", what, first);
	fresh();
}

static void begin(void)
{
	wr(PMSCR, 1);
	isb();
}

static void order_is_checked(void **state)
{
	(void)state;
	fresh();
	begin();
	assert_int_equal(fake_spe_run(0x3000), 3);
	assert_null(fake_log_first_broken());
	wr(PMSIRR, 0x2000);
	broken("while it samples");
	begin();
	fake_spe_run(0x1000);
	rd(PMBPTR);
	broken("before PSB CSYNC");
	begin();
	fake_spe_run(0x1000);
	wr(PMSCR, 0);
	fake_spe_access.psb_csync();
	broken("before earlier writes");
	begin();
	fake_spe_run(0x1000);
	wr(PMSCR, 0);
	isb();
	wr(PMBLIMITR, 0);
	broken("before PSB CSYNC");
	begin();
	fake_spe_run(0x1000);
	wr(PMSCR, 0);
	isb();
	rd(PMBPTR);
	broken("before PSB CSYNC");
	wr(PMBPTR, (uintptr_t)room + 64);
	broken("while the buffer is on");
	wr(PMSICR, 4);
	wr(PMSCR, 1);
	broken("before earlier writes");
}

/* Changes a register while the buffer is disabled, then samples, and checks the reported error. */
static void changed(uint32_t encoding, uint64_t value, const char *what)
{
	wr(PMBLIMITR, 0);
	isb();
	if (encoding != PMBLIMITR) {
		wr(encoding, value);
		wr(PMBLIMITR, (uintptr_t)room + sizeof(room) + 1);
	}
	isb();
	begin();
	broken(what);
}

static void the_state_at_the_start_of_sampling_is_checked(void **state)
{
	(void)state;
	fresh();
	changed(PMBLIMITR, 0, "without a buffer");
	changed(PMBSR, 1 << 17, "without a buffer");
	changed(PMBPTR, (uintptr_t)room + 32, "aligned");
	changed(PMBPTR, (uintptr_t)room + 4096, "no room");
	changed(PMSIRR, 0x700, "shorter");
	changed(PMSFCR, 1, "filter");
	changed(PMSFCR, 2, "filter");
	changed(PMSFCR, 4, "filter");
}

static void reserved_bits_are_checked(void **state)
{
	(void)state;
	fresh();
	wr(PMSCR, 1 << 2);
	broken("reserved");
	wr(PMSIRR, 0x1002);
	broken("reserved");
	wr(PMSFCR, 1 << 5);
	broken("reserved");
	wr(PMSLATFR, 1 << 16);
	broken("reserved");
	wr(PMSEVFR, 1);
	broken("reserved");
	wr(PMBLIMITR, 1 << 3);
	broken("reserved");
	rd(REG(9, 1));
	broken("undefined");
	wr(REG(9, 7), 0);
	broken("undefined");
	fake_spe_features.pmsidr &= ~UINT64_C(1);
	wr(PMSFCR, 1);
	broken("reserved");
	fake_spe_features.version = 1;
	wr(PMSEVFR, 1 << 11);
	broken("reserved");
	fake_spe_features.version = 0;
	rd(PMSCR);
	broken("undefined");
	fake_spe_features.pmbidr |= 1 << 4;
	rd(PMBPTR);
	broken("undefined");
}

static void records_stay_in_memory_that_is_lent(void **state)
{
	(void)state;
	fresh();
	wr(PMBLIMITR, 0);
	isb();
	wr(PMBPTR, (uintptr_t)room + 8192);
	wr(PMBLIMITR, (uintptr_t)room + 12288 + 1);
	isb();
	begin();
	assert_int_equal(fake_spe_run(0x1000), 0);
	broken("outside of lent memory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_is_checked),
		cmocka_unit_test(the_state_at_the_start_of_sampling_is_checked),
		cmocka_unit_test(reserved_bits_are_checked),
		cmocka_unit_test(records_stay_in_memory_that_is_lent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
