/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests which gap is the first one in a time, on a CPU and on any CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/scheduling.h"
#include "ktrx/v2.h"
#include "unit/support/random.h"
#include "unit/support/script.h"

/* Ring 1 belongs to the CPU with the number HIGH. */
enum { NOTE = 1, EVENTS = 400, SHARED = 3, HIGH = GAPS_CPUS_MAX + 7 };

struct known {
	uint64_t from, to;
	uint32_t cpu; /* GAPS_ANYWHERE: a gap of the shared ring */
};

static struct known known[EVENTS + SCRIPT_RINGS];
static unsigned knowns;

/*
 * Makes a trace in which slots are missing before some events. The end of ring 2 is missing from its first
 * event on.
 */
static void make_trace(uint64_t *random)
{
	uint64_t seen[SCRIPT_RINGS] = { 0 };

	knowns = 0;
	script_begin(2);
	script_type(NOTE, "user", "note", "");
	script_ring(SHARED)->kind = KTRX_RING_SHARED;
	script_ring(SHARED)->cpu = KTRX_NO_CPU;
	script_ring(1)->cpu = HIGH;
	script_ring(2)->invalid = 4;
	for (uint64_t stamp = 10; stamp < EVENTS * 10; stamp += 10) {
		const uint32_t ring = stamp == 10 ? 2 : random_below(random, SCRIPT_RINGS);
		const uint32_t cpu = ring == 1 || ring == SHARED ? HIGH : ring;
		struct ktread_event *event;

		if (ring == 2 && stamp > 10)
			continue;
		event = script_event(NOTE, stamp, cpu, 7);
		event->ring = ring;
		if (seen[ring] && random_below(random, 4) == 0) {
			event->lost = 1;
			known[knowns++] =
				(struct known){ seen[ring], stamp, ring == SHARED ? GAPS_ANYWHERE : cpu };
		}
		seen[ring] = stamp;
	}
	known[knowns++] = (struct known){ 10, UINT64_MAX, 2 };
}

/* Returns the same as gaps_first(), by looking at all gaps. */
static uint64_t first_of(uint32_t cpu, uint64_t from, uint64_t to)
{
	uint64_t first = UINT64_MAX;

	for (unsigned n = 0; n < knowns; n++) {
		const bool counts =
			cpu == GAPS_ANYWHERE || known[n].cpu == cpu || known[n].cpu == GAPS_ANYWHERE;
		const uint64_t begin = known[n].from > from ? known[n].from : from;

		if (counts && known[n].to > from && known[n].from < to && begin < first)
			first = begin;
	}
	return first;
}

static void the_first_gap_is_found_among_many(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (unsigned round = 0; round < 20; round++) {
		struct gaps *gaps;

		make_trace(&random);
		assert_int_equal(gaps_read(&gaps, script_trace()), 0);
		for (unsigned query = 0; query < 1000; query++) {
			static const uint32_t cpus[] = { 0, HIGH, 2, 77, GAPS_ANYWHERE };
			const uint32_t cpu = cpus[random_below(&random, 5)];
			const uint64_t from = random_below(&random, EVENTS * 10);
			const uint64_t to = from + random_below(&random, 300);

			assert_int_equal(gaps_first(gaps, cpu, from, to), first_of(cpu, from, to));
		}
		gaps_free(gaps);
		script_end();
	}
}

/* The same CPUs in increasing order of time, as gaps_between() requires. */
static void gaps_are_found_in_the_order_of_time(void **state)
{
	static const uint32_t cpus[] = { 0, HIGH, 2, 77, GAPS_ANYWHERE };
	uint64_t random = 2;
	struct gaps *gaps;

	(void)state;
	make_trace(&random);
	assert_int_equal(gaps_read(&gaps, script_trace()), 0);
	for (uint64_t to = 20; to < EVENTS * 10; to += 7) {
		const uint64_t from = to - random_below(&random, 20);

		for (unsigned n = 0; n < 5; n++)
			assert_int_equal(gaps_between(gaps, cpus[n], from, to),
					 first_of(cpus[n], from, to) != UINT64_MAX);
	}
	gaps_free(gaps);
	script_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_gap_is_found_among_many),
		cmocka_unit_test(gaps_are_found_in_the_order_of_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
