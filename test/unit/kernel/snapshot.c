/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests that a snapshot does not change when more events are recorded. dump_v2.c tests the format of dumps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/core/state.h"
#include "test/fake/checker.h"
#include "test/fake/machine.h"

KTRACE_EVENT(test, event, "%u", (uint32_t, a));

static _Alignas(64) unsigned char copy[256 * 1024];

/*
 * Returns the payload of the newest record in ring 1 of the dump. Finds the ring through the dump's table of
 * sections.
 */
static uint32_t newest_in_copy(void)
{
	const struct ktrx_root *root = (const void *)copy;
	const struct ktrx_ring *ring = (const void *)(copy + root->section[0].address);
	const unsigned char *slots = copy + ring[1].address;
	uint64_t index = KTRX_WORD_INDEX(ring[1].word) - 1;
	uint32_t word;

	memcpy(&word, slots + (index & ring[1].mask) * 32 + 12, sizeof(word));
	return word;
}

static void a_snapshot_is_not_changed_by_later_records(void **state)
{
	size_t used = 0;

	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	for (uint32_t i = 0; i < 600; i++)
		KTRACE(test, event, i);
	assert_int_equal(ktrace_snapshot(copy, sizeof(copy), &used), KTRACE_OK);
	assert_true(ktrace_is_started());
	for (uint32_t i = 0; i < 600; i++)
		KTRACE(test, event, 1000 + i);
	assert_memory_equal(copy, "KTRX\2\0\0\0", 8);
	assert_int_equal(((const struct ktrx_root *)(const void *)copy)->length, used);
	assert_int_equal(newest_in_copy(), 599);
}

static void too_little_memory_returns_the_size_needed(void **state)
{
	size_t used = 0, needed;

	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	assert_int_equal(ktrace_snapshot(copy, 100, &used), KTRACE_ERROR_MEMORY);
	assert_true(used > 100);
	assert_int_equal(ktrace_snapshot(copy, 20000, &needed), KTRACE_ERROR_MEMORY);
	assert_int_equal(ktrace_snapshot(copy, needed - 16, &used), KTRACE_ERROR_MEMORY);
	assert_int_equal(ktrace_snapshot(copy, needed, &used), KTRACE_OK);
	assert_true(used <= needed);
	assert_int_equal(ktrace_snapshot(NULL, needed, &used), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(ktrace_snapshot(copy + 1, needed, &used), KTRACE_ERROR_ARGUMENT);
}

#define TEST(name) cmocka_unit_test_setup(name, fake_reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_snapshot_is_not_changed_by_later_records),
		TEST(too_little_memory_returns_the_size_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
