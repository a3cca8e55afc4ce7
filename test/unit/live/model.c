/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the output of `ktrace live` for a simulated source. Its clock advances while live waits for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ktrx/slot.h"
#include "live/page.h"
#include "unit/support/script.h"

#define MS     UINT64_C(1000000)
#define SECOND (1000 * MS)
/* the ring advances by this number of slots for each event that is read: three of them are skipped */
#define SLOTS_EVENT 4u

enum { SWITCH = 1, CONTEND, IRQ_ENTER, IRQ_EXIT, BLOCK };

static struct {
	uint64_t now;
	unsigned asked, held_up; /* at this reading of the clock, two seconds have passed; 0: never */
	unsigned returned;	 /* number of events that the source has returned */
	struct ktread_followed first[4];
	unsigned firsts, first_said;
	uint64_t boots_at; /* time at which the guest boots again; 0 if it never does */
	struct ktrx_cpu cpu[3];
	struct ktread_follow_account account;
} fake;

static volatile sig_atomic_t stopped;

static int fake_next(void *context, struct ktread_followed *now, int wait_ms)
{
	(void)context;
	memset(now, 0, sizeof(*now));
	if (fake.first_said < fake.firsts) {
		*now = fake.first[fake.first_said++];
		return 1;
	}
	if (fake.boots_at && fake.now >= fake.boots_at) {
		fake.boots_at = 0;
		now->kind = KTREAD_FOLLOWED_BOOT;
		return 1;
	}
	if (fake.returned < script_count() && script_at(fake.returned)->stamp <= fake.now) {
		now->kind = KTREAD_FOLLOWED_EVENT;
		now->event = script_at(fake.returned++);
		script_ring(now->event->ring)->decoded++;
		script_ring(now->event->ring)->head += SLOTS_EVENT;
		fake.account.produced += SLOTS_EVENT;
		fake.account.skipped += SLOTS_EVENT - 1;
		return 1;
	}
	fake.now += (uint64_t)wait_ms * MS;
	return 0;
}

static struct ktread *fake_trace(void *context)
{
	(void)context;
	return script_trace();
}

/*
 * Replaces the function that reads the state of CPUs: CPU 0 has heartbeats, CPU 1 idles without heartbeats,
 * and CPU 2 no longer has heartbeats.
 */
static int fake_cpus(void *context, struct ktrx_cpu *cpu, uint32_t room)
{
	(void)context;
	assert_true(room >= 3);
	fake.cpu[0].heartbeats++;
	memcpy(cpu, fake.cpu, sizeof(fake.cpu));
	return 3;
}

static int fake_holders(void *context, uint32_t first, struct ktrx_holder *holder, uint32_t room)
{
	(void)context;
	return ktread_holders(script_trace(), first, holder, room);
}

static void fake_account(void *context, struct ktread_follow_account *account)
{
	(void)context;
	*account = fake.account;
}

static uint64_t fake_now(void *context)
{
	(void)context;
	if (++fake.asked == fake.held_up)
		fake.now += 2 * SECOND;
	return fake.now;
}

static const char *fake_path(void *context)
{
	(void)context;
	return "guest.ram";
}

static const struct live_source source = { NULL,	 fake_next, fake_trace, fake_cpus, fake_holders,
					   fake_account, fake_now,  fake_path,	fake_path };

static void begin(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.now = SECOND;
	fake.first[0].kind = KTREAD_FOLLOWED_BOOT;
	fake.firsts = 1;
	/* the slots that were recorded before `ktrace live` began to follow the guest */
	fake.account.skipped = 1000000;
	fake.cpu[0] = (struct ktrx_cpu){ .heartbeats = 1, .thread = 7, .mode = KTRX_MODE_USER, .online = 1 };
	fake.cpu[1] = (struct ktrx_cpu){ .heartbeats = 5, .mode = KTRX_MODE_IDLE, .online = 1 };
	fake.cpu[2] = (struct ktrx_cpu){
		.heartbeats = 9, .pc = 0xabc, .thread = 9, .mode = KTRX_MODE_KERNEL, .online = 1
	};
	script_begin(2);
	script_info()->rings = SCRIPT_RINGS;
	script_info()->cpus = 3;
	script_setting("debug.ktr.cost", 1000 * 1000); /* an event costs 1000 ticks, which are 1000 ns */
	script_thread(7, "in\x1bit");
	script_thread(9, "hog");
	script_type(SWITCH, "sched", "switch", "u32 prev, u32 next");
	script_type(CONTEND, "lock", "contend", "u64 lock");
	script_type(IRQ_ENTER, "irq", "enter", "u32 irq");
	script_type(IRQ_EXIT, "irq", "exit", "u32 irq");
	script_type(BLOCK, "sched", "block", "u32 thread, u64 queue, u32 state");
}

/* From two seconds on, CPU 0 spends a quarter of each millisecond in an interrupt. */
static void script_interrupts(unsigned count)
{
	for (unsigned n = 0; n < count; n++) {
		script_event(IRQ_ENTER, 2 * SECOND + n * MS, 0, 7, (uint64_t)3);
		script_event(IRQ_EXIT, 2 * SECOND + n * MS + MS / 4, 0, 7, (uint64_t)3);
	}
}

static int show_text(void *context, struct live_model *model)
{
	live_lines_write(context, model);
	return 0;
}

/* Runs line mode for `count` intervals of a second. Returns its output, which the caller frees. */
static char *write_lines(uint64_t count, bool json, uint32_t tail, const char *events)
{
	const struct live_watch watch = { &source, SECOND, count, &stopped };
	struct base_output out;
	struct live_lines lines = { .out = &out, .json = json, .tail = tail };
	const struct live_view view = { &lines, show_text, NULL };
	struct live_model model;
	char name[] = "/tmp/ktrace-live-XXXXXX", *text = calloc(1, 65536);
	int fd = mkstemp(name);

	assert_non_null(text);
	assert_true(fd >= 0);
	unlink(name);
	assert_int_equal(base_output_open(&out, fd), 0);
	assert_int_equal(live_model_open(&model, &source), 0);
	snprintf(model.tail.filter.events, sizeof(model.tail.filter.events), "%s", events);
	assert_int_equal(live_watch(&watch, &model, &view), 0);
	live_model_close(&model);
	assert_int_equal(base_output_close(&out), 0);
	assert_true(pread(fd, text, 65535, 0) > 0);
	close(fd);
	script_end();
	return text;
}

/*
 * The last 25 ms of each interval are counted in the next interval, so the first interval has fewer events.
 */
static void lines_show_shares_rates_and_losses(void **state)
{
	char *text;

	(void)state;
	begin();
	script_interrupts(2000);
	text = write_lines(3, false, 0, "");
	assert_string_equal(
		text,
		"     1.0 s  0 events/s, cost 0.00%, lost 0, 0 not read | 0: user 100% in\\x1bit(7) | "
		"1: idle 100%"
		" | 2: kernel 100% hog(9)\n"
		"     2.0 s  7804 events/s, cost 0.26%, lost 0, 5853 not read | 0: user 75% irq 25% "
		"in\\x1bit(7) | 1: "
		"idle 100% | 2: stuck 100% STUCK for 2.0 s at 0xabc hog(9) | irq.enter 3904, irq.exit 3900\n"
		"     3.0 s  8000 events/s, cost 0.27%, lost 0, 11853 not read | 0: user 75% irq 25% "
		"in\\x1bit(7) | 1: idle 100% | 2: stuck 100% STUCK for 3.0 s at 0xabc hog(9) | "
		"irq.enter 4000, irq.exit 4000\n");
	free(text);
}

static void guest_is_seen_although_the_host_held_up_live(void **state)
{
	char *text;

	(void)state;
	begin();
	fake.held_up = 3;
	text = write_lines(1, true, 0, "");
	assert_non_null(strstr(text, "\"state\":\"running\",\"boot\":1,"));
	free(text);
}

static void json_shows_waits_and_escaped_names(void **state)
{
	char *text;

	(void)state;
	begin();
	script_event(BLOCK, SECOND + 400 * MS, 1, 5, (uint64_t)5, (uint64_t)0x88, (uint64_t)1);
	script_event(SWITCH, SECOND + 400 * MS + 5, 1, 5, (uint64_t)5, (uint64_t)0);
	script_event(CONTEND, SECOND + 900 * MS, 2, 9, (uint64_t)0x99);
	text = write_lines(1, true, 0, "");
	assert_non_null(strstr(text, "{\"seconds\":1.000,\"state\":\"running\",\"boot\":1,"));
	assert_non_null(strstr(text, "\"waits\":[{\"thread\":5,\"object\":\"0x88\",\"seconds\":0.500}]"));
	assert_non_null(strstr(text, "\"name\":\"hog\",\"lock\":\"0x99\"}"));
	assert_non_null(strstr(text, "\"name\":\"in\\u001bit\""));
	free(text);
}

static void tail_shows_matching_events(void **state)
{
	char *text;

	(void)state;
	begin();
	script_interrupts(3);
	script_event(CONTEND, 2 * SECOND + 900 * MS, 2, 9, (uint64_t)0x99);
	text = write_lines(2, false, 5, "lock.*,nothing");
	assert_non_null(strstr(text, "\n    0.000000 CPU2 hog(9)       lock.contend"));
	assert_null(strstr(text, "CPU0 "));
	free(text);
}

static void tail_names_threads(void **state)
{
	char *text;

	(void)state;
	begin();
	script_event(SWITCH, SECOND + 400 * MS, 1, 7, (uint64_t)7, (uint64_t)9);
	text = write_lines(1, false, 5, "sched.switch");
	assert_non_null(strstr(text, " (in\\x1bit(7) -> hog(9))\n"));
	free(text);
}

/*
 * If the kernel's tables and events contradict each other, the tables are used. The tables show which thread
 * waits for which lock, and interrupts for which there are no events.
 */
static void tables_override_events(void **state)
{
	struct ktrx_holder *row;
	char *text;

	(void)state;
	begin();
	script_event(BLOCK, SECOND + 400 * MS, 1, 5, (uint64_t)5, (uint64_t)0x88, (uint64_t)1);
	script_event(SWITCH, SECOND + 400 * MS + 5, 1, 5, (uint64_t)5, (uint64_t)0);
	fake.cpu[0].nesting = 1;
	fake.cpu[2].now = 4 * SECOND;
	row = script_holder(KTRX_HOLDER_CPU | 2);
	*row = (struct ktrx_holder){ .id = row->id, .wait = KTRX_WAIT_SPIN, .object = 0x99, .owner = 10 };
	strcpy(row->object_name, "in\x1bode");
	row = script_holder(8);
	*row = (struct ktrx_holder){ .id = 8, .wait = KTRX_WAIT_TIME, .wait_stamp = SECOND, .object = 0x77 };
	row = script_holder(10);
	*row = (struct ktrx_holder){ .id = 10,
				     .wait = KTRX_WAIT_LOCK,
				     .wait_stamp = 2 * SECOND,
				     .object = 0xaa,
				     .owner = KTRX_HOLDER_CPU | 1 };
	script_holder(0);
	script_holder(KTRX_HOLDER_CPU | 4000000);
	text = write_lines(1, true, 0, "");
	assert_non_null(strstr(text, "\"irq\":1.000"));
	assert_non_null(
		strstr(text, "\"lock\":\"0x99\",\"object_name\":\"in\\u001bode\",\"owner_thread\":9}"));
	assert_non_null(
		strstr(text, "\"waits\":[{\"thread\":9,\"name\":\"hog\",\"object\":\"0xaa\",\"owner_cpu\":1,"
			     "\"seconds\":2.000},{\"thread\":7,\"name\":\"in\\u001bit\",\"object\":\"0x77\","
			     "\"seconds\":3.000}]"));
	free(text);
	begin();
	row = script_holder(KTRX_HOLDER_CPU | 2);
	*row = (struct ktrx_holder){ .id = row->id, .wait = KTRX_WAIT_SPIN, .object = 0x99, .owner = 10 };
	strcpy(row->object_name, "inode");
	text = write_lines(1, false, 0, "");
	assert_non_null(strstr(text, "waits for lock inode (0x99) of hog(9)"));
	free(text);
}

/* A guest ends and another guest begins. No values of the first guest are shown for the second one. */
static void new_guest_starts_without_values(void **state)
{
	char *text;

	(void)state;
	begin();
	fake.first[1].kind = KTREAD_FOLLOWED_END;
	fake.firsts = 2;
	text = write_lines(1, false, 0, "");
	assert_string_equal(text, "     1.0 s the guest has ended, waiting for another one\n");
	free(text);
	begin();
	fake.first[1].kind = KTREAD_FOLLOWED_END;
	fake.first[2].kind = KTREAD_FOLLOWED_BOOT;
	fake.firsts = 3;
	text = write_lines(1, false, 0, "");
	assert_non_null(strstr(text, "     1.0 s  boot 2 0 events/s"));
	free(text);
}

/* A CPU idles, with one short interrupt. No event follows the end of the interrupt. */
static void short_interrupt_of_an_idle_cpu_is_not_overestimated(void **state)
{
	const struct wellknown enter = { .kind = WELLKNOWN_IRQ_ENTER },
			       leave = { .kind = WELLKNOWN_IRQ_EXIT };
	struct ktrx_cpu row = { .mode = KTRX_MODE_IDLE, .online = 1 };
	struct ktread_event event = { .stamp = SECOND / 2, .context = KTRX_CONTEXT_INTERRUPT };
	struct live_cpu cpu = { 0 };

	(void)state;
	live_cpu_sample(&cpu, &row, false, 0, SECOND);
	live_cpu_event(&cpu, &event, &enter, true);
	event.stamp += SECOND / 100;
	live_cpu_event(&cpu, &event, &leave, true);
	live_cpu_close(&cpu, SECOND);
	assert_true(cpu.share[LIVE_IRQ] > 0.009 && cpu.share[LIVE_IRQ] < 0.011);
	assert_true(cpu.share[LIVE_IDLE] > 0.98);
	/* The same interrupt as in the previous test, in an interval of unknown length. */
	live_cpu_sample(&cpu, &row, false, 0, 2 * SECOND);
	event.stamp += SECOND;
	live_cpu_event(&cpu, &event, &enter, true);
	event.stamp += SECOND / 100;
	live_cpu_event(&cpu, &event, &leave, true);
	cpu.covered = SECOND / 50;
	live_cpu_close(&cpu, 0);
	assert_true(cpu.share[LIVE_IRQ] < 0.011);
}

/*
 * Some slots were recorded before the last call of live_rates_settle(), and are read after this call. These
 * slots do not count for the rate.
 */
static void backlog_does_not_raise_the_rate(void **state)
{
	struct live_rates *rates = live_rates_open();
	struct live_top top[LIVE_TOP];
	double rate;

	(void)state;
	begin();
	assert_non_null(rates);
	script_ring(0)->head = 1000;
	live_rates_settle(rates, script_trace());
	for (unsigned n = 0; n < 200; n++) {
		script_event(IRQ_ENTER, SECOND + n, 0, 7, (uint64_t)3);
		live_rates_event(rates, script_at(n));
	}
	script_ring(0)->head += 100;
	script_ring(0)->decoded += 200;
	live_rates_settle(rates, script_trace());
	rate = live_rates_end(rates, 1, top);
	assert_true(rate > 99 && rate < 101);
	live_rates_close(rates);
	script_end();
}

/* Events that a guest recorded before it was followed do not show how its CPUs spend their time now. */
static void interrupts_before_following_do_not_count(void **state)
{
	char *text;

	(void)state;
	begin();
	script_event(IRQ_ENTER, 1, 1, 7, (uint64_t)3);
	script_event(IRQ_EXIT, SECOND - 1, 1, 7, (uint64_t)3);
	text = write_lines(1, false, 0, "");
	assert_non_null(strstr(text, "| 1: idle 100%"));
	free(text);
}

/* The rate does not include the first 300 ms of a boot: neither the slots nor the time. */
static void slots_of_a_second_boot_are_not_overestimated(void **state)
{
	char *text, *slots;

	(void)state;
	begin();
	fake.boots_at = 2 * SECOND + SECOND / 2;
	for (unsigned n = 0; n < 2000; n++)
		script_event(CONTEND, SECOND + n * MS, 2, 9, (uint64_t)0x99);
	text = write_lines(2, true, 0, "");
	slots = strstr(text, "\"boot\":2,");
	assert_non_null(slots);
	slots = strstr(slots, "\"slots_per_second\":");
	assert_non_null(slots);
	assert_in_range(strtoul(strchr(slots, ':') + 1, NULL, 10), 3800, 4200);
	free(text);
}

/*
 * CPU 2 made no progress for 5 s before `ktrace live` began: its newest timestamp is 5 s older than that of
 * CPU 0.
 */
static void time_stuck_includes_the_time_before_live_began(void **state)
{
	char *text;

	(void)state;
	begin();
	fake.cpu[0].now = 9 * SECOND;
	fake.cpu[2].now = 4 * SECOND;
	text = write_lines(2, false, 0, "");
	assert_non_null(strstr(text, "2: stuck 100% STUCK for 7.0 s at 0xabc hog(9)"));
	free(text);
}

/* Many threads are created and end, more than the model can store. It must still know the newest ones. */
static void newest_of_many_threads_are_known(void **state)
{
	struct live_waits *waits = live_waits_open();
	struct wellknown_table known = { 0 };
	struct live_wait list[LIVE_WAITS];
	struct ktread_event *enter, *block, *leave;

	(void)state;
	begin();
	assert_non_null(waits);
	enter = script_event(SWITCH, SECOND, 1, 0, (uint64_t)0, (uint64_t)5);
	block = script_event(BLOCK, SECOND, 1, 5, (uint64_t)5, (uint64_t)0x88, (uint64_t)1);
	leave = script_event(SWITCH, SECOND, 1, 5, (uint64_t)5, (uint64_t)0);
	for (uint32_t thread = 1; thread < 160000; thread++) {
		block->thread = leave->thread = thread;
		memcpy((unsigned char *)(uintptr_t)enter->payload + sizeof(thread), &thread, sizeof(thread));
		memcpy((unsigned char *)(uintptr_t)block->payload, &thread, sizeof(thread));
		memcpy((unsigned char *)(uintptr_t)leave->payload, &thread, sizeof(thread));
		assert_int_equal(live_waits_event(waits, enter, wellknown_of(&known, enter)), 0);
		assert_int_equal(live_waits_event(waits, block, wellknown_of(&known, block)), 0);
		assert_int_equal(live_waits_event(waits, leave, wellknown_of(&known, leave)), 0);
	}
	assert_int_equal(live_waits_list(waits, list), LIVE_WAITS);
	assert_in_range(list[0].thread, 65536, 160000);
	assert_int_equal(list[0].object, 0x88);
	live_waits_close(waits);
	script_end();
}

/* A page of the screen, and which rows are selected on it. */
struct shown {
	struct live_page page;
	struct live_ui ui;
	unsigned made;
};

static void check_page(const struct live_page *page, uint32_t rows, uint32_t columns)
{
	assert_true(page->rows <= rows);
	for (uint32_t y = 0; y < page->rows; y++) {
		const char *text = page->row[y].text;

		assert_true(strlen(text) <= columns);
		for (; *text; text++)
			assert_true((*text >= ' ' && *text < 127) ||
				    (*text >= 1 && *text <= LIVE_SPARK_MOST));
	}
	for (uint32_t n = 0; n < page->spots; n++)
		assert_true(page->spot[n].y < rows && page->spot[n].x <= page->spot[n].end);
}

static int make_pages(void *context, struct live_model *model)
{
	struct shown *shown = context;

	assert_int_equal(live_model_detail(model), 0);
	for (uint32_t rows = 0; rows < 60; rows += 1 + rows / 16)
		for (uint32_t columns = 1; columns < 260; columns += 13)
			for (unsigned tab = 0; tab < LIVE_TABS + 2; tab++) {
				shown->ui.tab = tab < LIVE_TABS ? (enum live_tab)tab : LIVE_TAB_THREADS;
				shown->ui.help = tab == LIVE_TABS;
				shown->ui.choosing = tab > LIVE_TABS;
				live_page_make(&shown->page, model, &shown->ui, rows, columns);
				check_page(&shown->page, rows, columns);
			}
	shown->ui.choosing = false;
	live_page_make(&shown->page, model, &shown->ui, 10, 40);
	shown->made++;
	return 0;
}

static struct shown *new_shown(void)
{
	struct shown *shown = calloc(1, sizeof(*shown));

	assert_non_null(shown);
	live_ui_init(&shown->ui, NULL);
	return shown;
}

/* Checks the pages for terminals of all sizes. A page of the smallest useful size must also show the bars. */
static void pages_of_all_sizes_fit(void **state)
{
	const struct live_watch watch = { &source, SECOND, 2, &stopped };
	struct shown *shown = new_shown();
	const struct live_view view = { shown, make_pages, NULL };
	const struct live_page *page = &shown->page;
	struct live_model model;

	(void)state;
	begin();
	script_interrupts(100);
	shown->ui.guests.count = LIVE_GUESTS;
	assert_int_equal(live_model_open(&model, &source), 0);
	assert_int_equal(live_watch(&watch, &model, &view), 0);
	assert_int_equal(shown->made, 2);
	assert_int_equal(page->rows, 10);
	assert_memory_equal(page->row[2].text, "CPU0  [uuuu", 11);
	assert_string_equal(page->row[3].text, "CPU1  [....................] idle");
	assert_memory_equal(page->row[4].text, "CPU2  [!!!!!!!!!!!!!!!!!!!!] STUCK", 34);
	assert_memory_equal(page->row[9].text, "q quit", 6);
	live_model_close(&model);
	script_end();
	free(shown);
}

static bool page_shows(const struct live_model *model, enum live_tab tab, const char *text)
{
	struct shown *shown = new_shown();
	bool found = false;

	shown->ui.tab = tab;
	live_page_make(&shown->page, model, &shown->ui, 60, 100);
	for (uint32_t y = 0; y < shown->page.rows; y++)
		found |= strstr(shown->page.row[y].text, text) != NULL;
	free(shown);
	return found;
}

/* The last events of the first boot are shown after it has ended, and disappear when another boot begins. */
static void page_shows_events_of_its_boot(void **state)
{
	struct ktread_followed boot = { .kind = KTREAD_FOLLOWED_BOOT }, end = { .kind = KTREAD_FOLLOWED_END };
	struct ktread_followed event = { .kind = KTREAD_FOLLOWED_EVENT };
	struct live_model model;

	(void)state;
	begin();
	assert_int_equal(live_model_open(&model, &source), 0);
	assert_int_equal(live_model_take(&model, &boot), 0);
	event.event = script_event(CONTEND, SECOND, 2, 9, (uint64_t)0x99);
	assert_int_equal(live_model_take(&model, &event), 0);
	assert_true(page_shows(&model, LIVE_TAB_EVENTS, "order between CPUs: uncertain"));
	assert_int_equal(live_model_take(&model, &end), 0);
	assert_true(page_shows(&model, LIVE_TAB_EVENTS, "lock.contend"));
	assert_true(page_shows(&model, LIVE_TAB_EVENTS, "--- the guest has ended ---"));
	assert_int_equal(live_model_take(&model, &boot), 0);
	event.event = script_event(IRQ_ENTER, SECOND, 0, 7, (uint64_t)3);
	assert_int_equal(live_model_take(&model, &event), 0);
	assert_true(page_shows(&model, LIVE_TAB_EVENTS, "--- boot 2 ---"));
	assert_true(page_shows(&model, LIVE_TAB_EVENTS, "irq.enter"));
	assert_false(page_shows(&model, LIVE_TAB_EVENTS, "lock.contend"));
	live_model_close(&model);
	script_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_show_shares_rates_and_losses),
		cmocka_unit_test(guest_is_seen_although_the_host_held_up_live),
		cmocka_unit_test(json_shows_waits_and_escaped_names),
		cmocka_unit_test(tail_shows_matching_events),
		cmocka_unit_test(tail_names_threads),
		cmocka_unit_test(new_guest_starts_without_values),
		cmocka_unit_test(pages_of_all_sizes_fit),
		cmocka_unit_test(short_interrupt_of_an_idle_cpu_is_not_overestimated),
		cmocka_unit_test(backlog_does_not_raise_the_rate),
		cmocka_unit_test(interrupts_before_following_do_not_count),
		cmocka_unit_test(slots_of_a_second_boot_are_not_overestimated),
		cmocka_unit_test(time_stuck_includes_the_time_before_live_began),
		cmocka_unit_test(newest_of_many_threads_are_known),
		cmocka_unit_test(tables_override_events),
		cmocka_unit_test(page_shows_events_of_its_boot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
