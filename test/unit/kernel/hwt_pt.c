/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests which registers the backend for Intel PT writes, and which configurations it refuses. */
#include "unit/support/hwt_pt_support.h"

#define MSR_CTL	      0x570
#define MSR_STATUS    0x571
#define MSR_CR3_MATCH 0x572
#define MSR_ADDR0_A   0x580
#define MSR_ADDR0_B   0x581
#define CTL_ALWAYS    UINT64_C(0x2101) /* the bits BranchEn, ToPA and TraceEn */
#define CTL_USER      UINT64_C(0x8)
#define CTL_OS	      UINT64_C(0x4)
#define CTL_PSB(n)    ((uint64_t)(n) << 24)
#define CTL_BASE      (CTL_ALWAYS | CTL_USER | CTL_PSB(1))

/* ---- Probing ----------------------------------------------------------------------------------- */

static void absent(const char *why)
{
	fake_log_reset();
	assert_int_equal(pt_backend.operations->init(&pt_backend), KTRACE_ERROR_DEVICE);
	assert_non_null(pt_backend.why);
	assert_non_null(strstr(pt_backend.why, why));
	assert_null(strstr(fake_log_text(), "msr")); /* no register was accessed */
}

static void absent_hardware_is_reported(void **state)
{
	(void)state;
	fake_pt_features.leaf_7_ebx = 0;
	absent("no Intel PT");
	fake_pt_reset();
	fake_pt_features.leaves = 0xd;
	absent("no Intel PT");
	fake_pt_reset();
	fake_pt_features.leaf_14_ecx = 4;
	absent("tables");
	fake_pt_reset();
	assert_int_equal(pt_backend.operations->init(&pt_backend), KTRACE_OK);
	assert_null(pt_backend.why);
	assert_int_equal(pt_backend.ranges, 2);
}

static void another_user_of_the_unit_is_not_disturbed(void **state)
{
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	pt_begin();
	pt_unit_whole(&unit, 8);
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	fake_pt_poke(MSR_CTL, CTL_BASE);
	assert_int_equal(pt_backend.operations->cpu_init(&pt_backend, 0), KTRACE_ERROR_DEVICE);
	assert_int_equal(pt_backend.operations->enable(&pt_backend, &unit, 0), KTRACE_ERROR_DEVICE);
	assert_int_equal(fake_pt_peek(MSR_CTL), CTL_BASE);
	pt_disable(&unit); /* disables a unit that is not enabled, which is allowed */
	assert_int_equal(fake_pt_peek(MSR_CTL), CTL_BASE);
}

/*
 * The CPUs of a machine may differ in features. A register bit that is valid on one CPU may cause a fault on
 * another one.
 */
static void a_cpu_with_other_options_is_not_traced(void **state)
{
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	pt_begin();
	pt_unit_whole(&unit, 8);
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	fake_pt_features.options_eax &= ~7u;
	assert_int_equal(pt_backend.operations->cpu_init(&pt_backend, 1), KTRACE_ERROR_DEVICE);
	fake_pt_reset();
	fake_pt_features.leaf_14_ebx &= ~8u;
	assert_int_equal(pt_backend.operations->cpu_init(&pt_backend, 1), KTRACE_ERROR_DEVICE);
	fake_pt_reset();
	fake_pt_features.leaf_7_ebx = 0;
	assert_int_equal(pt_backend.operations->cpu_init(&pt_backend, 1), KTRACE_ERROR_DEVICE);
	fake_pt_reset();
	assert_int_equal(pt_backend.operations->cpu_init(&pt_backend, 0), KTRACE_OK);
}

/* ---- Golden logs ------------------------------------------------------------------------------- */

static void thread_mode_with_all_options(void **state)
{
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	assert_int_equal(pt_backend.operations->init(&pt_backend), KTRACE_OK);
	assert_int_equal(pt_backend.operations->cpu_init(&pt_backend, 0), KTRACE_OK);
	pt_unit_whole(&unit, 16);
	config.flags =
		KTRACE_HWT_TIME | KTRACE_HWT_MTC | KTRACE_HWT_CYCLES | KTRACE_HWT_SPACE | KTRACE_HWT_RETURNS;
	config.space = 0x1234567018;
	config.ranges = 2;
	config.range[0].start = 0x401000;
	config.range[0].end = 0x402000;
	config.range[1].start = 0x7f0000001000;
	config.range[1].end = 0x7f0000009000;
	config.psb_period = 8192;
	config.mtc_period = 64;
	config.cycle_threshold = 16;
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	fake_pt_place = (struct fake_pt_place){ .user = 1, .cr3 = 0x1234567000, .ip = 0x401500 };
	pt_enable(&unit);
	fake_pt_run(5000);
	pt_disable(&unit);
	pt_enable(&unit);
	fake_pt_run(30000);
	assert_true(pt_backend.operations->interrupt(&pt_backend, &unit, 0));
	fake_pt_run(100);
	assert_int_equal(pt_backend.operations->read(&pt_backend, &unit), KTRACE_OK);
	pt_disable(&unit);
	assert_int_equal(unit.position, 35100);
	fake_log_golden("pt-thread");
}

static void cpu_mode_until_full(void **state)
{
	static const uint32_t pages[] = { 3, 6, 0 };
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	assert_int_equal(pt_backend.operations->init(&pt_backend), KTRACE_OK);
	assert_int_equal(pt_backend.operations->cpu_init(&pt_backend, 0), KTRACE_OK);
	pt_unit(&unit, pages);
	config.level = KTRX_HWT_KERNEL_LEVEL;
	config.flags = KTRACE_HWT_TIME | KTRACE_HWT_STOP;
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	fake_pt_place.user = 0;
	pt_enable(&unit);
	fake_pt_run(20000);
	assert_true(pt_backend.operations->interrupt(&pt_backend, &unit, 0));
	fake_pt_run(20000);
	assert_true(pt_backend.operations->interrupt(&pt_backend, &unit, 0));
	assert_true(unit.full);
	unit.served = 20000;
	assert_int_equal(pt_backend.operations->service(&pt_backend, &unit), KTRACE_OK);
	pt_enable(&unit);
	fake_pt_run(2000);
	pt_disable(&unit);
	pt_check_bytes(&unit, unit.served);
	fake_log_golden("pt-cpu");
}

/* Enables the unit on another CPU, whose registers still have their reset values. */
static void a_unit_outlives_its_cpu(void **state)
{
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	pt_begin();
	pt_unit_whole(&unit, 4);
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	pt_enable(&unit);
	fake_pt_run(100);
	fake_pt_poke(MSR_CTL, 0);
	pt_backend.operations->abandon(&pt_backend, &unit, 0);
	pt_enable(&unit);
	assert_true(fake_pt_peek(MSR_CTL) & 1);
	assert_int_equal(fake_pt_run(100), 100);
	pt_disable(&unit);
	assert_int_equal(unit.position, 100);
}

/* ---- Options ----------------------------------------------------------------------------------- */

/* Returns the value of CTL while the unit traces user code with this configuration. */
static uint64_t ctl_of(const struct ktrace_hwt_config *config)
{
	struct ktrace_hwt_unit unit;
	uint64_t ctl;

	pt_unit_whole(&unit, 1);
	assert_int_equal(pt_configure(&unit, config), KTRACE_OK);
	pt_enable(&unit);
	ctl = fake_pt_peek(MSR_CTL);
	pt_disable(&unit);
	return ctl;
}

static void flags_are_applied(void **state)
{
	struct ktrace_hwt_config config = pt_config();

	(void)state;
	pt_begin();
	assert_int_equal(ctl_of(&config), CTL_BASE);
	config.level = KTRX_HWT_KERNEL_LEVEL;
	assert_int_equal(ctl_of(&config), CTL_ALWAYS | CTL_OS | CTL_PSB(1));
	config.level |= KTRX_HWT_USER;
	assert_int_equal(ctl_of(&config), CTL_BASE | CTL_OS);
	config = pt_config();
	config.flags = KTRACE_HWT_TIME;
	assert_int_equal(ctl_of(&config), CTL_BASE | 1 << 10);
	config.flags = KTRACE_HWT_MTC;
	/* encoding 6: a period of 64, because 256 is not supported */
	assert_int_equal(ctl_of(&config), CTL_BASE | 1 << 9 | 6 << 14);
	config.flags = KTRACE_HWT_CYCLES;
	assert_int_equal(ctl_of(&config), CTL_BASE | 1 << 1 | 1 << 19);
	config.flags = KTRACE_HWT_RETURNS;
	assert_int_equal(ctl_of(&config), CTL_BASE | 1 << 11);
	config.flags = KTRACE_HWT_STOP;
	/* KTRACE_HWT_STOP changes only the table of regions, not CTL */
	assert_int_equal(ctl_of(&config), CTL_BASE);
	config.flags = KTRACE_HWT_SPACE;
	config.space = 0x7654321fff;
	assert_int_equal(ctl_of(&config), CTL_BASE | 1 << 7);
	assert_int_equal(fake_pt_peek(MSR_CR3_MATCH), 0x7654321fe0);
}

static uint64_t mtc_of(uint32_t period)
{
	struct ktrace_hwt_config config = pt_config();

	config.flags = KTRACE_HWT_MTC;
	config.mtc_period = period;
	return ctl_of(&config) >> 14 & 15;
}

static uint64_t cycle_of(uint32_t threshold)
{
	struct ktrace_hwt_config config = pt_config();

	config.flags = KTRACE_HWT_CYCLES;
	config.cycle_threshold = threshold;
	return ctl_of(&config) >> 19 & 15;
}

static uint64_t psb_of(uint32_t period)
{
	struct ktrace_hwt_config config = pt_config();

	config.psb_period = period;
	return ctl_of(&config) >> 24 & 15;
}

static void periods_are_rounded_down_to_supported_values(void **state)
{
	(void)state;
	pt_begin();
	assert_int_equal(mtc_of(1), 0);
	assert_int_equal(mtc_of(7), 0);
	assert_int_equal(mtc_of(8), 3);
	assert_int_equal(mtc_of(511), 6);
	assert_int_equal(mtc_of(512), 9);
	assert_int_equal(mtc_of(UINT32_MAX), 9);
	assert_int_equal(cycle_of(1), 1);
	assert_int_equal(cycle_of(2), 2);
	assert_int_equal(cycle_of(100), 7); /* 64 */
	assert_int_equal(cycle_of(UINT32_MAX), 13);
	assert_int_equal(psb_of(1), 0);
	assert_int_equal(psb_of(2048), 0);
	assert_int_equal(psb_of(4096), 1);
	assert_int_equal(psb_of(UINT32_MAX), 5);

	fake_pt_features.options_eax = 0x02400002; /* the CPU supports only the values 6 and 9 of MTCFreq */
	/* values 4 and 5 of PSBFreq; 0 and 8 to 11 of CYCThresh */
	fake_pt_features.options_ebx = 0x00300f01;
	pt_begin();
	assert_int_equal(mtc_of(1), 6);
	assert_int_equal(cycle_of(1), 8);
	assert_int_equal(psb_of(2048), 4);
}

static void a_cpu_with_nothing_but_branches_traces(void **state)
{
	struct ktrace_hwt_config config = pt_config();

	(void)state;
	fake_pt_features.leaf_14_eax = fake_pt_features.leaf_14_ebx = 0;
	pt_begin();
	assert_int_equal(pt_backend.ranges, 0);
	config.flags = KTRACE_HWT_TIME | KTRACE_HWT_RETURNS;
	assert_int_equal(ctl_of(&config), CTL_ALWAYS | CTL_USER | 1 << 10 | 1 << 11);
}

static void refused(const struct ktrace_hwt_config *config)
{
	struct ktrace_hwt_unit unit;

	pt_unit_whole(&unit, 4);
	assert_int_equal(pt_configure(&unit, config), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(pt_backend.operations->enable(&pt_backend, &unit, 0), KTRACE_ERROR_ARGUMENT);
}

/*
 * Applies a change that makes a valid configuration invalid, and checks that the changed configuration is
 * refused.
 */
#define REFUSED(change)                                        \
	do {                                                   \
		struct ktrace_hwt_config config = pt_config(); \
		change;                                        \
		refused(&config);                              \
		pt_setup(NULL);                                \
	} while (0)

static void unsupported_options_are_rejected(void **state)
{
	(void)state;
#define WITHOUT(bit) (fake_pt_features.leaf_14_ebx &= ~(1u << (bit)), pt_begin())
	REFUSED((WITHOUT(0), config.flags = KTRACE_HWT_SPACE, config.space = 0x1000));
	REFUSED((WITHOUT(1), config.flags = KTRACE_HWT_CYCLES));
	REFUSED((WITHOUT(1), config.psb_period = 4096));
	REFUSED((WITHOUT(2), config.ranges = 1, config.range[0].end = 0x1000));
	REFUSED((WITHOUT(3), config.flags = KTRACE_HWT_MTC));
	REFUSED((fake_pt_features.options_eax &= 0xffff, pt_begin(), config.flags = KTRACE_HWT_MTC));
#undef WITHOUT
}

static void invalid_options_are_rejected(void **state)
{
	(void)state;
	REFUSED((pt_begin(), config.level = 0));
	REFUSED((pt_begin(), config.level = 4));
	REFUSED((pt_begin(), config.flags = KTRACE_HWT_JITTER));
	REFUSED((pt_begin(), config.flags = KTRACE_HWT_LOADS));
	REFUSED((pt_begin(), config.flags = KTRACE_HWT_STORES));
	REFUSED((pt_begin(), config.flags = KTRACE_HWT_BRANCHES));
	REFUSED((pt_begin(), config.flags = 1u << 31));
	REFUSED((pt_begin(), config.interval = 4096));
	REFUSED((pt_begin(), config.latency = 1));
	REFUSED((pt_begin(), config.events = 2));
	REFUSED((pt_begin(), config.mtc_period = 64));
	REFUSED((pt_begin(), config.cycle_threshold = 4));
	REFUSED((pt_begin(), config.flags = KTRACE_HWT_SPACE));
	REFUSED((pt_begin(), config.flags = KTRACE_HWT_SPACE, config.space = UINT64_C(1) << 39));
	REFUSED((pt_begin(), config.interrupt_every = 100));
	REFUSED((pt_begin(), config.interrupt_every = 8 * PT_PAGE));
	REFUSED((pt_begin(), config.ranges = 3));
	REFUSED((pt_begin(), config.ranges = 1));
	REFUSED((pt_begin(), config.ranges = 1, config.range[0].start = 2, config.range[0].end = 1));
	REFUSED((pt_begin(), config.ranges = 1, config.range[0].end = UINT64_C(1) << 48));
	REFUSED((pt_begin(), config.ranges = 1, config.range[0].start = UINT64_C(1) << 47,
		 config.range[0].end = UINT64_C(0xffff800000000001)));
	REFUSED((pt_begin(), config.ranges = 1, config.range[0].start = UINT64_C(1) << 47,
		 config.range[0].end = (UINT64_C(1) << 47) + 1));
}

static uint64_t traced_of(const struct ktrace_hwt_config *config, uint32_t user, uint64_t cr3, uint64_t ip)
{
	struct ktrace_hwt_unit unit;

	pt_unit_whole(&unit, 1);
	assert_int_equal(pt_configure(&unit, config), KTRACE_OK);
	fake_pt_place = (struct fake_pt_place){ user, cr3, ip };
	pt_enable(&unit);
	fake_pt_run(100);
	pt_disable(&unit);
	return unit.position;
}

static void only_requested_code_is_traced(void **state)
{
	struct ktrace_hwt_config config = pt_config();

	(void)state;
	pt_begin();
	assert_int_equal(traced_of(&config, 1, 0, 0), 100);
	assert_int_equal(traced_of(&config, 0, 0, 0), 0);
	config.level = KTRX_HWT_KERNEL_LEVEL;
	assert_int_equal(traced_of(&config, 1, 0, 0), 0);
	assert_int_equal(traced_of(&config, 0, 0, 0), 100);
	config = pt_config();
	config.flags = KTRACE_HWT_SPACE;
	config.space = 0x5000;
	assert_int_equal(traced_of(&config, 1, 0x5018, 0), 100);
	assert_int_equal(traced_of(&config, 1, 0x6018, 0), 0);
	config = pt_config();
	config.ranges = 2;
	config.range[0].start = 0x1000;
	config.range[0].end = 0x2000;
	config.range[1].start = 0xffffffff80000000;
	config.range[1].end = 0xffffffff80000001;
	assert_int_equal(traced_of(&config, 1, 0, 0xfff), 0);
	assert_int_equal(traced_of(&config, 1, 0, 0x1000), 100);
	assert_int_equal(traced_of(&config, 1, 0, 0x1fff), 100);
	assert_int_equal(traced_of(&config, 1, 0, 0x2000), 0);
	assert_int_equal(traced_of(&config, 1, 0, 0xffffffff80000000), 100);
	assert_int_equal(fake_pt_peek(MSR_ADDR0_A), 0x1000);
	assert_int_equal(fake_pt_peek(MSR_ADDR0_B), 0x1fff);
}

/* ---- Other operations -------------------------------------------------------------------------- */

static void packet_counts_continue_over_a_switch(void **state)
{
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	pt_begin();
	pt_unit_whole(&unit, 4);
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	for (int i = 0; i < 16; i++) {
		pt_enable(&unit);
		fake_pt_run(1024);
		pt_disable(&unit);
	}
	assert_int_equal(fake_pt_psbs(), 4); /* one PSB for each 4096 bytes, none for a thread switch */
}

static void a_psb_follows_a_loss(void **state)
{
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	pt_begin();
	pt_unit_whole(&unit, 4);
	config.flags = KTRACE_HWT_STOP;
	config.psb_period = 65536;
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	pt_enable(&unit);
	fake_pt_run(unit.buffer.size);
	pt_disable(&unit);
	assert_true(unit.full);
	assert_int_equal(fake_pt_psbs(), 1);
	unit.served = unit.position;
	assert_int_equal(pt_backend.operations->service(&pt_backend, &unit), KTRACE_OK);
	pt_enable(&unit);
	fake_pt_run(10);
	pt_disable(&unit);
	assert_int_equal(fake_pt_psbs(), 2);
}

static void a_hardware_error_is_reported(void **state)
{
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	pt_begin();
	pt_unit_whole(&unit, 4);
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	pt_enable(&unit);
	fake_pt_run(100);
	fake_pt_poke(MSR_STATUS, fake_pt_peek(MSR_STATUS) | 1 << 4);
	assert_int_equal(fake_pt_run(100), 0);
	assert_int_equal(pt_backend.operations->disable(&pt_backend, &unit, 0), KTRACE_ERROR_DEVICE);
	assert_int_equal(unit.position, 100);
	assert_int_equal(unit.lost, 1);
	pt_enable(&unit); /* after the error, the unit can be enabled again */
	assert_int_equal(fake_pt_run(100), 100);
	pt_disable(&unit);
	assert_int_equal(unit.position, 200);
}

static void other_interrupts_are_left_alone(void **state)
{
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	pt_begin();
	pt_unit_whole(&unit, 4);
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	fake_pt_poke(0x38e, 1); /* simulates the overflow of a performance counter */
	assert_int_equal(pt_backend.operations->interrupt(&pt_backend, &unit, 0), 0);
	pt_enable(&unit);
	assert_int_equal(pt_backend.operations->interrupt(&pt_backend, &unit, 0), 0);
	fake_pt_run(2 * PT_PAGE);
	assert_true(pt_backend.operations->interrupt(&pt_backend, &unit, 0));
	assert_int_equal(fake_pt_peek(0x38e), 1);
	pt_disable(&unit);
}

static void describe_gives_the_cpu_to_decoders(void **state)
{
	struct ktrace_hwt_config config = pt_config();
	struct ktrx_hwt_pt pt;
	uint64_t time, frequency;

	(void)state;
	pt_begin();
	assert_int_equal(pt_backend.operations->describe(&pt_backend, &config, &pt, sizeof(pt) - 1), 0);
	assert_int_equal(pt_backend.operations->describe(&pt_backend, &config, &pt, sizeof(pt)), sizeof(pt));
	assert_int_equal(pt.family, 6);
	assert_int_equal(pt.model, 158);
	assert_int_equal(pt.stepping, 10);
	assert_int_equal(pt.mtc_frequency, 0);
	assert_int_equal(pt.nominal_frequency, 28);
	assert_int_equal(pt.flags, 0);
	assert_int_equal(pt.cpuid_15_eax, 2);
	assert_int_equal(pt.cpuid_15_ebx, 250);
	config.flags = KTRACE_HWT_MTC;
	config.mtc_period = 512;
	pt_backend.operations->describe(&pt_backend, &config, &pt, sizeof(pt));
	assert_int_equal(pt.mtc_frequency, 9);
	assert_int_equal(pt_backend.operations->clock(&pt_backend, &time, &frequency), KTRACE_OK);
	assert_int_equal(time, 123456789);
	assert_int_equal(frequency, 3000000000);

	fake_pt_features.virtual = 1; /* in a virtual machine, the MSR of the frequency may be missing */
	fake_pt_features.crystal_hz = 0;
	pt_begin();
	pt_backend.operations->describe(&pt_backend, &config, &pt, sizeof(pt));
	assert_int_equal(pt.nominal_frequency, 0);
	assert_int_equal(pt_backend.operations->clock(&pt_backend, &time, &frequency), KTRACE_OK);
	assert_int_equal(frequency, 3000000000);
	fake_pt_features.base_mhz = 0;
	pt_begin();
	assert_int_equal(pt_backend.operations->clock(&pt_backend, &time, &frequency), KTRACE_ERROR_DEVICE);
}

static void count_line(void *to, const char *name, uint64_t value)
{
	(void)value;
	assert_non_null(strstr(name, "RTIT"));
	++*(int *)to;
}

static void registers_are_printed(void **state)
{
	int lines = 0;

	(void)state;
	pt_begin();
	fake_pt_access.barrier();
	pt_backend.operations->dump(&pt_backend, count_line, &lines);
	assert_int_equal(lines, 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, pt_setup, pt_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(absent_hardware_is_reported),
		TEST(another_user_of_the_unit_is_not_disturbed),
		TEST(a_cpu_with_other_options_is_not_traced),
		TEST(thread_mode_with_all_options),
		TEST(cpu_mode_until_full),
		TEST(a_unit_outlives_its_cpu),
		TEST(flags_are_applied),
		TEST(periods_are_rounded_down_to_supported_values),
		TEST(a_cpu_with_nothing_but_branches_traces),
		TEST(unsupported_options_are_rejected),
		TEST(invalid_options_are_rejected),
		TEST(only_requested_code_is_traced),
		TEST(packet_counts_continue_over_a_switch),
		TEST(a_psb_follows_a_loss),
		TEST(a_hardware_error_is_reported),
		TEST(other_interrupts_are_left_alone),
		TEST(describe_gives_the_cpu_to_decoders),
		TEST(registers_are_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
