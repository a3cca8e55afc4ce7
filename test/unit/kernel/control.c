/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests that events are enabled and disabled by name and by boot argument. Also tests the counts of
 * events, names of threads, and the record of how a kernel ended.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/core/state.h"
#include "ktrace/settings.h"
#include "test/fake/checker.h"
#include "test/fake/machine.h"

KTRACE_EVENT(sched, switch, "%u", (uint32_t, next));
KTRACE_EVENT(sched, wake, "%u", (uint32_t, thread));
KTRACE_EVENT(mm, fault, "%llx", (unsigned long long, address));
KTRACE_EVENT(mmio, write, "%llx", (unsigned long long, address));
KTRACE_EVENT_STATE(KTRX_STATE_OFF, quiet, detail, "%u", (uint32_t, value));
KTRACE_EVENT_STATE(KTRX_STATE_COUNT, quiet, often, "%u", (uint32_t, value));
KTRACE_EVENT_STATE(KTRX_STATE_RECORD, quiet, rare, "%u", (uint32_t, value));

static uint64_t counted(const char *event, uint32_t ring)
{
	return ktrace_state.counters[ring * (ktrace_state.events + 1) + fake_event(event)->id];
}

/*
 * Returns the requested states of the four events as letters: o: off; r: record; c: count; b: record and
 * count; s: stop; t: record, count and stop.
 */
static const char *wanted(void)
{
	static const char *const names[] = { "sched.switch", "sched.wake", "mm.fault", "mmio.write" };
	static const char letters[] = "orcb?s?t";
	static char result[5];

	for (uint32_t i = 0; i < 4; i++)
		result[i] = letters[fake_event(names[i])->wanted & 7];
	return result;
}

static void events_are_set_by_pattern(void **state)
{
	static const struct {
		const char *text;
		int error;
		const char *result;
	} cases[] = {
		{ "", KTRACE_OK, "rrrr" },
		{ "sched.switch=off", KTRACE_OK, "orrr" },
		{ "sched.*=off", KTRACE_OK, "oorr" },
		{ "sched=count", KTRACE_OK, "ccrr" },
		{ "mm=off", KTRACE_OK, "rror" },
		{ "mm*=both", KTRACE_OK, "rrbb" },
		{ "*=off", KTRACE_OK, "oooo" },
		{ "*=off,sched.switch=on", KTRACE_OK, "rooo" },
		{ "*=off, *.?ault=stop", KTRACE_OK, "ooso" },
		{ "*w*=off", KTRACE_OK, "ooro" },
		{ "*.*e=off", KTRACE_OK, "roro" },
		{ "sched.switc=off", KTRACE_ERROR_NO_EVENT, "rrrr" },
		{ "sched.switchx=off", KTRACE_ERROR_NO_EVENT, "rrrr" },
		{ "sche=off", KTRACE_ERROR_NO_EVENT, "rrrr" },
		{ "mm=off,nothing=on,sched=off", KTRACE_ERROR_NO_EVENT, "rror" },
		{ "*=off,sched", KTRACE_OK, "rroo" },
		{ "-sched,-mm.fault", KTRACE_OK, "ooor" },
		{ "-* *.fault", KTRACE_OK, "ooro" },
		{ "sched=on+count,mm=both+stop", KTRACE_OK, "bbtr" },
		{ "sched=callers2+site", KTRACE_OK, "rrrr" },
		{ "sched=off+callers1", KTRACE_OK, "oorr" },
		{ "debug.ktr.mm_enable=0,sched=off", KTRACE_OK, "ooor" },
		{ "-sched.switc", KTRACE_ERROR_NO_EVENT, "rrrr" },
		{ "debug.ktr.nothing=1", KTRACE_ERROR_NO_SETTING, "rrrr" },
		{ "debug.ktr.version=1", KTRACE_ERROR_READ_ONLY, "rrrr" },
		{ "sched=", KTRACE_ERROR_SYNTAX, "rrrr" },
		{ "sched=on+", KTRACE_OK, "rrrr" },
		{ "sched=on+of", KTRACE_ERROR_SYNTAX, "rrrr" },
		{ "-", KTRACE_ERROR_SYNTAX, "rrrr" },
		{ "=on", KTRACE_ERROR_SYNTAX, "rrrr" },
		{ "sched=offf", KTRACE_ERROR_SYNTAX, "rrrr" },
		{ "sched=of", KTRACE_ERROR_SYNTAX, "rrrr" },
	};

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_reset(state);
		assert_int_equal(ktrace_control(cases[i].text), cases[i].error);
		assert_string_equal(wanted(), cases[i].result);
	}
}

static void flags_change_without_the_state(void **state)
{
	const struct ktrx_event *event;

	(void)state;
	event = fake_event("sched.switch");
	assert_int_equal(ktrace_control("sched.switch=count,sched.switch=callers2+site"), KTRACE_OK);
	assert_int_equal(event->wanted, KTRX_STATE_COUNT);
	assert_int_equal(event->flags, 2 | KTRX_EVENT_SITE);
	assert_int_equal(fake_event("sched.wake")->flags, 0);
	assert_int_equal(ktrace_control("sched.switch=callers1"), KTRACE_OK);
	assert_int_equal(event->flags, 1 | KTRX_EVENT_SITE);
	assert_int_equal(ktrace_control("sched.switch=nosite+off"), KTRACE_OK);
	assert_int_equal(event->flags, 1);
	assert_int_equal(event->wanted, KTRX_STATE_OFF);
	assert_int_equal(ktrace_control("sched.switch=callers2+callers0"), KTRACE_OK);
	assert_int_equal(event->flags, 0);
}

static void events_boot_in_the_state_they_declare(void **state)
{
	(void)state;
	KTRACE(quiet, detail, 1);
	KTRACE(quiet, often, 2);
	KTRACE(quiet, rare, 3);
	fake_boot(512, KTRX_POLICY_OVERWRITE, 1);
	KTRACE(quiet, detail, 4);
	KTRACE(quiet, often, 5);
	KTRACE(quiet, rare, 6);
	assert_int_equal(fake_event("quiet.often")->count, 1);
	assert_int_equal(counted("quiet.often", 1), 1);
	assert_int_equal(check_ring(0)->records, 1);
	assert_int_equal(check_ring(1)->records, 1);
	assert_int_equal(check_ring(1)->record[0].event, fake_event("quiet.rare")->id);
	assert_int_equal(ktrace_control("quiet.*=on"), KTRACE_OK);
	KTRACE(quiet, detail, 7);
	KTRACE(quiet, often, 8);
	assert_int_equal(check_ring(1)->records, 3);
}

static void boot_arguments_select_groups(void **state)
{
	static const struct {
		const char *line;
		int error;
		const char *result;
	} cases[] = {
		{ "", KTRACE_OK, "orrr" },
		{ "root=/dev/sda quiet", KTRACE_OK, "orrr" },
		{ "debug=ktrace", KTRACE_OK, "rrrr" },
		{ "quiet debug=ktrace,sched", KTRACE_OK, "rroo" },
		{ "debug=ktrace-sched", KTRACE_OK, "rroo" },
		{ "debug=ktrace-sched,ktrace-mm", KTRACE_OK, "rrro" },
		{ "debug=sched debug=mmio", KTRACE_OK, "rror" },
		{ "debug=sched debug=mm", KTRACE_OK, "rrro" },
		{ "debug=ktrace debug=sched", KTRACE_OK, "rrrr" },
		{ "debug=sched debug=ktrace", KTRACE_OK, "rrrr" },
		{ "debug=ktrace,sched debug=mm", KTRACE_OK, "rrro" },
		{ "debug=ktrace-all,sched", KTRACE_OK, "rrrr" },
		{ "debug=", KTRACE_OK, "orrr" },
		{ "debug=acpi,usb", KTRACE_ERROR_NO_EVENT, "orrr" },
		{ "debug=acpi,mm", KTRACE_ERROR_NO_EVENT, "ooro" },
		{ "debug=mm,acpi", KTRACE_ERROR_NO_EVENT, "ooro" },
		{ "debug=acpi debug=mm", KTRACE_ERROR_NO_EVENT, "ooro" },
		{ "debug=acpi ktrace=-mm", KTRACE_ERROR_NO_EVENT, "oror" },
		{ "debug=ktrace,acpi", KTRACE_ERROR_NO_EVENT, "rrrr" },
		{ "debug=ktrace-nothing", KTRACE_ERROR_NO_EVENT, "orrr" },
		{ "ktrace=sched=count", KTRACE_OK, "ccrr" },
		{ "ktrace=*=off,mm.fault=on debug=sched", KTRACE_OK, "ooro" },
		{ "nodebug=sched", KTRACE_OK, "orrr" },
		{ "ktrace=x", KTRACE_ERROR_NO_EVENT, "orrr" },
		{ "ktrace=x=y", KTRACE_ERROR_SYNTAX, "orrr" },
		{ "ktrace=-*,mm", KTRACE_OK, "ooro" },
		{ "debug.ktr.sched_enable=-1 x.y=z debug.ktr.mm_enable=0x0", KTRACE_OK, "rror" },
		{ "debug.ktr.nothing=0", KTRACE_ERROR_NO_SETTING, "orrr" },
	};

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_reset(state);
		assert_int_equal(ktrace_control("sched.switch=off"), KTRACE_OK);
		assert_int_equal(ktrace_boot_argument(cases[i].line), cases[i].error);
		assert_string_equal(wanted(), cases[i].result);
	}
}

static void add_suggestion(void *cookie, const char *name)
{
	strcat(strcat(cookie, name), " ");
}

static void misspelt_names_give_suggestions(void **state)
{
	static const struct {
		const char *word, *suggestion;
	} cases[] = {
		{ "sched.swich", "sched.switch " },
		{ "-sched.swich", "sched.switch " },
		{ "sched.wakes=on+count", "sched.wake " },
		{ "sched.switch=onn", "" }, /* no suggestion: only the state is invalid */
		{ "sched.*=x", "" },
		{ "shced.*", "sched.* " },
		{ "schd", "sched " },
		{ "mmioo", "mmio " },
		{ "fault", "mm.fault " },
		{ "SCHED", "sched " },
		{ "Sched.Swich", "sched.switch " },
		{ "debug.ktr.versoin", "debug.ktr.version " },
		{ "debug.ktr.mm_enabel=1", "debug.ktr.mm_enable " },
		{ "quiet.fare", "quiet.rare " },
		{ "nothing.of.the.kind", "" },
		{ "", "" },
		{ "-", "" },
		{ "sched.switchsched.switchsched.switchsched.switchsched.switchsched.switchsched.switch",
		  "" },
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char suggestion[200] = "";

		ktrace_control_near(cases[i].word, strlen(cases[i].word), add_suggestion, suggestion);
		assert_string_equal(suggestion, cases[i].suggestion);
	}
}

static void events_may_count_without_recording(void **state)
{
	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 1);
	assert_int_equal(ktrace_control("sched.switch=count,sched.wake=both"), KTRACE_OK);
	for (uint32_t i = 0; i < 1000; i++) {
		fake.cpu = i % 2;
		KTRACE(sched, switch, i);
		if (i < 10)
			KTRACE(sched, wake, i);
	}
	KTRACE_EARLY(sched, switch, 0);
	assert_int_equal(counted("sched.switch", 1), 500);
	assert_int_equal(counted("sched.switch", 2), 500);
	assert_int_equal(counted("sched.switch", 0), 1);
	assert_int_equal(counted("sched.wake", 1), 5);
	assert_int_equal(check_ring(1)->records, 5);
	ktrace_clear();
	assert_int_equal(counted("sched.switch", 1), 0);
}

static void without_counters_the_descriptor_counts(void **state)
{
	(void)state;
	assert_int_equal(ktrace_control("sched.switch=count"), KTRACE_OK);
	KTRACE(sched, switch, 1);
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	KTRACE(sched, switch, 1);
	assert_int_equal(fake_event("sched.switch")->count, 2);
	assert_int_equal(check_ring(0)->records + check_ring(1)->records, 0);
}

static void turn_off(void)
{
	ktrace_control("sched.switch=off");
}

/* The event is disabled after it has reserved a slot. It still writes its record into this slot. */
static void an_event_turned_off_after_reserving_uses_its_slot(void **state)
{
	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	fake_at(2, turn_off);
	KTRACE(sched, switch, 1);
	KTRACE(sched, switch, 2);
	assert_int_equal(check_ring(1)->records, 1);
	assert_int_equal(check_ring(1)->invalid, 0);
}

static void clear_discards_all_records(void **state)
{
	(void)state;
	KTRACE(sched, switch, 0);
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	for (uint32_t i = 0; i < 2000; i++)
		KTRACE(sched, switch, i);
	ktrace_clear();
	assert_int_equal(check_ring(0)->produced, 0);
	assert_int_equal(check_ring(1)->produced, 0);
	KTRACE(sched, switch, 77);
	assert_int_equal(check_ring(1)->records, 1);
	assert_int_equal(check_ring(1)->produced, 1);
	assert_int_equal(check_ring(1)->record[0].stamp, fake.clock);
}

static void threads_have_names(void **state)
{
	(void)state;
	assert_int_equal(ktrace_thread_name(1, "early"), KTRACE_ERROR_STATE);
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	assert_int_equal(ktrace_thread_name(0, "idle"), KTRACE_OK);
	assert_int_equal(ktrace_thread_name(7, "a name that is longer than a row"), KTRACE_OK);
	assert_int_equal(ktrace_thread_name(KTRX_THREAD_MAX, "last"), KTRACE_OK);
	assert_int_equal(ktrace_thread_name(KTRX_THREAD_MAX + 1, "x"), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(ktrace_thread_name(1, NULL), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(ktrace_thread_name(0, "swapper"), KTRACE_OK);
	assert_int_equal(ktrace_state.thread[0].id, 1);
	assert_string_equal(ktrace_state.thread[0].name, "swapper");
	assert_string_equal(ktrace_state.thread[1].name, "a name that is longer than ");
	assert_int_equal(ktrace_state.thread[2].id, KTRX_THREAD_MAX + 1);
	assert_int_equal(ktrace_state.thread[3].id, 0);
	assert_int_equal(ktrace_thread_name(8, "eight"), KTRACE_OK);
	/* all entries are used, so the new name replaces the oldest one */
	assert_int_equal(ktrace_thread_name(9, "nine"), KTRACE_OK);
	assert_int_equal(ktrace_state.thread[0].id, 10);
}

static void cpus_report_heartbeats_and_modes(void **state)
{
	(void)state;
	ktrace_heartbeat(1);
	ktrace_mode(KTRX_MODE_USER);
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	fake.cpu = 1;
	fake.thread = 12;
	ktrace_heartbeat(0xabcd);
	ktrace_heartbeat(0xbcde);
	ktrace_mode(KTRX_MODE_IDLE);
	assert_int_equal(ktrace_state.cpu[1].heartbeats, 2);
	assert_int_equal(ktrace_state.cpu[1].pc, 0xbcde);
	assert_int_equal(ktrace_state.cpu[1].heartbeat_stamp, fake.clock);
	assert_int_equal(ktrace_state.cpu[1].thread, 12);
	assert_int_equal(ktrace_state.cpu[1].mode, KTRX_MODE_IDLE);
	assert_int_equal(ktrace_state.cpu[0].heartbeats, 0);
	fake.cpu = FAKE_CPUS;
	ktrace_heartbeat(1);
}

static int ended;

static void at_end(void *cookie)
{
	assert_ptr_equal(cookie, &ended);
	ended++;
}

static void a_panic_stops_recording(void **state)
{
	(void)state;
	ended = 0;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	ktrace_set_end_hook(at_end, &ended);
	ktrace_panic("out of luck");
	ktrace_panic("again");
	ktrace_exit(3);
	assert_int_equal(ended, 1);
	assert_int_equal(ktrace_root.outcome, KTRX_OUTCOME_PANIC);
	assert_int_equal(ktrace_root.status, 0);
	assert_false(ktrace_is_started());
	KTRACE(sched, switch, 1);
	assert_int_equal(check_ring(1)->records, 1);
	assert_int_equal(check_ring(1)->record[0].event, fake_event("ktrace.panic")->id);
	assert_memory_equal(check_ring(1)->record[0].payload + 2, "out of luck", 11);
}

/* The panic event is recorded even if the boot arguments select other groups. */
static void a_panic_is_recorded_with_any_selection(void **state)
{
	static const char *const lines[] = { "debug=sched", "ktrace=*=off", "ktrace=*.*=off",
					     "ktrace=*a*=off" };

	for (uint32_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		fake_reset(state);
		assert_int_equal(ktrace_boot_argument(lines[i]), KTRACE_OK);
		ktrace_panic("out of luck");
		assert_int_equal(check_ring(0)->records, 1);
	}
	fake_reset(state);
	assert_int_equal(ktrace_control("ktrace.pan*=off"), KTRACE_OK);
	assert_int_equal(fake_event("ktrace.panic")->wanted, KTRX_STATE_OFF);
	assert_int_equal(ktrace_control("ktrace=on"), KTRACE_OK);
	assert_int_equal(fake_event("ktrace.panic")->wanted, KTRX_STATE_RECORD);
}

static void an_exit_stores_its_status(void **state)
{
	(void)state;
	ended = 0;
	ktrace_set_end_hook(at_end, &ended);
	ktrace_exit(3);
	assert_int_equal(ktrace_root.outcome, KTRX_OUTCOME_EXITED);
	assert_int_equal(ktrace_root.status, 3);
	assert_int_equal(ended, 1);
	assert_true(ktrace_is_started());
}

static void a_panic_after_an_exit_is_the_end(void **state)
{
	(void)state;
	ended = 0;
	ktrace_set_end_hook(at_end, &ended);
	ktrace_exit(3);
	ktrace_panic("double free in shutdown");
	assert_int_equal(ktrace_root.outcome, KTRX_OUTCOME_PANIC);
	assert_int_equal(ktrace_root.status, 0);
	assert_int_equal(ended, 1);
	ktrace_exit(0);
	assert_int_equal(ktrace_root.outcome, KTRX_OUTCOME_PANIC);
}

static void the_probe_measures_an_event(void **state)
{
	char kept[24];
	uint64_t cost;

	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	cost = ktrace_probe_cost();
	/* each event reads the clock once, which advances it by 10 ticks */
	assert_in_range(cost, 10 * 1000, 12 * 1000);
	assert_true(ktrace_setting_get("debug.ktr.cost", kept, sizeof(kept)) > 0);
	assert_int_equal(strtoull(kept, NULL, 10), cost);
	assert_int_equal(ktrace_setting_set("debug.ktr.cost=1"), KTRACE_ERROR_READ_ONLY);
	assert_int_equal(ktrace_control("ktrace.probe=off"), KTRACE_OK);
	assert_int_equal(ktrace_probe_cost(), 0);
}

#define TEST(name) cmocka_unit_test_setup(name, fake_reset)

static void a_panic_stops_unless_panic_goes_on_is_set(void **state)
{
	for (uint32_t goes_on = 0; goes_on < 2; goes_on++) {
		fake_reset(state);
		assert_int_equal(ktrace_boot_argument(goes_on ? "debug.ktr.panic_goes_on=1" : ""), KTRACE_OK);
		/* fake_boot() does not set panic_goes_on in the configuration */
		fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
		KTRACE(sched, switch, 1);
		ktrace_panic("test");
		KTRACE(sched, switch, 2);
		assert_int_equal(check_ring(1)->records, goes_on ? 3 : 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(flags_change_without_the_state),
		TEST(a_panic_stops_unless_panic_goes_on_is_set),
		TEST(events_are_set_by_pattern),
		TEST(events_boot_in_the_state_they_declare),
		TEST(boot_arguments_select_groups),
		TEST(misspelt_names_give_suggestions),
		TEST(events_may_count_without_recording),
		TEST(without_counters_the_descriptor_counts),
		TEST(an_event_turned_off_after_reserving_uses_its_slot),
		TEST(clear_discards_all_records),
		TEST(threads_have_names),
		TEST(cpus_report_heartbeats_and_modes),
		TEST(a_panic_stops_recording),
		TEST(a_panic_is_recorded_with_any_selection),
		TEST(an_exit_stores_its_status),
		TEST(a_panic_after_an_exit_is_the_end),
		TEST(the_probe_measures_an_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
