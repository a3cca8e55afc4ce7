/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests clock measurements between real threads, whose clocks differ by known amounts. The error of each
 * result must not exceed the stated bound. With the results, the reader must put the events of all threads in
 * order. No thread may wait without end for a CPU that does not answer.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/core/state.h"
#include "ktrace/settings.h"
#include "ktread/ktread.h"

#define CPUS	 3u
#define SLOTS	 4096u
#define ATTEMPTS 100000u
#define TURNS	 240u
#define APART_NS 20000u

KTRACE_EVENT(test, turn, "%u", (uint32_t, number));

__thread uint64_t skew_reserve;
__thread uint32_t skew_cpu;

static struct {
	int64_t ahead; /* ns */
	int64_t ppm;
} skew[CPUS];

static _Alignas(64) unsigned char memory[1 << 20];
static _Alignas(64) unsigned char dump[1 << 20];
static atomic_uint serving, turn;
static atomic_bool over;
static atomic_int held, done; /* shared by the threads of the test in which CPU 0 holds a spinlock */

/* if not 0, the time on which all clocks are based; 0: the clocks are based on the time of the host */
static atomic_ullong set_time;

static uint64_t now_ns(void)
{
	struct timespec now;

	if (set_time)
		return set_time;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t as_counted(uint64_t ns, uint32_t cpu)
{
	return ns + (uint64_t)(skew[cpu].ahead + (int64_t)((__int128)ns * skew[cpu].ppm / 1000000));
}

/*
 * Number of requests that CPU 0 still answers. After that, CPU 0 answers none until the other CPU has given
 * up. 0: CPU 0 answers all requests.
 */
static atomic_int answers_left;
static atomic_uint attempt;

/*
 * Reads this CPU's clock. A CPU that waits for another CPU reads its clock again and again. The processor then
 * goes to the thread of the other CPU: on a busy host, both threads rarely run at the same time.
 */
uint64_t skew_clock(void)
{
	uint64_t stamp = as_counted(now_ns(), skew_cpu);

	sched_yield();

	if (skew_cpu == 0 && answers_left > 0 && --answers_left == 0)
		for (unsigned during = attempt; attempt == during;)
			sched_yield();
	return stamp;
}

static void set_up(uint32_t clocks)
{
	const struct ktrace_memory lent = { memory, sizeof(memory) };
	const struct ktrace_config config = {
		.size = sizeof(config),
		.cpus = CPUS,
		.slots = SLOTS,
		.blocks = 1,
		.memory = &lent,
		.clocks = clocks,
	};

	ktrace_state.initialised = 0; /* the value of this field when the machine starts */
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	over = false;
	serving = turn = 0;
	memset(skew, 0, sizeof(skew));
}

static const struct ktrx_clock *clock_of(uint32_t cpu)
{
	return (const struct ktrx_clock *)(uintptr_t)ktrace_root.section[KTRX_SECTION_CLOCKS - 1].address +
	       cpu;
}

static void online(uint32_t cpu)
{
	skew_cpu = cpu;
	skew_reserve = 0;
	assert_int_equal(ktrace_cpu_online(cpu), KTRACE_OK);
}

/* For each turn: what its CPU's clock showed before and after the turn was recorded. */
static uint64_t before[TURNS], after[TURNS];

/* Records the next turn if it is this CPU's turn. */
static void take_turn_if_due(uint32_t cpu)
{
	uint64_t begun = now_ns();

	if (turn % CPUS != cpu || turn >= TURNS)
		return;
	while (now_ns() - begun < APART_NS)
		;
	before[turn] = as_counted(now_ns(), cpu);
	KTRACE(test, turn, turn);
	after[turn] = as_counted(now_ns(), cpu);
	turn++;
}

static void *serve(void *unused)
{
	(void)unused;
	online(0);
	serving = 1;
	while (!over) {
		ktrace_clock_serve();
		take_turn_if_due(0);
		sched_yield();
	}
	return NULL;
}

/* Measures once. On a machine with one processor, both threads rarely run at the same time. */
static bool measure_once(void)
{
	for (uint32_t i = 0; i < ATTEMPTS; i++) {
		if (ktrace_clock_measure() == KTRACE_OK)
			return true;
		sched_yield();
	}
	return false;
}

static void *measure_and_record(void *cpu)
{
	online(*(const uint32_t *)cpu);
	while (turn < TURNS) {
		if (turn % 60 == skew_cpu)
			measure_once();
		take_turn_if_due(skew_cpu);
		sched_yield();
	}
	measure_once();
	return NULL;
}

static void run_all(void)
{
	static const uint32_t number[CPUS] = { 0, 1, 2 };
	pthread_t thread[CPUS];

	assert_int_equal(pthread_create(&thread[0], NULL, serve, NULL), 0);
	while (!serving)
		sched_yield();
	for (uint32_t i = 1; i < CPUS; i++)
		assert_int_equal(
			pthread_create(&thread[i], NULL, measure_and_record, (void *)(uintptr_t)&number[i]),
			0);
	for (uint32_t i = 1; i < CPUS; i++)
		pthread_join(thread[i], NULL);
	over = true;
	pthread_join(thread[0], NULL);
}

/* Returns the true offset of a clock when it shows `stamp`. */
static int64_t true_offset(uint32_t cpu, uint64_t stamp)
{
	uint64_t low = stamp - UINT64_C(100000000000), high = stamp + UINT64_C(100000000000);

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (as_counted(middle, cpu) < stamp)
			low = middle + 1;
		else
			high = middle;
	}
	return (int64_t)(as_counted(low, 0) - stamp);
}

static void check_rows(void)
{
	for (uint32_t cpu = 1; cpu < CPUS; cpu++) {
		assert_true(clock_of(cpu)->measured > 0);
		assert_in_range(clock_of(cpu)->samples, 1, KTRX_CLOCK_SAMPLES);
		for (uint32_t i = 0; i < clock_of(cpu)->samples; i++) {
			const struct ktrx_clock_sample *sample = &clock_of(cpu)->sample[i];
			int64_t wrong = sample->offset - true_offset(cpu, sample->stamp);

			assert_int_equal(sample->check, ktrx_clock_check(sample));
			assert_true(i == 0 || sample->stamp > sample[-1].stamp);
			assert_true(llabs(wrong) <= (int64_t)sample->error + 1);
		}
		assert_int_equal(ktrace_clock_offset(cpu),
				 clock_of(cpu)->sample[clock_of(cpu)->samples - 1].offset);
	}
}

static struct ktread *open_dump(int raw)
{
	const struct ktread_options options = { .size = sizeof(options), .raw_clock = raw };
	char path[] = "/tmp/ktrace-clock-XXXXXX";
	struct ktread *trace;
	size_t used;
	int file = mkstemp(path);

	assert_true(file >= 0);
	assert_int_equal(ktrace_snapshot(dump, sizeof(dump), &used), KTRACE_OK);
	assert_int_equal(write(file, dump, used), (ssize_t)used);
	close(file);
	assert_int_equal(ktread_open(&trace, path, &options), 0);
	unlink(path);
	return trace;
}

/*
 * Returns the stated error of a corrected timestamp. The error is greater for times further away from the
 * measured period.
 */
static uint64_t error_at(const struct ktread_info *info, uint64_t stamp)
{
	uint64_t outside = stamp < info->clock_from ? info->clock_from - stamp
			   : stamp > info->clock_to ? stamp - info->clock_to
						    : 0;

	return info->clock_error + (uint64_t)((unsigned __int128)outside * info->clock_drift / 1000000000);
}

/*
 * Counts the turns that are out of order. A turn is out of order if its timestamp is earlier than that of the
 * previous turn, by more than the stated errors of both clocks. Also checks that the timestamps of each ring
 * never decrease.
 */
static uint32_t count_disorder(void)
{
	static uint64_t stamp[TURNS];
	struct ktread *trace = open_dump(0);
	const struct ktread_info *info = ktread_info(trace);
	const struct ktread_event *event;
	uint64_t last[CPUS + 1] = { 0 };
	uint32_t seen = 0, wrong = 0;

	while (ktread_next(trace, &event) > 0) {
		struct ktread_value value;

		assert_int_equal(ktread_value(event, 0, &value), 0);
		assert_true(event->stamp >= last[event->ring]);
		last[event->ring] = event->stamp;
		assert_true(value.number < TURNS);
		stamp[value.number] = event->stamp;
		seen++;
	}
	assert_int_equal(seen, TURNS);
	for (uint32_t i = 1; i < TURNS; i++)
		wrong += stamp[i] + error_at(info, stamp[i]) + error_at(info, stamp[i - 1]) < stamp[i - 1];
	assert_int_equal(info->clock, KTREAD_CLOCK_MEASURED);
	assert_true(info->clock_error > 0);
	assert_true(info->clock_measured >= info->clock_samples);
	ktread_close(trace);
	return wrong;
}

/* Checks that without correction each timestamp is what its CPU's clock showed. */
static void check_raw_stamps(void)
{
	struct ktread *trace = open_dump(1);
	const struct ktread_event *event;
	uint32_t seen = 0;

	for (; ktread_next(trace, &event) > 0; seen++) {
		struct ktread_value value;

		assert_int_equal(ktread_value(event, 0, &value), 0);
		assert_true(value.number < TURNS);
		assert_in_range(event->stamp, before[value.number], after[value.number]);
	}
	assert_int_equal(seen, TURNS);
	assert_int_equal(ktread_info(trace)->clock, KTREAD_CLOCK_RAW);
	ktread_close(trace);
}

static void expect_measured_offsets(int64_t ahead, int64_t ppm)
{
	set_up(KTRACE_CLOCKS_ASKED);
	skew[1].ahead = ahead;
	skew[2].ahead = -ahead;
	skew[1].ppm = ppm;
	skew[2].ppm = -ppm;
	run_all();
	check_rows();
	assert_int_equal(count_disorder(), 0);
	check_raw_stamps();
}

static void clocks_that_agree_are_measured(void **state)
{
	(void)state;
	expect_measured_offsets(0, 0);
}

static void an_offset_of_1_us_is_measured(void **state)
{
	(void)state;
	expect_measured_offsets(1000, 0);
}

static void an_offset_of_100_us_is_measured(void **state)
{
	(void)state;
	expect_measured_offsets(100000, 0);
}

static void an_offset_of_10_ms_with_drift_is_measured(void **state)
{
	(void)state;
	expect_measured_offsets(10000000, 100);
}

static void *serve_in_pieces(void *unused)
{
	(void)unused;
	online(0);
	serving = 1;
	while (!over) {
		ktrace_clock_serve();
		sched_yield();
	}
	return NULL;
}

static void *measure_in_pieces(void *result)
{
	online(1);
	for (uint32_t i = 0; i < ATTEMPTS && !over; i++) {
		answers_left = 4; /* CPU 0 gives three answers and then stops */
		if (ktrace_clock_measure() == KTRACE_OK)
			over = true;
		attempt++;
	}
	*(bool *)result = over;
	over = true;
	return NULL;
}

/* CPU 0 answers only three of the sixteen round trips of each measurement. */
static void answered_round_trips_count_if_cpu_0_stops_answering(void **state)
{
	pthread_t thread[2];
	bool measured = false;

	(void)state;
	set_up(KTRACE_CLOCKS_ASKED);
	skew[1].ahead = 5000000;
	pthread_create(&thread[0], NULL, serve_in_pieces, NULL);
	while (!serving)
		sched_yield();
	pthread_create(&thread[1], NULL, measure_in_pieces, &measured);
	pthread_join(thread[1], NULL);
	answers_left = 0;
	attempt++;
	pthread_join(thread[0], NULL);
	assert_true(measured);
	assert_int_equal(clock_of(1)->samples, 1);
	assert_in_range(llabs(clock_of(1)->sample[0].offset + 5000000), 0, clock_of(1)->sample[0].error);
}

/*
 * Acts as CPU 0: holds a spinlock with interrupts disabled until CPU 1 has tried to measure. CPU 0
 * answers no request in this time.
 */
static void *hold(void *unused)
{
	(void)unused;
	online(0);
	held = 1;
	while (!done)
		sched_yield();
	held = 0;
	return NULL;
}

static void *measure_then_lock(void *unused)
{
	(void)unused;
	online(1);
	assert_int_equal(ktrace_clock_measure(), KTRACE_ERROR_BUSY);
	done = 1;
	while (held)
		sched_yield();
	return NULL;
}

static void measuring_does_not_wait_for_a_spinlock_holder(void **state)
{
	pthread_t holder, other;

	(void)state;
	set_up(KTRACE_CLOCKS_ASKED);
	held = done = 0;
	assert_int_equal(pthread_create(&holder, NULL, hold, NULL), 0);
	while (!held)
		sched_yield();
	assert_int_equal(pthread_create(&other, NULL, measure_then_lock, NULL), 0);
	pthread_join(other, NULL);
	pthread_join(holder, NULL);
	assert_int_equal(clock_of(1)->failed, 1);
	assert_int_equal(clock_of(1)->measured, 0);
}

/* An answer after the request has ended, or without any request, has no effect. */
static void serve_without_a_request_returns_at_once(void **state)
{
	(void)state;
	set_up(KTRACE_CLOCKS_ASKED);
	assert_int_equal(ktrace_clock_measure(), KTRACE_ERROR_STATE);
	online(0);
	assert_int_equal(ktrace_clock_measure(), KTRACE_OK);
	ktrace_clock_serve();
	assert_int_equal(clock_of(0)->measured, 0);
	assert_int_equal(ktrace_clock_offset(0), 0);
	assert_int_equal(ktrace_clock_offset(CPUS), 0);
	skew_reserve = 0;
}

static void *many_times(void *unused)
{
	(void)unused;
	online(1);
	for (uint32_t i = 0; i < 150; i++)
		assert_true(measure_once());
	over = true;
	return NULL;
}

static void history_is_thinned(void **state)
{
	pthread_t server, other;

	(void)state;
	set_up(KTRACE_CLOCKS_ASKED);
	skew[1].ahead = 5000000;
	turn = TURNS;
	assert_int_equal(pthread_create(&server, NULL, serve, NULL), 0);
	while (!serving)
		sched_yield();
	assert_int_equal(pthread_create(&other, NULL, many_times, NULL), 0);
	pthread_join(other, NULL);
	pthread_join(server, NULL);
	assert_int_equal(clock_of(1)->measured, 150);
	assert_int_equal(clock_of(1)->spacing, 8);
	assert_in_range(clock_of(1)->samples, KTRX_CLOCK_SAMPLES / 2, KTRX_CLOCK_SAMPLES);
	for (uint32_t i = 1; i < clock_of(1)->samples; i++)
		assert_true(clock_of(1)->sample[i].stamp > clock_of(1)->sample[i - 1].stamp);
	assert_int_equal(clock_of(1)->sample[clock_of(1)->samples - 1].offset, ktrace_clock_offset(1));
}

/* The test sets the time, so that time passes only when the test advances it. */
static void *beat(void *unused)
{
	uint64_t first;

	(void)unused;
	online(1);
	set_time = now_ns();
	for (uint32_t i = 0; i < 100; i++)
		ktrace_heartbeat(0);
	assert_int_equal(clock_of(1)->measured + clock_of(1)->failed, 0);
	assert_int_equal(ktrace_setting_set("debug.ktr.resynchronize=1"), KTRACE_OK);
	for (; clock_of(1)->measured == 0; set_time = clock_of(1)->due)
		ktrace_heartbeat(0);
	first = clock_of(1)->due;
	set_time = first - 1;
	ktrace_heartbeat(0);
	assert_int_equal(clock_of(1)->measured, 1);
	assert_true(clock_of(1)->due == first); /* the clock was not measured again, because it was not due */
	for (set_time = first; clock_of(1)->measured == 1; set_time = clock_of(1)->due)
		ktrace_heartbeat(0);
	assert_true(clock_of(1)->sample[1].stamp >= first);
	assert_int_equal(ktrace_setting_set("debug.ktr.resynchronize=0"), KTRACE_OK);
	over = true;
	return NULL;
}

static void heartbeat_measures_while_resynchronize_is_set(void **state)
{
	pthread_t server, other;

	(void)state;
	set_up(KTRACE_CLOCKS_ASKED);
	turn = TURNS;
	assert_int_equal(pthread_create(&server, NULL, serve, NULL), 0);
	while (!serving)
		sched_yield();
	assert_int_equal(pthread_create(&other, NULL, beat, NULL), 0);
	pthread_join(other, NULL);
	pthread_join(server, NULL);
	set_time = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_that_agree_are_measured),
		cmocka_unit_test(an_offset_of_1_us_is_measured),
		cmocka_unit_test(an_offset_of_100_us_is_measured),
		cmocka_unit_test(an_offset_of_10_ms_with_drift_is_measured),
		cmocka_unit_test(answered_round_trips_count_if_cpu_0_stops_answering),
		cmocka_unit_test(measuring_does_not_wait_for_a_spinlock_holder),
		cmocka_unit_test(serve_without_a_request_returns_at_once),
		cmocka_unit_test(history_is_thinned),
		cmocka_unit_test(heartbeat_measures_while_resynchronize_is_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
