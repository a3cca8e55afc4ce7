/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the tables of the screen of `ktrace live`: their contents and order, and what keys and clicks do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ktrx/slot.h"
#include "live/page.h"
#include "unit/support/script.h"

#define MS UINT64_C(1000000)

enum { ENTER = 1, EXIT, IRQ_ENTER, IRQ_EXIT, CONTEND, ACQUIRE, RELEASE, SWITCH };

static struct live_model model;
static struct live_ui ui;
static struct live_page page;
static struct wellknown_table known;

static struct ktread *fake_trace(void *context)
{
	(void)context;
	return script_trace();
}

static int fake_holders(void *context, uint32_t first, struct ktrx_holder *holder, uint32_t room)
{
	(void)context;
	return ktread_holders(script_trace(), first, holder, room);
}

static uint64_t fake_now(void *context)
{
	(void)context;
	return 0;
}

static const char *fake_path(void *context)
{
	(void)context;
	return "guest.ram";
}

static const struct live_source source = {
	.trace = fake_trace, .holders = fake_holders, .now = fake_now, .path = fake_path, .message = fake_path
};

static int begin(void **state)
{
	(void)state;
	script_begin(2);
	script_info()->rings = SCRIPT_RINGS;
	script_info()->cpus = 2;
	script_type(ENTER, "syscall", "enter", "u32 nr");
	script_type(EXIT, "syscall", "exit", "u32 nr, i64 result");
	script_type(IRQ_ENTER, "irq", "enter", "u32 irq, string name");
	script_type(IRQ_EXIT, "irq", "exit", "u32 irq");
	script_type(CONTEND, "lock", "contend", "u64 lock");
	script_type(ACQUIRE, "lock", "acquire", "u64 lock");
	script_type(RELEASE, "lock", "release", "u64 lock");
	script_type(SWITCH, "sched", "switch", "u32 prev, u32 next");
	script_thread(7, "se\\x1bven");
	memset(&known, 0, sizeof(known));
	live_ui_init(&ui, NULL);
	return live_model_open(&model, &source) || live_model_detail(&model);
}

static int end(void **state)
{
	(void)state;
	live_model_close(&model);
	script_end();
	return 0;
}

static void take(const struct ktread_event *event)
{
	assert_int_equal(
		live_details_event(model.details, script_trace(), event, wellknown_of(&known, event)), 0);
	assert_int_equal(live_waits_event(model.waits, event, wellknown_of(&known, event)), 0);
}

static const char *cell(enum live_tab tab, uint32_t row, uint32_t column)
{
	static char text[LIVE_CELL];

	live_table_cell(tab, &model, row, column, text);
	return text;
}

static void durations_of_calls_and_errors(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < 100; n++) {
		take(script_event(ENTER, 1000 * MS + n * MS, 0, 7, (uint64_t)3));
		take(script_event(EXIT, 1000 * MS + n * MS + (n == 99 ? MS : MS / 2), 0, 7, (uint64_t)3,
				  n == 5 ? (uint64_t)-2 : (uint64_t)0));
	}
	live_details_end(model.details, &model, 2);
	model.running = true;
	assert_string_equal(cell(LIVE_TAB_CALLS, 0, 0), "3");
	assert_string_equal(cell(LIVE_TAB_CALLS, 0, 2), "50");
	assert_string_equal(cell(LIVE_TAB_CALLS, 0, 3), "100");
	assert_string_equal(cell(LIVE_TAB_CALLS, 0, 7), "1.0 ms");
	assert_string_equal(cell(LIVE_TAB_CALLS, 0, 8), "1");
	assert_in_range(live_duration_percentile(&model.details->calls.row[0], 50), MS / 2, MS * 5 / 8);
	assert_in_range(live_duration_percentile(&model.details->calls.row[0], 100), MS, MS);
}

/* If the end of a duration may have been lost, the duration is not measured. */
static void no_duration_extends_across_a_loss(void **state)
{
	struct ktread_event *event;

	(void)state;
	take(script_event(ENTER, 1000, 0, 7, (uint64_t)3));
	take(script_event(ACQUIRE, 1001, 0, 7, (uint64_t)0x88));
	event = script_event(SWITCH, 2000, 1, 8, (uint64_t)8, (uint64_t)9);
	event->lost = 1;
	take(event);
	take(script_event(EXIT, 3000, 0, 7, (uint64_t)3, (uint64_t)0));
	assert_int_equal(model.details->calls.row[0].count, 1);
	assert_int_equal(model.details->calls.row[0].pairs, 0);
	assert_int_equal(model.details->lock[0].holder, 0);
}

static void interrupts_nest_and_have_names(void **state)
{
	(void)state;
	take(script_event(IRQ_ENTER, 1000, 0, 7, (uint64_t)4, "ti\033mer"));
	take(script_event(IRQ_ENTER, 2000, 0, 7, (uint64_t)5, "disk"));
	take(script_event(IRQ_EXIT, 2500, 0, 7, (uint64_t)5));
	take(script_event(IRQ_EXIT, 3000, 0, 7, (uint64_t)4));
	assert_string_equal(cell(LIVE_TAB_IRQS, 0, 1), "ti\\x1bmer");
	assert_int_equal(model.details->interrupts.row[0].sum, 2000);
	assert_int_equal(model.details->interrupts.row[1].sum, 500);
}

static void locks_have_holders_and_waiters(void **state)
{
	struct ktrx_holder *row;

	(void)state;
	model.running = true;
	take(script_event(CONTEND, 1000, 0, 7, (uint64_t)0x88));
	take(script_event(ACQUIRE, 5000, 0, 7, (uint64_t)0x88));
	take(script_event(ACQUIRE, 6000, 1, 8, (uint64_t)0x99));
	take(script_event(RELEASE, 7000, 1, 8, (uint64_t)0x99));
	row = script_holder(10);
	*row = (struct ktrx_holder){ .id = 10, .wait = KTRX_WAIT_LOCK, .object = 0x88, .cpu = 1 };
	strcpy(row->object_name, "in\x1bode");
	assert_int_equal(live_details_end(model.details, &model, 1), 0);
	assert_string_equal(cell(LIVE_TAB_LOCKS, 0, 0), "in\\x1bode (0x88)");
	assert_string_equal(cell(LIVE_TAB_LOCKS, 0, 3), "1");
	assert_string_equal(cell(LIVE_TAB_LOCKS, 0, 5), "1");
	assert_int_equal(model.details->lock[0].holder, 8);
	assert_int_equal(model.details->lock[0].longest, 4000);
	assert_int_equal(model.details->lock[1].holder, 0);
	/* the table of threads shows the waiting thread and the object */
	for (uint32_t n = 0; n < model.details->threads; n++)
		if (model.details->thread[n].id == 9) {
			assert_string_equal(cell(LIVE_TAB_THREADS, n, 7), "for lock in\\x1bode (0x88)");
			assert_string_equal(cell(LIVE_TAB_THREADS, n, 3), "1");
			return;
		}
	fail_msg("thread 9 is missing");
}

/*
 * Rows are sorted by any column, in both directions. With a search text, only rows that contain it are shown.
 */
static void rows_are_sorted_and_searched(void **state)
{
	static uint16_t order[LIVE_THREADS];

	(void)state;
	for (uint32_t n = 1; n <= 5; n++)
		for (uint32_t times = 0; times < n; times++)
			take(script_event(IRQ_ENTER, n * 1000 + times, 0, 7, (uint64_t)(10 + n),
					  n % 2 ? "odd" : "even"));
	live_details_end(model.details, &model, 1);
	ui.tab = LIVE_TAB_IRQS;
	assert_int_equal(live_table_sort(&ui, &model, order), 5);
	assert_string_equal(cell(LIVE_TAB_IRQS, order[0], 0), "15");
	live_ui_key(&ui, &model, 'I');
	live_table_sort(&ui, &model, order);
	assert_string_equal(cell(LIVE_TAB_IRQS, order[0], 0), "11");
	live_ui_key(&ui, &model, LIVE_SPOT_COLUMN + 1); /* a click on the heading NAME */
	live_table_sort(&ui, &model, order);
	assert_string_equal(cell(LIVE_TAB_IRQS, order[0], 1), "even");
	live_ui_key(&ui, &model, '>');
	live_ui_key(&ui, &model, '<');
	assert_int_equal(ui.column[LIVE_TAB_IRQS], 1);
	for (const char *key = "/ODD"; *key; key++)
		live_ui_key(&ui, &model, *key);
	live_ui_key(&ui, &model, LIVE_KEY_ENTER);
	assert_int_equal(live_table_sort(&ui, &model, order), 3);
	live_ui_key(&ui, &model, 'r');
	assert_int_equal(live_table_sort(&ui, &model, order), 5);
}

static int find_click(const char *text)
{
	for (uint32_t y = 0; y < page.rows; y++) {
		const char *at = strstr(page.row[y].text, text);

		if (at)
			return live_page_click(&page, y, (uint32_t)(at - page.row[y].text));
	}
	return 0;
}

static void clicks_choose_tabs_rows_and_columns(void **state)
{
	(void)state;
	model.running = true;
	take(script_event(SWITCH, 1000, 0, 7, (uint64_t)7, (uint64_t)9));
	take(script_event(SWITCH, 2000, 0, 9, (uint64_t)9, (uint64_t)7));
	live_details_end(model.details, &model, 1);
	live_page_make(&page, &model, &ui, 24, 80);
	live_ui_key(&ui, &model, find_click("NAME"));
	assert_int_equal(ui.column[LIVE_TAB_THREADS], 1);
	assert_int_equal(live_page_click(&page, 23, 0), 0);
	live_ui_key(&ui, &model, find_click("Locks"));
	assert_int_equal(ui.tab, LIVE_TAB_LOCKS);
	live_ui_key(&ui, &model, '\t');
	live_ui_key(&ui, &model, LIVE_KEY_BACK_TAB);
	live_ui_key(&ui, &model, LIVE_KEY_LEFT);
	assert_int_equal(ui.tab, LIVE_TAB_THREADS);
	live_page_make(&page, &model, &ui, 24, 80);
	live_ui_key(&ui, &model, find_click("runnable"));
	live_page_make(&page, &model, &ui, 24, 80);
	assert_int_equal(ui.selected[LIVE_TAB_THREADS] < ui.rows, true);
	for (int n = 0; n < 100; n++)
		live_ui_key(&ui, &model, n % 3 ? LIVE_KEY_DOWN : LIVE_KEY_PAGE_DOWN);
	live_page_make(&page, &model, &ui, 24, 80);
	assert_int_equal(ui.selected[LIVE_TAB_THREADS], ui.rows - 1);
	live_ui_key(&ui, &model, LIVE_KEY_HOME);
	assert_int_equal(ui.selected[LIVE_TAB_THREADS], 0);
}

static bool page_shows(const char *text)
{
	bool shows = false;

	live_page_make(&page, &model, &ui, 24, 80);
	for (uint32_t y = 0; y < page.rows; y++)
		shows |= strstr(page.row[y].text, text) != NULL;
	return shows;
}

/* Nothing can be said about what a guest records while none runs. */
static void empty_tables_have_a_reason(void **state)
{
	(void)state;
	live_ui_key(&ui, &model, '2');
	model.running = true;
	assert_true(page_shows("no locks: the kernel records no"));
	model.running = false;
	assert_true(page_shows("no guest runs"));
}

static void help_and_quit(void **state)
{
	(void)state;
	live_ui_key(&ui, &model, '?');
	live_page_make(&page, &model, &ui, 30, 80);
	assert_non_null(strstr(page.row[3].text, "choose a table"));
	assert_false(live_ui_key(&ui, &model, LIVE_KEY_F1));
	assert_false(ui.help);
	assert_true(live_ui_key(&ui, &model, LIVE_KEY_F10));
	live_ui_key(&ui, &model, '/');
	assert_false(live_ui_key(&ui, &model, 'q')); /* a letter of the search text */
	live_ui_key(&ui, &model, LIVE_KEY_ESCAPE);
	assert_true(live_ui_key(&ui, &model, 'q'));
}

static void sparks_have_the_height_of_their_rate(void **state)
{
	struct live_history history = { 0 };
	char text[8];

	(void)state;
	for (unsigned n = 0; n < 3; n++)
		history.rate[history.count++] = (float)(n * 100);
	live_spark(&history, text, 5);
	assert_memory_equal(text, "   \4\10", 5);
}

static void write_file(const char *path, const char *bytes, size_t length)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

/* Only programs whose RAM file exists are guests. In a path, two commas mean one comma. */
static void guests_are_found_by_their_command_lines(void **state)
{
	char folder[] = "/tmp/ktrace-guests-XXXXXX", path[128], line[400];
	static struct live_guests guests;
	int length;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	mkdir("10", 0700);
	mkdir("9", 0700);
	mkdir("11", 0700);
	mkdir("net", 0700);
	write_file("a,b.ram", "", 0);
	length = snprintf(
		line, sizeof(line),
		"qemu%c-object%cmemory-backend-file,id=a,mem-path=%s/a,,b.ram,share=on%c-kernel%cx.elf%c", 0,
		0, folder, 0, 0, 0);
	write_file("10/cmdline", line, (size_t)length);
	write_file("9/cmdline", line, (size_t)length);
	write_file("11/cmdline", "memory-backend-file,mem-path=/absent/file", 41);
	live_guests_find(&guests, folder);
	assert_int_equal(guests.count, 1);
	assert_int_equal(guests.guest[0].pid, 10);
	snprintf(path, sizeof(path), "%s/a,b.ram", folder);
	assert_string_equal(guests.guest[0].path, path);
	assert_string_equal(guests.guest[0].kernel, "x.elf");
	/* the user chooses this guest on the screen */
	ui.guests = guests;
	ui.choosing = true;
	live_page_make(&page, &model, &ui, 30, 100);
	live_ui_key(&ui, &model, find_click("x.elf"));
	assert_string_equal(ui.chosen, path);
	assert_false(ui.choosing);
	for (const char *const *name =
		     (const char *const[]){ "10/cmdline", "9/cmdline", "11/cmdline", "a,b.ram", NULL };
	     *name; name++)
		unlink(*name);
	rmdir("10");
	rmdir("9");
	rmdir("11");
	rmdir("net");
	assert_int_equal(chdir("/"), 0);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(durations_of_calls_and_errors, begin, end),
		cmocka_unit_test_setup_teardown(no_duration_extends_across_a_loss, begin, end),
		cmocka_unit_test_setup_teardown(interrupts_nest_and_have_names, begin, end),
		cmocka_unit_test_setup_teardown(locks_have_holders_and_waiters, begin, end),
		cmocka_unit_test_setup_teardown(rows_are_sorted_and_searched, begin, end),
		cmocka_unit_test_setup_teardown(clicks_choose_tabs_rows_and_columns, begin, end),
		cmocka_unit_test_setup_teardown(empty_tables_have_a_reason, begin, end),
		cmocka_unit_test_setup_teardown(help_and_quit, begin, end),
		cmocka_unit_test(sparks_have_the_height_of_their_rate),
		cmocka_unit_test_setup_teardown(guests_are_found_by_their_command_lines, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
