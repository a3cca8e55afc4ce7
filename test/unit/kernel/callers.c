/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the addresses in records, and that a backtrace reads only the stack, even if the stack is damaged.
 * This file and the core are compiled with frame pointers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/symbols.h"
#include "kernel/core/state.h"
#include "ktrace/ktrace.h"
#include "test/fake/checker.h"
#include "test/fake/machine.h"

KTRACE_EVENT(call, none, "nothing");
KTRACE_EVENT(call, some, "%u %llu", (uint32_t, a), (unsigned long long, b));
KTRACE_EVENT(call, text, "%s %u", (const char *, a), (uint32_t, b));
KTRACE_EVENT(call, full, "%s %s %s %s %s %u", (const char *, a), (const char *, b), (const char *, c),
	     (const char *, d), (const char *, e), (uint32_t, after));

enum form { NONE, SOME, TEXT, HERE, EARLY, FACT, FORMS };

static const char *const names[FORMS] = { "call.none", "call.some", "call.text",
					  "text.",     "call.some", "sched.wake" };
static const uint32_t sizes[FORMS] = { 0, 12, 6 + 3, 4, 12, 4 };

/* Expected addresses and lines of the last event, which the functions below store before they record it. */
static struct {
	uintptr_t inner, middle, outer; /* return addresses */
	uint32_t line;			/* line number of the event's statement */
	const char *function;
} expected;

/* Stores the expected caller, function and line. Requires: the event is in the line after this macro. */
#define STORE_EXPECTED()                                                 \
	do {                                                             \
		expected.inner = (uintptr_t)__builtin_return_address(0); \
		expected.line = __LINE__ + 1;                            \
		expected.function = __func__;                            \
	} while (0)

static struct symbols *own_symbols; /* symbols of this program */

/*
 * Checks that an address is in a function. Accepts names that compilers give to parts of the function, such
 * as function.cold and function.constprop.0.
 */
static void check_function(uint64_t address, const char *function, struct symbol *symbol)
{
	assert_int_equal(symbols_find_call(own_symbols, address, symbol), 0);
	assert_memory_equal(symbol->function, function, strlen(function));
	assert_non_null(strstr(symbol->file, "callers.c"));
}

static void check_site(uint64_t site)
{
	struct symbol symbol;

	check_function(site, expected.function, &symbol);
	assert_int_equal(symbol.line, expected.line);
}

/* The event is the last statement, so a compiler might call the recorder by a tail call. */
__attribute__((noinline)) static void record_none(void)
{
	STORE_EXPECTED();
	KTRACE(call, none);
}

__attribute__((noinline)) static void record_some(void)
{
	STORE_EXPECTED();
	KTRACE(call, some, 0x1111, 0x2222);
}

__attribute__((noinline)) static void record_text(void)
{
	STORE_EXPECTED();
	KTRACE(call, text, "abc", 0x3333);
}

__attribute__((noinline)) static void record_here(void)
{
	STORE_EXPECTED();
	KTRACE_TEXT("%u", 0x4444u);
}

__attribute__((noinline)) static void record_early(void)
{
	STORE_EXPECTED();
	KTRACE_EARLY(call, some, 0x1111, 0x2222);
}

__attribute__((noinline)) static void record_fact(void)
{
	STORE_EXPECTED();
	ktrace_wake(0x5555);
}

static void (*const recorders[FORMS])(void) = { record_none, record_some,  record_text,
						record_here, record_early, record_fact };

__attribute__((noinline)) static void middle(enum form form)
{
	expected.middle = (uintptr_t)__builtin_return_address(0);
	recorders[form]();
	__asm__ volatile("");
}

__attribute__((noinline)) static void outer(enum form form)
{
	expected.outer = (uintptr_t)__builtin_return_address(0);
	middle(form);
	__asm__ volatile("");
}

static struct ktrx_event *event_of(enum form form)
{
	struct ktrx_event *found = NULL;

	if (form != HERE)
		return fake_event(names[form]);
	for (struct ktrx_event *event = ktrace_event_first(); event; event = ktrace_event_next(event))
		if (strcmp((const char *)(event + 1), "text") == 0)
			found = event;
	assert_non_null(found);
	return found;
}

static void set_flags(enum form form, uint8_t flags)
{
	event_of(form)->flags = flags;
	ktrace_states_update();
}

/* Parses a record's extension block. */
struct block {
	uint32_t size, parts, cpu, callers;
	uint64_t caller[2], site;
};

static struct block block_of(const struct checked_record *record)
{
	struct block block = { 0 };
	uint32_t at = 4;

	if (!record->extended)
		return block;
	block.size = (uint32_t)payload_bits(record, 0, 1);
	block.parts = (uint32_t)payload_bits(record, 1, 1);
	block.cpu = (uint32_t)payload_bits(record, 2, 2);
	for (uint32_t part = KTRX_EXT_CALLER1; part <= KTRX_EXT_CALLER2; part *= 2) {
		if (!(block.parts & part))
			continue;
		block.caller[block.callers++] = payload_bits(record, at, 8);
		at += 8;
	}
	if (block.parts & KTRX_EXT_SITE) {
		block.site = payload_bits(record, at, 8);
		at += 8;
	}
	assert_int_equal(block.size, at);
	return block;
}

static const struct checked_record *newest(uint32_t ring)
{
	const struct checked_ring *checked = check_ring(ring);

	assert_int_equal(checked->invalid, 0);
	assert_true(checked->records > 0);
	return &checked->record[checked->records - 1];
}

static void check_payload(enum form form, const struct checked_record *record, uint32_t at)
{
	static const char *const bytes[FORMS] = { "",
						  "\x11\x11\0\0\x22\x22\0\0\0\0\0\0",
						  "\3\0abc\x33\x33\0\0",
						  "\x44\x44\0\0",
						  "\x11\x11\0\0\x22\x22\0\0\0\0\0\0",
						  "\x55\x55\0\0" };

	assert_memory_equal(record->payload + at, bytes[form], sizes[form]);
	for (uint32_t i = at + sizes[form]; i < record->size; i++)
		assert_int_equal(record->payload[i], 0);
}

/*
 * Records an event of form `form` with these flags. Checks that the record contains exactly the requested
 * addresses, and that these addresses are correct.
 */
static void check_addresses(enum form form, uint32_t ring, uint32_t flags)
{
	uint32_t callers = (flags & KTRX_EVENT_CALLERS) > 2 ? 2 : flags & KTRX_EVENT_CALLERS;
	const struct checked_record *record;
	struct block block;

	outer(form);
	record = newest(ring);
	block = block_of(record);
	if (form == EARLY)
		callers = 0; /* an EARLY event must not call hooks, so it takes no backtrace */
	assert_int_equal(record->event, event_of(form)->id);
	assert_int_equal(block.callers, callers);
	assert_int_equal(block.parts & KTRX_EXT_CPU, ring == 0);
	assert_true(callers < 1 || block.caller[0] == expected.inner);
	assert_true(callers < 2 || block.caller[1] == expected.middle);
	assert_int_equal(block.parts & KTRX_EXT_SITE, flags & KTRX_EVENT_SITE ? KTRX_EXT_SITE : 0);
	if (flags & KTRX_EVENT_SITE)
		check_site(block.site);
	check_payload(form, record, block.size);
}

static void each_event_records_the_callers_it_requests(void **state)
{
	for (enum form form = NONE; form < FORMS; form++) {
		for (uint8_t flags = 0; flags <= (KTRX_EVENT_CALLERS | KTRX_EVENT_SITE); flags++) {
			fake_reset(state);
			set_flags(form, flags);
			check_addresses(form, 0, flags); /* the kernel has not called ktrace_init() yet */
			fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
			ktrace_states_update();
			check_addresses(form, form == EARLY ? 0 : 1, flags);
			set_flags(form, 0);
			check_addresses(form, form == EARLY ? 0 : 1, 0);
		}
	}
}

static void settings_request_callers_for_all_events(void **state)
{
	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	check_addresses(SOME, 1, 0);
	assert_int_equal(ktrace_setting_set("debug.ktr.stacktrace=1"), KTRACE_OK);
	check_addresses(SOME, 1, 2);
	check_addresses(HERE, 1, 2);
	assert_int_equal(ktrace_setting_set("debug.ktr.sites=1"), KTRACE_OK);
	check_addresses(TEXT, 1, 2 | KTRX_EVENT_SITE);
	set_flags(TEXT, 2);
	check_addresses(TEXT, 1, 2 | KTRX_EVENT_SITE);
	check_addresses(SOME, 1, 2 | KTRX_EVENT_SITE);
	assert_int_equal(ktrace_setting_set("debug.ktr.stacktrace=3"), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(ktrace_setting_set("debug.ktr.stacktrace=2"), KTRACE_OK);
	assert_int_equal(ktrace_setting_set("debug.ktr.sites=0"), KTRACE_OK);
	check_addresses(NONE, 1, 2);
	assert_int_equal(ktrace_setting_set("debug.ktr.stacktrace=0"), KTRACE_OK);
	check_addresses(NONE, 1, 0);
	assert_int_equal(event_of(NONE)->header >> 31, 0); /* the event uses the fast path again */
	check_addresses(TEXT, 1, 2);
}

__attribute__((noinline)) static void record_full(const char *text, const char *third, uint32_t after)
{
	KTRACE(call, full, text, text, third, "", "", after);
}

__attribute__((noinline)) static const struct checked_record *full(const char *text, const char *third,
								   uint32_t after)
{
	record_full(text, third, after);
	return newest(1);
}

static void a_full_record_omits_callers(void **state)
{
	char text[KTRACE_STRING_MAX + 1];
	const struct checked_record *record;

	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	fake_event("call.full")->flags = 2 | KTRX_EVENT_SITE;
	ktrace_states_update();
	memset(text, 'w', sizeof(text));
	text[KTRACE_STRING_MAX] = '\0';
	record = full(text, text + 3, 4);
	assert_int_equal(block_of(record).parts, 0);
	assert_int_equal(payload_bits(record, block_of(record).size + 199, 4), 4);
	record = full(text, text + 4, 5); /* a payload of 202 bytes, the largest size that fits */
	assert_int_equal(block_of(record).size, KTRACE_EXTENSION_MAX);
	assert_int_equal(payload_bits(record, KTRACE_EXTENSION_MAX + 198, 4), 5);
}

static void request_all(void)
{
	set_flags(SOME, 2 | KTRX_EVENT_SITE);
}

/*
 * An interrupt requests callers after the event has reserved a single slot. The record still uses this slot,
 * which has no room for addresses.
 */
static void a_slot_reserved_earlier_is_used(void **state)
{
	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	/* an anchor is due, so the event's code passes its reserved slot to the slow path */
	fake.clock += UINT64_C(1) << 35;
	fake_at(2, request_all);
	outer(SOME);
	assert_int_equal(event_of(SOME)->flags, 2 | KTRX_EVENT_SITE);
	assert_false(newest(1)->extended);
	check_addresses(SOME, 1, 2 | KTRX_EVENT_SITE);
}

static void anchors_have_no_callers(void **state)
{
	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	set_flags(SOME, 2 | KTRX_EVENT_SITE);
	for (uint32_t i = 0; i < 3; i++) {
		fake.clock += UINT64_C(1) << 35;
		check_addresses(SOME, 1, 2 | KTRX_EVENT_SITE);
		/* each of the records has two anchors, one for each of its two slots */
		assert_int_equal(check_ring(1)->anchors, 2 * (i + 1));
	}
}

static void a_full_ring_rejects_whole_records(void **state)
{
	(void)state;
	fake_boot(512, KTRX_POLICY_STOP, 0);
	set_flags(SOME, 2 | KTRX_EVENT_SITE);
	for (uint32_t i = 0; i < 400; i++)
		outer(SOME);
	assert_int_equal(check_ring(1)->invalid, 0);
	assert_int_equal(check_ring(1)->records + ktrace_ring[1].dropped, 400);
	assert_int_equal(block_of(newest(1)).callers, 2);
}

/* ---- Walks of the stack ---- */

static struct {
	uintptr_t address[40];
	uint32_t count;
} seen;

/* Replaces the caller's frame pointer in this function's frame with `wrong_frame`, and takes a backtrace. */
__attribute__((noinline)) static void walk_with(uintptr_t wrong_frame, uint32_t most)
{
	uintptr_t *frame = __builtin_frame_address(0), kept;

	kept = *(volatile uintptr_t *)(frame + KTRACE_ARCH_FRAME_OFFSET / 8);
	if (wrong_frame != 1)
		*(volatile uintptr_t *)(frame + KTRACE_ARCH_FRAME_OFFSET / 8) = wrong_frame;
	seen.count = ktrace_backtrace(seen.address, most);
	*(volatile uintptr_t *)(frame + KTRACE_ARCH_FRAME_OFFSET / 8) = kept;
}

__attribute__((noinline)) static void walk_middle(uint32_t most)
{
	expected.inner = (uintptr_t)__builtin_return_address(0);
	walk_with(1, most);
	__asm__ volatile("");
}

__attribute__((noinline)) static void walk_outer(uint32_t most)
{
	expected.middle = (uintptr_t)__builtin_return_address(0);
	walk_middle(most);
	__asm__ volatile("");
}

static void a_backtrace_lists_the_callers(void **state)
{
	struct symbol symbol;

	(void)state;
	assert_true(ktrace_has_backtrace());
	for (uint32_t most = 0; most <= 5; most++) {
		walk_outer(most);
		assert_int_equal(seen.count, most);
		if (most > 0)
			check_function(seen.address[0], "walk_with", &symbol);
		if (most > 1)
			check_function(seen.address[1], "walk_middle", &symbol);
		if (most > 2)
			assert_int_equal(seen.address[2], expected.inner);
		if (most > 3)
			assert_int_equal(seen.address[3], expected.middle);
	}
}

/* If a frame pointer is invalid, the callers found before it are returned, and no other memory is read. */
static void a_walk_ends_at_the_end_of_the_chain(void **state)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	const uintptr_t wrong_frames[] = {
		0,
		here + 3,		       /* the address is not aligned */
		here - 512,		       /* the address of the frame of a called function */
		here + KTRACE_STACK_REACH * 2, /* the address is too far away */
		0x400000,		       /* the address of a program */
		UINTPTR_MAX - 7,
		UINTPTR_MAX / 2 + 1,
	};
	struct symbol symbol;

	(void)state;
	for (uint32_t i = 0; i < sizeof(wrong_frames) / sizeof(wrong_frames[0]); i++) {
		walk_with(wrong_frames[i], 40);
		assert_int_equal(seen.count, 2);
		check_function(seen.address[0], "walk_with", &symbol);
	}
}

/*
 * A backtrace ends at frames that refer to each other or to themselves: the address of each next frame must
 * be higher.
 */
static void a_walk_never_goes_down_the_stack(void **state)
{
	uintptr_t loop[8];

	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		loop[i] = (uintptr_t)&loop[i & 4];
	walk_with((uintptr_t)&loop[2], 40);
	assert_in_range(seen.count, 2, 4);
}

/*
 * If the end of the stack is known, nothing at or above the end is read, even if the last frame points to it.
 * Compiled without sanitizers, which can put the frames elsewhere than on the stack.
 */
__attribute__((no_sanitize("address"))) static void a_walk_ends_at_the_end_of_the_stack(void **state)
{
	uintptr_t frames[6];

	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	frames[0] = (uintptr_t)&frames[2];
	frames[1] = 0x1111;
	frames[2] = (uintptr_t)&frames[4];
	frames[3] = 0x2222;
	frames[4] = 0;
	frames[5] = 0x3333;
	fake.stack_end = (uintptr_t)&frames[4];
	walk_with((uintptr_t)frames, 40);
	assert_int_equal(seen.count, 4);
	assert_int_equal(seen.address[2], 0x1111);
	assert_int_equal(seen.address[3], 0x2222);
	fake.stack_end = (uintptr_t)&frames[3];
	walk_with((uintptr_t)frames, 40);
	assert_int_equal(seen.count, 3);
	fake.stack_end = (uintptr_t)&frames[1];
	walk_with((uintptr_t)frames, 40);
	assert_int_equal(seen.count, 2);
	/* the end of the stack is below this frame */
	fake.stack_end = (uintptr_t)__builtin_frame_address(0) - 512;
	walk_with((uintptr_t)frames, 40);
	assert_int_equal(seen.count, 1);
}

static int open_symbols(void **state)
{
	const struct ktread_info info = { .self = (uintptr_t)&ktrace_root };

	(void)state;
	return symbols_open(&own_symbols, "/proc/self/exe", &info) < 0;
}

static int close_symbols(void **state)
{
	(void)state;
	symbols_close(own_symbols);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup(name, fake_reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_event_records_the_callers_it_requests),
		TEST(settings_request_callers_for_all_events),
		TEST(a_full_record_omits_callers),
		TEST(a_slot_reserved_earlier_is_used),
		TEST(anchors_have_no_callers),
		TEST(a_full_ring_rejects_whole_records),
		TEST(a_backtrace_lists_the_callers),
		TEST(a_walk_ends_at_the_end_of_the_chain),
		TEST(a_walk_never_goes_down_the_stack),
		TEST(a_walk_ends_at_the_end_of_the_stack),
	};

	return cmocka_run_group_tests(tests, open_symbols, close_symbols);
}
