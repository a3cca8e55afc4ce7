/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Checks which features the backend `coresight` offers for a trace unit, which registers a configuration
 * sets, and that exactly the selected code is traced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/fake/hwt_log.h"
#include "unit/support/hwt_coresight_support.h"

#define KERNEL_CODE UINT64_C(0xffff000000001000)
#define USER_CODE   UINT64_C(0x400000)

static int set_up(void **state)
{
	(void)state;
	cs_boot(&cs_restore);
	cs_lend(0, 4, 1);
	assert_int_equal(cs_op()->unit_init(&cs.backend, &cs.unit[0]), KTRACE_OK);
	return 0;
}

static int configure(void)
{
	return cs_op()->configure(&cs.backend, &cs.unit[0], &cs.config);
}

/* Returns the last value written to a register of component 0. */
static uint32_t written(const char *name)
{
	const char *at = fake_log_text();
	char line[48];
	unsigned value = 0xdeadbeef;

	snprintf(line, sizeof(line), "etm0 write %s ", name);
	while ((at = strstr(at, line))) {
		at += strlen(line);
		sscanf(at, "%x", &value);
	}
	return value;
}

/* Returns true if code at this address, exception level and context id is traced. */
static int is_traced(uint32_t level, uint64_t address, uint32_t context)
{
	uint64_t before = fake_coresight_made(0);

	fake_coresight_run(0, level, address, context, 16);
	return fake_coresight_made(0) != before;
}

static void start(void)
{
	assert_int_equal(configure(), KTRACE_OK);
	cs_on(0, 0);
}

static void stop(void)
{
	cs_off(0);
	cs_assert_clean();
}

/* ---- Exception levels -------------------------------------------------------------------------- */

static void kernel_code_alone(void **state)
{
	(void)state;
	cs.config.level = KTRX_HWT_KERNEL_LEVEL;
	start();
	assert_true(is_traced(1, KERNEL_CODE, 0));
	assert_false(is_traced(0, USER_CODE, 0));
	assert_false(is_traced(2, KERNEL_CODE, 0));
	assert_int_equal(written("TRCVICTLR"), 0x00590201);
	stop();
}

static void user_code_alone(void **state)
{
	(void)state;
	cs.config.level = KTRX_HWT_USER;
	start();
	assert_true(is_traced(0, USER_CODE, 0));
	assert_false(is_traced(1, KERNEL_CODE, 0));
	assert_int_equal(written("TRCVICTLR"), 0x006a0201);
	stop();
}

/* The exception level that is traced by default depends on the mode of the unit. */
static void thread_mode_traces_user_code_and_cpu_mode_kernel_code(void **state)
{
	(void)state;
	start();
	assert_false(is_traced(0, USER_CODE, 0));
	assert_true(is_traced(1, KERNEL_CODE, 0));
	stop();
	cs.unit[0].mode = KTRX_HWT_MODE_THREAD;
	start();
	assert_true(is_traced(0, USER_CODE, 0));
	assert_false(is_traced(1, KERNEL_CODE, 0));
	stop();
}

static void both_levels(void **state)
{
	(void)state;
	cs.config.level = KTRX_HWT_KERNEL_LEVEL | KTRX_HWT_USER;
	start();
	assert_true(is_traced(0, USER_CODE, 0));
	assert_true(is_traced(1, KERNEL_CODE, 0));
	stop();
	cs.config.level = 4;
	assert_int_equal(configure(), KTRACE_ERROR_ARGUMENT);
}

static void a_kernel_at_el2(void **state)
{
	(void)state;
	cs.all.kernel_at_el2 = 1;
	cs.config.level = KTRX_HWT_KERNEL_LEVEL;
	start();
	assert_true(is_traced(2, KERNEL_CODE, 0));
	assert_false(is_traced(1, KERNEL_CODE, 0));
	assert_int_equal(written("TRCCONFIGR"), 0x9081);
	stop();
}

/* ---- Address ranges and address spaces --------------------------------------------------------- */

static void ranges_end_before_their_end(void **state)
{
	(void)state;
	assert_int_equal(cs.backend.ranges, 4);
	cs.config.level = KTRX_HWT_USER;
	cs.config.ranges = 2;
	cs.config.range[0].start = USER_CODE;
	cs.config.range[0].end = USER_CODE + 0x100;
	cs.config.range[1].start = UINT64_C(0xfffffffff0000000);
	cs.config.range[1].end = UINT64_C(0xfffffffff0000010);
	start();
	assert_true(is_traced(0, USER_CODE, 0));
	assert_true(is_traced(0, USER_CODE + 0xfc, 0));
	assert_false(is_traced(0, USER_CODE + 0x100, 0));
	assert_false(is_traced(0, USER_CODE - 4, 0));
	assert_true(is_traced(0, UINT64_C(0xfffffffff000000c), 0));
	assert_int_equal(written("TRCVIIECTLR"), 3);
	stop();
	cs.config.ranges = 0;
	start();
	assert_true(is_traced(0, USER_CODE - 4, 0));
	assert_int_equal(written("TRCVIIECTLR"), 0);
	stop();
	fake_log_golden("coresight_ranges");
}

static void one_address_space(void **state)
{
	(void)state;
	cs.config.level = KTRX_HWT_USER;
	cs.config.flags = KTRACE_HWT_SPACE;
	cs.config.space = 0x1234;
	start();
	assert_true(is_traced(0, USER_CODE, 0x1234));
	assert_false(is_traced(0, USER_CODE, 0x1235));
	stop();
	cs.config.ranges = 1;
	cs.config.range[0].start = USER_CODE;
	cs.config.range[0].end = USER_CODE + 4;
	start();
	assert_true(is_traced(0, USER_CODE, 0x1234));
	assert_false(is_traced(0, USER_CODE + 4, 0x1234));
	assert_false(is_traced(0, USER_CODE, 0x1235));
	stop();
	cs.all.kernel_at_el2 = 1;
	start();
	assert_true(is_traced(0, USER_CODE, 0x1234));
	assert_false(is_traced(0, USER_CODE, 0x1235));
	assert_int_equal(written("TRCVMIDCVR0"), 0x1234);
	stop();
}

/* ---- Requested packets, and features of units -------------------------------------------------- */

static void requested_packets_are_enabled(void **state)
{
	struct ktrx_hwt_etm4 etm4;

	(void)state;
	start();
	assert_int_equal(written("TRCCONFIGR"), 0x1041); /* the bits for context ids and the return stack */
	assert_int_equal(written("TRCSYNCPR"), 12);
	assert_int_equal(written("TRCCCCTLR"), 4);
	stop();
	cs.config.flags = KTRACE_HWT_TIME | KTRACE_HWT_CYCLES | KTRACE_HWT_RETURNS;
	cs.config.psb_period = 65537;
	cs.config.cycle_threshold = 100;
	start();
	assert_int_equal(written("TRCCONFIGR"), 0x0851);
	assert_int_equal(written("TRCSYNCPR"), 17);
	assert_int_equal(written("TRCCCCTLR"), 100);
	assert_int_equal(cs_op()->describe(&cs.backend, &cs.config, &etm4, sizeof(etm4)), sizeof(etm4));
	assert_int_equal(etm4.configr, 0x0851);
	assert_int_equal(etm4.traceidr, 0x10);
	assert_int_equal(etm4.idr0, fake_coresight_idr(0)[0]);
	assert_int_equal(etm4.idr2, fake_coresight_idr(0)[2]);
	assert_int_equal(etm4.idr13, fake_coresight_idr(0)[13]);
	assert_int_equal(etm4.formatted, 1);
	assert_int_equal(cs_op()->describe(&cs.backend, &cs.config, &etm4, sizeof(etm4) - 1), 0);
	stop();
	cs.config.psb_period = 1;
	assert_int_equal(configure(), KTRACE_OK);
	cs.config.psb_period = UINT32_MAX;
	start();
	assert_int_equal(written("TRCSYNCPR"), 20);
	stop();
}

static void a_unit_with_few_features_is_configured(void **state)
{
	static const uint32_t wanted[] = { KTRACE_HWT_TIME, KTRACE_HWT_CYCLES, KTRACE_HWT_SPACE };

	(void)state;
	cs_machine(&cs_restore);
	fake_coresight_idr(1)[0] = 0x00000001;
	fake_coresight_idr(1)[2] = 0x00000008;
	fake_coresight_idr(1)[3] = 0x02230004;
	fake_coresight_idr(1)[4] = 0;
	assert_int_equal(cs_op()->init(&cs.backend), KTRACE_OK);
	assert_int_equal(cs.backend.ranges, 0);
	cs_lend(0, 4, 1);
	assert_int_equal(cs_op()->unit_init(&cs.backend, &cs.unit[0]), KTRACE_OK);
	cs.config.space = 1;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		cs.config.flags = wanted[i];
		assert_int_equal(configure(), KTRACE_ERROR_ARGUMENT);
	}
	cs.config.flags = 0;
	cs.config.ranges = 1;
	cs.config.range[0].end = 4;
	assert_int_equal(configure(), KTRACE_ERROR_ARGUMENT);
	cs.config.ranges = 0;
	assert_int_equal(configure(), KTRACE_OK);
	cs_on(0, 1);
	fake_coresight_run(1, 1, KERNEL_CODE, 0, 100);
	cs_off(0);
	cs_assert_frames(0, 0, cs.unit[0].position, 1, 0x10, 0, 100);
	cs_assert_clean();
	fake_log_golden("coresight_little");
}

/*
 * Gives the model the identification registers of real processors. Checks which features the backend offers
 * for each, and which values it writes if all these features are selected.
 */
static void units_of_real_processors(void **state)
{
	static const struct {
		const char *name;
		uint32_t idr[5], devarch;
		/*
		 * all flags that the unit supports, and the value of TRCCONFIGR that is expected for these
		 * flags
		 */
		uint32_t flags, configr;
		uint32_t victlr; /* expected value of TRCVICTLR for user code */
		uint32_t ranges;
	} units[] = {
		/*
		 * A unit with timestamps, a return stack, 32-bit context ids and 8-bit VMIDs. TRCIDR3 and
		 * TRCIDR4 are those of the Cortex-A57.
		 */
		{ "Cortex-A53",
		  { 0x28000ea1, 0x4100f403, 0x00000488, 0x0d7b0004, 0x11170004 },
		  0,
		  KTRACE_HWT_TIME | KTRACE_HWT_CYCLES | KTRACE_HWT_SPACE,
		  0x1851,
		  0x006a0201,
		  4 },
		/* A unit without a return stack and without stall control. */
		{ "Cortex-A57",
		  { 0x08000ca1, 0x4200f410, 0x20001088, 0x007b0004, 0x11170004 },
		  0,
		  KTRACE_HWT_TIME | KTRACE_HWT_CYCLES | KTRACE_HWT_SPACE,
		  0x0851,
		  0x006a0201,
		  4 },
		/* An ETE. Its TRCIDR1 contains no version of ETMv4. */
		{ "ETE",
		  { 0x28c1cea1, 0x4100fff0, 0xd0001088, 0x007b0004, 0x11170004 },
		  0x47735a13,
		  KTRACE_HWT_TIME | KTRACE_HWT_CYCLES | KTRACE_HWT_SPACE,
		  0x1851,
		  0x006a0201,
		  4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		struct ktrx_hwt_etm4 etm4;

		cs_machine(&cs_restore);
		for (uint32_t etm = 0; etm < 2; etm++) {
			memcpy(fake_coresight_idr(etm), units[i].idr, sizeof(units[i].idr));
			*fake_coresight_devarch(etm) = units[i].devarch;
		}
		assert_int_equal(cs_op()->init(&cs.backend), KTRACE_OK);
		assert_int_equal(cs.backend.ranges, units[i].ranges);
		cs_lend(0, 4, 1);
		assert_int_equal(cs_op()->unit_init(&cs.backend, &cs.unit[0]), KTRACE_OK);
		cs.config.level = KTRX_HWT_USER;
		cs.config.flags = units[i].flags;
		cs.config.space = 1;
		start();
		assert_int_equal(written("TRCCONFIGR"), units[i].configr);
		assert_int_equal(written("TRCVICTLR"), units[i].victlr);
		assert_int_equal(written("TRCCCCTLR"), 4);
		cs_op()->describe(&cs.backend, &cs.config, &etm4, sizeof(etm4));
		assert_int_equal(etm4.idr1, units[i].idr[1]);
		assert_int_equal(etm4.devarch, units[i].devarch);
		stop();
		cs_assert_clean();
	}
}

static void unsupported_configurations_are_rejected(void **state)
{
	const struct ktrace_hwt_config wrong[] = {
		{ .flags = KTRACE_HWT_MTC },
		{ .flags = KTRACE_HWT_JITTER },
		{ .flags = KTRACE_HWT_STOP },
		{ .flags = KTRACE_HWT_SPACE },
		{ .cycle_threshold = 4096 },
		{ .interval = 1 },
		{ .latency = 1 },
		{ .events = 1 },
		{ .interrupt_every = 4096 },
		{ .ranges = 5 },
		{ .ranges = 1, .range = { { 8, 8 } } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(cs_op()->configure(&cs.backend, &cs.unit[0], &wrong[i]),
				 KTRACE_ERROR_ARGUMENT);
}

static void count(void *to, const char *name, uint64_t value)
{
	(void)value;
	assert_true(strlen(name) > 0);
	++*(unsigned *)to;
}

static void registers_can_be_shown(void **state)
{
	unsigned lines = 0;

	(void)state;
	cs_op()->dump(&cs.backend, count, &lines);
	assert_int_equal(lines, 2 * 5 + 6);
	cs_assert_clean();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(kernel_code_alone, set_up),
		cmocka_unit_test_setup(user_code_alone, set_up),
		cmocka_unit_test_setup(thread_mode_traces_user_code_and_cpu_mode_kernel_code, set_up),
		cmocka_unit_test_setup(both_levels, set_up),
		cmocka_unit_test_setup(a_kernel_at_el2, set_up),
		cmocka_unit_test_setup(ranges_end_before_their_end, set_up),
		cmocka_unit_test_setup(one_address_space, set_up),
		cmocka_unit_test_setup(requested_packets_are_enabled, set_up),
		cmocka_unit_test(a_unit_with_few_features_is_configured),
		cmocka_unit_test(units_of_real_processors),
		cmocka_unit_test_setup(unsupported_configurations_are_rejected, set_up),
		cmocka_unit_test_setup(registers_can_be_shown, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
