/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests what exports and pictures show of slots that are missing at the end of a ring, or before events that
 * a filter hides. Each test compares which of some texts the output contains.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "export/export.h"
#include "export/views.h"
#include "ktrx/v2.h"
#include "unit/support/script.h"

#define V(value) ((uint64_t)(value)) /* value of a field, for script_event() */

extern const struct export_format export_folded, export_json;

enum { SWITCH = 1, NOTE, ENTER, RETURN };

static char text[65536];

static void begin(void)
{
	script_begin(2);
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u8 state");
	script_type(NOTE, "user", "note", "");
	script_type(ENTER, "syscall", "enter", "u32 nr");
	script_type(RETURN, "syscall", "exit", "u32 nr");
}

static void read_back(int fd)
{
	const ssize_t length = pread(fd, text, sizeof(text) - 1, 0);

	assert_true(length >= 0 && (size_t)length < sizeof(text) - 1);
	text[length] = '\0';
	close(fd);
}

static void export(const struct export_format *format)
{
	struct export_report report = { 0 };
	const int fd = memfd_create("export", 0);

	assert_true(fd >= 0);
	assert_int_equal(format->write(script_trace(), fd, &report), 0);
	read_back(fd);
}

static void draw(void)
{
	const int fd = memfd_create("picture", 0);
	struct base_output out;
	struct window window = { .trace = script_trace(), .out = &out };

	assert_true(fd >= 0);
	assert_int_equal(base_output_open(&out, fd), 0);
	window.from = ktread_first_stamp(window.trace);
	window.to = UINT64_MAX;
	assert_int_equal(window_write(&window), 0);
	base_output_flush(&out);
	read_back(fd);
	base_output_close(&out);
}

/* Checks that the output contains each of the texts, or, if a text begins with '!', that it does not. */
static void expect(const char *const *texts)
{
	for (; *texts; texts++) {
		const bool absent = (*texts)[0] == '!';

		if ((strstr(text, *texts + absent) == NULL) != absent)
			fail_msg("%s: %s\n%s", absent ? "must not occur" : "does not occur", *texts + absent,
				 text);
	}
}

#define EXPECT(...) expect((const char *const[]){ __VA_ARGS__, NULL })

/* ---- Missing ends of rings ---- */

/* Thread 8 runs on CPU 1, whose ring has no readable end. CPU 0 records up to 5000. */
static void script_end_of_own_ring(void)
{
	begin();
	script_ring(1)->invalid = 4;
	script_event(SWITCH, 1000, 1, 9, V(9), V(8), V(0));
	script_event(ENTER, 1100, 1, 8, V(1));
	script_event(NOTE, 1200, 1, 8);
	script_event(NOTE, 5000, 0, 7);
}

/* Thread 8 runs on CPU 0 up to the end. The ring of rare events lacks its end from 900 on. */
static void script_end_of_rare_ring(void)
{
	begin();
	script_ring(3)->kind = KTRX_RING_SHARED;
	script_ring(3)->cpu = KTRX_NO_CPU;
	script_ring(3)->invalid = 4;
	script_event(NOTE, 900, 1, 9)->ring = 3;
	script_event(SWITCH, 1000, 0, 9, V(9), V(8), V(0));
	script_event(ENTER, 1100, 0, 8, V(1));
	script_event(NOTE, 1200, 0, 8);
	script_event(NOTE, 5000, 0, 8);
}

static void pictures_end_states_at_a_missing_end(void **state)
{
	(void)state;
	script_end_of_own_ring();
	draw();
	EXPECT("thread 8, 200 ns", "write, 100 ns", "4 slots missing", "!thread 8, 4 us");
	script_end();
}

static void pictures_end_states_at_a_missing_end_of_the_rare_ring(void **state)
{
	(void)state;
	script_end_of_rare_ring();
	draw();
	EXPECT("thread 8, 0 ns", "!thread 8, 4 us", "!write, ");
	script_end();
}

static void json_ends_calls_at_a_missing_end(void **state)
{
	(void)state;
	script_end_of_own_ring();
	export(&export_json);
	EXPECT("\"ph\":\"E\",\"ts\":0.200", "!\"ph\":\"E\",\"ts\":4.000", "\"slots\":4");
	script_end();
}

static void folded_counts_nothing_after_a_missing_end_of_the_rare_ring(void **state)
{
	(void)state;
	script_end_of_rare_ring();
	export(&export_folded);
	EXPECT("thread (8) 1\n", "!thread (8);write");
	script_end();
}

/* ---- Gaps of the ring of rare events ---- */

/* What the ring of rare events lacks from 1000 on may be a switch of CPU 0. */
static void script_gap_of_rare_ring(void)
{
	struct ktread_event *last;

	begin();
	script_ring(3)->kind = KTRX_RING_SHARED;
	script_ring(3)->cpu = KTRX_NO_CPU;
	script_event(NOTE, 900, 1, 9)->ring = 3;
	script_event(SWITCH, 1000, 0, 9, V(9), V(8), V(0));
	last = script_event(NOTE, 2000, 1, 9);
	last->ring = 3;
	last->lost = 2;
	script_event(ENTER, 2100, 0, 8, V(1));
	script_event(SWITCH, 5000, 0, 8, V(8), V(9), V(0));
}

static void pictures_end_states_where_a_gap_of_the_rare_ring_begins(void **state)
{
	(void)state;
	script_gap_of_rare_ring();
	draw();
	EXPECT("thread 8, 0 ns", "!thread 8, 1 us", "!thread 8, 4 us");
	script_end();
}

static void folded_counts_nothing_from_a_gap_of_the_rare_ring_on(void **state)
{
	(void)state;
	script_gap_of_rare_ring();
	export(&export_folded);
	EXPECT("thread (8) 1\n", "!thread (8);write");
	script_end();
}

/* ---- Slots that are lost before hidden events ---- */

/*
 * Only the events of thread 7 are shown. Slots are missing before events of thread 8. No event of CPU 2 is
 * shown. `shown`: the last event of CPU 0 is shown.
 */
static void script_hidden(bool shown)
{
	begin();
	script_event(NOTE, 1000, 0, 7);
	script_event(NOTE, 2000, 0, 8)->lost = 5;
	script_event(NOTE, 3000, 0, 8);
	script_event(NOTE, 4000, 0, 8)->lost = 6;
	script_event(NOTE, 5000, 2, 8)->lost = 7;
	script_event(NOTE, 6000, 1, 7);
	if (shown)
		script_event(NOTE, 7000, 0, 7);
	script_select_thread(7);
}

static void json_shows_slots_lost_before_the_last_hidden_events(void **state)
{
	(void)state;
	script_hidden(false);
	export(&export_json);
	EXPECT("lost slots", "\"slots\":11", "!\"slots\":7");
	script_end();
}

static void pictures_show_slots_lost_before_hidden_events(void **state)
{
	(void)state;
	for (int shown = 0; shown < 2; shown++) {
		script_hidden(shown);
		draw();
		EXPECT(">5 slots missing", ">6 slots missing", "!11 slots missing", "!7 slots missing");
		script_end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pictures_end_states_at_a_missing_end),
		cmocka_unit_test(pictures_end_states_at_a_missing_end_of_the_rare_ring),
		cmocka_unit_test(json_ends_calls_at_a_missing_end),
		cmocka_unit_test(folded_counts_nothing_after_a_missing_end_of_the_rare_ring),
		cmocka_unit_test(pictures_end_states_where_a_gap_of_the_rare_ring_begins),
		cmocka_unit_test(folded_counts_nothing_from_a_gap_of_the_rare_ring_on),
		cmocka_unit_test(json_shows_slots_lost_before_the_last_hidden_events),
		cmocka_unit_test(pictures_show_slots_lost_before_hidden_events),
	};

	return cmocka_run_group_tests_name("missing", tests, NULL, NULL);
}
