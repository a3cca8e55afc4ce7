/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The loops that are timed around an event, built three times: as it is, with the clock taken out
 * (BENCH_NO_CLOCK), and with the check for lapped writers that a pinned port leaves out (BENCH_CHECKED).
 */
#include <ktrace/ktrace.h>

#include "loops.h"

KTRACE_EVENT(bench, five, "%u %u %u %u %u", (uint32_t, a), (uint32_t, b), (uint32_t, c), (uint32_t, d),
	     (uint32_t, e));

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
