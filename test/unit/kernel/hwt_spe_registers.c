/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests which registers the backend for SPE writes, and which configurations it refuses. */
#include "unit/support/hwt_spe_support.h"

#define REG(crm, op2) KTRACE_HWT_SYSREG(3, 0, 9, crm, op2)
#define PMSCR	      REG(9, 0)
#define PMSIRR	      REG(9, 3)
#define PMSFCR	      REG(9, 4)
#define PMSEVFR	      REG(9, 5)
#define PMSLATFR      REG(9, 6)
#define PMBLIMITR     REG(10, 0)

/* ---- Probing ----------------------------------------------------------------------------------- */

static void absent(const char *why)
{
	fake_log_reset();
	assert_int_equal(spe_backend.operations->init(&spe_backend), KTRACE_ERROR_DEVICE);
	assert_non_null(spe_backend.why);
	assert_non_null(strstr(spe_backend.why, why));
	assert_null(strstr(fake_log_text(), "msr "));
}

static void absent_hardware_is_reported(void **state)
{
	(void)state;
	fake_spe_features.version = 0;
	absent("PMSVer");
	assert_null(strstr(fake_log_text(), "PMBIDR")); /* without SPE, PMBIDR does not exist */
	fake_spe_reset();
	fake_spe_features.pmbidr |= 1 << 4;
	absent("PMBIDR_EL1.P");
	fake_spe_reset();
	assert_int_equal(spe_backend.operations->init(&spe_backend), KTRACE_OK);
	assert_null(spe_backend.why);
	assert_int_equal(spe_backend.ranges, 0);
}

static void another_user_of_the_unit_is_not_disturbed(void **state)
{
	struct ktrace_hwt_config config = spe_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	spe_begin();
	spe_unit(&unit, 4);
	assert_int_equal(spe_configure(&unit, &config), KTRACE_OK);
	fake_spe_poke(PMBLIMITR, 0x10001);
	fake_spe_poke(PMSCR, 3);
	assert_int_equal(spe_backend.operations->cpu_init(&spe_backend, 0), KTRACE_ERROR_DEVICE);
	assert_int_equal(spe_backend.operations->enable(&spe_backend, &unit, 0), KTRACE_ERROR_DEVICE);
	spe_disable(&unit); /* disables a unit that is not enabled, which is allowed */
	assert_int_equal(fake_spe_peek(PMSCR), 3);
}

/* ---- Golden logs ------------------------------------------------------------------------------- */

static void thread_mode_with_all_options(void **state)
{
	struct ktrace_hwt_config config = spe_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	fake_spe_features.pmsidr += 1 << 12; /* raises the maximum size of a record to 128 bytes */
	assert_int_equal(spe_backend.operations->init(&spe_backend), KTRACE_OK);
	assert_int_equal(spe_backend.operations->cpu_init(&spe_backend, 0), KTRACE_OK);
	spe_unit(&unit, 2);
	config.flags = KTRACE_HWT_TIME | KTRACE_HWT_JITTER | KTRACE_HWT_LOADS | KTRACE_HWT_STORES |
		       KTRACE_HWT_BRANCHES;
	config.interval = 10000;
	config.latency = 100;
	config.events = 1 << 1 | 1 << 3;
	assert_int_equal(spe_configure(&unit, &config), KTRACE_OK);
	fake_spe_operation =
		(struct fake_spe_operation){ .user = 1, .types = 2, .events = 0xa, .latency = 200 };
	spe_enable(&unit);
	fake_spe_run(25000);
	spe_disable(&unit);
	spe_enable(&unit);
	fake_spe_run(1000000);
	assert_true(spe_backend.operations->interrupt(&spe_backend, &unit, 0));
	fake_spe_run(50000);
	assert_int_equal(spe_backend.operations->read(&spe_backend, &unit), KTRACE_OK);
	spe_disable(&unit);
	assert_int_equal(spe_records(&unit, 0, 1), 63 + 5);
	fake_log_golden("spe-thread");
}

static void cpu_mode_until_full(void **state)
{
	struct ktrace_hwt_config config = spe_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	assert_int_equal(spe_backend.operations->init(&spe_backend), KTRACE_OK);
	assert_int_equal(spe_backend.operations->cpu_init(&spe_backend, 0), KTRACE_OK);
	spe_unit(&unit, 4);
	config.level = KTRX_HWT_KERNEL_LEVEL;
	config.flags = KTRACE_HWT_STOP;
	assert_int_equal(spe_configure(&unit, &config), KTRACE_OK);
	fake_spe_operation.user = 0;
	spe_enable(&unit);
	for (int i = 0; i < 2; i++) {
		spe_sample(200);
		assert_true(spe_backend.operations->interrupt(&spe_backend, &unit, 0));
	}
	assert_true(unit.full);
	unit.served = 2 * SPE_TEST_PAGE;
	assert_int_equal(spe_backend.operations->service(&spe_backend, &unit), KTRACE_OK);
	spe_enable(&unit);
	spe_sample(2);
	fake_spe_fault(20);
	spe_sample(2);
	assert_true(spe_backend.operations->interrupt(&spe_backend, &unit, 0));
	spe_disable(&unit);
	assert_int_equal(unit.position, 4 * SPE_TEST_PAGE + 128);
	fake_log_golden("spe-cpu");
}

/* Enables the unit on another CPU, whose registers still have their reset values. */
static void a_unit_outlives_its_cpu(void **state)
{
	struct ktrace_hwt_config config = spe_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	spe_begin();
	spe_unit(&unit, 4);
	assert_int_equal(spe_configure(&unit, &config), KTRACE_OK);
	spe_enable(&unit);
	spe_sample(2);
	fake_spe_poke(PMSCR, 0);
	fake_spe_poke(PMBLIMITR, 0);
	spe_backend.operations->abandon(&spe_backend, &unit, 0);
	assert_int_equal(spe_backend.operations->cpu_init(&spe_backend, 1), KTRACE_OK);
	spe_enable(&unit);
	assert_int_equal(spe_sample(3), 3);
	spe_disable(&unit);
	assert_int_equal(unit.position, 3 * fake_spe_slot());
}

/* ---- Options ----------------------------------------------------------------------------------- */

/* Returns the value of a register while the unit samples with this configuration. */
static uint64_t register_of(const struct ktrace_hwt_config *config, uint32_t encoding)
{
	struct ktrace_hwt_unit unit;
	uint64_t value;

	spe_unit(&unit, 1);
	assert_int_equal(spe_configure(&unit, config), KTRACE_OK);
	spe_enable(&unit);
	value = fake_spe_peek(encoding);
	spe_disable(&unit);
	return value;
}

static void flags_are_applied(void **state)
{
	struct ktrace_hwt_config config = spe_config();

	(void)state;
	spe_begin();
	assert_int_equal(register_of(&config, PMSCR), 0x9); /* the bits CX and E0SPE */
	assert_int_equal(register_of(&config, PMSFCR), 0);
	assert_int_equal(register_of(&config, PMSIRR), 4096);
	config.level = KTRX_HWT_KERNEL_LEVEL;
	assert_int_equal(register_of(&config, PMSCR), 0xa);
	config.level |= KTRX_HWT_USER;
	assert_int_equal(register_of(&config, PMSCR), 0xb);
	config.flags = KTRACE_HWT_TIME;
	assert_int_equal(register_of(&config, PMSCR), 0x2b);
	config.flags = KTRACE_HWT_JITTER;
	assert_int_equal(register_of(&config, PMSIRR), 4097);
	config.flags = KTRACE_HWT_BRANCHES;
	assert_int_equal(register_of(&config, PMSFCR), 0x10002);
	config.flags = KTRACE_HWT_LOADS;
	assert_int_equal(register_of(&config, PMSFCR), 0x20002);
	config.flags = KTRACE_HWT_STORES;
	assert_int_equal(register_of(&config, PMSFCR), 0x40002);
	config.flags = KTRACE_HWT_STOP;
	assert_int_equal(register_of(&config, PMBLIMITR) & 7, 1);
	config.events = 0x80;
	assert_int_equal(register_of(&config, PMSFCR), 1);
	assert_int_equal(register_of(&config, PMSEVFR), 0x80);
	config.events = 0;
	config.latency = 0xffff;
	assert_int_equal(register_of(&config, PMSFCR), 4);
	assert_int_equal(register_of(&config, PMSLATFR), 0xffff);
}

static void intervals_are_rounded(void **state)
{
	struct ktrace_hwt_config config = spe_config();

	(void)state;
	fake_spe_features.pmsidr &= ~UINT64_C(0xf00); /* changes the CPU's minimum interval to 256 */
	spe_begin();
	config.interval = 256;
	assert_int_equal(register_of(&config, PMSIRR), 256);
	config.interval = 383;
	assert_int_equal(register_of(&config, PMSIRR), 256);
	config.interval = 384;
	assert_int_equal(register_of(&config, PMSIRR), 512);
	config.interval = UINT32_MAX;
	assert_int_equal(register_of(&config, PMSIRR), 0xffffff00);
}

static uint64_t sampled_of(const struct ktrace_hwt_config *config, struct fake_spe_operation operation)
{
	struct ktrace_hwt_unit unit;

	spe_unit(&unit, 1);
	assert_int_equal(spe_configure(&unit, config), KTRACE_OK);
	fake_spe_operation = operation;
	spe_enable(&unit);
	spe_sample(3);
	spe_disable(&unit);
	return unit.position / fake_spe_slot();
}

static void only_requested_operations_are_sampled(void **state)
{
	struct ktrace_hwt_config config = spe_config();

	(void)state;
	spe_begin();
	assert_int_equal(sampled_of(&config, (struct fake_spe_operation){ .user = 1 }), 3);
	assert_int_equal(sampled_of(&config, (struct fake_spe_operation){ .user = 0 }), 0);
	config.flags = KTRACE_HWT_LOADS | KTRACE_HWT_STORES;
	assert_int_equal(sampled_of(&config, (struct fake_spe_operation){ .user = 1, .types = 4 }), 3);
	assert_int_equal(sampled_of(&config, (struct fake_spe_operation){ .user = 1, .types = 1 }), 0);
	config.flags = 0;
	config.events = 0xa;
	assert_int_equal(sampled_of(&config, (struct fake_spe_operation){ .user = 1, .events = 0xe }), 3);
	assert_int_equal(sampled_of(&config, (struct fake_spe_operation){ .user = 1, .events = 0x8 }), 0);
	config.events = 0;
	config.latency = 50;
	assert_int_equal(sampled_of(&config, (struct fake_spe_operation){ .user = 1, .latency = 50 }), 3);
	assert_int_equal(sampled_of(&config, (struct fake_spe_operation){ .user = 1, .latency = 49 }), 0);
}

static void refused(const struct ktrace_hwt_config *config)
{
	struct ktrace_hwt_unit unit;

	spe_begin();
	spe_unit(&unit, 4);
	assert_int_equal(spe_configure(&unit, config), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(spe_backend.operations->enable(&spe_backend, &unit, 0), KTRACE_ERROR_ARGUMENT);
}

/*
 * Applies a change that makes a valid configuration or CPU invalid, and checks that the configuration is
 * refused.
 */
#define REFUSED(change)                                         \
	do {                                                    \
		struct ktrace_hwt_config config = spe_config(); \
		change;                                         \
		refused(&config);                               \
		spe_setup(NULL);                                \
	} while (0)

static void unsupported_options_are_rejected(void **state)
{
	(void)state;
#define WITHOUT(bit) (fake_spe_features.pmsidr &= ~(UINT64_C(1) << (bit)))
	REFUSED((WITHOUT(0), config.events = 2));
	REFUSED((WITHOUT(1), config.flags = KTRACE_HWT_LOADS));
	REFUSED((WITHOUT(2), config.latency = 10));
	/* 0x1000 does not fit into the counter, which has 12 bits */
	REFUSED((WITHOUT(16), config.latency = 0x1000));
	REFUSED((fake_spe_features.version = 2, config.events = 1 << 6));
	REFUSED((fake_spe_features.version = 1, config.events = 1 << 17));
#undef WITHOUT
}

static void invalid_options_are_rejected(void **state)
{
	(void)state;
	REFUSED(config.level = 0);
	REFUSED(config.level = 4);
	REFUSED(config.flags = KTRACE_HWT_MTC);
	REFUSED(config.flags = KTRACE_HWT_CYCLES);
	REFUSED((config.flags = KTRACE_HWT_SPACE, config.space = 0x1000));
	REFUSED(config.flags = KTRACE_HWT_RETURNS);
	REFUSED(config.flags = 1u << 31);
	REFUSED((config.ranges = 1, config.range[0].end = 0x1000));
	REFUSED(config.psb_period = 4096);
	REFUSED(config.mtc_period = 64);
	REFUSED(config.cycle_threshold = 1);
	REFUSED(config.interrupt_every = 100);
	REFUSED(config.interrupt_every = 8 * SPE_TEST_PAGE);
	REFUSED(config.interval = 2047);
	REFUSED(config.latency = 0x10000);
	REFUSED(config.events = 1); /* bit 0 is not an event */
}

/* ---- Other operations -------------------------------------------------------------------------- */

static void the_interval_continues_over_a_switch(void **state)
{
	struct ktrace_hwt_config config = spe_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	spe_begin();
	spe_unit(&unit, 1);
	assert_int_equal(spe_configure(&unit, &config), KTRACE_OK);
	for (int i = 0; i < 8; i++) {
		spe_enable(&unit);
		fake_spe_run(SPE_TEST_INTERVAL / 4);
		spe_disable(&unit);
	}
	assert_int_equal(unit.position, 2 * fake_spe_slot());
}

static void the_clock_is_that_of_the_timestamps(void **state)
{
	uint64_t time, frequency;

	(void)state;
	spe_begin();
	assert_int_equal(spe_backend.operations->clock(&spe_backend, &time, &frequency), KTRACE_OK);
	assert_int_equal(time, 987654321);
	assert_int_equal(frequency, 50000000);
	fake_spe_features.frequency = 0;
	assert_int_equal(spe_backend.operations->clock(&spe_backend, &time, &frequency), KTRACE_ERROR_DEVICE);
}

static void count_line(void *to, const char *name, uint64_t value)
{
	(void)value;
	assert_int_equal(strncmp(name, "PM", 2), 0);
	++*(int *)to;
}

static void registers_are_printed(void **state)
{
	int lines = 0;

	(void)state;
	spe_begin();
	spe_backend.operations->dump(&spe_backend, count_line, &lines);
	assert_int_equal(lines, 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, spe_setup, spe_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(absent_hardware_is_reported),
		TEST(another_user_of_the_unit_is_not_disturbed),
		TEST(thread_mode_with_all_options),
		TEST(cpu_mode_until_full),
		TEST(a_unit_outlives_its_cpu),
		TEST(flags_are_applied),
		TEST(intervals_are_rounded),
		TEST(only_requested_operations_are_sampled),
		TEST(unsupported_options_are_rejected),
		TEST(invalid_options_are_rejected),
		TEST(the_interval_continues_over_a_switch),
		TEST(the_clock_is_that_of_the_timestamps),
		TEST(registers_are_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
