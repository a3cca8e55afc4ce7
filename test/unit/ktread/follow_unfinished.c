/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests a reader that follows a guest whose records are finished late, or never. */
#include <string.h>

#include "unit/support/ktread_guest.h"

/* Writes a record into slots that were reserved earlier, beginning with slot `index`. */
static void complete(struct guest *guest, uint32_t ring, uint64_t index, uint64_t stamp, uint32_t prev)
{
	uint64_t head = guest->writer.ring[ring].head;

	guest->writer.ring[ring].head = index;
	put_switch(&guest->writer, ring, stamp, prev);
	guest->writer.ring[ring].head = head;
}

static void unfinished_record_is_waited_for(void **state)
{
	struct guest *guest = guest_start(3);
	uint64_t index;

	(void)state;
	put_switch(&guest->writer, 1, 1000, 1);
	put_switch(&guest->writer, 2, 1001, 2);
	guest_follow(guest, FOREVER_MS, 0);
	guest_expect_boot(guest, 1);
	guest_expect_event(guest, 1, 0);
	guest_expect_event(guest, 2, 0);
	index = writer_reserve(&guest->writer, 1, 1);
	put_switch(&guest->writer, 1, 1020, 4);
	put_switch(&guest->writer, 2, 1030, 5);
	guest_show(guest);
	guest_expect_nothing(guest);
	complete(guest, 1, index, 1010, 3);
	guest_show(guest);
	guest_expect_event(guest, 3, 0);
	guest_expect_event(guest, 4, 0);
	guest_expect_event(guest, 5, 0);
	guest_end(guest);
}

static void unfinished_record_is_passed_over_and_comes_late(void **state)
{
	struct guest *guest = guest_start(3);
	struct ktread_follow_account account;
	uint64_t index, never;

	(void)state;
	put_switch(&guest->writer, 1, 1000, 1);
	index = writer_reserve(&guest->writer, 1, 1);
	put_switch(&guest->writer, 1, 1020, 3);
	never = writer_reserve(&guest->writer, 2, 2);
	put_switch(&guest->writer, 2, 1030, 4);
	guest_follow(guest, 1, 0);
	guest_expect_boot(guest, 1);
	guest_expect_event(guest, 1, 0);
	guest_expect_event(guest, 3, 0);
	guest_expect_event(guest, 4, 0);
	guest_expect_nothing(guest);
	complete(guest, 1, index, 1010, 2);
	guest_show(guest);
	guest_expect_event(guest, 2, 1);
	guest_expect_nothing(guest);
	ktread_follow_account(guest->follow, &account);
	assert_int_equal(account.late, 1);
	assert_int_equal(account.pending, 2);
	assert_int_equal(never, guest->writer.ring[2].row.first);
	guest->ended = 1;
	guest_expect_end(guest);
	ktread_follow_account(guest->follow, &account);
	assert_int_equal(account.pending, 0);
	assert_int_equal(account.unreadable, 2);
	assert_int_equal(account.events, 4);
	guest_finish(guest);
}

/* The record has several slots, and its first slot is written last. */
static void long_record_comes_late_as_a_whole(void **state)
{
	static const char path[] = "/usr/share/misc/a name that takes more than one slot of a ring";
	struct guest *guest = guest_start(2);
	struct ktread_followed now;
	struct writer_slot first;
	uint64_t index;
	char text[160];

	(void)state;
	put_switch(&guest->writer, 1, 1000, 1);
	index = put_open(&guest->writer, 1, 1010, path);
	first = *writer_slot_at(&guest->writer, 1, index);
	memset(writer_slot_at(&guest->writer, 1, index), 0, sizeof(first));
	put_switch(&guest->writer, 1, 1020, 2);
	guest_follow(guest, 1, 0);
	guest_expect_boot(guest, 1);
	guest_expect_event(guest, 1, 0);
	guest_expect_event(guest, 2, 0);
	guest_expect_nothing(guest);
	*writer_slot_at(&guest->writer, 1, index) = first;
	guest_show(guest);
	now = guest_next(guest);
	assert_int_equal(now.kind, KTREAD_FOLLOWED_EVENT);
	assert_true(now.late);
	ktread_format(now.event, text, sizeof(text));
	assert_non_null(strstr(text, path));
	guest_end(guest);
}

/* The reader skips an unfinished record. The record is then overwritten before it is finished. */
static void record_that_is_never_finished_is_counted(void **state)
{
	struct guest *guest = guest_start(2);
	struct ktread_follow_account account;

	(void)state;
	put_switch(&guest->writer, 1, 1000, 0);
	writer_reserve(&guest->writer, 1, 1);
	guest_follow(guest, 1, 0);
	guest_expect_boot(guest, 1);
	guest_expect_event(guest, 0, 0);
	for (uint32_t i = 1; i <= 2 * SLOTS; i++) {
		put_switch(&guest->writer, 1, 1000 + i, i);
		guest_show(guest);
		guest_expect_event(guest, i, 0);
	}
	ktread_follow_account(guest->follow, &account);
	assert_int_equal(account.pending, 0);
	assert_int_equal(account.unreadable, 1);
	guest_end(guest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unfinished_record_is_waited_for),
		cmocka_unit_test(unfinished_record_is_passed_over_and_comes_late),
		cmocka_unit_test(long_record_comes_late_as_a_whole),
		cmocka_unit_test(record_that_is_never_finished_is_counted),
	};

	return cmocka_run_group_tests_name("ktread follow unfinished", tests, NULL, temporary_teardown);
}
