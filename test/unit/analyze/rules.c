/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The language of rules, what is refused of it and where; each form of rule, kept and violated, with and without gaps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/check.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"
#include "unit/support/script.h"

#define V(value) ((uint64_t)(value))

enum {
	SWITCH = 1,
	BLOCK,
	WAKE,
	CREATE,
	EXIT,
	ENTER,
	LEAVE,
	IRQ,
	IRQ_END,
	EOI,
	FAULT,
	RESOLVED,
	FORK,
	EXEC,
	END,
	LOCK,
	UNLOCK,
	SWITCHED
};

static struct rules *rules;
static struct rules_error error;
static struct check_result result[RULES_MAX];
static unsigned told;

static int begin(void **state)
{
	(void)state;
	script_begin(2);
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u8 state");
	script_type(BLOCK, "sched", "block", "u64 queue,u32 thread");
	script_type(WAKE, "sched", "wake", "u32 thread");
	script_type(CREATE, "sched", "create", "u32 thread,u32 process");
	script_type(EXIT, "sched", "exit", "u32 thread");
	script_type(ENTER, "syscall", "enter", "u32 nr");
	script_type(LEAVE, "syscall", "exit", "u32 nr,i64 result");
	script_type(IRQ, "irq", "enter", "u32 irq");
	script_type(IRQ_END, "irq", "exit", "u32 irq");
	script_type(EOI, "irq", "eoi", "u32 irq");
	script_type(FAULT, "mm", "fault_enter", "u64 address");
	script_type(RESOLVED, "mm", "fault_exit", "u64 address");
	script_type(FORK, "process", "fork", "u32 process,u32 child");
	script_type(EXEC, "process", "exec", "u32 process,string path");
	script_type(END, "process", "exit", "u32 process,i32 status");
	script_type(LOCK, "lock", "acquire", "u64 lock");
	script_type(UNLOCK, "lock", "release", "u64 lock");
	script_type(SWITCHED, "ktrace", "switched", "u16 first,u16 last,u8 state");
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(rules);
	rules = NULL;
	script_end();
	return 0;
}

static void count(void *context, const struct check_violation *violation)
{
	(void)context;
	(void)violation;
	told++;
}

static int parse(const char *text)
{
	free(rules);
	memset(&error, 0, sizeof(error));
	return rules_parse(&rules, text, strlen(text), &error);
}

static void check(const char *text)
{
	assert_int_equal(parse(text), 0);
	assert_int_equal(rules_bind(rules, script_trace(), &error), 0);
	assert_int_equal(ktread_rewind(script_trace()), 0);
	memset(result, 0, sizeof(result));
	told = 0;
	assert_int_equal(check_read(rules, script_trace(), result, count, NULL), 0);
}

/* Of the last rule. */
static void expect(uint64_t held, uint64_t violated, uint64_t undecided)
{
	const struct check_result *last = &result[rules->count - 1];

	assert_int_equal(last->held, held);
	assert_int_equal(last->violated, violated);
	assert_int_equal(last->undecided, undecided);
	assert_int_equal(told, violated);
}

static void lost_before(struct ktread_event *event)
{
	event->lost = 3;
}

static void refused(void **state)
{
	static const struct {
		const char *text, *why;
		uint32_t line, column;
	} bad[] = {
		{ "a: nevr sched.switch",
		  "'nevr' where never, every, always or at most should be; near it: never", 1, 4 },
		{ "# x\n\n  a: never b", "'a' continues no rule: a rule begins in the first column", 3, 3 },
		{ "a: never", "the rule ends where an event should be", 1, 9 },
		{ "a never b", "'never' where ':' should be", 1, 3 },
		{ "a: never b\na: never c", "there is a 'a' already, in line 1", 2, 1 },
		{ "a: never b while",
		  "the rule ends where a field that holds a thread, or a depth, should be", 1, 17 },
		{ "a: never broken switch-lockd",
		  "'switch-lockd' where what can be broken should be; near it: switch-locked", 1, 17 },
		{ "depth irqs: up b, down c\na: never b while irq > 0",
		  "there is no depth 'irq' above; near it: irqs", 2, 18 },
		{ "a: never b while next is sleping",
		  "'sleping' where a state of a thread should be; near it: sleeping", 1, 26 },
		{ "a: every b then c", "the rule ends where 'within' should be", 1, 18 },
		{ "a: every b then c within 50", "'50' where a time with its unit, such as 50ms, should be",
		  1, 26 },
		{ "a: every b then c within nan", "'nan' where a time with its unit, such as 50ms, should be",
		  1, 26 },
		{ "a: at most -1 b", "'-1' where a number should be", 1, 12 },
		{ "a: always b has (c = 1)", "a character that means nothing here", 1, 20 },
		{ "a: always b has (c < \"x\")", "strings are compared by == and != only", 1, 22 },
		{ "a: always b has (c == \"x)", "a string without an end", 1, 23 },
		{ "a: never b after c by d/e/f", "more names than the rule has events", 1, 27 },
		{ "a: never b after c or d by e/f", "2 names for 3 events: one for all, or one for each", 1,
		  31 },
		{ "a: never b in user", "'user' where a context (thread, irq, nmi, early) should be", 1, 15 },
		{ "a: never b after c by d, e, f, g, h", "more than 4 fields to tell things apart by", 1,
		  35 },
		{ "a: never b extra", "'extra' where the end of the rule should be", 1, 12 },
		{ "a: never b after c or c or c or c or c or c or c or c", "more than 8 events in one rule",
		  1, 53 },
		{ "a: never \001", "a character that means nothing here", 1, 10 },
		{ ":", "':' where a rule's name should be", 1, 1 },
	};

	(void)state;
	for (size_t n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
		assert_int_equal(parse(bad[n].text), KTREAD_E_FORMAT);
		assert_string_equal(error.text, bad[n].why);
		assert_int_equal(error.line, bad[n].line);
		if (error.column != bad[n].column)
			print_message("%s: column %u\n", bad[n].text, error.column);
		assert_int_equal(error.column, bad[n].column);
	}
}

/* Whatever the bytes: rules or an error, and no byte beyond the end is read (the sanitizer looks). */
static void hostile_bytes(void **state)
{
	static const char good[] =
		"depth d: up a or b, down c, none e by @cpu\nr: never x (y & 0x10, z != \"s\") in irq"
		" while d > 1 by @cpu needs q\nw: every a then b within 1.5ms unless c by e/f/g\n";
	uint32_t random = 1;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		size_t length = sizeof(good) - 1;
		char *text = malloc(length);

		memcpy(text, good, length);
		for (unsigned n = 0; n < 1 + round % 4; n++) {
			random = random * 1664525u + 1013904223u;
			text[(random >> 8) % length] =
				good[(random >> 3) % length] ^ (char)(round % 7 ? 0 : random >> 24);
		}
		length -= (random >> 12) % 40;
		text = realloc(text, length);
		free(rules);
		rules_parse(&rules, text, length, &error);
		assert_true(rules->count <= RULES_MAX);
		free(text);
	}
	char many[RULES_MAX * 16 + 64], *at = many;
	for (unsigned n = 0; n <= RULES_MAX; n++)
		at += sprintf(at, "r%u: never x\n", n);
	assert_int_equal(parse(many), KTREAD_E_FORMAT);
	assert_string_equal(error.text, "more than 128 rules");
}

static void unknown_names(void **state)
{
	(void)state;
	assert_int_equal(parse("a: never sched.swtich"), 0);
	assert_int_equal(rules_bind(rules, script_trace(), &error), KTREAD_E_FORMAT);
	assert_int_equal(error.column, 10);
	assert_non_null(strstr(error.text, "there is no event 'sched.swtich'; near it: sched.switch"));
	assert_int_equal(parse("a: never sched.switch (nxt == 1)"), 0);
	assert_int_equal(rules_bind(rules, script_trace(), &error), KTREAD_E_FORMAT);
	assert_non_null(strstr(error.text, "sched.switch has no field 'nxt'; near it: next"));
	check("optional\na: never sched.swtich\nb: never sched.switch");
	assert_false(rules->rule[0].checked);
	assert_true(rules->rule[1].checked);
}

static void values(void **state)
{
	(void)state;
	script_event(LEAVE, 10, 0, 1, V(5), (uint64_t)-11);
	script_event(LEAVE, 20, 0, 1, V(6), V(3));
	script_event(EXEC, 30, 0, 1, V(7), "/bin/sh");
	check("a: always syscall.exit has (result >= 0)");
	expect(1, 1, 0);
	assert_int_equal(result[0].first.stamp, 10);
	check("a: always syscall.exit has (result >= -11, nr & 4)");
	expect(2, 0, 0);
	check("a: never syscall.exit (nr < result)");
	expect(0, 0, 0);
	check("a: never process.exec (path == \"/bin/sh\")");
	expect(0, 1, 0);
	check("a: never process.exec (path != \"/bin/sh\")");
	expect(0, 0, 0);
	script_event(ENTER, 40, 0, 1, V(5))->context = KTRX_CONTEXT_INTERRUPT;
	check("a: never syscall.enter in nmi or irq");
	expect(0, 1, 0);
}

static void orders(void **state)
{
	(void)state;
	script_event(END, 10, 0, 1, V(7), V(0));
	script_event(EXEC, 20, 1, 2, V(8), "x");
	script_event(EXEC, 30, 1, 2, V(7), "x");
	script_event(END, 40, 0, 1, V(7), V(0));
	script_event(FORK, 50, 0, 1, V(1), V(7));
	script_event(EXEC, 60, 1, 2, V(7), "x");
	check("a: never process.exec after process.exit unless process.fork by process/process/child");
	expect(2, 1, 0);
	assert_int_equal(result[0].first.stamp, 30);
	assert_int_equal(result[0].first.cause_stamp, 10);
}

static void orders_across_gaps(void **state)
{
	(void)state;
	script_event(END, 10, 0, 1, V(7), V(0));
	lost_before(script_event(WAKE, 15, 0, 1, V(1)));
	script_event(EXEC, 30, 1, 2, V(7), "x");
	check("a: never process.exec after process.exit by process");
	expect(0, 0, 1);
}

/* What a CPU does itself is not hidden by what others have lost, whatever else the rule needs. */
static void orders_on_one_cpu(void **state)
{
	(void)state;
	script_event(IRQ, 10, 0, 1, V(9));
	lost_before(script_event(WAKE, 15, 1, 3, V(1)));
	script_event(SWITCH, 20, 0, 1, V(1), V(2), V(0));
	check("a: never sched.switch after irq.enter by @cpu");
	expect(0, 1, 0);
	check("a: never sched.switch after irq.enter by @cpu needs sched.wake");
	expect(0, 1, 0);
}

/* Where a file lacks the rest of a ring, anything may have come in it. */
static void orders_across_what_is_cut_off(void **state)
{
	(void)state;
	script_event(END, 10, 0, 1, V(7), V(0));
	script_event(WAKE, 15, 1, 1, V(1));
	script_event(EXEC, 30, 1, 2, V(7), "x");
	script_ring(0)->cut = 1;
	check("a: never process.exec after process.exit by process");
	expect(0, 0, 1);
	script_ring(0)->cut = 0;
	check("a: never process.exec after process.exit by process");
	expect(0, 1, 0);
}

static void switched(uint64_t stamp, uint16_t first, uint16_t last, unsigned is)
{
	script_event(SWITCHED, stamp, 0, 0, V(first), V(last), V(is));
}

/* What decides may have happened while its event was off. */
static void nothing_is_judged_across_a_time_without_its_events(void **state)
{
	(void)state;
	script_event(ENTER, 10, 0, 7, V(1));
	switched(20, LEAVE, LEAVE, 0);
	switched(30, LEAVE, LEAVE, 1);
	script_event(ENTER, 40, 0, 7, V(1));
	switched(50, IRQ, IRQ_END, 0); /* has nothing to do with it */
	switched(60, IRQ, IRQ_END, 1);
	script_event(ENTER, 70, 0, 7, V(1));
	check("a: never syscall.enter after syscall.enter unless syscall.exit by @thread");
	expect(1, 1, 1);
	script_event(WAKE, 100, 0, 7, V(3));
	switched(110, SWITCH, SWITCH, 0);
	script_event(IRQ, 100000, 0, 7, V(3));
	check("a: every sched.wake then sched.switch within 10us by thread/next");
	expect(0, 0, 1);
	check("depth d: up lock.acquire, down lock.release by @thread\na: never sched.exit while d > 0 by "
	      "@thread");
	expect(0, 0, 0);
}

static void a_depth_is_unknown_after_a_time_without_its_events(void **state)
{
	(void)state;
	script_event(LOCK, 10, 0, 7, V(1));
	switched(20, UNLOCK, UNLOCK, 0);
	switched(30, UNLOCK, UNLOCK, 1);
	script_event(EXIT, 40, 0, 7, V(7));
	check("depth d: up lock.acquire, down lock.release by @thread\na: never sched.exit while d > 0 by "
	      "@thread");
	expect(0, 0, 1);
}

static void states_of_threads_are_unknown_after_a_time_without_scheduling(void **state)
{
	(void)state;
	script_event(SWITCH, 10, 0, 5, V(5), V(6), V(1)); /* 5 sleeps */
	switched(20, WAKE, WAKE, 0);
	switched(30, WAKE, WAKE, 1);
	script_event(SWITCH, 40, 0, 6, V(6), V(5), V(0));
	check("a: never sched.switch while next is sleeping");
	expect(1, 0, 1);
}

/* It was recorded before it was switched off, and no record says when that was. */
static void an_event_that_is_off_at_the_end_was_recorded_before(void **state)
{
	(void)state;
	script_switch_off(LOCK);
	script_switch_off(EOI);
	script_event(LOCK, 10, 0, 7, V(1));
	script_event(LOCK, 20, 0, 7, V(2));
	check("a: at most 1 lock.acquire");
	assert_true(rules->rule[0].checked);
	expect(1, 1, 0);
	check("optional\na: never irq.eoi");
	assert_false(rules->rule[0].checked);
	assert_string_equal(rules->rule[0].why, "irq.eoi was not recorded");
}

static void latencies(void **state)
{
	(void)state;
	script_event(WAKE, 1000, 0, 1, V(5));
	script_event(WAKE, 2000, 0, 1, V(5));
	script_event(WAKE, 2100, 0, 1, V(6));
	script_event(SWITCH, 3000, 1, 0, V(0), V(5), V(0));
	script_event(SWITCH, 9000, 1, 0, V(5), V(0), V(0));
	check("a: every sched.wake then sched.switch within 2us by thread/next");
	expect(1, 1, 0);
	assert_int_equal(result[0].first.stamp, 4100); /* it was due then, and never came */
	assert_int_equal(result[0].first.number, 0);
	check("a: every sched.wake then sched.switch within 1.9us by thread/next");
	expect(0, 2, 0);
	assert_int_equal(result[0].first.stamp, 3000);
	check("a: every sched.wake then sched.switch within 1s by thread/next");
	expect(1, 0, 0);
}

static void rates(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < 5; n++)
		script_event(WAKE, 1000 + 100 * n, 0, 1, V(5));
	script_event(WAKE, 5000, 0, 1, V(5));
	check("a: at most 3 sched.wake per 1us by thread");
	expect(4, 1, 0);
	assert_int_equal(result[0].first.stamp, 1300);
	check("a: at most 5 sched.wake by thread");
	expect(5, 1, 0);
	check("a: at most 6 sched.wake");
	expect(6, 0, 0);
}

/* A clock that goes back makes nothing late. */
static void a_clock_that_goes_back(void **state)
{
	(void)state;
	script_event(WAKE, 5000, 0, 1, V(5));
	script_event(SWITCH, 3000, 0, 1, V(1), V(5), V(0));
	check("a: every sched.wake then sched.switch within 2us by thread/next");
	expect(1, 0, 0);
	check("a: every sched.wake then sched.exit within 2us");
	expect(0, 0, 0);
	script_event(WAKE, 2000, 0, 1, V(5));
	check("a: at most 1 sched.wake per 10us");
	expect(1, 1, 0);
}

/* A zero in front changes nothing. */
static void numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t number;
	} good[] = { { "a: at most 10 b", 10 },
		     { "a: at most 010 b", 10 },
		     { "a: at most 08 b", 8 },
		     { "a: at most 0x10 b", 16 },
		     { "a: at most 0 b", 0 } };

	(void)state;
	for (size_t n = 0; n < sizeof(good) / sizeof(good[0]); n++) {
		assert_int_equal(parse(good[n].text), 0);
		assert_int_equal(rules->rule[0].limit, good[n].number);
	}
	assert_int_equal(parse("a: at most 0x b"), KTREAD_E_FORMAT);
	assert_int_equal(parse("a: at most 18446744073709551616 b"), KTREAD_E_FORMAT);
}

static void depths(void **state)
{
	static const char text[] = "depth d: up irq.enter, down irq.exit, none syscall.enter by @cpu\n"
				   "a: never sched.switch while d > 1 by @cpu";

	(void)state;
	script_event(IRQ, 10, 0, 1, V(1));
	script_event(SWITCH, 20, 0, 1, V(1), V(2), V(0));
	script_event(IRQ, 30, 0, 1, V(1));
	script_event(SWITCH, 35, 1, 3, V(3), V(4), V(0));
	script_event(SWITCH, 40, 0, 2, V(2), V(1), V(0));
	check(text);
	expect(2, 1, 0);
	assert_int_equal(result[1].first.stamp, 40);
	assert_int_equal(result[1].first.count, 2);
	lost_before(script_event(IRQ_END, 50, 0, 1, V(1)));
	script_event(SWITCH, 60, 0, 1, V(1), V(2), V(0));
	check(text);
	expect(2, 1, 1);
	script_event(ENTER, 70, 0, 2, V(1));
	script_event(SWITCH, 80, 0, 2, V(2), V(1), V(0));
	check(text);
	expect(3, 1, 1);
}

/* An event whose payload does not hold the key decides nothing, and what it would have counted is missing. */
static void events_without_the_key(void **state)
{
	(void)state;
	script_event(END, 10, 0, 1, V(7), V(0));
	script_event(EXEC, 20, 1, 2, V(7), "x")->payload_size = 0;
	check("a: never process.exec after process.exit by process");
	expect(0, 0, 0);
	assert_int_equal(result[0].left_out, 1);
	script_event(IRQ, 30, 0, 1, V(4))->payload_size = 0;
	script_event(EOI, 40, 0, 1, V(4));
	check("depth d: up irq.enter, down irq.exit by irq\na: never irq.eoi while d > 0 by irq");
	expect(1, 0, 0);
	assert_int_equal(result[0].left_out, 1);
	assert_int_equal(result[1].left_out, 1);
}

/* An interrupt that is not ended before its handler switches, beside one that is; NMIs need no end. */
static void missing_end(void **state)
{
	(void)state;
	script_event(IRQ, 10, 0, 1, V(9))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(EOI, 20, 0, 1, V(9))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(SWITCH, 30, 0, 1, V(1), V(2), V(0));
	script_event(IRQ, 40, 0, 2, V(2))->context = KTRX_CONTEXT_NMI;
	script_event(SWITCH, 50, 0, 2, V(2), V(1), V(0));
	script_event(IRQ, 60, 0, 1, V(9))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(EOI, 65, 1, 3, V(9))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(SWITCH, 70, 0, 1, V(1), V(2), V(0));
	check("a: never sched.switch after irq.enter in irq unless irq.eoi by @cpu");
	assert_int_equal(result[0].violated, 1);
	assert_int_equal(result[0].first.stamp, 70);
}

/* What a CPU's row says; and only of a kernel that calls the hooks from which it comes. */
static void rows_of_state(void **unused)
{
	struct ktrx_cpu *cpu = script_cpu(2);

	(void)unused;
	script_event(WAKE, 10, 0, 1, V(1));
	*script_cpu(0) = *script_cpu(1) = (struct ktrx_cpu){ .online = 1 };
	*cpu = (struct ktrx_cpu){ .online = 1,
				  .hooks = KTRX_HOOK_THREAD | KTRX_HOOK_PREEMPT,
				  .broken = KTRX_BROKEN_SWITCH_PREEMPT,
				  .broken_thread = 7,
				  .broken_stamp = 30,
				  .broken_pc = 0xabc };
	check("a: never broken switch-preempt");
	expect(2, 1, 0);
	assert_true(result[0].first.in_state);
	assert_int_equal(result[0].first.cpu, 2);
	assert_int_equal(result[0].first.thread, 7);
	assert_int_equal(result[0].first.stamp, 30);
	assert_int_equal(result[0].first.pc, 0xabc);
	check("optional\na: never broken switch-locked");
	assert_false(rules->rule[0].checked);
	assert_string_equal(
		rules->rule[0].why,
		"no call of ktrace_acquire() is seen: the kernel does not call it, or debug.ktr.state is "
		"0, or the kernel is built with KTRACE_STATE=0");
	assert_int_equal(parse("ok: never sched.wake\na: never broken release"), 0);
	assert_int_equal(rules_bind(rules, script_trace(), &error), KTREAD_E_FORMAT);
	assert_int_equal(error.line, 2);
	cpu->hooks |= KTRX_HOOK_LOCK;
	assert_int_equal(parse("a: never broken release needs sched.swtich"), 0);
	assert_int_equal(rules_bind(rules, script_trace(), &error), KTREAD_E_FORMAT);
	assert_int_equal(error.column, 31);
	check("a: never broken switch-locked");
	expect(2, 0, 1);
	cpu->broken = 4711; /* a row may hold anything */
	check("a: never broken acquire");
	expect(2, 0, 1);
}

static void state_that_is_off_decides_nothing(void **unused)
{
	(void)unused;
	script_event(WAKE, 10, 0, 1, V(1));
	*script_cpu(0) = (struct ktrx_cpu){ .online = 1, .hooks = KTRX_HOOK_THREAD };
	script_setting("debug.verbose", 1);
	script_setting("debug.ktr.state", 0);
	check("optional\na: never broken switch-locked");
	assert_false(rules->rule[0].checked);
	assert_string_equal(rules->rule[0].why, "debug.ktr.state is 0: ktrace_acquire() keeps no state");
	/* Called before that: what was broken then counts, and that nothing was does not. */
	*script_cpu(0) = (struct ktrx_cpu){ .online = 1, .hooks = KTRX_HOOK_LOCK };
	*script_cpu(1) =
		(struct ktrx_cpu){ .online = 1, .hooks = KTRX_HOOK_LOCK, .broken = KTRX_BROKEN_RELEASE };
	check("a: never broken release");
	expect(0, 1, 1);
}

static void hooks_that_were_not_called_are_named(void **unused)
{
	(void)unused;
	script_event(WAKE, 10, 0, 1, V(1));
	*script_cpu(0) = (struct ktrx_cpu){ .online = 1, .hooks = KTRX_HOOK_LOCK };
	script_setting("debug.ktr.state", 1);
	check("optional\na: never broken switch-locked");
	assert_string_equal(rules->rule[0].why, "ktrace_switch() was not called");
}

/* The file that ships. */
static char *shipped(void)
{
	FILE *file = fopen("share/default.rules", "r");
	char *text = calloc(1, 65536);

	assert_non_null(file);
	assert_true(fread(text, 1, 65535, file) > 0);
	fclose(file);
	return text;
}

/* Each of them can fail, and none but those that are meant to does. */
static void each_default_rule(void **state)
{
	static const char *const wanted[] = {
		"switch-in-interrupt",
		"sleep-in-interrupt",
		"syscall-in-interrupt",
		"run-without-wake",
		"run-after-death",
		"run-twice",
		"wake-after-death",
		"eoi-twice",
		"syscall-in-syscall",
		"fault-unfinished",
		"exec-after-exit",
		"exit-twice",
		"exit-with-lock",
		"return-with-lock",
		"switch-with-lock",
		"switch-with-preemption-off",
		"switch-in-handler",
		"unlock-unheld",
		"lock-held",
	};
	char *text = shipped();
	uint32_t found = 0;

	(void)state;
	script_event(IRQ, 10, 0, 1, V(9))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(BLOCK, 20, 0, 1, V(0x10), V(1))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(ENTER, 25, 1, 3, V(1))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(SWITCH, 30, 0, 1, V(1), V(2), V(1));
	script_event(SWITCH, 40, 0, 2, V(2), V(1), V(0)); /* 1 sleeps */
	script_event(SWITCH, 50, 1, 3, V(3), V(1), V(0)); /* 1 runs on CPU 0 */
	script_event(EXIT, 60, 1, 1, V(1));
	script_event(SWITCH, 70, 1, 1, V(1), V(3), V(4));
	script_event(SWITCH, 80, 1, 3, V(3), V(1), V(0)); /* 1 is dead */
	script_event(EXIT, 90, 1, 1, V(1));
	script_event(SWITCH, 100, 1, 1, V(1), V(3), V(4));
	script_event(WAKE, 110, 1, 3, V(1));
	script_event(EOI, 120, 0, 2, V(9));
	script_event(EOI, 130, 0, 2, V(9));
	script_event(FAULT, 140, 1, 3, V(0));
	script_event(ENTER, 150, 1, 3, V(1));
	script_event(LOCK, 160, 1, 3, V(0x20));
	script_event(LEAVE, 170, 1, 3, V(1), V(0));
	script_event(END, 180, 1, 3, V(3), V(0));
	script_event(EXEC, 190, 1, 3, V(3), "x");
	script_event(END, 200, 1, 3, V(3), V(0));
	script_event(END, 205, 1, 3, V(3), V(0));
	script_event(EXIT, 210, 1, 3, V(3));
	for (uint32_t broken = 1; broken <= KTRX_BROKEN_ACQUIRE; broken++)
		*script_cpu(broken - 1) = (struct ktrx_cpu){ .hooks = 0x7f, .broken = broken };
	check(text);
	for (uint32_t n = 0; n < rules->count; n++) {
		if (rules->rule[n].form == RULE_DEPTH)
			continue;
		if (!rules->rule[n].checked || result[n].violated == 0)
			print_message("%s: %s\n", rules->rule[n].name, rules->rule[n].why);
		assert_true(rules->rule[n].checked);
		assert_true(result[n].violated > 0);
		assert_string_equal(rules->rule[n].name, wanted[found++]);
	}
	assert_int_equal(found, sizeof(wanted) / sizeof(wanted[0]));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(refused, begin, end),
		cmocka_unit_test_setup_teardown(hostile_bytes, begin, end),
		cmocka_unit_test_setup_teardown(unknown_names, begin, end),
		cmocka_unit_test_setup_teardown(values, begin, end),
		cmocka_unit_test_setup_teardown(orders, begin, end),
		cmocka_unit_test_setup_teardown(orders_across_gaps, begin, end),
		cmocka_unit_test_setup_teardown(orders_on_one_cpu, begin, end),
		cmocka_unit_test_setup_teardown(orders_across_what_is_cut_off, begin, end),
		cmocka_unit_test_setup_teardown(nothing_is_judged_across_a_time_without_its_events, begin,
						end),
		cmocka_unit_test_setup_teardown(a_depth_is_unknown_after_a_time_without_its_events, begin,
						end),
		cmocka_unit_test_setup_teardown(states_of_threads_are_unknown_after_a_time_without_scheduling,
						begin, end),
		cmocka_unit_test_setup_teardown(an_event_that_is_off_at_the_end_was_recorded_before, begin,
						end),
		cmocka_unit_test_setup_teardown(latencies, begin, end),
		cmocka_unit_test_setup_teardown(rates, begin, end),
		cmocka_unit_test_setup_teardown(a_clock_that_goes_back, begin, end),
		cmocka_unit_test_setup_teardown(numbers, begin, end),
		cmocka_unit_test_setup_teardown(depths, begin, end),
		cmocka_unit_test_setup_teardown(events_without_the_key, begin, end),
		cmocka_unit_test_setup_teardown(missing_end, begin, end),
		cmocka_unit_test_setup_teardown(rows_of_state, begin, end),
		cmocka_unit_test_setup_teardown(state_that_is_off_decides_nothing, begin, end),
		cmocka_unit_test_setup_teardown(hooks_that_were_not_called_are_named, begin, end),
		cmocka_unit_test_setup_teardown(each_default_rule, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
