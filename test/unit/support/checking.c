/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/checking.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

struct rules *checking_rules;
struct rules_error checking_error;
struct check_result checking_result[RULES_MAX];
rules_judge *checking_judges;
static unsigned reported;

int checking_begin(void **state)
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
	script_type(REPEAT, "ktrace", "repeat", "u16 event,u64 more,u64 first,u64 last");
	return 0;
}

int checking_end(void **state)
{
	(void)state;
	free(checking_rules);
	checking_rules = NULL;
	checking_judges = NULL;
	script_end();
	return 0;
}

static void count(void *context, const struct check_violation *violation)
{
	(void)context;
	(void)violation;
	reported++;
}

int checking_parse(const char *text)
{
	free(checking_rules);
	memset(&checking_error, 0, sizeof(checking_error));
	return rules_parse(&checking_rules, text, strlen(text), &checking_error);
}

void checking_run(const char *text)
{
	assert_int_equal(checking_parse(text), 0);
	checking_rules->judges = checking_judges;
	assert_int_equal(rules_bind(checking_rules, script_trace(), &checking_error), 0);
	assert_int_equal(ktread_rewind(script_trace()), 0);
	memset(checking_result, 0, sizeof(checking_result));
	reported = 0;
	assert_int_equal(check_read(checking_rules, script_trace(), 0, checking_result, count, NULL), 0);
}

void checking_expect(uint64_t held, uint64_t violated, uint64_t undecided)
{
	const struct check_result *last = &checking_result[checking_rules->count - 1];

	assert_int_equal(last->held, held);
	assert_int_equal(last->violated, violated);
	assert_int_equal(last->undecided, undecided);
	assert_int_equal(reported, violated);
}
