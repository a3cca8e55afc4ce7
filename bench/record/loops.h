/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Shared by the timed loops: their arguments, and arithmetic work that does not depend on the event. */
#ifndef BENCH_LOOPS_H
#define BENCH_LOOPS_H

#include <stdint.h>

/* Five 64-bit values computed from the loop count; every variant uses the same values. */
#define FIVE_ARGUMENTS(i) \
	(uint32_t)(i), (uint32_t)((i)*5), (uint32_t)((i) ^ 0x3c3c), (uint32_t)((i) + 11), (uint32_t)((i) >> 2)

/*
 * Eight independent chains of additions and similar instructions. They take about 9 ns per round, limited by
 * the throughput of the ALUs.
 */
#define BUSY_BEGIN(n) uint64_t r0 = (n), r1 = 1, r2 = 2, r3 = 3, r4 = 4, r5 = 5, r6 = 6, r7 = 7
#define BUSY_STEP                                             \
	"add $3, %0\n add $5, %1\n add $7, %2\n add $9, %3\n" \
	"lea 1(%4,%4), %4\n lea 1(%5,%5), %5\n xor $11, %6\n xor $13, %7\n"
#define BUSY_STEPS_5 BUSY_STEP BUSY_STEP BUSY_STEP BUSY_STEP BUSY_STEP
#define BUSY_WORK()                                                                       \
	__asm__ volatile(BUSY_STEPS_5 BUSY_STEPS_5 BUSY_STEPS_5 BUSY_STEPS_5 BUSY_STEPS_5 \
			 : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7))

#define EIGHT_TIMES(x)          \
	{                       \
		x x x x x x x x \
	}

#define SITE_NAME(loop)	  SITE_NAME_(SITE_PREFIX, loop)
#define SITE_NAME_(a, b)  SITE_NAME__(a, b)
#define SITE_NAME__(a, b) a##_##b

/* Declares the loops of one variant of sites.c. */
#define SITE_LOOPS(prefix)                     \
	void prefix##_tight(uint64_t n);       \
	void prefix##_busy(uint64_t n);        \
	void prefix##_call_tight(uint64_t n);  \
	void prefix##_call_busy(uint64_t n);   \
	void prefix##_eight_tight(uint64_t n); \
	void prefix##_eight_busy(uint64_t n)
SITE_LOOPS(record);
SITE_LOOPS(checked);
SITE_LOOPS(no_clock);

#endif
