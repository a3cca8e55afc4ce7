/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests a reader that follows a guest: the events, their order, the numbers of lost slots, and the end of the
 * guest.
 */
#include <stdlib.h>
#include <string.h>

#include "unit/support/ktread_guest.h"

/*
 * Reads to the end. Each CPU's records are numbered. The test fails if a record is read twice or out of
 * order. It also fails if a record is missing and no lost slots are reported directly before the next record.
 * Returns how many slots were reported as lost.
 */
static uint64_t read_numbered(struct guest *guest)
{
	uint64_t expected[2] = { 0 }, lost = 0, gaps = 0, last = 0;
	struct ktread_followed now;

	while ((now = guest_next(guest)).kind != KTREAD_FOLLOWED_END) {
		uint32_t cpu;

		if (now.kind == KTREAD_FOLLOWED_LOST)
			lost += now.slots;
		if (now.kind != KTREAD_FOLLOWED_EVENT)
			continue;
		cpu = now.event->cpu;
		assert_in_range(cpu, 0, 1);
		/* The anchor before the first record also takes a slot. */
		gaps += now.event->lost;
		expected[cpu] += now.event->lost - (expected[cpu] == 0 && now.event->lost > 0);
		assert_int_equal(guest_prev_of(now.event), expected[cpu]++);
		assert_false(now.late);
		assert_true(now.event->stamp >= last);
		last = now.event->stamp;
	}
	assert_int_equal(gaps, lost);
	assert_int_equal(expected[0], guest->most);
	assert_int_equal(expected[1], guest->most);
	return lost;
}

/*
 * Reads to the end. Checks that event->lost of each event is the number of slots that are missing since the
 * previous event of that CPU.
 */
static void expect_numbered_with_gaps(struct guest *guest)
{
	uint64_t expected[2] = { 0 };
	struct ktread_followed now;

	while ((now = guest_next(guest)).kind != KTREAD_FOLLOWED_END) {
		uint64_t *number;

		if (now.kind != KTREAD_FOLLOWED_EVENT)
			continue;
		number = &expected[now.event->cpu];
		*number += now.event->lost - (*number == 0 && now.event->lost > 0);
		assert_int_equal(guest_prev_of(now.event), (*number)++);
	}
	assert_int_equal(expected[0], guest->most);
	assert_int_equal(expected[1], guest->most);
}

static void all_events_come_once_and_in_order(void **state)
{
	struct guest *guest = guest_start(3);

	(void)state;
	guest->pace = 1; /* few enough that nothing is overwritten while the reader looks for the rings */
	guest->most = 3000;
	guest->end_when_made = 1;
	guest_follow(guest, FOREVER_MS, 0);
	assert_int_equal(read_numbered(guest), 0);
	guest_finish(guest);
}

/*
 * At each read, the reader reads only the newest slots, and skips older ones. The next event reports the
 * number of skipped slots.
 */
static void slots_skipped_by_a_sample_are_counted(void **state)
{
	const struct ktread_follow_options options = { .size = sizeof(options),
						       .patience_ms = FOREVER_MS,
						       .interval_ms = 1,
						       .appear_ms = 1,
						       .sample = 48 };
	struct guest *guest = guest_start(3);
	struct ktread_follow_account account;

	(void)state;
	guest->pace = 40;
	guest->most = 20000;
	guest->end_when_made = 1;
	guest_follow_with(guest, &options);
	expect_numbered_with_gaps(guest);
	ktread_follow_account(guest->follow, &account);
	assert_int_equal(account.produced, 2 * 20000 + 2);
	assert_true(account.skipped > 0);
	assert_true(account.events > 0);
	guest_finish(guest);
}

static void loss_is_exact(void **state)
{
	struct guest *guest = guest_start(3);
	struct ktread_follow_account account;
	uint64_t lost;

	(void)state;
	guest_follow(guest, FOREVER_MS, 0);
	guest_expect_boot(guest, 1);
	guest->pace = 190;
	guest->most = 20000;
	guest->end_when_made = 1;
	lost = read_numbered(guest);
	assert_true(lost > 0);
	ktread_follow_account(guest->follow, &account);
	assert_int_equal(account.overwritten, lost);
	assert_int_equal(account.produced, 2 * 20000 + 2);
	assert_in_range(account.shown - account.events, 0, 2); /* the difference is the number of anchors */
	guest_finish(guest);
}

static void loss_before_following_is_reported(void **state)
{
	struct guest *guest = guest_start(2);
	struct ktread_followed now;

	(void)state;
	for (uint32_t i = 0; i < SLOTS + 9; i++)
		put_switch(&guest->writer, 1, 1000 + i, i);
	guest->ended = 1;
	guest_follow(guest, FOREVER_MS, 0);
	guest_expect_boot(guest, 1);
	now = guest_next(guest);
	assert_int_equal(now.kind, KTREAD_FOLLOWED_LOST);
	assert_int_equal(now.cpu, 0);
	/* the lost slots: nine records and the anchor before the first one */
	assert_int_equal(now.slots, 10);
	for (uint32_t i = 9; i < SLOTS + 9; i++)
		guest_expect_event(guest, i, 0);
	guest_expect_end(guest);
	guest_finish(guest);
}

static void silent_cpus_delay_nothing(void **state)
{
	struct guest *guest = guest_start(4);

	(void)state;
	guest_follow(guest, FOREVER_MS, 0);
	guest_expect_boot(guest, 1);
	for (uint32_t i = 0; i < 20; i++) {
		put_switch(&guest->writer, 1, 1000 + i, i);
		guest_show(guest);
		guest_expect_event(guest, i, 0);
	}
	guest_end(guest);
}

static void nested_records_are_put_in_order(void **state)
{
	struct guest *guest = guest_start(2);

	(void)state;
	guest_follow(guest, FOREVER_MS, 0);
	guest_expect_boot(guest, 1);
	put_switch(&guest->writer, 1, 1020, 2);
	put_switch(&guest->writer, 1, 1010, 1);
	put_switch(&guest->writer, 1, 1030, 3);
	guest_show(guest);
	for (uint32_t i = 1; i <= 3; i++)
		guest_expect_event(guest, i, 0);
	guest_end(guest);
}

static void rings_are_returned_one_by_one_on_request(void **state)
{
	struct guest *guest = guest_start(3);

	(void)state;
	put_switch(&guest->writer, 1, 1000, 1);
	put_switch(&guest->writer, 2, 1010, 3);
	put_switch(&guest->writer, 1, 1020, 2);
	put_switch(&guest->writer, 2, 1030, 4);
	guest->ended = 1;
	guest_follow(guest, FOREVER_MS, 1);
	guest_expect_boot(guest, 1);
	for (uint32_t i = 1; i <= 4; i++)
		guest_expect_event(guest, i, 0);
	guest_expect_end(guest);
	guest_finish(guest);
}

static void next_boot_is_reported(void **state)
{
	struct guest *guest = guest_start(3);

	(void)state;
	put_switch(&guest->writer, 1, 1000, 1);
	put_switch(&guest->writer, 1, 1010, 2);
	guest_follow(guest, FOREVER_MS, 0);
	guest_expect_boot(guest, 1);
	guest_expect_event(guest, 1, 0);
	guest_expect_event(guest, 2, 0);
	/* A reset erases the image. The reader finds no trace until the kernel records again. */
	memset(guest->memory, 0, WRITER_MEMORY_SIZE);
	guest_expect_nothing(guest);
	writer_close(&guest->writer);
	begin(&guest->writer, 3);
	guest->writer.root.nonce += 0x100;
	put_switch(&guest->writer, 2, 5, 7);
	writer_memory(&guest->writer, guest->memory, 0);
	guest_expect_boot(guest, 2);
	guest_expect_event(guest, 7, 0);
	put_switch(&guest->writer, 1, 10, 8);
	guest_show(guest);
	guest_expect_event(guest, 8, 0);
	guest_end(guest);
}

/* At first, the trace has only two rings. After some records, the kernel adds a third one. */
static void rings_that_come_later_are_followed(void **state)
{
	struct guest *guest = guest_start(3);

	(void)state;
	guest->writer.rings = 2;
	put_switch(&guest->writer, 1, 1000, 1);
	guest_follow(guest, FOREVER_MS, 0);
	guest_expect_boot(guest, 1);
	guest_expect_event(guest, 1, 0);
	put_switch(&guest->writer, 1, 1010, 2);
	guest->writer.rings = 3;
	put_switch(&guest->writer, 2, 1020, 3);
	guest->writer.root.sequence += 2;
	writer_memory(&guest->writer, guest->memory, 0);
	guest_expect_event(guest, 2, 0);
	guest_expect_event(guest, 3, 0);
	guest_end(guest);
}

static void stopping_returns_the_remaining_events(void **state)
{
	struct guest *guest = guest_start(2);

	(void)state;
	put_switch(&guest->writer, 1, 1000, 1);
	writer_reserve(&guest->writer, 1, 1);
	put_switch(&guest->writer, 1, 1010, 2);
	guest_follow(guest, FOREVER_MS, 0);
	guest_expect_boot(guest, 1);
	guest_expect_event(guest, 1, 0);
	ktread_follow_stop(guest->follow);
	guest_expect_event(guest, 2, 0);
	guest_expect_end(guest);
	guest_finish(guest);
}

static void following_ends_without_ktrace_in_memory(void **state)
{
	struct guest *guest = guest_start(2);

	(void)state;
	guest_follow(guest, FOREVER_MS, 0);
	memset(guest->memory, 0, WRITER_MEMORY_SIZE);
	guest_end(guest);
}

static void trace_is_refused_and_memory_file_is_followed(void **state)
{
	struct guest *guest = guest_start(2);
	struct ktread_follow *follow;
	struct ktread_followed now;
	struct bytes dump = { NULL, 0 };

	(void)state;
	put_switch(&guest->writer, 1, 1000, 1);
	writer_dump(&guest->writer, &dump);
	assert_int_equal(ktread_follow_open(&follow, temporary_bytes(&dump), NULL), KTREAD_E_UNSUPPORTED);
	assert_null(follow);
	assert_int_equal(ktread_follow_open(&follow, "/nowhere/at/all", NULL), KTREAD_E_SYSTEM);
	bytes_free(&dump);
	/* The RAM file of a guest that has ended. */
	writer_memory(&guest->writer, guest->memory, 0);
	assert_int_equal(ktread_follow_open(&follow, temporary(guest->memory, WRITER_MEMORY_SIZE), NULL), 0);
	assert_int_equal(ktread_follow_next(follow, &now, -1), 1);
	assert_int_equal(now.kind, KTREAD_FOLLOWED_BOOT);
	assert_int_equal(ktread_follow_next(follow, &now, -1), 1);
	assert_int_equal(now.kind, KTREAD_FOLLOWED_EVENT);
	assert_int_equal(ktread_follow_next(follow, &now, -1), 1);
	assert_int_equal(now.kind, KTREAD_FOLLOWED_END);
	ktread_follow_close(follow);
	free(guest->memory);
	writer_close(&guest->writer);
	free(guest);
}

/* Reads until there are no more events. */
static void exhaust(struct guest *guest)
{
	struct ktread_followed now;
	int status;

	while ((status = ktread_follow_next(guest->follow, &now, -1)) > 0 && now.kind != KTREAD_FOLLOWED_END)
		;
	assert_in_range(status + 10, 4, 11);
}

/*
 * The reader reads some parts of the memory repeatedly. Any bit of these parts may change between two reads.
 */
static void flipped_bits_do_no_harm(void **state)
{
	static const struct {
		uint32_t from, size;
	} parts[] = { { WRITER_ROOT, 200 },
		      { 0x11000, sizeof(struct ktrx_ring) },
		      { 0x11200, 24 },
		      { WRITER_BLOCK + 64, 2 * sizeof(struct ktrx_ring) } };

	(void)state;
	for (unsigned part = 0; part < sizeof(parts) / sizeof(parts[0]); part++)
		for (uint32_t i = 0; i < parts[part].size; i += 3) {
			struct guest *guest = guest_start(3);
			struct ktread_followed now;

			for (uint32_t n = 0; n < 20; n++)
				put_switch(&guest->writer, 1 + n % 2, 1000 + n, n);
			guest_follow(guest, 1, 0);
			assert_int_equal(ktread_follow_next(guest->follow, &now, -1), 1);
			ktread_follow_next(guest->follow, &now, 0);
			guest->memory[parts[part].from + i] ^= (unsigned char)(1u << i % 8);
			ktread_follow_next(guest->follow, &now, 2);
			guest->ended = 1;
			exhaust(guest);
			ktread_follow_close(guest->follow);
			ktread_memory_close(guest->source);
			free(guest->memory);
			writer_close(&guest->writer);
			free(guest);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_events_come_once_and_in_order),
		cmocka_unit_test(loss_is_exact),
		cmocka_unit_test(slots_skipped_by_a_sample_are_counted),
		cmocka_unit_test(loss_before_following_is_reported),
		cmocka_unit_test(silent_cpus_delay_nothing),
		cmocka_unit_test(nested_records_are_put_in_order),
		cmocka_unit_test(rings_are_returned_one_by_one_on_request),
		cmocka_unit_test(next_boot_is_reported),
		cmocka_unit_test(rings_that_come_later_are_followed),
		cmocka_unit_test(stopping_returns_the_remaining_events),
		cmocka_unit_test(following_ends_without_ktrace_in_memory),
		cmocka_unit_test(trace_is_refused_and_memory_file_is_followed),
		cmocka_unit_test(flipped_bits_do_no_harm),
	};

	return cmocka_run_group_tests_name("ktread follow", tests, NULL, temporary_teardown);
}
