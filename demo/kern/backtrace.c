/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <ktrace/console.h>
#include <ktrace/port.h>

#include "arch.h"
#include "backtrace.h"
#include "cpu.h"
#include "print.h"
#include "thread.h"

static void put(const struct ktrace_console *console, const char *text, size_t bytes)
{
	(void)console;
	console_write(text, bytes);
}

void print_backtrace(int count)
{
	static const struct ktrace_console console = { .write = put };

	ktrace_console_backtrace(&console, count);
	/*
	 * Prevents a tail call: ktrace_console_backtrace() omits its caller's frame, and the caller must be
	 * this function.
	 */
	__asm__ volatile("");
}

/*
 * Returns the end of the current thread's stack, or 0 if `here` is not on that stack (but on a boot or NMI
 * stack).
 */
uintptr_t trace_stack_end(uintptr_t here)
{
	const struct thread *self = arch_this_cpu()->current;
	uintptr_t stack = self ? (uintptr_t)self->stack : 0;

	return here - stack < THREAD_STACK_SIZE ? stack + THREAD_STACK_SIZE : 0;
}
