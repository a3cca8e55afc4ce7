/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests clock measurements if no two CPUs ever run at the same time, as on a host with one processor for all
 * virtual CPUs. The CPUs take turns of 10 ms. Each CPU has a clock that is wrong by up to 5 ms and drifts.
 * Time is simulated, so every run of the test is the same.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/core/state.h"
#include "ktrace/clock.h"
#include "ktrace/hooks.h"
#include "ktrace/settings.h"

#define CPUS	 3u
#define MS	 UINT64_C(1000000) /* ns */
#define TURN	 (10 * MS)
#define BEGUN	 (1000 * MS)
#define READ	 UINT64_C(50)	/* time, in ns, that reading the clock takes */
#define STEP	 UINT64_C(2000) /* time, in ns, that other work takes in each step of the simulation */
#define LONGEST	 (1 * MS)	/* maximum time, in ns, that a CPU may wait with interrupts disabled */
#define NO_HOOKS UINT64_MAX

__thread uint64_t skew_reserve;
__thread uint32_t skew_cpu;

static struct {
	int64_t ahead; /* ns */
	int64_t ppm;
	uint64_t step; /* the clock is set forward by this amount, in ns, at time `at` */
	uint64_t at;   /* time, in ns, at which the clock is set forward */
} skew[CPUS];

static _Alignas(64) unsigned char memory[1 << 20];
static uint64_t now, turn_end, end; /* ns */
static uint64_t tick, hook;	    /* time between two timer ticks, and between two hooks, in ns */
/* `shuffled`: state of the random generator that chooses the next CPU; 0 if turns have a fixed order */
static uint32_t running, cpus, shuffled;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static uint32_t next_turn(void)
{
	if (shuffled == 0)
		return (running + 1) % cpus;
	shuffled = shuffled * 1103515245u + 12345u;
	return (running + 1 + (shuffled >> 16) % (cpus - 1)) % cpus;
}

/* Ends the turn: other CPUs run until it is this CPU's turn again. */
static void change_turns(void)
{
	pthread_mutex_lock(&lock);
	running = next_turn();
	turn_end = now + TURN;
	pthread_cond_broadcast(&changed);
	while (running != skew_cpu)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static void pass(uint64_t ns)
{
	now += ns;
	if (now >= turn_end)
		change_turns();
}

static uint64_t as_counted(uint64_t ns, uint32_t cpu)
{
	return ns + (uint64_t)(skew[cpu].ahead + (int64_t)ns * skew[cpu].ppm / 1000000) +
	       (skew[cpu].at && ns >= skew[cpu].at ? skew[cpu].step : 0);
}

uint64_t skew_clock(void)
{
	uint64_t stamp = as_counted(now, skew_cpu);

	pass(READ);
	return stamp;
}

static const struct ktrx_clock *clock_of(uint32_t cpu)
{
	return (const struct ktrx_clock *)(uintptr_t)ktrace_root.section[KTRX_SECTION_CLOCKS - 1].address +
	       cpu;
}

/*
 * Checks that the error of the newest clock sample of a CPU is now within the sample's bound. Returns the
 * bound.
 */
static uint64_t check_newest(uint32_t cpu)
{
	const struct ktrx_clock_sample *sample = &clock_of(cpu)->sample[clock_of(cpu)->samples - 1];
	int64_t wrong;

	if (clock_of(cpu)->samples == 0)
		return UINT64_MAX;
	assert_int_equal(sample->check, ktrx_clock_check(sample));
	wrong = sample->offset - (int64_t)(as_counted(now, 0) - as_counted(now, cpu));
	/* allows for the drift since the sample, which may be several turns old */
	assert_in_range(llabs(wrong), 0,
			sample->error + (as_counted(now, cpu) - sample->stamp) / 1000 + 2 * READ);
	return sample->error;
}

static void *run(void *cpu)
{
	uint64_t beat = BEGUN, hooked = BEGUN;

	skew_cpu = (uint32_t)(uintptr_t)cpu;
	skew_reserve = 0;
	pthread_mutex_lock(&lock);
	while (running != skew_cpu)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	assert_int_equal(ktrace_cpu_online(skew_cpu), KTRACE_OK);
	while (now < end) {
		if (hook != NO_HOOKS && now - hooked >= hook) {
			hooked = now;
			ktrace_irq_enter(1);
			ktrace_irq_exit(1);
		}
		if (now - beat >= tick) {
			uint64_t before = now;

			beat = now;
			ktrace_heartbeat(0);
			assert_in_range(now - before, 0, LONGEST + CPUS * TURN);
		}
		pass(STEP);
	}
	/* Gives the turn to another thread, so that this thread can end. */
	pthread_mutex_lock(&lock);
	shuffled = 0;
	running = next_turn();
	turn_end = UINT64_MAX;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void set_up(uint32_t clocks)
{
	const struct ktrace_memory lent = { memory, sizeof(memory) };
	const struct ktrace_config config = {
		.size = sizeof(config),
		.cpus = CPUS,
		.slots = 512,
		.blocks = 1,
		.memory = &lent,
		.clocks = clocks,
	};

	ktrace_state.initialised = 0; /* the value of this field when the machine starts */
	now = BEGUN;
	turn_end = UINT64_MAX;
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	memset(skew, 0, sizeof(skew));
	for (uint32_t cpu = 1; cpu < CPUS; cpu++) {
		skew[cpu].ahead = cpu % 2 ? (int64_t)(5 * MS) : -(int64_t)(5 * MS);
		skew[cpu].ppm = cpu % 2 ? 100 : -200;
	}
}

/* Runs `count` CPUs that have timer ticks and call hooks at the given intervals. */
static void run_all(uint32_t count, uint64_t tick_ns, uint64_t hook_ns, uint64_t ns)
{
	pthread_t thread[CPUS];

	cpus = count;
	tick = tick_ns;
	hook = hook_ns;
	running = 0;
	end = now + ns;
	turn_end = now + TURN;
	for (uint32_t i = 0; i < cpus; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, run, (void *)(uintptr_t)i), 0);
	for (uint32_t i = 0; i < cpus; i++)
		pthread_join(thread[i], NULL);
}

static void all_are_measured_to(uint64_t error)
{
	for (uint32_t cpu = 1; cpu < cpus; cpu++) {
		assert_true(clock_of(cpu)->measured > 0);
		assert_in_range(check_newest(cpu), 1, error);
		assert_int_equal(ktrace_clock_offset(cpu),
				 clock_of(cpu)->sample[clock_of(cpu)->samples - 1].offset);
	}
}

static void measure(uint32_t count, uint64_t tick_ns, uint64_t hook_ns)
{
	assert_int_equal(ktrace_setting_set("debug.ktr.resynchronize=1"), KTRACE_OK);
	run_all(count, tick_ns, hook_ns, 1000 * MS);
	assert_int_equal(ktrace_setting_set("debug.ktr.resynchronize=0"), KTRACE_OK);
}

/*
 * A CPU sees timestamps of the other CPU that are up to one tick old. A drift of 500 ppm adds 0.5 ms to a
 * bound that is one second old.
 */
static void ticks_bound_the_clocks_of_two_cpus_that_take_turns(void **state)
{
	(void)state;
	set_up(KTRACE_CLOCKS_ASKED);
	measure(2, 1 * MS, NO_HOOKS);
	all_are_measured_to(1 * MS + MS / 2);
}

/*
 * Turns have a fixed order. A CPU's timestamp reaches the next CPU without delay. In the opposite direction,
 * the third CPU runs in between, so the timestamp arrives one turn late. Therefore the error is half of a
 * turn.
 */
static void three_cpus_in_a_fixed_order_are_bounded_by_a_turn(void **state)
{
	(void)state;
	set_up(KTRACE_CLOCKS_ASKED);
	measure(3, 1 * MS, NO_HOOKS);
	all_are_measured_to(TURN / 2 + 1 * MS + MS / 2);
}

static void three_cpus_in_any_order_are_bounded_by_a_tick(void **state)
{
	(void)state;
	set_up(KTRACE_CLOCKS_ASKED);
	shuffled = 1;
	measure(3, 1 * MS, NO_HOOKS);
	all_are_measured_to(1 * MS + MS / 2);
}

/* There is only one tick per turn, but hooks exchange timestamps between the ticks. */
static void stamps_of_hooks_bound_the_clocks(void **state)
{
	(void)state;
	set_up(KTRACE_CLOCKS_ASKED);
	measure(2, 10 * MS, MS / 10);
	all_are_measured_to(MS / 10 + MS / 2);
}

static void an_online_cpu_is_measured_once_by_itself(void **state)
{
	(void)state;
	set_up(KTRACE_CLOCKS_ONLINE);
	run_all(2, 1 * MS, NO_HOOKS, 5000 * MS);
	assert_true(clock_of(1)->measured > 0);
	assert_in_range(clock_of(1)->measured + clock_of(1)->failed, 1, 64);
}

/*
 * The bounds that were measured before the clock was set contradict the bounds that were measured after it.
 */
static void a_clock_that_was_set_is_measured_again(void **state)
{
	(void)state;
	set_up(KTRACE_CLOCKS_ASKED);
	skew[1].step = 50 * MS;
	skew[1].at = BEGUN + 500 * MS;
	measure(2, 1 * MS, NO_HOOKS);
	all_are_measured_to(1 * MS + MS / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_bound_the_clocks_of_two_cpus_that_take_turns),
		cmocka_unit_test(three_cpus_in_a_fixed_order_are_bounded_by_a_turn),
		cmocka_unit_test(three_cpus_in_any_order_are_bounded_by_a_tick),
		cmocka_unit_test(stamps_of_hooks_bound_the_clocks),
		cmocka_unit_test(an_online_cpu_is_measured_once_by_itself),
		cmocka_unit_test(a_clock_that_was_set_is_measured_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
