/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests a host's requests: the timer tick executes each request once, in order, and only after it has checked
 * all fields.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/core/core.h"
#include "test/fake/checker.h"
#include "test/fake/machine.h"

KTRACE_EVENT(sched, switch, "%u", (uint32_t, next));
KTRACE_EVENT(mm, fault, "%u", (uint32_t, page));

static uint32_t word;
KTRACE_SETTING_RANGE("test.word", word, 0, 5);

static int boot(void **state)
{
	fake_reset(state);
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	word = 0;
	return 0;
}

static struct ktrx_request *place(uint32_t sequence)
{
	return &ktrace_mailbox.request[sequence % KTRX_MAILBOX_REQUESTS];
}

/* Writes the next request as a host does. */
static uint32_t post(struct ktrx_request request)
{
	request.sequence = ktrace_mailbox.requested + 1;
	request.check = ktrx_request_check(&request);
	*place(request.sequence) = request;
	return ktrace_mailbox.requested = request.sequence;
}

static uint32_t post_event(const char *name, uint8_t state)
{
	uint16_t id = fake_event(name)->id;

	return post((struct ktrx_request){ .op = KTRX_REQUEST_EVENTS,
					   .change = KTRX_CHANGE_STATE,
					   .first = id,
					   .last = id,
					   .state = state });
}

/* Returns the index of a setting in the list of all settings, from 0. */
static uint16_t ordinal(const char *name)
{
	uint16_t n = 0;

	for (struct ktrx_setting *setting = ktrace_setting_first(); setting;
	     setting = ktrace_setting_next(setting), n++)
		if (strcmp(setting->name, name) == 0)
			return n;
	fail_msg("no setting %s", name);
	return 0;
}

static void expect_result(uint32_t sequence, uint32_t result)
{
	assert_int_equal(ktrace_mailbox.applied, ktrace_mailbox.requested);
	assert_int_equal(place(sequence)->result, result);
}

static void the_root_leads_to_the_mailbox(void **state)
{
	const struct ktrx_section *section = &ktrace_root.section[KTRX_SECTION_MAILBOX - 1];

	(void)state;
	assert_int_equal(section->type, KTRX_SECTION_MAILBOX);
	assert_int_equal(section->address, (uintptr_t)&ktrace_mailbox);
	assert_int_equal(section->length, sizeof(ktrace_mailbox));
	assert_true(ktrace_mailbox.nonce == ktrace_root.nonce && ktrace_root.nonce != 0);
}

static void a_request_is_carried_out_at_the_next_tick(void **state)
{
	uint32_t sequence;

	(void)state;
	sequence = post_event("sched.switch", KTRX_STATE_OFF);
	KTRACE(sched, switch, 1);
	assert_int_equal(ktrace_mailbox.applied, 0);
	fake.cpu = 1;
	ktrace_heartbeat(0);
	fake.cpu = 0;
	expect_result(sequence, KTRX_RESULT_DONE);
	assert_true(ktrace_mailbox.applied_stamp != 0);
	KTRACE(sched, switch, 2);
	KTRACE(mm, fault, 3);
	assert_int_equal(check_ring(1)->records, 2);
	post_event("sched.switch", KTRX_STATE_RECORD);
	ktrace_heartbeat(0);
	KTRACE(sched, switch, 4);
	assert_int_equal(check_ring(1)->records, 3);
	assert_int_equal(ktrace_mailbox.refused, 0);
}

static void requests_are_carried_out_in_order_and_once(void **state)
{
	(void)state;
	post_event("sched.switch", KTRX_STATE_OFF);
	post_event("sched.switch", KTRX_STATE_COUNT);
	ktrace_heartbeat(0);
	assert_int_equal(fake_event("sched.switch")->state & ~KTRX_STATE_SLOW, KTRX_STATE_COUNT);
	ktrace_control("sched.switch=on");
	ktrace_heartbeat(0);
	assert_int_equal(fake_event("sched.switch")->state, KTRX_STATE_RECORD);
}

static void all_events_change_by_one_request(void **state)
{
	(void)state;
	post((struct ktrx_request){ .op = KTRX_REQUEST_EVENTS,
				    .change = KTRX_CHANGE_STATE | KTRX_EVENT_SITE << 1,
				    .first = 1,
				    .last = 0xffff,
				    .state = KTRX_STATE_COUNT,
				    .flags = KTRX_EVENT_SITE | 1 });
	ktrace_heartbeat(0);
	for (struct ktrx_event *event = ktrace_event_first(); event; event = ktrace_event_next(event)) {
		assert_int_equal(event->wanted, KTRX_STATE_COUNT);
		/* ignores the flag RARE, which only the event of a panic has */
		assert_int_equal(event->flags & ~KTRX_EVENT_RARE, KTRX_EVENT_SITE);
	}
}

static void recording_stops_starts_and_is_cleared(void **state)
{
	(void)state;
	KTRACE(sched, switch, 1);
	post((struct ktrx_request){ .op = KTRX_REQUEST_STOP });
	ktrace_heartbeat(0);
	assert_false(ktrace_is_started());
	KTRACE(sched, switch, 2);
	assert_int_equal(check_ring(1)->records, 1);
	post((struct ktrx_request){ .op = KTRX_REQUEST_CLEAR });
	post((struct ktrx_request){ .op = KTRX_REQUEST_START });
	ktrace_heartbeat(0);
	assert_true(ktrace_is_started());
	KTRACE(sched, switch, 3);
	assert_int_equal(check_ring(1)->records, 1);
	assert_int_equal(check_ring(1)->record[0].payload[0], 3);
}

static void settings_are_set_within_their_range(void **state)
{
	struct ktrx_request request = { .op = KTRX_REQUEST_SETTING, .value = 5 };

	(void)state;
	request.first = ordinal("test.word");
	post(request);
	ktrace_heartbeat(0);
	assert_int_equal(word, 5);
	request.value = 6;
	post(request);
	ktrace_heartbeat(0);
	expect_result(ktrace_mailbox.requested, KTRX_RESULT_REFUSED);
	request.first = ordinal("debug.ktr.version");
	post(request);
	request.first = 0xffff;
	post(request);
	ktrace_heartbeat(0);
	assert_int_equal(word, 5);
	assert_int_equal(ktrace_root.version, KTRX2_VERSION);
	assert_int_equal(ktrace_mailbox.refused, 3);
}

static void torn_requests_are_rejected_and_skipped(void **state)
{
	uint32_t torn;

	(void)state;
	torn = post_event("sched.switch", KTRX_STATE_OFF);
	place(torn)->last++;
	post_event("mm.fault", KTRX_STATE_OFF);
	ktrace_heartbeat(0);
	expect_result(torn, KTRX_RESULT_TORN);
	assert_int_equal(ktrace_mailbox.refused, 1);
	assert_int_equal(fake_event("sched.switch")->wanted, KTRX_STATE_RECORD);
	assert_int_equal(fake_event("mm.fault")->wanted, KTRX_STATE_OFF);
	ktrace_mailbox.requested++; /* the host has counted a further request, but has not written it */
	ktrace_heartbeat(0);
	expect_result(ktrace_mailbox.requested, KTRX_RESULT_TORN);
}

static void invalid_requests_are_rejected(void **state)
{
	static const struct ktrx_request senseless[] = {
		{ .op = 0 },
		{ .op = 6 },
		{ .op = KTRX_REQUEST_EVENTS, .change = 1, .first = 0, .last = 5 },
		{ .op = KTRX_REQUEST_EVENTS, .change = 1, .first = 2, .last = 1 },
		{ .op = KTRX_REQUEST_EVENTS, .change = 1, .first = 1, .last = 9, .state = KTRX_STATE_SLOW },
		{ .op = KTRX_REQUEST_EVENTS, .change = 1, .first = 1, .last = 9, .state = 8 },
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(senseless) / sizeof(senseless[0]); i++) {
		uint32_t sequence = post(senseless[i]);

		ktrace_heartbeat(0);
		expect_result(sequence, KTRX_RESULT_REFUSED);
	}
	assert_int_equal(fake_event("sched.switch")->state, KTRX_STATE_RECORD);
}

static void requests_overwritten_by_the_host_are_skipped(void **state)
{
	(void)state;
	ktrace_mailbox.requested = 0x80000000;
	ktrace_heartbeat(0);
	assert_int_equal(ktrace_mailbox.applied, 0x80000000);
	assert_int_equal(ktrace_mailbox.refused, 0x80000000);
	ktrace_mailbox.requested--; /* a lower number than before means new requests, too */
	ktrace_heartbeat(0);
	assert_int_equal(ktrace_mailbox.applied, 0x7fffffff);
	assert_int_equal(fake_event("mm.fault")->wanted, KTRX_STATE_RECORD);
	post_event("mm.fault", KTRX_STATE_OFF);
	ktrace_heartbeat(0);
	expect_result(ktrace_mailbox.requested, KTRX_RESULT_DONE);
}

static void sequence_numbers_wrap(void **state)
{
	(void)state;
	ktrace_mailbox.requested = ktrace_mailbox.applied = UINT32_MAX;
	assert_int_equal(post_event("mm.fault", KTRX_STATE_OFF), 0);
	ktrace_heartbeat(0);
	expect_result(0, KTRX_RESULT_DONE);
}

/* At each tick, the mailbox contains random bytes. Nothing may change except what a request can change. */
static void random_requests_are_harmless(void **state)
{
	uint32_t version = ktrace_root.version;

	(void)state;
	srand(7);
	for (uint32_t round = 0; round < 2000; round++) {
		unsigned char *bytes = (unsigned char *)&ktrace_mailbox.request;

		for (size_t i = 0; i < sizeof(ktrace_mailbox.request); i++)
			bytes[i] = (unsigned char)rand();
		for (uint32_t i = 0; i < KTRX_MAILBOX_REQUESTS; i += 2) {
			struct ktrx_request *request = &ktrace_mailbox.request[i];

			request->op %= 7;
			request->sequence = ktrace_mailbox.applied + 1 +
					    (i - (ktrace_mailbox.applied + 1)) % KTRX_MAILBOX_REQUESTS;
			request->check = ktrx_request_check(request);
		}
		ktrace_mailbox.requested += (uint32_t)rand() % 80;
		ktrace_heartbeat(0);
		assert_int_equal(ktrace_mailbox.applied, ktrace_mailbox.requested);
		KTRACE(sched, switch, round);
		assert_int_equal(fake_event("sched.switch")->wanted & ~7, 0);
		assert_true(word <= 5);
	}
	assert_int_equal(ktrace_root.version, version);
}

static void tick_of_another_cpu(void)
{
	fake.cpu = 2;
	ktrace_heartbeat(0);
	fake.cpu = 0;
}

/*
 * The tick of another CPU interrupts the tick, at each point in turn. Each request is still executed and
 * answered exactly once.
 */
static void one_cpu_at_a_time_processes_requests(void **state)
{
	int64_t n = 0;

	for (;; n++) {
		boot(state);
		post((struct ktrx_request){ .op = KTRX_REQUEST_CLEAR });
		post_event("mm.fault", KTRX_STATE_OFF);
		fake_at(n, tick_of_another_cpu);
		ktrace_heartbeat(0);
		assert_int_equal(ktrace_mailbox.applied, 2);
		assert_int_equal(ktrace_mailbox.refused, 0);
		assert_int_equal(fake_event("mm.fault")->state, KTRX_STATE_OFF);
		if (fake_points() <= n)
			break;
	}
	assert_true(n > 3);
}

static void tick_that_asks_for_callers(void)
{
	uint16_t id = fake_event("mm.fault")->id;

	post((struct ktrx_request){ .op = KTRX_REQUEST_EVENTS,
				    .change = KTRX_EVENT_CALLERS << 1,
				    .first = id,
				    .last = id,
				    .flags = 2 });
	ktrace_heartbeat(0);
}

/*
 * The host changes flags of an event while the kernel changes other flags of it, at each point in turn. Both
 * changes must have effect.
 */
static void concurrent_changes_by_the_kernel_stay(void **state)
{
	int64_t points = 1;

	for (int64_t at = 0; at < points; at++) {
		boot(state);
		fake_at(at, tick_that_asks_for_callers);
		assert_int_equal(ktrace_control("mm.fault=site"), KTRACE_OK);
		points = fake_points();
		if (ktrace_mailbox.applied == 1)
			assert_int_equal(fake_event("mm.fault")->flags, 2 | KTRX_EVENT_SITE);
	}
	assert_true(points > 2);
}

static void a_cpu_without_its_own_ring_processes_no_requests(void **state)
{
	fake_reset(state);
	post_event("mm.fault", KTRX_STATE_OFF);
	ktrace_heartbeat(0);
	assert_int_equal(ktrace_mailbox.applied, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_root_leads_to_the_mailbox, boot),
		cmocka_unit_test_setup(a_request_is_carried_out_at_the_next_tick, boot),
		cmocka_unit_test_setup(requests_are_carried_out_in_order_and_once, boot),
		cmocka_unit_test_setup(all_events_change_by_one_request, boot),
		cmocka_unit_test_setup(recording_stops_starts_and_is_cleared, boot),
		cmocka_unit_test_setup(settings_are_set_within_their_range, boot),
		cmocka_unit_test_setup(torn_requests_are_rejected_and_skipped, boot),
		cmocka_unit_test_setup(invalid_requests_are_rejected, boot),
		cmocka_unit_test_setup(requests_overwritten_by_the_host_are_skipped, boot),
		cmocka_unit_test_setup(sequence_numbers_wrap, boot),
		cmocka_unit_test_setup(random_requests_are_harmless, boot),
		cmocka_unit_test_setup(one_cpu_at_a_time_processes_requests, boot),
		cmocka_unit_test_setup(concurrent_changes_by_the_kernel_stay, boot),
		cmocka_unit_test_setup(a_cpu_without_its_own_ring_processes_no_requests, fake_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
