/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Two threads record at full speed. Two types of signals interrupt these threads, and also each other's
 * handlers. A third thread reads. Every record that the reader returns must have been written, and each slot
 * must be counted.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "kernel/core/state.h"
#include "test/fake/checker.h"

#define WORKERS	   2
#define SLOTS	   4096u
#define RUN_MS	   1000
#define BOOT_ROUND 300000u

KTRACE_EVENT(test, pair, "%llu %llu", (unsigned long long, number), (unsigned long long, complement));
KTRACE_EVENT(test, long, "%llu %llu %llu", (unsigned long long, number), (unsigned long long, triple),
	     (unsigned long long, complement));

__thread uint64_t threads_reserve;
__thread uint32_t threads_cpu;

static atomic_bool running;
static atomic_uint online;
static atomic_ullong slots_written[WORKERS];
static atomic_ullong handled;

static void record_pair(void)
{
	static __thread volatile uint64_t n;
	uint64_t number = ++n;

	KTRACE(test, pair, number, ~number);
	slots_written[threads_cpu] += 1;
}

static void record_long(void)
{
	static __thread volatile uint64_t n;
	uint64_t number = ++n;

	KTRACE(test, long, number, number * 3, ~number);
	slots_written[threads_cpu] += 2;
}

static void interrupt(int signal)
{
	signal == SIGUSR1 ? record_pair() : record_long();
	handled++;
}

static bool genuine_pair(const uint8_t *payload)
{
	uint64_t words[2];

	memcpy(words, payload, sizeof(words));
	return words[0] == ~words[1];
}

static bool genuine_long(const uint8_t *payload)
{
	uint64_t words[3];

	memcpy(words, payload, sizeof(words));
	return words[0] * 3 == words[1] && words[0] == ~words[2];
}

static const struct checked_ring *verified_ring(uint32_t ring)
{
	const struct checked_ring *checked = check_ring(ring);

	assert_int_equal(checked->produced, checked->overwritten + checked->decoded + checked->invalid);
	for (uint32_t i = 0; i < checked->records; i++) {
		const struct checked_record *record = &checked->record[i];
		const uint8_t *payload = record->payload + (record->extended ? 4 : 0);
		uint32_t pair = ktrace_event_test_pair.event.id;

		assert_true(record->event == pair ? genuine_pair(payload) : genuine_long(payload));
	}
	return checked;
}

static void *work(void *argument)
{
	threads_cpu = *(const uint32_t *)argument;
	assert_int_equal(ktrace_cpu_online(threads_cpu), KTRACE_OK);
	online++;
	while (running) {
		record_pair();
		record_pair();
		record_long();
	}
	return NULL;
}

/*
 * Copies a slot as a reader of a running kernel does: copies the slot, then reads the head again. Returns
 * false if the slot was overwritten.
 */
static bool slot_copied(const struct ktrx_ring *ring, uint64_t index, uint64_t words[4])
{
	const volatile uint64_t *slot = (const volatile uint64_t *)(uintptr_t)ring->base + index % SLOTS * 4;

	for (uint32_t i = 0; i < 4; i++)
		words[i] = slot[i];
	atomic_thread_fence(memory_order_acquire);
	return KTRX_WORD_INDEX(*(const volatile uint64_t *)(uintptr_t)ring->head) - index <= SLOTS;
}

/*
 * Reads records of one slot, alternately among the ring's oldest and newest records, while other threads
 * write.
 */
static uint64_t read_along(const struct ktrx_ring *ring)
{
	uint64_t head = KTRX_WORD_INDEX(*(const volatile uint64_t *)(uintptr_t)ring->head);
	uint64_t oldest = head - ring->first > SLOTS ? head - SLOTS : ring->first;
	uint64_t shown = 0;

	for (uint64_t i = 0; i < 64 && oldest + i < head; i++) {
		uint64_t index = i % 2 ? oldest + i : head - 1 - i / 2;
		uint64_t words[4];
		uint8_t payload[16];

		if (!slot_copied(ring, index, words) || KTRX_TAG_KIND(words[0]) != KTRX_KIND_SINGLE)
			continue;
		if (KTRX_TAG_GENERATION(words[0]) != (index / SLOTS & 0xff) || KTRX_W0_EVENT(words[0]) == 0 ||
		    !ktrx_first_is_checked(words, ktrx_lap(ring->cpu + 1, index, ring->shift), 0))
			continue;
		memcpy(payload, (const uint8_t *)words + 12, sizeof(payload));
		assert_true(genuine_pair(payload));
		shown++;
	}
	return shown;
}

static uint64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void *boot_work(void *argument)
{
	threads_cpu = *(const uint32_t *)argument;
	for (uint32_t i = 0; i < BOOT_ROUND; i++)
		i % 4 ? record_pair() : record_long();
	return NULL;
}

static void run(pthread_t *threads, void *(*body)(void *))
{
	static const uint32_t cpus[WORKERS] = { 0, 1 };

	for (uint32_t i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, body, (void *)(uintptr_t)&cpus[i]), 0);
}

static void join(const pthread_t *threads)
{
	for (uint32_t i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
}

/*
 * The boot ring is so small that preempted writers are delayed by a lap. The slots of these writers are
 * invalid, and all other slots must be correct.
 */
static void the_boot_ring_is_shared(void **state)
{
	pthread_t threads[WORKERS];
	const struct checked_ring *checked;

	(void)state;
	run(threads, boot_work);
	join(threads);
	checked = verified_ring(0);
	assert_true(checked->produced > WORKERS * BOOT_ROUND - 1000);
	assert_int_equal(ktrace_root.lost_events, 0);
	assert_true(checked->records >= 512 / 2 - 16);
}

static void rings_survive_a_storm_of_signals(void **state)
{
	static _Alignas(64) uint8_t memory[WORKERS * SLOTS * 32 + 4096];
	const struct ktrace_memory lent = { memory, sizeof(memory) };
	const struct ktrace_config config = {
		.size = sizeof(config), .cpus = WORKERS, .slots = SLOTS, .blocks = 1, .memory = &lent
	};
	struct sigaction action = { .sa_handler = interrupt };
	pthread_t threads[WORKERS];
	uint64_t end, shown = 0;

	(void)state;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	for (uint32_t i = 0; i < WORKERS; i++)
		slots_written[i] = 0;
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	running = true;
	run(threads, work);
	while (online < WORKERS)
		sched_yield();
	/* On a busy machine, this thread may have run only for a moment at the end of the time. */
	for (end = milliseconds() + RUN_MS; milliseconds() < end || handled <= 10 || shown <= 100;) {
		for (uint32_t i = 0; i < WORKERS; i++) {
			pthread_kill(threads[i], SIGUSR1);
			pthread_kill(threads[i], SIGUSR2);
			shown += read_along(&ktrace_ring[i + 1]);
		}
	}
	running = false;
	join(threads);
	print_message("%llu slots, %llu interrupts, %llu records read along\n",
		      (unsigned long long)(slots_written[0] + slots_written[1]), (unsigned long long)handled,
		      (unsigned long long)shown);
	for (uint32_t i = 0; i < WORKERS; i++) {
		const struct checked_ring *checked = verified_ring(i + 1);

		/* the two numbers differ by the slots of the first anchor, which may be written twice */
		assert_in_range(checked->produced - slots_written[i], 1, 8);
		assert_int_equal(ktrace_ring[i + 1].lapped, 0);
		/* only one slot may be invalid: a part of a long record that begins before the oldest slot */
		assert_true(checked->invalid <= 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_boot_ring_is_shared),
		cmocka_unit_test(rings_survive_a_storm_of_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
