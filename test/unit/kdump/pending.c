/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the table of pending calls. A call is found by process and thread. If there are too many calls, the
 * oldest ones are removed. The data to which arguments point are stored with the call.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "kdump/views.h"

static struct kdump_pending_table *table;

static int begin(void **state)
{
	(void)state;
	table = calloc(1, sizeof(*table));
	return table ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	free(table);
	return 0;
}

static struct kdump_pending *call(uint32_t pid, uint32_t tid, uint64_t stamp)
{
	const uint64_t words[40] = { pid, tid };
	const struct ktread_proc_record record = {
		.type = KTRX_PROC_SYSCALL,
		.pid = pid,
		.tid = tid,
		.stamp = stamp,
		.syscall = { .number = pid + tid, .args = 32, .arg = words },
	};
	struct kdump_pending *pending = kdump_pending_entry(table, pid, tid);

	kdump_pending_begin(pending, &record);
	return pending;
}

static void calls_are_found_again(void **state)
{
	struct kdump_pending *first = call(1, 2, 10);

	(void)state;
	assert_ptr_equal(kdump_pending_find(table, 1, 2), first);
	assert_null(kdump_pending_find(table, 2, 1));
	assert_int_equal(first->words, CALLS_ARGUMENTS);
	assert_int_equal(first->word[1], 2);
	assert_ptr_equal(kdump_pending_entry(table, 1, 2), first);
	for (uint32_t n = 0; n < 1000; n++)
		call(7, n, n);
	for (uint32_t n = 0; n < 1000; n++)
		assert_int_equal(kdump_pending_find(table, 7, n)->stamp, n);
	assert_ptr_equal(kdump_pending_find(table, 1, 2), first);
	first->used = false;
	assert_null(kdump_pending_find(table, 1, 2));
}

/* If there are too many calls, the calls that began last are kept. */
static void newest_calls_are_kept_if_there_are_too_many(void **state)
{
	uint32_t known = 0, most = 40 * KDUMP_PENDINGS;

	(void)state;
	for (uint32_t n = 0; n < most; n++) {
		call(n, n, n);
		assert_int_equal(kdump_pending_find(table, n, n)->stamp, n);
	}
	for (uint32_t n = 0; n < most; n++)
		known += kdump_pending_find(table, n, n) != NULL;
	assert_true(known <= KDUMP_PENDINGS);
	assert_true(known > KDUMP_PENDINGS / 2);
}

static void loss_makes_calls_doubtful(void **state)
{
	struct kdump_pending *first = call(1, 1, 1);

	(void)state;
	assert_false(first->doubtful);
	kdump_pending_doubt(table);
	assert_true(first->doubtful);
	assert_false(call(1, 1, 2)->doubtful);
}

static void too_many_fillings_are_refused(void **state)
{
	struct kdump_pending *pending = call(1, 1, 1);
	size_t limit, before = KDUMP_FILLING_TEXTS;
	char *at;

	(void)state;
	for (unsigned n = 0; n < KDUMP_FILLINGS; n++) {
		at = kdump_pending_fill(pending, &limit);
		assert_non_null(at);
		assert_int_equal(limit, before);
		memset(at, 'a' + (int)n, 100);
		kdump_pending_filled(pending, KDUMP_FILLING_STRUCT, 0, "a_name_that_is_much_too_long_for_it",
				     at + 100);
		before -= 100;
	}
	assert_null(kdump_pending_fill(pending, &limit));
	assert_int_equal(pending->fillings, KDUMP_FILLINGS);
	assert_int_equal(pending->text[pending->filling[3].offset], 'd');
	assert_int_equal(strlen(pending->filling[0].name), sizeof(pending->filling[0].name) - 1);
	assert_int_equal(call(1, 1, 2)->fillings, 0);
}

static void fill(struct kdump_pending *pending, unsigned argument, const char *text)
{
	size_t limit;
	char *at = kdump_pending_fill(pending, &limit);

	assert_true(strlen(text) <= limit);
	memcpy(at, text, strlen(text));
	kdump_pending_filled(pending, KDUMP_FILLING_STRUCT, argument, "name", at + strlen(text));
}

static void check_filling(const struct kdump_pending *pending, unsigned n, unsigned argument,
			  const char *text)
{
	const struct kdump_filling *filling = &pending->filling[n];

	assert_int_equal(filling->argument, argument);
	assert_int_equal(filling->length, strlen(text));
	assert_memory_equal(pending->text + filling->offset, text, strlen(text));
}

static void dropped_filling_leaves_room(void **state)
{
	struct kdump_pending *pending = call(1, 1, 1);
	size_t before, after;

	(void)state;
	fill(pending, 1, "first");
	fill(pending, 2, "second one");
	fill(pending, 3, "third");
	kdump_pending_fill(pending, &before);
	kdump_pending_drop(pending, 1);
	kdump_pending_fill(pending, &after);
	assert_int_equal(after, before + strlen("second one"));
	assert_int_equal(pending->fillings, 2);
	check_filling(pending, 0, 1, "first");
	check_filling(pending, 1, 3, "third");
	kdump_pending_drop(pending, 1);
	fill(pending, 4, "fourth");
	check_filling(pending, 1, 4, "fourth");
	kdump_pending_drop(pending, 0);
	check_filling(pending, 0, 4, "fourth");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(dropped_filling_leaves_room, begin, end),
		cmocka_unit_test_setup_teardown(calls_are_found_again, begin, end),
		cmocka_unit_test_setup_teardown(newest_calls_are_kept_if_there_are_too_many, begin, end),
		cmocka_unit_test_setup_teardown(loss_makes_calls_doubtful, begin, end),
		cmocka_unit_test_setup_teardown(too_many_fillings_are_refused, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
