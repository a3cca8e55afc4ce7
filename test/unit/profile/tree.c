/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the tree that counts stacks, and its output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "profile/profile.h"

static void add(struct profile_tree *tree, const char *letters)
{
	uint32_t id[64], count = 0;

	for (; letters[count]; count++)
		id[count] = (unsigned char)letters[count];
	profile_tree_add(tree, id, count);
}

static const struct profile_frame *find(const struct profile_frame *frames, uint32_t count, char id)
{
	for (uint32_t n = 0; n < count; n++)
		if (frames[n].id == (unsigned char)id)
			return &frames[n];
	fail();
	return NULL;
}

static void samples_are_counted_in_a_function_and_its_callers(void **state)
{
	struct profile_tree tree = { 0 };
	struct profile_frame *frames;
	uint32_t count;

	(void)state;
	add(&tree, "abc");
	add(&tree, "abc");
	add(&tree, "ab");
	add(&tree, "adc");
	profile_tree_sum(&tree);
	count = profile_tree_frames(&tree, &frames);
	assert_int_equal(count, 4);
	assert_int_equal(frames[0].id, 'c'); /* most samples are in the code of this function */
	assert_int_equal(find(frames, count, 'a')->total, 4);
	assert_int_equal(find(frames, count, 'a')->self, 0);
	assert_int_equal(find(frames, count, 'b')->total, 3);
	assert_int_equal(find(frames, count, 'b')->self, 1);
	assert_int_equal(find(frames, count, 'c')->self, 3);
	assert_int_equal(find(frames, count, 'd')->total, 1);
	free(frames);
	profile_tree_free(&tree);
}

static void a_recursive_function_is_counted_once_for_each_sample(void **state)
{
	struct profile_tree tree = { 0 };
	struct profile_frame *frames;
	uint32_t count;

	(void)state;
	add(&tree, "abab");
	add(&tree, "aaaa");
	profile_tree_sum(&tree);
	count = profile_tree_frames(&tree, &frames);
	assert_int_equal(find(frames, count, 'a')->total, 2);
	assert_int_equal(find(frames, count, 'b')->total, 1);
	free(frames);
	profile_tree_free(&tree);
}

static void an_empty_tree_has_no_frames(void **state)
{
	struct profile_tree tree = { 0 };
	struct profile_frame *frames;

	(void)state;
	profile_tree_sum(&tree);
	assert_int_equal(profile_tree_frames(&tree, &frames), 0);
	assert_null(frames);
	add(&tree, "");
	profile_tree_sum(&tree);
	assert_int_equal(profile_tree_frames(&tree, &frames), 0);
	profile_tree_free(&tree);
}

static void a_tree_does_not_grow_beyond_its_limit(void **state)
{
	struct profile_tree tree = { 0 };
	uint64_t all = 0;

	(void)state;
	for (uint32_t n = 0; n < PROFILE_NODES_MOST / 32; n++) {
		uint32_t id[64];

		for (uint32_t depth = 0; depth < 64; depth++)
			id[depth] = depth < 5 ? n >> (3 * (4 - depth)) & 7 : n;
		profile_tree_add(&tree, id, 64);
	}
	assert_int_equal(tree.count, PROFILE_NODES_MOST);
	assert_true(tree.cut > 0);
	for (uint32_t n = 0; n < tree.count; n++)
		all += tree.node[n].self;
	assert_int_equal(all, PROFILE_NODES_MOST / 32); /* no sample is lost */
	profile_tree_free(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_counted_in_a_function_and_its_callers),
		cmocka_unit_test(a_recursive_function_is_counted_once_for_each_sample),
		cmocka_unit_test(an_empty_tree_has_no_frames),
		cmocka_unit_test(a_tree_does_not_grow_beyond_its_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
