/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests CPUs before and after they come online, for a port without reserve words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernel/core/state.h"
#include "test/fake/checker.h"
#include "test/fake/machine.h"

KTRACE_EVENT(test, event, "%u", (uint32_t, a));

static _Alignas(64) unsigned char copy[256 * 1024];

static void initialise(void)
{
	const struct ktrace_memory memory = { fake_memory, sizeof(fake_memory) };
	const struct ktrace_config config = {
		.size = sizeof(config), .cpus = KTRACE_MAX_CPUS, .slots = 512, .blocks = 1, .memory = &memory
	};

	assert_int_equal(ktrace_init(&config), KTRACE_OK);
}

/*
 * If the port has no reserve words, the ring of a CPU contains its reserve word. Before the CPU is online,
 * its events advance this word, but are recorded in the boot ring. The advance must not count as slots of the
 * CPU's ring.
 */
static void a_ring_is_empty_until_its_cpu_is_online(void **state)
{
	const struct ktrx_root *root = (const void *)copy;
	const struct ktrx_ring *ring;
	size_t used;

	(void)state;
	initialise();
	KTRACE(test, event, 1);
	KTRACE(test, event, 2);
	assert_int_equal(check_ring(0)->records, 2);
	assert_int_equal(ktrace_snapshot(copy, sizeof(copy), &used), KTRACE_OK);
	ring = (const void *)(copy + root->section[0].address);
	assert_int_equal(ring[1].word, UINT64_C(1) << KTRX_WORD_INDEX_BITS | ring[1].first);
	ktrace_clear();
	assert_int_equal(ktrace_ring[1].first, ring[1].first);
	assert_int_equal(ktrace_cpu_online(0), KTRACE_OK);
	KTRACE(test, event, 3);
	assert_int_equal(check_ring(1)->records, 1);
	assert_int_equal(check_ring(1)->produced, 2); /* two slots: the record and an anchor */
}

/*
 * The port reports CPU 0 as the current CPU when CPU 1 comes online. So CPU 1 would use CPU 0's reserve word,
 * and is refused.
 */
static void a_cpu_cannot_use_the_reserve_word_of_another(void **state)
{
	(void)state;
	initialise();
	assert_int_equal(ktrace_cpu_online(1), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(ktrace_cpu_online(0), KTRACE_OK);
	assert_int_equal(ktrace_cpu_online(1), KTRACE_ERROR_ARGUMENT);
	KTRACE(test, event, 1);
	assert_int_equal(check_ring(1)->records, 1);
	assert_int_equal(check_ring(2)->produced, 0);
	assert_int_equal(ktrace_state.cpu[0].misnumbered, 0);
	assert_int_equal(ktrace_state.cpu[1].misnumbered, 2);
	assert_int_equal(ktrace_state.cpu[1].online, 0);
	fake.cpu = 1;
	assert_int_equal(ktrace_cpu_online(1), KTRACE_OK);
}

/* The CPU's number has no entry in the table of rings. */
static void a_cpu_beyond_the_last_uses_the_boot_ring(void **state)
{
	static const uint32_t beyond[] = { KTRACE_MAX_CPUS, KTRACE_MAX_CPUS + 1, 100000, UINT32_MAX };

	(void)state;
	initialise();
	for (uint32_t cpu = 0; cpu < KTRACE_MAX_CPUS; cpu++) {
		fake.cpu = cpu;
		assert_int_equal(ktrace_cpu_online(cpu), KTRACE_OK);
	}
	for (uint32_t i = 0; i < 4; i++) {
		fake.cpu = beyond[i];
		KTRACE(test, event, i);
		ktrace_heartbeat(i);
		assert_int_equal(ktrace_cpu_online(beyond[i]), KTRACE_ERROR_ARGUMENT);
	}
	assert_int_equal(check_ring(0)->records, 4);
	assert_int_equal(check_ring(0)->invalid, 0);
	for (uint32_t cpu = 0; cpu < KTRACE_MAX_CPUS; cpu++)
		assert_int_equal(check_ring(cpu + 1)->produced, 0);
}

#define TEST(name) cmocka_unit_test_setup(name, fake_reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_ring_is_empty_until_its_cpu_is_online),
		TEST(a_cpu_cannot_use_the_reserve_word_of_another),
		TEST(a_cpu_beyond_the_last_uses_the_boot_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
