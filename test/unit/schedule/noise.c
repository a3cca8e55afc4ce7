/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the lengths of CPUs' time slices, and the hooks that end slices, which are drawn from a seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "schedule/parts.h"

#define DRAWS 1000u
#define CPUS  4u

/* Draws random values in the same order as the plugin: a CPU, and then the length of its slice. */
static void draw(struct noise *noise, unsigned *cpu, uint64_t *length)
{
	*cpu = noise_cpu(noise, CPUS);
	*length = noise_next(noise);
}

static void equal_seeds_give_equal_slices(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		const struct schedule_noise from = { .seed = seed };
		struct noise first, second;

		noise_begin(&first, &from);
		noise_begin(&second, &from);
		assert_int_equal(first.mean, second.mean);
		for (unsigned n = 0; n < DRAWS; n++) {
			unsigned cpu[2];
			uint64_t length[2];

			draw(&first, &cpu[0], &length[0]);
			draw(&second, &cpu[1], &length[1]);
			assert_int_equal(cpu[0], cpu[1]);
			assert_int_equal(length[0], length[1]);
		}
	}
}

static void different_seeds_give_different_slices(void **state)
{
	const struct schedule_noise from[2] = { { .seed = 1 }, { .seed = 2 } };
	struct noise first, second;
	unsigned same = 0;

	(void)state;
	noise_begin(&first, &from[0]);
	noise_begin(&second, &from[1]);
	for (unsigned n = 0; n < DRAWS; n++)
		same += noise_next(&first) == noise_next(&second);
	assert_in_range(same, 0, DRAWS / 10);
}

/* A seed must give the same slices in each version of ktrace. Otherwise, older traces cannot be repeated. */
static void slices_of_seed_1_never_change(void **state)
{
	static const struct {
		unsigned cpu;
		uint64_t length;
	} expected[8] = {
		{ 3, 56 }, { 0, 21 }, { 1, 54 }, { 2, 45 }, { 2, 57 }, { 2, 54 }, { 3, 45 }, { 1, 5502 },
	};
	const struct schedule_noise from = { .seed = 1 };
	struct noise noise;

	(void)state;
	noise_begin(&noise, &from);
	assert_int_equal(noise.mean, 4000);
	assert_int_equal(noise.bursts, 6);
	for (unsigned n = 0; n < sizeof(expected) / sizeof(expected[0]); n++) {
		unsigned cpu;
		uint64_t length;

		draw(&noise, &cpu, &length);
		assert_int_equal(cpu, expected[n].cpu);
		assert_int_equal(length, expected[n].length);
	}
}

static void mean_that_is_given_replaces_mean_of_seed(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		const struct schedule_noise from = { .seed = seed, .mean = 777 };
		struct noise noise;

		noise_begin(&noise, &from);
		assert_int_equal(noise.mean, 777);
		for (unsigned n = 0; n < DRAWS; n++)
			assert_in_range(noise_next(&noise), 1, 2 * 777);
	}
}

/*
 * If the user gives a mean length, it replaces the drawn mean. The mean is drawn nevertheless, so that the
 * seed chooses the same CPUs.
 */
static void mean_that_is_given_does_not_change_cpus(void **state)
{
	const struct schedule_noise from[2] = { { .seed = 5 }, { .seed = 5, .mean = 777 } };
	struct noise first, second;

	(void)state;
	noise_begin(&first, &from[0]);
	noise_begin(&second, &from[1]);
	for (unsigned n = 0; n < DRAWS; n++) {
		unsigned cpu[2];
		uint64_t length;

		draw(&first, &cpu[0], &length);
		draw(&second, &cpu[1], &length);
		assert_int_equal(cpu[0], cpu[1]);
	}
}

static void seed_0_has_no_slices(void **state)
{
	const struct schedule_noise from[2] = { { .seed = 0 }, { .seed = 0, .mean = 777 } };
	struct noise noise;

	(void)state;
	for (unsigned n = 0; n < 2; n++) {
		noise_begin(&noise, &from[n]);
		assert_int_equal(noise.mean, 0);
	}
}

static void means_of_seeds_cover_all_powers_of_two(void **state)
{
	uint64_t seen = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 500; seed++) {
		const struct schedule_noise from = { .seed = seed };
		struct noise noise;

		noise_begin(&noise, &from);
		assert_in_range(noise.mean, 2000, 256000);
		assert_int_equal(noise.mean % 1000, 0);
		assert_int_equal(noise.mean / 1000 & (noise.mean / 1000 - 1), 0);
		seen |= noise.mean / 1000;
	}
	assert_int_equal(seen, 510);
}

static void each_cpu_is_chosen(void **state)
{
	const struct schedule_noise from = { .seed = 3 };
	struct noise noise;
	unsigned chosen[CPUS] = { 0 };

	(void)state;
	noise_begin(&noise, &from);
	for (unsigned n = 0; n < DRAWS; n++)
		chosen[noise_cpu(&noise, CPUS)]++;
	for (unsigned n = 0; n < CPUS; n++)
		assert_in_range(chosen[n], DRAWS / CPUS / 2, DRAWS / CPUS * 2);
	assert_int_equal(noise_cpu(&noise, 1), 0);
}

/* ---- Hooks that end slices ----------------------------------------------------------------------- */

#define SEEDS 200u

static struct noise hooks_of(uint64_t seed, uint64_t mean)
{
	const struct schedule_noise from = { .seed = seed, .mean = mean, .kind = SCHEDULE_HOOKS };
	struct noise noise;

	noise_begin(&noise, &from);
	return noise;
}

static void equal_seeds_choose_equal_hooks(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct noise first = hooks_of(seed, 0), second = hooks_of(seed, 0);

		for (unsigned n = 0; n < DRAWS; n++) {
			uint64_t after[2];

			assert_int_equal(noise_hook(&first, &after[0]), noise_hook(&second, &after[1]));
			assert_int_equal(after[0], after[1]);
			assert_int_equal(noise_delay(&first), noise_delay(&second));
		}
	}
}

/* A run in which other hooks occur still draws the same CPUs. */
static void hooks_do_not_change_cpus(void **state)
{
	struct noise first = hooks_of(5, 0), second = hooks_of(5, 0);
	uint64_t after;

	(void)state;
	for (unsigned n = 0; n < DRAWS; n++) {
		noise_hook(&first, &after);
		assert_int_equal(noise_cpu(&first, CPUS), noise_cpu(&second, CPUS));
	}
}

/* A seed must choose the same hooks in each version of ktrace. Otherwise, older traces cannot be repeated. */
static void hooks_of_seed_1_never_change(void **state)
{
	static const struct {
		unsigned chosen; /* number of the hook, from 0, that ends a slice */
		uint64_t after, delay;
	} expected[] = { { 13, 577, 23863 },
			 { 39, 1017, 8556 },
			 { 46, 880, 29331 },
			 { 48, 663, 4676 },
			 { 49, 480, 6708 } };
	struct noise noise = hooks_of(1, 0);
	unsigned hook = 0;

	(void)state;
	for (unsigned n = 0; n < sizeof(expected) / sizeof(expected[0]); n++) {
		uint64_t after;

		while (!noise_hook(&noise, &after))
			hook++;
		assert_int_equal(hook++, expected[n].chosen);
		assert_int_equal(after, expected[n].after);
		assert_int_equal(noise_delay(&noise), expected[n].delay);
	}
}

static void seeds_differ_in_how_many_hooks_they_choose(void **state)
{
	unsigned all = 0, few = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct noise noise = hooks_of(seed, 0);
		unsigned chosen = 0;
		uint64_t after;

		for (unsigned n = 0; n < DRAWS; n++)
			chosen += noise_hook(&noise, &after);
		assert_in_range(chosen, 1, DRAWS);
		all += chosen == DRAWS;
		few += chosen < DRAWS / 32;
	}
	assert_in_range(all, SEEDS / 20, SEEDS / 4);
	assert_in_range(few, SEEDS / 20, SEEDS / 2);
}

static void seeds_differ_in_distances_from_the_hook(void **state)
{
	unsigned none = 0, far = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct noise noise = hooks_of(seed, 0);
		uint64_t greatest = 0;

		for (unsigned n = 0; n < DRAWS; n++) {
			uint64_t after;

			noise_hook(&noise, &after);
			greatest = after > greatest ? after : greatest;
		}
		assert_in_range(greatest, 0, 1023);
		none += greatest == 0;
		far += greatest > 512;
	}
	assert_in_range(none, SEEDS / 20, SEEDS / 3);
	assert_in_range(far, SEEDS / 20, SEEDS / 3);
}

static void mean_that_is_given_is_that_of_delays(void **state)
{
	struct noise noise = hooks_of(5, 777);

	(void)state;
	assert_int_equal(noise.mean, 777);
	for (unsigned n = 0; n < DRAWS; n++)
		assert_in_range(noise_delay(&noise), 1, 2 * 777);
}

static void kinds_decide_what_ends_slices(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed <= 4; seed++)
		for (uint64_t kind = SCHEDULE_TIMERS; kind <= SCHEDULE_BOTH; kind++) {
			const struct schedule_noise from = { .seed = seed, .kind = kind };
			const bool hooks = seed != 0 && (kind == SCHEDULE_HOOKS ||
							 (kind == SCHEDULE_BOTH && seed % 2 == 0));
			struct noise noise;

			noise_begin(&noise, &from);
			assert_int_equal(noise.has_hooks, hooks);
			assert_int_equal(noise.has_slices, seed != 0 && !hooks);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_seeds_give_equal_slices),
		cmocka_unit_test(different_seeds_give_different_slices),
		cmocka_unit_test(slices_of_seed_1_never_change),
		cmocka_unit_test(mean_that_is_given_replaces_mean_of_seed),
		cmocka_unit_test(mean_that_is_given_does_not_change_cpus),
		cmocka_unit_test(seed_0_has_no_slices),
		cmocka_unit_test(means_of_seeds_cover_all_powers_of_two),
		cmocka_unit_test(each_cpu_is_chosen),
		cmocka_unit_test(equal_seeds_choose_equal_hooks),
		cmocka_unit_test(hooks_do_not_change_cpus),
		cmocka_unit_test(hooks_of_seed_1_never_change),
		cmocka_unit_test(seeds_differ_in_how_many_hooks_they_choose),
		cmocka_unit_test(seeds_differ_in_distances_from_the_hook),
		cmocka_unit_test(mean_that_is_given_is_that_of_delays),
		cmocka_unit_test(kinds_decide_what_ends_slices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
