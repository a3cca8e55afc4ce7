/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests corrected timestamps. They are interpolated between points, and never decrease, even if the points
 * are wrong.
 */
#include <stdlib.h>
#include <string.h>

#include "ktread/trace.h"
#include "unit/support/ktread_sample.h"
#include "unit/support/random.h"

#define MHZ UINT64_C(1000000)

static const int64_t level[2] = { 0, 0 };

static void offset_is_interpolated_between_points(void **state)
{
	const struct ktread_clock_point point[] = { { 1000, 50 }, { 3000, 250 }, { 4000, -50 } };
	struct ktread_clock clock = { NULL, 0, 0 };

	(void)state;
	assert_int_equal(ktread_clock_set(&clock, point, 3, level), 0);
	assert_int_equal(ktread_clock_apply(&clock, 1000), 1050);
	assert_in_range(ktread_clock_apply(&clock, 2000), 2149, 2150);
	assert_int_equal(ktread_clock_apply(&clock, 3000), 3250);
	assert_in_range(ktread_clock_apply(&clock, 3500), 3599, 3600);
	assert_int_equal(ktread_clock_apply(&clock, 4000), 3950);
	assert_int_equal(ktread_clock_apply(&clock, 9000), 8950);
	assert_int_equal(ktread_clock_apply(&clock, 500), 550);
	free(clock.piece);
}

static void drift_continues_beyond_the_ends(void **state)
{
	const struct ktread_clock_point point[] = { { 100000, 0 }, { 200000, 0 } };
	const int64_t slopes[2] = { INT64_C(1) << 22, -(INT64_C(1) << 22) }; /* slopes of 1/1024 */
	struct ktread_clock clock = { NULL, 0, 0 };

	(void)state;
	assert_int_equal(ktread_clock_set(&clock, point, 2, slopes), 0);
	assert_int_equal(ktread_clock_apply(&clock, 100000 - 10240), 100000 - 10240 - 10);
	assert_int_equal(ktread_clock_apply(&clock, 200000 + 10240), 200000 + 10240 - 10);
	free(clock.piece);
}

static void corrected_stamps_stay_within_64_bits(void **state)
{
	const struct ktread_clock_point back = { 5000, -4000 }, ahead = { 5000, INT64_MAX };
	struct ktread_clock clock = { NULL, 0, 0 };

	(void)state;
	assert_int_equal(ktread_clock_set(&clock, &back, 1, level), 0);
	assert_int_equal(ktread_clock_apply(&clock, 3000), 0);
	assert_int_equal(ktread_clock_apply(&clock, 4001), 1);
	assert_int_equal(ktread_clock_set(&clock, &ahead, 1, level), 0);
	assert_true(ktread_clock_apply(&clock, UINT64_MAX) == UINT64_MAX);
	free(clock.piece);
}

/* The points are random, unlike those of a correct guest. */
static void corrected_stamps_never_decrease(void **state)
{
	struct ktread_clock clock = { NULL, 0, 0 };
	uint64_t seed = 1;

	(void)state;
	for (unsigned round = 0; round < 500; round++) {
		struct ktread_clock_point point[20];
		uint64_t stamp = 0, last = 0;

		for (unsigned i = 0; i < 20; i++)
			point[i] = (struct ktread_clock_point){ random_word(&seed) >> random_word(&seed) % 64,
								(int64_t)random_word(&seed) >>
									random_word(&seed) % 64 };
		assert_int_equal(ktread_clock_set(&clock, point, 20, level), 0);
		for (unsigned i = 0; i < 500; i++) {
			uint64_t corrected = ktread_clock_apply(&clock, stamp);

			assert_true(corrected >= last);
			last = corrected;
			stamp += random_word(&seed) >> (random_word(&seed) % 56 + 8);
		}
	}
	free(clock.piece);
}

/*
 * The clock of CPU 1 is 10 ms ahead and 100 ppm too fast. The guest has measured this clock every 100 ms, but
 * not near the beginning and the end of the trace.
 */
static void put_rows(struct writer *writer, int damaged)
{
	struct ktrx_clock rows[2];

	memset(rows, 0, sizeof(rows));
	rows[1].measured = rows[1].samples = 8;
	for (uint32_t i = 0; i < 8; i++) {
		struct ktrx_clock_sample *sample = &rows[1].sample[i];

		sample->stamp = (i + 1) * 100 * MHZ;
		sample->offset = -(int64_t)(10 * MHZ) - (int64_t)(sample->stamp / 10000);
		sample->error = 20;
		if (damaged && i % 2)
			/* simulates a sample that was only half written: its checksum is missing */
			sample->offset += (int64_t)(30 * MHZ);
		else
			sample->check = ktrx_clock_check(sample);
	}
	bytes_append(&writer->clocks, rows, sizeof(rows));
}

static void samples_of_a_guest_are_applied(void **state)
{
	(void)state;
	for (int damaged = 0; damaged < 2; damaged++) {
		const struct ktread_event *event;
		struct writer writer;
		struct bytes dump = { NULL, 0 };
		struct ktread *trace;

		begin(&writer, 3);
		put_rows(&writer, damaged);
		for (uint64_t n = 0; n < 10; n++) {
			uint64_t real = 20 * MHZ + n * 95 * MHZ, ahead = real + 10 * MHZ;

			put_switch(&writer, 2, ahead + ahead / 10000, (uint32_t)(2 * n));
			put_switch(&writer, 1, real + 50, (uint32_t)(2 * n + 1));
		}
		writer_dump(&writer, &dump);
		trace = open_ok(temporary_bytes(&dump), NULL);
		for (uint32_t n = 0; n < 20; n++) {
			struct ktread_value value;

			assert_int_equal(ktread_next(trace, &event), 1);
			assert_int_equal(ktread_value(event, 0, &value), 0);
			assert_int_equal(value.number, n);
		}
		assert_int_equal(ktread_info(trace)->clock, KTREAD_CLOCK_MEASURED);
		assert_int_equal(ktread_info(trace)->clock_cpus, 1);
		assert_int_equal(ktread_info(trace)->clock_samples, damaged ? 4 : 8);
		assert_int_equal(ktread_info(trace)->clock_error, 20);
		ktread_close(trace);
		bytes_free(&dump);
		writer_close(&writer);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offset_is_interpolated_between_points),
		cmocka_unit_test(drift_continues_beyond_the_ends),
		cmocka_unit_test(corrected_stamps_stay_within_64_bits),
		cmocka_unit_test(corrected_stamps_never_decrease),
		cmocka_unit_test(samples_of_a_guest_are_applied),
	};

	return cmocka_run_group_tests(tests, NULL, temporary_teardown);
}
