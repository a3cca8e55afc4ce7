/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "peers.h"

#include <ktrx/slot.h>

#include "loops.h"

#define SLOTS 8192u

struct slot {
	uint64_t stamp;
	uint32_t word[6];
} __attribute__((aligned(32)));

static __thread struct slot ring[SLOTS];
static __thread uint64_t plain_index;
static __thread uint64_t added_index;
static __thread uint32_t thread = 7;
static uint64_t shared_index;

static inline uint64_t counter(void)
{
	uint64_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return high << 32 | low;
}

static inline uint64_t ordered_counter(void)
{
	uint64_t low, high, cpu;

	__asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(cpu));
	return high << 32 | low;
}

static inline void store(volatile struct slot *slot, uint64_t stamp, uint32_t a, uint32_t b, uint32_t c,
			 uint32_t d, uint32_t e)
{
	slot->word[0] = 7;
	slot->word[1] = a;
	slot->word[2] = b;
	slot->word[3] = c;
	slot->word[4] = d;
	slot->word[5] = e;
	slot->stamp = stamp;
}

static inline void floor_record(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e)
{
	volatile uint64_t *index = &plain_index;
	uint64_t mine = *index;

	*index = mine + 1;
	store(&ring[mine % SLOTS], counter(), a, b, c, d, e);
}

static inline void locked_record(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e)
{
	uint64_t mine = __atomic_fetch_add(&shared_index, 1, __ATOMIC_RELAXED);

	store(&ring[mine % SLOTS], ordered_counter(), a, b, c, d, e);
}

/* The cheapest reservation that interrupts cannot break: one unlocked xadd. Does not read the counter. */
static inline void added_record(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e)
{
	uint64_t mine = 1;

	__asm__ volatile("xaddq %0, %1" : "+r"(mine), "+m"(added_index) : : "memory", "cc");
	store(&ring[mine % SLOTS], mine, a, b, c, d, e);
}

/*
 * Like added_record, but also computes a record's check value from the stored values, the thread and the
 * number of the lap.
 */
static inline void checked_record(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e)
{
	uint64_t mine = 1, check;

	__asm__ volatile("xaddq %0, %1" : "+r"(mine), "+m"(added_index) : : "memory", "cc");
	check = ktrx_check_first(a | (uint64_t)b << 32, c | (uint64_t)d << 32, e,
				 *(volatile uint32_t *)&thread, (uint32_t)(mine / SLOTS), 0);
	store(&ring[mine % SLOTS], mine + check, a, b, c, d, e);
}

static inline void counter_read(void)
{
	uint64_t stamp = counter();

	__asm__ volatile("" : : "r"(stamp));
}

static volatile uint8_t flag;

#define BARRIER() __asm__ volatile("" : : : "memory")

#define LOOPS(name, body)                          \
	void name##_tight(uint64_t n)              \
	{                                          \
		for (uint64_t i = 0; i < n; i++) { \
			body;                      \
		}                                  \
	}                                          \
	void name##_busy(uint64_t n)               \
	{                                          \
		BUSY_BEGIN(n);                     \
                                                   \
		for (uint64_t i = 0; i < n; i++) { \
			BUSY_WORK();               \
			body;                      \
		}                                  \
	}

LOOPS(empty, BARRIER())
LOOPS(counter, counter_read())
LOOPS(floor, floor_record(FIVE_ARGUMENTS(i)))
LOOPS(added, added_record(FIVE_ARGUMENTS(i)))
LOOPS(add_check, checked_record(FIVE_ARGUMENTS(i)))
LOOPS(locked, locked_record(FIVE_ARGUMENTS(i)))
LOOPS(branch, EIGHT_TIMES(if (__builtin_expect(flag, 0)) counter_read();))
