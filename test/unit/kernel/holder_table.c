/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the table of the entries of threads: how an entry is reserved, found and freed, also while another
 * CPU does the same. If there are more threads than entries, some threads have no entry.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/core/hook.h"
#include "test/fake/machine.h"

#define QUEUE ((const void *)0x4000)
#define MUTEX ((const void *)0x5000)
#define MANY  100u

static int boot(void **state)
{
	fake_reset(state);
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	fake.thread = 7;
	return 0;
}

static volatile struct ktrx_holder *entry_of(uint32_t thread)
{
	volatile struct ktrx_holder *entry = ktrace_holder_find(thread);

	assert_non_null(entry);
	assert_int_equal(entry->id, thread + 1);
	return entry;
}

static volatile struct ktrx_holder *claim(uint32_t thread)
{
	const struct ktrace_hook hook = { &ktrace_state.cpu[fake.cpu], fake.cpu };

	return ktrace_holder_claim(&hook, thread);
}

static uint32_t entries_of(uint32_t thread)
{
	uint32_t entries = 0;

	for (uint32_t n = 0; n < FAKE_HOLDERS; n++)
		entries += ktrace_state.holder[FAKE_CPUS + n].id == thread + 1;
	return entries;
}

static uint32_t threads_with_entries(void)
{
	uint32_t found = 0;

	for (uint32_t thread = 0; thread < MANY; thread++) {
		uint32_t entries = entries_of(thread);

		assert_true(entries <= 1);
		assert_int_equal(entries, ktrace_holder_find(thread) != NULL);
		found += entries;
	}
	return found;
}

static void threads_without_an_entry_are_left_out(void **state)
{
	uint32_t last = 0;

	(void)state;
	for (uint32_t thread = 0; thread < MANY; thread++) {
		ktrace_thread_wake(thread);
		if (ktrace_holder_find(thread))
			last = thread;
	}
	assert_int_equal(threads_with_entries(), FAKE_HOLDERS);
	for (uint32_t thread = 0; thread < MANY; thread++)
		if (!ktrace_holder_find(thread)) {
			fake.thread = thread;
			ktrace_lock_acquire(MUTEX, KTRACE_BY_THREAD);
			ktrace_thread_exit(thread);
		}
	assert_int_equal(threads_with_entries(), FAKE_HOLDERS);
	ktrace_thread_exit(last);
	assert_int_equal(threads_with_entries(), FAKE_HOLDERS - 1);
}

/*
 * Starts a machine with a table of `holders` entries. Wakes `threads` threads, whose ids are 7, 7 + `stride`,
 * and so on.
 */
static void boot_and_wake(uint32_t holders, uint32_t threads, uint32_t stride)
{
	fake_reset(NULL);
	fake.holders = holders;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	for (uint32_t n = 0; n < threads; n++)
		ktrace_thread_wake(7 + n * stride);
}

/*
 * The search for a free entry examines up to 64 entries. So in a table with at most 64 entries, each thread
 * gets an entry until the table is full. In a larger table, each thread gets one while a fourth of the
 * entries is free, even if the searches for many ids begin at the same entry.
 */
static void threads_get_no_entry_only_if_the_table_is_full(void **state)
{
	static const uint32_t strides[] = { 1, 2, 3, 8, 16, 24, 48, 64, 100, 320, 1024, 4096 };

	(void)state;
	for (size_t n = 0; n < sizeof(strides) / sizeof(strides[0]); n++) {
		const volatile struct ktrx_cpu *cpu = &ktrace_state.cpu[0];

		boot_and_wake(256, 192, strides[n]);
		assert_int_equal(cpu->refused, 0);
		boot_and_wake(64, 64, strides[n]);
		assert_int_equal(cpu->refused, 0);
		ktrace_thread_wake(1);
		assert_null(ktrace_holder_find(1));
		assert_int_equal(cpu->refused, 1);
		ktrace_thread_exit(7);
		ktrace_thread_wake(1);
		assert_non_null(ktrace_holder_find(1));
		assert_int_equal(cpu->refused, 1);
	}
}

static void hooks_that_find_no_entry_are_counted(void **state)
{
	(void)state;
	boot_and_wake(4, 4, 1);
	fake.cpu = 1;
	fake.thread = 20;
	ktrace_lock_acquire(MUTEX, KTRACE_BY_THREAD);
	ktrace_lock_wait(QUEUE, "queue", KTRACE_BY_THREAD, 7);
	ktrace_thread_block(QUEUE, "queue", KTRX_WAIT_EVENT, 0);
	ktrace_thread_switch(7, 20);
	ktrace_thread_priority(20, 1);
	ktrace_lock_acquire(MUTEX, KTRACE_BY_CPU); /* the lock is stored in the CPU's entry */
	ktrace_lock_release(MUTEX, KTRACE_BY_CPU);
	ktrace_thread_switch(20, 7); /* thread 7 has an entry */
	assert_int_equal(ktrace_state.cpu[0].refused, 0);
	assert_int_equal(ktrace_state.cpu[1].refused, 5);
}

/* If there is no table, no call of a hook is counted as refused. */
static void without_a_table_nothing_is_refused(void **state)
{
	struct ktrx_holder *const table = ktrace_state.holder;

	(void)state;
	ktrace_state.holder = NULL;
	ktrace_thread_wake(20);
	ktrace_lock_acquire(MUTEX, KTRACE_BY_THREAD);
	ktrace_state.holder = table;
	assert_int_equal(ktrace_state.cpu[0].refused, 0);
}

static void a_freed_entry_is_reused_cleared(void **state)
{
	volatile struct ktrx_holder *entry;

	(void)state;
	ktrace_thread_stack(8, (void *)0x1000, (void *)0x2000);
	fake.thread = 8;
	ktrace_lock_acquire(MUTEX, KTRACE_BY_THREAD);
	ktrace_thread_block(QUEUE, "pipe", KTRX_WAIT_EVENT, 3);
	entry = entry_of(8);
	ktrace_thread_exit(8);
	for (size_t n = 0; n < sizeof(*entry); n++)
		assert_int_equal(((volatile uint8_t *)entry)[n], 0);
	entry->state = KTRX_THREAD_RUNNABLE; /* as if another CPU had stored this after the exit */
	ktrace_thread_wake(8);
	assert_ptr_equal(entry_of(8), entry);
	assert_int_equal(entry->held_count, 0);
	assert_int_equal(entry->whole, 0);
}

/*
 * Returns the lowest thread id above `after` whose search begins at the same entry as the search for thread
 * `of`.
 */
static uint32_t thread_with_same_probe(uint32_t of, uint32_t after)
{
	volatile struct ktrx_holder *place;

	claim(of);
	place = ktrace_holder_find(of);
	ktrace_holder_free(of);
	for (uint32_t thread = after + 1;; thread++) {
		int same = claim(thread) == place;

		ktrace_holder_free(thread);
		if (same)
			return thread;
	}
}

static uint32_t raced;

static void another_cpu_claims(void)
{
	assert_non_null(claim(raced));
}

static void two_reservations_for_one_thread_leave_one_entry(void **state)
{
	(void)state;
	raced = 20;
	for (int64_t n = 0; n < 4; n++) {
		fake_at(n, another_cpu_claims);
		assert_non_null(claim(raced));
		assert_int_equal(entries_of(raced), 1);
		fake_at(-1, NULL);
		ktrace_holder_free(raced);
	}
}

static uint32_t leaving;

static void one_is_freed_and_another_cpu_claims(void)
{
	ktrace_holder_free(leaving);
	assert_non_null(claim(raced));
}

static void the_first_of_two_entries_is_used(void **state)
{
	volatile struct ktrx_holder *entry;

	(void)state;
	raced = 20;
	leaving = thread_with_same_probe(raced, raced);
	for (int64_t n = 0; n < 4; n++) {
		assert_non_null(claim(leaving));
		fake_at(n, one_is_freed_and_another_cpu_claims);
		entry = claim(raced);
		assert_ptr_equal(ktrace_holder_find(raced), entry);
		assert_int_equal(entries_of(raced), 1);
		fake_at(-1, NULL);
		ktrace_holder_free(raced);
		ktrace_holder_free(leaving);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(threads_without_an_entry_are_left_out, boot),
		cmocka_unit_test_setup(threads_get_no_entry_only_if_the_table_is_full, boot),
		cmocka_unit_test_setup(hooks_that_find_no_entry_are_counted, boot),
		cmocka_unit_test_setup(without_a_table_nothing_is_refused, boot),
		cmocka_unit_test_setup(a_freed_entry_is_reused_cleared, boot),
		cmocka_unit_test_setup(two_reservations_for_one_thread_leave_one_entry, boot),
		cmocka_unit_test_setup(the_first_of_two_entries_is_used, boot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
