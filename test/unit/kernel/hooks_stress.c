/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Two threads act as CPUs and call hooks. Two types of signals interrupt these threads at any point, and also
 * each other's handlers. The handlers call hooks, too. The entries of a CPU must always agree with the calls
 * that its thread has made.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/core/state.h"

#define WORKERS 2
#define THREADS 32u
#define ROWS	12u
#define ROUNDS	200000u
#define STORMS	2000u /* number of signals that must have arrived before the test ends */

#define LOCK(n) ((const void *)(uintptr_t)(0x1000 * ((n) + 1)))

__thread uint64_t threads_reserve;
__thread uint32_t threads_cpu;

static atomic_ullong handled[WORKERS];
static atomic_uint working;

static void acquire(unsigned lock)
{
	ktrace_lock_acquire(LOCK(lock), KTRACE_BY_CPU);
}

static void release(unsigned lock)
{
	ktrace_lock_release(LOCK(lock), KTRACE_BY_CPU);
}

/* Takes locks that only the handler of this signal uses, and releases them in a different order. */
static void interrupt(int signal)
{
	unsigned first = signal == SIGUSR1 ? 20 : 30;

	ktrace_irq_enter(first);
	acquire(first);
	acquire(first + 1);
	ktrace_lock_wait(LOCK(first + 2), "contended", KTRACE_BY_CPU, 1);
	acquire(first + 2);
	release(first);
	release(first + 2);
	release(first + 1);
	ktrace_irq_eoi(first);
	ktrace_irq_exit(first);
	handled[threads_cpu]++;
}

struct work {
	uint32_t seed;
	unsigned held[KTRX_HELD];
	unsigned count;
};

static uint32_t random_below(struct work *work, uint32_t below)
{
	work->seed = work->seed * 1103515245u + 12345u;
	return (work->seed >> 16) % below;
}

static void acquire_one(struct work *work)
{
	unsigned lock = random_below(work, 10);

	for (unsigned n = 0; n < work->count; n++)
		if (work->held[n] == lock)
			return;
	acquire(lock);
	work->held[work->count++] = lock;
}

static void release_one(struct work *work)
{
	unsigned at = random_below(work, work->count);

	release(work->held[at]);
	work->count--;
	for (; at < work->count; at++)
		work->held[at] = work->held[at + 1];
}

static void check_entry(const struct work *work)
{
	const volatile struct ktrx_holder *entry = &ktrace_state.holder[threads_cpu];

	assert_int_equal(entry->held_count, work->count);
	for (unsigned n = 0; n < KTRX_HELD; n++)
		assert_int_equal(entry->held[n].object, n < work->count ? (uintptr_t)LOCK(work->held[n]) : 0);
	assert_int_equal(ktrace_state.cpu[threads_cpu].nesting, 0);
	assert_int_equal(ktrace_state.cpu[threads_cpu].broken, KTRX_BROKEN_NOTHING);
}

/* Both workers start and end the same threads. There are more threads than entries. */
static void come_and_go(struct work *work)
{
	uint32_t thread = random_below(work, THREADS);

	if (random_below(work, 2))
		ktrace_thread_wake(thread);
	else
		ktrace_thread_exit(thread);
}

static void *work_main(void *argument)
{
	struct work work = { .seed = *(const uint32_t *)argument + 1 };

	threads_cpu = *(const uint32_t *)argument;
	assert_int_equal(ktrace_cpu_online(threads_cpu), KTRACE_OK);
	working++;
	for (uint32_t round = 0; round < ROUNDS || handled[threads_cpu] < STORMS; round++) {
		if (work.count > 0 && (work.count == KTRX_HELD || random_below(&work, 2)))
			release_one(&work);
		else
			acquire_one(&work);
		check_entry(&work);
		come_and_go(&work);
	}
	while (work.count > 0)
		release_one(&work);
	check_entry(&work);
	working--;
	return NULL;
}

static void no_thread_has_two_entries(void)
{
	for (uint32_t thread = 0; thread < THREADS; thread++) {
		uint32_t entries = 0;

		for (uint32_t n = 0; n < ROWS; n++)
			entries += ktrace_state.holder[WORKERS + n].id == thread + 1;
		assert_true(entries <= 1);
	}
}

static void entries_survive_a_storm_of_signals(void **state)
{
	static _Alignas(64) uint8_t memory[(WORKERS * 512 + 256) * 32];
	static const uint32_t cpus[WORKERS] = { 0, 1 };
	const struct ktrace_memory lent = { memory, sizeof(memory) };
	const struct ktrace_config config = { .size = sizeof(config),
					      .cpus = WORKERS,
					      .slots = 512,
					      .holders = ROWS,
					      .blocks = 1,
					      .memory = &lent };
	struct sigaction action = { .sa_handler = interrupt };
	pthread_t threads[WORKERS];

	(void)state;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	for (uint32_t i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work_main, (void *)(uintptr_t)&cpus[i]),
				 0);
	while (working < WORKERS)
		sched_yield();
	while (working > 0)
		for (uint32_t i = 0; i < WORKERS; i++) {
			pthread_kill(threads[i], SIGUSR1);
			pthread_kill(threads[i], SIGUSR2);
		}
	for (uint32_t i = 0; i < WORKERS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(ktrace_state.cpu[i].irqs, handled[i]);
		assert_int_equal(ktrace_state.cpu[i].eois, handled[i]);
	}
	no_thread_has_two_entries();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_survive_a_storm_of_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
