/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests Perfetto output for traces with missing parts: lost and overwritten slots, missing ends of rings,
 * unknown CPUs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/support/perfetto_script.h"

/* If slots are lost between a call and a return, the two events are not paired. */
static void spans_do_not_cross_gaps(void **state)
{
	(void)state;
	script_event(ENTER, 1000, 0, 7, V(1), V(0));
	script_event(NOTE, 1100, 0, 7, V(0), V(0), V(0), "", V(0), V('x'), V(0));
	script_event(RETURN, 1900, 0, 7, V(1), V(0))->lost = 12;
	assert_int_equal(perfetto_export().unpaired, 2);

	/*
	 * At a gap, the running thread is removed from its CPU, and added again after the gap, because its
	 * state in the gap is unknown.
	 */
	perfetto_expect(STATE("1101", "0", "0", "3"));
	perfetto_expect(STATE("1900", "0", "7", "3"));
	perfetto_expect(
		"timestamp=1900 trusted_packet_sequence_id=1 sequence_flags=3 previous_packet_dropped=1 "
		"ftrace_events{cpu=0 lost_events=1}");
	perfetto_expect("timestamp=1100 track_event{type=1 track_uuid=24 categories=\"ktrace\" name=\"lost\" "
			"debug_annotations{name=\"slots\" uint_value=12}}");
	perfetto_expect("timestamp=1899 track_event{type=2 track_uuid=24}");
	perfetto_expect("timestamp=1100 track_event{type=2 track_uuid=16}");
	/* Names must be sent again after a loss. The unpaired return is shown as an instant. */
	perfetto_expect_end(
		"1900",
		"interned_data{event_categories{iid=7 name=\"syscall\"} event_names{iid=7 name=\"exit\"} "
		"debug_annotation_names{iid=97 name=\"nr\"} debug_annotation_names{iid=98 name=\"result\"}} "
		"track_event{type=3 track_uuid=16 category_iids=7 name_iid=7 "
		"debug_annotations{name_iid=97 uint_value=1} debug_annotations{name_iid=98 int_value=0}}");
}

static void overwritten_beginnings_are_no_error(void **state)
{
	(void)state;
	script_ring(1)->overwritten = 77;
	script_event(ENTER, 1000, 0, 7, V(1), V(0));
	script_event(ENTER, 1100, 1, 8, V(1), V(0));
	perfetto_export();
	perfetto_expect_none("lost_events");
	perfetto_expect(
		"timestamp=1099 track_event{type=3 track_uuid=24 categories=\"ktrace\" name=\"overwritten\" "
		"debug_annotations{name=\"slots\" uint_value=77}}");
}

/* A CPU has events in the boot ring, then a gap until its own ring begins. */
static void boot_ring_is_cut_off(void **state)
{
	(void)state;
	script_ring(1)->overwritten = 77;
	script_ring(0)->cpu = KTRX_NO_CPU;
	script_event(ENTER, 1000, 1, 7, V(1), V(0))->ring = 0;
	script_event(RETURN, 1900, 1, 7, V(1), V(0));
	assert_int_equal(perfetto_export().unpaired, 2);
	perfetto_expect_none("lost_events");
	perfetto_expect(
		"timestamp=1000 track_event{type=1 track_uuid=24 categories=\"ktrace\" name=\"overwritten\" "
		"debug_annotations{name=\"slots\" uint_value=77}}");
	perfetto_expect("timestamp=1899 track_event{type=2 track_uuid=24}");
	perfetto_expect(STATE("1001", "1", "0", "3"));
	perfetto_expect(STATE("1900", "1", "7", "3"));
}

/*
 * The ring of rare events contains two old events of CPU 1. The CPU's own ring has overwritten its events of
 * that time. So it is unknown which thread ran between the two events.
 */
static void rare_events_before_a_ring_begins_show_no_thread_that_runs(void **state)
{
	(void)state;
	script_ring(1)->overwritten = 77;
	script_ring(3)->kind = KTRX_RING_SHARED;
	script_event(ENTER, 1000, 1, 7, V(1), V(0))->ring = 3;
	script_event(ENTER, 1500, 1, 8, V(1), V(0))->ring = 3;
	script_event(ENTER, 1900, 1, 9, V(1), V(0));
	perfetto_export();
	perfetto_expect(STATE("1001", "1", "0", "3"));
	perfetto_expect(STATE("1501", "1", "0", "3"));
	perfetto_expect(STATE("1900", "1", "9", "3"));
}

/*
 * Thread 8 enters a call on CPU 1, whose own ring is overwritten, and returns from a call on CPU 0. It may
 * have returned from the first call before it made the second one.
 */
static void calls_are_not_paired_over_an_overwritten_beginning(void **state)
{
	(void)state;
	script_ring(1)->overwritten = 77;
	script_ring(3)->kind = KTRX_RING_SHARED;
	script_event(ENTER, 1000, 1, 8, V(1), V(0))->ring = 3;
	script_event(NOTE, 1200, 0, 8, V(0), V(0), V(0), "", V(0), V('x'), V(0));
	script_event(NOTE, 1500, 1, 9, V(0), V(0), V(0), "", V(0), V('x'), V(0))->ring = 3;
	script_event(RETURN, 1900, 0, 8, V(1), V(0));
	script_event(NOTE, 1950, 1, 9, V(0), V(0), V(0), "", V(0), V('x'), V(0));
	assert_int_equal(perfetto_export().unpaired, 2);
}

/* While switches are not recorded, it is unknown how long the threads of other events run. */
static void switches_that_are_off_show_no_thread_that_runs(void **state)
{
	(void)state;
	script_type(END, "ktrace", "switched", "u16 first,u16 last,u8 state");
	script_event(SWITCH, 1000, 0, 7, V(7), V(8), V(0));
	script_event(END, 1100, 1, 5, V(SWITCH), V(SWITCH), V(0));
	script_event(RETURN, 1500, 0, 8, V(1), V(0));
	script_event(END, 2000, 1, 5, V(SWITCH), V(SWITCH), V(1));
	script_event(RETURN, 2100, 0, 9, V(1), V(0));
	perfetto_export();
	perfetto_expect(STATE("1000", "0", "8", "3"));
	perfetto_expect(STATE("1100", "0", "0", "3"));
	perfetto_expect_none("timestamp=1500 generic_kernel_task_state_event");
	perfetto_expect(STATE("2100", "0", "9", "3"));
}

/* A runnable thread may be moved to another CPU by an event in missing slots there. */
static void states_end_at_gaps_of_other_cpus(void **state)
{
	(void)state;
	script_event(SWITCH, 1000, 0, 7, V(7), V(8), V(0));
	script_event(NOTE, 1100, 1, 9, V(0), V(0), V(0), "", V(0), V('x'), V(0));
	script_event(NOTE, 1900, 1, 9, V(0), V(0), V(0), "", V(0), V('x'), V(0))->lost = 3;
	script_event(SWITCH, 2000, 0, 8, V(8), V(7), V(0));
	script_event(SWITCH, 2100, 0, 7, V(7), V(8), V(0));
	perfetto_export();
	perfetto_expect(STATE("1000", "0", "7", "2"));
	perfetto_expect(STATE("1101", "1", "7", "3"));
	perfetto_expect(STATE("1102", "1", "0", "3"));
	perfetto_expect(STATE("2000", "0", "7", "3"));
	perfetto_expect_none("timestamp=2101 generic_kernel_task_state_event");
}

/*
 * A runnable thread may run while switches are not recorded. To end its state, the export switches away from it on
 * a CPU that the machine does not have.
 */
static void switches_that_are_off_end_states(void **state)
{
	(void)state;
	script_type(END, "ktrace", "switched", "u16 first,u16 last,u8 state");
	script_event(SWITCH, 1000, 0, 7, V(7), V(8), V(0));
	script_event(END, 1100, 1, 5, V(SWITCH), V(SWITCH), V(0));
	perfetto_export();
	perfetto_expect(STATE("1000", "0", "7", "2"));
	perfetto_expect(STATE("1100", "4", "7", "3"));
	perfetto_expect(STATE("1101", "4", "0", "3"));
}

/*
 * Recording was stopped at 1100, as the start states. Thread 9 began to run later, on a CPU whose events were
 * not off yet.
 */
static void a_stop_of_recording_ends_states_where_it_was(void **state)
{
	(void)state;
	script_type(END, "ktrace", "stopped", "u16 first,u16 last,u64 until,u32 cpu");
	script_event(SWITCH, 1000, 0, 7, V(7), V(8), V(0));
	script_event(SWITCH, 1150, 1, 6, V(6), V(9), V(0));
	script_event(END, 2000, 1, 5, V(1), V(END), V(1100), V(0));
	perfetto_export();
	perfetto_expect(STATE("1000", "0", "8", "3"));
	perfetto_expect(STATE("1100", "0", "0", "3"));
	perfetto_expect(STATE("1150", "1", "9", "3"));
	perfetto_expect(STATE("1150", "1", "0", "3"));
	perfetto_expect_none("timestamp=2000 generic_kernel_task_state_event");
}

/* The trace shows that recording was started, but not when it was stopped: directly after the last event. */
static void a_start_of_recording_ends_states_that_began_before(void **state)
{
	(void)state;
	script_type(END, "ktrace", "switched", "u16 first,u16 last,u8 state");
	script_event(SWITCH, 1000, 0, 7, V(7), V(8), V(0));
	script_event(RETURN, 1100, 0, 8, V(1), V(0));
	script_event(END, 2000, 1, 5, V(1), V(END), V(1));
	script_event(SWITCH, 2100, 0, 8, V(8), V(7), V(0));
	perfetto_export();
	perfetto_expect(STATE("1000", "0", "8", "3"));
	perfetto_expect(STATE("1100", "0", "0", "3"));
	perfetto_expect(STATE("2100", "0", "7", "3"));
}

static void ends_of_rings_are_lost(void **state)
{
	(void)state;
	script_ring(1)->dropped = 5;
	script_ring(2)->overwritten = 3;
	script_ring(2)->invalid = 4;
	script_event(ENTER, 1000, 1, 7, V(1), V(0));
	script_event(ENTER, 1100, 2, 8, V(1), V(0))->lost = 3;
	script_event(ENTER, 1200, 0, 9, V(1), V(0));
	perfetto_export();
	perfetto_expect(
		"timestamp=1202 trusted_packet_sequence_id=1 sequence_flags=3 previous_packet_dropped=1 "
		"ftrace_events{cpu=1 lost_events=1}");
	perfetto_expect(
		"timestamp=1202 trusted_packet_sequence_id=1 sequence_flags=3 previous_packet_dropped=1 "
		"ftrace_events{cpu=2 lost_events=1}");
	perfetto_expect(STATE("1001", "1", "0", "3"));
	perfetto_expect(STATE("1101", "2", "0", "3"));
	assert_non_null(
		strstr(perfetto_output, "name=\"lost\" debug_annotations{name=\"records\" uint_value=5}"));
	assert_non_null(
		strstr(perfetto_output, "name=\"lost\" debug_annotations{name=\"slots\" uint_value=4}"));
	perfetto_expect_none("cpu=0 lost_events");
}

/* Thread 8 enters a call on CPU 1, the end of whose ring is unreadable, and returns from a call on CPU 0. */
static void calls_are_not_paired_over_an_unreadable_end(void **state)
{
	(void)state;
	script_ring(1)->invalid = 4;
	script_event(ENTER, 1000, 1, 8, V(1), V(0));
	script_event(ENTER, 1200, 0, 9, V(1), V(0));
	script_event(RETURN, 1300, 0, 9, V(1), V(0));
	script_event(RETURN, 1900, 0, 8, V(1), V(0));
	assert_int_equal(perfetto_export().unpaired, 2);
}

/* The ring of rare events lacks slots, which may contain events of every CPU. */
static void calls_are_not_paired_over_a_gap_of_the_rare_ring(void **state)
{
	struct ktread_event *last;

	(void)state;
	script_ring(3)->kind = KTRX_RING_SHARED;
	script_ring(3)->cpu = KTRX_NO_CPU;
	script_event(RETURN, 900, 1, 9, V(1), V(0))->ring = 3;
	script_event(ENTER, 1000, 0, 8, V(1), V(0));
	script_event(RETURN, 1900, 0, 8, V(1), V(0));
	last = script_event(RETURN, 2000, 1, 9, V(1), V(0));
	last->ring = 3;
	last->lost = 2;
	script_event(ENTER, 2100, 0, 8, V(1), V(0));
	script_event(RETURN, 2200, 0, 8, V(1), V(0));
	assert_int_equal(perfetto_export().unpaired, 4);
}

/* What the ring of rare events lacks may be a switch of CPU 0. */
static void running_threads_end_in_gaps_of_the_rare_ring(void **state)
{
	struct ktread_event *last;

	(void)state;
	script_ring(3)->kind = KTRX_RING_SHARED;
	script_ring(3)->cpu = KTRX_NO_CPU;
	script_event(RETURN, 900, 1, 9, V(1), V(0))->ring = 3;
	script_event(SWITCH, 1000, 0, 9, V(9), V(8), V(0));
	last = script_event(RETURN, 2000, 1, 9, V(1), V(0));
	last->ring = 3;
	last->lost = 2;
	script_event(SWITCH, 2100, 0, 8, V(8), V(9), V(0));
	perfetto_export();
	perfetto_expect(STATE("1000", "0", "8", "3"));
	perfetto_expect(STATE("1001", "0", "0", "3"));
}

/* Between the events of CPU 0, thread 8 returned from its call and made another one on CPU 1. */
static void calls_are_not_paired_over_hidden_events(void **state)
{
	struct export_report report;

	(void)state;
	script_event(ENTER, 1000, 0, 8, V(1), V(0));
	script_event(RETURN, 1100, 1, 8, V(1), V(0));
	script_event(ENTER, 1200, 1, 8, V(1), V(0));
	script_event(RETURN, 1900, 0, 8, V(1), V(0));
	script_event(ENTER, 2000, 0, 8, V(1), V(0));
	script_event(RETURN, 2100, 0, 8, V(1), V(0));
	script_select_cpu(0);
	report = perfetto_export();
	assert_int_equal(report.events, 4);
	assert_int_equal(report.unpaired, 2);
	perfetto_expect("timestamp=1100 track_event{type=2 track_uuid=16}");
}

/* Thread 8 moves to CPU 1, which is hidden. Its next event on CPU 0 shows that it runs there again. */
static void hidden_events_show_no_states(void **state)
{
	(void)state;
	script_event(SWITCH, 1000, 0, 9, V(9), V(8), V(0));
	script_event(SWITCH, 1100, 0, 8, V(8), V(9), V(0));
	script_event(SWITCH, 1300, 1, 7, V(7), V(8), V(0));
	script_event(SWITCH, 1400, 1, 8, V(8), V(7), V(0));
	script_event(SWITCH, 1500, 0, 9, V(9), V(8), V(0));
	script_select_cpu(0);
	perfetto_export();
	perfetto_expect(STATE("1000", "0", "8", "3"));
	perfetto_expect(STATE("1100", "0", "8", "2"));
	perfetto_expect(STATE("1302", "4", "8", "3"));
	perfetto_expect(STATE("1303", "4", "0", "3"));
	perfetto_expect(STATE("1500", "0", "8", "3"));
	perfetto_expect_none("generic_kernel_task_state_event{cpu=1");
}

/* A gap before a state does not end it, although a hidden event ends the state. */
static void hidden_events_end_states_after_gaps(void **state)
{
	(void)state;
	script_event(NOTE, 900, 2, 5, V(0), V(0), V(0), "", V(0), V('x'), V(0));
	script_event(NOTE, 950, 2, 5, V(0), V(0), V(0), "", V(0), V('x'), V(0))->lost = 3;
	script_event(SWITCH, 1000, 0, 9, V(9), V(8), V(0));
	script_event(SWITCH, 1100, 0, 8, V(8), V(9), V(0));
	script_event(SWITCH, 1300, 1, 7, V(7), V(8), V(0));
	script_event(NOTE, 1500, 0, 9, V(0), V(0), V(0), "", V(0), V('x'), V(0));
	script_select_cpu(0);
	perfetto_export();
	perfetto_expect(STATE("1100", "0", "8", "2"));
	perfetto_expect_none("timestamp=901 generic_kernel_task_state_event");
	perfetto_expect_none("timestamp=905 generic_kernel_task_state_event");
	perfetto_expect_none("generic_kernel_task_state_event{cpu=2");
}

/*
 * A hidden event ends the state of thread 8. The thread runs again 2 ns later, which is too short to show
 * that the state was unknown.
 */
static void short_unknown_states_are_not_shown(void **state)
{
	(void)state;
	script_event(SWITCH, 1000, 0, 9, V(9), V(8), V(0));
	script_event(SWITCH, 1100, 0, 8, V(8), V(9), V(0));
	script_event(SWITCH, 1300, 1, 7, V(7), V(8), V(0));
	script_event(SWITCH, 1302, 0, 9, V(9), V(8), V(0));
	script_select_cpu(0);
	perfetto_export();
	perfetto_expect(STATE("1302", "0", "8", "3"));
	perfetto_expect_none("generic_kernel_task_state_event{cpu=4 tid=8");
}

/*
 * Only the events of thread 7 are shown. Slots are missing before two events of thread 8, and not in the time
 * between the two.
 */
static void lost_slots_are_not_shown_over_recorded_time(void **state)
{
	static const char *const slices[] = { "1000", "1999", "3000", "3999" };

	(void)state;
	script_event(NOTE, 1000, 0, 7, V(0), V(0), V(0), "", V(0), V('x'), V(0));
	script_event(NOTE, 2000, 0, 8, V(0), V(0), V(0), "", V(0), V('x'), V(0))->lost = 5;
	script_event(NOTE, 3000, 0, 8, V(0), V(0), V(0), "", V(0), V('x'), V(0));
	script_event(NOTE, 4000, 0, 8, V(0), V(0), V(0), "", V(0), V('x'), V(0))->lost = 6;
	script_event(NOTE, 5000, 0, 8, V(0), V(0), V(0), "", V(0), V('x'), V(0));
	for (int shown = 0; shown < 2; shown++) {
		if (shown)
			script_event(NOTE, 6000, 0, 7, V(0), V(0), V(0), "", V(0), V('x'), V(0));
		script_select_thread(7);
		perfetto_export();
		for (int n = 0; n < 4; n++) {
			char packet[128];

			snprintf(packet, sizeof(packet),
				 "timestamp=%s track_event{type=%d track_uuid=", slices[n], n % 2 + 1);
			assert_non_null(strstr(perfetto_output, packet));
		}
		assert_non_null(strstr(perfetto_output, "name=\"slots\" uint_value=5"));
		assert_non_null(strstr(perfetto_output, "name=\"slots\" uint_value=6"));
		assert_null(strstr(perfetto_output, "name=\"slots\" uint_value=11"));
		free(perfetto_output);
		perfetto_output = NULL;
	}
}

static void unknown_cpus_have_a_track(void **state)
{
	(void)state;
	script_event(SWITCH, 1000, 0, 7, V(7), V(8), V(0))->cpu = KTRX_NO_CPU;
	script_event(FREE, 1050, 0, 7, V(0), V(0))->cpu = KTRX_NO_CPU;
	script_event(ENTER, 1100, 0, 7, V(1), V(0))->cpu = KTRX_NO_CPU;
	assert_int_equal(perfetto_export().events, 3);
	perfetto_expect_none("generic_kernel_task_state_event");
	assert_non_null(strstr(perfetto_output, "parent_uuid=1 name=\"CPU unknown\""));
	assert_non_null(strstr(perfetto_output,
			       "name=\"left out of scheduling\" debug_annotations{name=\"events\" "
			       "uint_value=3}"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, perfetto_begin, perfetto_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(spans_do_not_cross_gaps),
		TEST(overwritten_beginnings_are_no_error),
		TEST(boot_ring_is_cut_off),
		TEST(rare_events_before_a_ring_begins_show_no_thread_that_runs),
		TEST(calls_are_not_paired_over_an_overwritten_beginning),
		TEST(switches_that_are_off_show_no_thread_that_runs),
		TEST(states_end_at_gaps_of_other_cpus),
		TEST(switches_that_are_off_end_states),
		TEST(a_stop_of_recording_ends_states_where_it_was),
		TEST(a_start_of_recording_ends_states_that_began_before),
		TEST(ends_of_rings_are_lost),
		TEST(running_threads_end_in_gaps_of_the_rare_ring),
		TEST(calls_are_not_paired_over_hidden_events),
		TEST(hidden_events_show_no_states),
		TEST(hidden_events_end_states_after_gaps),
		TEST(calls_are_not_paired_over_an_unreadable_end),
		TEST(calls_are_not_paired_over_a_gap_of_the_rare_ring),
		TEST(short_unknown_states_are_not_shown),
		TEST(lost_slots_are_not_shown_over_recorded_time),
		TEST(unknown_cpus_have_a_track),
	};

	return cmocka_run_group_tests_name("perfetto_gaps", tests, NULL, NULL);
}
