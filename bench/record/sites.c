/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The timed loops around an event, compiled three times: unchanged; without the clock (BENCH_NO_CLOCK); and
 * with a check that a pinned port omits (BENCH_CHECKED). The check finds out whether another writer has
 * overtaken this writer in its ring.
 */
#include <ktrace/ktrace.h>

#include "loops.h"

KTRACE_EVENT(bench, five, "%u %u %u %u %u", (uint32_t, a), (uint32_t, b), (uint32_t, c), (uint32_t, d),
	     (uint32_t, e));

KTRACE_EVENT(bench, call, "%u(%llx, %llx, %llx, %llx, %llx, %llx)", (uint16_t, number),
	     (unsigned long long, a), (unsigned long long, b), (unsigned long long, c),
	     (unsigned long long, d), (unsigned long long, e), (unsigned long long, f));

#define EVENT(i) KTRACE(bench, five, FIVE_ARGUMENTS(i))

void SITE_NAME(tight)(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		EVENT(i);
}

void SITE_NAME(busy)(uint64_t n)
{
	BUSY_BEGIN(n);

	for (uint64_t i = 0; i < n; i++) {
		BUSY_WORK();
		EVENT(i);
	}
}

/* Records an event that needs two slots: the number and the six arguments of a system call. */
void SITE_NAME(call_tight)(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		KTRACE(bench, call, (uint16_t)i, i, i + 1, i + 2, i + 3, i + 4, i + 5);
}

void SITE_NAME(call_busy)(uint64_t n)
{
	BUSY_BEGIN(n);

	for (uint64_t i = 0; i < n; i++) {
		BUSY_WORK();
		KTRACE(bench, call, (uint16_t)i, i, i + 1, i + 2, i + 3, i + 4, i + 5);
	}
}

/*
 * Eight trace points per round, to measure events that are off: the cost of a single trace point would be
 * hidden by the cost of the loop.
 */
void SITE_NAME(eight_tight)(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		EIGHT_TIMES(EVENT(i);)
}

void SITE_NAME(eight_busy)(uint64_t n)
{
	BUSY_BEGIN(n);

	for (uint64_t i = 0; i < n; i++) {
		BUSY_WORK();
		EIGHT_TIMES(EVENT(i);)
	}
}
