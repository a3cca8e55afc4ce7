/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the alignment of clocks by causes and effects. In the traces, three CPUs wake each other's threads,
 * and the clocks of the CPUs are wrong by known amounts.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/order.h"
#include "analyze/align.h"
#include "unit/support/sched_writer.h"
#include "unit/support/random.h"

#define CPUS   3u
#define STEPS  6000u
#define SEND   (SCHED_WAKE + 1u) /* id of the event ipi.send; each test that uses this event declares it */
#define COME   (SCHED_WAKE + 2u)
#define SELDOM 100u

static const char send_strings[] = "ipi\0send\0to %u\0ipi.c\0cpu\0";
static const char come_strings[] = "ipi\0receive\0%u\0ipi.c\0what\0";

struct skew {
	int64_t ahead; /* ns */
	int64_t ppm;
};

static uint64_t seed;

/* Returns what a CPU's clock shows at the correct time `real` (ns). */
static uint64_t stamp_of(const struct skew *skew, uint32_t cpu, uint64_t real)
{
	return real + (uint64_t)(skew[cpu].ahead + (int64_t)(real / 1000) * skew[cpu].ppm / 1000);
}

static void put(struct writer *writer, const struct skew *skew, uint32_t cpu, uint64_t real, uint32_t event,
		uint32_t value)
{
	sched_writer_put(writer, cpu, stamp_of(skew, cpu, real), event, value);
}

static void put_switch(struct writer *writer, const struct skew *skew, uint32_t cpu, uint64_t real,
		       uint32_t prev, uint32_t next, uint8_t state)
{
	sched_writer_switch(writer, cpu, stamp_of(skew, cpu, real), prev, next, state);
}

static void open_writer(struct writer *writer)
{
	seed = 7;
	sched_writer_open(writer, CPUS);
}

/*
 * Writes wakeups to the trace: thread n + 1, which runs on CPU n, is woken by another CPU, runs briefly and
 * sleeps again. If `busy` is not 0, CPU 1 wakes no thread, and its thread begins to run `busy` ns after
 * each wakeup. CPUs with a number below `first` have no events.
 */
static void put_steps(struct writer *writer, const struct skew *skew, uint32_t first, uint64_t busy)
{
	uint64_t real = 100000000;

	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t waker = busy ? 2 * random_below(&seed, 2) : random_below(&seed, CPUS - first);
		uint32_t woken = first + (waker + 1 + random_below(&seed, CPUS - first - 1)) % (CPUS - first);
		uint32_t thread = woken + 1;

		put(writer, skew, first + waker, real, SCHED_WAKE, thread);
		real += 2000 + random_below(&seed, 20000) + (woken == 1 ? busy : 0);
		put_switch(writer, skew, woken, real, 0, thread, 0);
		real += 1000 + random_below(&seed, 50000);
		put_switch(writer, skew, woken, real, thread, 0, 1);
		real += 10000 + random_below(&seed, random_below(&seed, 20) ? 300000 : 3000000);
	}
}

static struct ktread *open_trace(const struct skew *skew, uint64_t busy)
{
	struct writer writer;

	open_writer(&writer);
	put_steps(&writer, skew, 0, busy);
	return sched_writer_close(&writer);
}

/*
 * Begins a script in which the kernel measured the clocks of CPUs 1 to `measured`: again and again during the
 * whole trace or, if `once` is true, only after about 1 s. The measurements state that the clocks need no
 * correction, with an error of `error`. Only CPUs with the number `first` or a higher one have events.
 */
static struct ktread *open_measured_from(uint32_t first, const struct skew *skew, uint32_t measured,
					 uint64_t error, bool once)
{
	struct ktrx_clock clocks[CPUS];
	struct writer writer;

	memset(clocks, 0, sizeof(clocks));
	for (uint32_t cpu = 1; cpu <= measured; cpu++) {
		clocks[cpu].measured = clocks[cpu].samples = once ? 1 : KTRX_CLOCK_SAMPLES;
		for (uint32_t i = 0; i < clocks[cpu].samples; i++) {
			struct ktrx_clock_sample *sample = &clocks[cpu].sample[i];

			sample->stamp =
				once ? SCHED_HZ + SCHED_HZ / 40 : (i + 1) * SCHED_HZ / 10 - SCHED_HZ / 50;
			sample->error = error;
			sample->check = ktrx_clock_check(sample);
		}
	}
	open_writer(&writer);
	put_steps(&writer, skew, first, 0);
	bytes_append(&writer.clocks, clocks, sizeof(clocks));
	return sched_writer_close(&writer);
}

static struct ktread *open_measured(const struct skew *skew, uint32_t measured, uint64_t error, bool once)
{
	return open_measured_from(0, skew, measured, error, once);
}

/*
 * Returns a trace in which CPUs 0 and 1 wake each other's thread in turn, thousands of times per second. The
 * wakeups begin some time after the start of the trace.
 */
static struct ktread *open_turns(const struct skew *skew)
{
	struct writer writer;
	uint64_t real = 100000000;
	uint32_t thread = 3;

	open_writer(&writer);
	put(&writer, skew, 2, real, SCHED_WAKE, thread);
	real += 300000000;
	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t waker = step % 2;

		thread = 2 - waker;
		put(&writer, skew, waker, real, SCHED_WAKE, thread);
		real += 50000 + random_below(&seed, 50000);
		put_switch(&writer, skew, 1 - waker, real, 0, thread, 0);
		real += 10000 + random_below(&seed, 2000);
		put_switch(&writer, skew, 1 - waker, real, thread, 0, 1);
	}
	return sched_writer_close(&writer);
}

/* Counts switches to threads that went to sleep and were not woken since then. */
static uint32_t count_wrong(struct ktread *trace)
{
	const struct ktread_event *event;
	uint32_t wrong = 0, switches = 0;
	int awake[CPUS + 1] = { 0 };

	while (ktread_next(trace, &event) > 0) {
		struct ktread_value value;

		assert_int_equal(ktread_value(event, event->id == SCHED_WAKE ? 0 : 1, &value), 0);
		assert_true(value.number <= CPUS);
		if (event->id == SCHED_WAKE)
			awake[value.number] = 1;
		if (event->id == SCHED_WAKE || value.number == 0)
			continue;
		wrong += !awake[value.number];
		awake[value.number] = 0;
		switches++;
	}
	assert_int_equal(switches, STEPS);
	assert_int_equal(ktread_rewind(trace), 0);
	return wrong;
}

/*
 * Aligns the clocks. Stores in `moved`, for each CPU, the largest amount by which events of this CPU were
 * moved. Checks that no event was moved by more than its clock's stated error at that time.
 */
static void align_and_compare(struct ktread *trace, struct align_report *report, uint64_t *moved)
{
	uint64_t *stamp[CPUS];
	const struct ktread_event *event;
	uint32_t count[CPUS] = { 0 };

	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		stamp[cpu] = calloc(3 * STEPS, sizeof(*stamp[cpu]));
		assert_non_null(stamp[cpu]);
		moved[cpu] = 0;
	}
	while (ktread_next(trace, &event) > 0)
		stamp[event->cpu][count[event->cpu]++] = event->stamp;
	assert_int_equal(ktread_rewind(trace), 0);
	assert_int_equal(align_clocks(trace, report), 0);
	memset(count, 0, sizeof(count));
	while (ktread_next(trace, &event) > 0) {
		uint64_t before = stamp[event->cpu][count[event->cpu]++];
		uint64_t by = event->stamp > before ? event->stamp - before : before - event->stamp;

		assert_true(by <= order_error_at(trace, event->cpu, before));
		if (by > moved[event->cpu])
			moved[event->cpu] = by;
	}
	assert_int_equal(ktread_rewind(trace), 0);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		free(stamp[cpu]);
}

static void align(int64_t ahead, int64_t ppm, uint32_t wrong_least)
{
	const struct skew skew[CPUS] = { { 0, 0 }, { ahead, ppm }, { -ahead, -ppm } };
	struct ktread *trace = open_trace(skew, 0);
	struct align_report report;

	assert_true(count_wrong(trace) >= wrong_least);
	assert_int_equal(align_clocks(trace, &report), 0);
	assert_int_equal(count_wrong(trace), 0);
	assert_int_equal(report.after, 0);
	assert_true(report.pairs > STEPS - STEPS / 20);
	assert_true(wrong_least == 0 || report.before > 0);
	ktread_close(trace);
}

static void clocks_in_step_stay_as_they_are(void **state)
{
	const struct skew skew[CPUS] = { { 0, 0 } };
	struct ktread *trace = open_trace(skew, 0);
	struct align_report report;

	(void)state;
	assert_int_equal(align_clocks(trace, &report), 0);
	assert_int_equal(report.before, 0);
	assert_int_equal(ktread_info(trace)->clock, KTREAD_CLOCK_RAW);
	ktread_close(trace);
}

/*
 * In many pairs of events, the time between the two events is nearly the same. All clocks are correct, so the
 * alignment must not mistake this time for an error of a clock.
 */
static void repeated_distances_are_no_clock_errors(void **state)
{
	const struct skew skew[CPUS] = { { 0, 0 } };
	struct ktread *trace = open_trace(skew, 5000000);
	struct align_report report;

	(void)state;
	assert_int_equal(align_clocks(trace, &report), 0);
	assert_int_equal(report.before, 0);
	assert_int_equal(report.after, 0);
	assert_true(report.pairs > STEPS - STEPS / 20);
	assert_int_equal(ktread_info(trace)->clock, KTREAD_CLOCK_RAW);
	assert_int_equal(count_wrong(trace), 0);
	ktread_close(trace);
}

/* In many pairs of events, the time between the two events is nearly the same, and CPU 2's clock is wrong. */
static void repeated_distances_do_not_prevent_alignment(void **state)
{
	const struct skew skew[CPUS] = { { 0, 0 }, { 0, 0 }, { -10000, 0 } };
	struct ktread *trace = open_trace(skew, 5000000);
	struct align_report report;

	(void)state;
	assert_true(count_wrong(trace) > 50);
	assert_int_equal(align_clocks(trace, &report), 0);
	assert_true(report.before > 50);
	assert_int_equal(report.after, 0);
	assert_int_equal(count_wrong(trace), 0);
	assert_true(ktread_info(trace)->clock_aligned < 1000000);
	ktread_close(trace);
}

/*
 * CPUs 0 and 1 wake each other's thread. Every SELDOM-th wakeup is not recorded, because the kernel calls no
 * hook there.
 */
static struct ktread *open_wakes_without_hook(const struct skew *skew)
{
	struct writer writer;
	uint64_t real = 100000000;

	open_writer(&writer);
	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t waker = random_below(&seed, 2), thread = 2 - waker;

		if (step % SELDOM != SELDOM / 2)
			put(&writer, skew, waker, real, SCHED_WAKE, thread);
		real += 2000 + random_below(&seed, 20000);
		put_switch(&writer, skew, 1 - waker, real, 0, thread, 0);
		real += 1000 + random_below(&seed, 50000);
		put_switch(&writer, skew, 1 - waker, real, thread, 0, 1);
		real += 10000 + random_below(&seed, 300000);
	}
	return sched_writer_close(&writer);
}

/*
 * CPUs 0 and 1 send each other interrupts. Every SELDOM-th send is not recorded, because the kernel calls no
 * hook there.
 */
static struct ktread *open_sends_without_hook(const struct skew *skew)
{
	const uint32_t what = 1;
	struct writer writer;
	uint64_t real = 100000000;

	open_writer(&writer);
	sched_writer_event(&writer, send_strings, sizeof(send_strings));
	sched_writer_event(&writer, come_strings, sizeof(come_strings));
	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t sender = random_below(&seed, 2), target = 1 - sender;

		if (step % SELDOM != SELDOM / 2)
			put(&writer, skew, sender, real, SEND, target);
		real += 2000 + random_below(&seed, 10000);
		put(&writer, skew, target, real, COME, what);
		real += 50000 + random_below(&seed, 300000);
	}
	return sched_writer_close(&writer);
}

/*
 * In the trace, the clock of CPU 1 is `ahead` ns ahead. Checks that the alignment moves the events of CPU 1
 * by about that amount.
 */
static void align_without_hooks(struct ktread *trace, int64_t ahead)
{
	struct align_report report;
	uint64_t moved[CPUS];

	align_and_compare(trace, &report, moved);
	assert_true(report.pairs > STEPS - STEPS / 20);
	assert_true(ahead ? report.before > STEPS / 20 : report.before == 0);
	assert_int_equal(report.after, 0);
	assert_in_range(moved[1] + 2000, ahead, ahead + 4000);
	ktread_close(trace);
}

static void missing_hooks_do_not_misalign_clocks(void **state)
{
	const struct skew none[CPUS] = { { 0, 0 } }, some[CPUS] = { { 0, 0 }, { 8000, 0 } };

	(void)state;
	align_without_hooks(open_wakes_without_hook(none), 0);
	align_without_hooks(open_wakes_without_hook(some), 8000);
	align_without_hooks(open_sends_without_hook(none), 0);
	align_without_hooks(open_sends_without_hook(some), 8000);
}

static void aligns_one_microsecond(void **state)
{
	(void)state;
	align(1000, 0, 0);
}

static void aligns_ten_microseconds(void **state)
{
	(void)state;
	align(10000, 0, 100);
}

static void aligns_hundred_microseconds(void **state)
{
	(void)state;
	align(100000, 0, STEPS / 10);
}

static void aligns_ten_milliseconds(void **state)
{
	(void)state;
	align(10000000, 0, STEPS / 10);
}

/* Each effect has its own cause, but the causes of a hundred other effects are nearer to it in time. */
static void aligns_cpus_that_take_turns(void **state)
{
	const struct skew skew[CPUS] = { { 0, 0 }, { 20000000, 100 } };
	struct ktread *trace = open_turns(skew);
	struct align_report report;

	(void)state;
	assert_true(count_wrong(trace) > 0);
	assert_int_equal(align_clocks(trace, &report), 0);
	assert_true(report.before > STEPS / 4);
	assert_int_equal(report.after, 0);
	assert_int_equal(count_wrong(trace), 0);
	ktread_close(trace);
}

/*
 * In this trace, a wakeup has its effect every 72 us. If an estimated error of a clock were wrong by a
 * millisecond, causes could not be paired with their effects.
 */
static void estimates_are_finer_than_their_grain(void **state)
{
	const struct skew skew[CPUS] = { { 0, 0 }, { 20400000, 0 } };
	struct ktread *trace = open_turns(skew);
	struct coarse *coarse = coarse_create(CPUS, 100000000, 1000000);
	struct wellknown_table known = { 0 };
	const struct ktread_event *event;
	int64_t forward[CPUS];

	(void)state;
	assert_non_null(coarse);
	while (ktread_next(trace, &event) > 0 && coarse_event(coarse, event, wellknown_of(&known, event)))
		;
	coarse_solve(coarse, forward);
	assert_in_range(-forward[1], 20350000, 20450000);
	coarse_destroy(coarse);
	ktread_close(trace);
}

static void aligns_drift(void **state)
{
	(void)state;
	align(0, 100, STEPS / 20);
}

static void aligns_ten_milliseconds_and_drift(void **state)
{
	(void)state;
	align(-10000000, 100, STEPS / 10);
}

/*
 * Effects seem to occur a millisecond too early. The stated errors of the clocks, 20 or 300 us, are too small
 * to explain a millisecond.
 */
static void measured_clocks_move_at_most_by_their_error(void **state)
{
	const struct skew skew[CPUS] = { { 0, 0 }, { 1000000, 0 }, { -1000000, 0 } };

	(void)state;
	for (uint64_t error = 20000; error <= 300000; error += 280000) {
		struct ktread *trace = open_measured(skew, 2, error, false);
		struct align_report report;
		uint64_t moved[CPUS];

		assert_int_equal(ktread_info(trace)->clock, KTREAD_CLOCK_MEASURED);
		align_and_compare(trace, &report, moved);
		assert_true(report.before > 100);
		assert_int_equal(moved[0], 0);
		assert_in_range(moved[1], 0, error);
		assert_in_range(moved[2], 0, error);
		assert_in_range(ktread_info(trace)->clock_aligned, 0, error);
		ktread_close(trace);
	}
}

/* Each clock was measured only once, and drifts. */
static void drift_around_the_only_measurement_is_followed(void **state)
{
	const struct skew skew[CPUS] = { { 0, 0 }, { -200000, 200 }, { 200000, -200 } };
	struct ktread *trace = open_measured(skew, 2, 20000, true);
	struct align_report report;
	uint64_t moved[CPUS];

	(void)state;
	assert_true(count_wrong(trace) > STEPS / 20);
	align_and_compare(trace, &report, moved);
	assert_int_equal(report.after, 0);
	assert_int_equal(count_wrong(trace), 0);
	assert_true(moved[1] > 100000 && moved[2] > 100000);
	ktread_close(trace);
}

/*
 * The clock of CPU 1 was measured only once, between two nodes of the alignment's correction. The stated
 * error is 100 ns at that time, and larger at the nodes. The clock is wrong by 3 us all the time. Even so,
 * the alignment must not move it by more than 100 ns at the time of the measurement.
 */
static void clock_stays_at_its_only_measurement(void **state)
{
	const struct skew skew[CPUS] = { { 0, 0 }, { 3000, 0 }, { 10000000, 0 } };
	struct ktread *trace = open_measured(skew, 1, 100, true);
	struct align_report report;
	uint64_t moved[CPUS];

	(void)state;
	align_and_compare(trace, &report, moved);
	assert_in_range(report.after, 0, report.before / 100);
	assert_in_range(moved[1], 1000, 5000);
	ktread_close(trace);
}

/*
 * Each of two clocks is wrong by almost its stated error. CPU 0 has no events, so only the measurements
 * relate the two clocks to CPU 0's clock.
 */
static void errors_are_shared_between_clocks(void **state)
{
	const struct skew skew[CPUS] = { { 0, 0 }, { 19000, 0 }, { -19000, 0 } };
	struct ktread *trace = open_measured_from(1, skew, 2, 20000, false);
	struct align_report report;
	uint64_t moved[CPUS];

	(void)state;
	align_and_compare(trace, &report, moved);
	assert_true(report.before > 100);
	assert_int_equal(report.after, 0);
	assert_int_equal(count_wrong(trace), 0);
	ktread_close(trace);
}

static void measured_clocks_are_aligned_within_their_error(void **state)
{
	const struct skew skew[CPUS] = { { 0, 0 }, { 18000, 0 }, { -18000, 0 } };
	struct ktread *trace = open_measured(skew, 2, 20000, false);
	struct align_report report;
	uint64_t moved[CPUS];

	(void)state;
	assert_true(count_wrong(trace) > 100);
	align_and_compare(trace, &report, moved);
	assert_int_equal(report.after, 0);
	assert_int_equal(count_wrong(trace), 0);
	assert_in_range(moved[1], 10000, 20000);
	assert_in_range(moved[2], 10000, 20000);
	ktread_close(trace);
}

static void unmeasured_clocks_are_aligned_at_any_distance(void **state)
{
	const struct skew skew[CPUS] = { { 0, 0 }, { 0, 0 }, { 10000000, 100 } };
	struct ktread *trace = open_measured(skew, 1, 2000, false);
	struct align_report report;
	uint64_t moved[CPUS];

	(void)state;
	assert_true(count_wrong(trace) > STEPS / 10);
	align_and_compare(trace, &report, moved);
	assert_int_equal(report.after, 0);
	assert_int_equal(count_wrong(trace), 0);
	assert_in_range(moved[1], 0, 2000);
	assert_in_range(moved[2], 9900000, 10500000);
	ktread_close(trace);
}

static void effects_beyond_the_stated_error_count_first(void **state)
{
	const struct skew skew[CPUS] = { { 0, 0 } };
	const struct causes_pair within[] = { { 0, 1, 200000000, 199980000 },
					      { 2, 1, 200000000, 199960000 } };
	const struct causes_pair beyond[] = { { 1, 2, 200000000, 199959999 } }, late = { 0, 1, 1, 2 };
	struct ktread *trace = open_measured(skew, 2, 20000, false), *unmeasured = open_trace(skew, 0);
	struct causes_count two = { 0 }, one = { 0 }, none = { 0 };

	(void)state;
	causes_count(&none, trace, &late, 1);
	causes_count(&two, trace, within, 2);
	causes_count(&one, trace, beyond, 1);
	assert_int_equal(none.pairs, 1);
	assert_int_equal(none.early, 0);
	assert_int_equal(two.early, 2);
	assert_int_equal(two.beyond, 0);
	assert_int_equal(two.ticks, 60000);
	assert_int_equal(one.beyond, 1);
	assert_true(causes_fewer(&two, &one) && !causes_fewer(&one, &two));
	assert_true(causes_fewer(&none, &two) && !causes_fewer(&two, &two));
	/* If no error is stated, each effect that is earlier than its cause counts as beyond the error. */
	causes_count(&none, unmeasured, within, 2);
	assert_int_equal(none.beyond, 2);
	ktread_close(trace);
	ktread_close(unmeasured);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_in_step_stay_as_they_are),
		cmocka_unit_test(repeated_distances_are_no_clock_errors),
		cmocka_unit_test(repeated_distances_do_not_prevent_alignment),
		cmocka_unit_test(missing_hooks_do_not_misalign_clocks),
		cmocka_unit_test(aligns_one_microsecond),
		cmocka_unit_test(aligns_ten_microseconds),
		cmocka_unit_test(aligns_hundred_microseconds),
		cmocka_unit_test(aligns_ten_milliseconds),
		cmocka_unit_test(aligns_cpus_that_take_turns),
		cmocka_unit_test(estimates_are_finer_than_their_grain),
		cmocka_unit_test(aligns_drift),
		cmocka_unit_test(aligns_ten_milliseconds_and_drift),
		cmocka_unit_test(measured_clocks_move_at_most_by_their_error),
		cmocka_unit_test(drift_around_the_only_measurement_is_followed),
		cmocka_unit_test(clock_stays_at_its_only_measurement),
		cmocka_unit_test(errors_are_shared_between_clocks),
		cmocka_unit_test(measured_clocks_are_aligned_within_their_error),
		cmocka_unit_test(unmeasured_clocks_are_aligned_at_any_distance),
		cmocka_unit_test(effects_beyond_the_stated_error_count_first),
	};

	return cmocka_run_group_tests(tests, NULL, temporary_teardown);
}
