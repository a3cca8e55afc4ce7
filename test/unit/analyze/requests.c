/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the translation of the texts of `ktrace control` into requests, with invented tables of events and
 * settings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/event_name.h"
#include "analyze/requests.h"

#define EVENTS 6u
#define MANY   70u /* number of further events, which are all in one more group */

/*
 * In group sched, the order of the ids differs from that of the declarations, as it may if a linker assigns
 * the ids.
 */
static struct ktread_type types[EVENTS + MANY] = {
	{ .id = 1, .group = "sched", .name = "wake", .file = "sched.c", .line = 20, .wanted = 1 },
	{ .id = 2, .group = "sched", .name = "switch", .file = "sched.c", .line = 10, .wanted = 2 },
	{ .id = 3, .group = "mm", .name = "fault", .file = "mm.c", .line = 3, .wanted = 1 },
	{ .id = 4, .group = "mmio", .name = "write", .file = "mm.c", .line = 4, .wanted = 1 },
	{ .id = 5, .group = "ktrace", .name = "panic", .file = "k.c", .line = 1, .wanted = 1 },
	{ .id = 6, .group = "sched", .name = "exit", .file = "a.c", .line = 99, .wanted = 0 },
};

static const struct ktread_setting settings[] = {
	{ .name = "debug.ktr.version",
	  .value = 2,
	  .most = UINT32_MAX,
	  .kind = KTRX_SETTING_U32,
	  .read_only = 1 },
	{ .name = "debug.ktr.stacktrace", .most = 2, .kind = KTRX_SETTING_U32 },
	{ .name = "debug.wide", .most = UINT64_MAX, .kind = KTRX_SETTING_U64 },
	{ .name = "debug.bit", .most = 1, .kind = KTRX_SETTING_BIT64 },
};

const struct ktread_type *ktread_type(const struct ktread *trace, uint32_t id)
{
	(void)trace;
	return id >= 1 && id <= EVENTS + MANY ? &types[id - 1] : NULL;
}

int ktread_setting(const struct ktread *trace, uint32_t n, struct ktread_setting *setting)
{
	(void)trace;
	if (n >= sizeof(settings) / sizeof(settings[0]))
		return 0;
	*setting = settings[n];
	return 1;
}

static int make_many(void **state)
{
	static char names[MANY][16];

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "e%u", i);
		types[EVENTS + i] = (struct ktread_type){ .id = (uint16_t)(EVENTS + 1 + i),
							  .group = "many",
							  .name = names[i],
							  .file = "m.c",
							  .line = i };
	}
	return 0;
}

/*
 * Returns the requests of a text in a short form: "E FIRST-LAST CHANGE/STATE/FLAGS" for events, "S
 * INDEX=VALUE" for settings, and the names of other requests.
 */
static const char *requests_of(const char *text)
{
	static char result[1024];
	static const char *const words[] = { "", "", "start", "stop", "clear" };
	struct requests requests;
	size_t at = 0;
	int status;

	result[0] = '\0';
	assert_int_equal(requests_open(&requests, NULL), 0);
	status = requests_add(&requests, text);
	for (uint32_t n = 0; n < requests.count && at < sizeof(result) - 64; n++) {
		const struct ktrx_request *request = &requests.request[n];
		const char *gap = n ? " " : "";

		if (request->op == KTRX_REQUEST_EVENTS)
			at += (size_t)sprintf(result + at, "%sE%u-%u:%x/%u/%u", gap, request->first,
					      request->last, request->change, request->state, request->flags);
		else if (request->op == KTRX_REQUEST_SETTING)
			at += (size_t)sprintf(result + at, "%sS%u=%llu", gap, request->first,
					      (unsigned long long)request->value);
		else
			at += (size_t)sprintf(result + at, "%s%s", gap, words[request->op]);
	}
	if (status < 0)
		snprintf(result, sizeof(result), "%s", requests.message);
	requests_close(&requests);
	return result;
}

static void patterns_become_ranges_of_ids(void **state)
{
	(void)state;
	assert_string_equal(requests_of(""), "");
	assert_string_equal(requests_of("sched.switch"), "E2-2:1/1/0");
	assert_string_equal(requests_of("-sched"), "E1-2:1/0/0 E6-6:1/0/0");
	assert_string_equal(requests_of("sched.*=on,-mm.fault"), "E1-2:1/1/0 E6-6:1/1/0 E3-3:1/0/0");
	assert_string_equal(requests_of("mm=count mm*=both"), "E3-3:1/2/0 E3-4:1/3/0");
	assert_string_equal(requests_of("*.?ault=stop"), "E3-3:1/5/0");
	/* all events except those of the library itself */
	assert_string_equal(requests_of("*=off"), "E1-4:1/0/0 E6-76:1/0/0");
	assert_string_equal(requests_of("ktrace.*=off"), "E5-5:1/0/0");
	assert_string_equal(requests_of("many=on"), "E7-76:1/1/0");
	assert_string_equal(requests_of("stop,clear,start"), "stop clear start");
}

static void words_for_flags_leave_the_state(void **state)
{
	(void)state;
	assert_string_equal(requests_of("mm=callers2"), "E3-3:6/0/2");
	assert_string_equal(requests_of("mm=on+callers1+site"), "E3-3:f/1/5");
	assert_string_equal(requests_of("mm=nosite+count+on"), "E3-3:9/3/0");
	assert_string_equal(requests_of("mm=callers2+callers0"), "E3-3:6/0/0");
}

static void settings_are_looked_up_and_bounded(void **state)
{
	(void)state;
	assert_string_equal(requests_of("debug.ktr.stacktrace=2"), "S1=2");
	assert_string_equal(requests_of("debug.wide=-1,debug.bit=-1"), "S2=18446744073709551615 S3=1");
	assert_string_equal(requests_of("debug.wide=0xfF"), "S2=255");
	assert_string_equal(requests_of("debug.ktr.stacktrace=3"), "debug.ktr.stacktrace takes 0 to 2");
	assert_string_equal(requests_of("debug.ktr.stacktrace=-1"), "debug.ktr.stacktrace takes 0 to 2");
	assert_string_equal(requests_of("debug.ktr.version=1"), "debug.ktr.version can only be read");
	assert_string_equal(requests_of("debug.bit=x"), "debug.bit: 'x' is not a number");
	assert_string_equal(requests_of("debug.bit="), "debug.bit: '' is not a number");
	assert_string_equal(requests_of("debug.wide=18446744073709551616"),
			    "debug.wide: '18446744073709551616' is not a number");
}

static void mask_bits_follow_file_and_line(void **state)
{
	(void)state; /* bits in the mask of group sched: bit 0 exit (in a.c), bit 1 switch, bit 2 wake */
	assert_string_equal(requests_of("debug.ktr.sched_enable=0x4"), "E6-6:1/0/0 E2-2:1/0/0 E1-1:1/1/0");
	/* sched.switch is only counted, and -1 does not change that */
	assert_string_equal(requests_of("debug.ktr.sched_enable=-1"), "E6-6:1/1/0 E2-2:1/2/0 E1-1:1/1/0");
	assert_string_equal(requests_of("debug.ktr.sched_enable=8"),
			    "the mask has a bit that no event of sched has");
	assert_string_equal(requests_of("debug.ktr.mm_enable=0xg"), "'0xg' is not a mask");
	assert_string_equal(requests_of("debug.ktr.mm_enable="), "'' is not a mask");
	assert_string_equal(requests_of("debug.ktr.mm.fault_mask=1"),
			    "debug.ktr.mm.fault_mask can only be read");
	assert_non_null(strstr(requests_of("debug.ktr.many_enable=0x200000000000000000"), "E76-76:1/1/0"));
	assert_non_null(strstr(requests_of("debug.ktr.many_enable=0x200000000000000000"), "E75-75:1/0/0"));
	assert_string_equal(requests_of("debug.ktr.many_enable=0x400000000000000000"),
			    "the mask has a bit that no event of many has");
}

/*
 * sched.exit has its declared bit 5, and sched.wake its declared bit 0. sched.switch declares no bit and gets
 * the first free one.
 */
static void declared_mask_bits_come_first(void **state)
{
	(void)state;
	types[5].mask_bit = 6;
	types[0].mask_bit = 1;
	assert_string_equal(requests_of("debug.ktr.sched_enable=0x21"), "E6-6:1/1/0 E2-2:1/0/0 E1-1:1/1/0");
	assert_string_equal(requests_of("debug.ktr.sched_enable=2"), "E6-6:1/0/0 E2-2:1/2/0 E1-1:1/0/0");
	assert_string_equal(requests_of("debug.ktr.sched_enable=4"),
			    "the mask has a bit that no event of sched has");
	types[0].mask_bit = 6; /* two events have the same bit */
	assert_string_equal(requests_of("debug.ktr.sched_enable=0x20"), "E6-6:1/1/0 E2-2:1/0/0 E1-1:1/1/0");
	types[0].mask_bit = types[5].mask_bit = 0;
}

static void mask_of_a_name_has_the_bits_of_all_its_declarations(void **state)
{
	struct requests requests;
	char text[MASKS_TEXT];
	uint32_t first;

	(void)state;
	/* bits in the mask of group sched: bit 0 wake (in a.c), bit 1 switch, bit 2 wake (in sched.c) */
	types[5].name = "wake";
	assert_int_equal(requests_open(&requests, NULL), 0);
	first = masks_group(&requests.masks, "sched", 5);
	*masks_put_bits(&requests.masks, first, first, text) = '\0';
	assert_string_equal(text, "0x5");
	*masks_put_bits(&requests.masks, first, first + 1, text) = '\0';
	assert_string_equal(text, "0x2");
	assert_true(masks_leads_name(&requests.masks, first, first));
	assert_true(masks_leads_name(&requests.masks, first, first + 1));
	assert_false(masks_leads_name(&requests.masks, first, first + 2));
	requests_close(&requests);
	types[5].name = "exit";
}

static void unknown_names_get_suggestions(void **state)
{
	(void)state;
	assert_string_equal(requests_of("sched.swich"),
			    "no event 'sched.swich'; did you mean sched.switch, sched.wake, sched.exit?");
	assert_string_equal(requests_of("shed.*=on"), "no event 'shed.*'; did you mean sched.*?");
	assert_string_equal(requests_of("shed"), "no event 'shed'; did you mean sched?");
	assert_string_equal(requests_of("SCHED.SWICH"),
			    "no event 'SCHED.SWICH'; did you mean sched.switch, sched.wake, sched.exit?");
	assert_string_equal(requests_of("swich"), "no event 'swich'; did you mean sched.switch?");
	assert_string_equal(requests_of("nothing.like.it"), "no event 'nothing.like.it'");
	assert_string_equal(requests_of("debug.ktr.stacktrac=1"),
			    "no setting 'debug.ktr.stacktrac'; did you mean debug.ktr.stacktrace?");
	assert_string_equal(requests_of("debug.ktr.shed_enable=1"),
			    "no setting 'debug.ktr.shed_enable'; did you mean debug.ktr.sched_enable, "
			    "debug.ktr.many_enable, debug.ktr.mm_enable?");
}

static void invalid_requests_are_reported(void **state)
{
	(void)state;
	assert_string_equal(requests_of("=on"), "a name is missing before '='");
	assert_string_equal(requests_of("-"), "a name is missing after '-'");
	assert_string_equal(requests_of("mm="), "a value is missing after '='");
	assert_non_null(strstr(requests_of("mm=onn"), "'onn' is unknown; use one or more of: on off"));
}

static void suggested_names_are_escaped(void **state)
{
	struct suggestions similar;
	char text[256], long_name[300];

	(void)state;
	memset(long_name, 'a', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	suggestions_start(&similar, long_name, strlen(long_name));
	suggestions_offer(&similar, long_name);
	suggestions_text(&similar, text, sizeof(text));
	assert_int_equal(strlen(text), strlen("; did you mean ?") + SUGGESTIONS_NAME - 1);
	suggestions_start(&similar, "name", 4);
	suggestions_offer(&similar, "nam\033");
	suggestions_text(&similar, text, sizeof(text));
	assert_string_equal(text, "; did you mean nam??");
	for (uint32_t i = 0; i < 9; i++)
		suggestions_offer(&similar,
				  (const char *[]){ "nama", "nume", "nome", "name", "nome" }[i % 5]);
	suggestions_text(&similar, text, sizeof(text));
	assert_string_equal(text, "; did you mean name, nam?, nama?");
	suggestions_text(&similar, text, 16);
	assert_int_equal(strlen(text), 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_become_ranges_of_ids),
		cmocka_unit_test(words_for_flags_leave_the_state),
		cmocka_unit_test(settings_are_looked_up_and_bounded),
		cmocka_unit_test(mask_bits_follow_file_and_line),
		cmocka_unit_test(declared_mask_bits_come_first),
		cmocka_unit_test(mask_of_a_name_has_the_bits_of_all_its_declarations),
		cmocka_unit_test(unknown_names_get_suggestions),
		cmocka_unit_test(invalid_requests_are_reported),
		cmocka_unit_test(suggested_names_are_escaped),
	};

	return cmocka_run_group_tests(tests, make_many, NULL);
}
