/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Measures how often the checksum of a first slot does not detect that the slot contains words of two or
 * three writers. Each word consists of two pieces of 32 bits, because a writer stores at least 32 bits at a
 * time. Every combination of pieces is tried. Random numbers have a fixed seed, so the counts are the same in
 * each run.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "unit/support/ktread_support.h"
#include "ktrx/slot.h"

/* number of 32-bit pieces of a slot after its first word, whose generation shows whether it is mixed */
#define PIECES 6u
/*
 * number of mixtures that are tried of each combination of pieces; a test tries fewer if it only checks for
 * twice the usual number of misses
 */
#define ROUNDS	     3000u
#define ROUNDS_USUAL 600u
#define MOST_USUAL   2048

static uint64_t seed;

static uint64_t draw(void)
{
	uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

struct payload {
	uint64_t a, b;
	uint32_t c;
};

static struct payload noise(uint64_t n)
{
	(void)n;
	return (struct payload){ draw(), draw(), (uint32_t)draw() };
}

static struct payload complement(uint64_t n)
{
	return (struct payload){ n, ~n, 0 };
}

static struct payload counters(uint64_t n)
{
	uint32_t m = (uint32_t)n;

	return (struct payload){ m | (uint64_t)(m + 1) << 32, (m + 2) | (uint64_t)(m + 3) << 32, m + 4 };
}

static struct payload one_counter(uint64_t n)
{
	return (struct payload){ n, 0, 0 };
}

static struct payload second_counter(uint64_t n)
{
	return (struct payload){ 0, n, 0 };
}

static struct payload same_thrice(uint64_t n)
{
	return (struct payload){ n, n, (uint32_t)n };
}

static struct payload cursor_and_rest(uint64_t n)
{
	return (struct payload){ UINT64_C(0xffff888000000000) + n * 8, UINT64_C(0xffff888000100000) + n * 8,
				 (uint32_t)(1000 - n) };
}

static struct payload pointers(uint64_t n)
{
	return (struct payload){ UINT64_C(0xffff888000000000) + n * 64, UINT64_C(0xffffffff80000000) + n * 16,
				 (uint32_t)n };
}

static struct payload large_pages(uint64_t n)
{
	return (struct payload){ UINT64_C(0xffff888000000000), n << 21, 0 };
}

static struct payload top_bytes(uint64_t n)
{
	return (struct payload){ n << 56, n << 56, (uint32_t)n << 24 };
}

static struct payload upper_halves(uint64_t n)
{
	return (struct payload){ n << 32, n << 32, 0 };
}

static struct payload one_bit(uint64_t n)
{
	uint64_t bit = UINT64_C(1) << (n & 63);

	return (struct payload){ bit, ~bit, 1u << (n & 31) };
}

static struct payload single_bits(uint64_t n)
{
	(void)n;
	return (struct payload){ UINT64_C(1) << draw() % 64, UINT64_C(1) << draw() % 64, 1u << draw() % 32 };
}

/* Each word is a flag: 0 or 1. */
static struct payload flags(uint64_t n)
{
	uint64_t bits = draw();

	(void)n;
	return (struct payload){ bits & 1, bits >> 1 & 1, bits >> 2 & 1 };
}

static struct payload all_or_no_bits(uint64_t n)
{
	struct payload payload = flags(n);

	return (struct payload){ 0 - payload.a, 0 - payload.b, 0 - payload.c };
}

/* Each word is a small negative number, such as an error. */
static struct payload errors(uint64_t n)
{
	uint64_t bits = draw();

	(void)n;
	return (struct payload){ ~(bits & 7), ~(bits >> 3 & 7), ~(uint32_t)(bits >> 6 & 7) };
}

/*
 * Records differ only in the word c of their payload words a, b and c, and c is a small number. The checksum
 * adds c to the lap and to a multiple of the thread id. So a different c in a different lap may have the same
 * sum.
 */
static struct payload small_last_word(uint64_t n)
{
	(void)n;
	return (struct payload){ UINT64_C(0xffff888000001000), 0, draw() & 3 };
}

/* The checksum misses at most 1 in `most` mixtures, as the specification states. */
static const struct {
	const char *name;
	struct payload (*make)(uint64_t n);
	unsigned most;
} kinds[] = {
	{ "random", noise, MOST_USUAL },
	{ "n, ~n", complement, MOST_USUAL },
	{ "n to n + 4", counters, MOST_USUAL },
	{ "n", one_counter, MOST_USUAL },
	{ "0, n", second_counter, MOST_USUAL },
	{ "n, n, n", same_thrice, MOST_USUAL },
	{ "cursors and what is left", cursor_and_rest, MOST_USUAL },
	{ "pointers", pointers, MOST_USUAL },
	{ "large pages", large_pages, MOST_USUAL },
	{ "top bytes", top_bytes, MOST_USUAL },
	{ "upper halves", upper_halves, MOST_USUAL },
	{ "one bit", one_bit, MOST_USUAL },
	{ "single bits", single_bits, MOST_USUAL },
	{ "all or no bits", all_or_no_bits, 1300 },
	{ "errors", errors, 1300 },
	{ "flags", flags, 800 },
	{ "small last word", small_last_word, 300 },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct slot {
	uint32_t piece[2 + PIECES];
};

static struct slot slot_made(struct payload payload, uint32_t thread, uint32_t lap)
{
	uint64_t check = ktrx_check_first(payload.a, payload.b, payload.c, thread, lap, 0);
	struct slot slot = { { KTRX_KIND_SINGLE | (lap & 255) << 3 | ((uint32_t)check & KTRX_TAG_CHECK_MASK),
			       0, thread | ((uint32_t)check & KTRX_W1_CHECK_MASK) } };

	memcpy(&slot.piece[3], &payload.a, 8);
	memcpy(&slot.piece[5], &payload.b, 8);
	slot.piece[7] = payload.c;
	return slot;
}

static bool is_accepted(const struct slot *slot, uint32_t lap)
{
	uint64_t word[4];

	memcpy(word, slot, sizeof(word));
	return ktrx_first_is_checked(word, lap, 0) != 0;
}

struct tally {
	uint64_t mixed, missed;
};

/*
 * Makes a slot of a random lap. Its pieces are from writers of this lap and of the two laps before it: piece
 * p is from writer[owner[p]].
 */
static void mix_once(struct payload (*make)(uint64_t n), const unsigned *owner, bool one_thread,
		     struct tally *tally)
{
	uint64_t n = draw() >> draw() % 64, lap = draw() >> 36;
	uint32_t thread = (uint32_t)draw() & 0xffff;
	struct slot writer[3], slot;

	for (unsigned w = 0; w < 3; w++) {
		writer[w] = slot_made(make(n), thread, (uint32_t)(lap - w));
		n += 1 + (draw() >> (32 + draw() % 32));
		thread = one_thread ? thread : (uint32_t)draw() & 0xffff;
	}
	slot = writer[0];
	for (unsigned p = 0; p < PIECES; p++)
		slot.piece[2 + p] = writer[owner[p]].piece[2 + p];
	if (memcmp(&slot, &writer[0], sizeof(slot)) == 0)
		return;
	tally->mixed++;
	tally->missed += is_accepted(&slot, (uint32_t)lap);
}

static struct tally mix_all(struct payload (*make)(uint64_t n), bool one_thread, unsigned rounds)
{
	struct tally tally = { 0 };

	seed = 1;
	for (unsigned subset = 1; subset < 729; subset++) { /* 729 is 3 to the power of PIECES */
		unsigned owner[PIECES], rest = subset;

		for (unsigned p = 0; p < PIECES; p++, rest /= 3)
			owner[p] = rest % 3;
		for (unsigned round = 0; round < rounds; round++)
			mix_once(make, owner, one_thread, &tally);
	}
	return tally;
}

/*
 * With random words, a checksum of 12 bits misses 1 mixture in 4096. The allowed deviation of 10 % is 2.3
 * standard deviations.
 */
static void one_in_4096_mixtures_of_random_words_is_missed(void **state)
{
	struct tally tally = mix_all(noise, false, ROUNDS);

	(void)state;
	print_message("random: %llu missed of %llu mixed slots\n", (unsigned long long)tally.missed,
		      (unsigned long long)tally.mixed);
	assert_in_range(tally.missed, tally.mixed / 4096 * 9 / 10, tally.mixed / 4096 * 11 / 10);
}

/*
 * Payloads of real records are similar. The checksum misses more mixtures of similar payloads than of random
 * words.
 */
static void mixtures_of_similar_records_are_missed_as_often_as_stated(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 2 * KINDS; n++) {
		struct tally tally = mix_all(kinds[n / 2].make, n % 2,
					     kinds[n / 2].most < MOST_USUAL ? ROUNDS : ROUNDS_USUAL);

		print_message("%s, %s: 1 in %.0f\n", kinds[n / 2].name, n % 2 ? "one thread" : "any threads",
			      tally.missed ? (double)tally.mixed / (double)tally.missed : 0);
		assert_true(tally.missed * kinds[n / 2].most <= tally.mixed);
	}
}

/*
 * The slot contains a complete record from an earlier lap. The tag of that lap equals the tag of the expected
 * lap.
 */
static void records_of_multiples_of_256_laps_ago_are_not_taken(void **state)
{
	uint64_t missed = 0, tries = 1 << 20;

	(void)state;
	seed = 2;
	for (uint64_t i = 0; i < tries; i++) {
		uint32_t lap = (uint32_t)draw(), ago = 256 * (1 + (uint32_t)draw() % 1000);
		struct slot slot = slot_made(noise(0), 7, lap - ago);

		missed += is_accepted(&slot, lap);
	}
	assert_in_range(missed, tries / 4096 * 3 / 4, tries / 4096 * 5 / 4);
}

/*
 * One word of a continuation slot belongs to another writer. The mixture is missed only if both checksums
 * miss it: that of the continuation slot and that of the first slot.
 */
static void continuations_are_checked_twice(void **state)
{
	uint64_t missed = 0, tries = 1 << 21;

	(void)state;
	seed = 3;
	for (uint64_t i = 0; i < tries; i++) {
		uint64_t word[4] = { KTRX_KIND_LAST | draw() << 16, draw(), draw(), draw() }, check, other;
		uint64_t first[4] = { KTRX_KIND_FIRST, 7, draw(), draw() };
		uint32_t lap = (uint32_t)draw();

		check = ktrx_check_more(word, lap);
		word[0] |= check & KTRX_TAG_CHECK_MASK;
		other = ktrx_check_of_first(first, lap, ktrx_check_rest(0, check));
		first[0] |= other & KTRX_TAG_CHECK_MASK;
		first[1] |= other & KTRX_W1_CHECK_MASK;
		word[1 + i % 3] = draw();
		check = ktrx_check_more(word, lap);
		missed += ((check ^ word[0]) & KTRX_TAG_CHECK_MASK) == 0 &&
			  ktrx_first_is_checked(first, lap, ktrx_check_rest(0, check));
	}
	/* 16 misses are expected: each mixture is missed with a probability of 2^-17 */
	assert_in_range(missed, 4, 36);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_in_4096_mixtures_of_random_words_is_missed),
		cmocka_unit_test(mixtures_of_similar_records_are_missed_as_often_as_stated),
		cmocka_unit_test(records_of_multiples_of_256_laps_ago_are_not_taken),
		cmocka_unit_test(continuations_are_checked_twice),
	};

	return cmocka_run_group_tests_name("ktrx check", tests, NULL, NULL);
}
