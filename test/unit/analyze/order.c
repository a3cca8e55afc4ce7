/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests what views report about the order of events of different CPUs. */
#include <stdlib.h>
#include <string.h>

#include "analyze/order.h"
#include "unit/support/ktread_sample.h"

#define MHZ   UINT64_C(1000000)
#define EVERY (100 * MHZ)

/* Returns a trace that begins at time `first`. CPU 0's last heartbeat was at time `last`. */
static struct ktread *trace_of(struct writer *writer, uint64_t first, uint64_t last,
			       const struct ktread_options *options)
{
	struct bytes dump = { NULL, 0 };
	struct ktrx_cpu row;
	struct ktread *trace;

	memset(&row, 0, sizeof(row));
	row.online = 1;
	row.heartbeat_stamp = last;
	if (last)
		bytes_append(&writer->cpus, &row, sizeof(row));
	for (uint32_t cpu = 0; cpu < writer->root.cpus; cpu++)
		put_switch(writer, cpu + 1, first, cpu);
	writer_dump(writer, &dump);
	trace = open_ok(temporary_bytes(&dump), options);
	bytes_free(&dump);
	writer_close(writer);
	return trace;
}

/* Adds `samples` clock samples of each CPU except CPU 0: at EVERY ticks, 2 × EVERY ticks, and so on. */
static void put_samples(struct writer *writer, uint32_t cpus, uint32_t samples, uint64_t error)
{
	struct ktrx_clock clocks[4];

	memset(clocks, 0, sizeof(clocks));
	for (uint32_t cpu = 1; cpu < cpus; cpu++) {
		clocks[cpu].measured = clocks[cpu].samples = samples;
		for (uint32_t i = 0; i < samples; i++) {
			struct ktrx_clock_sample *sample = &clocks[cpu].sample[i];

			sample->stamp = (i + 1) * EVERY;
			sample->error = error;
			sample->check = ktrx_clock_check(sample);
		}
	}
	bytes_append(&writer->clocks, clocks, cpus * sizeof(clocks[0]));
}

static void expect(struct ktread *trace, enum order_state state, uint64_t doubt, const char *text,
		   const char *json)
{
	const struct order order = order_between_cpus(trace);
	char printed[ORDER_TEXT];

	assert_int_equal(order.state, state);
	assert_int_equal(order.doubt, doubt);
	assert_int_equal(order_say(trace, printed), strlen(text));
	assert_string_equal(printed, text);
	assert_int_equal(order_say_json(trace, printed), strlen(json));
	assert_string_equal(printed, json);
	ktread_close(trace);
}

static void one_cpu_is_certain(void **state)
{
	struct writer writer;

	(void)state;
	begin(&writer, 2);
	expect(trace_of(&writer, 1000, 0, NULL), ORDER_CERTAIN, 0, "", "");
}

static void unmeasured_clocks_are_uncertain(void **state)
{
	struct writer writer;

	(void)state;
	begin(&writer, 3);
	expect(trace_of(&writer, 1000, 0, NULL), ORDER_UNMEASURED, 0,
	       "order between CPUs: uncertain, clocks were not measured",
	       "\"order\":{\"clocks\":\"unmeasured\",\"doubt_ticks\":null}");
}

static void clocks_shown_as_recorded_are_uncertain(void **state)
{
	const struct ktread_options raw = { .size = sizeof(raw), .raw_clock = 1 };
	struct writer writer;

	(void)state;
	begin(&writer, 3);
	put_samples(&writer, 2, 8, 20);
	expect(trace_of(&writer, EVERY, EVERY, &raw), ORDER_UNMEASURED, 0,
	       "order between CPUs: uncertain, clocks were not measured",
	       "\"order\":{\"clocks\":\"unmeasured\",\"doubt_ticks\":null}");
}

static void unmeasured_cpu_is_uncertain(void **state)
{
	struct writer writer;

	(void)state;
	begin(&writer, 4);
	put_samples(&writer, 2, 8, 20);
	expect(trace_of(&writer, EVERY, EVERY, NULL), ORDER_UNMEASURED, 0,
	       "order between CPUs: uncertain, clocks of 1 of the CPUs were not measured",
	       "\"order\":{\"clocks\":\"unmeasured\",\"doubt_ticks\":null}");
}

static void measured_clocks_have_their_error(void **state)
{
	struct writer writer;

	(void)state;
	begin(&writer, 3);
	put_samples(&writer, 2, 8, 20);
	expect(trace_of(&writer, EVERY, 8 * EVERY, NULL), ORDER_MEASURED, 20,
	       "order between CPUs: uncertain for events less than 0.020 us apart; clocks were measured",
	       "\"order\":{\"clocks\":\"measured\",\"doubt_ticks\":20}");
	/* Each of two clocks has an error relative to a third clock. */
	begin(&writer, 4);
	put_samples(&writer, 3, 8, 20);
	expect(trace_of(&writer, EVERY, 8 * EVERY, NULL), ORDER_MEASURED, 40,
	       "order between CPUs: uncertain for events less than 0.040 us apart; clocks were measured",
	       "\"order\":{\"clocks\":\"measured\",\"doubt_ticks\":40}");
}

/*
 * If there is only one measurement, the error grows by 500 ppm of the time since that measurement. After
 * several measurements, the drift is known, with an error that follows from the errors of the measurements.
 */
static void error_grows_after_the_last_measurement(void **state)
{
	struct writer writer;

	(void)state;
	begin(&writer, 3);
	put_samples(&writer, 2, 1, 20);
	expect(trace_of(&writer, EVERY, 101 * EVERY, NULL), ORDER_MEASURED, 20 + EVERY / 20,
	       "order between CPUs: uncertain for events less than 5000.0 us apart; clocks were measured",
	       "\"order\":{\"clocks\":\"measured\",\"doubt_ticks\":5000020}");
	begin(&writer, 3);
	put_samples(&writer, 2, 8, 20);
	/*
	 * The error of the drift is (20 + 20) × 2 ticks in 7 × EVERY ticks, which is a relative error of 114
	 * billionths. In 100 × EVERY ticks, that is 1140 ticks.
	 */
	expect(trace_of(&writer, EVERY, 108 * EVERY, NULL), ORDER_MEASURED, 20 + 1140,
	       "order between CPUs: uncertain for events less than 1.160 us apart; clocks were measured",
	       "\"order\":{\"clocks\":\"measured\",\"doubt_ticks\":1160}");
}

static void error_depends_on_the_time(void **state)
{
	struct writer writer;
	struct ktread *trace;

	(void)state;
	begin(&writer, 4);
	put_samples(&writer, 2, 8, 20);
	trace = trace_of(&writer, EVERY, 8 * EVERY, NULL);
	assert_int_equal(order_error_at(trace, 0, 0), 0);
	assert_int_equal(order_error_at(trace, 1, EVERY), 20);
	assert_int_equal(order_error_at(trace, 1, 5 * EVERY), 20);
	assert_int_equal(order_error_at(trace, 1, 8 * EVERY), 20);
	assert_int_equal(order_error_at(trace, 1, 108 * EVERY), 20 + 1140);
	assert_int_equal(order_error_at(trace, 1, 0), 20 + 11);
	assert_true(order_error_at(trace, 2, EVERY) == ORDER_NO_ERROR);
	assert_true(order_error_at(trace, 9, EVERY) == ORDER_NO_ERROR);
	ktread_close(trace);
	/* The clocks were measured, but no error is stated. */
	begin(&writer, 3);
	put_samples(&writer, 2, 8, 0);
	trace = trace_of(&writer, EVERY, 8 * EVERY, NULL);
	assert_true(order_error_at(trace, 1, EVERY) == ORDER_NO_ERROR);
	ktread_close(trace);
}

static void aligned_clocks_order_causes_and_effects(void **state)
{
	const struct ktread_clock_point point = { 1000, 50 };
	struct ktread *trace;
	struct writer writer;

	(void)state;
	begin(&writer, 3);
	trace = trace_of(&writer, 1000, 0, NULL);
	assert_int_equal(ktread_align(trace, 1, &point, 1), 0);
	expect(trace, ORDER_ALIGNED, 0,
	       "order between CPUs: uncertain except for causes and effects, by which clocks were aligned",
	       "\"order\":{\"clocks\":\"aligned\",\"doubt_ticks\":null}");
}

/*
 * The alignment moved each of two clocks by at most its error. Before that, each clock may have been wrong by
 * the same amount.
 */
static void aligned_measured_clocks_have_twice_the_doubt(void **state)
{
	const struct ktread_clock_point point = { EVERY, 20 };
	struct ktread *trace;
	struct writer writer;

	(void)state;
	begin(&writer, 4);
	put_samples(&writer, 3, 8, 20);
	trace = trace_of(&writer, EVERY, 8 * EVERY, NULL);
	assert_int_equal(ktread_align(trace, 1, &point, 1), 0);
	expect(trace, ORDER_ALIGNED, 80,
	       "order between CPUs: uncertain for events less than 0.080 us apart "
	       "except for causes and effects; clocks were measured and aligned",
	       "\"order\":{\"clocks\":\"aligned\",\"doubt_ticks\":80}");
	/* One of the clocks was not measured. */
	begin(&writer, 4);
	put_samples(&writer, 2, 8, 20);
	trace = trace_of(&writer, EVERY, 8 * EVERY, NULL);
	assert_int_equal(ktread_align(trace, 1, &point, 1), 0);
	expect(trace, ORDER_ALIGNED, 0,
	       "order between CPUs: uncertain except for causes and effects, by which clocks were aligned",
	       "\"order\":{\"clocks\":\"aligned\",\"doubt_ticks\":null}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_cpu_is_certain),
		cmocka_unit_test(unmeasured_clocks_are_uncertain),
		cmocka_unit_test(clocks_shown_as_recorded_are_uncertain),
		cmocka_unit_test(unmeasured_cpu_is_uncertain),
		cmocka_unit_test(measured_clocks_have_their_error),
		cmocka_unit_test(error_grows_after_the_last_measurement),
		cmocka_unit_test(error_depends_on_the_time),
		cmocka_unit_test(aligned_clocks_order_causes_and_effects),
		cmocka_unit_test(aligned_measured_clocks_have_twice_the_doubt),
	};

	return cmocka_run_group_tests(tests, NULL, temporary_teardown);
}
