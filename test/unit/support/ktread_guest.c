/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/ktread_guest.h"

#include <stdlib.h>
#include <string.h>

void guest_show(struct guest *guest)
{
	writer_memory_update(&guest->writer, guest->memory);
}

static int guest_read(void *context, uint64_t physical, void *buffer, size_t bytes)
{
	struct guest *guest = context;

	assert_true(physical + bytes <= WRITER_MEMORY_SIZE);
	memcpy(buffer, guest->memory + physical, bytes);
	for (uint32_t i = 0; i < guest->pace && guest->made < guest->most; i++, guest->made++) {
		put_switch(&guest->writer, 1, guest->stamp++, guest->made);
		put_switch(&guest->writer, 2, guest->stamp++, guest->made);
	}
	if (guest->pace)
		guest_show(guest);
	return 0;
}

static int guest_ended(void *context)
{
	const struct guest *guest = context;

	return guest->ended || (guest->end_when_made && guest->made == guest->most);
}

struct guest *guest_start(uint32_t rings)
{
	struct guest *guest = calloc(1, sizeof(*guest));

	assert_non_null(guest);
	guest->memory = calloc(1, WRITER_MEMORY_SIZE);
	assert_non_null(guest->memory);
	guest->stamp = 1000;
	begin(&guest->writer, rings);
	return guest;
}

void guest_follow_with(struct guest *guest, const struct ktread_follow_options *options)
{
	const struct ktread_memory_ops ops = { .read = guest_read, .ended = guest_ended };
	const struct ktread_range range = { 0, WRITER_MEMORY_SIZE };

	writer_memory(&guest->writer, guest->memory, 0);
	assert_int_equal(ktread_memory_open(&guest->source, &ops, guest, &range, 1), 0);
	assert_int_equal(ktread_follow_open_memory(&guest->follow, guest->source, options), 0);
}

void guest_follow(struct guest *guest, uint32_t patience, int by_ring)
{
	const struct ktread_follow_options options = { .size = sizeof(options),
						       .patience_ms = patience,
						       .interval_ms = 1,
						       .appear_ms = 1,
						       .by_ring = by_ring };

	guest_follow_with(guest, &options);
}

void guest_finish(struct guest *guest)
{
	struct ktread_follow_account account;

	ktread_follow_account(guest->follow, &account);
	assert_int_equal(account.produced, account.shown + account.overwritten + account.unreadable +
						   account.skipped + account.pending);
	ktread_follow_close(guest->follow);
	ktread_memory_close(guest->source);
	free(guest->memory);
	writer_close(&guest->writer);
	free(guest);
}

struct ktread_followed guest_next(struct guest *guest)
{
	struct ktread_followed now;
	int status = ktread_follow_next(guest->follow, &now, -1);

	if (status < 0)
		fail_msg("%s", ktread_follow_message(guest->follow));
	assert_int_equal(status, 1);
	return now;
}

void guest_expect_boot(struct guest *guest, uint64_t boot)
{
	struct ktread_followed now = guest_next(guest);

	assert_int_equal(now.kind, KTREAD_FOLLOWED_BOOT);
	assert_int_equal(now.boot, boot);
}

void guest_expect_end(struct guest *guest)
{
	for (int i = 0; i < 2; i++)
		assert_int_equal(guest_next(guest).kind, KTREAD_FOLLOWED_END);
}

void guest_end(struct guest *guest)
{
	guest->ended = 1;
	guest_expect_end(guest);
	guest_finish(guest);
}

uint32_t guest_prev_of(const struct ktread_event *event)
{
	struct ktread_value value;

	assert_string_equal(event->type->name, "switch");
	assert_int_equal(ktread_value(event, 0, &value), 0);
	return (uint32_t)value.number;
}

void guest_expect_event(struct guest *guest, uint32_t prev, int late)
{
	struct ktread_followed now = guest_next(guest);

	assert_int_equal(now.kind, KTREAD_FOLLOWED_EVENT);
	assert_int_equal(guest_prev_of(now.event), prev);
	assert_int_equal(now.late, late);
}

void guest_expect_nothing(struct guest *guest)
{
	struct ktread_follow_account account;
	struct ktread_followed now;
	uint64_t polls;

	ktread_follow_account(guest->follow, &account);
	polls = account.polls;
	while (account.polls < polls + 4) {
		assert_int_equal(ktread_follow_next(guest->follow, &now, 1), 0);
		ktread_follow_account(guest->follow, &account);
	}
}
