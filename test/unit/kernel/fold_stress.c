/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Two threads record repeated events at full speed. Two types of signals interrupt these threads, and also
 * each other's handlers. A third thread reads the fold entries. Every event must be in a record, in a
 * recorded count, or in the count of an entry.
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

#define WORKERS 2
#define SLOTS	8192u
#define ROWS	2u
#define SAME	100000u /* number of successive rounds in which a worker records the same value */
/*
 * number of signals of each kind that each worker gets; a ring must have room for the records of all of them
 */
#define SIGNALS	  150u
#define RUN_MS	  1000
#define SIGNALLED UINT32_MAX

KTRACE_EVENT_WITH(KTRX_STATE_RECORD, KTRX_EVENT_FOLD, KTRX_V1_NONE, noise, spin, "%u", (uint32_t, value));

__thread uint64_t threads_reserve;
__thread uint32_t threads_cpu;

static _Alignas(64) uint8_t memory[WORKERS * SLOTS * 32 + 8192];
static atomic_uint online;
static atomic_bool running = true;
static atomic_ullong produced[WORKERS], handled;

static void spin(uint32_t value)
{
	KTRACE(noise, spin, value);
	produced[threads_cpu]++;
}

/* SIGUSR1 records a value that no worker records. The other signal records the workers' first value. */
static void interrupt(int signal)
{
	spin(signal == SIGUSR1 ? SIGNALLED : 0);
	handled++;
}

static void *work(void *argument)
{
	threads_cpu = *(const uint32_t *)argument;
	assert_int_equal(ktrace_cpu_online(threads_cpu), KTRACE_OK);
	online++;
	for (uint32_t i = 0; running; i++)
		spin(i / SAME);
	return NULL;
}

static const struct ktrx_fold *entry_at(uint32_t n)
{
	return (const struct ktrx_fold *)(uintptr_t)ktrace_root.section[KTRX_SECTION_FOLDS - 1].address + n;
}

/*
 * Copies a fold entry as a reader of a running kernel does. Returns false if the entry changed during the
 * copy.
 */
static bool entry_copied(uint32_t n, struct ktrx_fold *fold)
{
	const volatile uint64_t *from = (const volatile uint64_t *)(const volatile void *)entry_at(n);
	uint64_t words[sizeof(*fold) / 8];

	for (uint32_t i = 0; i < sizeof(*fold) / 8; i++) {
		words[i] = from[i];
		atomic_thread_fence(memory_order_acquire);
	}
	memcpy(fold, words, sizeof(*fold));
	return !(fold->sequence & 1) && from[0] == fold->sequence;
}

static uint64_t read_entries(void)
{
	struct ktrx_fold fold;
	uint64_t whole = 0;
	uint32_t value;

	for (uint32_t n = 0; n < WORKERS * ROWS; n++) {
		if (!entry_copied(n, &fold) || fold.event == 0)
			continue;
		memcpy(&value, fold.payload, sizeof(value));
		assert_int_equal(fold.event, ktrace_event_noise_spin.event.id);
		assert_int_equal(fold.bytes, sizeof(value));
		assert_true(value < SLOTS || value == SIGNALLED);
		assert_true(fold.count <= SAME + 2 * SIGNALS);
		assert_true(fold.count == 0 || fold.first <= fold.last);
		whole++;
	}
	return whole;
}

static uint64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t recorded_and_counted(uint32_t cpu)
{
	const struct checked_ring *checked = check_ring(cpu + 1);
	uint64_t sum = 0;

	assert_int_equal(checked->overwritten + checked->invalid, 0);
	for (uint32_t i = 0; i < checked->records; i++) {
		const struct checked_record *record = &checked->record[i];

		if (record->event == ktrace_event_noise_spin.event.id)
			sum++;
		else
			sum += payload_bits(record, 2, 8);
	}
	for (uint32_t n = 0; n < ROWS; n++)
		sum += entry_at(cpu * ROWS + n)->count;
	return sum;
}

static void no_event_is_lost_in_a_storm_of_signals(void **state)
{
	static const uint32_t cpus[WORKERS] = { 0, 1 };
	const struct ktrace_memory lent = { memory, sizeof(memory) };
	const struct ktrace_config config = { .size = sizeof(config),
					      .cpus = WORKERS,
					      .slots = SLOTS,
					      .blocks = 1,
					      .memory = &lent,
					      .folds = ROWS };
	struct sigaction action = { .sa_handler = interrupt };
	pthread_t threads[WORKERS];
	uint64_t whole = 0, sent = 0;

	(void)state;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	for (uint32_t i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)&cpus[i]), 0);
	while (online < WORKERS)
		sched_yield();
	/* On a busy machine, this thread may have run only for a moment at the end of the time. */
	for (uint64_t end = milliseconds() + RUN_MS; milliseconds() < end || handled == 0 || whole == 0;) {
		whole += read_entries();
		if (handled < sent || sent == 2 * WORKERS * SIGNALS)
			continue;
		for (uint32_t i = 0; i < WORKERS; i++) {
			pthread_kill(threads[i], SIGUSR1);
			pthread_kill(threads[i], SIGUSR2);
			sent += 2;
		}
	}
	running = false;
	for (uint32_t i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	print_message("%llu interrupts, %llu entries read\n", (unsigned long long)handled,
		      (unsigned long long)whole);
	for (uint32_t i = 0; i < WORKERS; i++)
		assert_int_equal(recorded_and_counted(i), produced[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(no_event_is_lost_in_a_storm_of_signals) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
