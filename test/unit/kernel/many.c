/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests a kernel with more events than ids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernel/core/core.h"
#include "test/fake/checker.h"
#include "test/fake/machine.h"

#define ROWS (KTRX_EVENT_MAX + 5)

/* The descriptors that KTRACE_EVENT() would define for the event many.row, if it were declared many times. */
static struct {
	struct ktrx_event event;
	char strings[16];
} many[ROWS] __attribute__((section("ktrace_events"), aligned(8), used)) = {
	[0 ... ROWS - 1] = { { .magic = KTRX_EVENT_MAGIC,
			       .size = sizeof(many[0]),
			       .state = KTRX_STATE_RECORD | KTRX_STATE_SLOW,
			       .wanted = KTRX_STATE_RECORD,
			       .header = KTRACE_HEADER_SLOW,
			       .v1_id = KTRX_V1_NONE },
			     "many\0row\0\0" },
};

/* Records every event once. Returns the number of events that get no id. */
static uint32_t record_all(void)
{
	uint32_t without = 0;

	for (struct ktrx_event *event = ktrace_event_first(); event; event = ktrace_event_next(event)) {
		struct ktrace_packer none;
		uint64_t word[KTRACE_PACKER_WORDS("")];

		ktrace_packer_set(&none, word, event, 1, 0, KTRACE_NULL);
		ktrace_emit_here(&none);
		without += event->id == 0;
	}
	return without;
}

static void events_beyond_the_last_id_are_lost_and_counted(void **state)
{
	uint32_t without;

	(void)state;
	without = record_all();
	assert_true(without >= 5);
	assert_int_equal(ktrace_root.lost_events, without);
	fake_boot(8192, KTRX_POLICY_OVERWRITE, 0);
	assert_int_equal(record_all(), without);
	assert_int_equal(ktrace_root.lost_events, 2 * without);
	assert_int_equal(check_ring(1)->records, KTRX_EVENT_MAX);
	assert_int_equal(check_ring(1)->anchors, 1);
	for (struct ktrx_event *event = ktrace_event_first(); event; event = ktrace_event_next(event))
		assert_int_equal(event->id == 0, (event->header & KTRACE_HEADER_SLOW) != 0);
	assert_int_equal(ktrace_control("many=off"), KTRACE_OK);
	assert_int_equal(many[ROWS - 1].event.state, KTRX_STATE_OFF);
}

static void one_request_switches_all_events(void **state)
{
	struct ktrx_request request = { .sequence = 1,
					.op = KTRX_REQUEST_EVENTS,
					.change = KTRX_CHANGE_STATE,
					.first = 1,
					.last = UINT16_MAX };

	(void)state;
	fake_boot(8192, KTRX_POLICY_OVERWRITE, 0);
	record_all();
	for (; request.sequence <= 2; request.sequence++) {
		uint8_t wanted = request.state;

		request.check = ktrx_request_check(&request);
		ktrace_mailbox.request[request.sequence] = request;
		ktrace_mailbox.requested = request.sequence;
		ktrace_heartbeat(0);
		assert_int_equal(ktrace_mailbox.request[request.sequence].result, KTRX_RESULT_DONE);
		for (struct ktrx_event *event = ktrace_event_first(); event; event = ktrace_event_next(event))
			if (event->id != 0)
				assert_int_equal(event->state, wanted);
		request.state = KTRX_STATE_RECORD;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(one_request_switches_all_events, fake_reset),
		cmocka_unit_test_setup(events_beyond_the_last_id_are_lost_and_counted, fake_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
