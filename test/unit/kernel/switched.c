/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests stopping and starting all recording. The trace must show when events begin or cease to be recorded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include <cmocka.h>

#include "kernel/core/state.h"
#include "ktrace/settings.h"
#include "test/fake/checker.h"
#include "test/fake/machine.h"

KTRACE_EVENT(sched, switch, "%u", (uint32_t, next));
KTRACE_EVENT(sched, wake, "%u", (uint32_t, thread));
KTRACE_EVENT(mm, fault, "%llx", (unsigned long long, address));
KTRACE_EVENT(mmio, write, "%llx", (unsigned long long, address));

/* Returns whether the n-th record of the boot ring is of this event. */
static bool is_event(uint32_t n, const char *name)
{
	return check_ring(0)->record[n].event == fake_event(name)->id;
}

static void nothing_is_recorded_while_stopped(void **state)
{
	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	KTRACE(sched, switch, 1);
	ktrace_stop();
	assert_false(ktrace_is_started());
	assert_int_equal(ktrace_root.flags & KTRX_FLAG_STOPPED, KTRX_FLAG_STOPPED);
	KTRACE(sched, switch, 2);
	KTRACE_EARLY(sched, switch, 2);
	/* must not start recording again */
	assert_int_equal(ktrace_control("mm=off"), KTRACE_OK);
	KTRACE(sched, wake, 2);
	ktrace_start();
	KTRACE(mm, fault, 3);
	KTRACE(sched, wake, 3);
	assert_int_equal(ktrace_root.flags & KTRX_FLAG_STOPPED, 0);
	assert_int_equal(check_ring(1)->records, 2);
	/* the boot ring has only records of changes of events */
	for (uint32_t n = 0; n < check_ring(0)->records; n++)
		assert_true(is_event(n, "ktrace.switched") || is_event(n, "ktrace.stopped"));
}

static void stop(void)
{
	ktrace_stop();
}

/* If another CPU or an NMI stops recording while this CPU changes an event, recording stays stopped. */
static void changing_an_event_does_not_end_a_stop(void **state)
{
	for (int64_t n = 0; n < 8; n++) {
		fake_reset(state);
		fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
		fake_at(n, stop);
		assert_int_equal(ktrace_control("sched.switch=off,sched.switch=on"), KTRACE_OK);
		if (fake_points() <= n)
			break;
		KTRACE(sched, switch, 1);
		assert_int_equal(fake_event("mm.fault")->state, KTRX_STATE_OFF);
		assert_int_equal(check_ring(1)->records, 0);
	}
}

static void a_stop_event_stops_all_recording_after_it_fired(void **state)
{
	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	assert_int_equal(ktrace_control("mm.fault=stop"), KTRACE_OK);
	KTRACE(sched, switch, 1);
	KTRACE(mm, fault, 1);
	KTRACE(mm, fault, 2);
	KTRACE(sched, switch, 2);
	assert_false(ktrace_is_started());
	assert_int_equal(check_ring(1)->records, 2);
	assert_int_equal(check_ring(1)->record[1].event, fake_event("mm.fault")->id);
}

/*
 * Returns the n-th record of the boot ring as text: "FIRST-ID LAST-ID STATE". Returns "" if it is no record
 * of ktrace.switched.
 */
static const char *switched(uint32_t n)
{
	const struct checked_record *record = &check_ring(0)->record[n];
	const uint8_t *payload;
	static char text[96];
	uint16_t ids[2];

	text[0] = '\0';
	if (n >= check_ring(0)->records || record->event != fake_event("ktrace.switched")->id)
		return text;
	payload = record->payload + record->payload[0]; /* skips the extension block */
	memcpy(ids, payload, sizeof(ids));
	snprintf(text, sizeof(text), "%u %u %u", ids[0], ids[1], payload[4]);
	return text;
}

/*
 * Returns the text that switched() must return if these two events change together. Which of them has the
 * lower id depends on the compiler.
 */
static const char *expected(const char *one, const char *other, unsigned state)
{
	uint32_t first = fake_event(one)->id, last = fake_event(other)->id;
	static char text[96];

	snprintf(text, sizeof(text), "%u %u %u", first < last ? first : last, first < last ? last : first,
		 state);
	return text;
}

static void switching_a_recording_event_is_recorded(void **state)
{
	(void)state;
	assert_int_equal(ktrace_control("mm=off"),
			 KTRACE_OK); /* no event has been recorded, so the change is not recorded */
	assert_int_equal(check_ring(0)->records, 0);
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	KTRACE(sched, switch, 1);
	assert_int_equal(ktrace_control("sched=off"), KTRACE_OK);
	KTRACE(sched, switch, 2);
	/* no event starts or stops recording, so the change is not recorded */
	assert_int_equal(ktrace_control("sched=off,mmio=callers1"), KTRACE_OK);
	assert_int_equal(ktrace_control("sched.wake=both"), KTRACE_OK);
	/* no change is recorded: sched.wake was recorded before, and still is */
	assert_int_equal(ktrace_control("sched.wake=on"), KTRACE_OK);
	assert_int_equal(check_ring(0)->records, 2);
	assert_string_equal(switched(0), expected("sched.switch", "sched.wake", KTRX_STATE_OFF));
	assert_string_equal(switched(1),
			    expected("sched.wake", "sched.wake", KTRX_STATE_RECORD | KTRX_STATE_COUNT));
	assert_int_equal(check_ring(1)->records, 1);
	assert_int_equal(ktrace_setting_set("debug.ktr.sched_enable=-1"), KTRACE_OK);
	assert_int_equal(check_ring(0)->records, 3);
	assert_string_equal(switched(2), expected("sched.switch", "sched.switch", KTRX_STATE_RECORD));
}

/*
 * The n-th record of the boot ring, if it is of ktrace.switched or ktrace.stopped. `until` and `cpu` are 0 in
 * a record of ktrace.switched.
 */
struct change {
	uint16_t first, last;
	uint64_t until;
	uint32_t cpu;
};

/* Returns whether the n-th record of the boot ring is of this event and of a range that contains the id. */
static bool is_change(uint32_t n, const char *name, uint32_t id, struct change *change)
{
	const struct checked_record *record = &check_ring(0)->record[n];
	const uint8_t *payload = record->payload + record->payload[0]; /* skips the extension block */

	*change = (struct change){ 0 };
	memcpy(&change->first, payload, 2);
	memcpy(&change->last, payload + 2, 2);
	if (is_event(n, "ktrace.stopped")) {
		memcpy(&change->until, payload + 4, 8);
		memcpy(&change->cpu, payload + 12, 4);
	}
	return is_event(n, name) && change->first <= id && id <= change->last;
}

/* Counts the records that contain the event in their range. *last: number of the last of these records. */
static uint32_t changes_of(const char *name, const char *event, uint32_t *last, struct change *change)
{
	uint32_t count = 0;
	struct change each;

	for (uint32_t n = 0; n < check_ring(0)->records; n++) {
		if (!is_change(n, name, fake_event(event)->id, &each))
			continue;
		*last = n;
		*change = each;
		count++;
	}
	return count;
}

/*
 * A stop of all recording makes no record, because many traces end there. The start that follows records the
 * stop, and then that the events are recorded again.
 */
static void a_start_is_recorded(void **state)
{
	struct change stopped, switched;
	uint32_t stop_at = 0, start_at = 0;
	uint64_t before, after;

	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	KTRACE(sched, switch, 1);
	before = fake.clock;
	fake.cpu = 1;
	ktrace_stop();
	after = fake.clock;
	assert_int_equal(check_ring(0)->records, 0);
	fake.clock += 1000;
	ktrace_stop(); /* recording has been stopped since the first stop */
	fake.cpu = 0;
	ktrace_start();
	assert_int_equal(changes_of("ktrace.stopped", "sched.switch", &stop_at, &stopped), 1);
	assert_int_equal(changes_of("ktrace.switched", "sched.switch", &start_at, &switched), 1);
	assert_true(stop_at < start_at);
	assert_in_range(stopped.until, before, after);
	assert_int_equal(stopped.cpu, 1);
	assert_int_equal(
		check_ring(0)->record[start_at].payload[check_ring(0)->record[start_at].payload[0] + 4],
		KTRX_STATE_RECORD);
	/* each stop has a time of its own */
	fake.clock += 1000;
	before = fake.clock;
	ktrace_stop();
	ktrace_start();
	assert_int_equal(changes_of("ktrace.stopped", "mm.fault", &stop_at, &stopped), 2);
	assert_int_equal(changes_of("ktrace.switched", "mm.fault", &start_at, &switched), 2);
	assert_true(stop_at < start_at);
	assert_true(stopped.until >= before);
	assert_int_equal(stopped.cpu, 0);
}

/* Only events that were recorded until the stop are in the record of the stop. */
static void events_may_change_while_recording_is_stopped(void **state)
{
	struct change change;
	uint32_t at;

	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	KTRACE(sched, switch, 1);
	assert_int_equal(ktrace_control("mm=off"), KTRACE_OK);
	ktrace_stop();
	assert_int_equal(ktrace_control("mm=on,sched.wake=off"), KTRACE_OK);
	ktrace_start();
	assert_int_equal(changes_of("ktrace.stopped", "mm.fault", &at, &change), 0);
	assert_int_equal(changes_of("ktrace.switched", "mm.fault", &at, &change), 2);
	assert_int_equal(changes_of("ktrace.stopped", "sched.wake", &at, &change), 1);
	assert_int_equal(changes_of("ktrace.switched", "sched.wake", &at, &change), 0);
}

static void a_panic_stops_recording_as_well(void **state)
{
	struct change change;
	uint32_t at;
	uint64_t before;

	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	KTRACE(sched, switch, 1);
	before = fake.clock;
	ktrace_panic("test");
	ktrace_start();
	assert_int_equal(changes_of("ktrace.stopped", "sched.switch", &at, &change), 1);
	assert_true(change.until > before);
}

static void stop_and_start(void)
{
	ktrace_stop();
	ktrace_start();
}

/*
 * A stop and a start at any point of a stop and a start, on the same CPU. If a stop of an event is recorded,
 * a later record states that the event is recorded again.
 */
static void each_recorded_stop_ends(void **state)
{
	static void (*const handlers[])(void) = { ktrace_start, stop, stop_and_start };
	int64_t n = 0;

	for (uint32_t handler = 0; handler < 3; handler++) {
		for (n = 0; n < 2000; n++) {
			struct change change;
			uint32_t stop_at = 0, start_at = 0;

			fake_reset(state);
			fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
			KTRACE(sched, switch, 1);
			fake_at(n, handlers[handler]);
			stop_and_start();
			if (fake_points() <= n)
				break;
			ktrace_start();
			assert_int_equal(fake_event("sched.switch")->state & KTRX_STATE_RECORD,
					 KTRX_STATE_RECORD);
			changes_of("ktrace.stopped", "sched.switch", &stop_at, &change);
			changes_of("ktrace.switched", "sched.switch", &start_at, &change);
			assert_true(stop_at <= start_at);
		}
		assert_in_range(n, 5, 1999);
	}
}

/* Two CPUs. Each runs until it passes control to the other one. */
static ucontext_t cpu0, cpu1;
static char stack_of_cpu1[1 << 16];
static bool passed; /* true if CPU 0 has passed control back to CPU 1 */

static void to_cpu1(void)
{
	passed = true;
	fake.cpu = 1;
	swapcontext(&cpu0, &cpu1);
	fake.cpu = 0;
}

static void to_cpu0(void)
{
	fake.cpu = 0;
	swapcontext(&cpu1, &cpu0);
	fake.cpu = 1;
}

/*
 * CPU 1 starts recording, and CPU 0 changes an event at the same time: CPU 1 pauses at its n-th point until
 * CPU 0 pauses at its m-th point. Returns false if one of them has fewer points.
 */
static bool start_during_a_change(void **state, int64_t n, int64_t m)
{
	fake_reset(state);
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	KTRACE(sched, switch, 1);
	ktrace_stop();
	getcontext(&cpu1);
	cpu1.uc_stack.ss_sp = stack_of_cpu1;
	cpu1.uc_stack.ss_size = sizeof(stack_of_cpu1);
	cpu1.uc_link = &cpu0;
	makecontext(&cpu1, ktrace_start, 0);
	fake_at(n, to_cpu0);
	to_cpu1();
	if (fake_points() <= n)
		return false;
	passed = false;
	fake_at(m, to_cpu1);
	assert_int_equal(ktrace_control("mmio=callers1"), KTRACE_OK);
	if (passed)
		return true;
	fake_at(-1, NULL);
	to_cpu1(); /* CPU 1 continues alone */
	return false;
}

static void each_stop_ends_if_another_cpu_starts(void **state)
{
	struct change change;
	uint32_t stop_at, start_at;
	int64_t n = 0, m = 0;

	for (n = 0; m != 0 || n == 0; n++)
		for (m = 0; start_during_a_change(state, n, m); m++) {
			stop_at = start_at = 0;
			changes_of("ktrace.stopped", "sched.switch", &stop_at, &change);
			changes_of("ktrace.switched", "sched.switch", &start_at, &change);
			assert_true(stop_at <= start_at);
			assert_true(fake_event("sched.switch")->state & KTRX_STATE_RECORD);
		}
	assert_true(n > 5);
}

/* A kernel may stop recording before its first event, when descriptors have no ids yet. */
static void a_stop_before_the_first_event_loses_no_id(void **state)
{
	const struct checked_ring *ring;

	(void)state;
	ktrace_stop();
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	ktrace_start();
	KTRACE(mm, fault, 1);
	KTRACE(mm, fault, 2);
	ring = check_ring(1);
	assert_int_equal(ring->invalid, 0);
	assert_int_equal(ring->records, 2);
	assert_int_equal(ring->record[1].event, fake_event("mm.fault")->id);
}

#define TEST(name) cmocka_unit_test_setup(name, fake_reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_stop_before_the_first_event_loses_no_id, fake_reset),
		TEST(nothing_is_recorded_while_stopped),
		TEST(changing_an_event_does_not_end_a_stop),
		TEST(a_stop_event_stops_all_recording_after_it_fired),
		TEST(switching_a_recording_event_is_recorded),
		TEST(a_start_is_recorded),
		TEST(events_may_change_while_recording_is_stopped),
		TEST(a_panic_stops_recording_as_well),
		TEST(each_recorded_stop_ends),
		TEST(each_stop_ends_if_another_cpu_starts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
