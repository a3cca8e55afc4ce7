/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests how slots are stored as columns. All 32 bytes of each slot must be restored, and damaged columns
 * must cause no access out of bounds.
 */
#include <stdlib.h>
#include <string.h>

#include "ktread/stream.h"
#include "unit/support/ktread_support.h"
#include "unit/support/random.h"

#define SLOTS 700u

/*
 * The tests use the first slots of ring RING. The first half of these slots is from the ring's newest lap,
 * and the second half from the previous lap.
 */
#define RING  3u
#define SHIFT 10u
#define LAP   UINT64_C(0x12392)
#define HEAD  ((LAP << SHIFT) + SLOTS / 2)

struct fixture {
	struct ktread_columns *columns;
	uint64_t seed;
	uint32_t slot[SLOTS][8], back[SLOTS][8];
	unsigned char content[KTREAD_COLUMNS_MAX];
};

static uint32_t draw(struct fixture *fixture)
{
	return (uint32_t)random_word(&fixture->seed);
}

static int make_fixture(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	fixture->columns = ktread_columns_create();
	return fixture->columns ? 0 : -1;
}

static int free_fixture(void **state)
{
	struct fixture *fixture = *state;

	ktread_columns_free(fixture->columns);
	free(fixture);
	return 0;
}

/* Encodes the slots, decodes the columns, and compares both. Returns the size of the columns in bytes. */
static size_t round_trip(struct fixture *fixture, uint32_t coding, uint32_t slots)
{
	const struct ktread_columns_ring ring = { { KTRX_SLOTS_CHECKED, RING, SHIFT }, HEAD, 0 };
	size_t size = ktread_columns_encode(fixture->columns, coding, &ring,
					    (const uint32_t(*)[8])fixture->slot, slots, fixture->content);

	assert_true(size <= sizeof(fixture->content));
	memset(fixture->back, 0xa5, sizeof(fixture->back));
	assert_int_equal(
		ktread_columns_decode(fixture->columns, coding, fixture->content, size, fixture->back, slots),
		0);
	assert_memory_equal(fixture->back, fixture->slot, slots * sizeof(fixture->slot[0]));
	return size;
}

static void both(struct fixture *fixture, uint32_t slots)
{
	round_trip(fixture, KTRX_STREAM_SLOTS_V1, slots);
	round_trip(fixture, KTRX_STREAM_SLOTS_V2, slots);
	round_trip(fixture, KTRX_STREAM_CHECKED, slots);
}

static void any_slots_are_restored_exactly(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned round = 0; round < 50; round++) {
		for (uint32_t n = 0; n < SLOTS; n++)
			for (unsigned word = 0; word < 8; word++)
				fixture->slot[n][word] = draw(fixture) >> draw(fixture) % 32;
		both(fixture, SLOTS - round);
	}
	memset(fixture->slot, 0xff, sizeof(fixture->slot));
	both(fixture, SLOTS);
	both(fixture, 1);
}

static void empty_slots_take_nothing(void **state)
{
	struct fixture *fixture = *state;

	memset(fixture->slot, 0, sizeof(fixture->slot));
	assert_true(round_trip(fixture, KTRX_STREAM_SLOTS_V1, SLOTS) < 32);
	assert_true(round_trip(fixture, KTRX_STREAM_SLOTS_V2, SLOTS) < 32);
	assert_true(round_trip(fixture, KTRX_STREAM_CHECKED, SLOTS) < 36);
}

/*
 * Slots that a kernel has written need few bytes: their tags and checksums are not stored, but computed when
 * the columns are read.
 */
static void regular_slots_shrink(void **state)
{
	struct fixture *fixture = *state;

	for (uint32_t n = 0; n < SLOTS; n++) {
		uint32_t *slot = fixture->slot[n], generation = n < SLOTS / 2 ? 0x91 : 0x92;
		uint64_t word[4] = { 0 };

		if (n % 3) {
			word[0] = (n % 3 == 1 ? KTRX_KIND_MORE : KTRX_KIND_LAST) | generation << 3;
			word[1] = 0x0123456789abcdef;
			word[0] |= ktrx_check_copied(word[0], word[1], 0, 0) << 11;
		} else {
			word[0] = KTRX_KIND_FIRST | generation << 3 | 77 << 16 |
				  (UINT64_C(0xfffffff00) + 3 * n) << 28;
			word[1] = 5 | (generation & 0x7f) << 25;
		}
		memcpy(slot, word, sizeof(word));
	}
	/*
	 * For each slot, the columns contain a group number, one or two bytes of the timestamp, a generation,
	 * and one word of the payload.
	 */
	assert_true(round_trip(fixture, KTRX_STREAM_SLOTS_V2, SLOTS) < 5 * SLOTS);
}

/*
 * Fills the slots with records of three slots each, with valid checksums. Slots after the ring's head are
 * from the previous lap.
 */
static void fill_checked(struct fixture *fixture)
{
	for (uint32_t n = 0; n + 3 <= SLOTS; n += 3) {
		uint64_t word[3][4] = { { 0 } }, rest = 0;

		for (uint32_t i = 3; i-- > 0;) {
			uint64_t index = ((n + i < SLOTS / 2 ? LAP : LAP - 1) << SHIFT) + n + i;
			uint32_t lap = ktrx_lap(RING, index, SHIFT);

			word[i][0] = (i == 0   ? KTRX_KIND_FIRST
				      : i == 1 ? KTRX_KIND_MORE
					       : KTRX_KIND_LAST) |
				     ktrx_generation(index, SHIFT) << 3;
			if (i > 0) {
				uint64_t check;

				word[i][1] = UINT64_C(0x0123456789abcdef);
				check = ktrx_check_more(word[i], lap);
				rest = ktrx_check_rest(rest, check);
				word[i][0] |= check & KTRX_TAG_CHECK_MASK;
				continue;
			}
			word[0][0] |= 77 << 16 | (UINT64_C(0xfffffff00) + 3 * n) << 28;
			word[0][1] = 5;
			rest = ktrx_check_of_first(word[0], lap, rest);
			word[0][0] |= rest & KTRX_TAG_CHECK_MASK;
			word[0][1] |= rest & KTRX_W1_CHECK_MASK;
		}
		memcpy(fixture->slot[n], word, sizeof(word));
	}
}

static void checked_slots_shrink(void **state)
{
	struct fixture *fixture = *state;

	fill_checked(fixture);
	assert_true(round_trip(fixture, KTRX_STREAM_CHECKED, SLOTS) < 5 * SLOTS);
	for (uint32_t slots = 1; slots < SLOTS; slots += 7) /* the block may end within a record */
		round_trip(fixture, KTRX_STREAM_CHECKED, slots);
}

/* A slot with a wrong checksum, or of a very old lap, is restored unchanged. */
static void damaged_slots_are_restored_exactly(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned round = 0; round < 300; round++) {
		fill_checked(fixture);
		for (unsigned times = 0; times < 20; times++)
			fixture->slot[draw(fixture) % SLOTS][draw(fixture) % 8] ^= 1u << draw(fixture) % 32;
		round_trip(fixture, KTRX_STREAM_CHECKED, SLOTS);
	}
}

/*
 * Changes bytes of valid columns, and cuts off their end. Damaged columns must be refused or decoded, without
 * access out of bounds.
 */
static void damaged_columns_do_no_harm(void **state)
{
	struct fixture *fixture = *state;
	unsigned refused = 0;

	for (unsigned round = 0; round < 3000; round++) {
		const struct ktread_columns_ring ring = { { KTRX_SLOTS_CHECKED, RING, SHIFT }, HEAD, 0 };
		uint32_t coding = KTRX_STREAM_SLOTS_V1 + round % 3, slots = 1 + round % 60;
		unsigned char *copy;
		size_t size;

		for (uint32_t n = 0; n < slots; n++)
			for (unsigned word = 0; word < 8; word++)
				fixture->slot[n][word] = draw(fixture) >> draw(fixture) % 32;
		size = ktread_columns_encode(fixture->columns, coding, &ring,
					     (const uint32_t(*)[8])fixture->slot, slots, fixture->content);
		for (unsigned times = draw(fixture) % 4; times > 0; times--)
			fixture->content[draw(fixture) % (round % 3 ? 64 : size)] =
				(unsigned char)draw(fixture);
		size = draw(fixture) % 4 ? size : draw(fixture) % size;
		/*
		 * The memory has exactly this size, so that AddressSanitizer detects an access after its end.
		 */
		copy = malloc(size ? size : 1);
		assert_non_null(copy);
		memcpy(copy, fixture->content, size);
		refused +=
			ktread_columns_decode(fixture->columns, coding, copy, size, fixture->back, slots) < 0;
		free(copy);
	}
	assert_in_range(refused, 500, 2999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(any_slots_are_restored_exactly, make_fixture, free_fixture),
		cmocka_unit_test_setup_teardown(empty_slots_take_nothing, make_fixture, free_fixture),
		cmocka_unit_test_setup_teardown(regular_slots_shrink, make_fixture, free_fixture),
		cmocka_unit_test_setup_teardown(checked_slots_shrink, make_fixture, free_fixture),
		cmocka_unit_test_setup_teardown(damaged_slots_are_restored_exactly, make_fixture,
						free_fixture),
		cmocka_unit_test_setup_teardown(damaged_columns_do_no_harm, make_fixture, free_fixture),
	};

	return cmocka_run_group_tests_name("ktread columns", tests, NULL, NULL);
}
