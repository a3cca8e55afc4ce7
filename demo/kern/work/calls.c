/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Functions that call each other in a known order, with events and a backtrace in the innermost one. Tests
 * compare the callers in the trace and the backtrace with the kernel's symbols.
 */
#include <ktrace/ktrace.h>

#include "args.h"
#include "backtrace.h"
#include "print.h"
#include "work.h"

KTRACE_EVENT(calls, short, "%u", (uint32_t, number));
KTRACE_EVENT(calls, long, "%s %u", (const char *, text), (uint32_t, number));

/* Prevents a tail call, which would remove the calling function from the backtrace. */
#define NO_TAIL_CALL() __asm__ volatile("")

__attribute__((noinline)) static void calls_third(uint32_t number)
{
	KTRACE(calls, short, number);
	KTRACE(calls, long, "third", number);
	print_backtrace((int)arg_number("backtrace", 32));
	NO_TAIL_CALL();
}

__attribute__((noinline)) static void calls_second(uint32_t number)
{
	calls_third(number + 1);
	NO_TAIL_CALL();
}

__attribute__((noinline)) static void calls_first(uint32_t number)
{
	calls_second(number + 1);
	NO_TAIL_CALL();
}

void work_calls(uint64_t until_ns)
{
	(void)until_ns;
	kprintf("calls: backtrace\n");
	calls_first(1);
	kprintf("calls: done\n");
}
