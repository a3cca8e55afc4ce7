/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests that entries are found by hash: while an index grows and shrinks, with equal hashes, and if an
 * allocation fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/index.h"

#define ROWS 4096u

static bool memory_is_short;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
	return memory_is_short ? NULL : __real_calloc(count, size);
}

/*
 * Returns how often a search for `hash` finds the entry `wanted`. Stores in *probe the number of probes of
 * the search.
 */
static unsigned times_found(const struct base_index *index, uint64_t hash, uint32_t wanted, uint32_t *probe)
{
	unsigned times = 0;

	*probe = 0;
	for (uint32_t row; base_index_next(index, hash, probe, &row);)
		times += row == wanted;
	return times;
}

static bool has(const struct base_index *index, uint64_t hash, uint32_t row)
{
	uint32_t probe;
	const unsigned times = times_found(index, hash, row, &probe);

	assert_true(times < 2);
	return times == 1;
}

static void zero_initialised_index_is_empty(void **state)
{
	struct base_index index = { .slot = NULL };

	(void)state;
	assert_false(has(&index, 0, 0));
	assert_false(has(&index, UINT64_MAX, 0));
	base_index_free(&index);
}

static void rows_are_found_while_it_grows(void **state)
{
	struct base_index index = { .slot = NULL };

	(void)state;
	for (uint32_t n = 0; n < ROWS; n++) {
		assert_false(has(&index, base_hash(0, n), n));
		assert_int_equal(base_index_add(&index, base_hash(0, n), n), 0);
		assert_true(has(&index, base_hash(0, n), n));
		assert_true(has(&index, base_hash(0, n / 2), n / 2));
		assert_int_equal(index.count, n + 1);
	}
	for (uint32_t n = 0; n < ROWS; n++)
		assert_true(has(&index, base_hash(0, n), n));
	base_index_free(&index);
	assert_false(has(&index, base_hash(0, 0), 0));
	assert_int_equal(base_index_add(&index, 1, UINT32_MAX - 1), 0);
	assert_true(has(&index, 1, UINT32_MAX - 1));
	base_index_free(&index);
}

static void rows_with_one_hash_are_all_found(void **state)
{
	struct base_index index = { .slot = NULL };

	(void)state;
	for (uint32_t n = 0; n < 100; n++)
		assert_int_equal(base_index_add(&index, UINT64_C(7) << 32 | n, n), 0);
	for (uint32_t n = 0; n < 100; n++)
		assert_true(has(&index, UINT64_C(7) << 32, n));
	assert_false(has(&index, UINT64_C(8) << 32, 0));
	base_index_free(&index);
}

/*
 * Returns a hash that selects one of the last three of sixteen slots. Some of eight entries with such hashes
 * are stored in the first slots, because the search wraps around.
 */
static uint64_t hash_near_end(uint32_t n)
{
	return ((uint64_t)(13 + n % 3) << 28 | n) << 32;
}

static void removal_keeps_rows_that_wrapped_around(void **state)
{
	(void)state;
	for (uint32_t first = 0; first < 8; first++) {
		struct base_index index = { .slot = NULL };

		for (uint32_t n = 0; n < 8; n++)
			assert_int_equal(base_index_add(&index, hash_near_end(n), n), 0);
		for (uint32_t gone = 0; gone < 8; gone++) {
			base_index_remove(&index, hash_near_end((first + gone * 3) % 8),
					  (first + gone * 3) % 8);
			assert_int_equal(index.count, 7 - gone);
			for (uint32_t n = 0; n < 8; n++) {
				bool removed = false;

				for (uint32_t i = 0; i <= gone; i++)
					removed |= n == (first + i * 3) % 8;
				assert_int_equal(has(&index, hash_near_end(n), n), !removed);
			}
		}
		base_index_free(&index);
	}
}

static void removed_rows_leave_no_trace(void **state)
{
	struct base_index index = { .slot = NULL };
	uint32_t most = 0;

	(void)state;
	for (uint32_t n = 0; n < ROWS; n++) {
		assert_int_equal(base_index_add(&index, base_hash(0, n), n), 0);
		if (n >= 5)
			base_index_remove(&index, base_hash(0, n - 5), n - 5);
	}
	for (uint32_t n = 0; n < ROWS; n++) {
		uint32_t probe;

		assert_int_equal(times_found(&index, base_hash(0, n), n, &probe), n >= ROWS - 5);
		most = probe > most ? probe : most;
	}
	assert_int_equal(index.shift, 28);
	assert_true(most <= 6);
	base_index_free(&index);
}

static void failed_addition_changes_nothing(void **state)
{
	struct base_index index = { .slot = NULL };

	(void)state;
	memory_is_short = true;
	assert_int_equal(base_index_add(&index, 1, 1), -1);
	assert_null(index.slot);
	memory_is_short = false;
	for (uint32_t n = 0; n < 8; n++)
		assert_int_equal(base_index_add(&index, base_hash(0, n), n), 0);
	memory_is_short = true;
	assert_int_equal(base_index_add(&index, base_hash(0, 8), 8), -1);
	assert_int_equal(index.count, 8);
	assert_false(has(&index, base_hash(0, 8), 8));
	for (uint32_t n = 0; n < 8; n++)
		assert_true(has(&index, base_hash(0, n), n));
	base_index_remove(&index, base_hash(0, 3), 3);
	assert_int_equal(base_index_add(&index, base_hash(0, 8), 8), 0);
	assert_true(has(&index, base_hash(0, 8), 8));
	memory_is_short = false;
	base_index_free(&index);
}

static void full_index_refuses_rows(void **state)
{
	struct base_index_slot slot = { 0, 0 };
	struct base_index index = { &slot, UINT32_C(1) << 31, 0 };

	(void)state;
	assert_int_equal(base_index_add(&index, 0, 1), -1);
	assert_int_equal(index.count, UINT32_C(1) << 31);
	assert_int_equal(slot.row, 0);
}

/* ---- Keys that an attacker chooses ---- */

static uint64_t hash_word(uint64_t key)
{
	return base_hash(0, key);
}

static uint64_t hash_id(uint64_t key)
{
	return base_hash_id((uint32_t)key);
}

/*
 * Adds ROWS entries with the keys key(0) to key(ROWS - 1), then looks up each key. Returns the average number
 * of probes of a look-up.
 */
static uint64_t average_probes(uint64_t (*hash)(uint64_t key), uint64_t (*key)(uint32_t n))
{
	struct base_index index = { .slot = NULL };
	uint64_t sum = 0;

	for (uint32_t n = 0; n < ROWS; n++)
		assert_int_equal(base_index_add(&index, hash(key(n)), n), 0);
	for (uint32_t n = 0; n < ROWS; n++) {
		uint32_t probe = 0, row = ROWS;

		while (row != n && base_index_next(&index, hash(key(n)), &probe, &row))
			;
		assert_int_equal(row, n);
		sum += probe;
	}
	base_index_free(&index);
	return sum / ROWS;
}

/* Returns the inverse of an odd number modulo 2^64. */
static uint64_t inverse(uint64_t odd)
{
	uint64_t x = odd;

	for (int n = 0; n < 5; n++)
		x *= 2 - odd * x;
	return x;
}

#define GOLDEN_RATIO UINT64_C(0x9e3779b97f4a7c15)

static const uint64_t guessed[2] = { UINT64_C(0xbf58476d1ce4e5b9), UINT64_C(0x94d049bb133111eb) };

/*
 * Returns a key whose hash is n if the secret equals `guessed`. The upper half of such a hash is 0. This half
 * selects the slot, so all such keys would collide.
 */
static uint64_t key_for_guess(uint32_t n)
{
	uint64_t mixed = n * inverse(guessed[1]);

	mixed = (mixed ^ mixed >> 32) * inverse(GOLDEN_RATIO);
	return (mixed ^ mixed >> 32) * inverse(guessed[0]);
}

/*
 * Returns a key whose base_hash_id() is n if the secret equals `guessed`: the upper 16 bits of this hash are
 * 0.
 */
static uint64_t id_for_guess(uint32_t n)
{
	const uint32_t mixed = n * (uint32_t)inverse(guessed[1]);

	return (mixed ^ mixed >> 16) * (uint32_t)inverse(guessed[0]);
}

static uint64_t id_in_order(uint32_t n)
{
	return n;
}

/* Returns a key whose product with the golden ratio is n: all upper bits are 0. */
static uint64_t key_for_golden_ratio(uint32_t n)
{
	return n * inverse(GOLDEN_RATIO);
}

static uint64_t key_of_page(uint32_t n)
{
	return UINT64_C(0xffffffff80000000) + n * UINT64_C(4096);
}

static uint64_t key_of_upper_bits(uint32_t n)
{
	return (uint64_t)n << 52;
}

static void chosen_keys_collide_only_if_the_secret_is_known(void **state)
{
	const uint64_t drawn[2] = { base_hash_secret[0], base_hash_secret[1] };
	uint64_t known, known_id;

	(void)state;
	memcpy(base_hash_secret, guessed, sizeof(guessed));
	known = average_probes(hash_word, key_for_guess);
	known_id = average_probes(hash_id, id_for_guess);
	memcpy(base_hash_secret, drawn, sizeof(drawn));
	assert_true(known >= ROWS / 4);
	assert_true(known_id >= ROWS / 4);
	assert_true(average_probes(hash_word, key_for_guess) < 64);
	assert_true(average_probes(hash_id, id_for_guess) < 64);
}

static void regular_keys_need_few_probes(void **state)
{
	(void)state;
	assert_true(average_probes(hash_word, key_for_golden_ratio) < 64);
	assert_true(average_probes(hash_word, key_of_page) < 64);
	assert_true(average_probes(hash_word, key_of_upper_bits) < 64);
	assert_true(average_probes(hash_id, id_in_order) < 64);
}

static void different_ids_have_different_hashes(void **state)
{
	struct base_index index = { .slot = NULL };

	(void)state;
	for (uint32_t n = 0; n < 8 * ROWS; n++) {
		uint32_t probe = 0, row;

		assert_false(base_index_next(&index, base_hash_id(n * 99991), &probe, &row));
		assert_int_equal(base_index_add(&index, base_hash_id(n * 99991), n), 0);
	}
	base_index_free(&index);
}

static void secret_is_random_and_odd(void **state)
{
	(void)state;
	assert_memory_not_equal(base_hash_secret, guessed, sizeof(guessed));
	assert_int_equal(base_hash_secret[0] & base_hash_secret[1] & 1, 1);
}

static void different_texts_have_different_hashes(void **state)
{
	static const char *const text[] = {
		NULL, "", "a", "b", "ab", "1234567", "12345678", "123456789", "a longer one", "a longer two"
	};
	const size_t texts = sizeof(text) / sizeof(text[0]);

	(void)state;
	for (size_t a = 0; a < texts; a++) {
		char *copy = text[a] ? strdup(text[a]) : NULL;

		assert_true(base_hash_text(1, copy) == base_hash_text(1, text[a]));
		assert_true(base_hash_text(1, copy) != base_hash_text(2, text[a]));
		free(copy);
		for (size_t b = 0; b < a; b++)
			assert_true(base_hash_text(1, text[a]) != base_hash_text(1, text[b]));
	}
	assert_true(base_hash_bytes(0, "ab", 2) == base_hash_text(0, "ab"));
	assert_true(base_hash_bytes(0, "ab\0", 3) != base_hash_text(0, "ab"));
	assert_true(base_hash_text(base_hash_text(0, "ab"), "c") !=
		    base_hash_text(base_hash_text(0, "a"), "bc"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zero_initialised_index_is_empty),
		cmocka_unit_test(rows_are_found_while_it_grows),
		cmocka_unit_test(rows_with_one_hash_are_all_found),
		cmocka_unit_test(removal_keeps_rows_that_wrapped_around),
		cmocka_unit_test(removed_rows_leave_no_trace),
		cmocka_unit_test(failed_addition_changes_nothing),
		cmocka_unit_test(full_index_refuses_rows),
		cmocka_unit_test(chosen_keys_collide_only_if_the_secret_is_known),
		cmocka_unit_test(regular_keys_need_few_probes),
		cmocka_unit_test(different_ids_have_different_hashes),
		cmocka_unit_test(secret_is_random_and_odd),
		cmocka_unit_test(different_texts_have_different_hashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
